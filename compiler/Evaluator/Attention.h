//===- Attention.h - What attention and its cache compute -------*- C++ -*-===//
//
// Scaled dot-product attention (Vaswani et al. 2017) with grouped heads
// (Ainslie et al. 2023), windows, soft caps, linear biases (Press et al. 2022),
// learned biases by distance (Raffel et al. 2020) and sinks (Xiao et al. 2023).
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_EVALUATOR_ATTENTION_H
#define TENON_COMPILER_EVALUATOR_ATTENTION_H

#include "compiler/Evaluator/Batch.h"
#include "compiler/Evaluator/KeyValueCache.h"
#include "compiler/Evaluator/Rope.h"

#include <optional>

namespace tenon::evaluate {

/// Stores row t of `Keys` and `Values` [T, kv_heads * head_dim] at token t's
/// sequence and position.
Status cacheAppend(KeyValueCache &Cache, int64_t Layer,
                   const EvaluatorBatch &Batch, const Tensor2D &Keys,
                   const Tensor2D &Values);

/// Checks that the cache holds what causal queries of `Batch` see: their own
/// positions.
Status checkStored(const EvaluatorBatch &Batch, const KeyValueCache &Cache,
                   int64_t Layer);

/// Heads, mask and scores of attention.
struct AttentionShape {
  int64_t Heads = 1;
  int64_t KvHeads = 1;
  double Scale = 1;
  transformer::MaskKind Mask = transformer::MaskKind::Causal;
  std::optional<int64_t> Window;
  std::optional<double> SoftCap;
  /// Null for none.
  transformer::AlibiAttr Alibi;
  /// Null for none, otherwise with `Bias` [buckets, heads] or `Table`.
  transformer::BucketsAttr Buckets;
  const Tensor2D *Bias = nullptr;
  /// What the attribute of `Alibi` or `Buckets` fills a table with: [heads, 1]
  /// or [heads, 2 max + 1]. Null where it is computed.
  const Tensor2D *Table = nullptr;
  /// [1, heads], or null.
  const Tensor2D *Sinks = nullptr;
  /// How staged keys and values are laid out.
  CacheFormat StagedAs = CacheFormat::F32;
  /// Whether values are multiplied with exponentials rounded to bf16, page by
  /// page.
  bool RoundsWeights = false;

  /// Whether a query at position `Query` sees the key at `Key` of its
  /// sequence. Bidirectional: all, of which a window leaves those less than W
  /// away. Causal: those not after it, of which a window leaves the last W.
  /// Prefix: those of causal, and within the first `Prefix` tokens all.
  bool sees(int64_t Query, int64_t Key, int64_t Prefix = 0) const;

  /// The score of head `Head` for a dot product q . k of `Dot`:
  /// scale * dot; then cap * tanh(score / cap); then plus
  ///  - alibi: slope * key, or rounded: scale * bf16(slope * bf16(key)), where
  ///    the slope is rounded too (Falcon);
  ///  - buckets: bias[bucket of key - query, head].
  double score(int64_t Head, double Dot, int64_t Query, int64_t Key) const;
};

/// softmax(score(q . k)) * v over the keys that a query sees, and the sink if
/// there is one, which has no value; query head h uses key-value head
/// h / (heads / kv_heads). `Query` [T, heads * head_dim], `Keys` and `Values`
/// [T, kv_heads * head_dim], those of this step.
Tensor2D attention(const Tensor2D &Query, const EvaluatorBatch &Batch,
                   const Tensor2D &Keys, const Tensor2D &Values,
                   const AttentionShape &Shape);

/// The same over what `Cache` holds in `Layer`: all of it when bidirectional,
/// which only cross-attention is. An error when it lacks a position that a
/// query sees.
Result<Tensor2D> cachedAttention(const Tensor2D &Query,
                                 const EvaluatorBatch &Batch,
                                 const KeyValueCache &Cache, int64_t Layer,
                                 const AttentionShape &Shape);

/// attention over staged keys and values (see splitStage), page by page. With
/// m the largest score so far, s the sum of e^(score - m) and o that of
/// e^(score - m) v, a page whose largest score is m' first scales s and o by
/// e^(m - max(m, m')); the result is o / s (Milakov and Gimelshein 2018).
Tensor2D onlineAttention(const Tensor2D &Query, const EvaluatorBatch &Batch,
                         const Tensor2D &Staged, const AttentionShape &Shape);

/// The same over what `Cache` holds in `Layer`, in pages of 64 positions.
Result<Tensor2D> cachedOnlineAttention(const Tensor2D &Query,
                                       const EvaluatorBatch &Batch,
                                       const KeyValueCache &Cache,
                                       int64_t Layer,
                                       const AttentionShape &Shape);

/// How queries, keys and values are taken apart and prepared.
struct SplitShape {
  int64_t Heads = 1;
  int64_t KvHeads = 1;
  /// [1, head_dim] each, or null.
  const Tensor2D *QueryNorm = nullptr;
  const Tensor2D *KeyNorm = nullptr;
  double Eps = 0;
  /// Added to the weights of both norms.
  double NormOffset = 0;
  Rotation Rope;
};

struct SplitParts {
  Tensor2D Query, Keys, Values;
};
/// Takes `Qkv` (one [T, (heads + 2 kv_heads) * head_dim], or three) apart,
/// normalises queries and keys per head, and rotates them.
SplitParts split(std::span<const Tensor2D *const> Qkv,
                 const EvaluatorBatch &Batch, const SplitShape &Shape);

/// split, then cacheAppend; answers the queries.
Result<Tensor2D> splitAppend(std::span<const Tensor2D *const> Qkv,
                             KeyValueCache &Cache, int64_t Layer,
                             const EvaluatorBatch &Batch,
                             const SplitShape &Shape);

struct SplitStageResult {
  Tensor2D Query;
  Tensor2D Staged;
};
/// split, then keys and values in the layout of cache pages: row c of `Staged`
/// holds tokens [64 c, 64 c + 64) as PageLayout says for `Format`, zero where
/// there is nothing.
SplitStageResult splitStage(std::span<const Tensor2D *const> Qkv,
                            const EvaluatorBatch &Batch,
                            const SplitShape &Shape,
                            CacheFormat Format = CacheFormat::F32);

} // namespace tenon::evaluate

#endif // TENON_COMPILER_EVALUATOR_ATTENTION_H
