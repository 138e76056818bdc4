//===- TokenizerUnigramTest.cpp - What SentencePiece models need ----------===//

#include "tests/unit/TokenizerTestFiles.h"

#include "runtime/Tokenizer/CharacterMap.h"
#include "runtime/Tokenizer/Graphemes.h"

#include <gtest/gtest.h>
#include <map>

using namespace tenon;
using namespace tenon::tokenizer;

namespace {

std::string fourBytes(uint32_t Value) {
  std::string Out;
  for (int Shift = 0; Shift < 32; Shift += 8)
    Out += static_cast<char>(Value >> Shift);
  return Out;
}

/// A character map under construction; every node has a block of 256 units for
/// its children.
struct MapBuilder {
  MapBuilder() { grow(0); }

  void add(const std::string &Key, const std::string &Text) {
    size_t Node = 0;
    for (char C : Key) {
      auto Byte = static_cast<unsigned char>(C);
      auto [Child, IsNew] =
          Children.try_emplace({Node, Byte}, Children.size() + 1);
      if (IsNew)
        grow(256 * (Node + 1) ^ Byte, Byte);
      Node = Child->second;
    }
    Units[Places[Node]] |= 1u << 8;
    Units[256 * (Node + 1)] = 1u << 31 | static_cast<uint32_t>(Texts.size());
    Texts += Text + '\0';
  }

  std::string blob() const {
    std::string Out = fourBytes(static_cast<uint32_t>(4 * Units.size()));
    for (uint32_t Unit : Units)
      Out += fourBytes(Unit);
    return Out + Texts;
  }

  std::vector<uint32_t> Units;
  std::string Texts;

private:
  void grow(size_t Place, uint32_t Label = 0) {
    size_t Node = Places.size();
    Units.resize(256 * (Node + 2));
    Places.push_back(Place);
    Units[Place] =
        static_cast<uint32_t>((Place ^ 256 * (Node + 1)) << 10) | Label;
  }

  std::vector<size_t> Places;
  std::map<std::pair<size_t, unsigned char>, size_t> Children;
};

std::string base64(const std::string &Bytes) {
  static constexpr char Digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string Out;
  for (size_t I = 0; I < Bytes.size(); I += 3) {
    uint32_t Bits = 0;
    for (size_t J = 0; J < 3; ++J)
      Bits = Bits << 8 |
             (I + J < Bytes.size() ? static_cast<unsigned char>(Bytes[I + J])
                                   : 0u);
    for (size_t J = 0; J < 4; ++J)
      Out += I + J > Bytes.size() ? '=' : Digits[Bits >> (18 - 6 * J) & 63];
  }
  return Out;
}

std::string precompiled(const std::string &Blob) {
  return R"({"type":"Precompiled","precompiled_charsmap":")" + base64(Blob) +
         "\"}";
}

std::string unigramFile(const std::string &Tokens, const std::string &Unknown,
                        const std::string &Options = "") {
  return file({{"model", R"({"type":"Unigram","vocab":)" + Tokens +
                             R"(,"unk_id":)" + Unknown + Options + "}"}});
}

/// The clusters of `Text`, joined with "|".
std::string clusters(std::string_view Text) {
  std::string Out;
  for (size_t Begin = 0; Begin < Text.size();) {
    size_t End = graphemeEnd(Text, Begin);
    Out.append(Begin ? "|" : "").append(Text.substr(Begin, End - Begin));
    Begin = End;
  }
  return Out;
}

