//===- Philox.h - Random numbers by their place -----------------*- C++ -*-===//
//
// A counter-based generator: a number is a function of a key and a counter, and
// of nothing that was drawn before.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_SAMPLING_PHILOX_H
#define TENON_RUNTIME_SAMPLING_PHILOX_H

#include <array>
#include <cstdint>

namespace tenon::sampling {

/// Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
/// easy as 1, 2, 3" (SC 2011): 128 random bits of a counter of 128 bits and a
/// key of 64. One round multiplies words 0 and 2 of the counter and exchanges
/// the halves of the products; the key grows by constants between rounds.
constexpr std::array<uint32_t, 4> philox(std::array<uint32_t, 4> Counter,
                                         std::array<uint32_t, 2> Key) {
  constexpr uint64_t Multipliers[] = {0xD2511F53, 0xCD9E8D57};
  // The golden ratio and the square root of 3, less 1.
  constexpr uint32_t Weyl[] = {0x9E3779B9, 0xBB67AE85};
  for (int Round = 0; Round < 10; ++Round) {
    uint64_t A = Multipliers[0] * Counter[0], B = Multipliers[1] * Counter[2];
    Counter = {static_cast<uint32_t>(B >> 32) ^ Counter[1] ^ Key[0],
               static_cast<uint32_t>(B),
               static_cast<uint32_t>(A >> 32) ^ Counter[3] ^ Key[1],
               static_cast<uint32_t>(A)};
    Key[0] += Weyl[0];
    Key[1] += Weyl[1];
  }
  return Counter;
}

/// The number in [0, 1), in steps of 2^-53, by which choice `Choice` of a
/// request with seed `Seed` draws the token at `Position` of its sequence. Key:
/// the seed; counter: position (words 0 and 1), choice (2) and which of the
/// numbers at this place it is (3).
constexpr double uniformAt(uint64_t Seed, uint32_t Choice, uint64_t Position,
                           uint32_t Number = 0) {
  std::array<uint32_t, 4> Words =
      philox({static_cast<uint32_t>(Position),
              static_cast<uint32_t>(Position >> 32), Choice, Number},
             {static_cast<uint32_t>(Seed), static_cast<uint32_t>(Seed >> 32)});
  uint64_t Bits = (uint64_t(Words[1]) << 32 | Words[0]) >> 11;
  return static_cast<double>(Bits) * 0x1p-53;
}

} // namespace tenon::sampling

#endif // TENON_RUNTIME_SAMPLING_PHILOX_H
