//===- Estimate.h - What a model costs --------------------------*- C++ -*-===//
//
// Parameters, floating-point operations and cache bytes of a model graph, read
// off its ops with the calls expanded.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_ESTIMATE_ESTIMATE_H
#define TENON_COMPILER_ESTIMATE_ESTIMATE_H

#include "runtime/Support/ElementType.h"
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
/// norms, activations and softmax are left out, as they are far fewer.
struct ModelEstimate {
  std::string Family;
  /// The role that the operations are those of: "step" or "encode".
  std::string Role;

  /// Elements of all parameters, each name once: a tied head is counted with
  /// the embedding.
  int64_t Parameters = 0;
  /// The same by component: embedding, attention, ffn, norm, head.
  std::vector<std::pair<std::string, int64_t>> Components;
  /// Elements that products read for one token, a tied head's included and
  /// tables that are only looked up left out: N below.
  int64_t MatmulParameters = 0;
  /// Those of the head, which only wanted rows pass.
  int64_t HeadParameters = 0;

  /// Bytes of all parameters as they are kept, without padding.
  int64_t WeightBytes = 0;
  /// Bytes of the weights that one token's products read.
  int64_t ProductBytes = 0;

  /// Tokens that the following are for.
  int64_t Context = 0;
  /// Operations of the last of Context tokens:
  /// 2 N + sum over layers of 4 * heads * head_dim * keys seen.
  /// Only of decoders.
  std::optional<int64_t> DecodeFlops;
  /// Operations per token of Context tokens at once; a decoder's head is
  /// computed for the last of them.
  int64_t PrefillFlops = 0;
  /// Forward and backward pass per token: 6 N (Kaplan et al. 2020), without
  /// attention scores.
  int64_t TrainingFlops = 0;

  /// What the cache keeps; absent without one.
  std::optional<ElementType> CacheType;
  /// Elements of keys and values of one token in all layers.
  int64_t CacheElements = 0;
  /// The longest sequence.
  int64_t MaxSequence = 0;

  int64_t cacheBytesPerToken() const {
    return CacheType ? CacheElements * static_cast<int64_t>(sizeOf(*CacheType))
                     : 0;
  }
};

/// Estimates a module of model-level ops for `Context` tokens, by default the
/// longest sequence. An error when there is no entry, `Context` is out of
/// range, or a count leaves 64 bits.
Result<ModelEstimate>
estimateModel(mlir::ModuleOp Module,
              std::optional<int64_t> Context = std::nullopt);

/// The counts as JSON, or as a table for people.
Json toJson(const ModelEstimate &E);
std::string toText(const ModelEstimate &E);

} // namespace tenon

#endif // TENON_COMPILER_ESTIMATE_ESTIMATE_H
