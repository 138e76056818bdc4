//===- BeamSearch.cpp - The likeliest sequence found by several -----------===//

#include "runtime/Sampling/BeamSearch.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace tenon;
using namespace tenon::sampling;

/// Stands for "no score yet"; Transformers' value, which decides ties with
/// beams that have none.
static constexpr float NoScore = -1e9f;

Result<BeamSearch> BeamSearch::create(const BeamOptions &Options,
                                      std::vector<int32_t> Prompt) {
  if (Options.Beams < 1 || Options.Beams > MaxBeams)
    return Error("beams is " + std::to_string(Options.Beams) +
                 ": expected 1 to " + std::to_string(MaxBeams));
  if (!std::isfinite(Options.LengthPenalty))
    return Error("length penalty is " + std::to_string(Options.LengthPenalty) +
                 ": expected a finite number");
  auto Length = static_cast<int64_t>(Prompt.size());
  if (Length == 0 || Options.Rules.MaxLength <= Length)
    return Error("prompt of " + std::to_string(Length) +
                 " tokens: expected at least one, and fewer than the length "
                 "limit of " +
                 std::to_string(Options.Rules.MaxLength));
  return BeamSearch(Options, std::move(Prompt));
}

BeamSearch::BeamSearch(const BeamOptions &Options, std::vector<int32_t> Prompt)
    : Options(Options), PromptLength(Prompt.size()),
      Beams{{std::move(Prompt), 0, {}}} {}

/// The best continuations of all beams, best first; of equal ones first those
/// of the earlier beam and the lower token.
Result<std::vector<BeamSearch::Candidate>>
BeamSearch::likeliest(std::span<const std::span<const float>> Logits) {
  const LogitsRules &Rules = Options.Rules;
  auto Count = static_cast<size_t>(Options.Beams);
  size_t Kept = std::max<size_t>(2, 1 + Rules.EndOfSequence.size()) * Count;
  auto IsBetter = [](const Candidate &A, const Candidate &B) {
    if (A.Score != B.Score)
      return A.Score > B.Score;
    return A.Parent != B.Parent ? A.Parent < B.Parent : A.Token < B.Token;
  };
  // A heap with the worst in front.
  std::vector<Candidate> Best;
  auto Add = [&](size_t Parent, float Sum) {
    for (size_t T = 0; T < Scores.size(); ++T) {
      Candidate New{Scores[T] + Sum, Parent, static_cast<int32_t>(T), false};
      if (Best.size() == Kept) {
        if (!(New.Score > Best.front().Score))
          continue;
        std::pop_heap(Best.begin(), Best.end(), IsBetter);
        Best.pop_back();
      }
      Best.push_back(New);
      std::push_heap(Best.begin(), Best.end(), IsBetter);
    }
  };
  for (size_t B = 0; B < Beams.size(); ++B) {
    for (size_t T = 0; T < Logits[B].size(); ++T)
      // False for NaN and +inf alike.
      if (!(Logits[B][T] <= std::numeric_limits<float>::max()))
        return Error("logit of token " + std::to_string(T) + " is " +
                     (std::isnan(Logits[B][T]) ? "NaN" : "infinite") +
                     ": the model's output is unusable");
    Scores.assign(Logits[B].begin(), Logits[B].end());
    logSoftmax(Scores);
    Rules.apply(Beams[B].Tokens, PromptLength, Scores);
    Add(B, Beams[B].Score);
  }
  // The first step has as many beams as the others, but all equal: the copies
  // matter only where the vocabulary has too few tokens.
  for (size_t Copy = Beams.size(); Copy < Count; ++Copy)
    Add(0, NoScore);
  std::sort(Best.begin(), Best.end(), IsBetter);
  bool AtLimit =
      static_cast<int64_t>(Beams.front().Tokens.size()) + 1 >= Rules.MaxLength;
  for (Candidate &C : Best)
    C.Ends = AtLimit ||
             std::find(Rules.EndOfSequence.begin(), Rules.EndOfSequence.end(),
                       C.Token) != Rules.EndOfSequence.end() ||
             endsText(C);
  return Best;
}

bool BeamSearch::endsText(const Candidate &C) const {
  if (!Options.EndsText)
    return false;
  const std::vector<int32_t> &Parent = Beams[C.Parent].Tokens;
  std::vector<int32_t> New(
      Parent.begin() + static_cast<ptrdiff_t>(PromptLength), Parent.end());
  New.push_back(C.Token);
  return Options.EndsText(New);
}

