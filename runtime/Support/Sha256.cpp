//===- Sha256.cpp - Digests that nobody can make equal --------------------===//

#include "runtime/Support/Sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

using namespace tenon;

static constexpr size_t BlockBytes = 64;

using Words = std::array<uint32_t, 8>;

/// The first 32 bits of the fractional part of the root of the given degree of
/// the first `Count` primes, found in whole numbers: of p · 2^(32 · degree) the
/// largest root.
template <size_t Count> static constexpr auto rootsOfPrimes(int Degree) {
  std::array<uint32_t, Count> Roots = {};
  uint32_t Prime = 1;
  for (uint32_t &Root : Roots) {
    for (bool IsPrime = false; !IsPrime;) {
      IsPrime = true;
      ++Prime;
      for (uint32_t D = 2; D * D <= Prime; ++D)
        IsPrime &= Prime % D != 0;
    }
    // Primes are below 2^9, so that roots are below 2^37, and their powers
    // below 2^111.
    __extension__ using Wide = unsigned __int128;
    Wide Target = static_cast<Wide>(Prime) << (32 * Degree);
    uint64_t Found = 0;
    for (int Bit = 36; Bit >= 0; --Bit) {
      Wide Try = Found | uint64_t(1) << Bit;
      Wide Power = Degree == 2 ? Try * Try : Try * Try * Try;
      if (Power <= Target)
        Found |= uint64_t(1) << Bit;
    }
    Root = static_cast<uint32_t>(Found);
  }
  return Roots;
}

static constexpr Words Initial = rootsOfPrimes<8>(2);
static constexpr std::array<uint32_t, 64> Constants = rootsOfPrimes<64>(3);

static void addBlock(Words &State, const std::byte *Block) {
  std::array<uint32_t, 64> W;
  for (size_t T = 0; T < 16; ++T)
    W[T] = static_cast<uint32_t>(Block[4 * T]) << 24 |
           static_cast<uint32_t>(Block[4 * T + 1]) << 16 |
           static_cast<uint32_t>(Block[4 * T + 2]) << 8 |
           static_cast<uint32_t>(Block[4 * T + 3]);
  for (size_t T = 16; T < W.size(); ++T) {
    uint32_t A = W[T - 15], B = W[T - 2];
    W[T] = W[T - 16] + (std::rotr(A, 7) ^ std::rotr(A, 18) ^ A >> 3) +
           W[T - 7] + (std::rotr(B, 17) ^ std::rotr(B, 19) ^ B >> 10);
  }
  auto [A, B, C, D, E, F, G, H] = State;
  for (size_t T = 0; T < W.size(); ++T) {
    uint32_t Sum = H + (std::rotr(E, 6) ^ std::rotr(E, 11) ^ std::rotr(E, 25)) +
                   ((E & F) ^ (~E & G)) + Constants[T] + W[T];
    uint32_t More = (std::rotr(A, 2) ^ std::rotr(A, 13) ^ std::rotr(A, 22)) +
                    ((A & B) ^ (A & C) ^ (B & C));
    H = G;
    G = F;
    F = E;
    E = D + Sum;
    D = C;
    C = B;
    B = A;
    A = Sum + More;
  }
  const Words Mixed = {A, B, C, D, E, F, G, H};
  for (size_t I = 0; I < State.size(); ++I)
    State[I] += Mixed[I];
}

Words tenon::sha256(std::span<const std::byte> Bytes) {
  Words State = Initial;
  size_t Whole = Bytes.size() / BlockBytes * BlockBytes;
  for (size_t I = 0; I < Whole; I += BlockBytes)
    addBlock(State, Bytes.data() + I);
  // A bit that is set, zeros, and the number of bits, in one block or two.
  std::array<std::byte, 2 * BlockBytes> End = {};
  std::span<const std::byte> Rest = Bytes.subspan(Whole);
  std::copy(Rest.begin(), Rest.end(), End.begin());
  End[Rest.size()] = std::byte(0x80);
  size_t Size = Rest.size() < BlockBytes - 8 ? BlockBytes : 2 * BlockBytes;
  uint64_t Bits = 8 * static_cast<uint64_t>(Bytes.size());
  for (size_t I = 0; I < 8; ++I)
    End[Size - 1 - I] = static_cast<std::byte>(Bits >> (8 * I));
  for (size_t I = 0; I < Size; I += BlockBytes)
    addBlock(State, End.data() + I);
  return State;
}
