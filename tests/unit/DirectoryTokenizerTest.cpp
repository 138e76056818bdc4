//===- DirectoryTokenizerTest.cpp - Tokenizers without tokenizer.json -----===//
//
// Against tests/tokenizers/directories: what Transformers' fast tokenizers make
// of the corpus.
//
//===----------------------------------------------------------------------===//

#include "compiler/Checkpoint/DirectoryTokenizer.h"
#include "CheckpointFixture.h"
#include "compiler/Checkpoint/SentencePieceModel.h"
#include "runtime/Support/InputFile.h"
#include "tests/unit/TokenizerTestFiles.h"

#include <filesystem>
#include <fstream>

using namespace tenon;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> directories() {
  std::vector<std::string> Names;
  for (const auto &Entry : fs::directory_iterator(dataPath("directories")))
    Names.push_back(Entry.path().filename());
  std::sort(Names.begin(), Names.end());
  return Names;
}

class DirectoryTokenizerCorpus : public testing::TestWithParam<std::string> {};

TEST_P(DirectoryTokenizerCorpus, IdsAndTextOfTransformers) {
  const std::string Directory = dataPath("directories/" + GetParam());
  std::string ModelType;
  if (auto Config = readJsonFile(Directory + "/config.json"))
    ModelType = (*Config)["model_type"];
  std::vector<std::string> Notes;
  auto Text = readDirectoryTokenizer(Directory, ModelType, Notes);
  ASSERT_TRUE(Text) << Text.error().message();
  ASSERT_EQ(Notes, std::vector<std::string>());
  auto T = Tokenizer::fromJson(*Text, Directory);
  ASSERT_TRUE(T) << T.error().message();

  auto Lines = readJsonFile(dataPath("corpus.json"));
  ASSERT_TRUE(Lines) << Lines.error().message();
  std::ifstream Expected(Directory + "/expected.txt");
  std::string Row;
  size_t Count = 0;
  // As lines_of() of directories.py takes them.
  constexpr size_t Trained = 5050, Step = 5;
  for (size_t I = 0; I < Lines->size(); I += I < Trained ? Step : 1) {
    ASSERT_TRUE(std::getline(Expected, Row)) << "line " << I;
    auto Numbers = T->encode((*Lines)[I].get_ref<const std::string &>());
    ASSERT_TRUE(Numbers) << Numbers.error().message();
    ASSERT_EQ(hashOf(*Numbers), Row.substr(0, 6))
        << "ids of line " << I << " " << (*Lines)[I] << ": "
        << joined(*Numbers);
    ASSERT_EQ(hashOf(T->decode(*Numbers)), Row.substr(6))
        << "text of line " << I << " " << (*Lines)[I] << ": "
        << Json(T->decode(*Numbers));
    ++Count;
  }
  EXPECT_FALSE(std::getline(Expected, Row));
  EXPECT_EQ(Count, 1410u);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, DirectoryTokenizerCorpus,
                         testing::ValuesIn(directories()),
                         [](const auto &Info) { return Info.param; });

//===----------------------------------------------------------------------===//
// Models of SentencePiece
//===----------------------------------------------------------------------===//

std::string varint(uint64_t Value) {
  std::string Bytes;
  for (; Value >= 128; Value >>= 7)
    Bytes += static_cast<char>(Value | 128);
  return Bytes + static_cast<char>(Value);
}

std::string number(uint64_t Field, uint64_t Value) {
  return varint(Field << 3) + varint(Value);
}

std::string text(uint64_t Field, const std::string &Value) {
  return varint(Field << 3 | 2) + varint(Value.size()) + Value;
}

std::string score(float Value) {
  return varint(2 << 3 | 5) + rawBytes<float>({Value});
}

std::string piece(const std::string &Text, uint64_t Type = 1) {
  return text(1, text(1, Text) + score(-1) + number(3, Type));
}

