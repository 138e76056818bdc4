//===- StopStrings.h - Texts that end a text --------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_GENERATION_STOPSTRINGS_H
#define TENON_RUNTIME_GENERATION_STOPSTRINGS_H

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::generation {

/// Looks for stop strings in a text that comes in pieces. The first that is
/// complete ends the text, of several that end at the same byte the longest;
/// how the text is cut into pieces makes no difference. What might still become
/// a stop string is held back. As stop strings are UTF-8, pieces of whole
/// characters give pieces of whole characters.
class StopStrings {
public:
  /// None of `Texts` may be empty.
  explicit StopStrings(const std::vector<std::string> &Texts);

  /// The text that is certain not to belong to a stop string, now that `Text`
  /// follows. After a stop string has been found, none.
  std::string push(std::string_view Text);
  /// What is held back: at the end of a text it is a part of it.
  std::string finish();

  /// The index of the stop string that has ended the text.
  std::optional<size_t> found() const { return Found; }

private:
  /// Matched by the algorithm of Knuth, Morris and Pratt.
  struct Pattern {
    std::string Text;
    /// The longest proper prefix of the first I + 1 bytes that ends them too.
    std::vector<size_t> Borders;
    size_t Matched = 0; ///< So many of its bytes end the text so far.

    explicit Pattern(std::string Text);
    bool accept(char Byte);
  };

  std::vector<Pattern> Patterns;
  std::string Held; ///< The longest that a pattern has matched.
  std::optional<size_t> Found;
};

} // namespace tenon::generation

#endif // TENON_RUNTIME_GENERATION_STOPSTRINGS_H