TEST(GraphemesTest, Rules) {
  EXPECT_EQ(clusters("ab"), "a|b");
  EXPECT_EQ(clusters("\r\n\n\r"), "\r\n|\n|\r");
  EXPECT_EQ(clusters("a\u0301\u0302b"), "a\u0301\u0302|b");
  EXPECT_EQ(clusters("\n\u0301"), "\n|\u0301");
  EXPECT_EQ(clusters("\u0600a\u0301"), "\u0600a\u0301"); // Prepended.
  EXPECT_EQ(clusters("\u0600\n"), "\u0600|\n");
  EXPECT_EQ(clusters("\u0e01\u0e33x"), "\u0e01\u0e33|x"); // Spacing mark.
  // Hangul: leading, vowel, trailing; with syllables.
  EXPECT_EQ(clusters("\u1100\u1161\u11a8\u1100"), "\u1100\u1161\u11a8|\u1100");
  EXPECT_EQ(clusters("가\u11a8각\u1161"), "가\u11a8|각|\u1161");
  EXPECT_EQ(clusters("🇩🇪🇫🇷🇩"), "🇩🇪|🇫🇷|🇩");
  EXPECT_EQ(clusters("👩\u200d👧x\u200d👧"), "👩\u200d👧|x\u200d|👧");
  EXPECT_EQ(clusters("👍🏽\u200d👍"), "👍🏽\u200d👍");
  EXPECT_EQ(clusters("👍\u200d\u200d👍"), "👍\u200d\u200d|👍");
  // Conjuncts of Indic consonants.
  EXPECT_EQ(clusters("\u0915\u094d\u0937\u0915"), "\u0915\u094d\u0937|\u0915");
  EXPECT_EQ(clusters("\u0915\u200c\u094d\u0937"), "\u0915\u200c\u094d|\u0937");
}

TEST(CharacterMapTest, ShortestKeyWins) {
  MapBuilder Builder;
  Builder.add("ab", "1");
  Builder.add("abc", "2");
  Builder.add("é", "");
  Builder.add("x", std::string(1000, 'y'));
  Result<CharacterMap> Map = CharacterMap::fromBytes(Builder.blob());
  ASSERT_TRUE(Map) << Map.error().message();
  EXPECT_EQ(Map->find("abc"), "1");
  EXPECT_EQ(Map->find("a"), std::nullopt);
  EXPECT_EQ(Map->find("b"), std::nullopt);
  EXPECT_EQ(Map->find("éa"), "");
  EXPECT_EQ(Map->find(std::string_view("\0ab", 3)), std::nullopt);
  EXPECT_EQ(Map->find("x")->size(), 1000u);
}

TEST(CharacterMapTest, Normalizer) {
  MapBuilder Builder;
  for (auto [Key, Text] : {std::pair("ﬁ", "fi"),
                           {"e\u0301", "é"},
                           {"\x01", ""},
                           {"\u3000", " "},
                           {"\r\n", " "},
                           {"ﷺ", "long"}})
    Builder.add(Key, Text);
  std::string Rules = precompiled(Builder.blob());
  EXPECT_EQ(normalized(Rules, "ﬁne\u3000e\u0301\x01!"), "fine é!");
  // A short cluster that begins with a key is replaced as a whole.
  EXPECT_EQ(normalized(Rules, "ﬁ\u0301x"), "fix");
  EXPECT_EQ(normalized(Rules, "e\u0301\u0302"), "é");
  // A cluster of six bytes is not; nor are two clusters one.
  EXPECT_EQ(normalized(Rules, "e\u0301\u0302\u0303"), "e\u0301\u0302\u0303");
  EXPECT_EQ(normalized(Rules, "ﬁ\u20dd"), "fi\u20dd");
  EXPECT_EQ(normalized(Rules, "\r\n\r"), " \r");
  EXPECT_EQ(normalized(Rules, "\x01"), "");
}

