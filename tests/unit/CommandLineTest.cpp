//===- CommandLineTest.cpp - The tenon executable -------------------------===//
//
// Runs the tool on small artifacts and looks at what a user sees: output,
// errors, exit status, files.
//
//===----------------------------------------------------------------------===//

#include "CommandLineFixture.h"
#include "LettersTokenizer.h"

#include "runtime/Tool/Npy.h"

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::tool;
using namespace tenon::test;
using namespace std::string_literals;

namespace {

/// What greedy choice appends to `Tokens`.
std::vector<int32_t> greedy(std::vector<int32_t> Tokens, int Count) {
  std::vector<int32_t> New;
  for (int I = 0; I < Count; ++I) {
    std::vector<float> Logits = expectedLogits(Tokens);
    auto Best = std::max_element(Logits.begin(), Logits.end());
    New.push_back(static_cast<int32_t>(Best - Logits.begin()));
    Tokens.push_back(New.back());
  }
  return New;
}

} // namespace

TEST_F(CommandLineTest, WrongUsageIsTwo) {
  expectError({}, "expected one of compile, ", 2);
  expectError({"frobnicate"}, "unknown command 'frobnicate'", 2);
  expectError({"run"}, "file", 2);
  expectError({"run", "x"},
              "expected --prompt, --prompt-file, --token-ids, --prompts or "
              "--image",
              2);
  expectError({"run", "x", "--token-ids", "1", "--token-ids", "2", "--json",
               "--image", "y"},
              "--image takes a single prompt", 2);
  expectError({"inspect"}, "expected a file, or --families", 2);
  // As the usage line has it.
  expectError({"serve"}, "missing argument files... (see --help)", 2);
  expectError({"bench"}, "missing argument file (see --help)", 2);
  expectError({"inspect", "x", "--families"}, "expected a file, or", 2);
  expectError({"inspect", "--families", "--verify"}, "--verify", 2);
  expectError({"run", "x", "--no-such-option"},
              "unknown option '--no-such-option' (see", 2);
  expectError({"run", "x", "--token-ids", "1", "--token-ids", "2"},
              "several prompts need --json", 2);
  expectError({"run", "x", "--token-ids", "1", "--token-ids", "2", "--json",
               "--output", "y"},
              "single prompt", 2);
  expectError({"run", "x", "y", "--token-ids", "1"}, "unexpected argument 'y'",
              2);
  Outcome O = tenon({"--version"});
  EXPECT_EQ(O.ExitStatus, 0);
  EXPECT_EQ(O.Output, "tenon " TENON_VERSION "\n");
  EXPECT_EQ(tenon({"run", "--help"}).ExitStatus, 0);
}

TEST_F(CommandLineTest, NamesWhatMayBeMeant) {
  expectError({"run", "x", "--promt", "a"},
              "unknown option '--promt': did you mean --prompt?", 2);
  expectError({"run", "x", "--prompt=a", "--max-new-token=3"},
              "unknown option '--max-new-token': did you mean "
              "--max-new-tokens?",
              2);
  expectError({"run", "x", "--prompt=a", "--json-scheme", "f"},
              "did you mean --json-schema?", 2);
  // Although one of a group is missing, too.
  expectError({"tokenize", "x", "--txt", "a"}, "did you mean --text?", 2);
  expectError({"chta"}, "unknown command 'chta': did you mean chat?", 2);
  expectError({"cache", "lst"}, "unknown command 'lst': did you mean list?", 2);
  // Dashes are no letters that agree.
  expectError({"run", "x", "--bogus"}, "unknown option '--bogus' (see", 2);
}

TEST_F(CommandLineTest, OptionsThatMeanNothingAlone) {
  std::vector<std::string> Run = {"run", "x", "--token-ids", "1"};
  for (std::vector<std::string> OfRequests :
       {std::vector<std::string>{"--prefix-cache", "f"},
        {"--max-num-seqs", "2"},
        {"--max-step-ms", "5"},
        {"--no-prefix-cache"}}) {
    std::string Option = OfRequests.front();
    OfRequests.insert(OfRequests.begin(), Run.begin(), Run.end());
    expectError(OfRequests, Option + " requires --prompts", 2);
  }
  expectError({"run", "x", "--token-ids", "1", "--fixed-order"},
              "--fixed-order needs --json-schema", 2);
  expectError(
      {"run", "x", "--token-ids", "1", "--regex", "a", "--format", "asserted"},
      "--format needs --json-schema", 2);
  expectError({"chat", "x", "--fixed-order"},
              "--fixed-order needs --json-schema", 2);
  expectError({"grammar", "x", "--json-object", "--fixed-order"},
              "--fixed-order needs --json-schema", 2);
  expectError({"grammar", "x", "--regex", "a", "--times"},
              "--times needs --json or --batch", 2);
  expectError({"run", "x", "--regex", "a", "--choice", "b"},
              "error: --regex is given beside --choice: expected one of them",
              2);
  expectError({"tokenize", "x"},
              "error: expected one of --text, --json-lines, --decode (see", 2);
  expectError({"run", "x", "--top-p"}, "error: --top-p needs a value (see", 2);
  expectError({"grammar", "x", "--batch", "f", "--texts", "f"},
              "--batch takes no --texts", 2);
  expectError({"inspect", "--families", "--context", "5"}, "--context", 2);
  expectError({"serve", "x", "--unix-socket", "s", "--port", "80"},
              "--unix-socket", 2);
  expectError({"serve", "x", "--unix-socket", "s", "--host", "::1"},
              "--unix-socket", 2);
}

