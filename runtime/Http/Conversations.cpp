//===- Conversations.cpp - Conversations that clients send ----------------===//

#include "runtime/Http/Conversations.h"

#include "runtime/ToolCalls/Tools.h"

using namespace tenon;
using namespace tenon::http;

/// Refuses more of the member `Key` than there may be.
static void checkSize(const char *Key, const Json &All, size_t Most,
                      Fields &F) {
  if (All.size() > Most)
    F.refuse({400,
              std::string("'") + Key + "' has " + std::to_string(All.size()) +
                  ": expected at most " + std::to_string(Most),
              Key});
}

bool http::checkTools(const Json &Tools, const Limits &Bounds, Fields &F) {
  checkSize("tools", Tools, Bounds.Tools, F);
  Status Good = tools::checkTools(Tools);
  if (!Good)
    F.refuse({400, Good.error().message(), "tools"});
  return bool(Good);
}

void http::hideStrict(Json &Tools) {
  for (Json &Each : Tools)
    Each["function"].erase("strict");
}

/// Content that is an array of OpenAI's parts, of a message of `Role`.
static Json contentOf(const Json &Parts, const Json &Role,
                      const std::string &Place, ImageReader &Images,
                      Fields &F) {
  MessageContent Content;
  bool MayHaveImages =
      Images.isPossible() && (Role == "user" || Role == "tool");
  for (size_t I = 0; I < Parts.size(); ++I) {
    const Json &Part = Parts[I];
    Json Type = Part.is_object() ? Part.value("type", Json("text")) : Json();
    if (Type == "text" && Part.value("text", Json()).is_string()) {
      Content.addText(Part.at("text"));
    } else if (Type == "image_url" && MayHaveImages) {
      Content.addImage(
          Images.ofImageUrl(Part, Place + "[" + std::to_string(I) + "]", F));
    } else {
      std::string Expected =
          MayHaveImages ? ", or {\"type\": \"image_url\", \"image_url\": "
                          "{\"url\": DATA_URL}}"
          : Images.isPossible() ? ", for images are in messages of users"
                                : ", for this model reads texts only";
      F.refuse({400,
                "'" + Place + "'[" + std::to_string(I) + "] is " +
                    (Type.is_string() ? printable(Type.get<std::string>())
                                      : jsonKind(Part)) +
                    ": expected {\"type\": \"text\", \"text\": TEXT}" +
                    Expected,
                "messages"});
      return "";
    }
  }
  return Content.json();
}

/// Reads what the messages hold.
static void readContents(chat::Conversation &Talk, ImageReader &Images,
                         Fields &F) {
  for (size_t I = 0; I < Talk.Messages.size(); ++I) {
    Json &Message = Talk.Messages[I];
    std::string Place = "messages[" + std::to_string(I) + "].content";
    auto At = Message.find("content");
    if (At == Message.end() || At->is_string() || At->is_null())
      continue;
    if (!At->is_array())
      return F.refuse({400,
                       "'" + Place + "' is " + jsonKind(*At) +
                           ": expected a text, or an array of parts",
                       "messages"});
    *At = contentOf(*At, Message.at("role"), Place, Images, F);
  }
}

/// Whether a chat template of `M` has `Word` in it.
static bool mentions(const ServedModel &M, std::string_view Word) {
  const auto &Chat = M.code().manifest().Chat;
  if (Chat)
    for (const auto &[Name, Text] : Chat->Templates)
      if (Text.find(Word) != std::string::npos)
        return true;
  return false;
}

void http::readEffort(Fields &F, const char *Key, const ServedModel &M,
                      chat::Conversation &Talk) {
  std::optional<std::string> Effort = F.string(Key);
  if (Effort && mentions(M, "reasoning_effort"))
    Talk.Others["reasoning_effort"] = *Effort;
  else if (Effort && *Effort != "none")
    F.expected(Key, "\"none\", for the model's chat template has no such "
                    "setting");
}

void http::fitRoles(chat::Conversation &Talk, const ServedModel &M) {
  for (Json &Message : Talk.Messages)
    if (Message.at("role") == "developer" && !mentions(M, "developer"))
      Message["role"] = "system";
}

/// Refuses messages whose members beside the content templates cannot read.
static void checkMembers(const Json &Messages, Fields &F) {
  for (size_t I = 0; I < Messages.size(); ++I) {
    const Json &Message = Messages[I];
    auto Refuse = [&](const std::string &Member, const std::string &What) {
      F.refuse({400,
                "'messages[" + std::to_string(I) + "]." + Member + "' " + What,
                "messages"});
    };
    for (const char *Key : {"reasoning_content", "tool_call_id"})
      if (Json Text = Message.value(Key, Json());
          !Text.is_null() && !Text.is_string())
        return Refuse(Key, "is " + jsonKind(Text) + ": expected a text");
    auto Calls = Message.find("tool_calls");
    if (Calls == Message.end() || Calls->is_null())
      continue;
    if (!Calls->is_array())
      return Refuse("tool_calls",
                    "is " + jsonKind(*Calls) + ": expected an array of calls");
    for (const Json &Call : *Calls) {
      if (!Call.is_object() || !Call.contains("function") ||
          !Call.at("function").is_object() ||
          !Call.at("function").value("name", Json()).is_string() ||
          !Call.value("id", Json("")).is_string() ||
          Call.value("type", Json("function")) != "function")
        return Refuse("tool_calls",
                      "has a call that is none: expected {\"id\": ..., "
                      "\"type\": \"function\", \"function\": {\"name\": ..., "
                      "\"arguments\": ...}}");
      Json Arguments =
          Call.at("function").value("arguments", Json(Json::object()));
      if (!Arguments.is_object() && !Arguments.is_string())
        return Refuse("tool_calls[].function.arguments",
                      "is " + jsonKind(Arguments) +
                          ": expected an object, or a text of it");
    }
  }
}

chat::Conversation http::conversationOf(Fields &F, const Limits &Bounds,
                                        const ServedModel *M,
                                        ImageReader &Images) {
  Json Talk = Json::object();
  if (const Json *More = F.get("chat_template_kwargs")) {
    if (!More->is_object())
      F.expected("chat_template_kwargs", "an object");
    else
      Talk = *More;
  }
  const Json *Messages = F.get("messages");
  Talk["messages"] = Messages ? *Messages : Json::array();
  // No tools are offered by an empty array either.
  if (const Json *Tools = F.get("tools"); Tools && *Tools != Json::array())
    Talk["tools"] = *Tools;
  Talk["add_generation_prompt"] =
      F.boolean("add_generation_prompt").value_or(true);
  Result<chat::Conversation> Read = chat::conversationFromJson(Talk);
  if (!Read) {
    F.refuse({400, Read.error().message(), "messages"});
    return {};
  }
  checkSize("messages", Read->Messages, Bounds.Messages, F);
  if (!checkTools(Read->Tools, Bounds, F))
    return {};
  if (!M)
    return std::move(*Read);
  readContents(*Read, Images, F);
  checkMembers(Read->Messages, F);
  fitRoles(*Read, *M);
  return std::move(*Read);
}

Result<std::vector<int32_t>> http::wholePrompt(const ServedModel &M,
                                               const chat::Conversation &Talk,
                                               size_t Images) {
  Result<std::vector<int32_t>> Prompt = M.code().chatPrompt(Talk);
  if (!Prompt)
    return Prompt;
  return generation::withImageRows(M.code(), std::move(*Prompt), Images);
}
