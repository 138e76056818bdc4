//===- CommandLineTranslateTest.cpp - tenon run of encoder-decoders -------===//

#include "CommandLineFixture.h"

#include "runtime/Sampling/BeamSearch.h"
#include "runtime/Tool/Npy.h"

#include <set>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::sampling;
using namespace tenon::tool;
using namespace tenon::test;

namespace {

using Tokens = std::vector<int32_t>;

/// An encoder-decoder without the token that fails on purpose; the head is
/// wider than its vocabulary.
constexpr int32_t Known = Vocabulary - 1;

class CommandLineTranslateTest : public CommandLineTest {
protected:
  void writeTranslator(
      const std::function<void(Manifest &, CodeInfo &)> &Change = nullptr,
      std::string_view TokenizerText = "") {
    write(
        [&](Manifest &M, CodeInfo &Code) {
          makeEncoderDecoder(M, Code);
          M.Vocabulary = Known;
          if (Change)
            Change(M, Code);
        },
        TokenizerText);
  }
};

/// Logits of the known tokens after `Sequence`, of which `Source` was read.
std::vector<float> logitsAfter(const Tokens &Sequence, const Tokens &Source) {
  std::vector<float> Logits = expectedLogits(Sequence, Source);
  Logits.resize(Known);
  return Logits;
}

Tokens greedyAfter(Tokens Sequence, const Tokens &Source, int Count) {
  Tokens New;
  for (int I = 0; I < Count; ++I) {
    std::vector<float> Logits = logitsAfter(Sequence, Source);
    auto Best = std::max_element(Logits.begin(), Logits.end());
    New.push_back(static_cast<int32_t>(Best - Logits.begin()));
    Sequence.push_back(New.back());
  }
  return New;
}

/// What beam search finds, every beam computed from its first token on.
BeamSearch searchAfter(const BeamOptions &Options, const Tokens &Prompt,
                       const Tokens &Source) {
  Result<BeamSearch> S = BeamSearch::create(Options, Prompt);
  EXPECT_TRUE(S);
  std::vector<Tokens> Sequences = {Prompt};
  while (!S->finished()) {
    std::vector<std::vector<float>> Logits;
    for (const Tokens &Sequence : Sequences)
      Logits.push_back(logitsAfter(Sequence, Source));
    auto Next = S->advance(
        std::vector<std::span<const float>>(Logits.begin(), Logits.end()));
    EXPECT_TRUE(Next);
    std::vector<Tokens> Grown;
    for (const BeamSearch::Continuation &C : *Next) {
      Grown.push_back(Sequences[C.Parent]);
      Grown.back().push_back(C.Token);
    }
    Sequences = std::move(Grown);
  }
  return std::move(*S);
}

std::string listOf(const Tokens &Ids) {
  std::string Text;
  for (int32_t Id : Ids)
    Text += (Text.empty() ? "" : ",") + std::to_string(Id);
  return Text;
}

} // namespace

TEST_F(CommandLineTranslateTest, AnswersASource) {
  writeTranslator(nullptr, WordPieces);
  Json J =
      json({"run", File, "--prompt", "a b", "--max-new-tokens", "5", "--json"});
  EXPECT_EQ(J["token_ids"].get<Tokens>(), greedyAfter({0}, {2, 4, 5, 3}, 5));
  EXPECT_EQ(J["prompt_tokens"], 4);
  EXPECT_EQ(J["finish_reason"], "length");
  Outcome O = tenon({"run", File, "--prompt", "a b", "--max-new-tokens", "5"});
  EXPECT_EQ(O.Output, J["text"].get<std::string>() + "\n");
  // Several at once, with another start.
  J = json({"run", File, "--token-ids", "9,8", "--token-ids", "7",
            "--decoder-token-ids", "5,6", "--max-new-tokens", "20", "--json"});
  EXPECT_EQ(J[0]["token_ids"].get<Tokens>(), greedyAfter({5, 6}, {9, 8}, 20));
  EXPECT_EQ(J[1]["token_ids"].get<Tokens>(), greedyAfter({5, 6}, {7}, 20));
  // What one reads may fail alone.
  O = tenon({"run", File, "--token-ids", "9,8", "--token-ids",
             listOf(Tokens(19, 1)), "--max-new-tokens", "3", "--json"});
  EXPECT_EQ(O.ExitStatus, 1);
  EXPECT_EQ(
      O.Errors,
      "tenon: error: prompt 2: source text of 19 tokens: expected at "
      "most 18, the model's source length, and 20, what one step holds\n");
  Result<Json> Both = parseJson(O.Output, "output");
  ASSERT_TRUE(Both);
  EXPECT_EQ((*Both)[0]["token_ids"].get<Tokens>(), greedyAfter({0}, {9, 8}, 3));
}

