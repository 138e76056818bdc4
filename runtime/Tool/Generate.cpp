//===- Generate.cpp - Token after token -----------------------------------===//

#include "runtime/Tool/Generation.h"
#include "runtime/Tool/ProcessInfo.h"

#include <algorithm>

using namespace tenon;

bool Generation::isEnd(int32_t Token) const {
  return std::find(Rules.EndOfSequence.begin(), Rules.EndOfSequence.end(),
                   Token) != Rules.EndOfSequence.end();
}

void tenon::fail(Generation &G, const Error &Reason) {
  G.Failure = Reason;
  G.FinishReason = "error";
}

Json tenon::timingsJson(const Timings &T) {
  Json J = Json::object();
  J["load_s"] = T.Load;
  J["first_token_s"] = T.FirstToken;
  J["prefill_s"] = T.Prefill;
  J["decode_s"] = T.Decode;
  if (T.Prefill > 0)
    J["prefill_tokens_per_s"] = static_cast<double>(T.PromptTokens) / T.Prefill;
  if (T.Decode > 0)
    J["decode_tokens_per_s"] = static_cast<double>(T.DecodedTokens) / T.Decode;
  return J;
}

std::string tenon::lineOf(const Json &J) {
  return J.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status tenon::encodeSources(Session &S, std::vector<Generation> &All) {
  std::vector<SourceItem> Items;
  std::vector<Generation *> Owners;
  for (Generation &G : All)
    if (!G.Source.empty()) {
      Items.push_back({G.Sequence, G.Source});
      Owners.push_back(&G);
    }
  if (Items.empty())
    return {};
  Result<std::vector<ItemResult>> Answers = S.encodeSources(Items);
  if (!Answers)
    return Answers.error();
  for (size_t I = 0; I < Owners.size(); ++I)
    if (!(*Answers)[I].Outcome)
      fail(*Owners[I], (*Answers)[I].Outcome.error());
  return {};
}

/// The next token after `Logits`, by the rules and choice of `G`.
static Result<int32_t> pick(Generation &G, std::span<const float> Logits) {
  if (!G.Rules.any())
    return G.Choice.pick(Logits);
  std::vector<float> Scores(Logits.begin(), Logits.end());
  std::vector<int32_t> Sequence = G.Prompt;
  Sequence.insert(Sequence.end(), G.NewTokens.begin(), G.NewTokens.end());
  G.Rules.apply(Sequence, Scores);
  return G.Choice.pick(Scores);
}

Status tenon::generate(Session &S, std::vector<Generation> &All, bool Stream,
                       Timings &Times) {
  const Manifest &Info = S.model().manifest();
  Result<const Entry *> Code = S.model().entry("step");
  if (!Code)
    return Code.error();
  auto Emit = [&](Generation &G, const std::string &Piece) -> Status {
    G.Text += Piece;
    return Stream ? print(Piece) : Status();
  };
  double Start = secondsNow();
  for (Generation &G : All)
    G.Sequence = S.createSequence();
  if (Status Encoded = encodeSources(S, All); !Encoded)
    return Encoded;

  for (bool First = true;; First = false) {
    double Begin = First ? Start : secondsNow();
    std::vector<StepItem> Items;
    std::vector<Generation *> Owners;
    for (Generation &G : All) {
      if (!G.FinishReason.empty())
        continue;
      auto Tokens = First ? std::span<const int32_t>(G.Prompt)
                          : std::span<const int32_t>(G.NewTokens).last(1);
      Items.push_back({G.Sequence, Tokens, {}, OutputRows::Last});
      Owners.push_back(&G);
    }
    if (Items.empty())
      return {};
    Result<std::vector<ItemResult>> Answers = S.step(Items);
    if (!Answers)
      return Answers.error();
    for (size_t I = 0; I < Owners.size(); ++I) {
      Generation &G = *Owners[I];
      const ItemResult &Answer = (*Answers)[I];
      std::optional<int32_t> Token;
      if (!Answer.Outcome) {
        fail(G, Answer.Outcome.error());
      } else if (G.Limit > 0) {
        Result<int32_t> Picked =
            pick(G, scoresOf(Answer.Values, Info, (*Code)->Info));
        if (Picked)
          Token = *Picked;
        else
          fail(G, Picked.error());
      }
      if (Token) {
        G.NewTokens.push_back(*Token);
        if (G.isEnd(*Token))
          G.FinishReason = "eos";
        else if (G.Decoder)
          if (Status Done = Emit(G, G.Decoder->push(*Token)); !Done)
            return Done;
      }
      if (G.FinishReason.empty() &&
          static_cast<int64_t>(G.NewTokens.size()) >= G.Limit)
        G.FinishReason = "length";
      if (!G.FinishReason.empty()) {
        if (G.Decoder)
          if (Status Done = Emit(G, G.Decoder->finish()); !Done)
            return Done;
        if (Status Done = S.endSequence(G.Sequence); !Done)
          return Done;
      }
    }
    double Took = secondsNow() - Begin;
    if (First) {
      Times.FirstToken = secondsSinceStart();
      Times.Prefill = Took;
      for (const Generation *G : Owners)
        Times.PromptTokens +=
            static_cast<int64_t>(G->Prompt.size() + G->Source.size());
    } else {
      Times.Decode += Took;
      Times.DecodedTokens += static_cast<int64_t>(Owners.size());
    }
  }
}
