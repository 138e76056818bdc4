//===- TensorView.h - Parameters as parts of stored tensors -----*- C++ -*-===//
//
// Reads the matrix that a graph wants out of what a checkpoint stores:
// transposed, fused with others, split up or in another shape.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_CHECKPOINT_TENSORVIEW_H
#define TENON_COMPILER_CHECKPOINT_TENSORVIEW_H

#include "compiler/Checkpoint/Checkpoint.h"

#include <memory>
#include <optional>

namespace tenon {

/// More tensors than this never stand in place of one '*'.
inline constexpr int64_t MaxExperts = 1 << 16;

/// Why a quantised tensor is not kept in the format that it is stored in.
struct Widening {
  /// The tensor that it is said of, and with which all others of a stack are
  /// widened; null when each of them is as `Why` says.
  const TensorInfo *Of;
  /// Goes on behind "a matrix"; empty when the stored type says it all.
  std::string_view Why;
};

/// A tensor written as an expression over stored tensors, read by rows.
///
///   expression := name suffix*
///
/// The name of a stored tensor may hold one '*': as many tensors as are wanted,
/// with 0, 1, 2, ... in its place, all of one shape, are then stacked to a new
/// first dimension. Suffixes apply from left to right:
///
///   ^T         swaps the last two dimensions of each stored tensor
///   [a:b]      rows a to b-1
///   [a::s]     of every s rows from row a on, the first
///   [a::s/b]   of every s rows from row a on, the first b; the last group is
///              whole, but need not be followed by s-b other rows
///   [...]c     the same of columns, that is, of the last dimension
///   ^flat      the elements in row-major order, in the shape asked for; comes
///              last, and not after ^T
///
/// Rows are the elements of a vector, the first dimension of a matrix, and
/// otherwise the second-last dimension. The tensors that '*' stacks are not
/// rows to choose from.
///
///   h.0.attn.c_attn.weight^T[72:144]          keys of a Conv1D, [K, 3*72]
///   query_key_value.weight[24::72/24]         keys of heads of 24
///   mlp.experts.*.gate_proj.weight            [E, N, K] of E matrices
///   mlp.experts.gate_up_proj_bias[1::2]c      every second of each expert
///
/// A view refers to its checkpoint, which must stay in its place. One thread
/// at a time may read it.
class TensorView {
public:
  /// The view `Expression` of exactly `Shape`, which has 1 to 3 dimensions. An
  /// error when the expression is malformed, a tensor is missing, is not F32,
  /// F16 or BF16 or differs in shape from those that it is stacked with, a
  /// range is out of bounds, or the shape is another.
  static Result<TensorView> resolve(const Checkpoint &Weights,
                                    std::string_view Expression,
                                    std::span<const int64_t> Shape);

  /// For users that know but the matrix: the view `Expression` as rows of
  /// `Columns` elements, all dimensions but the last being rows; a single
  /// column takes any shape. There must be `Rows` of them if given. Without,
  /// '*' stands for the tensors up to the first number that is missing.
  static Result<TensorView> resolveMatrix(const Checkpoint &Weights,
                                          std::string_view Expression,
                                          std::optional<int64_t> Rows,
                                          int64_t Columns);

  /// The names of the stored tensors that it reads, in the order of '*'.
  std::vector<std::string_view> tensors() const;
  /// The type of the stored tensors; F32 when they differ.
  ElementType type() const;

  /// All dimensions but the last are rows; a vector has one column.
  int64_t rows() const { return RowCount; }
  int64_t columns() const { return ColumnCount; }

  /// Writes rows [First, First + Count) to `Out` as f32, exactly; errors as
  /// Checkpoint::readRowsAsFloat.
  Status readRowsAsFloat(int64_t First, int64_t Count, float *Out) const;

  /// The quantised format in whose blocks every row is stored; none when rows
  /// are not whole blocks, or for plain numbers.
  std::optional<StorageFormat> keptFormat() const;
  /// Why there is no keptFormat(), for a view of quantised tensors; none for
  /// one of plain numbers.
  std::optional<Widening> widening() const;
  /// Bytes of a row as it is stored in keptFormat().
  int64_t storedRowBytes() const;
  /// Writes rows [First, First + Count) as they are stored in keptFormat(), in
  /// ggml's blocks, storedRowBytes() each; errors as of readRowsAsFloat.
  Status readStoredRows(int64_t First, int64_t Count, std::byte *Out) const;
  /// Writes what is left of rows [First, First + Count) when they are stored in
  /// the quantised `Format`, as f32: themselves when it is keptFormat(). Errors
  /// as of readRowsAsFloat, and for a number that is not finite.
  Status readRowsQuantised(StorageFormat Format, int64_t First, int64_t Count,
                           float *Out) const;

  /// As Checkpoint::dropRows. Of a transposed tensor nothing is dropped before
  /// its last row, for every row touches all of it.
  void dropRows(int64_t First, int64_t Count) const;

private:
  /// A choice of indices, ascending.
  struct Range {
    int64_t Start, Step, Block;
  };
  /// A dimension of one stored tensor; ranges apply in order of storage.
  struct Axis {
    int64_t Count;  ///< Indices left after all ranges.
    int64_t Stride; ///< In elements of the stored tensor.
    std::vector<Range> Ranges;

    /// The stored index of `Index`; sets `Length`, to at most as many indices
    /// as follow each other in storage too.
    int64_t at(int64_t Index, int64_t &Length) const;
    int64_t at(int64_t Index) const;
  };
  struct Resolver;
  struct Band;

  explicit TensorView(const Checkpoint &Weights) : Weights(&Weights) {}

  bool isTransposed() const { return Axes.back().Stride != 1; }
  int64_t leadingOffset(int64_t Index, size_t Dims) const;
  /// Calls `Take(tensor, first, count)` for elements of the view, as many of
  /// one tensor as there are.
  template <typename Function>
  Status forEachTensor(int64_t First, int64_t Count, Function Take) const;
  /// Calls `Run(begin, count)` for elements of storage, run after run.
  template <typename Function>
  Status forEachRun(int64_t First, int64_t Count, Function Run) const;
  Status readElements(const TensorInfo &Tensor, int64_t First, int64_t Count,
                      float *Out) const;
  Status readTransposed(const TensorInfo &Tensor, int64_t First, int64_t Count,
                        float *Out) const;
  Status transpose(const TensorInfo &Tensor, int64_t Base, int64_t First,
                   int64_t Count, float *Out) const;

  const Checkpoint *Weights;
  std::vector<const TensorInfo *> Tensors;
  /// Of each tensor, outermost first; at least one. The innermost has a stride
  /// of 1, or that of the rows that the one before goes along.
  std::vector<Axis> Axes;
  int64_t PerTensor = 1; ///< Elements that are read of each tensor.
  int64_t RowCount = 0;
  int64_t ColumnCount = 0;
  /// The rows last transposed of a tensor that has no bytes to pick from.
  mutable std::shared_ptr<Band> Kept;
};

/// True when both have the same rows and columns with the same values, bit by
/// bit as f32. False also when a file can no longer be read.
bool sameContent(const TensorView &A, const TensorView &B);

/// The stored tensors that `Expression` reads: `Count` of them when it has a
/// '*', otherwise one.
Result<std::vector<std::string>> tensorNamesOf(std::string_view Expression,
                                               int64_t Count);

} // namespace tenon

#endif // TENON_COMPILER_CHECKPOINT_TENSORVIEW_H
