//===- CApiEngineTest.cpp - Chat prompts, outputs and engines from C ------===//

#include "CommandLineFixture.h"
#include "LettersTokenizer.h"

#include "runtime/tenon.h"

#include <gmock/gmock.h>
#include <map>
#include <set>
#include <thread>

using namespace tenon;
using namespace tenon::test;
using testing::HasSubstr;

namespace {

class CApiEngineTest : public testing::Test {
protected:
  void SetUp() override {
    auto Change = [](Manifest &Info, CodeInfo &) {
      Info.FewTokens = 4;
      Info.Chat = artifact::ChatInfo{
          {{"default", "[CLS]{% for m in messages %}{{ m.content }}"
                       "{% for c in m.tool_calls %}"
                       "{% for k, v in c.function.arguments.items() %}{{ v }}"
                       "{% endfor %}{% endfor %}{% endfor %}{% if "
                       "add_generation_prompt %}[SEP]"
                       "{% endif %}"}},
          {},
          ""};
    };
    Status Written = writeModel(File, Change, WordPieces);
    ASSERT_TRUE(Written) << Written.error().message();
    ASSERT_EQ(tenon_model_load(File.c_str(), &M), TENON_OK);
    Settings = {};
    tenon_settings_init(&Settings);
    Settings.ignore_eos = 1;
  }
  void TearDown() override {
    tenon_engine_destroy(E);
    tenon_model_destroy(M);
  }

  void start(int64_t MaxNumSeqs, int64_t MaxQueued = 0,
             int64_t CacheTokens = 400) {
    tenon_engine_options Options{};
    Options.struct_size = sizeof(Options);
    Options.threads = 1;
    Options.cache_tokens = CacheTokens;
    Options.max_num_seqs = MaxNumSeqs;
    Options.max_queued = MaxQueued;
    ASSERT_EQ(tenon_engine_create(M, &Options, &E), TENON_OK)
        << tenon_last_error();
  }
  tenon_status submit(std::vector<int32_t> Prompt, tenon_request &Id,
                      double *RetryAfter = nullptr) {
    return tenon_engine_submit(E, &Settings, Prompt.data(), Prompt.size(),
                               nullptr, &Id, RetryAfter);
  }
  tenon_update wait(double Seconds = 10) {
    tenon_update U{};
    U.struct_size = sizeof(U);
    EXPECT_EQ(tenon_engine_wait(E, Seconds, &U), TENON_OK);
    return U;
  }
  /// The tokens of `Prompt` with Settings, of a generation of its own.
  std::vector<int32_t> alone(std::vector<int32_t> Prompt) {
    tenon_request Id = 0;
    EXPECT_EQ(submit(std::move(Prompt), Id), TENON_OK) << tenon_last_error();
    std::vector<int32_t> Tokens;
    for (tenon_update U = wait(); U.piece; U = wait())
      Tokens.insert(Tokens.end(), U.piece->tokens,
                    U.piece->tokens + U.piece->token_count);
    return Tokens;
  }

  TemporaryDirectory Directory;
  std::string File = Directory / "model.tenon";
  tenon_model *M = nullptr;
  tenon_engine *E = nullptr;
  tenon_settings Settings;
};

} // namespace

TEST_F(CApiEngineTest, DescribesTheModel) {
  const char *Text = nullptr;
  size_t Bytes = 0;
  ASSERT_EQ(tenon_model_describe(M, &Text, &Bytes), TENON_OK);
  Json Described = Json::parse(std::string(Text, Bytes));
  EXPECT_EQ(Described.at("file"), File);
  EXPECT_EQ(Described.at("model").at("few_tokens"), 4);
  EXPECT_EQ(Described.at("model").at("vocabulary"), tenon_model_vocabulary(M));
  EXPECT_TRUE(Described.at("chat").is_object());
}

TEST_F(CApiEngineTest, AGenerationWithoutRoomEndsWithAnError) {
  tenon_session *S = nullptr;
  tenon_generation *G = nullptr;
  const int32_t Prompt[] = {1, 2, 3};
  Settings.max_new_tokens = 60;
  ASSERT_EQ(tenon_session_create(M, 1, 10, &S), TENON_OK);
  ASSERT_EQ(tenon_generation_create(S, &Settings, Prompt, 3, &G), TENON_OK);
  tenon_piece Piece{};
  Piece.struct_size = sizeof(Piece);
  tenon_status Status = TENON_OK;
  while (Status == TENON_OK && Piece.finish == TENON_FINISH_NONE)
    Status = tenon_generation_next(G, &Piece);
  EXPECT_EQ(Status, TENON_OUT_OF_CACHE_PAGES) << tenon_last_error();
  EXPECT_EQ(Piece.finish, TENON_FINISH_ERROR);
  tenon_generation_destroy(G);
  tenon_session_destroy(S);
}

