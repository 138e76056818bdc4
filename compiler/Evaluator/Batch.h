//===- Batch.h - The tokens of one step -------------------------*- C++ -*-===//

#ifndef TENON_COMPILER_EVALUATOR_BATCH_H
#define TENON_COMPILER_EVALUATOR_BATCH_H

#include "compiler/Evaluator/Tensor2D.h"
#include "dialects/Transformer/Transformer.h"
#include "runtime/Support/Result.h"

#include <optional>
#include <span>

namespace tenon {

/// The tokens of one step: all tokens of all sequences back to back. T tokens.
struct EvaluatorBatch {
  /// [T] looked up in the token table.
  std::vector<int64_t> TokenIds;
  /// [T], or empty for all 0.
  std::vector<int64_t> TokenTypes;
  /// [T, W] rows of input, for entries that take them instead of ids, and for
  /// those that merge them, which read the rows of one token's id only; empty
  /// where nothing is read.
  Tensor2D Features;
  /// [T] position in the token's sequence, from 0; ascending by one within a
  /// sequence.
  std::vector<int64_t> Positions;
  /// [T] the sequence each token belongs to. Tokens of one sequence lie
  /// together; the number names the sequence in the caches between steps.
  std::vector<int64_t> Sequences;
  /// [S] so many first tokens of each sequence see each other under a prefix
  /// mask; empty for none.
  std::vector<int64_t> Prefixes;
  /// Tokens that output is computed for, ascending indices below T.
  std::vector<int64_t> OutputRows;

  int64_t tokens() const { return static_cast<int64_t>(TokenIds.size()); }

  /// Appends tokens of one sequence, the first at position `Position`; the last
  /// `Outputs` of them are output rows.
  void add(int64_t Sequence, std::span<const int64_t> Ids, int64_t Position,
           int64_t Outputs);
  /// The first token of each sequence, and T.
  std::vector<int64_t> starts() const;
  /// [T] the slot of each token in staged pages (StagedPages), counted over all
  /// of them.
  std::vector<int64_t> stagedSlots() const;
  /// [T] the prefix of each token's sequence.
  std::vector<int64_t> prefixes() const;
  /// How many rows a count of the batch is.
  int64_t count(transformer::CountKind Kind) const;
  /// An error when the fields contradict each other, or when a position is not
  /// below `Positions`, if that is given.
  Status check(std::optional<int64_t> MaxPositions) const;
};

} // namespace tenon

#endif // TENON_COMPILER_EVALUATOR_BATCH_H