TEST_F(CommandLineTest, EmptyValues) {
  // Texts, in both forms; what follows is no value.
  write(nullptr, WordPieces);
  for (std::vector<std::string> Form :
       {std::vector<std::string>{"--prompt="}, {"--prompt", ""}}) {
    std::vector<std::string> Words = {"run", File};
    Words.insert(Words.end(), Form.begin(), Form.end());
    Words.insert(Words.end(), {"--max-new-tokens=2", "--json"});
    Json J = json(Words);
    EXPECT_EQ(J["prompt_tokens"], 2u);
    EXPECT_EQ(J["token_ids"].size(), 2u);
  }
  EXPECT_EQ(tenon({"tokenize", "--text=", File}).Output, "2,3\n");
  EXPECT_EQ(tenon({"tokenize", "--text", "", File}).Output, "2,3\n");
  // The value of an option in two words may look like one in one.
  EXPECT_EQ(tenon({"tokenize", "--text", "--text=", File}).Output,
            tenon({"tokenize", "--text=--text=", File}).Output);
  std::string Requests = Directory / "requests.jsonl";
  std::ofstream(Requests) << R"({"prompt": "", "max_new_tokens": 2})";
  Json Answer = json({"run", File, "--prompts", Requests});
  EXPECT_EQ(Answer["prompt_tokens"], 2u);
  EXPECT_EQ(Answer["token_ids"].size(), 2u);
  std::ofstream(Requests) << R"({"prompt": "a", "stop": ""})";
  expectError({"run", File, "--prompts", Requests},
              ":1: stop is '': expected at least one character\n");
  std::ofstream(Requests) << R"({"prompt": "a", "choice": ["", "b"]})";
  expectError({"run", File, "--prompts", Requests},
              ":1: choice is '': expected at least one character\n");
  // An empty pattern is one.
  write([](Manifest &M, CodeInfo &) { M.Generation.EndOfSequence = {20}; },
        Letters);
  std::ofstream(Requests) << R"({"prompt": "a", "regex": ""})";
  EXPECT_EQ(json({"run", File, "--prompts", Requests})["text"], "");
  EXPECT_EQ(json({"run", File, "--prompt", "a", "--regex=", "--json"})["text"],
            "");
  // Files have names.
  for (std::vector<std::string> Words :
       {std::vector<std::string>{"run", "x", "--output"},
        {"run", "x", "--json-schema"},
        {"run", "x", "--ebnf"},
        {"chat", "x", "--tools"},
        {"serve", "x", "--api-key-file"},
        {"grammar", "x", "--ebnf"},
        {"evaluate", "x", "--against"},
        {"embed", "x", "--output"}}) {
    std::string Option = Words.back();
    for (const std::string &Form : {Option + "=", Option}) {
      Words.back() = Form;
      if (Form == Option)
        Words.push_back("");
      std::vector<std::string> More = Words;
      More.push_back("--no-cache");
      expectError(More, Option + " is '': expected at least one character\n",
                  2);
    }
  }
  std::string Path = Directory / "tokenizer.json";
  std::ofstream(Path) << Letters;
  EXPECT_EQ(tenon({"grammar", Path, "--regex=", "--json"}).Output,
            "{\"accepted\":[]}\n");
  expectError({"grammar", Path, "--json-object=false"},
              "no constraint is given: expected one");
}

TEST_F(CommandLineTest, NumbersAreReadAsWritten) {
  auto Refused = [&](const std::string &Option, const std::string &Value,
                     const std::string &Text) {
    expectError({"run", "x", "--token-ids", "1", Option, Value},
                Option + " is " + Text, 2);
  };
  Refused("--max-new-tokens", "-1", "-1: expected at least 0\n");
  Refused("--max-new-tokens", "many", "'many': expected a whole number\n");
  Refused("--max-new-tokens", "1.5", "'1.5': expected a whole number\n");
  Refused("--max-new-tokens", "0x10", "'0x10': expected a whole number\n");
  Refused("--max-new-tokens", "", "'': expected a whole number\n");
  Refused("--max-new-tokens", "9223372036854775808",
          "'9223372036854775808': expected a whole number from "
          "-9223372036854775808 to 9223372036854775807\n");
  Refused("--seed", "many", "'many': expected a whole number\n");
  for (const char *Seed : {"18446744073709551616", "-9223372036854775809"})
    Refused("--seed", Seed,
            "'" + std::string(Seed) +
                "': expected a whole number from -9223372036854775808 to "
                "18446744073709551615\n");
  Refused("--temperature", "warm", "'warm': expected a number\n");
  Refused("--num-beams", "0", "0: expected 1 to 1024\n");
  Refused("--length-penalty", "inf", "inf: expected a finite number\n");
  for (const char *Wrong : {"-1", "nan", "inf"})
    Refused("--temperature", Wrong,
            Wrong + ": expected a finite number, at least 0\n"s);
  Refused("--top-k", "-1", "-1: expected at least 0\n");
  for (const char *Share : {"--top-p", "--typical-p"})
    for (const char *Wrong : {"0", "2", "nan"})
      Refused(Share, Wrong, Wrong + ": expected above 0, at most 1\n"s);
  Refused("--min-p", "1.5", "1.5: expected 0 to 1\n");
  Refused("--n", "0", "0: expected 1 to 1024\n");
  Refused("--first-choice", "-1", "-1: expected 0 to 4294967295\n");
  Refused("--repetition-penalty", "0", "0: expected a finite number above 0\n");
  Refused("--presence-penalty", "3", "3: expected -2 to 2\n");
  Refused("--frequency-penalty", "nan", "nan: expected -2 to 2\n");
  Refused("--min-new-tokens", "-1", "-1: expected at least 0\n");
  Refused("--logprobs", "-1", "-1: expected at least 0\n");
  Refused("--prompt-lookup-num-tokens", "65", "65: expected 0 to 64\n");
  Refused("--stop", "", "'': expected at least one character\n");
  Refused("--stop", "\xff", "'\\xff': expected UTF-8\n");
  Refused("--stop-token-id", "-1", "-1: expected 0 to 2147483647\n");
  for (const char *Bias : {"5", "x=1", "5=", "5=x", "5=1 ", "=1", "5.5=1",
                           "5=101", "5=nan", "5=-1e9"})
    Refused("--logit-bias", Bias, "'"s + Bias + "': expected ID=BIAS, such as");
  for (const char *Ids : {"1,x", "1,", "1;2", "-1", "99999999999"})
    for (const char *Option :
         {"--bad-word-ids", "--token-types", "--decoder-token-ids"})
      Refused(Option, Ids,
              "'"s + Ids + "': expected numbers from 0 to 2147483647 joined");
  for (const char *Wrong : {"-3", "100000"})
    Refused("--threads", Wrong, Wrong + ", on "s);
  expectError({"bench", "x", "--batch", "0"}, "--batch is 0: expected 1 to ",
              2);
  expectError({"serve", "x", "--port", "65536"},
              "--port is 65536: expected 0 to 65535\n", 2);
  expectError(
      {"run", "x", "--token-ids", "1", "--prompts", "f", "--max-step-ms", "0"},
      "--max-step-ms is 0: expected a number above 0\n", 2);
  expectError({"completion", "ksh"},
              "shell is 'ksh': expected one of {bash, zsh, fish}\n", 2);
  // A leading 0 makes no octal number, and a sign is no harm.
  write();
  Json J =
      json({"run", File, "--token-ids", "3", "--max-new-tokens", "010",
            "--seed", "18446744073709551615", "--temperature", "+0", "--json"});
  EXPECT_EQ(J["token_ids"].size(), 10u);
  EXPECT_EQ(J["seed"], UINT64_MAX);
  // A seed below 0 is the same 64 bits.
  Json Negative = json({"run", File, "--token-ids", "3", "--max-new-tokens",
                        "1", "--seed", "-1", "--json"});
  EXPECT_EQ(Negative["seed"], UINT64_MAX);
}

