//===- Unpack.h - Values of storage formats as f32 --------------*- C++ -*-===//

#ifndef TENON_PASSES_CODEGEN_UNPACK_H
#define TENON_PASSES_CODEGEN_UNPACK_H

#include "passes/Codegen/KernelBuilder.h"

namespace tenon {

/// Widens what a panel holds of 16 output features and `Interleave`
/// neighbouring input features: a vector of 16 * Interleave elements. Returns a
/// vector of 16 f32 values for each input feature.
llvm::SmallVector<mlir::Value> unpack(KernelBuilder &B, StorageFormat Format,
                                      mlir::Value Packed);

} // namespace tenon

#endif // TENON_PASSES_CODEGEN_UNPACK_H
