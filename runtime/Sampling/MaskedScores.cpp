//===- MaskedScores.cpp - Scores of the tokens that are allowed -----------===//

#include "runtime/Sampling/MaskedScores.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

using namespace tenon::sampling;

static constexpr size_t Bits = 64;
static_assert(BlockSize % Bits == 0);

static constexpr float LeftOut = -std::numeric_limits<float>::infinity();

/// Of `Bits` scores those whose bits are set in `Word`, -infinity of others.
static void select(const float *Have, uint64_t Word, float *Into) {
  // Without branches: masks of vocabularies are as good as random.
  constexpr size_t PackSize = 4;
  using Pack = uint32_t __attribute__((vector_size(PackSize * 4)));
  constexpr auto Excluded = std::bit_cast<uint32_t>(LeftOut);
  const Pack BitOf = {1, 2, 4, 8};
  for (size_t I = 0; I < Bits; I += PackSize) {
    Pack Values;
    std::memcpy(&Values, Have + I, sizeof(Values));
    auto IsIn =
        reinterpret_cast<Pack>((BitOf & static_cast<uint32_t>(Word >> I)) != 0);
    Values = (Values & IsIn) | (Excluded & ~IsIn);
    std::memcpy(Into + I, &Values, sizeof(Values));
  }
}

float MaskedScores::operator[](size_t Token) const {
  bool IsAllowed = Mask.empty() || (Mask[Token / Bits] >> (Token % Bits) & 1);
  return IsAllowed ? Scores[Token] : LeftOut;
}

std::span<const uint64_t> MaskedScores::wordsOf(size_t Block) const {
  constexpr size_t Words = BlockSize / Bits;
  return Mask.subspan(Block * Words,
                      std::min(Words, Mask.size() - Block * Words));
}

bool MaskedScores::isLeftOut(size_t Block) const {
  if (Mask.empty())
    return false;
  std::span<const uint64_t> Words = wordsOf(Block);
  return std::all_of(Words.begin(), Words.end(),
                     [](uint64_t Word) { return Word == 0; });
}

bool MaskedScores::isEmpty() const {
  size_t Token = 0;
  while (Token < size() && (*this)[Token] == LeftOut)
    ++Token;
  return Token == size();
}

std::span<const float> MaskedScores::block(size_t Block, Room &Copy) const {
  size_t Begin = Block * BlockSize;
  std::span<const float> Some =
      Scores.subspan(Begin, std::min(BlockSize, size() - Begin));
  if (Mask.empty())
    return Some;
  if (Some.size() == BlockSize) {
    std::span<const uint64_t> Words = wordsOf(Block);
    if (std::all_of(Words.begin(), Words.end(),
                    [](uint64_t Word) { return Word == ~uint64_t{0}; }))
      return Some;
    for (size_t I = 0; I < Words.size(); ++I)
      select(Some.data() + I * Bits, Words[I], Copy.data() + I * Bits);
  } else {
    for (size_t I = 0; I < Some.size(); ++I)
      Copy[I] = (*this)[Begin + I];
  }
  return std::span(Copy).first(Some.size());
}
