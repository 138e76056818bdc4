//===- GgufTokenizerTest.cpp - Tokenizers of GGUF files -------------------===//
//
// Against tests/gguf/fixtures/tokenizers.json: what SentencePiece and Hugging
// Face's tokenizers make of texts.
//
//===----------------------------------------------------------------------===//

#include "compiler/Checkpoint/GgufTokenizer.h"
#include "GgufFixture.h"
#include "runtime/Tokenizer/Tokenizer.h"

using namespace tenon;
using namespace tenon::tokenizer;

namespace {

std::string fixture(const std::string &Name) {
  return std::string(TENON_TEST_DATA) + "/gguf/fixtures/" + Name;
}

class GgufTokenizerTest : public TemporaryFiles {
protected:
  Result<std::string> read(const GgufBytes &B, Json *Settings = nullptr) {
    Json Ignored;
    auto File = GgufFile::open(write("m.gguf", B.file()));
    if (!File)
      return File.error();
    return readGgufTokenizer(*File, Settings ? *Settings : Ignored);
  }
  void expectError(const GgufBytes &B, const std::string &Text) {
    EXPECT_ERROR(read(B), pathOf("m.gguf") + ": ", Text);
  }

  using Strings = std::vector<std::string>;
  static std::string strings(const Strings &Values) {
    return GgufBytes::array(GgufType::String, Values);
  }
  static std::string integers(const std::vector<int32_t> &Values) {
    return GgufBytes::array(GgufType::Int32, Values);
  }
  static GgufBytes bytes(const Strings &Tokens, const Strings &Merges = {},
                         const std::string &Split = "gpt-2") {
    GgufBytes B;
    B.text("tokenizer.ggml.model", "gpt2")
        .text("tokenizer.ggml.pre", Split)
        .key("tokenizer.ggml.tokens", GgufType::Array, strings(Tokens))
        .key("tokenizer.ggml.merges", GgufType::Array, strings(Merges));
    return B;
  }
  static GgufBytes pieces(const Strings &Tokens,
                          const std::vector<float> &Scores,
                          const std::vector<int32_t> &Types) {
    GgufBytes B;
    B.text("tokenizer.ggml.model", "llama")
        .key("tokenizer.ggml.tokens", GgufType::Array, strings(Tokens))
        .key("tokenizer.ggml.scores", GgufType::Array,
             GgufBytes::array(GgufType::Float32, Scores))
        .key("tokenizer.ggml.token_type", GgufType::Array, integers(Types));
    return B;
  }
};

TEST_F(GgufTokenizerTest, SentencePiece) {
  auto References = readJsonFile(fixture("tokenizers.json"));
  ASSERT_TRUE(References) << References.error().message();
  auto File = GgufFile::open(fixture("llama-f32.gguf"));
  ASSERT_TRUE(File) << File.error().message();
  Json Settings;
  auto Read = readGgufTokenizer(*File, Settings);
  ASSERT_TRUE(Read) << Read.error().message();
  auto Made = Tokenizer::fromJson(*Read, "llama-f32");
  ASSERT_TRUE(Made) << Made.error().message();
  const Json &Texts = (*References)["texts"];
  size_t Compared = 0;
  for (size_t I = 0; I < Texts.size(); ++I) {
    auto Text = Texts[I].get<std::string>();
    const Json &Expected = (*References)["spm"][I];
    auto Ids = Made->encode(Text, /*AddSpecialTokens=*/true);
    ASSERT_TRUE(Ids) << Ids.error().message();
    EXPECT_EQ(*Ids, Expected[0].get<std::vector<int32_t>>()) << Text;
    EXPECT_EQ(Made->decode(*Ids, /*SkipSpecialTokens=*/true),
              Expected[1].get<std::string>());
    ++Compared;
  }
  EXPECT_GE(Compared, 30u);
  EXPECT_EQ(Settings["bos_token_id"], 1);
  EXPECT_EQ(Settings["eos_token_id"], Json::array({2}));
}

TEST_F(GgufTokenizerTest, EverySplitOfByteLevelVocabularies) {
  auto References = readJsonFile(fixture("tokenizers.json"));
  ASSERT_TRUE(References) << References.error().message();
  const Json &Base = (*References)["bytes"];
  const Json &Texts = (*References)["texts"];
  ASSERT_GE((*References)["splits"].size(), 15u);
  for (const auto &[Name, Expected] : (*References)["splits"].items()) {
    GgufBytes B;
    B.text("tokenizer.ggml.model", "gpt2")
        .text("tokenizer.ggml.pre", Name)
        .key("tokenizer.ggml.tokens", GgufType::Array,
             strings(Base["tokens"].get<Strings>()))
        .key("tokenizer.ggml.token_type", GgufType::Array,
             integers(Base["types"].get<std::vector<int32_t>>()))
        .key("tokenizer.ggml.merges", GgufType::Array,
             strings(Base["merges"].get<Strings>()))
        .size("tokenizer.ggml.bos_token_id", Base["begin"].get<uint32_t>());
    auto Text = read(B);
    ASSERT_TRUE(Text) << Text.error().message();
    auto Made = Tokenizer::fromJson(*Text, Name);
    ASSERT_TRUE(Made) << Made.error().message();
    for (size_t I = 0; I < Texts.size(); ++I) {
      auto Ids = Made->encode(Texts[I].get<std::string>(), true);
      ASSERT_TRUE(Ids) << Ids.error().message();
      EXPECT_EQ(*Ids, Expected[I].get<std::vector<int32_t>>())
          << Name << ": " << Texts[I];
    }
  }
}

/// llama.cpp has one split under several names.
TEST_F(GgufTokenizerTest, NamesOfTheSameSplit) {
  for (auto [Name, Others] :
       {std::pair("gpt-2", Strings{"phi-2", "gigachat", "a.x-4.0", "mellum"}),
        {"llama-bpe",
         {"llama3", "llama-v3", "falcon3", "pixtral", "midm-2.0", "lfm2"}},
        {"qwen2", {"deepseek-r1-qwen", "kormo", "f2llmv2", "megrez"}},
        {"gpt-4o", {"llama4", "kanana2"}}}) {
    auto Expected = read(bytes({"a"}, {}, Name));
    ASSERT_TRUE(Expected) << Expected.error().message();
    for (const std::string &Other : Others) {
      auto Text = read(bytes({"a"}, {}, Other));
      ASSERT_TRUE(Text) << Text.error().message();
      EXPECT_EQ(*Text, *Expected) << Other;
    }
  }
}

TEST_F(GgufTokenizerTest, TokensAroundTexts) {
  Strings Tokens = {"a", "<s>", "</s>"};
  for (bool Begin : {false, true})
    for (bool End : {false, true}) {
      auto Text = read(bytes(Tokens)
                           .key("tokenizer.ggml.token_type", GgufType::Array,
                                integers({1, 3, 3}))
                           .size("tokenizer.ggml.bos_token_id", 1)
                           .size("tokenizer.ggml.eos_token_id", 2)
                           .flag("tokenizer.ggml.add_bos_token", Begin)
                           .flag("tokenizer.ggml.add_eos_token", End));
      ASSERT_TRUE(Text) << Text.error().message();
      auto Made = Tokenizer::fromJson(*Text, "t");
      ASSERT_TRUE(Made) << Made.error().message();
      std::vector<int32_t> Expected = {0};
      if (Begin)
        Expected.insert(Expected.begin(), 1);
      if (End)
        Expected.push_back(2);
      EXPECT_EQ(*Made->encode("a", true), Expected);
    }
}

/// LLaMA's ids, where a file of SentencePiece says none.
TEST_F(GgufTokenizerTest, IdsThatSentencePieceHasWithout) {
  Json Settings;
  auto Text = read(pieces({"<unk>", "<s>", "</s>", "▁a", "▁", "a"},
                          {0, 0, 0, -1, -2, -3}, {2, 3, 3, 1, 1, 1})
                       .size("tokenizer.ggml.eos_token_id", UINT32_MAX),
                   &Settings);
  ASSERT_TRUE(Text) << Text.error().message();
  auto Made = Tokenizer::fromJson(*Text, "t");
  ASSERT_TRUE(Made) << Made.error().message();
  EXPECT_EQ(*Made->encode("ab", true), (std::vector<int32_t>{1, 3, 0}));
  EXPECT_EQ(Settings["bos_token_id"], 1);
  EXPECT_EQ(Settings["eos_token_id"], Json::array({2}));
  Settings = Json::object();
  ASSERT_TRUE(read(bytes({"a", "b", "c"}), &Settings));
  EXPECT_TRUE(Settings.empty());
}

/// Phi-3's tokens take the blanks behind them, but for three.
TEST_F(GgufTokenizerTest, BlanksBehindTokensOfPhi3) {
  for (bool IsPhi3 : {false, true}) {
    auto Text =
        read(pieces({"<unk>", "<s>", "</s>", "<|user|>", "<|endoftext|>", "▁",
                     "a", "<0x0A>"},
                    {0, 0, 0, 0, 0, -1, -2, 0}, {2, 3, 3, 3, 3, 1, 1, 6})
                 .text("general.architecture", IsPhi3 ? "phi3" : "llama")
                 .flag("tokenizer.ggml.add_bos_token", false)
                 .flag("tokenizer.ggml.add_space_prefix", false));
    ASSERT_TRUE(Text) << Text.error().message();
    auto Made = Tokenizer::fromJson(*Text, "t");
    ASSERT_TRUE(Made) << Made.error().message();
    using Ids = std::vector<int32_t>;
    EXPECT_EQ(*Made->encode("<|user|>\n a</s>\n", true),
              IsPhi3 ? (Ids{3, 6, 2}) : (Ids{3, 7, 5, 6, 2, 7}));
    EXPECT_EQ(*Made->encode("<|endoftext|>\n<s>\n", true), (Ids{4, 7, 1, 7}));
  }
}

/// Of two merges that exclude each other, the one of the higher score is made.
TEST_F(GgufTokenizerTest, HigherScoresMergeFirst) {
  for (bool LaterFirst : {false, true}) {
    float Ab = LaterFirst ? -2 : -1, Bc = LaterFirst ? -1 : -2;
    auto Text = read(pieces({"a", "b", "c", "ab", "bc"}, {-9, -9, -9, Ab, Bc},
                            {1, 1, 1, 1, 1})
                         .flag("tokenizer.ggml.add_space_prefix", false)
                         .flag("tokenizer.ggml.add_bos_token", false));
    ASSERT_TRUE(Text) << Text.error().message();
    auto Made = Tokenizer::fromJson(*Text, "t");
    ASSERT_TRUE(Made) << Made.error().message();
    EXPECT_EQ(*Made->encode("abc", true), LaterFirst
                                              ? (std::vector<int32_t>{0, 4})
                                              : (std::vector<int32_t>{3, 2}));
  }
}

TEST_F(GgufTokenizerTest, IdsOfEndsArePutTogether) {
  Json Settings = Json::object();
  auto Text = read(bytes({"a", "b", "c"})
                       .size("tokenizer.ggml.eos_token_id", 2)
                       .size("tokenizer.ggml.eot_token_id", 1)
                       .size("tokenizer.ggml.eom_token_id", 2)
                       .size("tokenizer.ggml.padding_token_id", 0)
                       .size("tokenizer.ggml.bos_token_id", UINT32_MAX),
                   &Settings);
  ASSERT_TRUE(Text) << Text.error().message();
  EXPECT_EQ(Settings["eos_token_id"], Json({2, 1}));
  EXPECT_EQ(Settings["pad_token_id"], 0);
  EXPECT_FALSE(Settings.contains("bos_token_id"));
}

TEST_F(GgufTokenizerTest, EndsAreKnownByTheirTexts) {
  auto Ends = [&](const Strings &Tokens, const std::vector<int32_t> &Types) {
    Json Settings = Json::object();
    auto Text = read(
        bytes(Tokens)
            .key("tokenizer.ggml.token_type", GgufType::Array, integers(Types))
            .size("tokenizer.ggml.eos_token_id", 0),
        &Settings);
    EXPECT_TRUE(Text) << Text.error().message();
    return Settings["eos_token_id"];
  };
  // Gemma, where files have the end of a turn as a common token; Phi-3; Llama.
  EXPECT_EQ(
      Ends({"<eos>", "<start_of_turn>", "<end_of_turn>", "</s>"}, {3, 3, 1, 4}),
      Json({0, 2}));
  EXPECT_EQ(Ends({"<|endoftext|>", "<|user|>", "<|end|>"}, {3, 3, 3}),
            Json({0, 2}));
  EXPECT_EQ(Ends({"<|end_of_text|>", "<|eom_id|>", "<|eot_id|>"}, {3, 3, 3}),
            Json({0, 2, 1}));
  EXPECT_EQ(Ends({"<|im_end|>", "</s>"}, {3, 3}), Json({0, 1}));
  // gpt-oss, whose messages end within a turn.
  EXPECT_EQ(Ends({"<|return|>", "<|end|>", "<|call|>", "<|endoftext|>"},
                 {3, 3, 3, 3}),
            Json({0, 3, 2}));
  // Padding of the vocabulary is none.
  EXPECT_EQ(Ends({"<eos>", "<end_of_turn>"}, {3, 5}), Json::array({0}));

  // It is found in texts whole, too.
  auto Text = read(bytes({"<", "<end_of_turn>"}));
  ASSERT_TRUE(Text) << Text.error().message();
  auto Made = Tokenizer::fromJson(*Text, "t");
  ASSERT_TRUE(Made) << Made.error().message();
  EXPECT_EQ(*Made->encode("<end_of_turn><", true),
            (std::vector<int32_t>{1, 0}));
}

TEST_F(GgufTokenizerTest, FilesWithoutTokens) {
  GgufBytes Nothing;
  EXPECT_EQ(*read(Nothing.text("general.name", "x")), "");
  GgufBytes None;
  EXPECT_EQ(*read(None.text("tokenizer.ggml.model", "none")), "");
}

TEST_F(GgufTokenizerTest, RefusesWhatItDoesNotKnow) {
  for (const char *Kind : {"bert", "t5", "rwkv", "plamo2", ""}) {
    GgufBytes B;
    expectError(B.text("tokenizer.ggml.model", Kind),
                "field 'tokenizer.ggml.model' is '" + std::string(Kind) +
                    "': expected gpt2, llama or none");
  }
  for (const char *Split : {"default", "chatglm-bpe", "", "gpt-2 phi-2", " "}) {
    GgufBytes B;
    B.text("tokenizer.ggml.model", "gpt2")
        .text("tokenizer.ggml.pre", Split)
        .key("tokenizer.ggml.tokens", GgufType::Array, strings({"a"}))
        .key("tokenizer.ggml.merges", GgufType::Array, strings({}));
    expectError(B, "field 'tokenizer.ggml.pre' is '" + std::string(Split) +
                       "': expected one of gpt-2, phi-2");
  }
  GgufBytes Absent;
  Absent.text("tokenizer.ggml.model", "gpt2")
      .key("tokenizer.ggml.tokens", GgufType::Array, strings({"a"}));
  expectError(Absent, "missing field 'tokenizer.ggml.pre'");
  expectError(bytes({"a"}).flag("tokenizer.ggml.add_sep_token", true),
              "field 'tokenizer.ggml.add_sep_token' is true");
  expectError(bytes({"a"}).key("tokenizer.ggml.precompiled_charsmap",
                               GgufType::Array,
                               GgufBytes::array<uint8_t>(GgufType::UInt8, {1})),
              "field 'tokenizer.ggml.precompiled_charsmap'");
}

TEST_F(GgufTokenizerTest, RefusesTokens) {
  expectError(bytes({}), "field 'tokenizer.ggml.tokens' is an array of 0");
  expectError(bytes({"a", "b", "a"}),
              "field 'tokenizer.ggml.tokens[2]' is 'a': expected another text "
              "than token 0 has");
  expectError(bytes({"a", "\xff"}),
              "field 'tokenizer.ggml.tokens[1]' is '\\xff': expected UTF-8");
  expectError(bytes({"\xed\xa0\x80"}), "expected UTF-8");
  expectError(bytes({"a"}, {"\xc0\x80"}),
              "field 'tokenizer.ggml.merges[0]' is '\\xc0\\x80'");
  expectError(bytes({"a"}).key("tokenizer.ggml.token_type", GgufType::Array,
                               integers({1, 1})),
              "expected 1 numbers, one a token");
  for (int32_t Type : {-1, 7, INT32_MAX})
    expectError(bytes({"a"}).key("tokenizer.ggml.token_type", GgufType::Array,
                                 integers({Type})),
                "field 'tokenizer.ggml.token_type[0]' is " +
                    std::to_string(Type) + ": expected 0 to 6");
  expectError(bytes({"a", "b"}).size("tokenizer.ggml.eos_token_id", 2),
              "field 'tokenizer.ggml.eos_token_id' is 2: expected an id below "
              "2, the number of tokens");
  expectError(bytes({"a"}).text("tokenizer.ggml.bos_token_id", "a"),
              "field 'tokenizer.ggml.bos_token_id' is 'a'");
  for (const char *Byte : {"<0xG0>", "<0x0>", "<0x000>", "<0x-1>", "0x00"})
    expectError(pieces({Byte}, {0}, {6}),
                "field 'tokenizer.ggml.tokens[0]' is '" + std::string(Byte) +
                    "': expected a byte token");
  expectError(pieces({"a"}, {0, 1}, {1}),
              "field 'tokenizer.ggml.scores' is an array of 2");
  GgufBytes Unscored;
  expectError(
      Unscored.text("tokenizer.ggml.model", "llama")
          .key("tokenizer.ggml.tokens", GgufType::Array, strings({"a"})),
      "missing field 'tokenizer.ggml.scores'");
  expectError(pieces({"a"}, {std::numeric_limits<float>::quiet_NaN()}, {1}),
              "field 'tokenizer.ggml.scores[0]' is nan");
  expectError(pieces({std::string(600, 'x')}, {0}, {1}),
              "expected at most 512 bytes");
}

} // namespace
