//===- ContentForm.h - How a template reads messages ------------*- C++ -*-===//

#ifndef TENON_RUNTIME_CHAT_CONTENTFORM_H
#define TENON_RUNTIME_CHAT_CONTENTFORM_H

#include "runtime/Chat/Conversation.h"

#include <map>
#include <string>

namespace tenon::chat {

/// What a template does with the content of messages.
struct ContentForm {
  bool ReadsText = true; ///< Strings come out.
  /// Null, which messages with calls have, comes out as nothing.
  bool ReadsNull = true;
  /// Texts of arrays of parts come out: {"type": "text", "text": TEXT}.
  bool ReadsParts = false;
  /// {"type": "image"} among them becomes the model's image token.
  bool ReadsImages = false;
  /// It does not, though the model has such a token.
  bool NeedsMarks = false;
};

/// That of a template, found by rendering it. `Tokens` are as for variablesOf;
/// `ImageToken` is the text of the model's image token, or empty.
ContentForm contentFormOf(const Template &T,
                          const std::map<std::string, std::string> &Tokens,
                          const std::string &ImageToken);

/// Makes the content of messages what a template of the form `Form` reads.
/// Strings become parts where it reads nothing else; null, or none at all, is
/// empty where it can't read null. Content with images, an
/// array of {"type": "image"} and texts, becomes a text where the template
/// needs marks, with one for each image before it: withImageTokens() puts image
/// tokens in their place. The mark, or "" where there is none.
std::string fitContent(Conversation &Talk, const ContentForm &Form);

/// Makes objects of the arguments of calls that are JSON texts, as APIs have
/// them, for templates read objects. No text is no arguments; what is no JSON,
/// which a model may have written, stays a text.
void parseArguments(Conversation &Talk);

/// The prompt with the template's text `ImageToken`, and a newline, in the
/// place of each `Mark`.
std::vector<Piece> withImageTokens(std::vector<Piece> Prompt,
                                   std::string_view Mark,
                                   const std::string &ImageToken);

/// Why `T` makes no prompt of `Talk`: its arguments of a call that are no
/// object, where it makes one with objects in their place; else `Failure`.
Error whyNoPrompt(const Template &T,
                  const std::map<std::string, std::string> &Tokens,
                  Conversation Talk, const Error &Failure);

} // namespace tenon::chat

#endif // TENON_RUNTIME_CHAT_CONTENTFORM_H
