//===- ComputeOps.td - Rows in, rows out -------------------*- tablegen -*-===//

#ifndef TENON_DIALECTS_DNN_COMPUTEOPS_TD
#define TENON_DIALECTS_DNN_COMPUTEOPS_TD

include "DnnBase.td"

def Dnn_EmbeddingOp : Dnn_RowWiseOp<"embedding"> {
  let summary = "Gather rows of a packed table";
  let arguments = (ins Transformer_IndexAttr:$index, Transformer_BatchType:$batch,
                       Dnn_Lookup:$table, Dnn_Activations:$outs,
                       DefaultValuedAttr<I64Attr, "0">:$offset);
  let results = (outs Optional<Dnn_Activations>:$results);
  let assemblyFormat = [{
    custom<Enum>($index) $batch `,` $table (`offset` $offset^)? `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

def Dnn_InputFeaturesOp : Dnn_RowWiseOp<"input_features"> {
  let summary = "Copy the rows that the caller gave";
  let resultNames = "features";
  let arguments = (ins Transformer_BatchType:$batch, Dnn_Activations:$outs);
  let results = (outs Optional<Dnn_Activations>:$results);
  let assemblyFormat = [{
    $batch `outs` `(` $outs `)` attr-dict `:` functional-type(operands, results)
  }];
}

def Dnn_ClassTokenOp : Dnn_RowWiseOp<"class_token"> {
  let summary = "Put a learned row where each sequence begins";
  let resultNames = "tokens";
  let arguments = (ins Dnn_Activations:$input, Transformer_BatchType:$batch,
                       Dnn_Vector:$token, Dnn_Activations:$outs);
  let results = (outs Optional<Dnn_Activations>:$results);
  let assemblyFormat = [{
    $input `,` $batch `,` $token `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

def Dnn_MergeFeaturesOp : Dnn_RowWiseOp<"merge_features"> {
  let summary = "Put rows that the caller gave where a token stands for them";
  let resultNames = "merged";
  let arguments = (ins Dnn_Activations:$input, Transformer_BatchType:$batch,
                       Dnn_Activations:$outs, I64Attr:$token);
  let results = (outs Optional<Dnn_Activations>:$results);
  let assemblyFormat = [{
    $input `,` $batch `token` $token `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

def Dnn_RopeOp : Dnn_RowWiseOp<"rope"> {
  let summary = "Rotate heads by their token's position";
  let description = [{
    `table` holds the cosines and sines of `rope`.
  }];
  let resultNames = "rotated";
  let arguments = (ins Dnn_Activations:$input, Transformer_BatchType:$batch,
                       Dnn_Table:$table, Dnn_Activations:$outs,
                       I64Attr:$heads, DefaultValuedAttr<I64Attr, "0">:$offset,
                       Transformer_RopeAttr:$rope);
  let results = (outs Optional<Dnn_Activations>:$results);
  let assemblyFormat = [{
    $input `,` $batch `heads` $heads (`from` $offset^)? $rope `table` $table
    `outs` `(` $outs `)` attr-dict `:` functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

def Dnn_LayerNormOp : Dnn_ComputeOp<"layer_norm"> {
  let summary = "Normalise rows to mean 0 and variance 1";
  let resultNames = "normed";
  let arguments = (ins Dnn_Activations:$input, Dnn_Vector:$weight,
                       Optional<Dnn_Vector>:$bias, Dnn_MatmulRows:$outs,
                       F64Attr:$eps, DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs Optional<Dnn_MatmulRows>:$results);
  let assemblyFormat = [{
    $input `,` $weight (`,` $bias^)? `eps` custom<Real>($eps)
    (`groups` $groups^)? `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let methods = [{
    bool convertsOnStore(unsigned Result) { return true; }
    bool quantizesOnStore(unsigned Result) {
      return partsBeginWithGroups(widthOf(getOuts()), getGroups());
    }
  }];
}

def Dnn_RmsNormOp : Dnn_ComputeOp<"rms_norm"> {
  let summary = "Normalise rows to root mean square 1";
  let resultNames = "normed";
  let arguments = (ins Dnn_Activations:$input, Dnn_Vector:$weight,
                       Dnn_MatmulRows:$outs, F64Attr:$eps,
                       DefaultValuedAttr<I64Attr, "1">:$groups,
                       Dnn_NormOffset:$offset);
  let results = (outs Optional<Dnn_MatmulRows>:$results);
  let assemblyFormat = [{
    $input `,` $weight `eps` custom<Real>($eps) (`groups` $groups^)?
    (`offset` custom<Real>($offset)^)? `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let methods = [{
    bool convertsOnStore(unsigned Result) { return true; }
    bool quantizesOnStore(unsigned Result) {
      return partsBeginWithGroups(widthOf(getOuts()), getGroups());
    }
  }];
}

def Dnn_AddNormOp : Dnn_ComputeOp<"add_norm", [], /*destinations=*/2> {
  let summary = "Residual and the norm of the sum in one pass";
  let description = [{
    The first destination gets the sum, which the norm reads back.
  }];
  let resultNames = "sum,normed";
  let arguments = (ins Transformer_NormAttr:$kind, Dnn_Activations:$lhs,
                       Dnn_Activations:$rhs, Dnn_Vector:$weight,
                       Optional<Dnn_Vector>:$bias, Dnn_Activations:$sumOut,
                       Dnn_MatmulRows:$out, F64Attr:$eps,
                       Dnn_NormOffset:$offset);
  let results = (outs Variadic<Dnn_MatmulRows>:$results);
  let assemblyFormat = [{
    custom<Enum>($kind) $lhs `,` $rhs `weight` $weight (`bias` $bias^)?
    `eps` custom<Real>($eps) (`offset` custom<Real>($offset)^)?
    `outs` `(` $sumOut `,` $out `)` attr-dict
    `:` functional-type(operands, results)
  }];
  // A sum that is rounded would change the norm.
  let methods = [{
    bool convertsOnStore(unsigned Result) { return Result == 1; }
    bool quantizesOnStore(unsigned Result) { return Result == 1; }
  }];
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

def Dnn_ResidualOp : Dnn_ElementwiseOp<"residual"> {
  let summary = "A residual that no matmul took in";
  let resultNames = "sum";
  let arguments = (ins Dnn_Activations:$lhs, Dnn_Activations:$rhs,
                       Dnn_MatmulRows:$outs);
  let results = (outs Optional<Dnn_MatmulRows>:$results);
  let assemblyFormat = [{
    $lhs `,` $rhs `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

def Dnn_ActivationOp : Dnn_ElementwiseOp<"activation"> {
  let summary = "An activation by itself";
  let arguments = (ins Transformer_ActivationAttr:$kind, Dnn_Activations:$input,
                       Dnn_MatmulRows:$outs);
  let results = (outs Optional<Dnn_MatmulRows>:$results);
  let assemblyFormat = [{
    custom<Enum>($kind) $input `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

def Dnn_ScaleOp : Dnn_ElementwiseOp<"scale"> {
  let summary = "Multiply every element by a number";
  let resultNames = "scaled";
  let arguments = (ins Dnn_Activations:$input, Dnn_MatmulRows:$outs,
                       F64Attr:$factor);
  let results = (outs Optional<Dnn_MatmulRows>:$results);
  let assemblyFormat = [{
    $input `by` custom<Real>($factor) `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

def Dnn_SoftCapOp : Dnn_ElementwiseOp<"soft_cap"> {
  let summary = "Keep elements within a bound, smoothly";
  let resultNames = "capped";
  let arguments = (ins Dnn_Activations:$input, Dnn_MatmulRows:$outs,
                       F64Attr:$bound);
  let results = (outs Optional<Dnn_MatmulRows>:$results);
  let assemblyFormat = [{
    $input `at` custom<Real>($bound) `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

def Dnn_ClampOp : Dnn_ElementwiseOp<"clamp"> {
  let summary = "Keep elements between -bound and bound";
  let resultNames = "clamped";
  let arguments = (ins Dnn_Activations:$input, Dnn_MatmulRows:$outs,
                       F64Attr:$bound);
  let results = (outs Optional<Dnn_MatmulRows>:$results);
  let assemblyFormat = [{
    $input `at` custom<Real>($bound) `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

def Dnn_SigmoidGateOp : Dnn_ElementwiseOp<"sigmoid_gate"> {
  let summary = "Scale each row by the sigmoid of its own number";
  let resultNames = "gated";
  let arguments = (ins Dnn_Activations:$input, Dnn_Activations:$gate,
                       Dnn_MatmulRows:$outs);
  let results = (outs Optional<Dnn_MatmulRows>:$results);
  let assemblyFormat = [{
    $input `,` $gate `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

def Dnn_SliceOp : Dnn_ElementwiseOp<"slice"> {
  let summary = "Copy some neighbouring columns";
  let arguments = (ins Dnn_Activations:$input, Dnn_MatmulRows:$outs,
                       I64Attr:$first);
  let results = (outs Optional<Dnn_MatmulRows>:$results);
  let assemblyFormat = [{
    $input `from` $first `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

def Dnn_CastOp : Dnn_ElementwiseOp<"cast"> {
  let summary = "Activations in the type that a matmul reads";
  let arguments = (ins Dnn_Activations:$input, Dnn_MatmulRows:$outs);
  let results = (outs Optional<Dnn_MatmulRows>:$results);
  let assemblyFormat = [{
    $input `outs` `(` $outs `)` attr-dict `:` functional-type(operands, results)
  }];
}

//===----------------------------------------------------------------------===//
// Rows of the batch
//===----------------------------------------------------------------------===//

def Dnn_SelectOutputRowsOp : Dnn_RowWiseOp<"select_output_rows", [
    Dnn_OperandRows]> {
  let summary = "Copy the output rows";
  let resultNames = "selected";
  let arguments = (ins Dnn_Activations:$input, Transformer_BatchType:$batch,
                       Dnn_Activations:$outs);
  let results = (outs Optional<Dnn_Activations>:$results);
  let assemblyFormat = [{
    $input `,` $batch `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

def Dnn_PoolOp : Dnn_ComputeOp<"pool", [Dnn_OperandRows]> {
  let summary = "One row per sequence";
  let description = [{
    With `normalize` the row is read back and scaled to length 1.
  }];
  let resultNames = "pooled";
  let arguments = (ins Transformer_PoolKindAttr:$kind, Dnn_Activations:$input,
                       Transformer_BatchType:$batch, Dnn_Activations:$outs,
                       UnitAttr:$normalize);
  let results = (outs Optional<Dnn_Activations>:$results);
  let assemblyFormat = [{
    custom<Enum>($kind) $input `,` $batch (`normalize` $normalize^)? `outs` `(` $outs `)`
    attr-dict `:` functional-type(operands, results)
  }];
}

#endif // TENON_DIALECTS_DNN_COMPUTEOPS_TD
