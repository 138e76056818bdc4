//===- Describe.h - Operations for people -----------------------*- C++ -*-===//
//
// How remarks and reports write operations of both dialects on one line.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_SUPPORT_DESCRIBE_H
#define TENON_PASSES_SUPPORT_DESCRIBE_H

#include "mlir/IR/Operation.h"

#include <string>

namespace tenon {

/// What `Op` reads: all operands but destinations.
llvm::SmallVector<mlir::Value> inputsOf(mlir::Operation *Op);

/// "?x72xf32" of each of `Values` that is rows, with commas between.
std::string describeRows(mlir::ValueRange Values);

/// "q_proj.weight + k_proj.weight 144x72xbf16" of each weight that `Op` reads.
llvm::SmallVector<std::string> describeWeights(mlir::Operation *Op);

/// Name, rows read and written, and weights of `Op`:
/// "matmul ?x72xf32 -> ?x144xf32, q_proj.weight + k_proj.weight 144x72xbf16".
std::string describeOperation(mlir::Operation *Op);

/// The scopes that the function around `Op` is called with, the first ones of
/// many and how many more there are; empty for an entry.
std::string layersOf(mlir::Operation *Op);

} // namespace tenon

#endif // TENON_PASSES_SUPPORT_DESCRIBE_H
