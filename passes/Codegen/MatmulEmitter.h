//===- MatmulEmitter.h - Rows times packed weights -------------*- C++ -*-===//
//
// One thread takes whole panels of 64 output features. A block of a few rows
// is multiplied with a group of columns of the panel, sums in registers. Where
// several blocks read a panel, they do so piece by piece. There is an emitter
// for products of floating-point numbers (FloatMatmul.cpp), one for those of
// grouped integers (IntegerMatmul.cpp), and for tile registers one for those of
// bf16 (TileMatmul.cpp) and one for those of some rows of integers
// (IntegerTileMatmul.cpp); each serves all formats, the first two all CPU
// levels, of which only the inner step differs.
//
// Quantised weights are multiplied as they are unpacked in decode-sized
// batches. For more rows, a piece of the panel is widened in cache once and
// then multiplied with all of them; up to 64 rows of integers of 8 bits are
// multiplied in blocks as the panel is read, where dot products are that fast.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_CODEGEN_MATMULEMITTER_H
#define TENON_PASSES_CODEGEN_MATMULEMITTER_H

#include "passes/Codegen/GroupReader.h"
#include "passes/Codegen/OutputRows.h"

#include <memory>

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
  /// Finds the elements of a row.
  using RowFinder = llvm::function_ref<InputRow(Value Row)>;
  /// The sums of 16 output features of a row.
  struct Finished {
    Value Feature; ///< The first.
    Value Mask;    ///< Of those that exist; null when all do.
    Sums PerWeight;
  };
  /// What becomes of the sums.
  struct Epilogue {
    /// How many vectors of 16 neighbouring features it takes at once; if
    /// several, the first has a feature that exists.
    int64_t Vectors;
    llvm::function_ref<void(Value Row, llvm::ArrayRef<Finished>)> Take;
  };

  /// For products of `InFeatures` elements of each row of `Input` with
  /// `Weights`, which have one type.
  static std::unique_ptr<MatmulEmitter> create(KernelBuilder &B, Value Input,
                                               int64_t InFeatures,
                                               mlir::ValueRange Weights);
  virtual ~MatmulEmitter() = default;

  /// Readies rows [First, Last) for emit() with the same, which may follow for
  /// any number of panels. The call may be under a condition, emit() outside of
  /// it: what one hands to the other is in scratch.
  virtual void prepare(Value First, Value Last, RowFinder RowOf) {}
  /// Multiplies rows [First, Last), whose elements `RowOf` finds, with the
  /// panels, which follow each other.
  virtual void emit(llvm::ArrayRef<Panel> Panels, Value First, Value Last,
                    RowFinder RowOf, Epilogue Finish) = 0;
  /// How many neighbouring panels are best multiplied at once.
  virtual int64_t panelsAtOnce() const { return 1; }
  /// The same with all panels that this thread claims of those of a matrix.
  virtual void emitShare(Value First, Value Last, RowFinder RowOf,
                         Epilogue Finish);

  /// Panels of one matrix.
  int64_t panels() const { return panelsOf(OutFeatures); }

