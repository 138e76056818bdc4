//===- CommandLineGenerateTest.cpp - Settings of tenon run ----------------===//

#include "CommandLineFixture.h"

#include <cmath>

using namespace tenon;
using namespace tenon::test;

namespace {

using Tokens = std::vector<int32_t>;

} // namespace

TEST_F(CommandLineTest, ChoicesAreInJson) {
  write(nullptr, WordPieces);
  std::vector<std::string> Run = {
      "run", File,     "--token-ids",   "3,1,4", "--max-new-tokens",
      "9",   "--json", "--temperature", "4",     "--seed",
      "11"};
  auto With = [&](std::vector<std::string> More) {
    More.insert(More.begin(), Run.begin(), Run.end());
    return json(More);
  };
  Json All = With({"--n", "3", "--logprobs", "1"});
  ASSERT_EQ(All["choices"].size(), 3u);
  EXPECT_EQ(All["prompt_tokens"], 3);
  EXPECT_EQ(All["seed"], 11);
  EXPECT_FALSE(All.contains("token_ids"));
  for (size_t I = 0; I < 3; ++I) {
    Json Alone = With({"--first-choice", std::to_string(I)});
    const Json &Choice = All["choices"][I];
    EXPECT_EQ(Choice["choice"], I);
    EXPECT_EQ(Choice["token_ids"], Alone["token_ids"]);
    EXPECT_EQ(Choice["text"], Alone["text"]);
    EXPECT_EQ(Choice["finish_reason"], "length");
    ASSERT_EQ(Choice["logprobs"].size(), 9u);
    EXPECT_EQ(Choice["logprobs"][8]["token_id"], Choice["token_ids"][8]);
    EXPECT_FALSE(Alone.contains("logprobs"));
  }
  EXPECT_NE(All["choices"][0]["token_ids"], All["choices"][1]["token_ids"]);
}

TEST_F(CommandLineTest, LogProbabilitiesAndEcho) {
  write(nullptr, WordPieces);
  Json J = json({"run", File, "--prompt", "a b", "--max-new-tokens", "2",
                 "--logprobs", "2", "--echo", "--json"});
  std::vector<float> Logits = expectedLogits({2, 4, 5, 3});
  double Sum = 0;
  for (float Logit : Logits)
    Sum += std::exp(static_cast<double>(Logit));
  auto Best = std::max_element(Logits.begin(), Logits.end());
  ASSERT_EQ(J["logprobs"].size(), 2u);
  const Json &First = J["logprobs"][0];
  EXPECT_EQ(First["token_id"], Best - Logits.begin());
  EXPECT_NEAR(First["logprob"].get<double>(), *Best - std::log(Sum), 1e-5);
  ASSERT_EQ(First["top"].size(), 2u);
  EXPECT_EQ(First["top"][0]["token_id"], First["token_id"]);
  EXPECT_EQ(First["top"][0]["logprob"], First["logprob"]);
  EXPECT_LE(First["top"][1]["logprob"], First["logprob"]);
  EXPECT_EQ(J["prompt_token_ids"].get<Tokens>(), (Tokens{2, 4, 5, 3}));
  ASSERT_EQ(J["prompt_logprobs"].size(), 4u);
  EXPECT_EQ(J["prompt_logprobs"][0]["logprob"], nullptr);
  EXPECT_EQ(J["prompt_logprobs"][1]["text"], "a");
  EXPECT_EQ(J["prompt_logprobs"][1]["token_id"], 4);
  EXPECT_LT(J["prompt_logprobs"][1]["logprob"].get<double>(), 0);
  EXPECT_TRUE(J["text"].get<std::string>().starts_with("a b")) << J;
  Outcome O = tenon(
      {"run", File, "--prompt", "a b", "--max-new-tokens", "2", "--echo"});
  EXPECT_EQ(O.Output, J["text"].get<std::string>() + "\n");
  write();
  O = tenon(
      {"run", File, "--token-ids", "3,1", "--max-new-tokens", "0", "--echo"});
  EXPECT_EQ(O.Output, "3,1\n");
}