TEST(CharacterMapTest, FirstPieceBehindRules) {
  // What stems from the first character gets the space, as `tokenizers` counts.
  auto Split = [](const char *Key, const char *Replacement,
                  std::string_view Text) {
    MapBuilder Builder;
    Builder.add(Key, Replacement);
    return pieces(
        file({{"normalizer", precompiled(Builder.blob())},
              {"pre_tokenizer", R"({"type":"Sequence","pretokenizers":[
                {"type":"Split","pattern":{"String":","},"behavior":"Isolated",
                 "invert":false},
                {"type":"Metaspace","replacement":"_","prepend_scheme":"first",
                 "split":false}]})"}}),
        Text);
  };
  EXPECT_EQ(Split("ﬁ", "f,i", "ﬁ,b"), "_f|_,|_i|,|b|");
  EXPECT_EQ(Split("e\u0301", "x,y", "e\u0301b"), "_x|,|yb|");
  EXPECT_EQ(Split("e\u0301", "x", "e\u0301,b"), "_x|,|b|");
  EXPECT_EQ(Split("\x01", "", "\x01,b"), "_,|b|");
  EXPECT_EQ(Split("\x01", "", "a\x01,b"), "_a|,|b|");
}

TEST(CharacterMapHostileTest, Blobs) {
  MapBuilder Good;
  Good.add("a", "é");
  ASSERT_TRUE(CharacterMap::fromBytes(Good.blob()));
  auto Bad = [](const std::string &Blob,
                std::initializer_list<std::string_view> Parts) {
    Result<CharacterMap> Map = CharacterMap::fromBytes(Blob);
    ASSERT_FALSE(Map);
    for (std::string_view Part : Parts)
      EXPECT_NE(Map.error().message().find(Part), std::string::npos)
          << Map.error().message();
    expectError(file({{"normalizer", precompiled(Blob)}}),
                {"normalizer.precompiled_charsmap"});
  };
  Bad("", {"has 0 bytes"});
  Bad("abc", {"has 3 bytes"});
  Bad(fourBytes(0), {"a trie of 0 bytes"});
  Bad(fourBytes(3) + "abcd", {"a trie of 3 bytes"});
  Bad(fourBytes(8) + "abcd", {"a trie of 8 bytes"});
  Bad(fourBytes(0xfffffffc) + "abcd", {"4294967292"});
  Bad(Good.blob() + "\xff", {"not UTF-8 at byte 3"});

  auto Changed = [&](size_t Unit, uint32_t Value) {
    MapBuilder Other = Good;
    Other.Units[Unit] = Value;
    return Other.blob();
  };
  size_t Value = 512; // The value of "a" is at the base of its node.
  Bad(Changed(0, 0xfffff << 10), {"unit 0", "base"});
  Bad(Changed(0, 0x1fffff << 10 | 1 << 9), {"unit 0", "base"});
  Bad(Changed(Value, 1), {"base 512", "a value there"});
  Bad(Changed(Value, 1u << 31 | 3), {"value 3", "less than 3"});
  Bad(Changed(Value, ~0u), {"value 2147483647"});
  Bad(Changed(Value, 1u << 31 | 1), {"value 1", "start of a character"});
  MapBuilder Long;
  Long.add("a", std::string(1025, 'x'));
  Bad(Long.blob(), {"at most 1024 bytes"});
  MapBuilder Endless = Good;
  Endless.Texts.pop_back();
  Bad(Endless.blob(), {"with a NUL"});

  Result<Tokenizer> T =
      Tokenizer::fromJson(file({{"normalizer", R"({"type":"Precompiled",
                               "precompiled_charsmap":"ab!="})"}}),
                          "t.json");
  ASSERT_FALSE(T);
  EXPECT_EQ(T.error().message(),
            "t.json: field 'normalizer.precompiled_charsmap' has a character "
            "at 2 that is not base64: expected A-Z, a-z, 0-9, + and /");
}

TEST(CharacterMapHostileTest, UnitsThatLeadInCircles) {
  // Every unit leads to itself or to the root, and none has a value.
  for (uint32_t Offset : {0u, 256u << 10}) {
    std::string Blob = fourBytes(4 * 512);
    for (uint32_t I = 0; I < 512; ++I)
      Blob += fourBytes(Offset | (I & 255));
    Result<CharacterMap> Map = CharacterMap::fromBytes(Blob + '\0');
    ASSERT_TRUE(Map) << Map.error().message();
    EXPECT_EQ(Map->find(std::string(1 << 20, 'a')), std::nullopt);
    EXPECT_EQ(normalized(precompiled(Blob + '\0'), "aé\u0301"), "aé\u0301");
  }
}

TEST(CharacterMapHostileTest, ChildrenBeyondTheEnd) {
  // A trie of one unit: no byte leads to another.
  Result<CharacterMap> Map =
      CharacterMap::fromBytes(fourBytes(4) + fourBytes(0) + '\0');
  ASSERT_TRUE(Map) << Map.error().message();
  for (int Byte = 0; Byte < 256; ++Byte)
    EXPECT_EQ(Map->find(std::string(2, static_cast<char>(Byte))), std::nullopt);
}

TEST(CharacterMapHostileTest, ChangedBytesNeverCrash) {
  MapBuilder Builder;
  Builder.add("a", "b");
  Builder.add("e\u0301", "é");
  std::string Blob = Builder.blob();
  uint32_t Random = 7;
  auto Next = [&](size_t Bound) {
    Random = Random * 1664525u + 1013904223u;
    return (Random >> 8) % Bound;
  };
  for (int Round = 0; Round < 2000; ++Round) {
    std::string Changed = Blob;
    // The used units are few: most changes go there.
    for (size_t Count = 1 + Next(4); Count > 0; --Count) {
      size_t At = Next(3) ? 4 + 256 * 4 * (1 + Next(4)) + Next(4)
                          : Next(Changed.size());
      Changed[At] = static_cast<char>(Next(256));
    }
    Result<CharacterMap> Map = CharacterMap::fromBytes(Changed);
    if (!Map)
      continue;
    for (const char *Text : {"a", "e\u0301", "é", "\xff\x80", "ab"})
      if (std::optional<std::string_view> Found = Map->find(Text)) {
        EXPECT_LE(Found->size(), 1024u);
      }
  }
}

TEST(UnigramTest, BestPath) {
  const char *Tokens = R"([["<unk>",0],["a",-1],["b",-1.5],["ab",-3],["c",-2],
                           ["bc",-1e0],["abc",-2.5],["d",-9]])";
  // a+b -2.5 beats ab -3; a+bc -2 beats abc -2.5.
  EXPECT_EQ(encoded(unigramFile(Tokens, "0"), "ab"), "1 2 ");
  EXPECT_EQ(encoded(unigramFile(Tokens, "0"), "abc"), "1 5 ");
  // Of equal sums the token that starts first stays.
  EXPECT_EQ(
      encoded(unigramFile(R"([["<unk>",0],["a",-1],["aa",-2]])", "0"), "aaaa"),
      "2 2 ");
  // Unknown characters are worse than the worst token by 10, and one token.
  EXPECT_EQ(encoded(unigramFile(Tokens, "0"), "axyéb"), "1 0 2 ");
  EXPECT_EQ(encoded(unigramFile(Tokens, "0"), "xax"), "0 1 0 ");
  auto Rivals = [](const std::string &Score) {
    return encoded(
        unigramFile(R"([["<unk>",0],["xa",-9],["b",-9],["ab",)" + Score + "]]",
                    "0"),
        "xab");
  };
  EXPECT_EQ(Rivals("0.9"), "1 2 ");
  EXPECT_EQ(Rivals("1.1"), "0 3 ");
  EXPECT_EQ(encoded(unigramFile(Tokens, "4"), "xcx"), "4 ");
  EXPECT_EQ(
      encoded(unigramFile(R"([["u",0],["xyz",-25],["y",-1]])", "0"), "xyzxy"),
      "1 0 2 ");
  EXPECT_EQ(encoded(unigramFile(Tokens, "null"), "abd"), "1 2 7 ");
  EXPECT_EQ(encoded(unigramFile(Tokens, "null"), "axé"),
            "t.json: field 'model.unk_id' is null: expected the id of a token, "
            "for the character 'x' that the vocabulary lacks");
  // Never asked: a longer token leads past it.
  EXPECT_EQ(encoded(unigramFile(R"([["ab",-1],["b",-1]])", "null"), "ab"),
            "t.json: field 'model.unk_id' is null: expected the id of a token, "
            "for the character 'a' that the vocabulary lacks");
}