TEST_F(CApiEngineTest, MakesPromptsOfConversations) {
  EXPECT_EQ(tenon_model_has_chat(M), 1);
  auto Prompt = [&](std::string_view Talk, std::vector<int32_t> &Tokens) {
    size_t Count = 0;
    tenon_status Status = tenon_model_chat_prompt(
        M, Talk.data(), Talk.size(), Tokens.data(), Tokens.size(), &Count);
    Tokens.resize(Count);
    return Status;
  };
  std::vector<int32_t> Tokens(8);
  ASSERT_EQ(
      Prompt(R"({"messages": [{"role": "user", "content": "a b"}]})", Tokens),
      TENON_OK)
      << tenon_last_error();
  EXPECT_EQ(Tokens, (std::vector<int32_t>{2, 4, 5, 3}));
  Tokens.assign(8, 0);
  ASSERT_EQ(Prompt(R"({"messages": [{"role": "user", "content": "a b"}],
                       "add_generation_prompt": false})",
                   Tokens),
            TENON_OK);
  EXPECT_EQ(Tokens, (std::vector<int32_t>{2, 4, 5}));
  // Arguments of calls are objects, or JSON texts as APIs have them.
  for (const char *Arguments : {R"({"x": "a b"})", R"("{\"x\": \"a b\"}")"}) {
    Tokens.assign(8, 0);
    std::string Talk = R"({"messages": [{"role": "assistant", "content": "",
        "tool_calls": [{"function": {"name": "f", "arguments": )" +
                       std::string(Arguments) + "}}]}]}";
    ASSERT_EQ(Prompt(Talk, Tokens), TENON_OK) << tenon_last_error();
    EXPECT_EQ(Tokens, (std::vector<int32_t>{2, 4, 5, 3})) << Arguments;
  }
  // What a user wrote is no special token.
  Tokens.assign(8, 0);
  ASSERT_EQ(
      Prompt(R"({"messages": [{"role": "user", "content": "[SEP]"}]})", Tokens),
      TENON_OK);
  EXPECT_EQ(std::count(Tokens.begin(), Tokens.end(), 3), 1);
  for (const auto &[Talk, Expected] : std::map<std::string, const char *>{
           {"{", "conversation"},
           {"[]", "a conversation is an array: expected an object"},
           {"{}", "'messages' is '[]': expected an array of at least one"},
           {R"({"messages": [{"content": 1}]})", "'messages[0]' is"},
           {R"({"messages": [{"role": "user"}], "tools": 1})",
            "'tools' is '1': expected an array or null"},
           {R"({"messages": [{"role": "user"}], "add_generation_prompt": 1})",
            "expected true or false"}}) {
    EXPECT_EQ(Prompt(Talk, Tokens), TENON_INVALID_ARGUMENT) << Talk;
    EXPECT_THAT(tenon_last_error(), HasSubstr(Expected));
  }
}

TEST_F(CApiEngineTest, ReadsTheToolsOfSettings) {
  start(4);
  std::string Tool = R"({"type": "function", "function": {"name": "f")";
  tenon_request Id = 0;
  for (const auto &[Tools, Expected] : std::map<std::string, const char *>{
           {"[", "tenon_engine_submit: tools"},
           {"{}", "tenon_engine_submit: tools is an object: expected an array"},
           {"[1]", "tenon_engine_submit: 'tools[0]' is no function"}}) {
    Settings.tools = Tools.c_str();
    EXPECT_EQ(submit({4}, Id), TENON_INVALID_ARGUMENT) << Tools;
    EXPECT_THAT(tenon_last_error(), HasSubstr(Expected));
  }
  // The model has no format of calls, which those of strict tools need.
  std::string Tools = "[" + Tool + R"(, "strict": true}}])";
  Settings.tools = Tools.c_str();
  EXPECT_EQ(submit({4}, Id), TENON_NOT_FOUND);
  EXPECT_THAT(tenon_last_error(), HasSubstr("nothing says how this model"));
  Tools = "[" + Tool + "}}]";
  Settings.tools = Tools.c_str();
  EXPECT_EQ(submit({4}, Id), TENON_OK) << tenon_last_error();
}

TEST_F(CApiEngineTest, ValuesThatAreTakenStay) {
  tenon_session *S = nullptr;
  tenon_sequence Sequence = 0;
  tenon_values *First = nullptr, *None = nullptr;
  ASSERT_EQ(tenon_session_create(M, 1, 0, &S), TENON_OK);
  ASSERT_EQ(tenon_session_take_values(S, &None), TENON_OK);
  EXPECT_EQ(None, nullptr);
  ASSERT_EQ(tenon_sequence_create(S, &Sequence), TENON_OK);
  tenon_output Output{};
  Output.struct_size = sizeof(Output);
  auto Run = [&](std::vector<int32_t> Tokens) {
    tenon_item Item{
        sizeof(tenon_item),     Sequence, Tokens.data(), nullptr, Tokens.size(),
        TENON_OUTPUT_ROWS_LAST, 0};
    ASSERT_EQ(tenon_session_run(S, TENON_ENTRY_STEP, &Item, 1, &Output),
              TENON_OK);
  };
  Run({1, 2});
  std::vector<float> Seen(Output.values, Output.values + Output.width);
  const float *Values = Output.values;
  ASSERT_EQ(tenon_session_take_values(S, &First), TENON_OK);
  ASSERT_NE(First, nullptr);
  ASSERT_EQ(tenon_session_take_values(S, &None), TENON_OK);
  EXPECT_EQ(None, nullptr) << "taken already";
  Run({7});
  EXPECT_NE(Output.values, Values);
  EXPECT_NE(std::vector<float>(Output.values, Output.values + Output.width),
            Seen);
  tenon_session_destroy(S);
  EXPECT_EQ(std::vector<float>(Values, Values + Seen.size()), Seen);
  tenon_values_destroy(First);
  tenon_values_destroy(nullptr);
}

TEST_F(CApiEngineTest, AnswersManyAsAlone) {
  start(4);
  Settings.max_new_tokens = 12;
  std::vector<std::vector<int32_t>> Prompts = {{1, 2, 3}, {5}, {9, 8, 7, 6, 5}};
  std::map<tenon_request, std::vector<int32_t>> Expected, Seen;
  std::vector<std::vector<int32_t>> Answers;
  for (const std::vector<int32_t> &Prompt : Prompts)
    Answers.push_back(alone(Prompt));
  for (size_t I = 0; I < Prompts.size(); ++I) {
    tenon_request Id = 0;
    ASSERT_EQ(submit(Prompts[I], Id), TENON_OK);
    Expected[Id] = Answers[I];
  }
  std::set<tenon_request> Ended;
  while (Ended.size() < Prompts.size()) {
    tenon_update U = wait();
    ASSERT_NE(U.request, 0);
    ASSERT_FALSE(Ended.contains(U.request)) << "news of what has ended";
    if (U.piece) {
      std::vector<int32_t> &Tokens = Seen[U.request];
      Tokens.insert(Tokens.end(), U.piece->tokens,
                    U.piece->tokens + U.piece->token_count);
      EXPECT_EQ(U.piece->unfinished, U.piece->finish == TENON_FINISH_NONE);
      continue;
    }
    EXPECT_EQ(U.state, TENON_REQUEST_FINISHED);
    EXPECT_EQ(U.completion_tokens, 12u);
    EXPECT_GE(U.total_s, U.first_token_s);
    Ended.insert(U.request);
  }
  EXPECT_EQ(Seen, Expected);
  EXPECT_EQ(Answers[0].size(), 12u);
  tenon_statistics Counts{};
  Counts.struct_size = sizeof(Counts);
  ASSERT_EQ(tenon_engine_statistics(E, &Counts), TENON_OK);
  EXPECT_EQ(Counts.finished, 6u);
  EXPECT_EQ(Counts.completion_tokens, 72u);
  EXPECT_EQ(Counts.running, 0u);
}

TEST_F(CApiEngineTest, ScoresAndStopsOfPieces) {
  start(4);
  Settings.max_new_tokens = 5;
  Settings.logprobs = 1;
  Settings.top_logprobs = 2;
  Settings.echo = 1;
  std::vector<int32_t> Tokens = alone({1, 2, 3});
  ASSERT_EQ(Tokens.size(), 5u);
  Settings.stop_token_ids = &Tokens[2];
  Settings.stop_token_id_count = 1;
  auto Stop = static_cast<size_t>(
      std::find(Tokens.begin(), Tokens.end(), Tokens[2]) - Tokens.begin());
  tenon_request Id = 0;
  ASSERT_EQ(submit({1, 2, 3}, Id), TENON_OK);
  size_t Count = 0;
  bool HasStopped = false;
  tenon_update U = wait();
  for (; U.piece; U = wait()) {
    Count += U.piece->token_count;
    if (U.piece->token_count != 0) {
      ASSERT_NE(U.piece->logprobs, nullptr);
      EXPECT_EQ(U.piece->top_count, 2u);
      EXPECT_LE(U.piece->logprobs[0], U.piece->top_logprobs[0]);
    }
    if (U.piece->finish == TENON_FINISH_STOP) {
      EXPECT_EQ(U.piece->stop_token_id, Tokens[2]);
      HasStopped = true;
    }
  }
  EXPECT_TRUE(HasStopped);
  EXPECT_EQ(Count, Stop + 1);
  ASSERT_NE(U.prompt_logprobs, nullptr);
  EXPECT_EQ(U.prompt_logprobs->count, 2u);
  EXPECT_LT(U.prompt_logprobs->logprobs[1], 0);
}

TEST_F(CApiEngineTest, AMinPOfZeroIsNotTheModels) {
  tenon_model_destroy(M);
  Status Written = writeModel(File, [](Manifest &Info, CodeInfo &) {
    Info.Generation.Sample = true;
    Info.Generation.MinP = 1;
  });
  ASSERT_TRUE(Written) << Written.error().message();
  ASSERT_EQ(tenon_model_load(File.c_str(), &M), TENON_OK);
  const float Scores[] = {1, 1.5, 1, 1};
  auto Picked = [&](double MinP) {
    Settings.min_p = MinP;
    tenon_sampler *S = nullptr;
    EXPECT_EQ(tenon_sampler_create(M, &Settings, &S), TENON_OK);
    std::set<int32_t> Tokens;
    for (int I = 0; I < 50; ++I) {
      int32_t Token = -1;
      EXPECT_EQ(tenon_sampler_pick(S, Scores, 4, &Token), TENON_OK);
      Tokens.insert(Token);
    }
    tenon_sampler_destroy(S);
    return Tokens;
  };
  EXPECT_EQ(Picked(-1), std::set<int32_t>{1});
  EXPECT_EQ(Picked(0).size(), 4u);
}

TEST_F(CApiEngineTest, TextsFollowAConstraint) {
  tenon_model_destroy(M);
  Status Written = writeModel(
      File,
      [](Manifest &Info, CodeInfo &) { Info.Generation.EndOfSequence = {20}; },
      Letters);
  ASSERT_TRUE(Written) << Written.error().message();
  ASSERT_EQ(tenon_model_load(File.c_str(), &M), TENON_OK);
  start(2);
  Settings.ignore_eos = 0;
  Settings.max_new_tokens = 8;
  auto Answer = [&] {
    std::string Text;
    tenon_request Id = 0;
    EXPECT_EQ(submit({1, 2, 3}, Id), TENON_OK) << tenon_last_error();
    if (Id == 0)
      return Text;
    for (tenon_update U = wait(); U.piece; U = wait())
      Text.append(U.piece->text, U.piece->text_bytes);
    return Text;
  };
  auto Refused = [&](const std::string &Expected) {
    tenon_request Id = 0;
    EXPECT_EQ(submit({1, 2, 3}, Id), TENON_INVALID_ARGUMENT);
    EXPECT_THAT(tenon_last_error(),
                testing::StartsWith("tenon_engine_submit: " + Expected));
  };
  const char *Choices[] = {"ab", "c"};
  Settings.choices = Choices;
  Settings.choice_count = 2;
  EXPECT_THAT(Answer(), testing::AnyOf("ab", "c"));
  Settings.regex = "1{3}";
  Refused("regex is given beside choice: expected one of them");
  Settings.choice_count = 0;
  EXPECT_EQ(Answer(), "111");
  Settings.regex = "(";
  Refused("regex: ");
  Settings.regex = nullptr;
  Settings.ebnf = "root ::= \"a\" | \"b\"";
  EXPECT_THAT(Answer(), testing::AnyOf("a", "b"));
  tenon_request Never = 0;
  EXPECT_EQ(submit({1, 1 << 20}, Never), TENON_INVALID_ARGUMENT);
  EXPECT_THAT(
      tenon_last_error(),
      HasSubstr("tenon_engine_submit: the prompt has token 1048576: expected"));
  Settings.num_beams = 2;
  EXPECT_EQ(submit({1}, Never), TENON_INVALID_ARGUMENT);
  EXPECT_THAT(tenon_last_error(), HasSubstr("follows a grammar has no beams"));
  Settings.num_beams = -1;
  // One after another in a session, too.
  tenon_session *S = nullptr;
  tenon_generation *G = nullptr;
  const int32_t Prompt[] = {1, 2, 3};
  ASSERT_EQ(tenon_session_create(M, 1, 100, &S), TENON_OK);
  ASSERT_EQ(tenon_generation_create(S, &Settings, Prompt, 3, &G), TENON_OK);
  tenon_piece Piece{};
  Piece.struct_size = sizeof(Piece);
  std::string Text;
  while (Piece.finish == TENON_FINISH_NONE) {
    ASSERT_EQ(tenon_generation_next(G, &Piece), TENON_OK);
    Text.append(Piece.text, Piece.text_bytes);
  }
  EXPECT_THAT(Text, testing::AnyOf("a", "b"));
  tenon_generation_destroy(G);
  tenon_session_destroy(S);
  Settings.ebnf = nullptr;
  Settings.json_schema = R"({"type": "strin"})";
  Refused("json_schema: ");
  Settings.json_schema = R"({"const": 1})";
  Settings.format = "asked";
  Refused("json_schema: format is 'asked': expected asserted or annotation");
}

TEST_F(CApiEngineTest, CancelsFailsAndRefuses) {
  start(1, 2);
  Settings.max_new_tokens = 60;
  tenon_request Running = 0, Waiting = 0, Third = 0, Never = 0;
  ASSERT_EQ(submit({1, 2}, Running), TENON_OK);
  ASSERT_EQ(submit({3, 4}, Waiting), TENON_OK);
  ASSERT_EQ(tenon_engine_cancel(E, Waiting), TENON_OK);
  ASSERT_EQ(tenon_engine_cancel(E, Running), TENON_OK);
  ASSERT_EQ(tenon_engine_cancel(E, 999), TENON_OK) << "of nobody";
  std::map<tenon_request, tenon_request_state> Ends;
  while (Ends.size() < 2)
    if (tenon_update U = wait(); !U.piece)
      Ends[U.request] = U.state;
  EXPECT_EQ(Ends[Waiting], TENON_REQUEST_CANCELLED);
  // It may have been faster.
  EXPECT_THAT(Ends[Running],
              testing::AnyOf(TENON_REQUEST_CANCELLED, TENON_REQUEST_FINISHED));

  Settings.n = 2;
  Settings.temperature = 1;
  EXPECT_EQ(submit({1}, Never), TENON_OUT_OF_CACHE_PAGES);
  EXPECT_THAT(tenon_last_error(), HasSubstr("2 texts at once"));
  Settings.n = 1;
  double RetryAfter = 0;
  tenon_terms Terms{sizeof(Terms), 1e-9, nullptr};
  int32_t Token = 1;
  ASSERT_EQ(
      tenon_engine_submit(E, &Settings, &Token, 1, &Terms, &Third, &RetryAfter),
      TENON_OK);
  tenon_update U = wait();
  while (U.piece)
    U = wait();
  EXPECT_EQ(U.request, Third);
  EXPECT_EQ(U.state, TENON_REQUEST_FAILED);
  EXPECT_EQ(U.status, TENON_CANCELLED);
  EXPECT_THAT(U.error, HasSubstr("seconds"));
  EXPECT_EQ(RetryAfter, 0);

  int Finished = -1;
  ASSERT_EQ(tenon_engine_drain(E, 10, &Finished), TENON_OK);
  EXPECT_EQ(Finished, 1);
  EXPECT_EQ(submit({1}, Never), TENON_CANCELLED);
  EXPECT_EQ(Never, 0);
}

TEST_F(CApiEngineTest, ErrorsAreOneLineWhateverAPathHas) {
  std::string Odd = Directory / "a\nb.tenon";
  Status Written = writeModel(Odd);
  ASSERT_TRUE(Written) << Written.error().message();
  tenon_model_destroy(M);
  ASSERT_EQ(tenon_model_load(Odd.c_str(), &M), TENON_OK);
  start(1);
  std::filesystem::resize_file(Odd, 4096);
  tenon_request Id = 0;
  ASSERT_EQ(submit({1, 2}, Id), TENON_OK) << tenon_last_error();
  tenon_update U = wait();
  ASSERT_EQ(U.status, TENON_DAMAGED_FILE);
  EXPECT_THAT(U.error, HasSubstr("a\\x0ab.tenon: shrank"));
}

TEST_F(CApiEngineTest, AFullQueueSaysWhenToComeBack) {
  start(1, 1);
  Settings.max_new_tokens = 64;
  tenon_status Status = TENON_OK;
  double RetryAfter = 0;
  for (int I = 0; I < 1000 && Status == TENON_OK; ++I) {
    tenon_request Id = 0;
    Status = submit({1, 2, 3}, Id, &RetryAfter);
  }
  EXPECT_EQ(Status, TENON_QUEUE_FULL);
  EXPECT_GE(RetryAfter, 1);
  EXPECT_THAT(tenon_last_error(), HasSubstr("expected fewer than 1"));
}

TEST_F(CApiEngineTest, WaitsNoLongerThanItIsTold) {
  start(1);
  EXPECT_EQ(wait(0).request, 0);
  EXPECT_EQ(wait(0.001).request, 0);
  std::thread Waker([&] { tenon_engine_wake(E); });
  EXPECT_EQ(wait(-1).request, 0);
  Waker.join();
  // News come before the call that was woken without.
  Settings.max_new_tokens = 1;
  tenon_request Id = 0;
  ASSERT_EQ(submit({1}, Id), TENON_OK);
  ASSERT_EQ(tenon_engine_drain(E, 10, nullptr), TENON_OK);
  tenon_engine_wake(E);
  EXPECT_EQ(wait(0).request, Id);
  while (wait(0).request != 0) {
  }
  EXPECT_EQ(wait(0).request, 0);
}

TEST_F(CApiEngineTest, KeptPromptsInAFile) {
  start(4);
  Settings.max_new_tokens = 4;
  std::vector<int32_t> Prompt(40);
  for (size_t I = 0; I < Prompt.size(); ++I)
    Prompt[I] = static_cast<int32_t>(I * 7 % 47);
  std::vector<int32_t> Expected = alone(Prompt);
  std::string Kept = Directory / "kept.prefixes";
  ASSERT_EQ(tenon_engine_save_prefixes(E, Kept.c_str()), TENON_OK)
      << tenon_last_error();
  tenon_engine_destroy(E);
  E = nullptr;
  start(4);
  size_t Count = 0;
  ASSERT_EQ(tenon_engine_load_prefixes(E, Kept.c_str(), &Count), TENON_OK)
      << tenon_last_error();
  EXPECT_EQ(Count, 1u);
  EXPECT_EQ(alone(Prompt), Expected);
  tenon_statistics Counts{};
  Counts.struct_size = sizeof(Counts);
  ASSERT_EQ(tenon_engine_statistics(E, &Counts), TENON_OK);
  EXPECT_EQ(Counts.cached_tokens, 32u);
  EXPECT_EQ(tenon_engine_load_prefixes(E, File.c_str(), nullptr),
            TENON_DAMAGED_FILE);
  std::string Missing = Directory / "missing";
  EXPECT_EQ(tenon_engine_load_prefixes(E, Missing.c_str(), nullptr),
            TENON_NOT_FOUND);
  EXPECT_EQ(tenon_engine_load_prefixes(nullptr, Kept.c_str(), nullptr),
            TENON_INVALID_ARGUMENT);
  EXPECT_EQ(tenon_engine_save_prefixes(E, nullptr), TENON_INVALID_ARGUMENT);
}

TEST_F(CApiEngineTest, OptionsOutOfRange) {
  tenon_engine_options Options{};
  tenon_engine *None = nullptr;
  Options.struct_size = sizeof(Options);
  Options.max_num_seqs = -1;
  EXPECT_EQ(tenon_engine_create(M, &Options, &None), TENON_INVALID_ARGUMENT);
  EXPECT_THAT(tenon_last_error(), HasSubstr("max_num_seqs is -1"));
  Options.max_num_seqs = 4000;
  EXPECT_EQ(tenon_engine_create(M, &Options, &None), TENON_INVALID_ARGUMENT);
  Options.max_num_seqs = 0;
  Options.struct_size = 3;
  EXPECT_EQ(tenon_engine_create(M, &Options, &None), TENON_INVALID_ARGUMENT);
  EXPECT_THAT(tenon_last_error(), HasSubstr("struct_size is 3"));
  EXPECT_EQ(None, nullptr);
  EXPECT_EQ(tenon_engine_create(M, nullptr, &None), TENON_OK)
      << tenon_last_error();
  tenon_engine_destroy(None);
}
