//===- Batch.h - Building ragged batches ------------------------*- C++ -*-===//
//
// Lays out the tokens of several sequences as a tenon_rt_batch.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_ENGINE_BATCH_H
#define TENON_RUNTIME_ENGINE_BATCH_H

#include "runtime/Abi/StagedPages.h"
#include "runtime/Abi/TenonRt.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tenon::engine {

/// Consecutive tokens of one sequence that go into one step.
struct Slice {
  std::span<const int32_t> Tokens;
  /// Empty (all 0), or one per token.
  std::span<const int32_t> TokenTypes;
  /// Rows of input. Where the batch has an image token, one for each of
  /// `Tokens` that is it, in order. Otherwise those of the last tokens; tokens
  /// before them get rows of zeros.
  std::span<const float> Features;
  /// Position of the first token in its sequence.
  int64_t Position = 0;
  /// Page table, or null for entries without a cache.
  const int32_t *Pages = nullptr;
  /// Page table of the source text, or null without one.
  const int32_t *CrossPages = nullptr;
  /// Tokens of the source text.
  int64_t SourceLength = 0;
  /// So many first tokens of the sequence see each other.
  int64_t Prefix = 0;
  /// The last so many tokens have output rows.
  int64_t OutputCount = 0;
};

/// Reused from step to step. Zeros follow every array, as code may read whole
/// vectors of it.
class BatchBuilder {
public:
  /// Empties the batch; the rows of input of the next one are
  /// `FeatureWidth` values wide, 0 for entries that take none. With an
  /// `ImageToken` they belong to the tokens of that id only, and a batch
  /// without them has no memory for rows.
  void clear(int64_t FeatureWidth = 0,
             std::optional<int32_t> ImageToken = std::nullopt);
  /// Adds a slice of at least one token, of a sequence not yet in the batch.
  void add(const Slice &S);
  /// The batch, valid until clear(), which must come before the next add(). It
  /// runs the variants for few tokens where it has at most `FewTokens`.
  const tenon_rt_batch &finish(int64_t FewTokens);

  int64_t tokens() const { return static_cast<int64_t>(Ids.size()); }
  int64_t sequences() const { return static_cast<int64_t>(Tables.size()); }
  int64_t outputRows() const { return static_cast<int64_t>(Rows.size()); }

private:
  void addFeatures(const Slice &S);

  std::vector<int32_t> Ids, Types, Positions, SequenceOf, Starts, Rows;
  std::vector<int32_t> SourceLengths, Prefixes, StagedStarts;
  StagedPages Staged;
  std::vector<const int32_t *> Tables, CrossTables;
  std::vector<float> Features;
  int64_t FeatureWidth = 0;
  std::optional<int32_t> ImageToken;
  tenon_rt_batch Built = {};
};

} // namespace tenon::engine

#endif // TENON_RUNTIME_ENGINE_BATCH_H
