//===- TokenizerTest.cpp - Whole tokenizers against the reference ---------===//

#include "tests/unit/TokenizerTestFiles.h"

#include "runtime/Tokenizer/TokenizeCommand.h"
#include "runtime/Tokenizer/Unicode.h"

#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>

using namespace tenon;
using namespace tenon::tokenizer;

namespace {

constexpr const char *Kinds[] = {
    "gpt2",        "roberta",  "llama3", "qwen3",       "minilm",
    "odd",         "gpt_neox", "bloom",  "falcon",      "starcoder2",
    "phi4",        "gpt_oss",  "tekken", "deepseek_v2", "deepseek_v3",
    "llama2",      "mistral",  "gemma",  "t5",          "xlm_roberta",
    "odd_unigram", "odd_words"};

/// The corpus against the hashes of the reference.
class TokenizerCorpus : public testing::TestWithParam<const char *> {};

TEST_P(TokenizerCorpus, IdsAndTextOfReference) {
  std::string Name = GetParam();
  Result<Json> Lines = readJsonFile(dataPath("corpus.json"));
  ASSERT_TRUE(Lines) << Lines.error().message();
  ASSERT_GE(Lines->size(), 5000u);
  Result<Tokenizer> T = Tokenizer::fromFile(dataPath(Name + ".json"));
  ASSERT_TRUE(T) << T.error().message();
  std::ifstream Expected(dataPath(Name + ".txt"));
  for (size_t I = 0; I < Lines->size(); ++I) {
    std::string Row;
    ASSERT_TRUE(std::getline(Expected, Row)) << "line " << I;
    const std::string &Line = (*Lines)[I].get_ref<const std::string &>();
    Result<Ids> Numbers = T->encode(Line);
    ASSERT_TRUE(Numbers) << Numbers.error().message();
    ASSERT_EQ(hashOf(*Numbers), Row.substr(0, 6))
        << "ids of line " << I << " " << (*Lines)[I] << ": "
        << joined(*Numbers);
    std::string Text = T->decode(*Numbers);
    ASSERT_EQ(hashOf(Text), Row.substr(6))
        << "text of line " << I << " " << (*Lines)[I] << ": " << Json(Text);

    StreamingDecoder Stream(*T);
    std::string Streamed;
    for (int32_t Id : *Numbers) {
      std::string Part = Stream.push(Id);
      ASSERT_FALSE(findInvalidUtf8(Part)) << "line " << I;
      Streamed += Part;
    }
    ASSERT_EQ(Streamed + Stream.finish(), Text) << "line " << I;
  }
}

/// A quarter of a megabyte of one character: quadratic work would take minutes,
/// patterns that backtrack would answer with an error.
TEST_P(TokenizerCorpus, LongTexts) {
  Result<Tokenizer> T =
      Tokenizer::fromFile(dataPath(GetParam() + std::string(".json")));
  ASSERT_TRUE(T) << T.error().message();
  for (const char *Unit : {"a", "A", " ", "\n", "1", "'", "\u2581", "\u0301",
                           "水", "a ", "\r\n", "A.", "\u0316\u0301"}) {
    std::string Text = "a";
    while (Text.size() < 1 << 18)
      Text += Unit;
    Result<Ids> Numbers = T->encode(Text, true, SIZE_MAX);
    ASSERT_TRUE(Numbers) << Json(Unit) << Numbers.error().message();
    EXPECT_FALSE(findInvalidUtf8(T->decode(*Numbers)));
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, TokenizerCorpus, testing::ValuesIn(Kinds),
                         [](const auto &Info) { return Info.param; });

TEST(TokenizerTest, KnownIds) {
  Result<Tokenizer> T = Tokenizer::fromFile(dataPath("minilm.json"));
  ASSERT_TRUE(T) << T.error().message();
  EXPECT_EQ(T->vocabularySize(), 30522u);
  EXPECT_EQ(T->idOf("[CLS]"), 101);
  EXPECT_EQ(T->idOf("hello"), 7592);
  EXPECT_EQ(T->idOf("no such token"), std::nullopt);
  EXPECT_EQ(*T->encode("Hello, world!"),
            (Ids{101, 7592, 1010, 2088, 999, 102}));
  EXPECT_EQ(*T->encode("Hello, world!", false), (Ids{7592, 1010, 2088, 999}));
  EXPECT_EQ(T->decode(*T->encode("Hello, world!")), "hello, world!");
  EXPECT_EQ(T->decode(*T->encode("Hello, world!"), false),
            "[CLS] hello, world! [SEP]");
}

TEST(TokenizerTest, DecodeSkipsUnknownIds) {
  Result<Tokenizer> T = Tokenizer::fromFile(dataPath("minilm.json"));
  ASSERT_TRUE(T);
  EXPECT_EQ(T->decode(Ids{-1, 7592, 30522, INT32_MAX, INT32_MIN, 2088}),
            "hello world");
  EXPECT_EQ(T->decode(Ids{}), "");
}

TEST(TokenizerTest, CheckIds) {
  Result<Tokenizer> T = Tokenizer::fromFile(dataPath("minilm.json"));
  ASSERT_TRUE(T);
  EXPECT_TRUE(T->checkIds(Ids{}));
  EXPECT_TRUE(T->checkIds(Ids{0, 101, 30521}));
  for (int32_t Bad : {-1, 30522, INT32_MAX}) {
    Status Good = T->checkIds(Ids{7592, Bad, 99999});
    ASSERT_FALSE(Good);
    EXPECT_EQ(Good.error().message(),
              "token id " + std::to_string(Bad) +
                  " is no token: expected one of the vocabulary's 30522");
  }
}

TEST(TokenizerTest, Truncation) {
  Result<Tokenizer> T = Tokenizer::fromFile(dataPath("minilm.json"));
  ASSERT_TRUE(T);
  std::string Long;
  for (int I = 0; I < 300; ++I)
    Long += "hello ";
  EXPECT_EQ(T->encode(Long)->size(), 128u);
  EXPECT_EQ(T->encode(Long)->back(), 102);
  EXPECT_EQ(T->encode(Long, false)->size(), 128u);
  EXPECT_EQ(T->encode(Long, true, 256)->size(), 256u);
  EXPECT_EQ(T->encode(Long, true, SIZE_MAX)->size(), 302u);
  EXPECT_EQ(*T->encode(Long, true, 2), (Ids{101, 102}));
  EXPECT_FALSE(T->encode(Long, true, 1));
  EXPECT_EQ(pieces(file({{"truncation", R"({"direction":"Left","max_length":3,
                    "strategy":"LongestFirst","stride":0})"}}),
                   "abcdef"),
            "ef|");
}

TEST(TokenizerTest, InvalidText) {
  Result<Tokenizer> T = Tokenizer::fromJson(file(), "t.json");
  ASSERT_TRUE(T);
  for (const char *Bytes : {"ab\xff", "ab\xc3", "ab\xc0\x80", "ab\xed\xa0\x80",
                            "ab\xf4\x90\x80\x80", "ab\xe2\x82", "ab\x80",
                            "ab\xe0\x80\x80", "ab\xf0\x80\x80\x80"}) {
    Result<Ids> Numbers = T->encode(Bytes);
    ASSERT_FALSE(Numbers) << Json(Bytes);
    EXPECT_NE(Numbers.error().message().find("byte 2"), std::string::npos)
        << Numbers.error().message();
  }
  EXPECT_TRUE(T->encode("a\xf4\x8f\xbf\xbf\xed\x9f\xbf\xee\x80\x80"));
  EXPECT_TRUE(T->encode(std::string_view("\0", 1)));
  EXPECT_EQ(T->encode("")->size(), 0u);
}

TEST(TokenizerTest, StreamingHoldsBackPartsOfCharacters) {
  Result<Tokenizer> T = Tokenizer::fromFile(dataPath("gpt2.json"));
  ASSERT_TRUE(T);
  // The bytes f0 9f 8d 8e of an apple, one token each.
  Ids Bytes;
  for (const char *Spelled : {"ð", "Ł", "į", "İ"})
    Bytes.push_back(T->idOf(Spelled).value_or(-1));
  StreamingDecoder Stream(*T);
  for (size_t I = 0; I < 3; ++I)
    EXPECT_EQ(Stream.push(Bytes[I]), "");
  EXPECT_EQ(Stream.push(Bytes[3]), "🍎");
  EXPECT_EQ(Stream.finish(), "");
  // Without its end it is replaced, once; then the next text starts afresh.
  EXPECT_EQ(Stream.push(Bytes[0]), "");
  EXPECT_EQ(Stream.push(Bytes[1]), "");
  EXPECT_EQ(Stream.push(*T->idOf("a")), "\ufffda");
  EXPECT_EQ(Stream.push(Bytes[0]), "");
  EXPECT_EQ(Stream.finish(), "\ufffd");
  EXPECT_EQ(Stream.push(*T->idOf("a")), "a");
}

TEST(TokenizerTest, SeveralThreads) {
  Result<Tokenizer> T = Tokenizer::fromFile(dataPath("llama3.json"));
  ASSERT_TRUE(T);
  std::string Text;
  for (int I = 0; I < 200; ++I)
    Text += "The miller's " + std::to_string(I * 7919) + " воды 水\n";
  Ids Alone = *T->encode(Text);
  std::vector<std::thread> Threads;
  std::vector<Ids> Answers(4);
  for (Ids &Answer : Answers)
    Threads.emplace_back([&] { Answer = *T->encode(Text); });
  for (std::thread &Thread : Threads)
    Thread.join();
  for (const Ids &Answer : Answers)
    EXPECT_EQ(Answer, Alone);
}

TEST(TokenizeCommandTest, TextLinesAndDecode) {
  Result<Tokenizer> T = Tokenizer::fromFile(dataPath("minilm.json"));
  ASSERT_TRUE(T);
  std::string Out = "old";
  TokenizeOptions Options;
  Options.Text = "Hello, world!";
  ASSERT_TRUE(runTokenize(*T, Options, Out));
  EXPECT_EQ(Out, "101,7592,1010,2088,999,102\n");
  Options.AddSpecialTokens = false;
  Options.Text = "";
  ASSERT_TRUE(runTokenize(*T, Options, Out));
  EXPECT_EQ(Out, "\n");
  Options.Text.reset();
  Options.Decode = {101, 7592, 1010, 2088, 999, 102};
  ASSERT_TRUE(runTokenize(*T, Options, Out));
  EXPECT_EQ(Out, "hello, world!\n");

  std::string Path = testing::TempDir() + "tokenize-lines-XXXXXX";
  int Descriptor = ::mkstemp(Path.data());
  ASSERT_GE(Descriptor, 0);
  auto Write = [&](const char *Text) { std::ofstream(Path) << Text; };
  Options.JsonLinesFile = Path;
  Write(R"(["Hello", "", "world!"])");
  ASSERT_TRUE(runTokenize(*T, Options, Out));
  EXPECT_EQ(Out, "[[7592],[],[2088,999]]\n");
  Write("[]");
  ASSERT_TRUE(runTokenize(*T, Options, Out));
  EXPECT_EQ(Out, "[]\n");
  for (const char *Bad : {R"({"a":1})", R"(["a", 3])", "[", "\"a\""}) {
    Write(Bad);
    Status Done = runTokenize(*T, Options, Out);
    ASSERT_FALSE(Done) << Bad;
    EXPECT_NE(Done.error().message().find(Path), std::string::npos);
  }
  std::remove(Path.c_str());
}

} // namespace