TEST_F(CommandLineTest, GeneratesFromTokenIds) {
  write();
  std::vector<int32_t> New = greedy({3, 1, 4}, 6);
  Json J = json(
      {"run", File, "--token-ids", "3,1,4", "--max-new-tokens", "6", "--json"});
  EXPECT_EQ(J["token_ids"].get<std::vector<int32_t>>(), New);
  EXPECT_EQ(J["finish_reason"], "length");
  EXPECT_EQ(J["text"], nullptr);
  EXPECT_GT(J["timings"]["first_token_s"].get<double>(), 0);
  Outcome O = tenon({"run", File, "--token-ids", "3,1,4", "--max-new-tokens",
                     "6", "--threads", "1"});
  std::string Line;
  for (int32_t Id : New)
    Line += (Line.empty() ? "" : ",") + std::to_string(Id);
  EXPECT_EQ(O.Output, Line + "\n");
  EXPECT_EQ(O.Errors, "");

  // Up to the end of the model's length, and no further.
  J = json({"run", File, "--token-ids", "3,1,4", "--max-new-tokens", "1000",
            "--json"});
  EXPECT_EQ(J["token_ids"].get<std::vector<int32_t>>(),
            greedy({3, 1, 4}, MaxSequence - 3 + 1));
  EXPECT_EQ(J["finish_reason"], "context");
}

TEST_F(CommandLineTest, SeveralPromptsAtOnce) {
  write();
  Json J = json({"run", File, "--token-ids", "3,1,4", "--token-ids", "9",
                 "--max-new-tokens", "20", "--json"});
  ASSERT_EQ(J.size(), 2u);
  EXPECT_EQ(J[0]["token_ids"].get<std::vector<int32_t>>(),
            greedy({3, 1, 4}, 20));
  EXPECT_EQ(J[1]["token_ids"].get<std::vector<int32_t>>(), greedy({9}, 20));

  // Their texts share the cache, and end where it does.
  J = json({"run", File, "--token-ids", "3,1,4", "--token-ids", "9",
            "--max-new-tokens", "15", "--max-seq", "31", "--json"});
  EXPECT_EQ(J[0]["token_ids"].get<std::vector<int32_t>>(),
            greedy({3, 1, 4}, 14));
  EXPECT_EQ(J[1]["token_ids"].get<std::vector<int32_t>>(), greedy({9}, 14));
  for (const Json &Answer : J)
    EXPECT_EQ(Answer["finish_reason"], "context");
}

TEST_F(CommandLineTest, TextsEndWithTheCache) {
  write();
  auto Run = [&](const char *Cache, const char *NewTokens) {
    return tenon({"run", File, "--token-ids", "3,1,4", "--max-new-tokens",
                  NewTokens, "--max-seq", Cache, "--json"});
  };
  // The last token need not be in it.
  Outcome O = Run("40", "50");
  EXPECT_EQ(O.ExitStatus, 0) << O.Errors;
  EXPECT_EQ(O.Errors,
            "tenon: note: cut where the cache ends: --max-seq is 40\n");
  Json J = *parseJson(O.Output, "output");
  EXPECT_EQ(J["token_ids"].get<std::vector<int32_t>>(), greedy({3, 1, 4}, 38));
  EXPECT_EQ(J["finish_reason"], "context");
  O = Run("40", "38");
  EXPECT_EQ(O.Errors, "");
  EXPECT_EQ((*parseJson(O.Output, "output"))["finish_reason"], "length");
  // Choices share their prompt. Without the token that fails on purpose.
  write([](Manifest &M, CodeInfo &) { M.Vocabulary = 49; });
  J = json({"run", File, "--token-ids", "3,1,4", "--max-new-tokens", "50",
            "--n", "2", "--temperature", "1", "--seed", "1", "--max-seq", "23",
            "--json"});
  for (const Json &Choice : J["choices"]) {
    EXPECT_EQ(Choice["token_ids"].size(), 11u);
    EXPECT_EQ(Choice["finish_reason"], "context");
  }
  expectError({"run", File, "--token-ids", "3,1,4", "--max-seq", "2"},
              "--max-seq: the cache holds 2 tokens: expected at least the 3 of "
              "the prompt");
}

