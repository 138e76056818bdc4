//===- TokenizerTest.cpp - tokenizer.json, its steps and bad files --------===//

#include "runtime/Tokenizer/Tokenizer.h"

#include "runtime/Support/Json.h"
#include "runtime/Tokenizer/Regex.h"
#include "runtime/Tokenizer/TokenizeCommand.h"
#include "runtime/Tokenizer/Unicode.h"

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <thread>

using namespace tenon;

namespace {

using Ids = std::vector<int32_t>;

std::string dataPath(const std::string &Name) {
  return std::string(TENON_TEST_DATA) + "/tokenizers/" + Name;
}

/// FNV-1a with its high byte folded into the rest, as generate.py does.
class Hash {
public:
  void add(unsigned char Byte) { Value = (Value ^ Byte) * 0x01000193u; }
  std::string text() const {
    char Text[8];
    std::snprintf(Text, sizeof(Text), "%06x",
                  (Value >> 24) ^ (Value & 0xffffffu));
    return Text;
  }

private:
  uint32_t Value = 0x811c9dc5u;
};

std::string hashOf(const Ids &Numbers) {
  Hash H;
  for (int32_t Id : Numbers)
    for (int Shift = 0; Shift < 32; Shift += 8)
      H.add(static_cast<unsigned char>(static_cast<uint32_t>(Id) >> Shift));
  return H.text();
}

std::string hashOf(const std::string &Text) {
  Hash H;
  for (char C : Text)
    H.add(static_cast<unsigned char>(C));
  return H.text();
}

std::string joined(const Ids &Numbers) {
  std::string Text;
  for (int32_t Id : Numbers)
    Text += std::to_string(Id) + " ";
  return Text;
}

/// A whole tokenizer.json: byte tokens 0 to 255 that spell every text, with "|"
/// after each piece, and the given parts instead of the usual ones.
std::string
file(std::initializer_list<std::pair<std::string, std::string>> Parts = {}) {
  Json Root = {{"version", "1.0"},          {"truncation", nullptr},
               {"padding", nullptr},        {"added_tokens", Json::array()},
               {"normalizer", nullptr},     {"pre_tokenizer", nullptr},
               {"post_processor", nullptr}, {"decoder", nullptr}};
  Json Tokens = Json::object();
  for (int Byte = 0; Byte < 256; ++Byte) {
    char Name[8];
    std::snprintf(Name, sizeof(Name), "<0x%02X>", Byte);
    Tokens[Name] = Byte;
  }
  Root["model"] = {{"type", "BPE"},
                   {"dropout", nullptr},
                   {"unk_token", nullptr},
                   {"continuing_subword_prefix", nullptr},
                   {"end_of_word_suffix", "|"},
                   {"fuse_unk", false},
                   {"byte_fallback", true},
                   {"vocab", Tokens},
                   {"merges", Json::array()}};
  for (const auto &[Key, Text] : Parts)
    Root[Key] = Json::parse(Text);
  return Root.dump();
}

/// The pieces of `Text`, normalized, each with "|" behind it; added tokens as
/// "<ID>"; or the error.
std::string pieces(const std::string &File, std::string_view Text,
                   bool AddSpecialTokens = true) {
  Result<Tokenizer> T = Tokenizer::fromJson(File, "t.json");
  if (!T)
    return T.error().message();
  Result<Ids> Numbers = T->encode(Text, AddSpecialTokens);
  if (!Numbers)
    return Numbers.error().message();
  std::string Out;
  for (int32_t Id : *Numbers)
    if (Id < 256)
      Out += static_cast<char>(Id);
    else
      Out += "<" + std::to_string(Id) + ">";
  return Out;
}

std::string normalized(const std::string &Normalizer, std::string_view Text) {
  std::string Out = pieces(file({{"normalizer", Normalizer}}), Text);
  return Out.ends_with('|') ? Out.substr(0, Out.size() - 1) : Out;
}

std::string splitBy(const std::string &PreTokenizer, std::string_view Text) {
  return pieces(file({{"pre_tokenizer", PreTokenizer}}), Text);
}

/// A byte-pair model of a small vocabulary, other members as given.
std::string pairFile(const std::string &Vocabulary, const std::string &Merges,
                     const std::string &Options = "") {
  return file({{"model", R"({"type":"BPE","vocab":)" + Vocabulary +
                             R"(,"merges":)" + Merges + Options + "}"}});
}

std::string encoded(const std::string &File, std::string_view Text) {
  Result<Tokenizer> T = Tokenizer::fromJson(File, "t.json");
  if (!T)
    return T.error().message();
  Result<Ids> Numbers = T->encode(Text);
  return Numbers ? joined(*Numbers) : Numbers.error().message();
}

std::string decoded(const std::string &Vocabulary, const std::string &Decoder,
                    const Ids &Numbers) {
  Result<Tokenizer> T = Tokenizer::fromJson(
      file({{"model",
             R"({"type":"BPE","merges":[],"vocab":)" + Vocabulary + "}"},
            {"decoder", Decoder}}),
      "t.json");
  return T ? T->decode(Numbers) : T.error().message();
}

/// An error that is one line and holds these texts.
void expectError(const std::string &File,
                 std::initializer_list<std::string_view> Parts) {
  Result<Tokenizer> T = Tokenizer::fromJson(File, "t.json");
  ASSERT_FALSE(T);
  const std::string &Message = T.error().message();
  EXPECT_EQ(Message.find('\n'), std::string::npos) << Message;
  EXPECT_TRUE(Message.starts_with("t.json: ")) << Message;
  for (std::string_view Part : Parts)
    EXPECT_NE(Message.find(Part), std::string::npos) << Message;
}

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

INSTANTIATE_TEST_SUITE_P(Fixtures, TokenizerCorpus,
                         testing::Values("gpt2", "roberta", "llama3", "qwen3",
                                         "minilm", "odd"),
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

TEST(TokenizerTest, LongTextTakesLinearTime) {
  // One piece of a megabyte, spaces without end, marks out of order: quadratic
  // work would take minutes.
  auto Start = std::chrono::steady_clock::now();
  for (const char *Name : {"llama3.json", "qwen3.json", "minilm.json"}) {
    Result<Tokenizer> T = Tokenizer::fromFile(dataPath(Name));
    ASSERT_TRUE(T);
    std::string Marks = "a";
    for (int I = 0; I < 100000; ++I)
      Marks += I % 2 ? "\u0301" : "\u0316";
    for (const std::string &Text :
         {std::string(1 << 20, 'a'), std::string(1 << 20, ' '),
          std::string(1 << 20, '\n'), std::string(1 << 20, '1'), Marks})
      EXPECT_TRUE(T->encode(Text)) << Name;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - Start, std::chrono::seconds(60));
}

TEST(TokenizerTest, Normalizers) {
  EXPECT_EQ(normalized(R"({"type":"NFC"})", "e\u0301 \u1100\u1161"), "é 가");
  EXPECT_EQ(normalized(R"({"type":"NFD"})", "é가"), "e\u0301\u1100\u1161");
  EXPECT_EQ(normalized(R"({"type":"NFKC"})", "ﬁ①"), "fi1");
  EXPECT_EQ(normalized(R"({"type":"NFKD"})", "ﬃé"), "ffie\u0301");
  // Marks of different classes change places; equal ones do not.
  EXPECT_EQ(normalized(R"({"type":"NFC"})", "q\u0307\u0323\u0304"),
            "q\u0323\u0307\u0304");
  // Newer than the reference's Unicode: left alone.
  EXPECT_EQ(normalized(R"({"type":"NFKC"})", "㋿"), "㋿");
  EXPECT_EQ(normalized(R"({"type":"Lowercase"})", "AÉİΣ"), "aéi\u0307σ");
  EXPECT_EQ(normalized(R"({"type":"StripAccents"})", "e\u0301é"), "eé");
  const char *Strip = R"({"type":"Strip","strip_left":true,"strip_right":)";
  EXPECT_EQ(normalized(Strip + std::string("false}"), " \u3000a \n"), "a \n");
  EXPECT_EQ(normalized(Strip + std::string("true}"), " \u3000a \n"), "a");
  EXPECT_EQ(normalized(Strip + std::string("true}"), " \u3000 \n"), "");
  EXPECT_EQ(normalized(R"({"type":"Replace","pattern":{"String":"aa"},
                           "content":"b"})",
                       "aaa a"),
            "ba a");
  EXPECT_EQ(normalized(R"({"type":"Replace","pattern":{"Regex":"\\s{2,}"},
                           "content":"_"})",
                       "a  b c   "),
            "a_b c_");
  // Empty matches count, but not right behind another match.
  EXPECT_EQ(normalized(R"({"type":"Replace","pattern":{"Regex":"a*"},
                           "content":"#"})",
                       "baac"),
            "#b#c#");
  // Letters of Unicode 15 and 16, and no letter of 15.
  EXPECT_EQ(normalized(R"({"type":"Replace","pattern":{"Regex":"\\p{L}"},
                           "content":"x"})",
                       "\u1c89\U00031350\U0001fae8"),
            "xx\U0001fae8");
  EXPECT_EQ(normalized(R"({"type":"Prepend","prepend":">"})", "a"), ">a");
  EXPECT_EQ(normalized(R"({"type":"Prepend","prepend":">"})", ""), "");
  const char *Bert = R"({"type":"BertNormalizer","clean_text":true,
      "handle_chinese_chars":true,"strip_accents":null,"lowercase":true})";
  EXPECT_EQ(normalized(Bert, "É\u200b水\tX\x01"), "e 水  x");
  EXPECT_EQ(normalized(R"({"type":"Sequence","normalizers":[
      {"type":"NFD"},{"type":"StripAccents"},{"type":"Lowercase"}]})",
                       "ÉÀ"),
            "ea");
}

