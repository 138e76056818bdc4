//===- ChatInput.cpp - What somebody types into a chat --------------------===//

#include "runtime/Tool/ChatInput.h"

#include <utility>

using namespace tenon;
using namespace tenon::tool;

static constexpr std::string_view Blanks = " \t\r";
static constexpr std::string_view Quotes = "\"\"\"";

std::string_view tool::withoutBlanks(std::string_view Text) {
  size_t Begin = Text.find_first_not_of(Blanks);
  if (Begin == std::string_view::npos)
    return {};
  return Text.substr(Begin, Text.find_last_not_of(Blanks) + 1 - Begin);
}

std::string_view ChatInput::command() const {
  std::string_view Whole = Text;
  return Whole.substr(0, Whole.find_first_of(" \t\r\n"));
}

std::string_view ChatInput::argument() const {
  return withoutBlanks(std::string_view(Text).substr(command().size()));
}

std::optional<ChatInput> ChatInputReader::take(std::string_view Line) {
  if (Line.ends_with('\r'))
    Line.remove_suffix(1);
  bool IsQuotes = withoutBlanks(Line) == Quotes;
  if (Begun && Begun->IsBlock) {
    if (!IsQuotes) {
      Begun->Text.append(Line).append("\n");
      return std::nullopt;
    }
    return finish();
  }
  if (!Begun && IsQuotes) {
    Begun = ChatInput{"", true};
    return std::nullopt;
  }
  if (!Begun && withoutBlanks(Line).empty())
    return std::nullopt;
  bool GoesOn = Line.ends_with('\\');
  if (GoesOn)
    Line.remove_suffix(1);
  if (!Begun)
    Begun.emplace();
  Begun->Text.append(Line);
  if (!GoesOn)
    return finish();
  Begun->Text += '\n';
  return std::nullopt;
}

std::optional<ChatInput> ChatInputReader::finish() {
  std::optional<ChatInput> Whole = std::exchange(Begun, std::nullopt);
  if (Whole && Whole->Text.ends_with('\n'))
    Whole->Text.pop_back();
  if (Whole && Whole->Text.empty())
    return std::nullopt;
  return Whole;
}
