//===- Conversation.h - What a chat template is given -----------*- C++ -*-===//

#ifndef TENON_RUNTIME_CHAT_CONVERSATION_H
#define TENON_RUNTIME_CHAT_CONVERSATION_H

#include "runtime/Chat/Template.h"
#include "runtime/Support/Result.h"

#include <map>
#include <string>
#include <utility>

namespace tenon::chat {

/// What a request says: all of it is the user's.
struct Conversation {
  /// Objects with "role" and "content", in Transformers' form.
  Json Messages = Json::array();
  /// Tools that the model may call; null: none.
  Json Tools;
  /// Tools that the template would leave out are an error.
  bool NeedsTools = true;
  /// The prompt ends where the model's answer begins.
  bool AddGenerationPrompt = true;
  /// Other variables that a template asks for, such as "enable_thinking".
  Json Others = Json::object();
  /// What errors call the arguments of call k of message i, where that is not
  /// "messages[i].tool_calls[k].function.arguments".
  std::map<std::pair<size_t, size_t>, std::string> ArgumentNames;

  /// Adds a plain message.
  void add(const std::string &Role, const std::string &Content) {
    Messages.push_back({{"role", Role}, {"content", Content}});
  }
};

/// The conversation of a request: an object with "messages", an array of at
/// least one object with a "role", and perhaps "tools", an array,
/// "add_generation_prompt", and other variables. An error names the member.
Result<Conversation> conversationFromJson(const Json &Request);

/// What Transformers' apply_chat_template gives a template: the conversation,
/// and the model's special tokens by name ("bos_token").
Variables variablesOf(const Conversation &Talk,
                      const std::map<std::string, std::string> &Tokens);

} // namespace tenon::chat

#endif // TENON_RUNTIME_CHAT_CONVERSATION_H
