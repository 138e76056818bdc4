//===- GenerateByBeams.cpp - Beam search over a session -------------------===//

#include "runtime/Sampling/BeamSearch.h"
#include "runtime/Tool/Generation.h"
#include "runtime/Tool/ProcessInfo.h"

#include <algorithm>

using namespace tenon;

namespace {

/// One prompt's search, and the sequence of each running beam.
struct Job {
  Generation *Owner;
  BeamSearch Search;
  std::vector<SequenceId> Sequences;
  /// What each beam appends in the next step.
  std::vector<int32_t> Tokens;
};

} // namespace

/// Gives every beam that goes on a sequence: its parent's, or a fork of it
/// where several continue the same one. Others end.
static Status
follow(Session &S, Job &J,
       const std::vector<BeamSearch::Continuation> &Continuations) {
  std::vector<bool> Taken(J.Sequences.size());
  std::vector<SequenceId> Next;
  J.Tokens.clear();
  for (const BeamSearch::Continuation &C : Continuations) {
    SequenceId Id = J.Sequences[C.Parent];
    if (Taken[C.Parent]) {
      Result<SequenceId> Fork = S.forkSequence(Id);
      if (!Fork)
        return Fork.error();
      Id = *Fork;
    }
    Taken[C.Parent] = true;
    Next.push_back(Id);
    J.Tokens.push_back(C.Token);
  }
  for (size_t I = 0; I < Taken.size(); ++I)
    if (!Taken[I])
      if (Status Ended = S.endSequence(J.Sequences[I]); !Ended)
        return Ended;
  J.Sequences = std::move(Next);
  return {};
}

/// Takes the answers to the beams of `J`, and moves them on.
static Status advance(Session &S, const EntryInfo &Code, Job &J,
                      std::span<const ItemResult> Answers) {
  Generation &G = *J.Owner;
  std::vector<std::span<const float>> Logits;
  for (const ItemResult &Answer : Answers) {
    if (!Answer.Outcome) {
      fail(G, Answer.Outcome.error());
      return follow(S, J, {});
    }
    Logits.push_back(scoresOf(Answer.Values, S.model().manifest(), Code));
  }
  Result<std::vector<BeamSearch::Continuation>> Next = J.Search.advance(Logits);
  if (!Next) {
    fail(G, Next.error());
    return follow(S, J, {});
  }
  if (J.Search.finished()) {
    G.NewTokens = J.Search.best();
    G.Score = J.Search.bestScore();
    G.FinishReason = G.isEnd(G.NewTokens.back()) ? "eos" : "length";
    if (G.Decoder) {
      for (int32_t Token : G.NewTokens)
        if (!G.isEnd(Token))
          G.Text += G.Decoder->push(Token);
      G.Text += G.Decoder->finish();
    }
  }
  return follow(S, J, *Next);
}

Status tenon::generateByBeams(Session &S, std::vector<Generation> &All,
                              const BeamSettings &Settings, Timings &Times) {
  Result<const Entry *> Code = S.model().entry("step");
  if (!Code)
    return Code.error();
  double Begin = secondsNow();
  for (Generation &G : All)
    G.Sequence = S.createSequence();
  if (Status Encoded = encodeSources(S, All); !Encoded)
    return Encoded;
  std::vector<Job> Jobs;
  for (Generation &G : All) {
    if (!G.FinishReason.empty())
      continue;
    if (G.Limit <= 0) {
      G.FinishReason = "length";
      continue;
    }
    Result<BeamSearch> Search =
        BeamSearch::create({Settings.Beams, Settings.LengthPenalty,
                            Settings.EarlyStopping, G.Rules},
                           G.Prompt);
    if (!Search)
      return Search.error();
    Times.PromptTokens +=
        static_cast<int64_t>(G.Prompt.size() + G.Source.size());
    Jobs.push_back({&G, std::move(*Search), {G.Sequence}, {}});
  }

  for (bool First = true; !Jobs.empty(); First = false) {
    std::vector<StepItem> Items;
    for (const Job &J : Jobs)
      for (size_t Beam = 0; Beam < J.Sequences.size(); ++Beam)
        Items.push_back({J.Sequences[Beam],
                         First ? std::span<const int32_t>(J.Owner->Prompt)
                               : std::span(J.Tokens).subspan(Beam, 1),
                         {},
                         OutputRows::Last});
    Result<std::vector<ItemResult>> Answers = S.step(Items);
    if (!Answers)
      return Answers.error();
    std::span<const ItemResult> Left(*Answers);
    for (Job &J : Jobs) {
      size_t Count = J.Sequences.size();
      if (Status Done = advance(S, (*Code)->Info, J, Left.first(Count)); !Done)
        return Done;
      Left = Left.subspan(Count);
    }
    double Took = secondsNow() - Begin;
    if (First) {
      Times.FirstToken = secondsSinceStart();
      Times.Prefill = Took;
    } else {
      Times.Decode += Took;
      Times.DecodedTokens += static_cast<int64_t>(Jobs.size());
    }
    std::erase_if(Jobs,
                  [](const Job &J) { return !J.Owner->FinishReason.empty(); });
    Begin = secondsNow();
  }
  return {};
}
