//===- GroupedRows.h - Rows of grouped integers -----------------*- C++ -*-===//
//
// Activations for integer dot products, as !dnn.grouped describes them: how a
// group is quantised, and how matmuls read it.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_CODEGEN_GROUPEDROWS_H
#define TENON_PASSES_CODEGEN_GROUPEDROWS_H

#include "passes/Codegen/KernelBuilder.h"

namespace tenon {

class GroupedRows {
public:
  using Value = mlir::Value;

  /// Of a buffer of grouped integers.
  GroupedRows(KernelBuilder &B, Value Rows);

  int64_t digits() const { return Type.getDigits(); }
  DotProduct dot() const { return Type.getDot(); }

  /// Quantises 16 f32 and the 16 behind them; what is not in the row is 0.
  void store(Value Row, Value Group, Value First, Value Second);

  /// What a dot product multiplies, the same in every lane: digit `Digit` (the
  /// highest is 0) of quad `Step` as 64 i8, or 32 i16: codes 0 and 2 of quad
  /// `Step` / 2, or 1 and 3 where `Step` is odd.
  Value step(Value Row, Value Group, Value Step, int64_t Digit);
  /// 16 f32: the group's scale.
  Value scale(Value Row, Value Group);
  /// 16 i32: the sum of the codes of a half of the group, or of all.
  Value sumOfHalf(Value Row, Value Group, int64_t Half);
  Value sum(Value Row, Value Group);

  /// 16 f32: the sum of what the codes of the group stand for.
  Value total(Value Row, Value Group);
  /// 16 f32: the codes' sum of products, of those of each digit.
  Value number(llvm::ArrayRef<Value> DigitSums);
  /// Byte of a row that digit `Digit` of a group begins at.
  Value digitAt(Value Group, int64_t Digit);
  /// Bytes of a group of a row.
  int64_t recordBytes() const { return Type.getRecordBytes(); }
  /// All rows as bytes.
  Value bytes() const { return Bytes; }

  /// Room in scratch for `RowGroups` groups of `Count` rows, group by group:
  /// there, a group's number is that of a row, and a row's that of a group.
  GroupedRows roomByGroup(int64_t RowGroups, int64_t Count) const;
  /// Copies a group to a group of `To`.
  void copy(Value Row, Value Group, GroupedRows &To, Value ToRow,
            Value ToGroup);

  /// Asks for `Count` groups from `Group` on.
  void prefetch(Value Row, Value Group, int64_t Count);

private:
  Value at(Value Group, int64_t Offset);
  Value word(Value Row, Value At);

  KernelBuilder &B;
  dnn::GroupedType Type;
  Value Bytes;
};

/// Rows and columns of 16 output features that are multiplied with a group.
struct GroupBlock {
  int64_t Rows;
  int64_t Columns;
  /// Of the weights.
  const StorageFormatInfo &Format;
};

/// What a group's sums are made of.
struct GroupTerms {
  using Value = mlir::Value;
  /// Multiplies part `Part` of the group, of which there is one for each scale.
  llvm::function_ref<void(int64_t Part)> Multiply;
  /// 16 f32: a sum of the products.
  llvm::function_ref<Value(int64_t Row, int64_t Column)> Product;
  /// 16 f32 of the weights; `Minimum` is for formats that have it.
  llvm::function_ref<Value(int64_t Column, int64_t Part)> Scale;
  llvm::function_ref<Value(int64_t Column)> Minimum;
  /// 16 f32 of the rows, as GroupedRows gives them.
  llvm::function_ref<Value(int64_t Row)> RowScale;
  llvm::function_ref<Value(int64_t Row)> RowTotal;
};

/// Adds a group to the sums of its block, in an order of roundings that no
/// other row or column has a part in.
void addScaled(
    KernelBuilder &B, const GroupBlock &Block, const GroupTerms &Terms,
    llvm::function_ref<mlir::Value &(int64_t Row, int64_t Column)> SumOf);

} // namespace tenon

#endif // TENON_PASSES_CODEGEN_GROUPEDROWS_H
