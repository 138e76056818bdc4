//===- FeedForwardOps.td - Linear layers and feed-forwards -*- tablegen -*-===//

#ifndef TENON_DIALECTS_TRANSFORMER_FEEDFORWARDOPS_TD
#define TENON_DIALECTS_TRANSFORMER_FEEDFORWARDOPS_TD

include "TransformerBase.td"

def Transformer_LinearOp : Transformer_ComputeOp<"linear", [
    Transformer_Weights, Transformer_RowWise,
    InferTypeOpAdaptor]> {
  let resultNames = "@weight";
  let summary = "x * weight^T + bias";
  let description = [{
    `weight` is [N, K] as PyTorch's Linear stores it; the result is [T, N].
  }];
  let arguments = (ins Transformer_Activations:$input, Transformer_Matrix:$weight,
                       Optional<Transformer_Vector>:$bias);
  let results = (outs Transformer_Activations:$result);
  let assemblyFormat = [{
    $input `,` $weight (`bias` $bias^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Transformer_FeedForwardOp : Transformer_ComputeOp<"feed_forward", [
    Transformer_Weights, Transformer_RowWise,
    AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let resultNames = "ffn";
  let summary = "Two linear layers with an activation between";
  let description = [{
    `activation(x * up^T + up_bias) * down^T + down_bias`
  }];
  let arguments = (ins Transformer_Activations:$input, Transformer_Matrix:$up,
                       Transformer_Matrix:$down,
                       Optional<Transformer_Vector>:$upBias,
                       Optional<Transformer_Vector>:$downBias,
                       Transformer_ActivationAttr:$activation);
  let results = (outs Transformer_Activations:$result);
  let assemblyFormat = [{
    custom<Enum>($activation) $input `up` $up (`bias` $upBias^)? `down` $down
    (`bias` $downBias^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Transformer_GatedFeedForwardOp
    : Transformer_ComputeOp<"gated_feed_forward", [
    Transformer_Weights, Transformer_RowWise,
    AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let resultNames = "ffn";
  let summary = "Feed-forward whose hidden layer is gated";
  let description = [{
    `(activation(x * gate^T + gate_bias) . (x * up^T + up_bias)) * down^T +
    down_bias` (Shazeer 2020, GLU variants; silu gives SwiGLU).
  }];
  let arguments = (ins Transformer_Activations:$input, Transformer_Matrix:$gate,
                       Transformer_Matrix:$up, Transformer_Matrix:$down,
                       Optional<Transformer_Vector>:$gateBias,
                       Optional<Transformer_Vector>:$upBias,
                       Optional<Transformer_Vector>:$downBias,
                       Transformer_ActivationAttr:$activation);
  let results = (outs Transformer_Activations:$result);
  let assemblyFormat = [{
    custom<Enum>($activation) $input `gate` $gate (`bias` $gateBias^)? `up` $up
    (`bias` $upBias^)? `down` $down (`bias` $downBias^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Transformer_ActivationOp : Transformer_RowWiseOp<"activation", [
    AllTypesMatch<["input", "result"]>]> {
  let summary = "An activation by itself";
  let arguments = (ins Transformer_ActivationAttr:$kind, Transformer_Activations:$input);
  let results = (outs Transformer_Activations:$result);
  let assemblyFormat = "custom<Enum>($kind) $input attr-dict `:` type($input)";
}

def Transformer_ScaleOp : Transformer_RowWiseOp<"scale", [
    AllTypesMatch<["input", "result"]>]> {
  let resultNames = "scaled";
  let summary = "Multiply every element by a number";
  let arguments = (ins Transformer_Activations:$input, F64Attr:$factor);
  let results = (outs Transformer_Activations:$result);
  let assemblyFormat = [{
    $input `by` custom<Real>($factor) attr-dict `:` type($input)
  }];
  let hasVerifier = 1;
}

def Transformer_SoftCapOp : Transformer_RowWiseOp<"soft_cap", [
    AllTypesMatch<["input", "result"]>]> {
  let resultNames = "capped";
  let summary = "Keep elements within a bound, smoothly";
  let description = [{
    `bound * tanh(x / bound)` (Gemma 2).
  }];
  let arguments = (ins Transformer_Activations:$input, F64Attr:$bound);
  let results = (outs Transformer_Activations:$result);
  let assemblyFormat = [{
    $input `at` custom<Real>($bound) attr-dict `:` type($input)
  }];
  let hasVerifier = 1;
}

def Transformer_ClampOp : Transformer_RowWiseOp<"clamp", [
    AllTypesMatch<["input", "result"]>]> {
  let resultNames = "clamped";
  let summary = "Keep elements between -bound and bound";
  let arguments = (ins Transformer_Activations:$input, F64Attr:$bound);
  let results = (outs Transformer_Activations:$result);
  let assemblyFormat = [{
    $input `at` custom<Real>($bound) attr-dict `:` type($input)
  }];
  let hasVerifier = 1;
}

def Transformer_SigmoidGateOp : Transformer_RowWiseOp<"sigmoid_gate", [
    AllTypesMatch<["input", "result"]>]> {
  let resultNames = "gated";
  let summary = "Scale each row by the sigmoid of its own number";
  let description = [{
    `x[t] * sigmoid(gate[t])`, with `gate` [T, 1]: the gate of shared experts
    (Qwen 2 MoE).
  }];
  let arguments = (ins Transformer_Activations:$input, Transformer_Activations:$gate);
  let results = (outs Transformer_Activations:$result);
  let assemblyFormat = [{
    $input `,` $gate attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Transformer_SliceOp : Transformer_RowWiseOp<"slice"> {
  let summary = "Some neighbouring columns";
  let description = [{
    Columns from `first` on, as many as the result has.
  }];
  let arguments = (ins Transformer_Activations:$input, I64Attr:$first);
  let results = (outs Transformer_Activations:$result);
  let assemblyFormat = [{
    $input `from` $first attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Transformer_ResidualOp : Transformer_RowWiseOp<"residual", [
    SameOperandsAndResultType, Commutative]> {
  let resultNames = "sum";
  let summary = "Add a block's result to what it was computed from";
  let arguments = (ins Transformer_Activations:$lhs, Transformer_Activations:$rhs);
  let results = (outs Transformer_Activations:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

#endif // TENON_DIALECTS_TRANSFORMER_FEEDFORWARDOPS_TD
