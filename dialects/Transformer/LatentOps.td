//===- LatentOps.td - Multi-head latent attention ----------*- tablegen -*-===//
//
// DeepSeek-V2 (2024): what is cached per token is one vector from which keys
// and values of all heads are computed, and one rotated key that all share.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TRANSFORMER_LATENTOPS_TD
#define TENON_DIALECTS_TRANSFORMER_LATENTOPS_TD

include "TransformerBase.td"

def Transformer_LatentAppendOp : Transformer_FusedOp<"latent_append", [
    Transformer_AppendsToCache,
    InferTypeOpAdaptor]> {
  let resultNames = "cache";
  let summary = "Store this step's latent vectors in a layer of the cache";
  let description = [{
    Row t of `latent` [T, rank] and of `rotated` [T, rope_dim], side by side, go
    to token t's sequence and position in the layer of `scope`.
  }];
  let arguments = (ins Transformer_CacheType:$cache, Transformer_ScopeType:$scope,
                       Transformer_BatchType:$batch, Transformer_Activations:$latent,
                       Transformer_Activations:$rotated);
  let results = (outs Transformer_CacheType:$result);
  let assemblyFormat = [{
    $cache `[` $scope `]` `,` $batch `latent` $latent `rotated` $rotated attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def Transformer_LatentAttentionOp
    : Transformer_FusedOp<"latent_attention", [
        Transformer_Weights, Transformer_Attends, Transformer_ReadsCache]> {
  let resultNames = "attended";
  let summary = "Causal attention over latent vectors";
  let description = [{
    With c_s the latent vector and r_s the rotated key of position s, head h has
    the key `[K_h c_s, r_s]` and the value `V_h c_s`, where `expand`
    [heads * (key_dim + value_dim), rank] is K_0, V_0, K_1, ... one below
    another. `query` is [T, heads * (key_dim + rope_dim)], rotated; the result
    [T, heads * value_dim].

    With many queries a kernel expands the keys and values of a page once for
    all of them; with few it absorbs K_h into the query and applies V_h to the
    sum. Both are the same sums.
  }];
  let arguments = (ins Transformer_Activations:$query, Transformer_BatchType:$batch,
                       Transformer_CacheType:$cache,
                       Transformer_ScopeType:$scope, Transformer_PlainMatrix:$expand,
                       I64Attr:$heads, I64Attr:$keyDim, I64Attr:$valueDim,
                       F64Attr:$scale);
  let results = (outs Transformer_Activations:$result);
  let assemblyFormat = [{
    $query `,` $batch `cache` $cache `[` $scope `]` `expand` $expand
    `heads` $heads `key_dim` $keyDim `value_dim` $valueDim
    `scale` custom<Real>($scale) attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let methods = [{
    int64_t getRank() { return getExpand().getType().getShape()[1]; }
    /// Elements of a head's query that are rotated.
    int64_t getRopeDim() {
      return getQuery().getType().getShape()[1] /
                 static_cast<int64_t>(getHeads()) -
             static_cast<int64_t>(getKeyDim());
    }
  }];
}

#endif // TENON_DIALECTS_TRANSFORMER_LATENTOPS_TD