TEST_F(CommandLineTranslateTest, FollowsTheModelsSettings) {
  Tokens Source = {9, 8};
  Tokens Plain = greedyAfter({0}, Source, 1);
  writeTranslator([&](Manifest &M, CodeInfo &) {
    M.Generation.MaxLength = 7; // with the start token
    M.Generation.ForcedFirst = 11;
    M.Generation.ForcedLast = 12;
    M.Generation.EndOfSequence = {12};
    M.Generation.MinLength = 6;
    M.Generation.Suppressed = {Plain.front()};
    M.Generation.NoRepeatNgram = 1;
  });
  std::vector<std::string> Arguments = {"run", File, "--token-ids", "9,8",
                                        "--json"};
  Json J = json(Arguments);
  Tokens New = J["token_ids"].get<Tokens>();
  ASSERT_EQ(New.size(), 6u);
  EXPECT_EQ(New.front(), 11);
  EXPECT_EQ(New.back(), 12);
  EXPECT_EQ(J["finish_reason"], "eos");
  std::set<int32_t> Distinct(New.begin(), New.end());
  EXPECT_EQ(Distinct.size(), 6u);
  EXPECT_EQ(Distinct.count(Plain.front()), 0u);
  Arguments.insert(Arguments.end(), {"--max-new-tokens", "3"});
  New = json(Arguments)["token_ids"].get<Tokens>();
  ASSERT_EQ(New.size(), 3u);
  EXPECT_EQ(New.back(), 12) << "forced at the length that was asked for";
}

TEST_F(CommandLineTranslateTest, SearchesByBeams) {
  writeTranslator();
  // Long enough for several pages, shared and not.
  Tokens Start(14, 3), SourceA = {9, 8}, SourceB(17, 2);
  BeamOptions Options;
  Options.Beams = 3;
  Options.LengthPenalty = 0.5;
  Options.Rules.MaxLength = 14 + 25;
  Json J = json({"run", File, "--token-ids", listOf(SourceA), "--token-ids",
                 listOf(SourceB), "--decoder-token-ids", listOf(Start),
                 "--max-new-tokens", "25", "--num-beams", "3",
                 "--length-penalty", "0.5", "--json"});
  ASSERT_EQ(J.size(), 2u);
  for (size_t I = 0; I < 2; ++I) {
    BeamSearch Expected =
        searchAfter(Options, Start, I == 0 ? SourceA : SourceB);
    EXPECT_EQ(J[I]["token_ids"].get<Tokens>(), Expected.best());
    EXPECT_FLOAT_EQ(J[I]["score"].get<float>(), Expected.bestScore());
    EXPECT_EQ(J[I]["finish_reason"], "length");
  }
}

TEST_F(CommandLineTranslateTest, BeamsOfTheModelAndItsEnd) {
  BeamOptions Options;
  Options.Beams = 4;
  Options.Rules.MaxLength = 1 + 12;
  Tokens Source, All, Early, Late;
  // A source for which it matters when the search ends.
  for (int32_t First = 1; Early == Late && First < Known; ++First) {
    Source = {First, 8};
    Options.Rules.EndOfSequence.clear();
    All = searchAfter(Options, {0}, Source).best();
    Options.Rules.EndOfSequence = {All[3]};
    Options.Stops = EarlyStopping::Yes;
    Early = searchAfter(Options, {0}, Source).best();
    Options.Stops = EarlyStopping::No;
    Late = searchAfter(Options, {0}, Source).best();
  }
  ASSERT_NE(Early, Late);
  writeTranslator([&](Manifest &M, CodeInfo &) {
    M.Generation.Beams = 4;
    M.Generation.Stops = EarlyStopping::Yes;
    M.Generation.EndOfSequence = Options.Rules.EndOfSequence;
  });
  std::vector<std::string> Arguments = {
      "run", File,    "--token-ids", listOf(Source), "--max-new-tokens",
      "12",  "--json"};
  Json J = json(Arguments);
  EXPECT_EQ(J["token_ids"].get<Tokens>(), Early);
  EXPECT_EQ(J["finish_reason"], Early.back() == All[3] ? "eos" : "length");
  Arguments.push_back("--no-early-stopping");
  EXPECT_EQ(json(Arguments)["token_ids"].get<Tokens>(), Late);
  Arguments.back() = "--ignore-eos";
  J = json(Arguments);
  EXPECT_EQ(J["token_ids"].get<Tokens>(), All);
  Outcome O = tenon({"run", File, "--token-ids", listOf(Source),
                     "--max-new-tokens", "12", "--ignore-eos"});
  EXPECT_EQ(O.Output, listOf(All) + "\n");
  Arguments.back() = "--num-beams";
  Arguments.push_back("1");
  Tokens Greedy = greedyAfter({0}, Source, 12);
  Greedy.resize(std::min<size_t>(
      12, static_cast<size_t>(std::find(Greedy.begin(), Greedy.end(), All[3]) -
                              Greedy.begin()) +
              1));
  EXPECT_EQ(json(Arguments)["token_ids"].get<Tokens>(), Greedy);
}