/// Lines of a file of requests, and what they are answered.
TEST_F(CommandLineTest, RequestsHaveFieldsOfTheirTypes) {
  write();
  std::string Requests = Directory / "requests.jsonl";
  auto Run = [&](const std::string &Lines) {
    std::ofstream(Requests) << Lines;
    return tenon({"run", File, "--prompts", Requests, "--max-new-tokens", "3",
                  "--max-num-seqs", "2"});
  };
  auto Refused = [&](const std::string &Line, const std::string &Text) {
    Outcome O = Run(Line);
    EXPECT_EQ(O.ExitStatus, 1);
    EXPECT_EQ(O.Errors, "tenon: error: " + Requests + ":1: " + Text + "\n");
  };
  Refused(R"({"token_ids": [1], "max_new_tokens": "3"})",
          "'max_new_tokens' is \"3\": expected a whole number");
  Refused(R"({"token_ids": [1], "max_new_tokens": 3.5})",
          "'max_new_tokens' is 3.5: expected a whole number");
  Refused(R"({"token_ids": [1], "temperature": true})",
          "'temperature' is true: expected a number");
  Refused(R"({"token_ids": [1], "ignore_eos": "yes"})",
          "'ignore_eos' is \"yes\": expected true or false");
  Refused(R"({"token_ids": [1], "stop": [1]})",
          "'stop' is an array: expected a string, or an array of such");
  Refused(
      R"({"token_ids": [1, "2"]})",
      "'token_ids' is an array: expected an array of token ids, or a string "
      "of them");
  Refused(R"({"token_ids": [1], "seed": "1"})",
          "'seed' is \"1\": expected a whole number");
  Refused(R"({"token_ids": [1], "max_new_tokens": -3})",
          "max_new_tokens is -3: expected at least 0");
  Refused(R"({"token_ids": [1], "top-p": 2})",
          "top_p is 2: expected above 0, at most 1");
  Refused(R"({"token_ids": [1], "early_stopping": "often"})",
          "early_stopping is 'often': expected one of {true, false, never}");
  Refused(R"({"token_ids": "1,x"})",
          "token_ids is '1,x': expected numbers from 0 to 2147483647 joined by "
          "commas, or @FILE.npy");
  Refused(R"({"token_ids": [1], "logit_bias": {"5": 101}})",
          "'logit_bias' has '5': 101: expected a token id and a bias of -100 "
          "to 100");
  Refused(R"({"token_ids": [1], "logit_bias": {"x": 1}})",
          "'logit_bias' has 'x': 1: expected a token id and a bias of -100 to "
          "100");
  Refused(R"({"token_ids": [1], "logit_bias": {"5": "1"}})",
          "'logit_bias' has '5': \"1\": expected a token id and a bias of -100 "
          "to 100");
  Refused(R"({"token_ids": [1], "bad_word_ids": [50]})",
          "bad_words: token id 50: expected 0 to 49");
  Refused(R"({"token_ids": [1], "num_beams": 2, "temperature": 1})",
          "num_beams is 2: beam search takes the likeliest tokens: expected 1 "
          "with temperature, top_k, top_p, min_p or typical_p");
  Refused(R"({"token_ids": [1], "chat": true})",
          "token_ids are no message: expected text with chat");
  Refused(R"({"token_ids": [1], "fixed_order": true})",
          "fixed_order needs json_schema");
  Refused(R"({"token_ids": [1], "regex": "a", "choice": "b"})",
          "regex is given beside choice: expected one of them");
  Refused(R"({"token_ids": [1], "system": "a"})",
          "'system' is for 'chat': conversations have it among their "
          "'messages'");
  Refused(R"({"token_ids": [1], "output": "x"})",
          "'output' is no option of a request");
  Outcome Unknown = Run(R"({"token_ids": [1], "max_tokens": 3})");
  EXPECT_TRUE(Unknown.Errors.starts_with(
      "tenon: error: " + Requests +
      ":1: 'max_tokens' is not supported: expected one of"))
      << Unknown.Errors;

  // Null asks for nothing; a field is written in either way.
  Outcome O = Run(R"({"token_ids": [3,1,4], "stop": null, "messages": null,
                      "tools": null, "max_new_tokens": null})");
  EXPECT_NE(O.Errors, ""); // A request is one line.
  O = Run(R"({"token_ids": [3,1,4], "stop": null, "messages": null, )"
          R"("tools": null, "max_new_tokens": null, "early_stopping": null})"
          "\n"
          R"({"token-ids": "3,1,4", "echo": false})"
          "\n"
          R"({"token_ids": [3,1,4], "logit_bias": {"7": 100}})"
          "\n");
  ASSERT_EQ(O.ExitStatus, 0) << O.Errors;
  std::istringstream Answers(O.Output);
  for (const std::vector<int32_t> &Expected :
       {greedy({3, 1, 4}, 3), greedy({3, 1, 4}, 3), {7, 7, 7}}) {
    std::string Line;
    std::getline(Answers, Line);
    EXPECT_EQ((*parseJson(Line, "answer"))["token_ids"], Json(Expected));
  }
}