/// The beam that `C` makes of its parent.
BeamSearch::Beam
BeamSearch::grown(const Candidate &C,
                  std::span<const std::span<const float>> Logits) const {
  Beam Grown = Beams[C.Parent];
  Grown.Tokens.push_back(C.Token);
  Grown.Score = C.Score;
  if (Options.Scored) {
    auto Row = LogProbabilities::of(Logits[C.Parent]);
    // likeliest() has looked at the logits; they may all be -infinity.
    Grown.Scored.push_back(
        Row ? Row->score(C.Token, *Options.Scored)
            : ScoredToken{{C.Token, -std::numeric_limits<float>::infinity()},
                          {}});
  }
  return Grown;
}

/// Moves those of the best candidates that end to the finished sequences.
void BeamSearch::finish(std::span<const Candidate> Candidates,
                        std::span<const std::span<const float>> Logits) {
  auto Count = static_cast<size_t>(Options.Beams);
  size_t NewTokens = Beams.front().Tokens.size() + 1 - PromptLength;
  auto Norm = static_cast<float>(
      std::pow(static_cast<double>(NewTokens), Options.LengthPenalty));
  // Candidates beyond the first only make sure that enough go on.
  for (const Candidate &C :
       Candidates.first(std::min(Count, Candidates.size()))) {
    if (!C.Ends)
      continue;
    Beam Done = grown(C, Logits);
    Done.Tokens.erase(Done.Tokens.begin(),
                      Done.Tokens.begin() +
                          static_cast<ptrdiff_t>(PromptLength));
    Done.Score /= Norm;
    auto Place = std::upper_bound(
        Finished.begin(), Finished.end(), Done,
        [](const Beam &A, const Beam &B) { return A.Score > B.Score; });
    Finished.insert(Place, std::move(Done));
  }
  if (Finished.size() > Count)
    Finished.resize(Count);
}

/// Whether the best running beam may still become better than the worst
/// finished sequence.
bool BeamSearch::canImprove() const {
  float Worst = Finished.size() < static_cast<size_t>(Options.Beams)
                    ? NoScore
                    : Finished.back().Score;
  // Scores are negative: a longer sequence divides them by more, if it does.
  bool ToTheEnd =
      Options.Stops == EarlyStopping::Never && Options.LengthPenalty > 0;
  size_t Length = ToTheEnd ? static_cast<size_t>(Options.Rules.MaxLength)
                           : Beams.front().Tokens.size();
  auto Norm = static_cast<float>(std::pow(
      static_cast<double>(Length - PromptLength), Options.LengthPenalty));
  return Beams.front().Score / Norm > Worst;
}

Result<std::vector<BeamSearch::Continuation>>
BeamSearch::advance(std::span<const std::span<const float>> Logits) {
  if (Ended || Logits.size() != Beams.size() || Logits.front().empty())
    return Error("beam search: " + std::to_string(Logits.size()) +
                 " rows of logits: expected " +
                 std::to_string(Ended ? 0 : Beams.size()) +
                 " that are not "
                 "empty");
  Result<std::vector<Candidate>> Candidates = likeliest(Logits);
  if (!Candidates)
    return Candidates.error();
  finish(*Candidates, Logits);

  bool AllEnd = std::all_of(Candidates->begin(), Candidates->end(),
                            [](const Candidate &C) { return C.Ends; });
  for (Candidate &C : *Candidates)
    C.Score += C.Ends ? NoScore : 0;
  std::stable_sort(
      Candidates->begin(), Candidates->end(),
      [](const Candidate &A, const Candidate &B) { return A.Score > B.Score; });
  Candidates->resize(
      std::min(Candidates->size(), static_cast<size_t>(Options.Beams)));
  std::vector<Beam> Next;
  std::vector<Continuation> GoOn;
  for (const Candidate &C : *Candidates) {
    Next.push_back(grown(C, Logits));
    GoOn.push_back({C.Parent, C.Token});
  }
  Beams = std::move(Next);

  bool Full = Finished.size() == static_cast<size_t>(Options.Beams);
  Ended =
      AllEnd || !canImprove() || (Options.Stops == EarlyStopping::Yes && Full);
  if (!Ended)
    return GoOn;
  // Every candidate may have had no score at all.
  if (Finished.empty())
    return Error("beam search: no sequence has ended: expected a model whose "
                 "scores are finite");
  Beams.clear();
  return std::vector<Continuation>();
}
