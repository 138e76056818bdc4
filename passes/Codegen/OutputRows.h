//===- OutputRows.h - Rows that a kernel writes -----------------*- C++ -*-===//

#ifndef TENON_PASSES_CODEGEN_OUTPUTROWS_H
#define TENON_PASSES_CODEGEN_OUTPUTROWS_H

#include "passes/Codegen/GroupedRows.h"

#include <optional>

namespace tenon {

/// The destination of a kernel that converts what it stores: rows of f32, of
/// bf16, or of grouped integers, which are quantised group by group.
class OutputRows {
public:
  using Value = mlir::Value;

  OutputRows(KernelBuilder &B, Value Buffer);

  /// Vectors of 16 columns that are stored together: those of a group.
  int64_t vectors() const { return Grouped ? GroupValues / Lanes : 1; }

  /// Writes `Width` columns of a row from `First` on, where a group begins if
  /// they are grouped. `Make` computes 16 from First + Column on, of which the
  /// first `Valid` exist.
  void columns(Value Row, Value First, int64_t Width,
               llvm::function_ref<Value(Value Column, int64_t Valid)> Make);
  /// Stores vectors() vectors from `Column` on, of each the columns of its
  /// mask; a null mask is all of them.
  void store(Value Row, Value Column, llvm::ArrayRef<Value> Vectors,
             llvm::ArrayRef<Value> Masks);

private:
  KernelBuilder &B;
  Value Buffer;
  std::optional<GroupedRows> Grouped;
};

} // namespace tenon

#endif // TENON_PASSES_CODEGEN_OUTPUTROWS_H
