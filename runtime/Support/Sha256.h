//===- Sha256.h - Digests that nobody can make equal ------------*- C++ -*-===//

#ifndef TENON_RUNTIME_SUPPORT_SHA256_H
#define TENON_RUNTIME_SUPPORT_SHA256_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tenon {

/// SHA-256 (FIPS 180-4) of `Bytes`, as its eight words.
std::array<uint32_t, 8> sha256(std::span<const std::byte> Bytes);

} // namespace tenon

#endif // TENON_RUNTIME_SUPPORT_SHA256_H
