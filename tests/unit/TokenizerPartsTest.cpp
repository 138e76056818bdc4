//===- TokenizerPartsTest.cpp - The steps of tokenizers -------------------===//

#include "tests/unit/TokenizerTestFiles.h"

#include "runtime/Tokenizer/Regex.h"

#include <gtest/gtest.h>

using namespace tenon;
using namespace tenon::tokenizer;

namespace {

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
  EXPECT_EQ(normalized(R"({"type":"Nmt"})", "a\x01\tb\u200b\u2581\u009fc"),
            "a b  c");
  EXPECT_EQ(normalized(R"({"type":"ByteLevel"})", "a é\n"), "aĠÃ©Ċ");
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

TEST(TokenizerTest, SplittersOfCharacters) {
  auto Split = [](const std::string &Type, std::string_view Text,
                  const std::string &Options = "") {
    return splitBy(R"({"type":")" + Type + "\"" + Options + "}", Text);
  };
  const char *Each = R"(,"individual_digits":true)";
  const char *Runs = R"(,"individual_digits":false)";
  EXPECT_EQ(Split("Digits", "a12\u0663b½", Each), "a|1|2|\u0663|b|½|");
  EXPECT_EQ(Split("Digits", "a12\u0663b½", Runs), "a|12\u0663|b|½|");
  EXPECT_EQ(Split("Punctuation", "a,,b…"), "a|,|,|b|…|");
  auto Behavior = [&](const std::string &Name) {
    return Split("Punctuation", "a,,b.", R"(,"behavior":")" + Name + "\"");
  };
  EXPECT_EQ(Behavior("Removed"), "a|b|");
  EXPECT_EQ(Behavior("Contiguous"), "a|,,|b|.|");
  EXPECT_EQ(Behavior("MergedWithPrevious"), "a,|,|b.|");
  EXPECT_EQ(Behavior("MergedWithNext"), "a|,|,b|.|");
  EXPECT_EQ(Split("Whitespace", " ab, c_1\u3000--é\n"), "ab|,|c_1|--|é|");
  EXPECT_EQ(Split("WhitespaceSplit", " ab, c\u3000--é\n"), "ab,|c|--é|");
  EXPECT_EQ(Split("CharDelimiterSplit", "éaébé", R"(,"delimiter":"é")"),
            "a|b|");
  expectError(file({{"pre_tokenizer", R"({"type":"Digits"})"}}),
              {"pre_tokenizer.individual_digits"});
  expectError(file({{"pre_tokenizer", R"({"type":"Punctuation",
                                          "behavior":"none"})"}}),
              {"pre_tokenizer.behavior", "'none'"});
  expectError(file({{"pre_tokenizer", R"({"type":"CharDelimiterSplit",
                                          "delimiter":"ab"})"}}),
              {"pre_tokenizer.delimiter", "one character"});
  expectError(file({{"pre_tokenizer", R"({"type":"UnicodeScripts"})"}}),
              {"pre_tokenizer.type", "'UnicodeScripts'"});
}

TEST(TokenizerTest, Metaspace) {
  auto Split = [](const std::string &Options, std::string_view Text) {
    return splitBy(R"({"type":"Metaspace","replacement":"_")" + Options + "}",
                   Text);
  };
  EXPECT_EQ(Split("", "a b  c"), "_a|_b|_|_c|");
  EXPECT_EQ(Split("", " a"), "_a|");
  EXPECT_EQ(Split("", "_a_"), "_a|_|");
  EXPECT_EQ(Split(R"(,"prepend_scheme":"never")", "a b"), "a|_b|");
  EXPECT_EQ(Split(R"(,"prepend_scheme":"always","split":false)", "a b "),
            "_a_b_|");
  EXPECT_EQ(Split(R"(,"add_prefix_space":false)", "a b"), "a|_b|");
  EXPECT_EQ(Split(R"(,"add_prefix_space":true,"str_rep":"_")", "a"), "_a|");

  // "first" is the first piece of the whole text, also behind steps that change
  // the text, but not behind an added token or what was removed.
  auto First = [](std::string_view Text, const std::string &Normalizer) {
    return pieces(
        file({{"added_tokens", R"([{"id":256,"content":"<s>",
                "single_word":false,"lstrip":false,"rstrip":false,
                "normalized":false,"special":true}])"},
              {"normalizer", Normalizer},
              {"pre_tokenizer", R"({"type":"Sequence","pretokenizers":[
                {"type":"Split","pattern":{"String":","},"behavior":"Isolated",
                 "invert":false},
                {"type":"Metaspace","replacement":"_","prepend_scheme":"first",
                 "split":false}]})"}}),
        Text);
  };
  EXPECT_EQ(First("a b,c", "null"), "_a_b|,|c|");
  EXPECT_EQ(First("<s>a<s>b", "null"), "<256>a|<256>b|");
  EXPECT_EQ(First("a<s>b", "null"), "_a|<256>b|");
  EXPECT_EQ(First("É,b", R"({"type":"NFD"})"), "_E\u0301|,|b|");
  EXPECT_EQ(First("a,b", R"({"type":"Prepend","prepend":"x,"})"),
            "_x|_,|_a|,|b|");
  EXPECT_EQ(First("  a,b", R"({"type":"Strip","strip_left":true,
                              "strip_right":false})"),
            "a|,|b|");
  EXPECT_EQ(First("aa,b", R"({"type":"Replace","pattern":{"String":"aa"},
                              "content":"x"})"),
            "x|,|b|");
  EXPECT_EQ(First("a,b", R"({"type":"Replace","pattern":{"String":"a"},
                             "content":"xy"})"),
            "_xy|,|b|");
  EXPECT_EQ(First("A,b", R"({"type":"Lowercase"})"), "_a|,|b|");

  auto Bad = [](const std::string &Options,
                std::initializer_list<std::string_view> Parts) {
    for (const char *Part : {"pre_tokenizer", "decoder"})
      expectError(file({{Part, R"({"type":"Metaspace")" + Options + "}"}}),
                  Parts);
  };
  Bad("", {".replacement"});
  Bad(R"(,"replacement":"ab")", {".replacement", "one character"});
  Bad(R"(,"replacement":"a","prepend_scheme":"last")",
      {".prepend_scheme", "'last'"});
  Bad(R"(,"replacement":"a","prepend_scheme":"first","add_prefix_space":false)",
      {".prepend_scheme", "'first'", "never"});
  Bad(R"(,"replacement":"a","str_rep":"b")", {".str_rep", "'b'"});
  Bad(R"(,"replacement":"a","split":1)", {".split"});
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