TEST(TokenizerTest, PreTokenizers) {
  auto Split = [](const std::string &Behavior, const std::string &Invert) {
    return splitBy(R"({"type":"Split","pattern":{"Regex":"-"},"behavior":")" +
                       Behavior + R"(","invert":)" + Invert + "}",
                   "a--b-c-");
  };
  EXPECT_EQ(Split("Removed", "false"), "a|b|c|");
  EXPECT_EQ(Split("Isolated", "false"), "a|-|-|b|-|c|-|");
  EXPECT_EQ(Split("MergedWithPrevious", "false"), "a-|-|b-|c-|");
  EXPECT_EQ(Split("MergedWithNext", "false"), "a|-|-b|-c|-|");
  EXPECT_EQ(Split("Contiguous", "false"), "a|--|b|-|c|-|");
  EXPECT_EQ(Split("Removed", "true"), "-|-|-|-|");
  EXPECT_EQ(splitBy(R"({"type":"BertPreTokenizer"})", " it's  a\u3000test…"),
            "it|'|s|a|test|…|");
  EXPECT_EQ(splitBy(R"({"type":"ByteLevel","add_prefix_space":true,
                        "trim_offsets":true,"use_regex":true})",
                    "I'm  42é"),
            "ĠI|'m|Ġ|Ġ42|Ã©|");
  EXPECT_EQ(splitBy(R"({"type":"ByteLevel","add_prefix_space":false,
                        "trim_offsets":true,"use_regex":false})",
                    "a b\n"),
            "aĠbĊ|");
  EXPECT_EQ(splitBy(R"({"type":"Sequence","pretokenizers":[
      {"type":"Split","pattern":{"String":" "},"behavior":"Removed",
       "invert":false},{"type":"BertPreTokenizer"}]})",
                    "a b.c"),
            "a|b|.|c|");
}

