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

/// Calls `Change(Score, Count)` for the score of every token of `Tokens`, once
/// however often it occurs.
template <typename Function>
static void forEachToken(std::span<const int32_t> Tokens,
                         std::span<float> Scores, Function Change) {
  std::vector<int32_t> Sorted(Tokens.begin(), Tokens.end());
  std::sort(Sorted.begin(), Sorted.end());
  for (auto First = Sorted.begin(); First != Sorted.end();) {
    auto Next = std::upper_bound(First, Sorted.end(), *First);
    if (float *Score = find(Scores, *First))
      Change(*Score, static_cast<float>(Next - First));
    First = Next;
  }
}

/// Excludes the last token of `Word` behind the others.
static void excludeWord(std::span<const int32_t> Sequence,
                        std::span<float> Scores,
                        std::span<const int32_t> Word) {
  std::span<const int32_t> Start = Word.first(Word.size() - 1);
  if (Start.size() <= Sequence.size() &&
      std::equal(Start.begin(), Start.end(),
                 Sequence.last(Start.size()).begin()))
    exclude(Scores, Word.back());
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
  return !Bias.empty() || RepetitionPenalty != 1 || FrequencyPenalty != 0 ||
         PresencePenalty != 0 || NoRepeatNgram > 0 || !BadWords.empty() ||
         !Suppressed.empty() ||
         ((MinLength > 0 || MinNewTokens > 0) && !EndOfSequence.empty()) ||
         ForcedFirst || ForcedLast || Renormalize;
}

void LogitsRules::apply(std::span<const int32_t> Sequence, size_t PromptTokens,
                        std::span<float> Scores) const {
  auto Length = static_cast<int64_t>(Sequence.size());
  std::span<const int32_t> New = Sequence.subspan(PromptTokens);
  for (const TokenBias &B : Bias)
    if (float *Score = find(Scores, B.Token))
      *Score += B.Bias;
  if (RepetitionPenalty != 1)
    forEachToken(
        Sequence, Scores,
        [Factor = static_cast<float>(RepetitionPenalty)](float &Score, float) {
          Score = Score < 0 ? Score * Factor : Score / Factor;
        });
  if (FrequencyPenalty != 0 || PresencePenalty != 0)
    forEachToken(New, Scores,
                 [Frequency = static_cast<float>(FrequencyPenalty),
                  Presence = static_cast<float>(PresencePenalty)](float &Score,
                                                                  float Count) {
                   Score -= Frequency * Count;
                   Score -= Presence;
                 });
  if (NoRepeatNgram > 0)
    excludeNgrams(Sequence, Scores, static_cast<size_t>(NoRepeatNgram));
  for (const std::vector<int32_t> &Word : BadWords)
    excludeWord(Sequence, Scores, Word);
  for (int32_t Token : Suppressed)
    exclude(Scores, Token);
  if (Length < MinLength || static_cast<int64_t>(New.size()) < MinNewTokens)
    for (int32_t Token : EndOfSequence)
      exclude(Scores, Token);
  if (ForcedFirst && Length == 1)
    force(Scores, *ForcedFirst);
  if (ForcedLast && Length == MaxLength - 1)
    force(Scores, *ForcedLast);
  if (Renormalize)
    logSoftmax(Scores);
}

Status sampling::check(const LogitsRules &Rules, int64_t Vocabulary,
                       SettingNames Name) {
  std::string Known = "0 to " + std::to_string(Vocabulary - 1);
  auto IsKnown = [&](int32_t Token) {
    return Token >= 0 && Token < Vocabulary;
  };
  std::vector<int32_t> Biased;
  for (const TokenBias &B : Rules.Bias) {
    std::string Of = "logit_bias of token " + std::to_string(B.Token);
    if (!IsKnown(B.Token))
      return Name.refuse("logit_bias of token", int64_t(B.Token), Known);
    if (!(std::abs(B.Bias) <= 100))
      return Name.refuse(Of, double(B.Bias), "-100 to 100");
    Biased.push_back(B.Token);
  }
  std::sort(Biased.begin(), Biased.end());
  if (auto Twice = std::adjacent_find(Biased.begin(), Biased.end());
      Twice != Biased.end())
    return Error(Name("logit_bias") + " of token " + std::to_string(*Twice) +
                 " is given twice: expected it once");
  double Penalty = Rules.RepetitionPenalty;
  // Beyond, what is left of a score may not be finite.
  if (!(Penalty >= 1e-6 && Penalty <= 1e6))
    return Name.refuse("repetition_penalty", Penalty,
                       "0.000001 to 1000000 (1 changes nothing)");
  for (auto [Setting, Value] :
       {std::pair("presence_penalty", Rules.PresencePenalty),
        std::pair("frequency_penalty", Rules.FrequencyPenalty)})
    if (!(std::abs(Value) <= 2))
      return Name.refuse(Setting, Value, "-2 to 2");
  for (const std::vector<int32_t> &Word : Rules.BadWords) {
    if (Word.empty())
      return Error(Name("bad_words") +
                   ": one has no tokens: expected at least one");
    for (int32_t Token : Word)
      if (!IsKnown(Token))
        return Error(Name("bad_words") + ": token id " + std::to_string(Token) +
                     ": expected " + Known);
  }
  return {};
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
