//===- Tensor2D.h - What the evaluator computes with ------------*- C++ -*-===//

#ifndef TENON_COMPILER_EVALUATOR_TENSOR2D_H
#define TENON_COMPILER_EVALUATOR_TENSOR2D_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tenon {

/// A dense row-major f32 matrix; a stored vector is one row.
struct Tensor2D {
  Tensor2D() = default;
  /// Zeros.
  Tensor2D(int64_t Rows, int64_t Columns)
      : Rows(Rows), Columns(Columns),
        Data(static_cast<size_t>(Rows) * static_cast<size_t>(Columns)) {}

  float &at(int64_t Row, int64_t Column) { return row(Row)[Column]; }
  float at(int64_t Row, int64_t Column) const { return row(Row)[Column]; }

  float *row(int64_t Row) { return Data.data() + Row * Columns; }
  const float *row(int64_t Row) const { return Data.data() + Row * Columns; }

  int64_t Rows = 0;
  int64_t Columns = 0;
  std::vector<float> Data;
};

/// The tokens of one step: all tokens of all sequences back to back. T tokens.
struct EvaluatorBatch {
  /// [T] looked up in the token table.
  std::vector<int64_t> TokenIds;
  /// [T], or empty for all 0.
  std::vector<int64_t> TokenTypes;
  /// [T, W] rows of input, for entries that take them instead of ids.
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
  /// Tokens whose output is wanted, ascending indices below T.
  std::vector<int64_t> Wanted;

  int64_t tokens() const { return static_cast<int64_t>(TokenIds.size()); }

  /// Appends tokens of one sequence, the first at position `Position`; the
  /// output of the last `WantedTokens` of them is wanted.
  void add(int64_t Sequence, std::span<const int64_t> Ids, int64_t Position,
           int64_t WantedTokens);
  /// The first token of each sequence, and T.
  std::vector<int64_t> starts() const;
  /// [T] the prefix of each token's sequence.
  std::vector<int64_t> prefixes() const;
};

} // namespace tenon

#endif // TENON_COMPILER_EVALUATOR_TENSOR2D_H
