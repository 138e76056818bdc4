//===- CharSet.cpp - Sets of characters -----------------------------------===//

#include "runtime/Grammar/CharSet.h"

#include <algorithm>

using namespace tenon::grammar;

static constexpr CharRange Scalars[] = {{0, 0xd7ff}, {0xe000, 0x10ffff}};

CharSet::CharSet(std::vector<CharRange> Given) {
  std::sort(Given.begin(), Given.end());
  std::vector<CharRange> Merged;
  for (const CharRange &R : Given) {
    if (R.First > R.Last)
      continue;
    if (!Merged.empty() && R.First <= Merged.back().Last + 1)
      Merged.back().Last = std::max(Merged.back().Last, R.Last);
    else
      Merged.push_back(R);
  }
  for (const CharRange &R : Merged)
    for (const CharRange &S : Scalars)
      if (R.First <= S.Last && S.First <= R.Last)
        Ranges.push_back(
            {std::max(R.First, S.First), std::min(R.Last, S.Last)});
}

CharSet CharSet::any() { return CharSet({{0, 0x10ffff}}); }

bool CharSet::contains(char32_t Code) const {
  auto Found = std::upper_bound(
      Ranges.begin(), Ranges.end(), Code,
      [](char32_t C, const CharRange &R) { return C < R.First; });
  return Found != Ranges.begin() && std::prev(Found)->Last >= Code;
}

CharSet CharSet::unite(const CharSet &Other) const {
  std::vector<CharRange> All = Ranges;
  All.insert(All.end(), Other.Ranges.begin(), Other.Ranges.end());
  return CharSet(std::move(All));
}

CharSet CharSet::intersect(const CharSet &Other) const {
  std::vector<CharRange> Common;
  auto A = Ranges.begin(), B = Other.Ranges.begin();
  while (A != Ranges.end() && B != Other.Ranges.end()) {
    char32_t First = std::max(A->First, B->First);
    char32_t Last = std::min(A->Last, B->Last);
    if (First <= Last)
      Common.push_back({First, Last});
    if (A->Last < B->Last)
      ++A;
    else
      ++B;
  }
  return CharSet(std::move(Common));
}

CharSet CharSet::complement() const {
  std::vector<CharRange> Rest;
  char32_t Next = 0;
  for (const CharRange &R : Ranges) {
    if (R.First > Next)
      Rest.push_back({Next, R.First - 1});
    Next = R.Last + 1;
  }
  if (Next <= 0x10ffff)
    Rest.push_back({Next, 0x10ffff});
  return CharSet(std::move(Rest));
}