TEST_F(CommandLineTest, RequestsHaveSchemas) {
  write(nullptr, WordPieces);
  std::string Requests = Directory / "requests.jsonl";
  std::string Schema = Directory / "schema.json";
  std::ofstream(Schema) << "{\"type\": \"wrong\"}";
  std::vector<std::string> Run = {"run", File, "--prompts", Requests};
  auto Refused = [&](const std::string &Line, const std::string &Text) {
    std::ofstream(Requests) << Line;
    expectError(Run, Requests + ":1: " + Text);
  };
  Refused(R"({"prompt": "a", "json_schema": {"type": 5}})",
          "JSON schema: #/type");
  Refused(R"({"prompt": "a", "json-schema": ")" + Schema + "\"}", Schema);
  Refused(R"({"prompt": "a", "json_schema": 5})",
          "'json_schema' is 5: expected an object, or the name of a file\n");
  Refused(R"({"prompt": "a", "json_schema": {}, "regex": "a"})",
          "json_schema is given beside regex: expected one of them\n");
  // Over that of the run, with its settings.
  Run.insert(Run.end(), {"--json-schema", Schema, "--fixed-order"});
  Refused(R"({"prompt": "a", "json_schema": {"type": 5}})",
          "JSON schema: #/type");
}

TEST_F(CommandLineTest, FailedRequestsHaveTheFieldsOfOthers) {
  write();
  std::string Requests = Directory / "requests.jsonl";
  std::ofstream(Requests) << R"({"token_ids": [1], "max_new_tokens": 2})"
                          << "\n"
                          << R"({"token_ids": [1, 999], "max_new_tokens": 2})"
                          << "\n"
                          << R"({"token_ids": [1], "max_new_tokens": 9999})"
                          << "\n"
                          << R"({"token_ids": [1], "n": 3, "temperature": 1})"
                          << "\n";
  Outcome O = tenon({"run", File, "--prompts", Requests, "--max-num-seqs", "2",
                     "--max-seq", "16"});
  EXPECT_EQ(O.ExitStatus, 1);
  EXPECT_NE(O.Errors.find("3 of 4 requests failed"), std::string::npos)
      << O.Errors;
  std::istringstream Answers(O.Output);
  std::vector<Json> Lines;
  for (std::string Line; std::getline(Answers, Line);)
    Lines.push_back(*parseJson(Line, "answer"));
  ASSERT_EQ(Lines.size(), 4u) << O.Output;
  for (size_t I : {1, 2, 3})
    EXPECT_TRUE(Lines[I]["error"].is_string());
  for (size_t I : {1, 2}) {
    EXPECT_EQ(Lines[I]["finish_reason"], "error");
    for (const auto &[Key, Value] : Lines[0].items())
      EXPECT_TRUE(Lines[I].contains(Key)) << Key;
  }
  ASSERT_EQ(Lines[3]["choices"].size(), 3u);
  EXPECT_NE(Lines[3]["choices"][2]["error"].get<std::string>().find(
                "3 texts at once: expected at most 2"),
            std::string::npos);
}

TEST_F(CommandLineTest, EndOfSequence) {
  std::vector<int32_t> New = greedy({3, 1, 4}, 8);
  int32_t End = New[2];
  auto First = std::find(New.begin(), New.end(), End) - New.begin() + 1;
  write([&](Manifest &M, CodeInfo &) { M.Generation.EndOfSequence = {End}; });
  std::vector<std::string> Arguments = {
      "run", File, "--token-ids", "3,1,4", "--max-new-tokens", "8", "--json"};
  Json J = json(Arguments);
  EXPECT_EQ(J["finish_reason"], "eos");
  EXPECT_EQ(J["token_ids"].size(), static_cast<size_t>(First));
  Arguments.push_back("--ignore-eos");
  J = json(Arguments);
  EXPECT_EQ(J["finish_reason"], "length");
  EXPECT_EQ(J["token_ids"].get<std::vector<int32_t>>(), New);
}

TEST_F(CommandLineTest, SamplingFollowsSeedAndDefaults) {
  write([](Manifest &M, CodeInfo &) {
    M.Generation.Sample = true;
    M.Generation.Temperature = 1000;
  });
  std::vector<std::string> Arguments = {
      "run", File, "--token-ids", "3", "--max-new-tokens", "12", "--json"};
  auto With = [&](std::vector<std::string> More) {
    More.insert(More.begin(), Arguments.begin(), Arguments.end());
    Outcome O = tenon(More);
    Result<Json> J = parseJson(O.Output, "output");
    return J ? (*J)["token_ids"].dump() : O.Errors;
  };
  std::string Greedy = Json(greedy({3}, 12)).dump();
  EXPECT_EQ(With({"--temperature", "0"}), Greedy);
  EXPECT_EQ(With({"--top-k", "1"}), Greedy);
  EXPECT_NE(With({"--top-k", "4"}), Greedy);
  EXPECT_EQ(With({"--top-k", "4", "--seed", "3"}),
            With({"--top-k", "4", "--seed", "3"}));
  EXPECT_NE(With({"--top-k", "4", "--seed", "3"}),
            With({"--top-k", "4", "--seed", "4"}));
}

TEST_F(CommandLineTest, WritesEveryPositionsOutput) {
  write();
  std::string Npy = Directory / "out.npy";
  std::vector<int32_t> Tokens;
  std::string List;
  for (int32_t I = 0; I < 45; ++I) {
    Tokens.push_back(I * 7 % 48);
    List += (I ? "," : "") + std::to_string(Tokens.back());
  }
  Json J = json({"run", File, "--token-ids", List, "--output", Npy, "--json"});
  EXPECT_EQ(J["finish_reason"], "output");
  Result<NpyArray> Array = readNpy(Npy);
  ASSERT_TRUE(Array) << Array.error().message();
  EXPECT_EQ(Array->Shape, (std::vector<int64_t>{45, Width}));
  for (size_t T = 0; T < Tokens.size(); ++T) {
    auto Row = Array->Floats.begin() + static_cast<ptrdiff_t>(T * Width);
    EXPECT_EQ(std::vector<float>(Row, Row + Width),
              expectedLogits({Tokens.begin(),
                              Tokens.begin() + static_cast<ptrdiff_t>(T) + 1}));
  }
  // A failure leaves neither the file nor a temporary one.
  std::filesystem::remove(Npy);
  expectError({"run", File, "--token-ids", "1,2,99", "--output", Npy},
              "token id 99");
  for (const auto &Entry : std::filesystem::directory_iterator(Directory / "."))
    EXPECT_EQ(Entry.path().filename().string().find("out.npy"),
              std::string::npos);
  expectError({"run", File, "--token-ids", "1", "--output",
               Directory / "no/such/dir.npy"},
              "cannot write: No such file");
}

