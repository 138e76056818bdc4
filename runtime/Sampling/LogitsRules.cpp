//===- LogitsRules.cpp - Rules of generation on a row of scores -----------===//

#include "runtime/Sampling/LogitsRules.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace tenon;
using namespace tenon::sampling;

static constexpr float Never = -std::numeric_limits<float>::infinity();

/// `Scores[Token]`, or null when the head does not score this token.
static float *find(std::span<float> Scores, int32_t Token) {
  auto Index = static_cast<size_t>(Token);
  return Token >= 0 && Index < Scores.size() ? &Scores[Index] : nullptr;
}

static void exclude(std::span<float> Scores, int32_t Token) {
  if (float *Score = find(Scores, Token))
    *Score = Never;
}

/// Leaves `Token` as the only choice.
static void force(std::span<float> Scores, int32_t Token) {
  std::fill(Scores.begin(), Scores.end(), Never);
  if (float *Score = find(Scores, Token))
    *Score = 0;
}

static void penalizeRepetition(std::span<const int32_t> Sequence,
                               std::span<float> Scores, double Penalty) {
  // Once per token, however often it occurs.
  std::vector<int32_t> Tokens(Sequence.begin(), Sequence.end());
  std::sort(Tokens.begin(), Tokens.end());
  Tokens.erase(std::unique(Tokens.begin(), Tokens.end()), Tokens.end());
  auto Factor = static_cast<float>(Penalty);
  for (int32_t Token : Tokens)
    if (float *Score = find(Scores, Token))
      *Score = *Score < 0 ? *Score * Factor : *Score / Factor;
}

/// Excludes what would complete an n-gram that the sequence already has.
static void excludeNgrams(std::span<const int32_t> Sequence,
                          std::span<float> Scores, size_t Size) {
  if (Sequence.size() + 1 < Size)
    return;
  std::span<const int32_t> Last = Sequence.last(Size - 1);
  for (size_t I = 0; I + Size <= Sequence.size(); ++I)
    if (std::equal(Last.begin(), Last.end(),
                   Sequence.begin() + static_cast<ptrdiff_t>(I)))
      exclude(Scores, Sequence[I + Size - 1]);
}

bool LogitsRules::any() const {
  return RepetitionPenalty != 1 || NoRepeatNgram > 0 || !Suppressed.empty() ||
         (MinLength > 0 && !EndOfSequence.empty()) || ForcedFirst ||
         ForcedLast || Renormalize;
}

void LogitsRules::apply(std::span<const int32_t> Sequence,
                        std::span<float> Scores) const {
  auto Length = static_cast<int64_t>(Sequence.size());
  if (RepetitionPenalty != 1)
    penalizeRepetition(Sequence, Scores, RepetitionPenalty);
  if (NoRepeatNgram > 0)
    excludeNgrams(Sequence, Scores, static_cast<size_t>(NoRepeatNgram));
  for (int32_t Token : Suppressed)
    exclude(Scores, Token);
  if (Length < MinLength)
    for (int32_t Token : EndOfSequence)
      exclude(Scores, Token);
  if (ForcedFirst && Length == 1)
    force(Scores, *ForcedFirst);
  if (ForcedLast && Length == MaxLength - 1)
    force(Scores, *ForcedLast);
  if (Renormalize)
    logSoftmax(Scores);
}

void sampling::logSoftmax(std::span<float> Scores) {
  if (Scores.empty())
    return;
  float Largest = *std::max_element(Scores.begin(), Scores.end());
  if (Largest == Never)
    return;
  double Sum = 0;
  for (float Score : Scores)
    Sum += std::exp(static_cast<double>(Score - Largest));
  auto Log = static_cast<float>(std::log(Sum));
  for (float &Score : Scores)
    Score = Score - Largest - Log;
}
