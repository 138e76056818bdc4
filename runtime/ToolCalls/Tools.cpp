//===- Tools.cpp - The tools that a model may call ------------------------===//

#include "runtime/ToolCalls/Tools.h"

using namespace tenon;

static bool isFunction(const Json &Tool) {
  return Tool.is_object() &&
         Tool.value("type", Json("function")) == "function" &&
         Tool.value("function", Json()).is_object() &&
         Tool.at("function").value("name", Json()).is_string() &&
         Tool.at("function").at("name") != "";
}

Status tools::checkTools(const Json &Tools) {
  for (size_t I = 0; I < Tools.size(); ++I) {
    const Json &Tool = Tools[I];
    std::string Place = "'tools[" + std::to_string(I) + "]'";
    if (!isFunction(Tool))
      return Error(Place + " is no function: expected {\"type\": \"function\", "
                           "\"function\": {\"name\": ..., \"parameters\": "
                           "...}}");
    auto Check = [&](const char *Key, bool (Json::*Kind)() const,
                     const char *What, const char *Expected) -> Status {
      Json Member = Tool.at("function").value(Key, Json());
      if (Member.is_null() || (Member.*Kind)())
        return {};
      return Error(Place + " has " + What + " that is " + jsonKind(Member) +
                   ": expected " + Expected);
    };
    for (const Status &Good :
         {Check("description", &Json::is_string, "a description", "a text"),
          Check("parameters", &Json::is_object, "a schema of arguments",
                "an object"),
          Check("strict", &Json::is_boolean, "'strict'", "true or false")})
      if (!Good)
        return Good;
  }
  return {};
}