TEST(TokenizerTest, AddedTokens) {
  auto Added = [](const std::string &Content, int Id,
                  const std::string &True = "") {
    Json One = {{"id", Id}, {"content", Content}};
    for (const char *Name :
         {"single_word", "lstrip", "rstrip", "normalized", "special"})
      One[Name] = True.find(Name) != std::string::npos;
    return One.dump();
  };
  auto Find = [&](const std::string &Tokens, std::string_view Text) {
    return pieces(file({{"added_tokens", "[" + Tokens + "]"},
                        {"normalizer", R"({"type":"Lowercase"})"}}),
                  Text);
  };
  // The longest at each place; what is between is normalized.
  EXPECT_EQ(Find(Added("<a>", 256) + "," + Added("<a>b", 257), "X<a>b<a>cY"),
            "x|<257><256>cy|");
  EXPECT_EQ(Find(Added("<a>", 256, "lstrip"), "x \n<a> y"), "x|<256> y|");
  EXPECT_EQ(Find(Added("<a>", 256, "rstrip"), "x <a> \u00a0y"), "x |<256>y|");
  EXPECT_EQ(Find(Added("one", 256, "single_word"), "one bone one_ éone one."),
            "<256> bone one_ éone |<256>.|");
  EXPECT_EQ(Find(Added("AB", 256, "normalized"), "xAbY"), "x|<256>y|");
  EXPECT_EQ(Find(Added("AB", 256), "xAbY AB"), "xaby |<256>");
}

