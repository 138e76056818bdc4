//===- OpenApiTest.cpp - The description of the server's API --------------===//
//
// That it has all endpoints and nothing else, and is whole in itself. What its
// schemas say of requests and answers is tested on a running server, by
// tests/EndToEnd/openapi.py.
//
//===----------------------------------------------------------------------===//

#include "runtime/Http/OpenApi.h"
#include "runtime/Http/Api.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <gtest/gtest.h>
#include <set>

using namespace tenon;
using namespace tenon::http;

/// Calls `Then` with all objects of `J`.
static void forObjects(const Json &J,
                       const std::function<void(const Json &)> &Then) {
  if (J.is_object())
    Then(J);
  if (J.is_structured())
    for (const Json &Inner : J)
      forObjects(Inner, Then);
}

TEST(OpenApi, HasEveryEndpoint) {
  std::set<std::string> Described, Answered;
  const Json All = describeApi(/*NeedsKey=*/true);
  auto Line = [](std::string Method, std::string_view Path, bool IsOpen) {
    std::transform(Method.begin(), Method.end(), Method.begin(),
                   [](char C) { return std::toupper(C); });
    return Method + " " + std::string(Path) + (IsOpen ? " open" : "");
  };
  for (const auto &[Path, Methods] : All.at("paths").items())
    for (const auto &[Method, Operation] : Methods.items())
      Described.insert(Line(Method, Path, Operation.contains("security")));
  for (const Endpoint &E : Api::endpoints())
    Answered.insert(Line(std::string(E.Method), E.Path, E.IsOpen));
  EXPECT_EQ(Described, Answered);
}

TEST(OpenApi, PartsAreJsonAndApart) {
  std::set<std::string> Names;
  for (std::string_view Part : openApiParts()) {
    Result<Json> J = parseJson(Part, "a part");
    ASSERT_TRUE(J) << J.error().message() << Part.substr(0, 200);
    const Json Components = J->value("components", Json::object());
    const Json Paths = J->value("paths", Json::object());
    for (const auto &[Kind, Members] : Components.items())
      for (const auto &[Name, Member] : Members.items())
        EXPECT_TRUE(Names.insert(Kind + "/" + Name).second)
            << Name << " is in two parts";
    for (const auto &[Path, Methods] : Paths.items())
      EXPECT_TRUE(Names.insert(Path).second) << Path << " is in two parts";
  }
}

TEST(OpenApi, ReferencesAreWhole) {
  const Json All = describeApi(/*NeedsKey=*/true);
  std::set<std::string> Used;
  forObjects(All, [&](const Json &J) {
    auto At = J.find("$ref");
    if (At == J.end())
      return;
    std::string Place = At->get<std::string>().substr(1);
    EXPECT_TRUE(All.contains(Json::json_pointer(Place))) << Place;
    Used.insert(Place);
  });
  for (const auto &[Name, Schema] : All.at("components").at("schemas").items())
    EXPECT_TRUE(Used.contains("/components/schemas/" + Name))
        << Name << " is not used";
}

TEST(OpenApi, OptionalMembersMayBeNull) {
  const Json All = describeApi(/*NeedsKey=*/false);
  const Json &Schemas = All.at("components").at("schemas");
  const Json &Chat = Schemas.at("ChatRequest").at("properties");
  EXPECT_EQ(Chat.at("messages"),
            Json({{"$ref", "#/components/schemas/ChatMessages"}}));
  EXPECT_EQ(Chat.at("logprobs").at("type"), Json({"boolean", "null"}));
  EXPECT_EQ(Chat.at("store").at("enum"), Json({false, nullptr}));
  EXPECT_EQ(Chat.at("seed").at("anyOf").at(1), Json({{"type", "null"}}));
  EXPECT_EQ(Schemas.at("ResponseRequest")
                .at("properties")
                .at("conversation")
                .at("type"),
            "null");
  // Not of answers.
  EXPECT_EQ(
      Schemas.at("ChatCompletion").at("properties").at("model").at("type"),
      "string");
}

TEST(OpenApi, SecurityIsThatOfTheServer) {
  const Json Open = describeApi(/*NeedsKey=*/false);
  const Json Closed = describeApi(/*NeedsKey=*/true);
  auto Answers = [](const Json &All, const char *Path, const char *Method) {
    return All.at("paths").at(Path).at(Method).at("responses");
  };
  EXPECT_FALSE(Open.contains("security"));
  EXPECT_FALSE(Answers(Open, "/v1/models", "get").contains("401"));
  EXPECT_EQ(Closed.at("security").size(), 2u);
  EXPECT_TRUE(Answers(Closed, "/v1/models", "get").contains("401"));
  EXPECT_FALSE(Answers(Closed, "/metrics", "get").contains("401"));
  EXPECT_EQ(Answers(Closed, "/v1/messages", "post").at("429").at("$ref"),
            "#/components/responses/AnthropicError429");
}
