//===- LibraryMatmuls.h - Which matmuls the library does --------*- C++ -*-===//

#ifndef TENON_PASSES_PLACEMENT_LIBRARYMATMULS_H
#define TENON_PASSES_PLACEMENT_LIBRARYMATMULS_H

#include "dialects/Dnn/Dnn.h"

namespace tenon {

/// Whether `Op` multiplies rows with packed weights.
bool isMatmul(mlir::Operation *Op);

/// Why the matmul `Op`, of a module with a target, becomes a generated kernel;
/// empty when the library computes it.
std::string whyGenerated(mlir::Operation *Op);
/// The same if `Matmul` writes rows of `Output`.
std::string whyGenerated(dnn::MatmulOp Matmul, mlir::Type Output);

/// Why the matmul `Op`, which has been placed, is the library's or is not.
std::string whyPlaced(mlir::Operation *Op);

/// Whether the library computes `A` and `B` by one primitive.
bool sharePrimitive(dnn::MatmulOp A, dnn::MatmulOp B);

} // namespace tenon

#endif // TENON_PASSES_PLACEMENT_LIBRARYMATMULS_H
