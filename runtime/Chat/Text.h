//===- Text.h - Strings that know who wrote them ----------------*- C++ -*-===//

#ifndef TENON_RUNTIME_CHAT_TEXT_H
#define TENON_RUNTIME_CHAT_TEXT_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::chat {

/// Who wrote a piece of text, or chose a value.
enum class Origin : uint8_t {
  Template, ///< The template and what belongs to it: may hold control tokens.
  User      ///< Messages, tools and other input of a request: may not.
};

/// What is made of two values is the user's as soon as one of them is.
inline Origin mixed(Origin A, Origin B) { return A == Origin::User ? A : B; }

/// A string, valid UTF-8, in runs of bytes of one origin.
class Text {
public:
  /// Bytes from the end of the run before up to `End`.
  struct Run {
    size_t End;
    Origin From;
  };

  Text() = default;
  Text(std::string Content, Origin From) : Bytes(std::move(Content)) {
    if (!Bytes.empty())
      Runs.push_back({Bytes.size(), From});
  }

  const std::string &str() const { return Bytes; }
  size_t size() const { return Bytes.size(); }
  bool empty() const { return Bytes.empty(); }
  /// Neighbours differ in origin; none is empty.
  const std::vector<Run> &runs() const { return Runs; }

  /// User if any byte is the user's.
  Origin origin() const;
  /// That of the byte `At`; of the last one behind the end.
  Origin originAt(size_t At) const;

  void append(std::string_view Content, Origin From);
  void append(const Text &Other) { append(Other, 0, Other.size()); }
  /// Appends the bytes [Begin, End) of another text.
  void append(const Text &Other, size_t Begin, size_t End);
  /// The bytes [Begin, End).
  Text part(size_t Begin, size_t End) const;

private:
  /// The index of the run that holds the byte `At`.
  size_t runAt(size_t At) const;

  std::string Bytes;
  std::vector<Run> Runs;
};

/// Where `Needle` begins in `Text` from byte `From` on, or npos. Takes time
/// linear in both, whatever they hold.
size_t findText(std::string_view Text, std::string_view Needle, size_t From);

/// The byte at which the code point `Index` of valid UTF-8 begins; its size
/// when it has no more than that many.
size_t byteOfCode(std::string_view Text, size_t Index);

/// What str.isspace() of Python holds for.
bool isSpace(char32_t Code);

/// `Text` without white space, or without the characters of `Characters`, on
/// the sides asked for: where the rest begins and ends.
struct TrimmedRange {
  size_t Begin, End;
};
TrimmedRange trimmed(std::string_view Text, const std::string *Characters,
                     bool Left, bool Right);

/// Python's str.lower() and others, of each character alone but for a final
/// sigma.
Text toLower(const Text &From);
Text toUpper(const Text &From);
/// The first character in upper case, the rest in lower case.
Text capitalized(const Text &From);
/// As str.title(): words are runs of letters.
Text titled(const Text &From);

/// The ranges of the lines of `Text` as str.splitlines() sees them, with the
/// ends of lines or without.
std::vector<TrimmedRange> linesOf(std::string_view Text, bool KeepEnds);

} // namespace tenon::chat

#endif // TENON_RUNTIME_CHAT_TEXT_H