TEST(TokenizerTest, SpacesAsSentencePieceMarksThem) {
  // The three forms give the same ids, and the text back.
  const char *Model = R"({"type":"BPE","unk_token":"<unk>","fuse_unk":true,
      "byte_fallback":true,"vocab":{"<unk>":0,"<0xC3>":1,"<0xA9>":2,"▁":3,
      "a":4,"b":5,"▁a":6,"▁ab":7},"merges":["▁ a","▁a b"]})";
  const char *Mark = R"({"type":"Replace","pattern":{"String":" "},
                         "content":"▁"})";
  const char *Back = R"({"type":"Replace","pattern":{"String":"▁"},
      "content":" "},{"type":"ByteFallback"},{"type":"Fuse"})";
  struct {
    std::string Normalizer, PreTokenizer, Decoder;
  } Forms[] = {
      {R"({"type":"Sequence","normalizers":[{"type":"Prepend","prepend":"▁"},)" +
           std::string(Mark) + "]}",
       "null", R"(,{"type":"Strip","content":" ","start":1,"stop":0})"},
      {"null", R"({"type":"Metaspace","replacement":"▁",
                   "prepend_scheme":"first","split":false})",
       R"(,{"type":"Strip","content":" ","start":1,"stop":0})"},
      {Mark, R"({"type":"Split","pattern":{"String":" "},
                 "behavior":"MergedWithPrevious","invert":false})",
       ""}};
  for (const auto &Form : Forms) {
    Result<Tokenizer> T = Tokenizer::fromJson(
        file({{"model", Model},
              {"normalizer", Form.Normalizer},
              {"pre_tokenizer", Form.PreTokenizer},
              {"decoder", R"({"type":"Sequence","decoders":[)" +
                              std::string(Back) + Form.Decoder + "]}"}}),
        "t.json");
    ASSERT_TRUE(T) << T.error().message();
    bool Prepends = &Form != &Forms[2];
    EXPECT_EQ(joined(*T->encode("ab ab aé")),
              Prepends ? "7 7 6 1 2 " : "4 5 7 6 1 2 ");
    EXPECT_EQ(T->decode(*T->encode("ab ab aé")), "ab ab aé");
    EXPECT_EQ(T->decode(*T->encode("a  b ")), "a  b ");
    // Neither a byte token alone nor two unknown characters.
    EXPECT_EQ(joined(*T->encode("aèxb", false)).substr(2), "0 5 ");
    EXPECT_EQ(T->decode(Ids{7, 1, 6}), Prepends ? "ab\ufffd a" : " ab\ufffd a");
  }
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
  EXPECT_EQ(translateRegex("a{,2}b{3}")->Fast, "a{0,2}b{3}");
  EXPECT_EQ(translateRegex(R"(\v\u00e9)")->Fast, R"(\x0b\x{e9})");
  EXPECT_EQ(translateRegex("{x")->Fast, "\\{x");
  EXPECT_EQ(translateRegex("[^(|[.,]é[b-d]]+")->Fast, "[^(|.,éb-d]+");
  // What repeats without bound is a group in the program that counts.
  for (auto [Pattern, Counting] : {std::pair("ab*c", "a(?:b)*c"),
                                   {"é+?[ab]*+", "(?:é)+?(?:[ab])*+"},
                                   {"a{2,}?b{,3}", "a{2}(?:a)*?b{0,3}"},
                                   {"(?:a|b)*(?=c+)", "(?:a|b)*(?=(?:c)+)"},
                                   {"\\n+{*", "(?:\\n)+(?:\\{)*"},
                                   {"a?b", "a?b"}})
    EXPECT_EQ(translateRegex(Pattern)->Counting, Counting);
  EXPECT_EQ(translateRegex("a{3}b{2,40}")->LargestRepeat, 40u);
  for (const char *Text :
       {R"(\b)",    R"(\1)",   R"((?<n>a))", "(?m)a",         "(?s:a)",
        "(*VERB)",  "[a[^b]]", "[a[[b]]]",   "[a[:b:]]",      "[a-[b]]",
        "[a[b]-c]", "[a[b-]]", "[a&&b]",     R"(\h)",         R"(\p{Foo})",
        R"(\p{C})", "a{2}+",   "a{2}?",      "[]a]",          R"([\P{L}])",
        R"(\xff)",  "\\",      "[a",         R"(\R)",         R"(\K)",
        R"(\g<0>)", "(?#c)",   "a{1001}",    R"(\x{110000})", R"(\p{L)"})
    EXPECT_FALSE(translateRegex(Text)) << Text;
  EXPECT_FALSE(translateRegex(std::string(65, '(') + std::string(65, ')')));
  EXPECT_FALSE(translateRegex(std::string(1 << 15, 'a')));
}

TEST(TokenizerTest, ModelTypeToldByItsFields) {
  EXPECT_EQ(encoded(file({{"model", R"({"vocab":{"a":0},"merges":[]})"}}), "a"),
            "0 ");
  expectError(file({{"model", R"({"vocab":{"a":0}})"}}), {"model.type"});
}

} // namespace
