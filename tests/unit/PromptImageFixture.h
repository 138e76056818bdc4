//===- PromptImageFixture.h - A model that reads images ---------*- C++ -*-===//

#ifndef TENON_TESTS_UNIT_PROMPTIMAGEFIXTURE_H
#define TENON_TESTS_UNIT_PROMPTIMAGEFIXTURE_H

#include "GenerationFixture.h"

#include <numeric>

namespace tenon::test {

using generation::PromptImage;

/// Requests with images for the model of makeImageChatModel.
class PromptImageFixture : public GenerationTest {
protected:
  /// An image that `Seed` decides on.
  PromptImage::Ptr picture(int Seed) {
    std::vector<float> Pixels(24);
    for (size_t I = 0; I < Pixels.size(); ++I)
      Pixels[I] =
          static_cast<float>((I * 5 + 3) * static_cast<size_t>(Seed) % 11 +
                             3 * static_cast<size_t>(Seed));
    return generation::makePromptImage(Pixels, *M->manifest().Image);
  }

  Request request(const Settings &Wish, Tokens Prompt,
                  std::vector<PromptImage::Ptr> Images = {}) {
    Result<Request> R =
        makeRequest(*M, Wish, std::move(Prompt), std::move(Images));
    EXPECT_TRUE(R) << R.error().message();
    return std::move(*R);
  }

  /// Without the tokens that make the code wait or fail, and to the end.
  static Settings safe() {
    Settings Wish;
    Wish.BadWords = {{48}, {49}};
    Wish.IgnoreEndOfSequence = true;
    return Wish;
  }

  /// All choices of one request that runs alone.
  std::vector<Generation> generate(const Request &R) {
    Generator G(*S);
    int64_t Number = *G.add(R);
    while (G.running() != 0)
      EXPECT_TRUE(G.step());
    return G.take(Number).Choices;
  }

  /// The likeliest tokens after a prompt with images, as the model must answer.
  Tokens greedyOf(const Request &R, size_t Count) {
    Tokens Seen = R.Prompt;
    std::vector<size_t> Starts = generation::imageStarts(*M, R.Prompt);
    for (size_t I = 0; I < Starts.size(); ++I)
      for (size_t Row = 0; Row < 6; ++Row) {
        // The encoder's row of a patch, behind that of the class token.
        auto Patch =
            R.Images[I]->Patches.begin() + static_cast<ptrdiff_t>(Row * 4);
        float Value = std::accumulate(Patch, Patch + 4, 0.0f) +
                      1000 * static_cast<float>(Row + 1);
        Seen[Starts[I] + Row] = imageTokenValue(std::vector{Value, Value});
      }
    Tokens New;
    while (New.size() < Count) {
      std::vector<float> Logits = expectedLogits(Seen);
      for (int32_t Excluded : {ImageToken, 48, 49})
        Logits[static_cast<size_t>(Excluded)] = -1e30f;
      New.push_back(static_cast<int32_t>(
          std::max_element(Logits.begin(), Logits.end()) - Logits.begin()));
      Seen.push_back(New.back());
    }
    return New;
  }
};

} // namespace tenon::test

#endif // TENON_TESTS_UNIT_PROMPTIMAGEFIXTURE_H