TEST_F(CommandLineTranslateTest, AnswersInAVocabularyOfItsOwn) {
  // Greedily a token beyond the smaller one is chosen.
  Tokens Source = {40, 41, 42};
  int32_t Most = greedyAfter({0}, Source, 1).front();
  ASSERT_GT(Most, 0);
  writeTranslator(
      [&](Manifest &M, CodeInfo &) { M.Entries[0].Vocabulary = Most; });
  for (const char *Beams : {"1", "2"}) {
    Json J = json({"run", File, "--token-ids", "40,41,42", "--num-beams", Beams,
                   "--max-new-tokens", "9", "--json"});
    for (int32_t Token : J["token_ids"].get<Tokens>())
      EXPECT_LT(Token, Most);
  }
  expectError({"run", File, "--token-ids", "40", "--decoder-token-ids",
               std::to_string(Most)},
              "token id " + std::to_string(Most) + " (token 0): expected 0 to");
}

TEST_F(CommandLineTranslateTest, DecodersSearchToo) {
  write([](Manifest &M, CodeInfo &) { M.Vocabulary = Known; });
  BeamOptions Options;
  Options.Beams = 5;
  Options.Rules.MaxLength = 3 + 20;
  Json J = json({"run", File, "--token-ids", "3,1,4", "--max-new-tokens", "20",
                 "--num-beams", "5", "--json"});
  EXPECT_EQ(J["token_ids"].get<Tokens>(),
            searchAfter(Options, {3, 1, 4}, {}).best());
  J = json({"run", File, "--token-ids", "3,1,4", "--max-new-tokens", "0",
            "--num-beams", "5", "--json"});
  EXPECT_EQ(J["token_ids"].size(), 0u);
  EXPECT_EQ(J["finish_reason"], "length");
}

TEST_F(CommandLineTranslateTest, WritesTheDecodersOutput) {
  writeTranslator();
  std::string Npy = Directory / "out.npy";
  Tokens Answer, Source = {7, 7, 1};
  for (int32_t I = 0; I < 25; ++I)
    Answer.push_back(I * 7 % 48);
  Json J = json({"run", File, "--token-ids", "7,7,1", "--decoder-token-ids",
                 listOf(Answer), "--output", Npy, "--json"});
  EXPECT_EQ(J["finish_reason"], "output");
  Result<NpyArray> Array = readNpy(Npy);
  ASSERT_TRUE(Array) << Array.error().message();
  EXPECT_EQ(Array->Shape, (std::vector<int64_t>{25, Width}));
  for (size_t T = 0; T < Answer.size(); ++T) {
    auto Row = Array->Floats.begin() + static_cast<ptrdiff_t>(T * Width);
    EXPECT_EQ(std::vector<float>(Row, Row + Width),
              expectedLogits({Answer.begin(),
                              Answer.begin() + static_cast<ptrdiff_t>(T) + 1},
                             Source));
  }
}

TEST_F(CommandLineTranslateTest, OptionsThatDoNotFit) {
  writeTranslator(
      [](Manifest &M, CodeInfo &) { M.Generation.DecoderStart.reset(); });
  std::vector<std::string> Run = {"run", File, "--token-ids", "1"};
  auto With = [&](std::vector<std::string> More) {
    More.insert(More.begin(), Run.begin(), Run.end());
    return More;
  };
  expectError(Run, "names no token that an answer begins with: expected "
                   "--decoder-token-ids");
  expectError(With({"--output", "x"}), "--output: needs --decoder-token-ids");
  expectError(With({"--token-types", "1"}),
              "--token-types: this model has none");
  expectError(With({"--length-penalty", "2"}),
              "--length-penalty: needs --num-beams of at least 2");
  expectError(With({"--early-stopping"}),
              "--early-stopping: needs --num-beams of at least 2");
  expectError(With({"--num-beams", "2", "--temperature", "1"}),
              "--num-beams is 2: beam search takes the likeliest tokens");
  expectError(With({"--decoder-token-ids", "99"}),
              "token id 99 (token 0): expected 0 to 48");
  expectError({"run", File, "--image", "x"},
              "--image: this model reads text, not images");
  write();
  expectError(With({"--decoder-token-ids", "1"}),
              "--decoder-token-ids: only for encoder-decoders");
  expectError(With({"--token-types", "1"}), "--token-types: needs --output");
  write([](Manifest &M, CodeInfo &) {
    M.Generation.Sample = true;
    M.Generation.Beams = 3;
  });
  expectError(Run, "the model's settings sample from 3 beams: expected "
                   "--num-beams, or --temperature");
}

TEST_F(CommandLineTranslateTest, InspectAndBench) {
  writeTranslator();
  Json J = json({"inspect", File, "--json"});
  EXPECT_EQ(J["model"]["max_source"], MaxSource);
  EXPECT_EQ(J["caches"][1]["content"], "cross");
  EXPECT_EQ(J["caches"][1]["bytes_full_context"], 2 * 272 * 4)
      << "two pages hold the longest source";
  EXPECT_NE(tenon({"inspect", File}).Output.find("cross, f32: "),
            std::string::npos);
  J = json({"bench", File, "--prompt-tokens", "15", "--new-tokens", "5",
            "--batch", "3", "--json"});
  EXPECT_GT(J["decode_tokens_per_s"].get<double>(), 0);
  EXPECT_EQ(J["prompt_tokens"], 15);
  expectError({"bench", File, "--prompt-tokens", "19"},
              "--prompt-tokens is 19: expected at most 18, the model's source "
              "length");
}
