//===- BenchCommand.cpp - tenon bench -------------------------------------===//

#include "runtime/Engine/Session.h"
#include "runtime/Sampling/Sampler.h"
#include "runtime/Tool/Commands.h"
#include "runtime/Tool/ProcessInfo.h"

#include <algorithm>
#include <random>

using namespace tenon;

namespace {

/// What one round took, in seconds.
struct Round {
  double Prefill = 0;
  double Decode = 0;
};

} // namespace

static double medianOf(std::vector<double> Values) {
  std::sort(Values.begin(), Values.end());
  size_t Middle = Values.size() / 2;
  return Values.size() % 2 != 0 ? Values[Middle]
                                : (Values[Middle - 1] + Values[Middle]) / 2;
}

static Status firstFailure(const std::vector<ItemResult> &Answers) {
  for (const ItemResult &Answer : Answers)
    if (!Answer.Outcome)
      return Answer.Outcome;
  return {};
}

/// One prefill of every prompt and the decoding steps after it.
static Result<Round> runDecoder(Session &S,
                                const std::vector<std::vector<int32_t>> &Ids,
                                int64_t NewTokens, double &FirstToken) {
  Result<Sampler> Greedy = Sampler::create({});
  if (!Greedy)
    return Greedy.error();
  auto Known = static_cast<size_t>(S.model().manifest().Vocabulary);
  std::vector<int32_t> Chosen(Ids.size());
  std::vector<StepItem> Items;
  for (const std::vector<int32_t> &Prompt : Ids)
    Items.push_back({S.createSequence(), Prompt, {}, Wanted::Last});
  Round Times;
  for (int64_t Step = 0; Step <= NewTokens; ++Step) {
    double Begin = secondsNow();
    Result<std::vector<ItemResult>> Answers = S.step(Items);
    if (!Answers)
      return Answers.error();
    if (Status Good = firstFailure(*Answers); !Good)
      return Good.error();
    for (size_t I = 0; I < Ids.size(); ++I) {
      auto Row = (*Answers)[I].Values;
      Result<int32_t> Token =
          Greedy->pick(Row.first(std::min(Row.size(), Known)));
      if (!Token)
        return Token.error();
      Chosen[I] = *Token;
      Items[I].Tokens = {&Chosen[I], 1};
    }
    (Step == 0 ? Times.Prefill : Times.Decode) += secondsNow() - Begin;
    if (FirstToken == 0)
      FirstToken = secondsSinceStart();
  }
  for (const StepItem &Item : Items)
    if (Status Ended = S.endSequence(Item.Sequence); !Ended)
      return Ended.error();
  return Times;
}

/// One pass over every text of an encoder.
static Result<Round> runEncoder(Session &S,
                                const std::vector<std::vector<int32_t>> &Ids,
                                double &FirstToken) {
  std::vector<EncodeItem> Items;
  for (const std::vector<int32_t> &Text : Ids)
    Items.push_back({Text, {}, Wanted::All});
  double Begin = secondsNow();
  Result<std::vector<ItemResult>> Answers =
      S.model().hasEntry("embed") ? S.embed(Items) : S.encode(Items);
  if (!Answers)
    return Answers.error();
  if (Status Good = firstFailure(*Answers); !Good)
    return Good.error();
  if (FirstToken == 0)
    FirstToken = secondsSinceStart();
  return Round{secondsNow() - Begin, 0};
}

Status tenon::benchModel(const BenchOptions &Options) {
  double Begin = secondsNow();
  Result<std::shared_ptr<const Model>> Loaded = Model::load(Options.File);
  if (!Loaded)
    return Loaded.error();
  const Manifest &Info = (*Loaded)->manifest();
  bool Decodes = (*Loaded)->hasEntry("step");
  int64_t NewTokens = Decodes ? Options.NewTokens : 0;
  int64_t Length = 0;
  if (__builtin_add_overflow(Options.PromptTokens, NewTokens, &Length) ||
      Length > Info.MaxSequence)
    return Error("--prompt-tokens and --new-tokens are " +
                 std::to_string(Options.PromptTokens) + " and " +
                 std::to_string(NewTokens) + ": expected at most " +
                 std::to_string(Info.MaxSequence) +
                 " together, the model's length");
  int64_t Page = Info.Caches.empty() ? 1 : Info.Caches.front().PageTokens;
  int64_t CacheTokens = (Length + Page - 1) / Page * Page;
  if (__builtin_mul_overflow(CacheTokens, Options.Batch, &CacheTokens))
    return Error("--batch is " + std::to_string(Options.Batch) +
                 ": expected fewer");
  Result<Session> S = Session::create(*Loaded, {Options.Threads, CacheTokens});
  if (!S)
    return S.error();
  double Load = secondsNow() - Begin;

  std::mt19937_64 Random(1);
  std::vector<std::vector<int32_t>> Ids(static_cast<size_t>(Options.Batch));
  for (std::vector<int32_t> &Prompt : Ids)
    for (int64_t I = 0; I < Options.PromptTokens; ++I)
      Prompt.push_back(static_cast<int32_t>(
          Random() % static_cast<uint64_t>(Info.Vocabulary)));

  std::vector<double> Prefill, Decode;
  double FirstToken = 0;
  for (int64_t I = 0; I < Options.Repeat; ++I) {
    Result<Round> Times = Decodes ? runDecoder(*S, Ids, NewTokens, FirstToken)
                                  : runEncoder(*S, Ids, FirstToken);
    if (!Times)
      return Times.error();
    Prefill.push_back(Times->Prefill);
    Decode.push_back(Times->Decode);
  }

  auto Batch = static_cast<double>(Options.Batch);
  Json J = Json::object();
  J["prefill_tokens_per_s"] =
      Batch * static_cast<double>(Options.PromptTokens) / medianOf(Prefill);
  if (NewTokens > 0)
    J["decode_tokens_per_s"] =
        Batch * static_cast<double>(NewTokens) / medianOf(Decode);
  J["first_token_s"] = FirstToken;
  J["load_s"] = Load;
  J["peak_rss_mb"] = peakResidentMegabytes();
  J["prompt_tokens"] = Options.PromptTokens;
  J["new_tokens"] = NewTokens;
  J["batch"] = Options.Batch;
  J["repeat"] = Options.Repeat;
  J["threads"] = S->threads();
  J["level"] = infoOf((*Loaded)->code().Level).Name;
  J["library_products"] = S->productCounters().Library;
  J["reference_products"] = S->productCounters().Reference;
  if (Options.Json)
    return print(J.dump() + "\n");
  std::string Text;
  for (const auto &[Key, Value] : J.items())
    Text += Key + std::string(24 - std::min<size_t>(Key.size(), 23), ' ') +
            (Value.is_string() ? Value.get<std::string>() : Value.dump()) +
            "\n";
  return print(Text);
}