TEST_F(CommandLineTest, TokenIdsFromArrays) {
  write();
  std::string Path = Directory / "ids.npy";
  auto Npy = [&](std::string Header, const std::string &Data) {
    Header += '\n';
    std::string Bytes = "\x93NUMPY";
    Bytes += '\1';
    Bytes += '\0';
    Bytes += static_cast<char>(Header.size());
    Bytes += '\0';
    std::ofstream(Path, std::ios::binary) << Bytes << Header << Data;
  };
  auto Bytes = [](auto... Values) {
    std::string Data;
    (Data.append(reinterpret_cast<const char *>(&Values), sizeof(Values)), ...);
    return Data;
  };
  std::vector<std::string> Arguments = {
      "run", File,    "--token-ids", "@" + Path, "--max-new-tokens",
      "3",   "--json"};
  std::vector<int32_t> New = greedy({3, 1, 4}, 3);
  Npy("{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }",
      Bytes(int64_t(3), int64_t(1), int64_t(4)));
  EXPECT_EQ(json(Arguments)["token_ids"].get<std::vector<int32_t>>(), New);
  Npy("{\"shape\": (1, 3), 'fortran_order':False,'descr':'<i4'}",
      Bytes(int32_t(3), int32_t(1), int32_t(4)));
  EXPECT_EQ(json(Arguments)["token_ids"].get<std::vector<int32_t>>(), New);

  std::string Data = Bytes(int64_t(3), int64_t(1));
  auto Refused = [&](const char *Header, const char *Text) {
    Npy(Header, Data);
    expectError(Arguments, Text);
  };
  Refused("{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }",
          "data is 16 bytes long: expected 24");
  Refused("{'descr': '<i8', 'fortran_order': False, 'shape': "
          "(4611686018427387904,), }",
          "shape overflows");
  Refused("{'descr': '<i8', 'fortran_order': False, 'shape': "
          "(99999999999999999999,), }",
          "key 'shape'");
  Refused("{'descr': '<i8', 'fortran_order': False, 'shape': (-2,), }",
          "key 'shape'");
  Refused("{'descr': '<i8', 'fortran_order': True, 'shape': (2,), }",
          "fortran_order is True");
  Refused("{'descr': '>i8', 'fortran_order': False, 'shape': (2,), }",
          "descr is '>i8'");
  Refused("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }",
          "descr is '|O'");
  Refused("{'descr': '<i8', 'descr': '<i8', 'shape': (2,), }",
          "unknown, repeated");
  Refused("{'descr': '<i8', 'fortran_order': False, }", "lacks one of");
  Refused("{'descr': '<i8'", "lacks a comma");
  Refused("", "no dictionary");
  Refused("{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }",
          "expected token ids");
  Refused("{'descr': '<i4', 'fortran_order': False, 'shape': (2, 2), }",
          "expected token ids");
  Data = Bytes(int64_t(3), int64_t(-1));
  Refused("{'descr': '<i8', 'fortran_order': False, 'shape': (2,), }",
          "value -1 at index 1");
  for (const char *Text : {"", "1,", ",1", "1;2", "1,-1", "99999999999",
                           "99999999999999999999", "x"})
    expectError({"run", File, std::string("--token-ids=") + Text},
                "--token-ids", 2);
  std::ofstream(Path, std::ios::binary) << "\x93NUMPY\1";
  expectError(Arguments, "not a readable .npy file");
}

TEST_F(CommandLineTest, ConstraintsWithoutTexts) {
  std::string Path = Directory / "tokenizer.json";
  std::ofstream(Path) << Letters;
  Outcome O = tenon({"grammar", Path, "--regex", "ab[12]*"});
  EXPECT_EQ(O.ExitStatus, 0) << O.Errors;
  EXPECT_EQ(O.Output, "the constraint is valid: 2 of 21 tokens may begin a "
                      "text\n");
  EXPECT_EQ(tenon({"grammar", Path, "--regex", "a", "--json"}).Output,
            "{\"accepted\":[]}\n");
  std::string Texts = Directory / "texts.json";
  std::ofstream(Texts) << R"(["ab1", "b"])";
  EXPECT_EQ(
      tenon({"grammar", Path, "--regex", "ab[12]*", "--texts", Texts}).Output,
      "accepted\nrefused\n");
}

TEST_F(CommandLineTest, ErrorsAreOneLine) {
  write();
  expectError({"run", Directory / "missing", "--token-ids", "1"},
              "missing: no such file or directory");
  expectError({"run", File, "--token-ids", "50"},
              "token id 50 (token 0): expected 0 to 49");
  expectError({"run", File, "--token-ids", "49"}, "matmul of primitive 7");
  expectError({"run", File, "--prompt", "hello"},
              "the artifact has no tokenizer");
  expectError({"embed", File, "--text", "x"}, "has no tokenizer");
  expectError({"tokenize", File, "--text", "x"}, "has no tokenizer");
  expectError({"bench", File, "--prompt-tokens", "90"}, "expected at most 90");
  std::ofstream(Directory / "tools.json")
      << R"([{"type": "function", "function": {"name": "f"}}, 5])";
  expectError({"run", File, "--chat", "--prompt", "x", "--tools",
               Directory / "tools.json"},
              "tools.json: 'tools[1]' is no function: expected");
  std::string Bytes = contentOf(File), Cut = Directory / "cut.tenon";
  std::ofstream(Cut, std::ios::binary) << Bytes.substr(0, Bytes.size() / 2);
  expectError({"run", Cut, "--token-ids", "1"}, "cut.tenon");
}

