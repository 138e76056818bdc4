//===- OpenApi.cpp - The description of the API ---------------------------===//

#include "runtime/Http/OpenApi.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::http;

/// Lets a member of a request be null.
static void allowNull(Json &Member) {
  if (Member.contains("const")) {
    Member["enum"] = {Member["const"], nullptr};
    Member.erase("const");
  } else if (Member.contains("enum")) {
    Member["enum"].push_back(nullptr);
  } else if (Member.contains("$ref")) {
    Member["anyOf"] = {{{"$ref", Member["$ref"]}}, {{"type", "null"}}};
    Member.erase("$ref");
  } else if (Member.contains("anyOf")) {
    Member["anyOf"].push_back({{"type", "null"}});
  } else if (Json &Type = Member["type"]; Type.is_array()) {
    Type.push_back("null");
  } else if (Type != "null") {
    Type = {Type, "null"};
  }
}

/// A member that is null counts as absent, in all objects that Fields reads:
/// those whose unknown members are refused.
static void allowNulls(Json &Schema) {
  if (Schema.is_object() && Schema.contains("properties") &&
      Schema.value("additionalProperties", Json()) == false) {
    const Json Needed = Schema.value("required", Json::array());
    for (auto &[Key, Member] : Schema["properties"].items())
      if (std::find(Needed.begin(), Needed.end(), Key) == Needed.end())
        allowNull(Member);
  }
  if (Schema.is_structured())
    for (Json &Inner : Schema)
      allowNulls(Inner);
}

namespace {

struct ErrorStatus {
  int Status;
  const char *Means;
  /// Of paths that need a key, read a body, or run a model.
  bool OfKeys, OfBodies, OfModels;
};

} // namespace

static constexpr ErrorStatus Errors[] = {
    {400, "The request is wrong.", false, true, false},
    {401, "A key is missing, or wrong.", true, false, false},
    {404, "There is no such model.", false, true, false},
    {413, "The body is too large.", false, true, false},
    {429, "The queue is full.", false, false, true},
    {431, "The headers are too large.", false, false, false},
    {500, "The server failed.", false, true, false},
    {503, "The server ends, or has too many connections.", false, false, false},
};

static Json reference(const std::string &Place) {
  return {{"$ref", "#/components/" + Place}};
}

/// The name of the answer to an error.
static std::string nameOf(const ErrorStatus &E, bool IsAnthropic) {
  return (IsAnthropic ? "AnthropicError" : "Error") + std::to_string(E.Status);
}

/// Gives an operation the errors that it may have.
static void addErrors(Json &Operation, bool IsAnthropic, bool NeedsKey) {
  bool IsOpen = Operation.contains("security");
  bool HasBody = Operation.contains("requestBody");
  const Json &Tag = Operation["tags"][0];
  bool RunsModel = Tag == "generation" || Tag == "encoders";
  for (const ErrorStatus &E : Errors) {
    if ((E.OfKeys && (IsOpen || !NeedsKey)) || (E.OfBodies && !HasBody) ||
        (E.OfModels && !RunsModel))
      continue;
    Json &Answer = Operation["responses"][std::to_string(E.Status)];
    if (Answer.is_null())
      Answer = reference("responses/" + nameOf(E, IsAnthropic));
  }
}

static void addErrorAnswers(Json &Components) {
  for (bool IsAnthropic : {false, true})
    for (const ErrorStatus &E : Errors) {
      Json Answer = {{"description", E.Means}};
      if (E.Status == 429)
        Answer["headers"]["Retry-After"] = reference("headers/RetryAfter");
      Answer["content"]["application/json"]["schema"] =
          reference(IsAnthropic ? "schemas/AnthropicError" : "schemas/Error");
      Components["responses"][nameOf(E, IsAnthropic)] = std::move(Answer);
    }
}

/// Every answer has the request's id.
static void addRequestIds(Json &Answers) {
  for (Json &Answer : Answers)
    if (!Answer.contains("$ref"))
      Answer["headers"]["X-Request-Id"] = reference("headers/RequestId");
}

Json http::describeApi(bool NeedsKey) {
  Json All;
  for (std::string_view Part : openApiParts())
    All.update(Json::parse(Part), /*merge_objects=*/true);
  All["info"]["version"] = TENON_VERSION;
  allowNulls(All);
  addErrorAnswers(All["components"]);
  addRequestIds(All["components"]["responses"]);
  for (auto &[Path, Methods] : All["paths"].items())
    for (Json &Operation : Methods) {
      bool IsAnthropic = Path.starts_with("/v1/messages");
      addErrors(Operation, IsAnthropic, NeedsKey);
      addRequestIds(Operation["responses"]);
      if (!NeedsKey)
        Operation.erase("security");
    }
  if (NeedsKey)
    All["security"] = {{{"bearer", Json::array()}}, {{"key", Json::array()}}};
  else
    All["components"].erase("securitySchemes");
  return All;
}