TEST(UnigramTest, ByteFallback) {
  const char *Tokens = R"([["<unk>",0],["a",-1],["<0xC3>",-2],["<0xA9>",-2],
                           ["<0x78>",-2],["xx",-90]])";
  auto Encode = [&](std::string_view Text) {
    return encoded(unigramFile(Tokens, "0", R"(,"byte_fallback":true)"), Text);
  };
  EXPECT_EQ(Encode("aéxa"), "1 2 3 4 1 ");
  // Where one byte of several unknown characters lacks a token, none is used.
  EXPECT_EQ(Encode("éy"), "0 ");
  // Unknown characters that are a token together are that token.
  EXPECT_EQ(Encode("xx"), "5 ");
  EXPECT_EQ(encoded(unigramFile(Tokens, "0"), "é"), "0 ");
}

TEST(UnigramTest, ScoresAsTheReferenceReadsThem) {
  // As text, which Json would spell anew.
  auto Encode = [](const std::string &Score) {
    return encoded(R"({"version":"1.0","model":{"type":"Unigram","unk_id":0,
        "vocab":[["ab",)" +
                       Score + R"(],["a",-19.8963912589948535],["b",0.0]]
        }})",
                   "ab");
  };
  // Two spellings of one number, of which `tokenizers` reads the shorter one
  // bit lower: the tie is lost.
  EXPECT_EQ(Encode("-19.8963912589948535"), "0 ");
  EXPECT_EQ(Encode("-19.896391258994854"), "1 2 ");
  for (const char *High :
       {"0", "-0", "-1", "-19", "18446744073709551615", "1e308", "5e-324",
        "-1e-400", "0e99999999999", "-1.5E+1", "-150e-1",
        "-123456789012345678901234567890.5e-29", "1e-00000000000000000001"})
    EXPECT_EQ(Encode(High), "0 ") << High;
  for (const char *Low :
       {"-20", "-9223372036854775808", "-1.7976931348623157e308",
        "-123456789012345678901234567890.5e-27", "-0.00000000000000000002E+21"})
    EXPECT_EQ(Encode(Low), "1 2 ") << Low;
}

