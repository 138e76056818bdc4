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
