//===- ComputeOps.td - One op per kernel or library call ---*- tablegen -*-===//

#ifndef TENON_DIALECTS_DNN_COMPUTEOPS_TD
#define TENON_DIALECTS_DNN_COMPUTEOPS_TD

include "DnnBase.td"

def Dnn_EmbeddingOp : Dnn_ComputeOp<"embedding"> {
  let summary = "Gather rows of a packed table";
  let arguments = (ins Transformer_IndexAttr:$index, Transformer_BatchType:$batch,
                       Dnn_PackedType:$table, Dnn_Rows:$outs,
                       DefaultValuedAttr<I64Attr, "0">:$offset);
  let results = (outs Optional<Dnn_Rows>:$results);
  let assemblyFormat = [{
    $index $batch `,` $table (`offset` $offset^)? `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

/// What is added to a norm's stored weight.
def Dnn_NormOffset : DefaultValuedAttr<F64Attr, "::llvm::APFloat(0.0)">;

def Dnn_NormOp : Dnn_ComputeOp<"norm", [AttrSizedOperandSegments]> {
  let summary = "Normalise rows, of a sum if there is a residual";
  let description = [{
    The first destination gets the normalised rows; with `residual`, the norm
    is that of `input + residual`, and the second gets the sum.
  }];
  let arguments = (ins Transformer_NormAttr:$kind, Dnn_Rows:$input,
                       Optional<Dnn_Rows>:$residual, Dnn_PackedType:$weight,
                       Optional<Dnn_PackedType>:$bias, Variadic<Dnn_Rows>:$outs,
                       F64Attr:$eps, DefaultValuedAttr<I64Attr, "1">:$groups,
                       Dnn_NormOffset:$offset);
  let results = (outs Variadic<Dnn_Rows>:$results);
  let assemblyFormat = [{
    $kind $input (`residual` $residual^)? `weight` $weight (`bias` $bias^)?
    `outs` `(` $outs `)` `eps` $eps (`groups` $groups^)? (`offset` $offset^)?
    attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Dnn_ProductOp : Dnn_ComputeOp<"product", [AttrSizedOperandSegments]> {
  let summary = "activation(x W^T + bias) . multiplier + residual";
  let description = [{
    With `site` a call of the product library, otherwise a generated kernel.
  }];
  let arguments = (ins Dnn_Rows:$input, Dnn_PackedType:$weight,
                       Optional<Dnn_PackedType>:$bias,
                       Optional<Dnn_Rows>:$multiplier,
                       Optional<Dnn_Rows>:$residual, Dnn_Rows:$outs,
                       DefaultValuedAttr<Transformer_ActivationAttr,
                         "::tenon::transformer::Activation::None">:$activation,
                       OptionalAttr<I64Attr>:$site);
  let results = (outs Optional<Dnn_Rows>:$results);
  let assemblyFormat = [{
    $input `weight` $weight (`bias` $bias^)? (`activation` $activation^)?
    (`multiplier` $multiplier^)? (`residual` $residual^)?
    `outs` `(` $outs `)` (`site` $site^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Dnn_GatedProductOp : Dnn_ComputeOp<"gated_product", [
    AttrSizedOperandSegments]> {
  let summary = "activation(x G^T + g) . (x U^T + u) in one kernel";
  let arguments = (ins Transformer_ActivationAttr:$activation, Dnn_Rows:$input,
                       Dnn_PackedType:$gate, Dnn_PackedType:$up,
                       Optional<Dnn_PackedType>:$gateBias,
                       Optional<Dnn_PackedType>:$upBias, Dnn_Rows:$outs);
  let results = (outs Optional<Dnn_Rows>:$results);
  let assemblyFormat = [{
    $activation $input `gate` $gate (`bias` $gateBias^)? `up` $up
    (`bias` $upBias^)? `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Dnn_SplitAppendOp : Dnn_ComputeOp<"split_append", [
    AttrSizedOperandSegments]> {
  let summary = "Norm and rotate queries and keys; append to the cache";
  let arguments = (ins Variadic<Dnn_Rows>:$qkv, Transformer_CacheType:$cache,
                       Transformer_ScopeType:$scope, Transformer_BatchType:$batch,
                       Optional<Dnn_PackedType>:$queryNorm,
                       Optional<Dnn_PackedType>:$keyNorm,
                       Optional<Dnn_PackedType>:$table,
                       Dnn_Rows:$outs, I64Attr:$heads, I64Attr:$kvHeads,
                       OptionalAttr<Transformer_RopeAttr>:$rope,
                       OptionalAttr<F64Attr>:$eps, Dnn_NormOffset:$normOffset);
  let results = (outs Optional<Dnn_Rows>:$results);
  let assemblyFormat = [{
    $qkv `to` $cache `[` $scope `]` `,` $batch `heads` $heads `kv_heads` $kvHeads
    (`query_norm` $queryNorm^)? (`key_norm` $keyNorm^)?
    (`norm_offset` $normOffset^)?
    (`rope` $rope^)? (`table` $table^)? `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

def Dnn_SplitStageOp : Dnn_ComputeOp<"split_stage", [
    AttrSizedOperandSegments]> {
  let summary = "Norm and rotate queries and keys; stage keys and values";
  let arguments = (ins Variadic<Dnn_Rows>:$qkv, Transformer_BatchType:$batch,
                       Optional<Dnn_PackedType>:$queryNorm,
                       Optional<Dnn_PackedType>:$keyNorm,
                       Optional<Dnn_PackedType>:$table,
                       Variadic<Dnn_Rows>:$outs, I64Attr:$heads, I64Attr:$kvHeads,
                       OptionalAttr<Transformer_RopeAttr>:$rope,
                       OptionalAttr<F64Attr>:$eps, Dnn_NormOffset:$normOffset);
  let results = (outs Variadic<Dnn_Rows>:$results);
  let assemblyFormat = [{
    $qkv `of` $batch `heads` $heads `kv_heads` $kvHeads
    (`query_norm` $queryNorm^)? (`key_norm` $keyNorm^)?
    (`norm_offset` $normOffset^)?
    (`rope` $rope^)? (`table` $table^)? `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

def Dnn_AppendOp : Dnn_ComputeOp<"append"> {
  let summary = "Append keys and values, or latent vectors, to a cache";
  let description = [{
    The rows of `parts`: keys and values, or the two parts of a latent vector.
  }];
  let arguments = (ins Transformer_CacheType:$cache, Transformer_ScopeType:$scope,
                       Transformer_BatchType:$batch, Variadic<Dnn_Rows>:$parts);
  let assemblyFormat = [{
    $parts `to` $cache `[` $scope `]` `,` $batch attr-dict `:` type(operands)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      return ::mlir::MutableOperandRange(getOperation(), 0, 0);
    }
  }];
}

def Dnn_RopeOp : Dnn_ComputeOp<"rope"> {
  let summary = "Rotate heads by their token's position";
  let arguments = (ins Dnn_Rows:$input, Transformer_BatchType:$batch,
                       Dnn_PackedType:$table, Dnn_Rows:$outs, I64Attr:$heads,
                       DefaultValuedAttr<I64Attr, "0">:$offset,
                       Transformer_RopeAttr:$rope);
  let results = (outs Optional<Dnn_Rows>:$results);
  let assemblyFormat = [{
    $input `,` $batch `heads` $heads (`from` $offset^)? $rope `table` $table
    `outs` `(` $outs `)` attr-dict `:` functional-type(operands, results)
  }];
}

def Dnn_AttentionOp : Dnn_ComputeOp<"attention", [AttrSizedOperandSegments]> {
  let summary = "Online-softmax attention over pages";
  let description = [{
    `bias` is a table of biases by head and distance, or of slopes by head, as
    `content` says.
  }];
  let arguments = (ins Transformer_MaskAttr:$mask, Dnn_Rows:$query,
                       Transformer_BatchType:$batch, Optional<Dnn_Rows>:$staged,
                       Optional<Transformer_CacheType>:$cache,
                       Optional<Transformer_ScopeType>:$scope,
                       Optional<Dnn_PackedType>:$bias,
                       Optional<Dnn_PackedType>:$sinks,
                       Dnn_Rows:$outs, I64Attr:$heads, I64Attr:$kvHeads,
                       F64Attr:$scale, OptionalAttr<I64Attr>:$window,
                       OptionalAttr<F64Attr>:$softCap,
                       OptionalAttr<AnyAttr>:$content);
  let results = (outs Optional<Dnn_Rows>:$results);
  let assemblyFormat = [{
    $mask $query `,` $batch (`staged` $staged^)? (`cache` $cache^)?
    (`[` $scope^ `]`)? `heads` $heads `kv_heads` $kvHeads `scale` $scale
    (`window` $window^)? (`soft_cap` $softCap^)? (`bias` $bias^)?
    (`content` $content^)? (`sinks` $sinks^)? `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

def Dnn_LatentAttentionOp : Dnn_ComputeOp<"latent_attention"> {
  let summary = "Attention over latent vectors";
  let description = [{
    As in the transformer dialect. A sequence with many queries in the step has
    keys and values of its pages expanded, one with few has K moved to the
    queries and V behind the sum. `state` holds the running sums of the
    expanded form: [T, heads * (value_dim + 2)].
  }];
  let arguments = (ins Dnn_Rows:$query, Transformer_BatchType:$batch,
                       Transformer_CacheType:$cache,
                       Transformer_ScopeType:$scope, Dnn_PackedType:$expand,
                       Variadic<Dnn_Rows>:$outs, I64Attr:$heads,
                       I64Attr:$keyDim, I64Attr:$valueDim, F64Attr:$scale);
  let results = (outs Variadic<Dnn_Rows>:$results);
  let assemblyFormat = [{
    $query `,` $batch `cache` $cache `[` $scope `]` `expand` $expand
    `heads` $heads `key_dim` $keyDim `value_dim` $valueDim `scale` $scale
    `outs` `(` $outs `)` attr-dict `:` functional-type(operands, results)
  }];
}

def Dnn_SelectRowsOp : Dnn_ComputeOp<"select_rows"> {
  let summary = "Copy the rows whose output is wanted";
  let arguments = (ins Dnn_Rows:$input, Transformer_BatchType:$batch,
                       Dnn_Rows:$outs);
  let results = (outs Optional<Dnn_Rows>:$results);
  let assemblyFormat = [{
    $input `,` $batch `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

def Dnn_PoolOp : Dnn_ComputeOp<"pool"> {
  let summary = "One row per sequence";
  let arguments = (ins Transformer_PoolKindAttr:$kind, Dnn_Rows:$input,
                       Transformer_BatchType:$batch, Dnn_Rows:$outs,
                       UnitAttr:$normalize);
  let results = (outs Optional<Dnn_Rows>:$results);
  let assemblyFormat = [{
    $kind $input `,` $batch `outs` `(` $outs `)` (`normalize` $normalize^)?
    attr-dict `:` functional-type(operands, results)
  }];
}

def Dnn_InputRowsOp : Dnn_ComputeOp<"input_rows"> {
  let summary = "Copy the rows that the caller gave";
  let arguments = (ins Transformer_BatchType:$batch, Dnn_Rows:$outs);
  let results = (outs Optional<Dnn_Rows>:$results);
  let assemblyFormat = [{
    $batch `outs` `(` $outs `)` attr-dict `:` functional-type(operands, results)
  }];
}

def Dnn_ClassTokenOp : Dnn_ComputeOp<"class_token"> {
  let summary = "Put a learned row where each sequence begins";
  let arguments = (ins Dnn_Rows:$input, Transformer_BatchType:$batch,
                       Dnn_PackedType:$token, Dnn_Rows:$outs);
  let results = (outs Optional<Dnn_Rows>:$results);
  let assemblyFormat = [{
    $input `,` $batch `,` $token `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

def Dnn_ElementwiseOp : Dnn_ComputeOp<"elementwise"> {
  let summary = "factor * activation(input_factor * x), within a bound";
  let arguments = (ins Transformer_ActivationAttr:$activation, Dnn_Rows:$input,
                       Dnn_Rows:$outs, F64Attr:$inputFactor, F64Attr:$factor,
                       OptionalAttr<F64Attr>:$bound);
  let results = (outs Optional<Dnn_Rows>:$results);
  let assemblyFormat = [{
    $activation $input `input_factor` $inputFactor `factor` $factor
    (`bound` $bound^)? `outs` `(` $outs `)` attr-dict `:` functional-type(operands, results)
  }];
}

def Dnn_SigmoidGateOp : Dnn_ComputeOp<"sigmoid_gate"> {
  let summary = "Scale each row by the sigmoid of its own number";
  let arguments = (ins Dnn_Rows:$input, Dnn_Rows:$gate, Dnn_Rows:$outs);
  let results = (outs Optional<Dnn_Rows>:$results);
  let assemblyFormat = [{
    $input `,` $gate `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

def Dnn_ColumnsOp : Dnn_ComputeOp<"columns"> {
  let summary = "Copy some neighbouring columns";
  let arguments = (ins Dnn_Rows:$input, Dnn_Rows:$outs, I64Attr:$first);
  let results = (outs Optional<Dnn_Rows>:$results);
  let assemblyFormat = [{
    $input `from` $first `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

def Dnn_AddOp : Dnn_ComputeOp<"add"> {
  let summary = "A residual that nothing else took in";
  let arguments = (ins Dnn_Rows:$lhs, Dnn_Rows:$rhs, Dnn_Rows:$outs);
  let results = (outs Optional<Dnn_Rows>:$results);
  let assemblyFormat = [{
    $lhs `,` $rhs `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
}

def Dnn_CastOp : Dnn_ComputeOp<"cast"> {
  let summary = "Rows in the type that a product computes in";
  let arguments = (ins Dnn_Rows:$input, Dnn_Rows:$outs);
  let results = (outs Optional<Dnn_Rows>:$results);
  let assemblyFormat = [{
    $input `outs` `(` $outs `)` attr-dict `:` functional-type(operands, results)
  }];
}

#endif // TENON_DIALECTS_DNN_COMPUTEOPS_TD