TEST_F(CommandLineTest, StopsWithTextOrToken) {
  write(nullptr, WordPieces);
  // Letters alone.
  std::vector<std::string> Run = {
      "run",           File, "--prompt", "a", "--max-new-tokens", "20",
      "--temperature", "9",  "--seed",   "3"};
  for (int Token = 4; Token < 12; ++Token)
    Run.insert(Run.end(), {"--logit-bias", std::to_string(Token) + "=100"});
  auto With = [&](std::vector<std::string> More) {
    More.insert(More.begin(), Run.begin(), Run.end());
    return More;
  };
  Json Whole = json(With({"--json"}));
  std::string Text = Whole["text"];
  ASSERT_GT(Text.size(), 20u) << Whole;
  std::string Stop = Text.substr(4, 5);
  Json J = json(With({"--stop", "zzz", "--stop", Stop, "--json"}));
  std::string Before = Text.substr(0, Text.find(Stop));
  EXPECT_EQ(J["text"], Before);
  EXPECT_EQ(J["finish_reason"], "stop");
  EXPECT_EQ(J["stop_reason"], Stop);
  EXPECT_EQ(tenon(With({"--stop", Stop})).Output, Before + "\n");
  EXPECT_EQ(tenon(With({"--stop", Stop, "--include-stop"})).Output,
            Before + Stop + "\n");
  int32_t Token = Whole["token_ids"][3];
  J = json(With({"--stop-token-id", std::to_string(Token), "--json"}));
  EXPECT_EQ(J["finish_reason"], "stop");
  EXPECT_EQ(J["stop_reason"], Token);
  J = json(With({"--bad-words", Text.substr(0, 1), "--bad-words",
                 Text.substr(2, 1), "--json"}));
  EXPECT_EQ(J["text"].get<std::string>().find(Text[0]), std::string::npos) << J;
  EXPECT_EQ(J["text"].get<std::string>().find(Text[2]), std::string::npos) << J;
}

TEST_F(CommandLineTest, SettingsChangeWhatIsGenerated) {
  write();
  std::vector<std::string> Run = {
      "run", File, "--token-ids", "3,1,4", "--max-new-tokens", "20", "--seed",
      "1",
      // The model waits on the one and fails on the other.
      "--logit-bias", "48=-100", "--logit-bias", "49=-100"};
  auto With = [&](std::vector<std::string> More) {
    More.insert(More.begin(), Run.begin(), Run.end());
    Outcome O = tenon(More);
    EXPECT_EQ(O.ExitStatus, 0) << O.Errors;
    return O.Output;
  };
  std::string Greedy = With({}), Drawn = With({"--temperature", "3"});
  for (std::vector<std::string> More :
       std::vector<std::vector<std::string>>{{"--repetition-penalty", "1.5"},
                                             {"--presence-penalty", "2"},
                                             {"--frequency-penalty", "1.75"},
                                             {"--logit-bias", "7=20"}})
    EXPECT_NE(With(More), Greedy) << More[0];
  std::string Third = Greedy.substr(0, Greedy.find(','));
  EXPECT_NE(With({"--bad-word-ids", Third}), Greedy);
  for (std::vector<std::string> More :
       std::vector<std::vector<std::string>>{{"--min-p", "0.5"},
                                             {"--typical-p", "0.2"},
                                             {"--top-p", "0.3"},
                                             {"--first-choice", "1"}}) {
    More.insert(More.end(), {"--temperature", "3"});
    EXPECT_NE(With(More), Drawn) << More[0];
  }
  EXPECT_EQ(With({"--temperature", "3", "--top-p", "1e-9"}), Greedy)
      << "of equal ones the lowest";
  // All three spellings.
  for (const char *Early :
       {"--early-stopping", "--no-early-stopping", "--early-stopping=never"})
    With({"--num-beams", "2", Early});
}

TEST_F(CommandLineTest, SettingsThatAreRefused) {
  write(nullptr, WordPieces);
  std::vector<std::string> Run = {"run", File, "--token-ids", "3"};
  auto Refused = [&](std::vector<std::string> More, const std::string &Text,
                     int Status = 1) {
    More.insert(More.begin(), Run.begin(), Run.end());
    expectError(More, Text, Status);
  };
  Refused({"--n", "2", "--temperature", "1"}, "--n above 1 needs --json", 2);
  Refused({"--logprobs", "2"}, "--logprobs needs --json", 2);
  Refused({"--num-beams", "2", "--early-stopping=often"},
          "--early-stopping is 'often': expected one of {true, false, never}",
          2);
  Refused({"--n", "2", "--json"}, "--n is 2: the likeliest tokens are the same "
                                  "in every choice: expected 1, or "
                                  "--temperature above 0");
  Refused({"--logit-bias", "50=1"}, "--logit-bias of token is 50: expected 0 "
                                    "to 49");
  Refused({"--logit-bias", "5=1", "--logit-bias", "5=2"}, "given twice");
  Refused({"--bad-words", ""}, "--bad-words: word '' has no tokens");
  Refused({"--bad-word-ids", "1,50"},
          "--bad-words: token id 50: expected 0 to 49");
  Refused({"--stop-token-id", "99"}, "--stop-token-id is 99: expected 0 to 49");
  Refused({"--min-new-tokens", "9", "--max-new-tokens", "8"},
          "--min-new-tokens is 9: expected 0 to 8, --max-new-tokens");
  Refused({"--logprobs", "51", "--json"}, "--logprobs is 51: expected 0 to 50");
  Refused({"--num-beams", "2", "--n", "3", "--json"},
          "expected at least --n, 3");
  write(makeImageModel);
  expectError({"run", File, "--image", "x", "--min-p", "0.5"},
              "--min-p: this model generates no text");
}
