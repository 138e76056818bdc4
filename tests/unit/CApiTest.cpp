//===- CApiTest.cpp - The C API -------------------------------------------===//

#include "CommandLineFixture.h"

#include "runtime/CApi/Handles.h"

#include <atomic>
#include <chrono>
#include <set>
#include <stdexcept>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

using namespace tenon;
using namespace tenon::test;

extern "C" int useTenonFromC(const char *Path);

namespace {

class CApiTest : public testing::Test {
protected:
  void SetUp() override {
    Status Written = writeModel(File, nullptr, WordPieces);
    ASSERT_TRUE(Written) << Written.error().message();
  }
  TemporaryDirectory Directory;
  std::string File = Directory / "model.tenon";
};

} // namespace

TEST_F(CApiTest, UsedFromC) {
  EXPECT_EQ(useTenonFromC(File.c_str()), 0)
      << "the line of CApiUse.c; last error: " << tenon_last_error();
}

TEST_F(CApiTest, NothingIsThrownAtCallers) {
  auto Throw = [](auto What) {
    return capi::guarded([&]() -> tenon_status { throw What; });
  };
  EXPECT_EQ(Throw(std::bad_alloc()), TENON_OUT_OF_MEMORY);
  EXPECT_STREQ(tenon_last_error(), "out of memory");
  EXPECT_EQ(Throw(std::length_error("too\nlong")), TENON_INTERNAL);
  EXPECT_STREQ(tenon_last_error(), "unexpected: too\\x0along");
}

TEST_F(CApiTest, CancelledGenerationsGoOn) {
  tenon_model *M = nullptr;
  tenon_session *S = nullptr;
  ASSERT_EQ(tenon_model_load(File.c_str(), &M), TENON_OK);
  ASSERT_EQ(tenon_session_create(M, 1, 0, &S), TENON_OK);
  tenon_model_destroy(M);
  // The test model waits on these tokens until it is cancelled.
  int32_t Prompt[] = {48, 48};
  tenon_generation *G = nullptr;
  ASSERT_EQ(tenon_generation_create(S, nullptr, Prompt, 2, &G), TENON_OK);
  std::atomic<bool> HasEnded{false};
  std::thread Impatient([&] {
    // So that the step runs already.
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    while (!HasEnded) {
      tenon_session_cancel(S);
      std::this_thread::yield();
    }
  });
  tenon_piece Piece = {};
  Piece.struct_size = sizeof(Piece);
  tenon_status Twice[2];
  for (tenon_status &Status : Twice)
    Status = tenon_generation_next(G, &Piece);
  HasEnded = true;
  Impatient.join();
  EXPECT_EQ(Twice[0], TENON_CANCELLED);
  EXPECT_EQ(Twice[1], TENON_CANCELLED);
  EXPECT_EQ(Piece.finish, TENON_FINISH_NONE);
  tenon_generation_destroy(G);
  tenon_session_destroy(S);
}

namespace {

class CApiGenerationTest : public CommandLineTest {};

} // namespace