TEST(TokenizerTest, BytePairs) {
  const char *Tokens = R"({"a":0,"b":1,"c":2,"ab":3,"bc":4,"abc":5,"u":6})";
  // By rank, then from the left.
  EXPECT_EQ(encoded(pairFile(Tokens, R"(["b c","a b"])"), "abcab"), "0 4 3 ");
  EXPECT_EQ(encoded(pairFile(Tokens, R"([["a","b"],["b","c"]])"), "abcab"),
            "3 2 3 ");
  EXPECT_EQ(encoded(pairFile(Tokens, R"(["a b","ab c"])"), "abcab"), "5 3 ");
  EXPECT_EQ(encoded(pairFile(Tokens, R"(["#version: 0.2","a b"])"), "ab"),
            "3 ");
  EXPECT_EQ(encoded(pairFile(Tokens, "[]", R"(,"ignore_merges":true)"), "abc"),
            "5 ");
  // A character that the vocabulary lacks.
  EXPECT_EQ(encoded(pairFile(Tokens, "[]"), "axyb"), "0 1 ");
  EXPECT_EQ(encoded(pairFile(Tokens, "[]", R"(,"unk_token":"u")"), "axyb"),
            "0 6 6 1 ");
  EXPECT_EQ(
      encoded(pairFile(Tokens, "[]", R"(,"unk_token":"u","fuse_unk":true)"),
              "axyb"),
      "0 6 1 ");
  EXPECT_EQ(encoded(pairFile(Tokens, "[]", R"(,"unk_token":"none")"), "axb"),
            "t.json: field 'model.unk_token' is 'none': expected a token of "
            "the vocabulary, for the character 'x' that it lacks");
  EXPECT_EQ(encoded(pairFile(R"({"a":0,"<0xC3>":1,"<0xA9>":2})", "[]",
                             R"(,"byte_fallback":true)"),
                    "aéx"),
            "0 1 2 ");
  EXPECT_EQ(
      encoded(pairFile(R"({"a":0,"#b":1,"b":2,"ab":3,"#b;":4})", R"(["a #b"])",
                       R"(,"continuing_subword_prefix":"#",)"
                       R"("end_of_word_suffix":";")"),
              "abab"),
      "3 4 ");
}

TEST(TokenizerTest, WordPieces) {
  auto Encode = [](const std::string &Most, std::string_view Text) {
    return encoded(
        file({{"model", R"({"type":"WordPiece","unk_token":"[UNK]",
             "continuing_subword_prefix":"##","max_input_chars_per_word":)" +
                            Most + R"(,"vocab":{"[UNK]":0,"un":1,"##a":2,
             "##able":3,"é":4,"u":5,"##é":6}})"},
              {"pre_tokenizer", R"({"type":"BertPreTokenizer"})"}}),
        Text);
  };
  EXPECT_EQ(Encode("100", "unable una unx é éa u"), "1 3 1 2 0 4 4 2 5 ");
  EXPECT_EQ(Encode("5", "unable una"), "0 1 2 ");
  EXPECT_EQ(Encode("5", "ééé"), "4 6 6 "); // Characters count, not bytes.
}

TEST(TokenizerTest, PostProcessors) {
  auto Framed = [](const std::string &Processor) {
    return pieces(file({{"post_processor", Processor}}), "x");
  };
  EXPECT_EQ(
      Framed(R"({"type":"BertProcessing","sep":["s",62],"cls":["c",60]})"),
      "<x|>");
  EXPECT_EQ(Framed(R"({"type":"RobertaProcessing","sep":["s",62],"cls":["c",60],
                       "trim_offsets":true,"add_prefix_space":true})"),
            "<x|>");
  std::string Template = R"({"type":"TemplateProcessing","single":[
      {"SpecialToken":{"id":"B","type_id":0}},{"Sequence":{"id":"A","type_id":0}},
      {"SpecialToken":{"id":"E","type_id":0}}],"pair":[],"special_tokens":{
      "B":{"id":"B","ids":[40,91],"tokens":["x","y"]},
      "E":{"id":"E","ids":[41],"tokens":["z"]}}})";
  EXPECT_EQ(Framed(Template), "([x|)");
  EXPECT_EQ(Framed(R"({"type":"Sequence","processors":[{"type":"ByteLevel",
      "add_prefix_space":true,"trim_offsets":false,"use_regex":true},)" +
                   Template + "," + Template + "]}"),
            "([([x|))");
  EXPECT_EQ(pieces(file({{"post_processor", Template}}), "x", false), "x|");
}

