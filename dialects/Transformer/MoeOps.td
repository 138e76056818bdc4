//===- MoeOps.td - Mixtures of experts -----------------*- tablegen -*-===//

#ifndef TENON_DIALECTS_TRANSFORMER_MOEOPS_TD
#define TENON_DIALECTS_TRANSFORMER_MOEOPS_TD

include "TransformerBase.td"

def Transformer_MoeOp : Transformer_FusedOp<"moe", [
    Transformer_Weights, Transformer_RowWise,
    AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "The feed-forwards of a few of many experts";
  let description = [{
    Each token goes through the experts that the router chooses by its `logits`
    [T, E], each a gated feed-forward; the result is their sum, weighted as the
    router says. Expert e's matrices are `gate[e]` and `up[e]` [I, H] and
    `down[e]` [H, I], biases are rows of matrices likewise. `correction` is
    added to the scores for choosing only.

    With `limit` L the gate is kept below L and up between -L and L, and with
    `up_offset` that is added to up: GPT-OSS has 7 and 1.

    ```mlir
    %y = transformer.moe silu %x, %logits <softmax, top = 2, normalize>
        gate %g up %u down %d : (...) -> tensor<?x72xf32>
    ```
  }];
  let arguments = (ins Transformer_ActivationAttr:$activation,
                       Transformer_Activations:$input, Transformer_Activations:$logits,
                       Optional<Transformer_Vector>:$correction,
                       Transformer_Stack:$gate, Transformer_Stack:$up,
                       Transformer_Stack:$down,
                       Optional<Transformer_PlainMatrix>:$gateBias,
                       Optional<Transformer_PlainMatrix>:$upBias,
                       Optional<Transformer_PlainMatrix>:$downBias,
                       Transformer_RouterAttr:$router,
                       OptionalAttr<F64Attr>:$limit,
                       OptionalAttr<F64Attr>:$upOffset);
  let results = (outs Transformer_Activations:$result);
  let assemblyFormat = [{
    custom<Enum>($activation) $input `,` $logits $router (`correction` $correction^)?
    `gate` $gate (`bias` $gateBias^)? `up` $up (`bias` $upBias^)?
    `down` $down (`bias` $downBias^)? (`limit` custom<Real>($limit)^)?
    (`up_offset` custom<Real>($upOffset)^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let methods = [{
    int64_t getExperts() { return getGate().getType().getShape()[0]; }
    /// Width of an expert's hidden layer.
    int64_t getInner() { return getGate().getType().getShape()[1]; }
  }];
}

#endif // TENON_DIALECTS_TRANSFORMER_MOEOPS_TD
