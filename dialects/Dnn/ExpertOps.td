//===- ExpertOps.td - Mixtures of experts, step by step ----*- tablegen -*-===//
//
// With T tokens of k choices among E experts there are T k rows of work: choice
// j of token t is row t k + j. Buffers of a row per choice are [T, k * width],
// which is the same memory as [T k, width]. What an expert does is found
// through data: `order` lists choices expert by expert, those of expert e from
// `offsets[e]` to `offsets[e + 1]`.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_DNN_EXPERTOPS_TD
#define TENON_DIALECTS_DNN_EXPERTOPS_TD

include "DnnBase.td"

def Dnn_RouteOp : Dnn_ComputeOp<"route", [AttrSizedOperandSegments]> {
  let summary = "Choose experts for every token";
  let description = [{
    The first destination gets the experts chosen [T, k], the second their
    weights.
  }];
  let arguments = (ins Dnn_Rows:$logits, Optional<Dnn_PackedType>:$correction,
                       Variadic<Dnn_RowsOrNumbers>:$outs,
                       Transformer_RouterAttr:$router);
  let results = (outs Variadic<Dnn_RowsOrNumbers>:$results);
  let assemblyFormat = [{
    $logits (`correction` $correction^)? $router `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

def Dnn_GroupOp : Dnn_ComputeOp<"group"> {
  let summary = "List choices expert by expert";
  let description = [{
    Destinations are `order` [T, k] and `offsets` [1, E + 1].
  }];
  let arguments = (ins Dnn_Numbers:$choices, Variadic<Dnn_Numbers>:$outs);
  let results = (outs Variadic<Dnn_Numbers>:$results);
  let assemblyFormat = [{
    $choices `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

def Dnn_ExpertGatedOp : Dnn_ComputeOp<"expert_gated", [
    AttrSizedOperandSegments]> {
  let summary = "Gate and up products of all experts in use";
  let description = [{
    `input` has a row per token, the destination one per choice.
  }];
  let arguments = (ins Transformer_ActivationAttr:$activation, Dnn_Rows:$input,
                       Dnn_Numbers:$order, Dnn_Numbers:$offsets,
                       Dnn_PackedType:$gate, Dnn_PackedType:$up,
                       Optional<Dnn_PackedType>:$gateBias,
                       Optional<Dnn_PackedType>:$upBias, Dnn_Rows:$outs,
                       OptionalAttr<F64Attr>:$limit,
                       OptionalAttr<F64Attr>:$upOffset);
  let results = (outs Optional<Dnn_Rows>:$results);
  let assemblyFormat = [{
    $activation $input `by` $order `,` $offsets `gate` $gate
    (`bias` $gateBias^)? `up` $up (`bias` $upBias^)? (`limit` $limit^)?
    (`up_offset` $upOffset^)? `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

def Dnn_ExpertDownOp : Dnn_ComputeOp<"expert_down"> {
  let summary = "Down products of all experts in use";
  let description = [{
    Input and destination have a row per choice.
  }];
  let arguments = (ins Dnn_Rows:$input, Dnn_Numbers:$order,
                       Dnn_Numbers:$offsets, Dnn_PackedType:$down,
                       Optional<Dnn_PackedType>:$downBias, Dnn_Rows:$outs);
  let results = (outs Optional<Dnn_Rows>:$results);
  let assemblyFormat = [{
    $input `by` $order `,` $offsets `down` $down (`bias` $downBias^)?
    `outs` `(` $outs `)` attr-dict `:` functional-type(operands, results)
  }];
}

def Dnn_CombineOp : Dnn_ComputeOp<"combine"> {
  let summary = "Add a token's choices up, weighted";
  let arguments = (ins Dnn_Rows:$input, Dnn_Rows:$weights, Dnn_Rows:$outs);
  let results = (outs Optional<Dnn_Rows>:$results);
  let assemblyFormat = [{
    $input `by` $weights `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

#endif // TENON_DIALECTS_DNN_EXPERTOPS_TD
