//===- ChatInput.h - What somebody types into a chat ------------*- C++ -*-===//

#ifndef TENON_RUNTIME_TOOL_CHATINPUT_H
#define TENON_RUNTIME_TOOL_CHATINPUT_H

#include <optional>
#include <string>
#include <string_view>

namespace tenon::tool {

/// A whole input: a message, or a command.
struct ChatInput {
  std::string Text;
  /// It stood between lines of three quotes: a message, whatever it begins
  /// with.
  bool IsBlock = false;

  /// Begins with a slash and is no block.
  bool isCommand() const { return !IsBlock && Text.starts_with('/'); }
  /// Of a command: what stands before its first space, and what behind it
  /// without the spaces around.
  std::string_view command() const;
  std::string_view argument() const;
};

/// Makes inputs of lines. A line that ends with a backslash goes on with the
/// next, and what stands between two lines of """ is one message.
class ChatInputReader {
public:
  /// Takes a line, without the character that ends it: the input that it
  /// completes, if any. Blank lines outside of inputs are none.
  std::optional<ChatInput> take(std::string_view Line);
  /// No more lines come: the input that was begun.
  std::optional<ChatInput> finish();

  /// Whether the next line goes on with an input.
  bool isInside() const { return Begun.has_value(); }
  /// Forgets an input that was begun.
  void drop() { Begun.reset(); }

private:
  std::optional<ChatInput> Begun;
};

/// `Text` without spaces, tabs and carriage returns at both ends.
std::string_view withoutBlanks(std::string_view Text);

} // namespace tenon::tool

#endif // TENON_RUNTIME_TOOL_CHATINPUT_H