TEST_F(CommandLineTest, InspectAndBench) {
  // Without the token that fails on purpose; the head is wider than that.
  write([](Manifest &M, CodeInfo &) { M.Vocabulary = 49; });
  Json J = json({"inspect", File, "--json"});
  EXPECT_TRUE(J.is_object());
  EXPECT_NE(tenon({"inspect", File, "--verify"}).Output, "");
  // There is no room for the usual 512 tokens of a prompt.
  Outcome Usual = tenon({"bench", File, "--repeat", "1", "--json"});
  EXPECT_EQ(Usual.ExitStatus, 0) << Usual.Errors;
  EXPECT_EQ(Usual.Errors,
            "tenon: note: measured with 58 prompt tokens and 32 new ones: the "
            "model has no room for 512 and 32\n");
  J = json({"bench", File, "--prompt-tokens", "80", "--repeat", "1", "--json"});
  EXPECT_EQ(J["new_tokens"], 10);
  J = json({"bench", File, "--new-tokens", "80", "--repeat", "1", "--json"});
  EXPECT_EQ(J["prompt_tokens"], 10);
  J = json({"bench", File, "--prompt-tokens", "20", "--new-tokens", "5",
            "--batch", "3", "--json"});
  for (const char *Key : {"prefill_tokens_per_s", "decode_tokens_per_s",
                          "first_token_s", "peak_rss_mb", "load_s"})
    EXPECT_GT(J[Key].get<double>(), 0) << Key;
  EXPECT_EQ(J["reference_matmuls"], 0);
  // Without --json what is measured has three significant digits.
  std::istringstream Lines(
      tenon({"bench", File, "--prompt-tokens", "20", "--new-tokens", "5"})
          .Output);
  size_t Measured = 0;
  for (std::string Key, Value; Lines >> Key >> Value;)
    if (J.contains(Key) && J[Key].is_number_float()) {
      std::string Digits = Value;
      std::erase(Digits, '.');
      Digits.erase(0, Digits.find_first_not_of('0'));
      Digits.erase(Digits.find_last_not_of('0') + 1);
      EXPECT_LE(Digits.size(), 3u) << Key << " " << Value;
      ++Measured;
    }
  EXPECT_GE(Measured, 5u);
  // Left out where the system does not say.
  for (const char *Key : {"huge_pages_of_file", "huge_pages_of_memory"}) {
    double Share = J.value(Key, 0.0);
    EXPECT_TRUE(Share >= 0 && Share <= 1) << Key << " is " << Share;
  }
}

TEST_F(CommandLineTest, BenchProfiles) {
  write([](Manifest &M, CodeInfo &) { M.Vocabulary = 49; });
  std::string Picture = Directory / "profile.svg";
  Json J =
      json({"bench", File, "--prompt-tokens", "30", "--new-tokens", "5",
            "--repeat", "2", "--profile", "--json", "--profile-svg", Picture});
  EXPECT_GT(J["limits"]["bytes_per_s"].get<double>(), 0);
  ASSERT_EQ(J["profile"].size(), 2u);
  // 30 tokens are two steps of at most 20, the first without output rows.
  const Json &Prefill = J["profile"][0], &Decode = J["profile"][1];
  EXPECT_EQ(Prefill["phase"], "prefill");
  EXPECT_EQ(Prefill["steps"], 2 * 2);
  EXPECT_EQ(Prefill["tokens"], 2 * 30);
  EXPECT_EQ(Decode["phase"], "decode");
  EXPECT_EQ(Decode["steps"], 2 * 5);
  for (const Json *Phase : {&Prefill, &Decode}) {
    const Json &Kernels = (*Phase)["kernels"];
    ASSERT_EQ(Kernels.size(), 3u);
    EXPECT_EQ(Kernels[0]["layer"], "layer0");
    EXPECT_EQ(Kernels[0]["bytes"].get<double>(),
              10 * (*Phase)["tokens"].get<double>());
    EXPECT_EQ(Kernels[0]["library"], nullptr);
    EXPECT_EQ(Kernels[0]["reason"], nullptr);
    EXPECT_EQ(Kernels[1]["operation"], "sum<a&b>");
    EXPECT_EQ(Kernels[1]["text"], "sum<a&b> %x outs(%y)");
    EXPECT_EQ(Kernels[2]["layer"], nullptr);
    EXPECT_EQ(Kernels[2]["reason"], "large");
    EXPECT_NE(Kernels[2]["library"].get<std::string>(), "");
  }
  EXPECT_EQ(Prefill["kernels"][2]["calls"], 2);
  std::string Xml = contentOf(Picture);
  EXPECT_TRUE(Xml.starts_with("<?xml")) << Xml;
  EXPECT_NE(Xml.find(">decode sum&lt;a&amp;b&gt; f32, "), std::string::npos)
      << Xml;

  Outcome O = tenon({"bench", File, "--prompt-tokens", "3", "--new-tokens", "5",
                     "--profile", "--profile-layers"});
  EXPECT_EQ(O.ExitStatus, 0) << O.Errors;
  for (const char *Part :
       {"step: sum<a&b> %x\n", "\n  [1] large\n", "outside of layers",
        "decode by layer:", "between kernels"})
    EXPECT_NE(O.Output.find(Part), std::string::npos) << Part << O.Output;
  expectError({"bench", File, "--profile-layers"}, "--profile", 2);
  expectError({"bench", File, "--profile-svg", Picture}, "--profile", 2);
  expectError({"bench", File, "--profile", "--profile-svg", File},
              "model.tenon");
  write([](Manifest &, CodeInfo &Code) { Code.Kernels.clear(); });
  expectError(
      {"bench", File, "--prompt-tokens", "3", "--new-tokens", "1", "--profile"},
      "model.tenon: the code marks no kernels");
}

