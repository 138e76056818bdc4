//===- PrefixCache.cpp - Prompts whose pages are kept ---------------------===//

#include "runtime/Serving/PrefixCache.h"

#include <algorithm>
#include <iterator>

using namespace tenon;
using namespace tenon::serving;
using cache::SequenceId;

/// The finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
static uint64_t mix(uint64_t X) {
  X = (X ^ (X >> 30)) * 0xbf58476d1ce4e5b9;
  X = (X ^ (X >> 27)) * 0x94d049bb133111eb;
  return X ^ (X >> 31);
}

std::vector<uint64_t> PrefixCache::chainOf(std::span<const int32_t> Tokens,
                                           std::string_view Salt) const {
  uint64_t Hash = std::hash<std::string_view>()(Salt);
  std::vector<uint64_t> Chain;
  for (size_t I = 0; I + PageTokens <= Tokens.size(); I += PageTokens) {
    for (int32_t Token : Tokens.subspan(I, PageTokens))
      Hash = mix(Hash + 0x9e3779b97f4a7c15 + static_cast<uint32_t>(Token));
    Chain.push_back(Hash);
  }
  return Chain;
}

std::optional<PrefixCache::Place>
PrefixCache::findPages(std::span<const int32_t> Tokens, std::string_view Salt,
                       uint64_t Hash, size_t Count) {
  auto [First, Last] = Index.equal_range(Hash);
  for (auto At = First; At != Last; ++At) {
    const Entry &E = *At->second;
    size_t Length = Count * PageTokens;
    if (E.Salt == Salt && E.Tokens.size() >= Length &&
        std::equal(E.Tokens.begin(),
                   E.Tokens.begin() + static_cast<ptrdiff_t>(Length),
                   Tokens.begin()))
      return At->second;
  }
  return std::nullopt;
}

std::optional<PrefixCache::Match>
PrefixCache::find(std::span<const int32_t> Prompt, std::string_view Salt,
                  size_t MaxTokens) {
  Prompt = Prompt.first(std::min(Prompt.size(), MaxTokens));
  std::vector<uint64_t> Chain = chainOf(Prompt, Salt);
  for (size_t Count = Chain.size(); Count > 0; --Count)
    if (std::optional<Place> Found =
            findPages(Prompt, Salt, Chain[Count - 1], Count)) {
      Entries.splice(Entries.begin(), Entries, *Found);
      return Match{(*Found)->Sequence, Count * PageTokens};
    }
  return std::nullopt;
}

std::vector<SequenceId> PrefixCache::insert(SequenceId Sequence,
                                            const int32_t *Numbers,
                                            std::vector<int32_t> Prompt,
                                            std::string Salt) {
  std::vector<uint64_t> Chain = chainOf(Prompt, Salt);
  if (Chain.empty())
    return {Sequence};
  if (std::optional<Place> Longer =
          findPages(Prompt, Salt, Chain.back(), Chain.size())) {
    Entries.splice(Entries.begin(), Entries, *Longer);
    return {Sequence};
  }
  std::vector<SequenceId> Superfluous;
  for (auto At = Entries.begin(); At != Entries.end();) {
    auto Here = At++;
    if (Here->Salt == Salt && Here->Tokens.size() < Prompt.size() &&
        Chain[Here->Chain.size() - 1] == Here->Chain.back() &&
        std::equal(Here->Tokens.begin(), Here->Tokens.end(), Prompt.begin()))
      Superfluous.push_back(remove(Here));
  }
  std::vector<int32_t> Pages(Numbers, Numbers + Chain.size());
  for (int32_t Page : Pages)
    ++Holders[Page];
  Entries.push_front({Sequence, std::move(Prompt), std::move(Salt),
                      std::move(Chain), std::move(Pages)});
  for (uint64_t Hash : Entries.front().Chain)
    Index.emplace(Hash, Entries.begin());
  return Superfluous;
}

std::optional<SequenceId> PrefixCache::evict(std::optional<SequenceId> Spared) {
  for (auto At = Entries.end(); At != Entries.begin();)
    if ((--At)->Sequence != Spared)
      return remove(At);
  return std::nullopt;
}

SequenceId PrefixCache::remove(Place P) {
  for (uint64_t Hash : P->Chain) {
    auto [First, Last] = Index.equal_range(Hash);
    for (auto At = First; At != Last; ++At)
      if (At->second == P) {
        Index.erase(At);
        break;
      }
  }
  for (int32_t Page : P->Pages)
    if (auto At = Holders.find(Page); --At->second == 0)
      Holders.erase(At);
  SequenceId Id = P->Sequence;
  Entries.erase(P);
  return Id;
}
