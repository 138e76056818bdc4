//===- Rope.h - What rotary position embeddings compute ---------*- C++ -*-===//
//
// Su et al. 2021 (RoFormer).
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_EVALUATOR_ROPE_H
#define TENON_COMPILER_EVALUATOR_ROPE_H

#include "compiler/Evaluator/Tensor2D.h"
#include "dialects/Transformer/Transformer.h"

namespace tenon::evaluate {

/// A rotation, or none.
struct Rotation {
  Rotation(transformer::RopeAttr Attr = {}, const Tensor2D *Table = nullptr)
      : Attr(Attr), Table(Table) {}

  /// Null for no rotation.
  transformer::RopeAttr Attr;
  /// [positions, dim] what the attribute fills a table with; null where the
  /// angles are computed.
  const Tensor2D *Table;
};

/// Rotates the pairs (a, b) of `dim` elements of each of `Heads` heads, the
/// first of them at `From`, by angle = position * frequency:
/// f (a cos - b sin, b cos + a sin), f the attention factor. [T, heads *
/// head_dim] to the same.
Tensor2D rope(const Tensor2D &Input, const std::vector<int64_t> &Positions,
              int64_t Heads, int64_t From, const Rotation &Rope);

} // namespace tenon::evaluate

#endif // TENON_COMPILER_EVALUATOR_ROPE_H
