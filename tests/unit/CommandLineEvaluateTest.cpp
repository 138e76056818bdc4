//===- CommandLineEvaluateTest.cpp - tenon evaluate -----------------------===//
//
// What is scored, given what, and what is refused; numbers of real models are
// compared in tests/EndToEnd/evaluate.py.
//
//===----------------------------------------------------------------------===//

#include "CommandLineFixture.h"

#include <cmath>
#include <utility>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::test;

namespace {

/// Tokens that neither fail nor wait.
constexpr int64_t KnownTokens = 48;

std::vector<int32_t> someTokens(size_t Count) {
  std::vector<int32_t> Ids;
  for (size_t I = 0; I < Count; ++I)
    Ids.push_back(static_cast<int32_t>((I * I * 7 + I * 5 + 3) % KnownTokens));
  return Ids;
}

/// -log of the probability of each of `Window`'s tokens from `FirstScored` on,
/// together.
double surprise(const std::vector<int32_t> &Window, size_t FirstScored) {
  double Sum = 0;
  for (size_t I = FirstScored; I < Window.size(); ++I) {
    std::vector<float> Logits = expectedLogits(
        {Window.begin(), Window.begin() + static_cast<std::ptrdiff_t>(I)});
    double Normalizer = 0;
    for (int64_t Token = 0; Token < KnownTokens; ++Token)
      Normalizer += std::exp(double(Logits[static_cast<size_t>(Token)]));
    Sum += std::log(Normalizer) - Logits[static_cast<size_t>(Window[I])];
  }
  return Sum;
}

void keepKnownTokens(Manifest &M, CodeInfo &) { M.Vocabulary = KnownTokens; }

class CommandLineEvaluateTest : public CommandLineTest {
protected:
  std::string joined(const std::vector<int32_t> &Ids) {
    std::string Text;
    for (int32_t Id : Ids)
      Text += (Text.empty() ? "" : ",") + std::to_string(Id);
    return Text;
  }
  std::string text(const std::string &Name, const std::string &Content) {
    std::ofstream(Directory / Name) << Content;
    return Directory / Name;
  }
};

} // namespace

TEST_F(CommandLineEvaluateTest, ScoresTheSecondHalfOfEveryWindow) {
  write(keepKnownTokens);
  std::vector<int32_t> Ids = someTokens(100);
  // A step takes 20 tokens, the model 90.
  for (size_t Context : {90, 64, 41, 7, 3}) {
    SCOPED_TRACE(Context);
    double Sum = 0;
    size_t Scored = 0, Count = 0;
    for (size_t From = 0; From + Context <= Ids.size(); From += Context) {
      auto Begin = Ids.begin() + static_cast<std::ptrdiff_t>(From);
      Sum += surprise({Begin, Begin + static_cast<std::ptrdiff_t>(Context)},
                      Context / 2 + 1);
      Scored += Context - Context / 2 - 1;
      ++Count;
    }
    Json J = json({"evaluate", File, "--token-ids", joined(Ids), "--context",
                   std::to_string(Context), "--json"});
    EXPECT_EQ(J["scored_tokens"], Scored);
    EXPECT_EQ(J["windows"], Count);
    EXPECT_EQ(J["window_tokens"], Context);
    EXPECT_EQ(J["unused_tokens"], Ids.size() % Context);
    double Mean = Sum / static_cast<double>(Scored);
    EXPECT_NEAR(J["mean_negative_log_likelihood"].get<double>(), Mean, 1e-9);
    EXPECT_NEAR(J["perplexity"].get<double>() / std::exp(Mean), 1, 1e-9);
    EXPECT_FALSE(J.contains("against"));
  }
  Json J = json({"evaluate", File, "--token-ids", joined(Ids), "--json"});
  EXPECT_EQ(J["window_tokens"], MaxSequence);
}

TEST_F(CommandLineEvaluateTest, ScoresAllButTheFirstOfAShortText) {
  write(keepKnownTokens);
  for (size_t Length : {2, 21, 89}) {
    std::vector<int32_t> Ids = someTokens(Length);
    Json J = json({"evaluate", File, "--token-ids", joined(Ids), "--json"});
    EXPECT_EQ(J["scored_tokens"], Length - 1);
    EXPECT_EQ(J["windows"], 1);
    EXPECT_EQ(J["unused_tokens"], 0);
    EXPECT_NEAR(J["mean_negative_log_likelihood"].get<double>(),
                surprise(Ids, 1) / static_cast<double>(Length - 1), 1e-9);
  }
}

TEST_F(CommandLineEvaluateTest, SpecialTokensBeginEveryWindow) {
  write(keepKnownTokens, WordPieces);
  // [CLS] a ... b without [SEP]: 9 tokens, 4 in each window.
  Json J = json({"evaluate", File, "--text", text("t", "a b c d e f g h"),
                 "--context", "4", "--json"});
  EXPECT_EQ(J["windows"], 2);
  EXPECT_EQ(J["unused_tokens"], 1);
  double Sum = surprise({2, 4, 5, 6}, 3) + surprise({2, 8, 9, 10}, 3);
  EXPECT_NEAR(J["mean_negative_log_likelihood"].get<double>(), Sum / 2, 1e-9);
  J = json({"evaluate", File, "--text", text("t", "a"), "--json"});
  EXPECT_NEAR(J["mean_negative_log_likelihood"].get<double>(),
              surprise({2, 4}, 1), 1e-9);
}