TEST(TokenizerTest, Decoders) {
  const char *Words =
      R"({"he":0,"##llo":1,"do":2,"not":3,".":4,"n't":5,"x##y":6,"do not":7})";
  EXPECT_EQ(decoded(Words,
                    R"({"type":"WordPiece","prefix":"##","cleanup":true})",
                    {0, 1, 2, 3, 4, 2, 5}),
            "hello do not. don't");
  EXPECT_EQ(decoded(Words,
                    R"({"type":"WordPiece","prefix":"##","cleanup":false})",
                    {1, 0, 4, 6}),
            "##llo he . x##y");
  EXPECT_EQ(decoded(Words,
                    R"({"type":"WordPiece","prefix":"##","cleanup":true})",
                    {0, 7}),
            "he don't");
  const char *Bytes =
      R"({"<0xC3>":0,"<0xA9>":1,"▁a":2,"▁▁":3,"b</w>":4,"Ã":5})";
  EXPECT_EQ(decoded(Bytes, "null", {2, 4}), "▁a b</w>");
  EXPECT_EQ(decoded(Bytes, R"({"type":"ByteFallback"})", {0, 1, 2, 0, 0, 1}),
            "é▁a\ufffd\ufffd\ufffd");
  EXPECT_EQ(decoded(Bytes, R"({"type":"Metaspace","replacement":"▁",
                               "prepend_scheme":"always","split":true})",
                    {2, 3, 2}),
            "a   a");
  EXPECT_EQ(
      decoded(Bytes, R"({"type":"BPEDecoder","suffix":"</w>"})", {4, 2, 4}),
      "b ▁ab");
  EXPECT_EQ(decoded(Bytes, R"({"type":"Sequence","decoders":[
      {"type":"Replace","pattern":{"String":"▁"},"content":" "},
      {"type":"ByteFallback"},{"type":"Fuse"},
      {"type":"Strip","content":" ","start":1,"stop":1}]})",
                    {3, 0, 1, 2, 3}),
            " é a ");
  EXPECT_EQ(decoded(Bytes, R"({"type":"ByteLevel","add_prefix_space":true,
                               "trim_offsets":true,"use_regex":true})",
                    {5, 2, 5}),
            "\ufffd▁a\ufffd");
}

TEST(TokenizerTest, RegexTranslation) {
  // What PCRE2 reads otherwise than Ruby is rewritten.
  EXPECT_EQ(*translateRegex("a{,2}b{3}"), "a{0,2}b{3}");
  EXPECT_EQ(*translateRegex(R"(\v\u00e9)"), R"(\x0b\x{e9})");
  EXPECT_EQ(*translateRegex("{x"), "\\{x");
  for (const char *Text :
       {R"(\b)",    R"(\1)",  R"((?<n>a))", "(?m)a",         "(?s:a)",
        "(*VERB)",  "[a[b]]", "[a&&b]",     R"(\h)",         R"(\p{Foo})",
        R"(\p{C})", "a{2}+",  "a{2}?",      "[]a]",          R"([\P{L}])",
        R"(\xff)",  "\\",     "[a",         R"(\R)",         R"(\K)",
        R"(\g<0>)", "(?#c)",  "a{1001}",    R"(\x{110000})", R"(\p{L)"})
    EXPECT_FALSE(translateRegex(Text)) << Text;
  EXPECT_FALSE(translateRegex(std::string(65, '(') + std::string(65, ')')));
  EXPECT_FALSE(translateRegex(std::string(1 << 15, 'a')));
}

TEST(TokenizerTest, ModelTypeToldByItsFields) {
  EXPECT_EQ(encoded(file({{"model", R"({"vocab":{"a":0},"merges":[]})"}}), "a"),
            "0 ");
  expectError(file({{"model", R"({"vocab":{"a":0}})"}}), {"model.type"});
}

