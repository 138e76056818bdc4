//===- TokenizerPairTest.cpp - Pairs of texts against the reference -------===//

#include "tests/unit/TokenizerTestFiles.h"

#include <map>

using namespace tenon;
using namespace tenon::tokenizer;

namespace {

std::string textOf(const EncodedPair &Pair) {
  return joined(Pair.Ids) + "| " + joined(Pair.Types);
}

/// What becomes of the pair ("ab", "c"), or why nothing does.
std::string paired(const std::string &PostProcessor,
                   std::optional<size_t> MaxTokens = std::nullopt) {
  Result<Tokenizer> T = Tokenizer::fromJson(
      file({{"post_processor", PostProcessor},
            {"model", R"({"type":"BPE","vocab":{"a":1,"b":2,"c":3,"d":4},
                          "merges":[]})"}}),
      "t.json");
  if (!T)
    return T.error().message();
  Result<EncodedPair> Pair = T->encodePair("ab", "c", true, MaxTokens);
  return Pair ? textOf(*Pair) : Pair.error().message();
}

} // namespace

TEST(TokenizerPair, IdsAndTypesOfReference) {
  Result<Json> Cases = readJsonFile(dataPath("pairs.json"));
  ASSERT_TRUE(Cases) << Cases.error().message();
  ASSERT_GE(Cases->size(), 200u);
  std::map<std::string, Json> Files;
  for (const Json &Case : *Cases) {
    const std::string Name = Case.at("file");
    if (!Files.contains(Name)) {
      Result<Json> Read = readJsonFile(dataPath(Name + ".json"));
      ASSERT_TRUE(Read) << Read.error().message();
      Files[Name] = std::move(*Read);
    }
    Json &File = Files[Name];
    File["truncation"] = Case.at("truncation");
    Result<Tokenizer> T = Tokenizer::fromJson(File.dump(), Name);
    ASSERT_TRUE(T) << T.error().message();
    Result<EncodedPair> Pair = T->encodePair(
        Case.at("first").get_ref<const std::string &>(),
        Case.at("second").get_ref<const std::string &>(), Case.at("special"));
    const Json &Expected = Case.at("encoded");
    ASSERT_EQ(bool(Pair), !Expected.is_null()) << Case;
    if (!Pair)
      continue;
    EXPECT_EQ(joined(Pair->Ids), joined(Expected[0].get<Ids>())) << Case;
    EXPECT_EQ(joined(Pair->Types), joined(Expected[1].get<Ids>())) << Case;
  }
}

TEST(TokenizerPair, Processors) {
  EXPECT_EQ(paired("null"), "1 2 3 | 0 0 1 ");
  EXPECT_EQ(paired(R"({"type":"BertProcessing","sep":["d",4],"cls":["c",3]})"),
            "3 1 2 4 3 4 | 0 0 0 0 1 1 ");
  EXPECT_EQ(paired(R"({"type":"RobertaProcessing","sep":["d",4],"cls":["c",3],
                       "trim_offsets":true,"add_prefix_space":true})"),
            "3 1 2 4 4 3 4 | 0 0 0 0 0 0 0 ");
  std::string Start = R"({"type":"TemplateProcessing","single":[
      {"Sequence":{"id":"A","type_id":0}}],"special_tokens":{
      "d":{"id":"d","ids":[4,4],"tokens":["d","d"]}})";
  std::string Pair = Start + R"(,"pair":[{"Sequence":{"id":"B","type_id":7}},
      {"SpecialToken":{"id":"d","type_id":2}},
      {"Sequence":{"id":"A","type_id":1}}]})";
  EXPECT_EQ(paired(Pair), "3 4 4 1 2 | 7 2 2 1 1 ");
  EXPECT_EQ(paired(Pair, 4), "3 4 4 1 | 7 2 2 1 ");
  EXPECT_EQ(paired(Pair, 1), "at most 1 tokens asked for: expected at least 2, "
                             "the number of special tokens");
  const char *Nothing = "the tokenizer's post-processor says nothing of pairs "
                        "of texts: expected one that has a template for them";
  EXPECT_EQ(paired(Start + "}"), Nothing);
  EXPECT_EQ(
      paired(R"({"type":"Sequence","processors":[)" + Pair + "," + Pair + "]}"),
      Nothing);
}

TEST(TokenizerPair, WrongTemplates) {
  auto Template = [](const std::string &Pair) {
    return file({{"post_processor", R"({"type":"TemplateProcessing","single":[
        {"Sequence":{"id":"A","type_id":0}}],"special_tokens":{},"pair":)" +
                                        Pair + "}"}});
  };
  std::string A = R"({"Sequence":{"id":"A","type_id":0}})";
  std::string B = R"({"Sequence":{"id":"B","type_id":1}})";
  expectError(Template("[" + A + "]"), {"A and B once in \"pair\""});
  expectError(Template("[" + A + "," + B + "," + B + "]"),
              {"A and B once in \"pair\""});
  expectError(Template(R"([{"Sequence":{"id":"C","type_id":0}}])"),
              {"pair[0].Sequence.id", "A or B"});
  expectError(Template(R"([{"Sequence":{"id":"A","type_id":-1}}])"),
              {"pair[0].Sequence.type_id"});
  expectError(Template(R"([{"SpecialToken":{"id":"x","type_id":0}}])"),
              {"special_tokens"});
}
