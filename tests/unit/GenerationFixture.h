//===- GenerationFixture.h - Requests on the test model ---------*- C++ -*-===//

#ifndef TENON_TESTS_UNIT_GENERATIONFIXTURE_H
#define TENON_TESTS_UNIT_GENERATIONFIXTURE_H

#include "CommandLineFixture.h"

#include "runtime/Generation/Generator.h"

#include <algorithm>

namespace tenon::test {

using engine::Model;
using engine::Session;
using generation::Generation;
using generation::Generator;
using generation::Piece;
using generation::Request;
using generation::Settings;

class GenerationTest : public testing::Test {
protected:
  using Tokens = std::vector<int32_t>;

  void load(const std::function<void(Manifest &, CodeInfo &)> &Change = nullptr,
            std::string_view TokenizerText = WordPieces,
            int64_t CacheTokens = 400) {
    S.reset();
    Status Written = writeModel(File, Change, TokenizerText);
    ASSERT_TRUE(Written) << Written.error().message();
    Result<std::shared_ptr<const Model>> Loaded = Model::load(File);
    ASSERT_TRUE(Loaded) << Loaded.error().message();
    M = *Loaded;
    Result<Session> Created = Session::create(M, {1, CacheTokens, 64});
    ASSERT_TRUE(Created) << Created.error().message();
    S.emplace(std::move(*Created));
  }

  Request request(const Settings &Wish, Tokens Prompt) {
    Result<Request> R = makeRequest(*M, Wish, std::move(Prompt));
    EXPECT_TRUE(R) << R.error().message();
    return std::move(*R);
  }
  std::string errorOf(const Settings &Wish) {
    Result<Request> R = makeRequest(*M, Wish, {1});
    return R ? "" : R.error().message();
  }

  /// All choices of one request that runs alone.
  std::vector<Generation> generate(const Settings &Wish, Tokens Prompt) {
    Generator G(*S);
    int64_t Number = *G.add(request(Wish, std::move(Prompt)));
    while (G.running() != 0)
      EXPECT_TRUE(G.step());
    return G.take(Number).Choices;
  }

  /// The likeliest token after each, as the model must answer.
  Tokens greedy(Tokens Whole, size_t Count, int64_t Prefix = 0) {
    Tokens New;
    while (New.size() < Count) {
      std::vector<float> Logits = expectedLogits(Whole, {}, Prefix);
      auto Best = std::max_element(Logits.begin(), Logits.end());
      New.push_back(static_cast<int32_t>(Best - Logits.begin()));
      Whole.push_back(New.back());
    }
    return New;
  }

  TemporaryDirectory Directory;
  std::string File = Directory / "model.tenon";
  std::shared_ptr<const Model> M;
  std::optional<Session> S;
};

} // namespace tenon::test

#endif // TENON_TESTS_UNIT_GENERATIONFIXTURE_H