TEST(TokenizerHostileTest, Json) {
  expectError("", {"invalid JSON"});
  expectError("{", {"invalid JSON"});
  expectError("[]", {"expected an object"});
  expectError("{}", {"version"});
  expectError("{\"a\":\"\xff\"}", {"invalid JSON"});
  expectError(R"({"version":"1.0","version":"1.0"})",
              {"duplicate key 'version'"});
  expectError(std::string(1 << 20, '['), {"nested deeper than 64"});
  expectError(R"({"model":)" + std::string(100, '{'), {"invalid JSON"});
  std::string Nested = R"({"type":"Sequence","normalizers":[)";
  std::string Deep;
  for (int I = 0; I < 100; ++I)
    Deep += Nested;
  expectError(R"({"normalizer":)" + Deep, {"nested deeper than 64"});
  std::string Wide = "{";
  for (int I = 0; I < 5000; ++I)
    Wide += "\"" + std::to_string(I) + "\":0,";
  expectError(Wide + "\"x\":0}", {"more than 4096 members"});
  Result<Tokenizer> Missing = Tokenizer::fromFile(dataPath("none.json"));
  ASSERT_FALSE(Missing);
  EXPECT_NE(Missing.error().message().find("none.json"), std::string::npos);
}

TEST(TokenizerHostileTest, CutOffAnywhere) {
  std::ifstream Stream(dataPath("odd.json"));
  std::string Text((std::istreambuf_iterator<char>(Stream)), {});
  ASSERT_TRUE(Tokenizer::fromJson(Text, "t.json"));
  while (!Text.empty() && Text.back() == '\n')
    Text.pop_back();
  for (size_t Length = 0; Length < Text.size(); Length += 61)
    EXPECT_FALSE(Tokenizer::fromJson(Text.substr(0, Length), "t.json"));
}

TEST(TokenizerHostileTest, ChangedBytesNeverCrash) {
  std::ifstream Stream(dataPath("odd.json"));
  std::string Text((std::istreambuf_iterator<char>(Stream)), {});
  // Outside the vocabulary, where nearly all bytes are names of tokens.
  size_t Most = Text.find("\"vocab\"");
  ASSERT_NE(Most, std::string::npos);
  uint32_t Random = 1;
  auto Next = [&](size_t Bound) {
    Random = Random * 1664525u + 1013904223u;
    return (Random >> 8) % Bound;
  };
  static constexpr std::string_view Bytes = "0129-.\"{}[],:aeln\\\x01\xff";
  for (int Round = 0; Round < 400; ++Round) {
    std::string Changed = Text;
    for (size_t Count = 1 + Next(3); Count > 0; --Count)
      Changed[Next(Most)] = Bytes[Next(Bytes.size())];
    Result<Tokenizer> T = Tokenizer::fromJson(Changed, "t.json");
    if (!T) {
      EXPECT_EQ(T.error().message().find('\n'), std::string::npos);
      continue;
    }
    if (Result<Ids> Numbers = T->encode("A word [left] 12 été\n"); Numbers) {
      EXPECT_FALSE(findInvalidUtf8(T->decode(*Numbers)));
    }
  }
}

TEST(TokenizerHostileTest, Vocabulary) {
  auto Bad = [](const std::string &Tokens,
                std::initializer_list<std::string_view> Parts) {
    expectError(pairFile(Tokens, "[]"), Parts);
  };
  Bad(R"({"a":-1})", {"model.vocab", "'a'", "-1"});
  Bad(R"({"a":0,"b":0})", {"'b'", "each id once", "'a'"});
  Bad(R"({"a":4294967296})", {"'a'", "4294967296"});
  Bad(R"({"a":18446744073709551615})", {"'a'", "18446744073709551615"});
  Bad(R"({"a":4194304})", {"'a'", "4194304", "0 to 4194303"});
  Bad(R"({"a":0.5})", {"'a'", "0.5"});
  Bad(R"({"a":"0"})", {"'a'", "whole number"});
  Bad(R"({"a":null})", {"'a'"});
  Bad(R"({"a":[0]})", {"'a'"});
  Bad(R"({"a":{}})", {"'a'"});
  Bad("[]", {"model.vocab", "expected an object"});
  Bad("7", {"model.vocab", "expected an object"});
  // Json would drop the first of two, so this is put together by hand.
  expectError(R"({"version":"1.0","model":{"type":"BPE","vocab":{"a":0,"a":1},
      "merges":[]}})",
              {"'a'", "each token once"});
}

