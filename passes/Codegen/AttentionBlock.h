//===- AttentionBlock.h - Some queries and one page -------------*- C++ -*-===//
//
// What all attention over pages is made of: a block of queries goes through a
// page of 64 keys, with a softmax that is corrected whenever the maximum grows
// (flash attention). Scores, weights and sums pass through scratch.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_CODEGEN_ATTENTIONBLOCK_H
#define TENON_PASSES_CODEGEN_ATTENTIONBLOCK_H

#include "passes/Codegen/KernelBuilder.h"

namespace tenon {

/// A head of a page's keys or values, as they are stored, which the next
/// products will need; none without a buffer.
struct AskedAhead {
  mlir::Value Buffer, Head;
};

/// Keys and values of one head of a page, in words of `WordValues` values: keys
/// [4, words of a key, 16 words], values [64 / WordValues, WordValues times
/// value_dim rounded up to 16].
struct AttentionPage {
  mlir::Value KeyBuffer, ValueBuffer;
  /// [2, heads, 64], f32, of keys and of values; null where there are none.
  mlir::Value Scales;
  /// What is asked for while keys, and while values, are multiplied.
  AskedAhead AskWithKeys, AskWithValues;
  /// The head in the buffers; null if they have no other.
  mlir::Value Head;
  /// The head in the scales.
  mlir::Value ScaleHead;
  int64_t WordValues;

  /// Where a line of 16 words begins, or the first of a tile.
  llvm::SmallVector<mlir::Value> keysAt(KernelBuilder &B, mlir::Value Group,
                                        mlir::Value Word) const;
  llvm::SmallVector<mlir::Value> valuesAt(KernelBuilder &B, mlir::Value Word,
                                          mlir::Value Column) const;

private:
  llvm::SmallVector<mlir::Value>
  ofHead(llvm::ArrayRef<mlir::Value> Place) const;
};

/// How products are made.
struct AttentionProducts {
  /// Of queries and weights in scratch, f32 or bf16.
  mlir::Type Element;
  /// Values of a word as it is multiplied, and words of a key.
  int64_t WordValues, KeyWords;
  /// Elements of a value, rounded up to 16.
  int64_t ValueColumns;
  /// Whether pairs of bf16 are multiplied, and whether in tiles.
  bool UsesDot, UsesTiles;
  /// Whether integers of a page are multiplied with two digits of f32 ones.
  bool UsesIntegers = false;
  /// Rows of a block, which share what is loaded of a page.
  int64_t Rows;
  /// What scores of bf16 queries are multiplied with; f32 ones are scaled.
  float Scale;
  /// Whether they are not before they become exponents: where nothing but the
  /// softmax reads them. The scale is positive then.
  bool ScalesExponents = false;

  /// What a score is multiplied with to be an exponent of 2.
  float exponentFactor() const {
    return KernelBuilder::Log2OfE * (ScalesExponents ? Scale : 1.0f);
  }
  /// Whether scores are scaled where products of bf16 queries are made.
  bool scalesScores() const { return !Element.isF32() && !ScalesExponents; }

  /// As many rows as leave half of the registers for what their sums are made
  /// of.
  static int64_t mostRows(const KernelBuilder &B, bool UsesTiles);
  /// Rows that a block has room for: tiles have 16, and what becomes of those
  /// that a block lacks is not used.
  int64_t room() const;
};

class AttentionBlock {
public:
  using Value = mlir::Value;

  /// Lower than any score, and finite: differences of it are zero, not NaN, as
  /// multiples of a power of 2 are exact.
  static constexpr float Lowest = -0x1p100f;

  /// With scratch for `Count` blocks.
  AttentionBlock(KernelBuilder &B, const AttentionProducts &Products,
                 int64_t Count);

  /// By row of all blocks: queries, [rows, elements of a key padded to words],
  /// and what there is of the softmax, which the caller begins with: weighted
  /// sums, the largest score as exponentOf() has it, and total.
  Value Queries, Sums, Highest, Total;

  /// The exponent of 2 that a score, or each of 16, stands for.
  Value exponentOf(Value Score);