protected:
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

  MatmulEmitter(KernelBuilder &B, int64_t InFeatures, mlir::ValueRange Weights);

  /// Rows of grouped integers that tiles, where there are such, multiply faster
  /// than dot products do.
  static constexpr int64_t LeastTileRows = 2;

  /// Fewer rows than these claim shares as a whole where panels are small.
  static constexpr int64_t LeastClaimingRows = 4;
  /// How many of `Units` units of so many panels are worth a claim.
  int64_t leastClaimed(int64_t Units, int64_t PerUnit) const;

  /// Panels of one matrix that are read at once to have two streams, which hide
  /// more of the memory's latency; one if two matrices are, or if there would
  /// not be enough for all threads.
  int64_t panelsOfTwoStreams() const {
    return matrices() == 1 && panels() >= 16 ? 2 : 1;
  }

  /// Registers that a vector of 16 lanes takes.
  int64_t perVector() const { return Lanes / B.Target.getLanes(); }
  /// Asks for part `Number` of `Count` of the share that `Columns` columns from
  /// `Column` on have of the group that is streamed some groups after `Group`:
  /// in the order that its lines lie in, which the hardware foresees, as it
  /// does not the parts of a group side by side. For calls between the
  /// products: lines that are asked for at once wait for each other.
  void prefetchAhead(const Stream &From, Value Group, Value Column,
                     int64_t Columns, int64_t Rows, int64_t Number,
                     int64_t Count);
  int64_t matrices() const { return static_cast<int64_t>(Views.size()); }
  /// Calls `Body` with the first row and the number of rows of each block.
  void forEachBlock(Value First, Value Last, int64_t MostRows,
                    llvm::function_ref<void(Value, int64_t)> Body);
  /// The inputs of `Count` rows, from `Feature` on.
  llvm::SmallVector<InputRow> inputs(Value Row, int64_t Count, RowFinder RowOf,
                                     Value Feature = {});
  /// Panel `Number` of one matrix.
  Panel panelOf(Value Number);
  /// All panels of all weights.
  llvm::SmallVector<Stream> streams(llvm::ArrayRef<Panel> Panels) const;

  /// Where the sums of rows wait while one piece of a panel after the other is
  /// multiplied: those of row First + i are [i, Column] on.
  struct Partial {
    Value Sums;
    Value Column;
    Value First; ///< Rows [First, Last).
    Value Last;
  };
  /// Multiplies `Count` of the units that a piece is counted in.
  using PieceEmitter = llvm::function_ref<void(
      const Stream &From, Value FirstUnit, int64_t Count, const Partial &Into)>;
  /// Goes through panels of `Units` units, piece by piece, so that each piece
  /// is unpacked once for PieceRows rows.
  void emitPieces(llvm::ArrayRef<Panel> Panels, Value First, Value Last,
                  int64_t Units, int64_t PieceUnits, PieceEmitter Multiply,
                  Epilogue Finish);
  /// Writes `Features` of a quantised panel from group `FirstGroup` on as a
  /// panel of `Plain`, f32 or bf16: the only one of `Widened`, in whole groups.
  void widenPanel(const Stream &From, Value FirstGroup, int64_t Features,
                  StorageFormat Plain, Value Widened);
  /// Writes the 16 columns of a group that `Reader` reads as `Plain`, a feature
  /// or pair of them where `PlaceOf` says. Calls `Between` with each line of
  /// low bits, before the first of its features.
  void widenColumns(
      GroupReader &Reader, StorageFormat Plain, Value Widened,
      llvm::function_ref<llvm::SmallVector<Value>(int64_t Feature)> PlaceOf,
      llvm::function_ref<void(int64_t Line)> Between = nullptr);
  /// Hands the sums of a block, whose columns are a multiple of those that the
  /// epilogue takes at once, to it: by panel, weight, row and 16 columns.
  void finishBlock(llvm::ArrayRef<Panel> Panels, Value Row, Value Column,
                   Block Size, llvm::ArrayRef<Value> Result, Epilogue Finish);
  /// The same for sums in memory: those of a row with each of the panels of all
  /// weights lie side by side.
  void finishRows(llvm::ArrayRef<Panel> Panels, const Partial &From,
                  Epilogue Finish);

  KernelBuilder &B;
  int64_t InFeatures;
  llvm::SmallVector<Value> Views;
  int64_t OutFeatures = 0;
  StorageFormat Format = StorageFormat::F32;
};

/// The emitters: for inputs that are not and that are grouped integers, for
/// some rows of these in tiles, null where that is not possible, and for many
/// rows of bf16 where there are tiles.
std::unique_ptr<MatmulEmitter> createFloatMatmul(KernelBuilder &B,
                                                 mlir::Value Input,
                                                 int64_t InFeatures,
                                                 mlir::ValueRange Weights);
std::unique_ptr<MatmulEmitter> createIntegerMatmul(KernelBuilder &B,
                                                   mlir::Value Input,
                                                   int64_t InFeatures,
                                                   mlir::ValueRange Weights);
std::unique_ptr<MatmulEmitter>
createIntegerTileMatmul(KernelBuilder &B, mlir::Value Input, int64_t InFeatures,
                        mlir::ValueRange Weights);
std::unique_ptr<MatmulEmitter> createTileMatmul(KernelBuilder &B,
                                                mlir::Value Input,
                                                int64_t InFeatures,
                                                mlir::ValueRange Weights);

/// 16 elements of a row of `Buffer`, those of the mask if there is one.
mlir::Value loadMaybeMasked(KernelBuilder &B, mlir::Value Buffer,
                            mlir::ValueRange At, mlir::Value Mask);
/// Stores what `Make` computes of features that are finished together, with the
/// first feature in column `Base` of the row.
void storeFinished(
    KernelBuilder &B, OutputRows &Out, mlir::Value Row, mlir::Value Base,
    llvm::ArrayRef<MatmulEmitter::Finished> Features,
    llvm::function_ref<mlir::Value(const MatmulEmitter::Finished &)> Make);

} // namespace tenon

#endif // TENON_PASSES_CODEGEN_MATMULEMITTER_H
