//===- Partitions.h - One row's pages, divided among threads ----*- C++ -*-===//
//
// Attention of a decode-sized batch has few rows, and not always as many heads
// as there are threads. So the pages that a row sees are divided: each
// partition has a softmax of its own, and their sums are merged in order
// (flash decoding). How a row is divided follows from its number of pages
// alone, never from threads or other rows, and so do its bits.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_CODEGEN_PARTITIONS_H
#define TENON_PASSES_CODEGEN_PARTITIONS_H

#include "passes/Codegen/KernelBuilder.h"

namespace tenon {

/// The pages of a row, in partitions of equal size but for the last.
struct Partitions {
  mlir::Value Count; ///< At least 1.
  mlir::Value Pages; ///< Of a partition.
  mlir::Value First; ///< Page of the first partition.
  mlir::Value End;   ///< Behind the last page.

  /// The first page of partition `Part`, and the one behind its last.
  std::pair<mlir::Value, mlir::Value> rangeOf(KernelBuilder &B,
                                              mlir::Value Part) const;

  /// The first page of this thread's next item behind `Item`, which are dealt
  /// out, `Items` for each partition; behind the last, of the last partition.
  mlir::Value firstOfNext(KernelBuilder &B, mlir::Value Item,
                          int64_t Items) const;
};

/// Pages `First` to `End` in partitions of about `PartitionPages`, but in at
/// most `Most` of them.
Partitions emitPartitions(KernelBuilder &B, mlir::Value First, mlir::Value End,
                          int64_t PartitionPages, int64_t Most);

/// An f32 of partition `Part`.
using OfPartition = llvm::function_ref<mlir::Value(mlir::Value Part)>;

/// Writes to `Factors` what the weighted sum of each of `Count` partitions is
/// multiplied with, so that the products add up to the attention over all of
/// them: 2^(max - largest max) / total of the powers. `Maximum`, an exponent,
/// and `Total` are those of a partition.
void emitMergeFactors(KernelBuilder &B, mlir::Value Count, OfPartition Maximum,
                      OfPartition Total, mlir::Value Factors);

/// The products' sum, in the order of partitions, of 16 elements.
mlir::Value emitMerged(KernelBuilder &B, mlir::Value Count, mlir::Value Factors,
                       OfPartition Sums);

} // namespace tenon

#endif // TENON_PASSES_CODEGEN_PARTITIONS_H