/// Long texts whose paths are worth nearly the same.
TEST(UnigramTest, TiesAsInTheReference) {
  auto Stored = readJsonFile(dataPath("ties.json"));
  ASSERT_TRUE(Stored) << Stored.error().message();
  for (const Json &Entry : (*Stored)["models"]) {
    auto Text = Entry["tokenizer"].get<std::string>();
    auto Made = Tokenizer::fromJson(Text, "t.json");
    ASSERT_TRUE(Made) << Made.error().message();
    for (const auto &[Unit, Expected] : Entry["ids"].items())
      for (size_t I = 0; I < Expected.size(); ++I) {
        std::string Repeated;
        for (int N = (*Stored)["counts"][I].get<int>(); N > 0; --N)
          Repeated += Unit;
        auto Ids = Made->encode(Repeated);
        ASSERT_TRUE(Ids) << Ids.error().message();
        EXPECT_EQ(hashOf(*Ids), Expected[I].get<std::string>())
            << Repeated.size() << " bytes of " << Unit << " in " << Text;
      }
  }
}

TEST(UnigramTest, TypeToldByItsFields) {
  EXPECT_EQ(
      encoded(file({{"model", R"({"unk_id":0,"vocab":[["a",0]]})"}}), "a"),
      "0 ");
  EXPECT_EQ(
      encoded(file({{"model", R"({"vocab":{"a":3},"unk_token":"a"})"}}), "b"),
      "3 ");
}