  /// Where integers are multiplied: makes digits of query `Row` of all blocks,
  /// for what follows.
  void quantizeQuery(Value Row);

  /// One vector of scores of row `Row` of a block.
  using OneScore = llvm::function_ref<Value(int64_t Row)>;
  /// Calls its argument with the rows of a block that count.
  using ForRows =
      llvm::function_ref<void(llvm::function_ref<void(int64_t Row)>)>;

  /// Takes the block that begins with `FirstRow` through the first `Keys` keys
  /// of a page. `Mask` calls setScore() for each row that counts, with the
  /// scores, scaled, of 16 keys from `GroupStart` on.
  void attend(Value FirstRow, Value Keys, const AttentionPage &With,
              llvm::function_ref<void(Value GroupStart, OneScore)> Mask,
              ForRows Rows);
  void setScore(int64_t Row, Value GroupStart, Value Score) {
    B.store(Score, Scores, {B.index(Row), GroupStart});
  }

  /// Adds to Carried, by row and line, the products of the block's rows of
  /// `Left`, from `FirstRow` on, with words `Word` of each of `Lines`.
  llvm::SmallVector<Value> multiply(Value Left, Value FirstRow, Value Word,
                                    llvm::ArrayRef<Value> Lines,
                                    mlir::ValueRange Carried);

  /// Calls `Body` with the first of as many lines of `Count` as are multiplied
  /// at once, and how many these are.
  void forLines(int64_t Count, llvm::function_ref<void(Value, int64_t)> Body);

  /// 16 words from a place on.
  Value line(Value Buffer, mlir::ValueRange At);

private:
  void score(Value FirstRow, Value Keys, const AttentionPage &With,
             llvm::function_ref<void(Value, OneScore)> Mask);
  Value largestLanes(Value Buffer, int64_t Row);
  Value weights(int64_t Row, Value Center, const AttentionPage &With);
  void softmax(Value FirstRow, const AttentionPage &With, ForRows Rows);
  Value correction(int64_t Row) {
    return B.splat(B.loadScalar(Corrections, {B.index(Row)}));
  }
  void weigh(Value FirstRow, Value Keys, const AttentionPage &With);
  llvm::SmallVector<Value> scoreIntegers(Value FirstRow, Value KeyGroup,
                                         const AttentionPage &With);
  llvm::SmallVector<Value> quantizeWeights();
  void weighIntegers(Value FirstRow, Value Keys, const AttentionPage &With);
  llvm::SmallVector<Value> multiplyDigits(Value Digits, Value FirstRow,
                                          Value Word,
                                          llvm::ArrayRef<Value> Lines,
                                          bool AreCodes,
                                          mlir::ValueRange Carried);
  void scoreTiles(Value FirstRow, Value End, const AttentionPage &With);
  void weighInTiles(Value FirstRow, Value Keys, const AttentionPage &With,
                    ForRows Rows);
  void weighTiles(Value FirstRow, int64_t Count, const AttentionPage &With);
  bool asksByWord() const { return Blocks == 1 && !Is.UsesTiles; }
  void askFor(const AskedAhead &Part, Value Number, int64_t Count);
  void askFor(const AskedAhead &Part, Value FirstRow, Value Step,
              int64_t Steps);
  llvm::SmallVector<Value> keyLines(Value KeyGroup, Value Word,
                                    const AttentionPage &With);
  llvm::SmallVector<Value> valueLines(Value First, int64_t Count, Value Word,
                                      const AttentionPage &With);

  KernelBuilder &B;
  AttentionProducts Is;
  int64_t Blocks;
  /// Lines that share what is loaded of a row.
  int64_t LinesAtOnce;
  Value Scores, Weights;
  /// What sums of each row of a block shrink by, and lanes of what its weights
  /// come to.
  Value Corrections, LaneTotals;
  /// Two digits of a row: of queries, [rows, 2, values of a key], with the
  /// query's scale and what the digits' sums start from, [rows, 2] of i32; of
  /// weights, [rows, 2, 64], unsigned.
  Value QueryDigits, QueryScales, Biases, WeightDigits;
};

} // namespace tenon

#endif // TENON_PASSES_CODEGEN_ATTENTIONBLOCK_H
