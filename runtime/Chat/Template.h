//===- Template.h - Chat templates ------------------------------*- C++ -*-===//
//
// What turns a conversation into a prompt: the subset of Jinja that models'
// chat templates use (docs/chat-templates.md), with the text that Transformers'
// apply_chat_template gives. What is rendered remembers which of it the
// template wrote and which a user.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_CHAT_TEMPLATE_H
#define TENON_RUNTIME_CHAT_TEMPLATE_H

#include "runtime/Chat/Text.h"
#include "runtime/Support/Json.h"

#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::chat {

/// A part of a prompt, not empty, of one origin.
struct Piece {
  std::string Text;
  Origin From = Origin::Template;

  bool operator==(const Piece &) const = default;
};

/// The texts of all pieces, joined.
std::string joined(const std::vector<Piece> &Pieces);

/// What a template is rendered with.
struct Variables {
  /// What a request brings: "messages", "tools", "add_generation_prompt" and
  /// others; an object. All text in it is the user's, but for the value of
  /// "role" of a message where it is one of KnownRoles: there are templates
  /// that put control tokens together from it.
  Json OfUser = Json::object();
  /// What belongs to the model: "bos_token", "eos_token" and the like; an
  /// object. Text in it counts as the template's. A name that both have is the
  /// model's.
  Json OfModel = Json::object();
  /// What strftime_now tells; the local time if there is none.
  std::optional<std::tm> Now;
};

/// Roles whose names are not text of a user.
inline constexpr std::string_view KnownRoles[] = {
    "system", "developer", "user",  "assistant",
    "tool",   "function",  "model", "ipython"};

/// A template, parsed. May be used from any number of threads at once.
class Template {
public:
  /// Parses the text of a template. An error names line and column, what is
  /// wrong there and what was expected: syntax, tags, filters and tests that
  /// are not known, and what is nested too deep.
  static Result<Template> parse(std::string_view Source);

  Template(Template &&) noexcept;
  Template &operator=(Template &&) noexcept;
  ~Template();

  /// The prompt for a conversation, in pieces; neighbours differ in origin. An
  /// error names line and column: the template's own (raise_exception), those
  /// of values that an operation is not for, and limits of steps, nesting and
  /// length.
  Result<std::vector<Piece>> render(const Variables &Given) const;

private:
  struct Program;
  explicit Template(std::unique_ptr<const Program> Parsed);
  std::unique_ptr<const Program> Parsed;
};

} // namespace tenon::chat

#endif // TENON_RUNTIME_CHAT_TEMPLATE_H
