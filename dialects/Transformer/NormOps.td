//===- NormOps.td - Normalisation --------------------------*- tablegen -*-===//

#ifndef TENON_DIALECTS_TRANSFORMER_NORMOPS_TD
#define TENON_DIALECTS_TRANSFORMER_NORMOPS_TD

include "TransformerBase.td"

/// What is added to a stored weight: 1 in Gemma.
def Transformer_NormOffset
    : DefaultValuedAttr<F64Attr, "::llvm::APFloat(0.0)">;

def Transformer_LayerNormOp : Transformer_RowWiseOp<"layer_norm", [
    AllTypesMatch<["input", "result"]>]> {
  let resultNames = "normed";
  let summary = "Normalise rows to mean 0 and variance 1";
  let description = [{
    `(x - mean(x)) / sqrt(var(x) + eps) * weight + bias` over each of `groups`
    equal parts of each row, with the biased variance (Ba et al. 2016). Weight
    and bias are those of a part, which all share, or of the whole row.
  }];
  let arguments = (ins Transformer_Activations:$input, Transformer_Vector:$weight,
                       Optional<Transformer_Vector>:$bias, F64Attr:$eps,
                       DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs Transformer_Activations:$result);
  let assemblyFormat = [{
    $input `,` $weight (`,` $bias^)? `eps` custom<Real>($eps)
    (`groups` $groups^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Transformer_RmsNormOp : Transformer_RowWiseOp<"rms_norm", [
    AllTypesMatch<["input", "result"]>]> {
  let resultNames = "normed";
  let summary = "Normalise rows to root mean square 1";
  let description = [{
    `x / sqrt(mean(x^2) + eps) * (weight + offset)` over each of `groups` equal
    parts of each row (Zhang and Sennrich 2019). With `groups` of the number of
    heads it is the norm of queries and keys per head. The weight is that of a
    part, which all share, or of the whole row.
  }];
  let arguments = (ins Transformer_Activations:$input, Transformer_Vector:$weight,
                       F64Attr:$eps, DefaultValuedAttr<I64Attr, "1">:$groups,
                       Transformer_NormOffset:$offset);
  let results = (outs Transformer_Activations:$result);
  let assemblyFormat = [{
    $input `,` $weight `eps` custom<Real>($eps) (`groups` $groups^)?
    (`offset` custom<Real>($offset)^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // TENON_DIALECTS_TRANSFORMER_NORMOPS_TD