TEST_F(CommandLineTest, WithoutACompilerBesideIt) {
  std::string Copy = Directory / "tenon";
  std::filesystem::copy_file(TENON_BIN "/tenon", Copy);
  Outcome O = tenon({"compile", "model", "-o", "x"}, Copy);
  EXPECT_EQ(O.ExitStatus, 1);
  EXPECT_NE(O.Errors.find("this is a runtime-only build"), std::string::npos)
      << O.Errors;
  O = tenon({"inspect", Directory / "."}, Copy);
  EXPECT_EQ(O.ExitStatus, 1);
  // Arguments reach the compiler unchanged.
  std::ofstream(Directory / "tenon-compile") << "#!/bin/sh\necho \"$@\"\n";
  std::filesystem::permissions(Directory / "tenon-compile",
                               std::filesystem::perms::owner_all);
  O = tenon({"compile", "a b", "--emit", "llvm"}, Copy);
  EXPECT_EQ(O.ExitStatus, 0) << O.Errors;
  EXPECT_EQ(O.Output, "compile a b --emit llvm\n");
  O = tenon({"inspect", "--families", "--json"}, Copy);
  EXPECT_EQ(O.Output, "inspect --families --json\n");
  O = tenon({"inspect", Directory / ".", "--json"}, Copy);
  EXPECT_EQ(O.Output, "inspect " + (Directory / ".") + " --json\n");
}

TEST_F(CommandLineTest, PrefixTokens) {
  write();
  // The test model's logits depend on the length of the prefix.
  auto LastRow = [&](const std::string &Tokens) {
    EXPECT_EQ(tenon({"run", File, "--token-ids", "4,5,6", "--prefix-tokens",
                     Tokens, "--output", Directory / "out.npy"})
                  .ExitStatus,
              0);
    std::vector<float> Rows = readNpy(Directory / "out.npy")->Floats;
    return std::vector<float>(Rows.end() - Width, Rows.end());
  };
  EXPECT_EQ(LastRow("0"), expectedLogits({4, 5, 6}));
  EXPECT_EQ(LastRow("2"), expectedLogits({4, 5, 6}, {}, 2));
  expectError({"run", File, "--token-ids", "4,5,6", "--prefix-tokens", "4"},
              "prefix of 4 tokens: expected 0 to 3");
  write([](Manifest &M, CodeInfo &) { M.HasPrefixMask = false; });
  expectError({"run", File, "--token-ids", "4,5,6", "--prefix-tokens", "2"},
              File + ": --prefix-tokens is 2: this model has no prefix mask: "
                     "expected 0");
}

TEST_F(CommandLineTest, RunsText) {
  write(nullptr, WordPieces);
  Json J =
      json({"run", File, "--prompt", "a b", "--max-new-tokens", "4", "--json"});
  std::vector<int32_t> New = greedy({2, 4, 5, 3}, 4);
  EXPECT_EQ(J["token_ids"].get<std::vector<int32_t>>(), New);
  EXPECT_EQ(J["prompt_tokens"], 4);
  std::ofstream(Directory / "prompt") << "a b";
  Outcome O = tenon({"run", File, "--prompt-file", Directory / "prompt",
                     "--max-new-tokens", "4"});
  EXPECT_EQ(O.Output, J["text"].get<std::string>() + "\n");
  EXPECT_EQ(tenon({"tokenize", File, "--text", "a b"}).Output, "2,4,5,3\n");
}

TEST_F(CommandLineTest, EmbedsTextsAndCutsLongOnes) {
  write([](Manifest &M, CodeInfo &) { M.MaxTextTokens = 5; }, WordPieces);
  // The embedding is the sum of the ids, special tokens (5) included.
  auto First = [&](const std::string &Text) {
    return json({"embed", File, "--json", "--text", Text})["embeddings"][0][0];
  };
  EXPECT_EQ(First("a"), 5 + 4);
  EXPECT_EQ(First("a b c"), 5 + 4 + 5 + 6);
  EXPECT_EQ(First("a b c d"), 5 + 4 + 5 + 6) << "cut, [SEP] kept";
  EXPECT_EQ(First("a b c d e f g h"), 5 + 4 + 5 + 6);
  EXPECT_EQ(First("a a a a a a"), 5 + 4 + 4 + 4);
  Json J = json({"embed", File, "--json", "--text", "a", "b", "--text", "c"});
  ASSERT_EQ(J["embeddings"].size(), 3u);
  EXPECT_EQ(J["embeddings"][2].size(), static_cast<size_t>(Width));
  EXPECT_EQ(J["embeddings"][1][0], 5 + 5);
  J = json({"embed", "--json", "--text", "[a,b]", File, "b", "--text", "c"});
  ASSERT_EQ(J["embeddings"].size(), 3u);
  EXPECT_EQ(J["embeddings"][1][0], 5 + 5);
  EXPECT_EQ(J["embeddings"][2][0], 5 + 6);
  expectError({"embed", File, "a"}, "more requires --text", 2);
  Outcome O = tenon({"embed", File, "--text", "a"});
  EXPECT_TRUE(O.Output.starts_with("9 9 9 ")) << O.Output;
}