TEST(TokenizerHostileTest, Merges) {
  auto Bad = [](const std::string &Merges,
                std::initializer_list<std::string_view> Parts,
                const std::string &Options = "") {
    expectError(pairFile(R"({"a":0,"b":1,"ab":2})", Merges, Options), Parts);
  };
  Bad(R"(["a b","a x"])", {"model.merges[1]", "'x'"});
  Bad(R"(["x a"])", {"model.merges[0]", "'x'"});
  Bad(R"(["b a"])", {"model.merges[0]", "'ba'"});
  Bad(R"(["ab"])", {"model.merges[0]", "one space"});
  Bad(R"(["a b c"])", {"model.merges[0]", "one space"});
  Bad(R"([["a"]])", {"model.merges[0]", "two tokens"});
  Bad(R"([["a",1]])", {"model.merges[0]", "two tokens"});
  Bad("[3]", {"model.merges[0]", "3"});
  Bad(R"({"a":"b"})", {"model.merges", "expected an array"});
  Bad(R"(["a b"])", {"longer than the prefix"},
      R"(,"continuing_subword_prefix":"####")");
  Bad("[]", {"model.dropout", "0.1"}, R"(,"dropout":0.1)");
  Bad("[]", {"model.fuse_unk"}, R"(,"fuse_unk":1)");
  Bad("[]", {"model.unk_token"}, R"(,"unk_token":3)");
}

TEST(TokenizerHostileTest, AddedTokens) {
  auto Bad = [](const std::string &Tokens,
                std::initializer_list<std::string_view> Parts) {
    expectError(file({{"added_tokens", Tokens}}), Parts);
  };
  auto Token = [](const std::string &Id, const std::string &Content,
                  const std::string &Normalized = "false") {
    return R"({"id":)" + Id + R"(,"content":)" + Content +
           R"(,"single_word":false,"lstrip":false,"rstrip":false,"normalized":)" +
           Normalized + R"(,"special":true})";
  };
  Bad("[" + Token("-1", R"("x")") + "]", {"added_tokens[0].id", "-1"});
  Bad("[" + Token("99999999999", R"("x")") + "]",
      {"added_tokens[0].id", "99999999999"});
  Bad("[" + Token("300", R"("x")") + "]", {"'x'", "300", "256"});
  Bad("[" + Token("3", R"("x")") + "]", {"'x'", "3", "256"});
  Bad("[" + Token("4", R"("<0x03>")") + "]", {"'<0x03>'", "expected 3"});
  Bad("[" + Token("256", R"("x")") + "," + Token("256", R"("y")") + "]",
      {"added_tokens[1]", "'y'", "257"});
  Bad("[" + Token("256", R"("x")") + "," + Token("257", R"("x")") + "]",
      {"added_tokens[1]", "each token once"});
  Bad("[" + Token("256", R"("")") + "]", {"added_tokens[0].content"});
  Bad("[" + Token("256", "\"" + std::string(1025, 'x') + "\"") + "]",
      {"added_tokens[0].content", "1024"});
  Bad("[" + Token("256", "5") + "]", {"added_tokens[0].content", "a string"});
  Bad(R"([{"id":256,"content":"x"}])", {"added_tokens[0].single_word"});
  Bad("{}", {"added_tokens", "expected an array"});
  Bad("[1]", {"added_tokens[0]", "expected an object"});
  expectError(
      file({{"added_tokens", "[" + Token("256", R"(" ")", "true") + "]"},
            {"normalizer", R"({"type":"Strip","strip_left":true,
                                       "strip_right":true})"}}),
      {"normalizes to nothing"});
  // The model's ids leave a gap, so that the next free id is taken.
  expectError(file({{"model", R"({"type":"BPE","vocab":{"a":1},"merges":[]})"},
                    {"added_tokens", "[" + Token("1", R"("x")") + "]"}}),
              {"each id once"});
}

TEST(TokenizerHostileTest, UnknownPartsAndOptions) {
  for (const char *Part :
       {"normalizer", "pre_tokenizer", "post_processor", "decoder", "model"}) {
    expectError(file({{Part, R"({"type":"Foo"})"}}),
                {std::string(Part) + ".type", "'Foo'"});
    expectError(file({{Part, R"({"type":5})"}}), {std::string(Part) + ".type"});
    expectError(file({{Part, "[]"}}), {Part});
    expectError(file({{Part, "3"}}), {Part});
  }
  expectError(file({{"extra", "1"}}), {"unknown field 'extra'"});
  expectError(file({{"version", "\"2.0\""}}), {"version", "2.0"});
  expectError(file({{"normalizer", R"({"type":"NFC","x":1})"}}),
              {"unknown field 'normalizer.x'"});
  expectError(file({{"pre_tokenizer", R"({"type":"BertPreTokenizer","x":1})"}}),
              {"unknown field 'pre_tokenizer.x'"});
  expectError(file({{"decoder", R"({"type":"Fuse","x":1})"}}),
              {"unknown field 'decoder.x'"});
  expectError(pairFile("{}", "[]", R"(,"x":1)"), {"unknown field 'model.x'"});
  expectError(file({{"pre_tokenizer", R"({"type":"Split","pattern":
      {"String":"a","Regex":"a"},"behavior":"Isolated","invert":false})"}}),
              {"pre_tokenizer.pattern"});
  expectError(file({{"pre_tokenizer", R"({"type":"Split","pattern":
      {"String":"a"},"behavior":"isolated","invert":false})"}}),
              {"pre_tokenizer.behavior", "'isolated'"});
  expectError(file({{"truncation", R"({"max_length":-1,"strategy":"OnlyFirst",
                                       "stride":0})"}}),
              {"truncation.max_length", "-1"});
  expectError(file({{"decoder", R"({"type":"Strip","content":"ab","start":0,
                                    "stop":0})"}}),
              {"decoder.content", "one character"});
  std::string Fuses;
  for (int I = 0; I < 70; ++I)
    Fuses += std::string(I ? "," : "") + R"({"type":"Fuse"})";
  expectError(
      file({{"decoder", R"({"type":"Sequence","decoders":[)" + Fuses + "]}"}}),
      {"at most 64"});
}

TEST(TokenizerHostileTest, PostProcessorIds) {
  auto Bad = [](const std::string &Id,
                std::initializer_list<std::string_view> Parts) {
    expectError(file({{"post_processor", R"({"type":"TemplateProcessing",
      "single":[{"SpecialToken":{"id":"B","type_id":0}},
      {"Sequence":{"id":"A","type_id":0}}],"pair":[],"special_tokens":{
      "B":{"id":"B","ids":[)" + Id + R"(],"tokens":["x"]}}})"}}),
                Parts);
  };
  Bad("256", {"post_processor", "256", "the id of a token"});
  Bad("-1", {"ids[0]", "-1"});
  Bad("99999999999999", {"ids[0]"});
  expectError(file({{"post_processor", R"({"type":"BertProcessing",
      "sep":["s",256],"cls":["c",0]})"}}),
              {"256"});
  expectError(file({{"post_processor", R"({"type":"BertProcessing",
      "sep":["s"],"cls":["c",0]})"}}),
              {"post_processor.sep"});
  expectError(file({{"post_processor", R"({"type":"TemplateProcessing",
      "single":[{"Sequence":{"id":"B","type_id":0}}],"pair":[],
      "special_tokens":{}})"}}),
              {"single[0].Sequence.id", "'B'"});
  expectError(file({{"post_processor", R"({"type":"TemplateProcessing",
      "single":[{"SpecialToken":{"id":"X","type_id":0}}],"pair":[],
      "special_tokens":{}})"}}),
              {"single[0].SpecialToken.id", "'X'"});
}

TEST(TokenizerHostileTest, Patterns) {
  auto Split = [](const std::string &Pattern) {
    return file(
        {{"pre_tokenizer", R"({"type":"Split","pattern":{"Regex":)" +
                               Json(Pattern).dump() +
                               R"(},"behavior":"Isolated","invert":false})"}});
  };
  for (const char *Pattern : {"(a", "a)", "*", "[b-a]", "(?<=a*)b", "\\b"})
    expectError(Split(Pattern), {"pre_tokenizer.pattern.Regex"});
  // Backtracking without end is an error, soon.
  auto Start = std::chrono::steady_clock::now();
  for (const char *Pattern :
       {"(?:a+)+$", "(?:a|aa)+$", "(?:a*)*[bc]", "(a|a)*[cd]"}) {
    std::string Answer = pieces(Split(Pattern), std::string(5000, 'a') + "!");
    EXPECT_NE(Answer.find("expected a pattern that needs few steps"),
              std::string::npos)
        << Pattern << ": " << Answer.substr(0, 200);
    EXPECT_NE(Answer.find("pre_tokenizer.pattern.Regex"), std::string::npos);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - Start, std::chrono::seconds(30));
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