TEST(SentencePieceTest, ReadsFields) {
  // Fields that are not needed: one of each type, and in each message.
  std::string Other = number(100, 1) + text(101, "x") + varint(102 << 3 | 1) +
                      std::string(8, 'x') + varint(103 << 3 | 5) +
                      std::string(4, 'x');
  auto Model = SentencePieceModel::parse(
      piece("<unk>", 2) + Other +
          text(1, Other + text(1, "été") + score(-2.5f) + Other) +
          text(2, Other + number(3, 2) + number(40, 1)) +
          text(3, text(1, "nfkc") + text(2, "map") + Other),
      "m.model");
  ASSERT_TRUE(Model) << Model.error().message();
  EXPECT_EQ(Model->Kind, SentencePieceModel::BytePairs);
  EXPECT_EQ(Model->UnknownId, 1);
  EXPECT_EQ(Model->CharacterMap, "map");
  ASSERT_EQ(Model->Pieces.size(), 2u);
  EXPECT_EQ(Model->Pieces[0].Type, SentencePieceModel::Unknown);
  EXPECT_EQ(Model->Pieces[1].Text, "été");
  EXPECT_EQ(Model->Pieces[1].Score, -2.5f);
  EXPECT_EQ(Model->Pieces[1].Type, SentencePieceModel::Normal);
}

TEST(SentencePieceTest, RefusesDamage) {
  auto Expect = [](const std::string &Bytes, const std::string &Text) {
    EXPECT_ERROR(SentencePieceModel::parse(Bytes, "m.model"),
                 "m.model: ", Text);
  };
  const std::string Good = piece("a");
  Expect("", "field 'pieces' is empty");
  Expect(Good + "\x08", "byte 13: is the end: expected the rest of a number");
  Expect(Good + "\x08" + std::string(10, '\xff'),
         "a number of more than 10 bytes");
  Expect(Good + "\x0a\x05"
                "abc",
         "byte 14: is a field of 5 bytes: expected at most 3");
  Expect(Good + "\x0a" + std::string(9, '\xff') + "\x01", "expected at most 0");
  Expect(Good + "\x0b", "wire type 3");
  Expect(Good + "\x0c", "wire type 4");
  Expect(Good + "\x0d"
                "abc",
         "is the end: expected 4 bytes");
  Expect(Good + "\x09"
                "abcdefg",
         "is the end: expected 8 bytes");
  Expect(Good + std::string("\x02\x00", 2), "a field with the number 0");
  Expect(text(1, ""), "'pieces[0].piece' is '': expected UTF-8");
  Expect(piece("\xff"), "'pieces[0].piece' is '\\xff'");
  Expect(Good + piece("a"), "'pieces[1]' is 'a': expected each piece once");
  Expect(Good + piece("b", 0), "'pieces[1].type' is 0: expected 1 to 6");
  Expect(Good + piece("b", 7), "'pieces[1].type' is 7");
  Expect(Good + number(1, 1), "'pieces[1]' is a number: expected a message");
  Expect(text(1, number(1, 1)), "'pieces[0].piece' is a number");
  Expect(text(1, text(1, "a") + number(2, 1)), "'pieces[0].score' is of");
  Expect(text(1, text(1, "a") + text(3, "x")), "'pieces[0].type' is of");
  for (float Bad : {std::numeric_limits<float>::infinity(),
                    std::numeric_limits<float>::quiet_NaN()})
    Expect(text(1, text(1, "a") + score(Bad)), "'pieces[0].score' is not");
  Expect(Good + number(2, 1), "'trainer_spec' is a number");
  Expect(Good + text(2, number(3, 9)), "'trainer_spec.model_type' is 9");
  Expect(Good + text(2, number(40, 1)), "'trainer_spec.unk_id' is 1");
  Expect(Good + text(2, number(40, ~uint64_t{0})),
         "'trainer_spec.unk_id' is -1");
  Expect(Good + text(3, number(2, 1)),
         "'normalizer_spec.precompiled_charsmap' is a number");
}

