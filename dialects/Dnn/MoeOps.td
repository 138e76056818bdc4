//===- MoeOps.td - Mixtures of experts, step by step ----*- tablegen -*-===//
//
// With T tokens of k choices among E experts there are T k rows of work: choice
// j of token t is row t k + j. Buffers of a row per choice are [T, k * width],
// which is the same memory as [T k, width]. What an expert does is found
// through data: `order` lists choices expert by expert, those of expert e from
// `offsets[e]` to `offsets[e + 1]`.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_DNN_MOEOPS_TD
#define TENON_DIALECTS_DNN_MOEOPS_TD

include "DnnBase.td"

def Dnn_MoeRouteOp : Dnn_ComputeOp<"moe_route", [], /*destinations=*/2> {
  let resultNames = "choices,weights";
  let summary = "Choose experts for every token";
  let description = [{
    The first destination gets the experts chosen [T, k], the second their
    weights.
  }];
  let arguments = (ins Dnn_Activations:$logits, Optional<Dnn_Vector>:$correction,
                       Dnn_IndexRows:$choicesOut, Dnn_Activations:$weightsOut,
                       Transformer_RouterAttr:$router);
  let results = (outs Variadic<Dnn_ActivationsOrIndexRows>:$results);
  let assemblyFormat = [{
    $logits (`correction` $correction^)? $router
    `outs` `(` $choicesOut `,` $weightsOut `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

def Dnn_MoeGroupOp : Dnn_ComputeOp<"moe_group", [], /*destinations=*/2> {
  let resultNames = "order,offsets";
  let summary = "List choices expert by expert";
  let description = [{
    Destinations are `order` [T, k] and `offsets` [1, E + 1].
  }];
  let arguments = (ins Dnn_IndexRows:$choices, Dnn_IndexRows:$orderOut,
                       Dnn_IndexRows:$offsetsOut);
  let results = (outs Variadic<Dnn_IndexRows>:$results);
  let assemblyFormat = [{
    $choices `outs` `(` $orderOut `,` $offsetsOut `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

def Dnn_MoeGateUpOp : Dnn_ComputeOp<"moe_gate_up", [
    AttrSizedOperandSegments]> {
  let resultNames = "hidden";
  let summary = "Gate and up matmuls of all experts in use";
  let description = [{
    `input` has a row per token, the destination one per choice.
  }];
  let arguments = (ins Transformer_ActivationAttr:$activation, Dnn_MatmulRows:$input,
                       Dnn_IndexRows:$order, Dnn_IndexRows:$offsets,
                       Dnn_Panels:$gate, Dnn_Panels:$up,
                       Optional<Dnn_Rows>:$gateBias,
                       Optional<Dnn_Rows>:$upBias, Dnn_MatmulRows:$outs,
                       OptionalAttr<F64Attr>:$limit,
                       OptionalAttr<F64Attr>:$upOffset);
  let results = (outs Optional<Dnn_MatmulRows>:$results);
  let assemblyFormat = [{
    custom<Enum>($activation) $input `by` $order `,` $offsets `gate` $gate
    (`bias` $gateBias^)? `up` $up (`bias` $upBias^)? (`limit` custom<Real>($limit)^)?
    (`up_offset` custom<Real>($upOffset)^)? `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let methods = [{
    bool convertsOnStore(unsigned Result) { return true; }
    bool quantizesOnStore(unsigned Result) {
      return partsBeginWithGroups(widthOf(getOuts()), widthOf(getOrder()));
    }
  }];
}

def Dnn_MoeDownOp : Dnn_ComputeOp<"moe_down"> {
  let resultNames = "parts";
  let summary = "Down matmuls of all experts in use";
  let description = [{
    Input and destination have a row per choice.
  }];
  let arguments = (ins Dnn_MatmulRows:$input, Dnn_IndexRows:$order,
                       Dnn_IndexRows:$offsets, Dnn_Panels:$down,
                       Optional<Dnn_Rows>:$downBias, Dnn_Activations:$outs);
  let results = (outs Optional<Dnn_Activations>:$results);
  let assemblyFormat = [{
    $input `by` $order `,` $offsets `down` $down (`bias` $downBias^)?
    `outs` `(` $outs `)` attr-dict `:` functional-type(operands, results)
  }];
}

def Dnn_MoeCombineOp : Dnn_ComputeOp<"moe_combine"> {
  let resultNames = "moe";
  let summary = "Add a token's choices up, weighted";
  let arguments = (ins Dnn_Activations:$input, Dnn_Activations:$weights, Dnn_Activations:$outs);
  let results = (outs Optional<Dnn_Activations>:$results);
  let assemblyFormat = [{
    $input `by` $weights `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

#endif // TENON_DIALECTS_DNN_MOEOPS_TD