TEST(UnigramHostileTest, Vocabulary) {
  auto Bad = [](const std::string &Tokens,
                std::initializer_list<std::string_view> Parts,
                const std::string &Unknown = "0") {
    expectError(unigramFile(Tokens, Unknown), Parts);
  };
  Bad(R"([["a",0],"b"])", {"model.vocab[1]", "\"b\"", "[token, score]"});
  Bad(R"([["a",0],[]])", {"model.vocab[1]", "too short"});
  Bad(R"([["a",0],["b"]])", {"model.vocab[1]", "too short"});
  Bad(R"([["a",0],["b",0,1]])", {"model.vocab[1]", "1"});
  Bad(R"([["a",0],["b","0"]])", {"model.vocab[1]", "\"0\""});
  Bad(R"([["a",0],[3,0]])", {"model.vocab[1]", "3"});
  Bad(R"([["a",0],["b",null]])", {"model.vocab[1]", "null"});
  Bad(R"([["a",0],["b",[]]])", {"model.vocab[1]", "an array"});
  Bad(R"([["a",0],{"b":0}])", {"model.vocab[1]", "an object"});
  Bad(R"([["a",0],[["b",0]]])", {"model.vocab[1]", "an array"});
  Bad(R"([["a",0],7])", {"model.vocab[1]", "7"});
  Bad(R"([["a",0],["a",1]])", {"'a'", "each token once"});
  Bad(R"({"a":0})", {"model.vocab", "an array"});
  Bad("3", {"model.vocab", "an array"});
  Bad("[]", {"model.unk_id", "0", "less than 0"});
  Bad(R"([["a",0]])", {"model.unk_id", "1", "less than 1"}, "1");
  Bad(R"([["a",0]])", {"model.unk_id", "-1"}, "-1");
  Bad(R"([["a",0]])", {"model.unk_id"}, "0.5");
  Bad(R"([["a",0]])", {"model.unk_id"}, "\"a\"");
  Bad("[[\"a\",0],[\"" + std::string(1025, 'x') + "\",0]]",
      {"model.vocab[1]", "1025", "at most 1024"});
  // Beyond a double's range; the parser cannot be given it as a value.
  expectError(R"({"version":"1.0","model":{"type":"Unigram","unk_id":0,
                  "vocab":[["a",-1e999]]}})",
              {"invalid JSON"});
  expectError(unigramFile(R"([["a",0]])", "0", R"(,"x":1)"), {"'model.x'"});
  expectError(unigramFile(R"([["a",0]])", "0", R"(,"byte_fallback":1)"),
              {"model.byte_fallback"});
  // Only the model's own "vocab" is set apart.
  expectError(R"({"version":"1.0","vocab":[["a",0]]})", {"'vocab'"});
  expectError(R"({"version":"1.0","model":[{"vocab":[["a",0]]}]})", {"model"});
}

TEST(WordLevelTest, WholePieces) {
  auto Encode = [](const std::string &Unknown, std::string_view Text) {
    return encoded(
        file({{"model", R"({"type":"WordLevel","unk_token":")" + Unknown +
                            R"(","vocab":{"a":0,"bb":1,"?":2}})"},
              {"pre_tokenizer", R"({"type":"WhitespaceSplit"})"}}),
        Text);
  };
  EXPECT_EQ(Encode("?", "bb a b"), "1 0 2 ");
  EXPECT_EQ(Encode("none", "a b"),
            "t.json: field 'model.unk_token' is 'none': expected a token of "
            "the vocabulary, for the word 'b' that it lacks");
  expectError(file({{"model", R"({"type":"WordLevel","vocab":{"a":0}})"}}),
              {"model.unk_token"});
  expectError(file({{"model", R"({"type":"WordLevel","unk_token":"a",
                                  "vocab":[["a",0]]})"}}),
              {"model.vocab", "an object"});
}

} // namespace
