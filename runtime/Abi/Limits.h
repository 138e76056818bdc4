//===- Limits.h - How large a model may be ----------------------*- C++ -*-===//
//
// What every reader of models and artifacts refuses, so that products of sizes
// fit 64 bits.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_ABI_LIMITS_H
#define TENON_RUNTIME_ABI_LIMITS_H

#include <cstdint>

namespace tenon {

/// Columns of activations and sides of a matrix.
inline constexpr int64_t MaxSide = int64_t(1) << 28;
/// Rows of a stored table or stack of matrices.
inline constexpr int64_t MaxRows = int64_t(1) << 32;
/// Positions of a sequence.
inline constexpr int64_t MaxContext = int64_t(16) << 20;
/// Tokens of a vocabulary.
inline constexpr int64_t MaxVocabulary = int64_t(4) << 20;
/// Layers of a cache.
inline constexpr int64_t MaxLayers = 4096;

} // namespace tenon

#endif // TENON_RUNTIME_ABI_LIMITS_H
