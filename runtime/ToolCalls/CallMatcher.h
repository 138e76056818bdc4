//===- CallMatcher.h - One pattern against a growing text -------*- C++ -*-===//

#ifndef TENON_RUNTIME_TOOLCALLS_CALLMATCHER_H
#define TENON_RUNTIME_TOOLCALLS_CALLMATCHER_H

#include "runtime/ToolCalls/ToolCallParser.h"

namespace tenon::tools {

/// An element whose text has SpecialByte before each special token.
struct BoundElement {
  Element::Kind What;
  std::string Text;
};

/// Stands before the text of a special token in a parser's buffer; UTF-8 has
/// no such byte.
inline constexpr char SpecialByte = '\xFF';

/// `Text` without the bytes that stand before special tokens.
inline std::string withoutSpecialBytes(std::string_view Text) {
  std::string Plain(Text);
  std::erase(Plain, SpecialByte);
  return Plain;
}

/// `Mark` with SpecialByte before each special token in it. Those stand in
/// brackets, in every vocabulary that has some in these formats.
std::string boundMark(std::string_view Mark,
                      const std::function<bool(std::string_view)> &Special);

/// Matches one pattern with a text that grows, each byte looked at once.
class CallMatcher {
public:
  enum class Answer { More, Yes, No };

  CallMatcher(const std::vector<BoundElement> &Pattern, const Json &Tools)
      : Pattern(&Pattern), Tools(&Tools) {}

  /// `Text` is what was given before and what came since. `Final`: no more
  /// comes.
  Answer advance(std::string_view Text, bool Final);

  /// After Yes: the bytes that the pattern took, and the calls in them.
  size_t length() const { return At; }
  std::vector<ToolCall> &calls() { return Calls; }
  /// More than the first mark was there.
  bool isBegun() const { return Index > 0 || Depth > 0; }
  /// The pattern begins without a mark.
  bool isBare() const { return Pattern->front().What != Element::Mark; }

private:
  Answer step(std::string_view Text, bool Final);
  Answer mark(std::string_view Text, bool Final);
  Answer maybe(std::string_view Text, bool Final);
  Answer word(std::string_view Text, bool Final);
  Answer skipTo(std::string_view Text);
  Answer field(std::string_view Text);
  Answer repeat(std::string_view Text, bool Final);
  Answer balanced(std::string_view Text);
  Answer whole(std::string_view Value);
  bool addCall(const Json &Call);
  std::string_view nextMark() const;
  /// The position at which `Want` stands in Text at or after Scan.
  size_t search(std::string_view Text, std::string_view Want);
  Answer done() {
    ++Index;
    Scan = 0;
    return Answer::Yes;
  }

  const std::vector<BoundElement> *Pattern;
  const Json *Tools;
  size_t Index = 0; ///< Of the element that is matched.
  size_t At = 0;    ///< Where it begins.
  size_t Scan = 0;  ///< Where to look on; 0: at the element's begin.

  // Of a value in brackets.
  int Depth = 0;
  char Quote = 0; ///< That the scan is within; SpecialByte: a mark's.

  // What was read.
  std::string Name, Key;
  /// How the next Value is read.
  enum class Typed { BySchema, Text, Json } ValueType = Typed::BySchema;
  bool HasObject = false;
  Json Arguments = Json::object();
  std::string RawArguments;
  std::vector<ToolCall> Calls;
};

} // namespace tenon::tools

#endif // TENON_RUNTIME_TOOLCALLS_CALLMATCHER_H
