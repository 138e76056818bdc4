//===- PromptLookup.h - Guesses from what was there before ------*- C++ -*-===//

#ifndef TENON_RUNTIME_GENERATION_PROMPTLOOKUP_H
#define TENON_RUNTIME_GENERATION_PROMPTLOOKUP_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tenon::generation {

/// Guesses the next tokens of a text from the text itself (prompt look-up
/// decoding, Saxena 2023): what followed the last few tokens where they last
/// occurred. Stops guessing for a while when its guesses are wrong.
class PromptLookup {
public:
  /// Tokens that have to be the same before a guess.
  static constexpr size_t LongestMatch = 3, ShortestMatch = 2;

  /// At most `Most` tokens that may follow `Text`.
  std::vector<int32_t> guess(std::span<const int32_t> Text, size_t Most);

  /// Of the last guess, the first `Accepted` tokens were right.
  void observe(size_t Guessed, size_t Accepted);

private:
  bool isDue();

  /// Of guesses since it began, or began again.
  size_t Guessed = 0, Accepted = 0;
  /// Guesses that it leaves out, and the last time did.
  size_t Pause = 0, NextPause = 0;
};

} // namespace tenon::generation

#endif // TENON_RUNTIME_GENERATION_PROMPTLOOKUP_H
