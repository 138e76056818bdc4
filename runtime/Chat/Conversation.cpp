//===- Conversation.cpp - What a chat template is given -------------------===//

#include "runtime/Chat/Conversation.h"

using namespace tenon;
using namespace tenon::chat;

Variables chat::variablesOf(const Conversation &Talk,
                            const std::map<std::string, std::string> &Tokens) {
  Variables Given;
  if (Talk.Others.is_object())
    Given.OfUser = Talk.Others;
  Given.OfUser["messages"] = Talk.Messages;
  Given.OfUser["tools"] = Talk.Tools;
  if (!Given.OfUser.contains("documents"))
    Given.OfUser["documents"] = nullptr;
  Given.OfUser["add_generation_prompt"] = Talk.AddGenerationPrompt;
  for (const auto &[Name, Text] : Tokens)
    Given.OfModel[Name] = Text;
  return Given;
}

Result<Conversation> chat::conversationFromJson(const Json &Request) {
  auto Expected = [](const std::string &Member, const Json &Value,
                     const char *What) {
    return Error(
        "'" + Member + "' is " +
        printable(Value.dump(-1, ' ', false, Json::error_handler_t::replace)) +
        ": expected " + What);
  };
  if (!Request.is_object())
    return Error("a conversation is " + jsonKind(Request) +
                 ": expected an object with 'messages'");
  Conversation Talk;
  for (const auto &[Key, Value] : Request.items()) {
    if (Key == "messages")
      Talk.Messages = Value;
    else if (Key == "tools")
      Talk.Tools = Value;
    else if (Key != "add_generation_prompt")
      Talk.Others[Key] = Value;
    else if (Value.is_boolean())
      Talk.AddGenerationPrompt = Value.get<bool>();
    else
      return Expected(Key, Value, "true or false");
  }
  if (!Talk.Messages.is_array() || Talk.Messages.empty())
    return Expected("messages", Talk.Messages,
                    "an array of at least one message");
  for (size_t I = 0; I < Talk.Messages.size(); ++I) {
    const Json &Message = Talk.Messages[I];
    if (!Message.is_object() || !Message.contains("role") ||
        !Message.at("role").is_string())
      return Expected("messages[" + std::to_string(I) + "]", Message,
                      "an object with a string 'role'");
  }
  if (!Talk.Tools.is_null() && !Talk.Tools.is_array())
    return Expected("tools", Talk.Tools, "an array or null");
  return Talk;
}
