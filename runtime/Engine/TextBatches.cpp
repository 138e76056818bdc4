//===- TextBatches.cpp - Which texts share a step -------------------------===//

#include "runtime/Engine/TextBatches.h"

#include <algorithm>
#include <map>

using namespace tenon;
using namespace tenon::engine;

int64_t engine::longestText(const artifact::Manifest &Info) {
  return std::min({Info.MaxTextTokens.value_or(Info.MaxSequence),
                   Info.MaxSequence, Info.MaxTokensPerStep});
}

std::vector<std::vector<size_t>>
engine::planBatches(std::span<const int64_t> Lengths, int64_t MostTokens) {
  // By length; of one length the first last.
  std::map<int64_t, std::vector<size_t>> Left;
  for (size_t Text = Lengths.size(); Text-- > 0;)
    Left[Lengths[Text]].push_back(Text);
  std::vector<std::vector<size_t>> Batches;
  while (!Left.empty()) {
    std::vector<size_t> &Batch = Batches.emplace_back();
    int64_t Room = MostTokens;
    for (auto After = Left.upper_bound(Room); After != Left.begin();
         After = Left.upper_bound(Room)) {
      auto Longest = std::prev(After);
      Batch.push_back(Longest->second.back());
      Room -= Longest->first;
      Longest->second.pop_back();
      if (Longest->second.empty())
        Left.erase(Longest);
    }
  }
  return Batches;
}
