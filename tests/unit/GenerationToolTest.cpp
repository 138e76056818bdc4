//===- GenerationToolTest.cpp - Tool calls in generated tokens ------------===//

#include "GenerationFixture.h"

#include "runtime/Generation/ToolAnswer.h"
#include "runtime/tenon.h"

using namespace tenon;
using namespace tenon::generation;
using namespace tenon::test;

namespace {

/// Pieces of calls; "<tool_call>" is a token, and two others spell it.
constexpr std::string_view CallPieces = R"({
  "version": "1.0", "truncation": null, "padding": null,
  "added_tokens": [
    {"id": 0, "content": "<tool_call>", "single_word": false, "lstrip": false,
     "rstrip": false, "normalized": false, "special": false},
    {"id": 1, "content": "</tool_call>", "single_word": false, "lstrip": false,
     "rstrip": false, "normalized": false, "special": false},
    {"id": 2, "content": "<think>", "single_word": false, "lstrip": false,
     "rstrip": false, "normalized": false, "special": true},
    {"id": 3, "content": "</think>", "single_word": false, "lstrip": false,
     "rstrip": false, "normalized": false, "special": true},
    {"id": 4, "content": "<end>", "single_word": false, "lstrip": false,
     "rstrip": false, "normalized": false, "special": true}],
  "normalizer": null, "pre_tokenizer": null, "post_processor": null,
  "decoder": {"type": "Fuse"},
  "model": {"type": "WordLevel", "unk_token": "a", "vocab": {
    "<tool_call>": 0, "</tool_call>": 1, "<think>": 2, "</think>": 3,
    "<end>": 4, "a": 5, "{\"name\": \"f\", \"arguments\": ": 6, "{\"x\": ": 7,
    "1": 8, "}}": 9, "<tool_": 10, "call>": 11, "Hm.": 12, "b c": 13}}})";

class GenerationToolTest : public GenerationTest {
protected:
  void SetUp() override { loadFormat("hermes"); }

  void loadFormat(const std::string &Format) {
    load(
        [&](Manifest &Info, CodeInfo &) {
          Info.Chat = artifact::ChatInfo{
              {{"default", "{{ messages[0].content }}"}}, {}, Format};
        },
        CallPieces);
  }

  tools::ParsedAnswer
  parse(const Tokens &New, const Tokens &Prompt = {5},
        std::optional<std::string_view> UpToStop = std::nullopt) {
    Result<tools::ParsedAnswer> A =
        parseToolAnswer(*M, Prompt, New, UpToStop, Json::array());
    EXPECT_TRUE(A) << A.error().message();
    return A ? std::move(*A) : tools::ParsedAnswer();
  }

  const Tokens Call = {0, 6, 7, 8, 9, 1};
};

} // namespace

TEST_F(GenerationToolTest, CallsAreFoundByTheirTokens) {
  Tokens New = Call;
  New.push_back(4);
  tools::ParsedAnswer A = parse(New);
  ASSERT_EQ(A.Calls.size(), 1u);
  EXPECT_EQ(A.Calls[0].Name, "f");
  EXPECT_EQ(A.Calls[0].Arguments, R"({"x":1})");
  EXPECT_EQ(A.Text, "");
  // Other tokens that spell the mark are text.
  Tokens Spelled = Call;
  Spelled[0] = 10;
  Spelled.insert(Spelled.begin() + 1, 11);
  A = parse(Spelled);
  EXPECT_TRUE(A.Calls.empty());
  EXPECT_EQ(A.Text, "<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": 1}}"
                    "</tool_call>");
}

TEST_F(GenerationToolTest, ReasoningMayBeginInThePrompt) {
  Tokens New = {12, 3};
  New.insert(New.end(), Call.begin(), Call.end());
  tools::ParsedAnswer A = parse(New, {5, 2});
  EXPECT_EQ(A.Reasoning, "Hm.");
  EXPECT_EQ(A.ReasoningTokens, 1u);
  EXPECT_EQ(A.Calls.size(), 1u);
  A = parse(New, {5});
  EXPECT_EQ(A.Reasoning, "");
  EXPECT_EQ(A.ReasoningTokens, 0u);
  // Marks are none of them.
  EXPECT_EQ(parse({2, 12, 13, 5, 3, 5, 5}).ReasoningTokens, 3u);
  EXPECT_EQ(parse({5, 2, 12, 13}).ReasoningTokens, 2u);
}