/// What is left of a file, or has a byte changed, is read or named.
TEST(SentencePieceTest, DamagedFiles) {
  auto Whole = readFile(dataPath("directories/t5/spiece.model"), 1 << 20);
  ASSERT_TRUE(Whole) << Whole.error().message();
  size_t Refused = 0;
  auto Try = [&](const std::string &Bytes) {
    auto Model = SentencePieceModel::parse(Bytes, "m.model");
    if (Model)
      return;
    ++Refused;
    ASSERT_EQ(Model.error().message().find("m.model: "), 0u);
    ASSERT_EQ(Model.error().kind(), ErrorKind::DamagedFile);
    ASSERT_EQ(Model.error().message().find('\n'), std::string::npos);
  };
  for (size_t I = 0; I < Whole->size(); I += 41) {
    Try(Whole->substr(0, I));
    std::string Changed = *Whole;
    Changed[I] = static_cast<char>(Changed[I] ^ 0x80);
    Try(Changed);
  }
  EXPECT_GT(Refused, 100u);
}

//===----------------------------------------------------------------------===//
// Directories
//===----------------------------------------------------------------------===//

class DirectoryTokenizerTest : public TemporaryFiles {
protected:
  void SetUp() override {
    TemporaryFiles::SetUp();
    write("config.json", "{}");
  }
  Result<std::string> read(std::string_view ModelType = "") {
    Notes.clear();
    return readDirectoryTokenizer(Directory, ModelType, Notes);
  }
  /// No tokenizer, and a note with this text.
  void expectNote(const std::string &Text, std::string_view ModelType = "") {
    auto Made = read(ModelType);
    ASSERT_TRUE(Made) << Made.error().message();
    EXPECT_EQ(*Made, "");
    ASSERT_EQ(Notes.size(), 1u);
    EXPECT_EQ(Notes[0].find(Directory + ": has no tokenizer.json"), 0u);
    EXPECT_NE(Notes[0].find(Text), std::string::npos) << Notes[0];
  }
  void expectError(const std::string &File, const std::string &Text,
                   std::string_view ModelType) {
    EXPECT_ERROR(read(ModelType), pathOf(File) + ": ", Text);
    EXPECT_EQ(read(ModelType).error().kind(), ErrorKind::DamagedFile);
  }
  void writeWords() {
    write("vocab.json", R"({"a": 0, "b": 1, "ab": 2})");
    write("merges.txt", "#version: 0.2\na b\n");
  }

  std::vector<std::string> Notes;
};

TEST_F(DirectoryTokenizerTest, SaysWhyThereIsNone) {
  // Nothing looks like a tokenizer.
  auto Made = read("llama");
  ASSERT_TRUE(Made);
  EXPECT_EQ(*Made, "");
  EXPECT_TRUE(Notes.empty());

  writeWords();
  expectNote("no tokenizer_class is named: expected one of LlamaTokenizer, ");
  expectNote("(vocab.json, merges.txt): its class is LlamaTokenizer: expected "
             "tokenizer.model: the artifact will take token ids",
             "llama");
  expectNote("its class is T5Tokenizer: expected tokenizer.model, or "
             "spiece.model",
             "t5");
  write("tokenizer_config.json", R"({"tokenizer_class": "OddTokenizerFast"})");
  expectNote("tokenizer_class is 'OddTokenizer': expected one of", "gpt2");
  write(
      "tokenizer_config.json",
      R"({"tokenizer_class": "GPT2Tokenizer", "split_special_tokens": true})");
  expectNote("split_special_tokens is true: expected false");

  // A model of another kind than its class reads.
  write("tokenizer_config.json", "{}");
  write("tokenizer.model", piece("<unk>", 2) + piece("a"));
  expectNote("'trainer_spec.model_type' is unigram: expected bpe", "llama");
  expectNote("'trainer_spec.unk_id' is 0: expected 2", "t5");
  // tiktoken's files can have the same name.
  write("tokenizer.model", "IQ== 0\nIg== 1\n");
  expectNote("tokenizer.model: is a file of tiktoken", "llama");
  expectNote("tokenizer.model: is a file of tiktoken", "t5");
  write("source.spm", piece("a"));
  expectNote("its class is MarianTokenizer: it numbers the pieces", "marian");
  EXPECT_TRUE(Notes[0].ends_with("no text")) << Notes[0];
}

