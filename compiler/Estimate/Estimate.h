//===- Estimate.h - What a model costs --------------------------*- C++ -*-===//
//
// Parameters, floating-point operations and cache bytes of a model graph, read
// off its ops with the calls expanded.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_ESTIMATE_ESTIMATE_H
#define TENON_COMPILER_ESTIMATE_ESTIMATE_H

#include "compiler/Checkpoint/ElementType.h"
#include "runtime/Support/Json.h"
#include "runtime/Support/Result.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenon {

/// Counts of one model. A multiplication and an addition are two operations;
/// norms, activations, softmax and routing are left out, as they are far fewer.
/// An encoder-decoder's counts are those of its decoder but where they say so.
struct ModelEstimate {
  std::string Family;
  /// The role that the operations are those of: "step" or "encode".
  std::string Role;

  /// Elements of all parameters, each name once: a tied head is counted with
  /// the embedding.
  int64_t Parameters = 0;
  /// The same by component: embedding, attention, ffn, norm, head.
  std::vector<std::pair<std::string, int64_t>> Components;
  /// The same without experts that a token does not go through.
  int64_t ActiveParameters = 0;
  /// Elements of embeddings and of the head, which makers of models leave out
  /// when they speak of parameters without embeddings.
  int64_t embeddingParameters() const;
  /// Elements that matmuls read for one token, a tied head's and the chosen
  /// experts' included, and tables that are only looked up left out: N below.
  int64_t MatmulParameters = 0;
  /// Those of the head, which only output rows pass.
  int64_t HeadParameters = 0;

  /// Bytes of all parameters as they are kept, without padding.
  int64_t WeightBytes = 0;
  /// Bytes of the weights that one token's matmuls read.
  int64_t MatmulBytes = 0;

  /// Tokens that the following are for.
  int64_t Context = 0;
  /// Operations of the last of Context tokens:
  /// 2 N + sum over layers of 4 * heads * head_dim * keys seen. Latent
  /// attention has K and V moved to queries and sums (counted in N) and
  /// 2 * heads * (2 * rank + rope_dim) per key seen. Only of decoders.
  std::optional<int64_t> DecodeFlops;
  /// Operations per token of Context tokens at once; a decoder's head is
  /// computed for the last of them. Latent attention expands each position once
  /// (counted in N) and has 2 * heads * (key_dim + rope_dim + value_dim) per
  /// key seen.
  int64_t PrefillFlops = 0;
  /// Forward and backward pass per token: 6 N (Kaplan et al. 2020), without
  /// attention scores.
  int64_t TrainingFlops = 0;

  /// What the cache keeps; absent without one.
  std::optional<CacheFormat> CachedAs;
  /// Elements of keys and values, or of latent vectors, of one token in all
  /// layers.
  int64_t CacheElements = 0;
  /// Bytes of the scales beside them.
  int64_t CacheScaleBytes = 0;
  bool IsLatent = false;
  /// The longest sequence.
  int64_t MaxSequence = 0;

  /// Of an encoder-decoder.
  struct Source {
    /// The longest source text, which the counts above assume.
    int64_t Tokens = 0;
    /// Elements that the encoder's matmuls read for one source token, those of
    /// keys and values for the decoder included.
    int64_t MatmulParameters = 0;
    /// Operations per source token of encoding all of them.
    int64_t EncodeFlops = 0;
    /// Operations of one target token per source token: the part of Decode and
    /// PrefillFlops that grows with the source text.
    int64_t CrossFlops = 0;
    /// Elements of keys and values of one source token in all layers.
    CacheFormat CachedAs = CacheFormat::F32;
    int64_t CacheElements = 0;
    int64_t CacheScaleBytes = 0;

    int64_t cacheBytesPerToken() const {
      return infoOf(CachedAs).Bytes * CacheElements + CacheScaleBytes;
    }
  };
  std::optional<Source> SourceText;

  int64_t cacheBytesPerToken() const {
    return CachedAs ? infoOf(*CachedAs).Bytes * CacheElements + CacheScaleBytes
                    : 0;
  }
};

/// Estimates a module of model-level ops for `Context` tokens, by default the
/// longest sequence. An error when there is no entry, `Context` is out of
/// range, or a count leaves 64 bits.
Result<ModelEstimate>
estimateModel(mlir::ModuleOp Module,
              std::optional<int64_t> Context = std::nullopt);

/// The counts as JSON, or as a table for people, of a model whose matrices are
/// `WeightType`.
Json toJson(const ModelEstimate &E);
std::string toText(const ModelEstimate &E, const std::string &WeightType);

} // namespace tenon

#endif // TENON_COMPILER_ESTIMATE_ESTIMATE_H