TEST_F(CApiGenerationTest, TokensAreThoseOfTheTool) {
  // Prompts of fewer and of more tokens than few, of fewer and of more texts:
  // in the code of the test the variants give different tokens.
  write([](Manifest &Info, CodeInfo &) { Info.FewTokens = 4; });
  tenon_model *M = nullptr;
  tenon_session *S = nullptr;
  ASSERT_EQ(tenon_model_load(File.c_str(), &M), TENON_OK);
  ASSERT_EQ(tenon_session_create(M, 1, 400, &S), TENON_OK);
  std::set<std::vector<int32_t>> Seen;
  for (std::vector<int32_t> Prompt :
       {std::vector<int32_t>{7, 3, 11}, {7, 3, 11, 2, 5, 6}})
    for (int Choices : {1, 6}) {
      tenon_settings Settings;
      tenon_settings_init(&Settings);
      Settings.ignore_eos = 1;
      Settings.max_new_tokens = 12;
      Settings.temperature = 3;
      Settings.seed = 5;
      Settings.n = Choices;
      // The model waits on the one and fails on the other.
      const int32_t Never[] = {48, 49};
      const float Bias[] = {-100, -100};
      Settings.bias_tokens = Never;
      Settings.biases = Bias;
      Settings.bias_count = 2;
      tenon_generation *G = nullptr;
      ASSERT_EQ(tenon_generation_create(S, &Settings, Prompt.data(),
                                        Prompt.size(), &G),
                TENON_OK)
          << tenon_last_error();
      std::vector<std::vector<int32_t>> Texts(static_cast<size_t>(Choices));
      tenon_piece Piece = {};
      Piece.struct_size = sizeof(Piece);
      do {
        ASSERT_EQ(tenon_generation_next(G, &Piece), TENON_OK)
            << tenon_last_error();
        std::vector<int32_t> &Text = Texts[static_cast<size_t>(Piece.choice)];
        Text.insert(Text.end(), Piece.tokens, Piece.tokens + Piece.token_count);
      } while (Piece.unfinished > 0);
      tenon_generation_destroy(G);
      std::string Ids;
      for (int32_t Token : Prompt)
        Ids += (Ids.empty() ? "" : ",") + std::to_string(Token);
      Json Run = json({"run", File, "--token-ids", Ids, "--max-new-tokens",
                       "12", "--temperature", "3", "--seed", "5",
                       "--ignore-eos", "--json", "--n", std::to_string(Choices),
                       "--logit-bias", "48=-100", "--logit-bias", "49=-100"});
      for (size_t I = 0; I < Texts.size(); ++I) {
        const Json &One = Choices == 1 ? Run : Run["choices"][I];
        EXPECT_EQ(Texts[I].size(), 12u);
        EXPECT_EQ(Json(Texts[I]), One["token_ids"]) << Ids << ", choice " << I;
        Seen.insert(Texts[I]);
      }
    }
  EXPECT_EQ(Seen.size(), 14u) << "other requests have other texts";
  tenon_session_destroy(S);
  tenon_model_destroy(M);
}

namespace {

/// A model, a session and one sequence with a few tokens.
struct OpenSession {
  explicit OpenSession(const std::string &File) {
    EXPECT_EQ(tenon_model_load(File.c_str(), &M), TENON_OK);
    EXPECT_EQ(tenon_session_create(M, 2, 0, &S), TENON_OK);
    EXPECT_EQ(tenon_sequence_create(S, &Sequence), TENON_OK);
    Output.struct_size = sizeof(Output);
  }
  ~OpenSession() {
    tenon_session_destroy(S);
    tenon_model_destroy(M);
  }
  tenon_item item(const int32_t *Tokens, size_t Count) const {
    return {sizeof(tenon_item),     Sequence, Tokens, nullptr, Count,
            TENON_OUTPUT_ROWS_LAST, 0};
  }
  tenon_status step(std::vector<int32_t> Tokens) {
    tenon_item Item = item(Tokens.data(), Tokens.size());
    return tenon_session_run(S, TENON_ENTRY_STEP, &Item, 1, &Output);
  }
  int64_t length() const {
    int64_t Length = -1;
    EXPECT_EQ(tenon_sequence_length(S, Sequence, &Length), TENON_OK);
    return Length;
  }

  tenon_model *M = nullptr;
  tenon_session *S = nullptr;
  tenon_sequence Sequence = 0;
  tenon_output Output = {};
};

} // namespace

