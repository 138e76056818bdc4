//===- PromptLookup.cpp - Guesses from what was there before --------------===//

#include "runtime/Generation/PromptLookup.h"

#include <algorithm>

using namespace tenon::generation;

/// After so many guessed tokens it is decided whether to go on.
static constexpr size_t Trial = 8;
/// A row more in a step costs up to a fifth of the step: with fewer right ones
/// among so many guessed, guesses lose.
static constexpr size_t WorthOneIn = 4;
/// Tokens without guesses after that: at first, and after many times.
static constexpr size_t FirstPause = 32, LongestPause = 1024;

/// Whether to guess the next tokens; to be asked once for each step.
bool PromptLookup::isDue() {
  if (Pause == 0)
    return true;
  --Pause;
  return false;
}

std::vector<int32_t> PromptLookup::guess(std::span<const int32_t> Text,
                                         size_t Most) {
  if (!isDue() || Most == 0)
    return {};
  for (size_t Length = LongestMatch; Length >= ShortestMatch; --Length) {
    if (Text.size() <= Length)
      continue;
    std::span<const int32_t> Last = Text.last(Length);
    // The latest occurrence that something follows.
    auto Found =
        std::search(Text.rbegin() + 1, Text.rend(), Last.rbegin(), Last.rend());
    if (Found == Text.rend())
      continue;
    auto From = static_cast<size_t>(Text.rend() - Found);
    // What repeats with a short period goes on with what is guessed itself.
    std::vector<int32_t> Guess;
    for (size_t At = From; Guess.size() < Most; ++At)
      Guess.push_back(At < Text.size() ? Text[At] : Guess[At - Text.size()]);
    return Guess;
  }
  return {};
}

void PromptLookup::observe(size_t NewGuessed, size_t NewAccepted) {
  Guessed += NewGuessed;
  Accepted += NewAccepted;
  if (Guessed < Trial)
    return;
  if (Accepted * WorthOneIn < Guessed) {
    NextPause = std::clamp(2 * NextPause, FirstPause, LongestPause);
    Pause = NextPause;
  } else {
    NextPause = 0;
  }
  Guessed = Accepted = 0;
}