TEST_F(DirectoryTokenizerTest, NamesDamage) {
  writeWords();
  auto Made = read("gpt2");
  ASSERT_TRUE(Made) << Made.error().message();
  EXPECT_TRUE(Tokenizer::fromJson(*Made, "made"));
  for (auto [Text, Expected] :
       {std::pair("[]", "expected an object of tokens"),
        {"1", "expected an object of tokens"},
        {R"({"a": {}})", "expected an object of tokens"},
        {R"({"a": -1})", "'a' is -1"},
        {R"({"a": "b"})", "'a' is 'b'"},
        {R"({"a": 0)", "invalid JSON"}}) {
    write("vocab.json", Text);
    expectError("vocab.json", Expected, "gpt2");
  }
  writeWords();
  for (const char *Line : {"ab", "a b c", "", "a \xff"}) {
    write("merges.txt", std::string("a b\n") + Line + "\n");
    expectError("merges.txt", "line 2 is ", "gpt2");
  }
  write("vocab.txt", "[UNK]\n\xff\n");
  expectError("vocab.txt", "line 2 is '\\xff': expected UTF-8", "bert");
  write("tokenizer.model", "\xff");
  expectError("tokenizer.model", "byte 0: is the end", "llama");
  for (const char *NoTiktoken : {"IQ== \n", " 0\n", "I?== 0\n", "IQ== 0x\n"}) {
    write("tokenizer.model", NoTiktoken);
    expectError("tokenizer.model", "in a model of SentencePiece", "llama");
  }
  write("tokenizer.model",
        text(2, number(3, 2)) + piece("<unk>") + piece(std::string(257, 'a')));
  expectError("tokenizer.model", "at most 256 bytes", "llama");
}

TEST_F(DirectoryTokenizerTest, NamesWrongSettings) {
  writeWords();
  auto Expect = [&](const std::string &Settings, const std::string &Text) {
    write("tokenizer_config.json", Settings);
    expectError("tokenizer_config.json", Text, "gpt2");
  };
  Expect("[]", "expected a JSON object");
  Expect(R"({"tokenizer_class": 1})", "'tokenizer_class' is 1");
  Expect(R"({"add_bos_token": "yes"})", "'add_bos_token' is 'yes'");
  Expect(R"({"add_prefix_space": 1})", "'add_prefix_space' is 1");
  Expect(R"({"eos_token": 1})", "'eos_token' is 1: expected a token");
  Expect(R"({"eos_token": {"lstrip": true}})", "'eos_token.content'");
  Expect(R"({"eos_token": {"content": "a", "lstrip": 1}})",
         "'eos_token.lstrip' is 1");
  Expect(R"({"additional_special_tokens": "a"})",
         "'additional_special_tokens' is 'a'");
  Expect(R"({"additional_special_tokens": [1]})",
         "'additional_special_tokens[0]' is 1");
  Expect(R"({"added_tokens_decoder": []})",
         "'added_tokens_decoder' is an array");
  Expect(R"({"added_tokens_decoder": {"x": {"content": "a"}}})",
         "has the key 'x': expected an id");
  write("tokenizer_config.json", R"({"tokenizer_class": "RobertaTokenizer",
                                     "cls_token": null})");
  expectError("tokenizer_config.json", "'cls_token' is null or empty", "");
  write("tokenizer_config.json", R"({"bos_token": "", "eos_token": null,
                                     "unk_token": "", "add_bos_token": true,
                                     "add_eos_token": true})");
  auto Made = read("gpt2");
  ASSERT_TRUE(Made) << Made.error().message();
  auto T = Tokenizer::fromJson(*Made, "made");
  ASSERT_TRUE(T) << T.error().message();
  EXPECT_EQ(*T->encode("ab"), Ids{2});
  write("tokenizer_config.json", "{}");
  write("added_tokens.json", R"({"a": -1})");
  expectError("added_tokens.json", "'a' is -1", "gpt2");
  write("added_tokens.json", "{}");
  write("special_tokens_map.json", R"({"eos_token": 1})");
  expectError("special_tokens_map.json", "'eos_token' is 1", "gpt2");
}

} // namespace
