//===- FeedForwardOps.td - Linear layers and feed-forwards -*- tablegen -*-===//

#ifndef TENON_DIALECTS_TRANSFORMER_FEEDFORWARDOPS_TD
#define TENON_DIALECTS_TRANSFORMER_FEEDFORWARDOPS_TD

include "TransformerBase.td"

def Transformer_LinearOp : Transformer_ComputeOp<"linear", [
    InferTypeOpAdaptor]> {
  let summary = "x * weight^T + bias";
  let description = [{
    `weight` is [N, K] as PyTorch's Linear stores it; the result is [T, N].
  }];
  let arguments = (ins Transformer_Rows:$input, Transformer_Matrix:$weight,
                       Optional<Transformer_Vector>:$bias);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $input `,` $weight (`bias` $bias^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Transformer_FeedForwardOp : Transformer_ComputeOp<"feed_forward", [
    AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "Two linear layers with an activation between";
  let description = [{
    `activation(x * up^T + up_bias) * down^T + down_bias`
  }];
  let arguments = (ins Transformer_Rows:$input, Transformer_Matrix:$up,
                       Transformer_Matrix:$down,
                       Optional<Transformer_Vector>:$upBias,
                       Optional<Transformer_Vector>:$downBias,
                       Transformer_ActivationAttr:$activation);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $activation $input `up` $up (`bias` $upBias^)? `down` $down
    (`bias` $downBias^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Transformer_GatedFeedForwardOp
    : Transformer_ComputeOp<"gated_feed_forward", [
    AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let summary = "Feed-forward whose hidden layer is gated";
  let description = [{
    `(activation(x * gate^T + gate_bias) . (x * up^T + up_bias)) * down^T +
    down_bias` (Shazeer 2020, GLU variants; silu gives SwiGLU).
  }];
  let arguments = (ins Transformer_Rows:$input, Transformer_Matrix:$gate,
                       Transformer_Matrix:$up, Transformer_Matrix:$down,
                       Optional<Transformer_Vector>:$gateBias,
                       Optional<Transformer_Vector>:$upBias,
                       Optional<Transformer_Vector>:$downBias,
                       Transformer_ActivationAttr:$activation);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = [{
    $activation $input `gate` $gate (`bias` $gateBias^)? `up` $up
    (`bias` $upBias^)? `down` $down (`bias` $downBias^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Transformer_ResidualOp : Transformer_ComputeOp<"residual", [
    SameOperandsAndResultType, Commutative]> {
  let summary = "Add a block's result to what it was computed from";
  let arguments = (ins Transformer_Rows:$lhs, Transformer_Rows:$rhs);
  let results = (outs Transformer_Rows:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

#endif // TENON_DIALECTS_TRANSFORMER_FEEDFORWARDOPS_TD