TEST_F(CommandLineEvaluateTest, AgainstItself) {
  write(keepKnownTokens, WordPieces);
  std::vector<std::string> Command = {
      "evaluate", File, "--text", text("t", "a b c d e f"), "--against", File};
  Outcome O = tenon(Command);
  EXPECT_EQ(O.ExitStatus, 0) << O.Errors;
  EXPECT_NE(O.Output.find("KL divergence, mean     0 nats\n"),
            std::string::npos)
      << O.Output;
  EXPECT_NE(O.Output.find("top-1 agreement         100 %\n"), std::string::npos)
      << O.Output;
  Command.push_back("--json");
  Json J = json(Command);
  EXPECT_EQ(J["against"]["file"], File);
  EXPECT_EQ(J["against"]["perplexity"], J["perplexity"]);
  EXPECT_EQ(J["against"]["mean_kl_divergence"], 0);
  EXPECT_EQ(J["against"]["p99_kl_divergence"], 0);
  EXPECT_EQ(J["against"]["top1_agreement"], 1);
}

TEST_F(CommandLineEvaluateTest, Usage) {
  expectError({"evaluate"}, "file", 2);
  expectError({"evaluate", "x"}, "expected one of --text, --token-ids (see", 2);
  expectError({"evaluate", "x", "--text", "y", "--token-ids", "1"},
              "--text is given beside --token-ids: expected one of them", 2);
  expectError({"evaluate", "x", "--token-ids", "1,-2"}, "--token-ids is '1,-2'",
              2);
  expectError({"evaluate", "x", "--token-ids", "1", "--context", "many"},
              "--context is 'many': expected a whole number", 2);
}

TEST_F(CommandLineEvaluateTest, RefusesWhatItCannotScore) {
  write(keepKnownTokens, WordPieces);
  auto Refused = [&](std::vector<std::string> Options,
                     const std::string &Expected) {
    Options.insert(Options.begin(), {"evaluate", File});
    expectError(Options, Expected);
  };
  std::string None = Directory / "none", Text = text("t", "a b c");
  Refused({"--token-ids", "1"}, "--token-ids: 1 token: expected at least 2");
  Refused({"--token-ids", "1,2,48"},
          "--token-ids: token id 48 (token 2): expected 0 to 47, the "
          "vocabulary of " +
              File);
  Refused({"--text", None}, None);
  Refused({"--text", text("empty", "")}, "empty: empty: expected text");
  Refused({"--text", text("blank", " \n")}, "blank: 0 tokens: expected at");
  Refused({"--text", text("latin", "a \xe9")}, "latin: ");
  Refused({"--text", Text, "--context", "2"},
          "--context is 2: expected 3 to 90, the longest sequence of " + File);
  Refused({"--text", Text, "--context", "91"}, "--context is 91: expected 3");
  Refused({"--text", Text, "--against", None}, "--against: " + None);

  std::string Other = Directory / "other.tenon";
  auto Against = [&](auto Change, std::string_view Tokenizer,
                     const std::string &Expected,
                     const std::string &Context = "30") {
    ASSERT_TRUE(writeModel(Other, Change, Tokenizer));
    Refused({"--text", Text, "--context", Context, "--against", Other},
            Expected);
  };
  Against([](Manifest &M, CodeInfo &) { M.Vocabulary = 47; }, "",
          "--against: " + Other + ": field 'vocabulary' is 47: expected 48");
  Against(
      [](Manifest &M, CodeInfo &) {
        M.Vocabulary = KnownTokens;
        M.MaxSequence = 20;
      },
      "",
      "--context is 30: expected 3 to 20, the longest sequence of " + Other);
  std::string Swapped(WordPieces);
  Swapped.replace(Swapped.find(R"("b": 5,)"), 7, R"("b": 6,)");
  Swapped.replace(Swapped.find(R"("c": 6,)"), 7, R"("c": 5,)");
  Against(keepKnownTokens, Swapped,
          Other + ": tokenizer: token 1 of the text is 6: expected 5, as " +
              File + " has it");
  // Without a tokenizer there is nothing to compare.
  ASSERT_TRUE(writeModel(Other, keepKnownTokens));
  EXPECT_EQ(
      tenon({"evaluate", File, "--text", Text, "--against", Other}).ExitStatus,
      0);
  expectError({"evaluate", Other, "--text", Text},
              Other + ": the artifact has no tokenizer");
}

TEST_F(CommandLineEvaluateTest, RefusesWhatIsNoDecoder) {
  write(makeEncoderDecoder);
  expectError({"evaluate", File, "--token-ids", "1,2"},
              File + ": this model is an encoder-decoder: expected a decoder");
  write(makeImageModel);
  expectError({"evaluate", File, "--token-ids", "1,2"},
              File + ": this model is a vision model: expected a decoder");
  write([](Manifest &M, CodeInfo &) {
    M.Entries.erase(M.Entries.begin());
    M.Caches.clear();
    for (ScopeInfo &Scope : M.Scopes)
      Scope.CacheLayers.clear();
  });
  expectError({"evaluate", File, "--token-ids", "1,2"},
              File + ": this model is an encoder: expected a decoder");
  std::string Decoder = Directory / "decoder.tenon";
  ASSERT_TRUE(writeModel(Decoder));
  expectError({"evaluate", Decoder, "--token-ids", "1,2", "--against", File},
              "--against: " + File + ": this model is an encoder");
  write([](Manifest &M, CodeInfo &) { M.MaxSequence = 2; });
  expectError({"evaluate", File, "--token-ids", "1,2"},
              File + ": the longest sequence is 2 tokens: expected at least 3");
}