TEST_F(CApiTest, AFileThatIsCutOffIsReported) {
  std::string Whole = contentOf(File);
  for (off_t Left : {0, 4096}) {
    std::ofstream(File, std::ios::binary) << Whole;
    OpenSession Open(File);
    ASSERT_EQ(Open.step({1, 2, 3}), TENON_OK);
    ASSERT_EQ(::truncate(File.c_str(), Left), 0);
    // Enough tokens for the library's matmul, then for generated code.
    for (const std::vector<int32_t> &Tokens :
         {std::vector<int32_t>{4, 5, 6, 7, 8}, {4}}) {
      EXPECT_EQ(Open.step(Tokens), TENON_DAMAGED_FILE);
      EXPECT_NE(std::string(tenon_last_error())
                    .find(File + ": shrank from " +
                          std::to_string(Whole.size()) + " to " +
                          std::to_string(Left) + " bytes while in use"),
                std::string::npos)
          << tenon_last_error();
      EXPECT_EQ(Open.length(), 3);
    }
    // A generation and the tokenizer say the same.
    int32_t Prompt[] = {1, 2};
    tenon_generation *G = nullptr;
    tenon_piece Piece = {};
    Piece.struct_size = sizeof(Piece);
    tenon_status Generated =
        tenon_generation_create(Open.S, nullptr, Prompt, 2, &G);
    if (Generated == TENON_OK)
      Generated = tenon_generation_next(G, &Piece);
    EXPECT_EQ(Generated, TENON_DAMAGED_FILE) << tenon_last_error();
    tenon_generation_destroy(G);
    size_t Count = 0;
    EXPECT_EQ(tenon_model_encode(Open.M, "a", 1, 0, nullptr, 0, &Count),
              TENON_DAMAGED_FILE);
  }
}

TEST_F(CApiTest, AFileThatIsWrittenToIsReported) {
  std::string Whole = contentOf(File);
  OpenSession Open(File);
  ASSERT_EQ(Open.step({1, 2, 3}), TENON_OK);
  // Later than the clock of the file system can tell apart.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::fstream(File, std::ios::binary | std::ios::in | std::ios::out)
      << std::string(Whole.size(), '\xff');
  EXPECT_EQ(Open.step({4, 5}), TENON_DAMAGED_FILE);
  EXPECT_NE(std::string(tenon_last_error()).find("was written to while in use"),
            std::string::npos)
      << tenon_last_error();
  EXPECT_EQ(Open.length(), 3);
}

TEST_F(CApiTest, AFileThatIsReplacedGoesOn) {
  OpenSession Open(File);
  std::ofstream(Directory / "other") << "x";
  std::filesystem::rename(Directory / "other", File);
  EXPECT_EQ(Open.step({1, 2, 3}), TENON_OK) << tenon_last_error();
}

TEST_F(CApiTest, LengthsAreCheckedBeforeTokensAreRead) {
  // One token, and behind it nothing that may be read.
  long Page = ::sysconf(_SC_PAGESIZE);
  auto *Memory = static_cast<char *>(
      ::mmap(nullptr, static_cast<size_t>(2 * Page), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_EQ(::mprotect(Memory + Page, static_cast<size_t>(Page), PROT_NONE), 0);
  auto *Token = reinterpret_cast<int32_t *>(Memory + Page) - 1;
  *Token = 1;
  OpenSession Open(File);
  ASSERT_TRUE(
      writeModel(Directory / "translator", makeEncoderDecoder, WordPieces));
  OpenSession Translator(Directory / "translator");
  for (size_t Count : {size_t(91), size_t(1) << 40, SIZE_MAX / 4, SIZE_MAX}) {
    auto Check = [&](OpenSession &Of, tenon_status Status, const char *What) {
      EXPECT_EQ(Status, TENON_OK) << What << " " << tenon_last_error();
      EXPECT_EQ(Of.Output.status, TENON_INVALID_ARGUMENT) << What;
      EXPECT_NE(std::string(Of.Output.error).find("expected at most"),
                std::string::npos)
          << What << ": " << Of.Output.error;
    };
    tenon_item Item = Open.item(Token, Count);
    Check(Open,
          tenon_session_run(Open.S, TENON_ENTRY_STEP, &Item, 1, &Open.Output),
          "step");
    Check(Open,
          tenon_session_run(Open.S, TENON_ENTRY_ENCODE, &Item, 1, &Open.Output),
          "encode");
    Item = Translator.item(Token, Count);
    Check(Translator,
          tenon_session_encode_sources(Translator.S, &Item, 1,
                                       &Translator.Output),
          "source");
    tenon_generation *G = nullptr;
    for (OpenSession *Of : {&Open, &Translator}) {
      EXPECT_EQ(tenon_generation_create(Of->S, nullptr, Token, Count, &G),
                TENON_INVALID_ARGUMENT);
      EXPECT_NE(std::string(tenon_last_error()).find("expected at most"),
                std::string::npos);
    }
  }
  ::munmap(Memory, static_cast<size_t>(2 * Page));
}
