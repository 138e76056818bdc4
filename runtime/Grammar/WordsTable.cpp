//===- WordsTable.cpp - Numbers of rows of words --------------------------===//

#include "runtime/Grammar/WordsTable.h"

#include <algorithm>

using namespace tenon::grammar;

uint64_t WordsTable::hashOf(Row Of) {
  uint64_t Hash = 0x9e3779b97f4a7c15u;
  for (uint32_t W : Of) {
    Hash = (Hash ^ W) * 0xff51afd7ed558ccdu;
    Hash ^= Hash >> 32;
  }
  return Hash * 0xc4ceb9fe1a85ec53u;
}

/// Where a row is, or the free place for it; there is one.
size_t WordsTable::Part::placeOf(uint32_t Hash, Row Of) const {
  size_t At = Hash & (Slots.size() - 1);
  for (;; At = (At + 1) & (Slots.size() - 1)) {
    const Slot &S = Slots[At];
    if (S.Begin == Free ||
        (S.Hash == Hash && S.Size == Of.size() &&
         std::equal(Of.begin(), Of.end(), Words.begin() + S.Begin)))
      return At;
  }
}

void WordsTable::Part::grow() {
  std::vector<Slot> Old = std::move(Slots);
  Slots.assign(std::max<size_t>(8, 2 * Old.size()), {});
  for (const Slot &S : Old) {
    if (S.Begin == Free)
      continue;
    size_t At = S.Hash & (Slots.size() - 1);
    while (Slots[At].Begin != Free)
      At = (At + 1) & (Slots.size() - 1);
    Slots[At] = S;
  }
}

std::optional<uint32_t> WordsTable::find(Row Of) const {
  uint64_t Hash = hashOf(Of);
  const Part &In = Parts[Hash >> (64 - PartBits)];
  if (In.Slots.empty())
    return std::nullopt;
  const Slot &S = In.Slots[In.placeOf(static_cast<uint32_t>(Hash >> 16), Of)];
  return S.Begin == Free ? std::nullopt : std::optional(S.Number);
}

std::pair<uint32_t, bool> WordsTable::add(Row Of, uint32_t Number) {
  uint64_t Hash = hashOf(Of);
  auto Short = static_cast<uint32_t>(Hash >> 16);
  Part &In = Parts[Hash >> (64 - PartBits)];
  if (In.Slots.empty())
    In.grow();
  size_t At = In.placeOf(Short, Of);
  if (In.Slots[At].Begin != Free)
    return {In.Slots[At].Number, false};
  if (4 * (In.Count + 1) > 3 * In.Slots.size()) {
    In.grow();
    At = In.placeOf(Short, Of);
  }
  In.Slots[At] = {Short, Number, static_cast<uint32_t>(In.Words.size()),
                  static_cast<uint32_t>(Of.size())};
  In.Words.insert(In.Words.end(), Of.begin(), Of.end());
  ++In.Count;
  return {Number, true};
}
