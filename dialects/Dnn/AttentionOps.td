//===- AttentionOps.td - Attention and its cache -----------*- tablegen -*-===//

#ifndef TENON_DIALECTS_DNN_ATTENTIONOPS_TD
#define TENON_DIALECTS_DNN_ATTENTIONOPS_TD

include "DnnBase.td"

def Dnn_SplitAppendOp : Dnn_ComputeOp<"split_append", [
    AttrSizedOperandSegments, Transformer_AppendsToCache]> {
  let summary = "Norm and rotate queries and keys; append to the cache";
  let resultNames = "query";
  let arguments = (ins Variadic<Dnn_Activations>:$qkv,
                       Transformer_CacheType:$cache, Transformer_ScopeType:$scope,
                       Transformer_BatchType:$batch,
                       Optional<Dnn_Vector>:$queryNorm,
                       Optional<Dnn_Vector>:$keyNorm,
                       Optional<Dnn_Table>:$table,
                       Dnn_Activations:$outs, I64Attr:$heads, I64Attr:$kvHeads,
                       OptionalAttr<Transformer_RopeAttr>:$rope,
                       OptionalAttr<F64Attr>:$eps, Dnn_NormOffset:$normOffset);
  let results = (outs Optional<Dnn_Activations>:$results);
  let assemblyFormat = [{
    $qkv `to` $cache `[` $scope `]` `,` $batch `heads` $heads `kv_heads` $kvHeads
    (`query_norm` $queryNorm^)? (`key_norm` $keyNorm^)?
    (`eps` custom<Real>($eps)^)? (`norm_offset` custom<Real>($normOffset)^)?
    (`rope` $rope^)? (`table` $table^)? `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let methods = [{
    bool convertsOnStore(unsigned Result) { return true; }
  }];
}

def Dnn_SplitStageOp : Dnn_ComputeOp<"split_stage", [
    AttrSizedOperandSegments, Dnn_OperandRows], /*destinations=*/2> {
  let summary = "Norm and rotate queries and keys; stage keys and values";
  let description = [{
    The second destination has a row per staged page, in the layout of cache
    pages.
  }];
  let resultNames = "query,staged";
  let arguments = (ins Variadic<Dnn_Activations>:$qkv,
                       Transformer_BatchType:$batch,
                       Optional<Dnn_Vector>:$queryNorm,
                       Optional<Dnn_Vector>:$keyNorm,
                       Optional<Dnn_Table>:$table,
                       Dnn_Activations:$out, Dnn_Activations:$stagedOut,
                       I64Attr:$heads, I64Attr:$kvHeads,
                       OptionalAttr<Transformer_RopeAttr>:$rope,
                       OptionalAttr<F64Attr>:$eps, Dnn_NormOffset:$normOffset);
  let results = (outs Variadic<Dnn_Activations>:$results);
  let assemblyFormat = [{
    $qkv `of` $batch `heads` $heads `kv_heads` $kvHeads
    (`query_norm` $queryNorm^)? (`key_norm` $keyNorm^)?
    (`eps` custom<Real>($eps)^)? (`norm_offset` custom<Real>($normOffset)^)?
    (`rope` $rope^)? (`table` $table^)? `outs` `(` $out `,` $stagedOut `)`
    attr-dict `:` functional-type(operands, results)
  }];
  let methods = [{
    bool convertsOnStore(unsigned Result) { return true; }
  }];
}

def Dnn_CacheAppendOp : Dnn_ComputeOp<"cache_append", [
    Transformer_AppendsToCache], /*destinations=*/0> {
  let summary = "Append this step's keys and values to the cache";
  let arguments = (ins Transformer_CacheType:$cache, Transformer_ScopeType:$scope,
                       Transformer_BatchType:$batch, Dnn_Activations:$keys,
                       Dnn_Activations:$values);
  let assemblyFormat = [{
    $cache `[` $scope `]` `,` $batch `keys` $keys `values` $values attr-dict
    `:` type(operands)
  }];
}

def Dnn_LatentAppendOp : Dnn_ComputeOp<"latent_append", [
    Transformer_AppendsToCache], /*destinations=*/0> {
  let summary = "Append this step's latent vectors to the cache (MLA)";
  let arguments = (ins Transformer_CacheType:$cache, Transformer_ScopeType:$scope,
                       Transformer_BatchType:$batch, Dnn_Activations:$latent,
                       Dnn_Activations:$rotated);
  let assemblyFormat = [{
    $cache `[` $scope `]` `,` $batch `latent` $latent `rotated` $rotated
    attr-dict `:` type(operands)
  }];
}

def Dnn_AttentionOp : Dnn_ComputeOp<"attention", [
    AttrSizedOperandSegments, Transformer_ReadsCache, Dnn_OperandRows]> {
  let summary = "Online-softmax attention over pages";
  let description = [{
    `bias` is a table of biases by head and distance, or of slopes by head, as
    `content` says. Queries of bf16 may be multiplied as the target can, in
    pairs or, with cached integers, as two digits of 8 bits, and weights are
    rounded likewise; queries of f32 are multiplied in f32.

    With `partition_pages` the pages that a row sees are divided into
    partitions, which threads share; how, follows from that row's number of
    pages alone. The second destination is scratch: of each partition and head
    the weighted sum, its maximum as an exponent of 2 and its total,
    [T, partitions * heads * (head_dim + 2)].
  }];
  let resultNames = "attended,partials";
  let destinationCount = "getPartialsOut() ? 2 : 1";
  let arguments = (ins Transformer_MaskAttr:$mask, Dnn_Activations:$query,
                       Transformer_BatchType:$batch,
                       Optional<Dnn_Activations>:$staged,
                       Optional<Transformer_CacheType>:$cache,
                       Optional<Transformer_ScopeType>:$scope,
                       Optional<Dnn_Table>:$bias,
                       Optional<Dnn_Vector>:$sinks,
                       Dnn_MatmulRows:$outs,
                       Optional<Dnn_F32Rows>:$partialsOut, I64Attr:$heads,
                       I64Attr:$kvHeads, F64Attr:$scale,
                       OptionalAttr<I64Attr>:$window,
                       OptionalAttr<F64Attr>:$softCap,
                       OptionalAttr<Transformer_TableAttr>:$content,
                       OptionalAttr<I64Attr>:$partitionPages);
  let results = (outs Variadic<Dnn_MatmulRows>:$results);
  let assemblyFormat = [{
    custom<Enum>($mask) $query `,` $batch (`staged` $staged^)? (`cache` $cache^)?
    (`[` $scope^ `]`)? `heads` $heads `kv_heads` $kvHeads
    `scale` custom<Real>($scale) (`window` $window^)?
    (`soft_cap` custom<Real>($softCap)^)? (`bias` $bias^)?
    (`content` $content^)? (`sinks` $sinks^)?
    (`partition_pages` $partitionPages^)?
    `outs` `(` $outs (`,` $partialsOut^)? `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let methods = [{
    bool convertsOnStore(unsigned Result) { return Result == 0; }
    bool quantizesOnStore(unsigned Result) {
      return Result == 0 && partsBeginWithGroups(widthOf(getOuts()), getHeads());
    }
    /// The most partitions of a row; 1 if there are none.
    int64_t getMostPartitions();
  }];
}

def Dnn_LatentAttentionOp : Dnn_ComputeOp<"latent_attention", [
    Transformer_ReadsCache], /*destinations=*/2> {
  let summary = "Multi-head latent attention (MLA)";
  let description = [{
    As in the transformer dialect. A sequence with many queries in the step has
    keys and values of its pages expanded; for one with few, K is absorbed into
    the queries and V follows the sum. The second destination is the state of
    the expanded form, a maximum (an exponent of 2) and a total beside each
    weighted sum: [T, heads * (value_dim + 2)].

    `partition_pages` is as in `attention`, for rows whose queries absorb K. The
    third destination has these queries, then sum, maximum (an exponent of 2)
    and total of each partition and head: [T, heads * (rank + rope_dim +
    partitions * (rank + 2))].
  }];
  let resultNames = "attended,state,partials";
  let destinationCount = "getPartialsOut() ? 3 : 2";
  let arguments = (ins Dnn_Activations:$query, Transformer_BatchType:$batch,
                       Transformer_CacheType:$cache,
                       Transformer_ScopeType:$scope, Dnn_Rows:$expand,
                       Dnn_Activations:$out, Dnn_Activations:$stateOut,
                       Optional<Dnn_F32Rows>:$partialsOut, I64Attr:$heads,
                       I64Attr:$keyDim, I64Attr:$valueDim, F64Attr:$scale,
                       OptionalAttr<I64Attr>:$partitionPages);
  let results = (outs Variadic<Dnn_Activations>:$results);
  let assemblyFormat = [{
    $query `,` $batch `cache` $cache `[` $scope `]` `expand` $expand
    `heads` $heads `key_dim` $keyDim `value_dim` $valueDim
    `scale` custom<Real>($scale) (`partition_pages` $partitionPages^)?
    `outs` `(` $out `,` $stateOut (`,` $partialsOut^)? `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let methods = [{
    bool convertsOnStore(unsigned Result) { return Result == 0; }
    /// Rows of `expand` are of so many columns, as latent vectors without their
    /// rotated part.
    int64_t getRank() { return getExpand().getType().getInFeatures(); }
    /// Rotated elements of a query's head.
    int64_t getRopeDim();
    /// The most partitions of a row; 1 if there are none.
    int64_t getMostPartitions();
  }];
}

#endif // TENON_DIALECTS_DNN_ATTENTIONOPS_TD
