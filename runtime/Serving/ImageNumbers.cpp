//===- ImageNumbers.cpp - Prompts with images, to compare -----------------===//

#include "runtime/Serving/ImageNumbers.h"

#include <algorithm>
#include <limits>

using namespace tenon;
using namespace tenon::serving;

std::vector<int32_t> ImageNumbers::promptOf(const engine::Model &M,
                                            const generation::Request &R) {
  std::vector<int32_t> Prompt = R.Prompt;
  std::vector<size_t> Starts = generation::imageStarts(M, R.Prompt);
  for (size_t I = 0; I < Starts.size() && I < R.Images.size(); ++I) {
    if (Next == std::numeric_limits<int32_t>::min())
      return {}; // All have been given.
    auto [At, IsNew] = Known.try_emplace(R.Images[I]->Digest, Next);
    Next -= IsNew;
    std::fill_n(Prompt.begin() + static_cast<ptrdiff_t>(Starts[I]),
                M.manifest().Image->Rows, At->second);
  }
  return Prompt;
}

void ImageNumbers::keepOnly(const std::unordered_set<int32_t> &Used) {
  std::erase_if(Known,
                [&](const auto &Each) { return !Used.contains(Each.second); });
}

bool serving::hasImage(std::span<const int32_t> Prompt) {
  return std::any_of(Prompt.begin(), Prompt.end(),
                     [](int32_t Number) { return Number < 0; });
}
