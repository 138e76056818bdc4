//===- AttentionOps.td - Attention and its cache -----------*- tablegen -*-===//

#ifndef TENON_DIALECTS_TRANSFORMER_ATTENTIONOPS_TD
#define TENON_DIALECTS_TRANSFORMER_ATTENTIONOPS_TD

include "TransformerBase.td"

def Transformer_CacheAppendOp : Transformer_FusedOp<"cache_append", [
    Transformer_AppendsToCache,
    InferTypeOpAdaptor]> {
  let resultNames = "cache";
  let summary = "Store this step's keys and values in a layer of the cache";
  let description = [{
    `keys` and `values` are [T, kv_heads * head_dim]; row t goes to token t's
    sequence and position, in the layer of `scope`. Takes the handle `cache`
    and gives the next one.
  }];
  let arguments = (ins Transformer_CacheType:$cache, Transformer_ScopeType:$scope,
                       Transformer_BatchType:$batch, Transformer_Activations:$keys,
                       Transformer_Activations:$values);
  let results = (outs Transformer_CacheType:$result);
  let assemblyFormat = [{
    $cache `[` $scope `]` `,` $batch `keys` $keys `values` $values attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Transformer_AttentionOp : Transformer_ComputeOp<"attention", [
    Transformer_Weights, Transformer_Attends, Transformer_ReadsCache,
    AttrSizedOperandSegments, InferTypeOpAdaptor]> {
  let resultNames = "attended";
  let summary = "Scaled dot-product attention";
  let description = [{
    Every query attends to keys of its own sequence:
    `softmax(scale * q . k) * v` per head (Vaswani et al. 2017). `query` is
    [T, heads * head_dim]; `heads / kv_heads` queries share a key-value head:
    1 is multi-head, `heads` multi-query, between them grouped-query attention.

    Keys and values are this step's, [T, kv_heads * head_dim], or those that
    `cache` holds in the layer of `scope`, this step's included. The mask
    `causal` lets a query see keys at its own and earlier positions;
    `window` W only the last W of these, its own included. `prefix` also lets
    tokens of the sequence's prefix see each other. In `bidirectional` attention
    a window hides keys W or more positions away.

    Scores are changed, in this order: multiplied by `scale`; by `soft_cap` c
    to `c tanh(score / c)`; by `alibi`, or by a learned `bias` [buckets, heads]
    of the distance's bucket, added to. A `sinks` logit per head takes part in
    the softmax without a value.

    ```mlir
    %o = transformer.attention causal %q, %batch cache %c1[%scope]
        heads 6 kv_heads 3 scale 0.2041 window 16 : (...) -> tensor<?x144xf32>
    ```
  }];
  let arguments = (ins Transformer_Activations:$query, Transformer_BatchType:$batch,
                       Optional<Transformer_Activations>:$keys,
                       Optional<Transformer_Activations>:$values,
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
    custom<Enum>($mask) $query `,` $batch (`keys` $keys^)? (`values` $values^)?
    (`cache` $cache^)? (`[` $scope^ `]`)? `heads` $heads `kv_heads` $kvHeads
    `scale` custom<Real>($scale) (`window` $window^)? (`soft_cap` custom<Real>($softCap)^)?
    (`alibi` $alibi^)? (`bias` $bias^)? (`buckets` $buckets^)?
    (`sinks` $sinks^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // TENON_DIALECTS_TRANSFORMER_ATTENTIONOPS_TD
