//===- TokensByLength.cpp - Tokens of at most so many characters ----------===//

#include "runtime/Grammar/TokensByLength.h"

#include "runtime/Grammar/MaskBits.h"

#include <algorithm>

using namespace tenon::grammar;

void TokensByLength::seal(size_t Words) {
  uint32_t Most = 0;
  for (auto [Chars, Token] : All)
    Most = std::max(Most, std::min(Chars, Short));
  UpTo.assign(Most + 1, std::vector<uint64_t>(Words));
  for (auto [Chars, Token] : All)
    if (Chars <= Short)
      setBit(UpTo[Chars], Token);
  for (size_t C = 1; C < UpTo.size(); ++C)
    addBits(UpTo[C], UpTo[C - 1]);
  std::erase_if(All, [](const auto &Of) { return Of.first <= Short; });
  std::sort(All.begin(), All.end());
}

void TokensByLength::addUpTo(uint32_t Max, std::span<uint64_t> To) const {
  addBits(To, UpTo[std::min<size_t>(Max, UpTo.size() - 1)]);
  for (auto [Chars, Token] : All) {
    if (Chars > Max)
      break;
    setBit(To, Token);
  }
}

void TokensByLength::addUpTo(uint32_t Max, std::span<uint64_t> To,
                             std::span<const uint64_t> Of) const {
  addCommonBits(To, UpTo[std::min<size_t>(Max, UpTo.size() - 1)], Of);
  for (auto [Chars, Token] : All) {
    if (Chars > Max)
      break;
    if (testBit(Of, Token))
      setBit(To, Token);
  }
}
