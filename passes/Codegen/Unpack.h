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

/// Widens 16 words of four bytes of a cache, of f32, pairs of bf16 or four i8:
/// a vector of 16 f32 values for each place in the word.
llvm::SmallVector<mlir::Value> unpackWords(KernelBuilder &B, mlir::Value Words);

/// 16 words of four i8 as two vectors of 16 pairs of bf16, which hold them
/// exactly.
llvm::SmallVector<mlir::Value> unpackToPairs(KernelBuilder &B,
                                             mlir::Value Words);

} // namespace tenon

#endif // TENON_PASSES_CODEGEN_UNPACK_H
