//===- MaskBits.h - Sets of tokens as bits ----------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_GRAMMAR_MASKBITS_H
#define TENON_RUNTIME_GRAMMAR_MASKBITS_H

#include <cstddef>
#include <cstdint>
#include <span>

namespace tenon::grammar {

inline void setBit(std::span<uint64_t> Words, int32_t Token) {
  Words[static_cast<size_t>(Token) / 64] |= uint64_t{1} << (Token % 64);
}

inline void clearBit(std::span<uint64_t> Words, int32_t Token) {
  Words[static_cast<size_t>(Token) / 64] &= ~(uint64_t{1} << (Token % 64));
}

inline bool testBit(std::span<const uint64_t> Words, int32_t Token) {
  return Words[static_cast<size_t>(Token) / 64] >> (Token % 64) & 1;
}

/// `To` has at least as many words, here and below.
inline void addBits(std::span<uint64_t> To, std::span<const uint64_t> From) {
  for (size_t I = 0; I < From.size(); ++I)
    To[I] |= From[I];
}

inline void addCommonBits(std::span<uint64_t> To, std::span<const uint64_t> A,
                          std::span<const uint64_t> B) {
  for (size_t I = 0; I < A.size(); ++I)
    To[I] |= A[I] & B[I];
}

inline void clearBits(std::span<uint64_t> To, std::span<const uint64_t> From) {
  for (size_t I = 0; I < From.size(); ++I)
    To[I] &= ~From[I];
}

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_MASKBITS_H
