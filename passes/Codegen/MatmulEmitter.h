//===- MatmulEmitter.h - Rows times packed weights -------------*- C++ -*-===//
//
// One thread takes whole panels of 64 output features. A block of a few rows
// is multiplied with a group of columns of the panel, sums in registers, the
// panel read once per block of rows. The same emitter writes the kernels of
// all formats and CPU levels; only the inner step differs.
//
// Quantised weights are multiplied as they are unpacked in decode-sized
// batches. For more rows, a piece of the panel is widened in cache once and
// then multiplied with all of them like a panel of plain numbers.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_CODEGEN_MATMULEMITTER_H
#define TENON_PASSES_CODEGEN_MATMULEMITTER_H

#include "passes/Codegen/KernelBuilder.h"

namespace tenon {

/// Multiplies blocks of rows of one input with panels of weights.
class MatmulEmitter {
public:
  using Value = mlir::Value;
  using Sums = llvm::SmallVector<Value>;

  /// Where the elements of one row are: [Row, Column] on.
  struct InputRow {
    Value Row;
    Value Column;
  };
  /// What is multiplied with: a panel of the packed weights, and the first
  /// output feature that it has.
  struct Panel {
    Value Number;
    Value Feature;
  };
  /// Given the number of a row, an output feature, a mask (null when all 16
  /// features from there on exist) and a vector of sums per weight.
  using Epilogue =
      llvm::function_ref<void(Value Row, Value Feature, Value Mask, Sums)>;

  /// `InFeatures` elements of each row are multiplied with `Weights`, which
  /// have one type.
  MatmulEmitter(KernelBuilder &B, Value Input, int64_t InFeatures,
                mlir::ValueRange Weights);

  /// Multiplies rows [First, Last), whose elements `RowOf` finds, with the
  /// panels, side by side where the sums of all fit into registers.
  void emit(llvm::ArrayRef<Panel> Panels, Value First, Value Last,
            llvm::function_ref<InputRow(Value Row)> RowOf, Epilogue Finish);

  /// Panels of one matrix.
  int64_t panels() const;

private:
  /// How many rows and columns of sums are kept in registers.
  struct Block {
    int64_t Rows;
    int64_t Columns;
  };
  /// What is streamed together: a weight and which of its panels.
  struct Stream {
    Value View;
    Value Panel;
  };
  using Operands = llvm::SmallVector<Value, 2>;

  Block blockFor(int64_t Rows, int64_t Matrices) const;
  int64_t mostRows() const;
  int64_t sumRegisters() const;
  int64_t perVector() const;
  void emitRows(llvm::ArrayRef<Panel> Panels, Value Row,
                llvm::ArrayRef<InputRow> Inputs, Epilogue Finish);
  void emitBlock(llvm::ArrayRef<Panel> Panels, Value Row,
                 llvm::ArrayRef<InputRow> Inputs, Block Size, Epilogue Finish);
  Sums multiply(llvm::ArrayRef<Stream> Streams, llvm::ArrayRef<InputRow> Inputs,
                Value Column, Block Size, int64_t Features);
  Sums multiplyGroups(llvm::ArrayRef<Stream> Streams,
                      llvm::ArrayRef<InputRow> Inputs, Value Column,
                      Block Size);
  Sums group(llvm::ArrayRef<Stream> Streams, llvm::ArrayRef<InputRow> Inputs,
             Value Column, Block Size, Sums Carried, Value Group,
             int64_t Valid);
  void emitWidened(llvm::ArrayRef<Panel> Panels, Value First, Value Last,
                   llvm::function_ref<InputRow(Value)> RowOf, Epilogue Finish);
  void widen(const Stream &From, Value FirstGroup, int64_t Features,
             Value Widened);
  void addProducts(Value Widened, Value FirstFeature, int64_t Features,
                   Value First, Value Last, Value PartialColumn, Value Partial,
                   llvm::function_ref<InputRow(Value)> RowOf);
  void forEachBlock(Value First, Value Last, int64_t MostRows,
                    llvm::function_ref<void(Value, int64_t)> Body);
  Value inputNumber(const InputRow &Row, Value Feature);
  Value inputSum(const InputRow &Row, Value Feature, int64_t Valid);
  Sums step(llvm::ArrayRef<Stream> Streams, llvm::ArrayRef<InputRow> Inputs,
            Value Column, Block Size, Sums Carried, Value Step, int64_t Valid);
  Operands loadWidened(const InputRow &Row, Value Step, int64_t Valid);
  Value loadForDot(const InputRow &Row, Value Step, int64_t Valid);
  Operands loadWeight(Value View, Value Panel, Value Step, Value Column);
  Value accumulate(Value Sum, llvm::ArrayRef<Value> Inputs,
                   llvm::ArrayRef<Value> Weight);
  void finishBlock(const Panel &P, Value Row, Value Column, Block Size,
                   llvm::ArrayRef<Value> Result, Epilogue Finish);

  KernelBuilder &B;
  Value Input;
  int64_t InFeatures;
  llvm::SmallVector<Value> Views;
  int64_t OutFeatures = 0;
  StorageFormat Format = StorageFormat::F32;
  /// The format that products are made in: that of plain weights, and what
  /// quantised ones are widened to.
  StorageFormat Plain = StorageFormat::F32;
  /// Input features side by side in a panel of `Plain`.
  int64_t Interleave = 1;
  /// Whether pairs of bf16 are multiplied.
  bool UsesDot = false;
};

/// 16 elements of a row of `Buffer`, those of the mask if there is one.
mlir::Value loadMaybeMasked(KernelBuilder &B, mlir::Value Buffer,
                            mlir::ValueRange At, mlir::Value Mask);
void storeMaybeMasked(KernelBuilder &B, mlir::Value Vector, mlir::Value Buffer,
                      mlir::ValueRange At, mlir::Value Mask);

} // namespace tenon

#endif // TENON_PASSES_CODEGEN_MATMULEMITTER_H