TEST_F(GenerationToolTest, TextEndsWithTheStopString) {
  Tokens New = Call;
  New.insert(New.end(), {5, 13});
  constexpr std::string_view UpToStop =
      "<tool_call>{\"name\": \"f\", \"arguments\": {\"x\": 1}}"
      "</tool_call>ab";
  tools::ParsedAnswer A = parse(New, {5}, UpToStop);
  EXPECT_EQ(A.Text, "ab");
  EXPECT_EQ(A.Calls.size(), 1u);
}

TEST_F(GenerationToolTest, IdsAreOfThePromptAndThePlace) {
  Tokens One = {1, 2, 3}, Other = {1, 2, 4};
  std::string Id = toolCallId(One, 0);
  EXPECT_EQ(Id.size(), 9u);
  EXPECT_EQ(Id, toolCallId(One, 0));
  EXPECT_NE(Id, toolCallId(One, 1));
  EXPECT_NE(Id, toolCallId(Other, 0));
}

TEST_F(GenerationToolTest, FromC) {
  tenon_model *Loaded = nullptr;
  ASSERT_EQ(tenon_model_load(File.c_str(), &Loaded), TENON_OK);
  const Tokens Prompt = {5};
  std::string Text(3, 0);
  size_t Bytes = 0;
  auto Parse = [&](std::string_view Tools) {
    return tenon_model_parse_answer(
        Loaded, Prompt.data(), Prompt.size(), Call.data(), Call.size(), nullptr,
        0, Tools.data(), Tools.size(), Text.data(), Text.size(), &Bytes);
  };
  ASSERT_EQ(Parse(""), TENON_OK) << tenon_last_error();
  EXPECT_EQ(Text, std::string(3, 0)); // it does not fit
  Text.resize(Bytes);
  ASSERT_EQ(Parse("[]"), TENON_OK);
  EXPECT_EQ(Json::parse(Text), generation::answerJson(parse(Call), Prompt));
  EXPECT_EQ(Parse("{}"), TENON_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(tenon_last_error()),
            "tenon_model_parse_answer: tools is an object: expected an array");
  tenon_model_destroy(Loaded);
}

TEST_F(GenerationToolTest, WithoutAFormatThereAreNone) {
  loadFormat("");
  Result<tools::ParsedAnswer> A =
      parseToolAnswer(*M, Call, Call, std::nullopt, Json::array());
  ASSERT_FALSE(A);
  EXPECT_NE(A.error().message().find("--tool-format"), std::string::npos);
}

TEST_F(GenerationToolTest, CallsOfStrictToolsFulfilTheirSchemas) {
  auto Tool = [](const char *Name, const char *Type) {
    return Json{{"type", "function"},
                {"function",
                 {{"name", Name},
                  {"strict", true},
                  {"parameters",
                   {{"type", "object"},
                    {"properties", {{"x", {{"type", Type}}}}},
                    {"required", {"x"}}}}}}};
  };
  Settings Wish;
  Wish.Tools = {Tool("g", "string"), Tool("f", "integer")};
  Wish.MaxNewTokens = 40;
  Wish.LogitBias = {{0, 100}, {10, 90}, {9, 80}};
  auto Calls = [&] {
    return parse(generate(Wish, {5}).front().NewTokens).Calls;
  };
  // Nothing but digits and the end may follow the second piece.
  ASSERT_GT(Calls().size(), 3u);
  for (const tools::ToolCall &Call : Calls()) {
    EXPECT_EQ(Call.Name, "f");
    EXPECT_TRUE(parseJson(Call.Arguments, "")->at("x").is_number_integer());
  }
  Wish.IsSingleCall = true;
  EXPECT_EQ(Calls().size(), 1u);
  // One call at most of tools that are not strict, too.
  Wish.Tools[0]["function"].erase("strict");
  Wish.Tools[1]["function"].erase("strict");
  EXPECT_EQ(Calls().size(), 1u);
  Wish.IsSingleCall = false;
  EXPECT_TRUE(Calls().empty()) << "a mark after another";

  // Nothing can be called.
  Wish.Tools = nullptr;
  Wish.IsSingleCall = true;
  EXPECT_FALSE(request(Wish, {5}).Grammar);

  Wish.Tools = {Tool("f", "wrong")};
  EXPECT_NE(errorOf(Wish).find("tools[0].function.parameters: JSON schema: "
                               "#/properties/x/type"),
            std::string::npos)
      << errorOf(Wish);
}
