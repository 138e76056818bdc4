//===- FusedOps.td - Operations that fusion forms ----------*- tablegen -*-===//
//
// What the model level is rewritten to before operations are placed: each of
// these is one library call or one generated kernel.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TRANSFORMER_FUSEDOPS_TD
#define TENON_DIALECTS_TRANSFORMER_FUSEDOPS_TD

include "TransformerBase.td"

def Transformer_MatmulOp : Transformer_RowWiseOp<"matmul", [
    Transformer_Weights,
    AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let resultNames = "@weight";
  let summary = "A matmul with everything that is applied to it";
  let description = [{
    `activation(x * W^T + b) . multiplier + residual`, where W is the weights
    concatenated along their rows and b the biases likewise: [T, sum of N].
    There are no biases or as many as weights.
  }];
  let arguments = (ins Transformer_Activations:$input,
                       Variadic<Transformer_Matrix>:$weights,
                       Variadic<Transformer_Vector>:$biases,
                       Optional<Transformer_Activations>:$multiplier,
                       Optional<Transformer_Activations>:$residual,
                       DefaultValuedAttr<Transformer_ActivationAttr,
                         "Activation::None">:$activation);
  let results = (outs Transformer_Activations:$result);
  let assemblyFormat = [{
    $input `weights` `(` $weights `)` (`biases` `(` $biases^ `)`)?
    (`activation` custom<Enum>($activation)^)? (`multiplier` $multiplier^)?
    (`residual` $residual^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Transformer_GatedMatmulOp : Transformer_RowWiseOp<"gated_matmul", [
    Transformer_Weights,
    AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let resultNames = "hidden";
  let summary = "Gate and up matmul of a gated feed-forward";
  let description = [{
    `activation(x * gate^T + gate_bias) . (x * up^T + up_bias)`
  }];
  let arguments = (ins Transformer_Activations:$input, Transformer_Matrix:$gate,
                       Transformer_Matrix:$up,
                       Optional<Transformer_Vector>:$gateBias,
                       Optional<Transformer_Vector>:$upBias,
                       Transformer_ActivationAttr:$activation);
  let results = (outs Transformer_Activations:$result);
  let assemblyFormat = [{
    custom<Enum>($activation) $input `gate` $gate (`bias` $gateBias^)? `up` $up
    (`bias` $upBias^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Transformer_AddNormOp : Transformer_RowWiseOp<"add_norm", [
    AllTypesMatch<["lhs", "rhs", "sum", "result"]>]> {
  let resultNames = "sum,normed";
  let summary = "Residual and the norm of the sum in one pass";
  let description = [{
    `sum = lhs + rhs`, `result = norm(sum)`; `rms` takes no bias; its
    weight has `offset` added.
  }];
  let arguments = (ins Transformer_NormAttr:$kind, Transformer_Activations:$lhs,
                       Transformer_Activations:$rhs, Transformer_Vector:$weight,
                       Optional<Transformer_Vector>:$bias, F64Attr:$eps,
                       Transformer_NormOffset:$offset);
  let results = (outs Transformer_Activations:$sum, Transformer_Activations:$result);
  let assemblyFormat = [{
    custom<Enum>($kind) $lhs `,` $rhs `weight` $weight (`bias` $bias^)?
    `eps` custom<Real>($eps) (`offset` custom<Real>($offset)^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Transformer_SplitAppendOp : Transformer_FusedOp<"split_append", [
    Transformer_AppendsToCache,
    AttrSizedOperandSegments]> {
  let resultNames = "query,cache";
  let summary = "Norm, rotate and store queries, keys and values";
  let description = [{
    `qkv` is one tensor [T, (heads + 2 kv_heads) * head_dim], queries, keys and
    values side by side, or these three apart. Queries and keys are normalised
    per head (RMS, if norms are given) and rotated (if `rope` is), keys and
    values appended to the cache; the rotated queries are the first result.
  }];
  let arguments = (ins Variadic<Transformer_Activations>:$qkv,
                       Transformer_CacheType:$cache, Transformer_ScopeType:$scope,
                       Transformer_BatchType:$batch,
                       Optional<Transformer_Vector>:$queryNorm,
                       Optional<Transformer_Vector>:$keyNorm,
                       I64Attr:$heads, I64Attr:$kvHeads,
                       OptionalAttr<Transformer_RopeAttr>:$rope,
                       OptionalAttr<F64Attr>:$eps,
                       Transformer_NormOffset:$normOffset);
  let results = (outs Transformer_Activations:$query, Transformer_CacheType:$result);
  let assemblyFormat = [{
    $qkv `to` $cache `[` $scope `]` `,` $batch `heads` $heads `kv_heads` $kvHeads
    (`query_norm` $queryNorm^)? (`key_norm` $keyNorm^)? (`eps` custom<Real>($eps)^)?
    (`norm_offset` custom<Real>($normOffset)^)? (`rope` $rope^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Transformer_SplitStageOp : Transformer_FusedOp<"split_stage", [
    Transformer_Rows,
    AttrSizedOperandSegments]> {
  let resultNames = "query,staged";
  let summary = "Norm and rotate queries and keys, and lay keys and values out";
  let description = [{
    As `split_append`, but keys and values of this step go to a buffer in the
    layout of cache pages, a row of `staged` for each: of 64 slots, zero where
    they have no token. A sequence begins a page, or it ends in the page that it
    begins in and begins at an even slot, the next one.
  }];
  let arguments = (ins Variadic<Transformer_Activations>:$qkv,
                       Transformer_BatchType:$batch,
                       Optional<Transformer_Vector>:$queryNorm,
                       Optional<Transformer_Vector>:$keyNorm,
                       I64Attr:$heads, I64Attr:$kvHeads,
                       OptionalAttr<Transformer_RopeAttr>:$rope,
                       OptionalAttr<F64Attr>:$eps,
                       Transformer_NormOffset:$normOffset);
  let results = (outs Transformer_Activations:$query, Transformer_Activations:$staged);
  let assemblyFormat = [{
    $qkv `of` $batch `heads` $heads `kv_heads` $kvHeads
    (`query_norm` $queryNorm^)? (`key_norm` $keyNorm^)? (`eps` custom<Real>($eps)^)?
    (`norm_offset` custom<Real>($normOffset)^)? (`rope` $rope^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Transformer_OnlineAttentionOp : Transformer_FusedOp<"online_attention", [
    Transformer_Weights, Transformer_ReadsCache,
    DeclareOpInterfaceMethods<Transformer_RowsOpInterface,
      ["getOperandCount"]>,
    AttrSizedOperandSegments, AllTypesMatch<["query", "result"]>]> {
  let resultNames = "attended";
  let summary = "Attention that never stores a score matrix";
  let description = [{
    `attention` page by page: running maximum and sum of each query replace the
    tokens x context matrix of scores (Milakov and Gimelshein 2018; Dao et al.
    2022). Keys and values come from `staged` or from the cache.
  }];
  let arguments = (ins Transformer_Activations:$query, Transformer_BatchType:$batch,
                       Optional<Transformer_Activations>:$staged,
                       Optional<Transformer_CacheType>:$cache,
                       Optional<Transformer_ScopeType>:$scope,
                       Optional<Transformer_PlainMatrix>:$bias,
                       Optional<Transformer_Vector>:$sinks,
                       Transformer_MaskAttr:$mask, I64Attr:$heads,
                       I64Attr:$kvHeads, F64Attr:$scale,
                       OptionalAttr<I64Attr>:$window,
                       OptionalAttr<F64Attr>:$softCap,
                       OptionalAttr<Transformer_AlibiAttr>:$alibi,
                       OptionalAttr<Transformer_BucketsAttr>:$buckets);
  let results = (outs Transformer_Activations:$result);
  let assemblyFormat = [{
    custom<Enum>($mask) $query `,` $batch (`staged` $staged^)? (`cache` $cache^)?
    (`[` $scope^ `]`)? `heads` $heads `kv_heads` $kvHeads
    `scale` custom<Real>($scale) (`window` $window^)? (`soft_cap` custom<Real>($softCap)^)?
    (`alibi` $alibi^)? (`bias` $bias^)? (`buckets` $buckets^)?
    (`sinks` $sinks^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // TENON_DIALECTS_TRANSFORMER_FUSEDOPS_TD
