//===- Request.cpp - What to generate -------------------------------------===//

#include "runtime/Generation/Request.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::engine;
using namespace tenon::generation;
using namespace tenon::sampling;

/// The name of a setting in errors.
static std::string nameIn(const Settings &S, std::string Name) {
  if (!S.NamesAreOptions)
    return Name;
  std::replace(Name.begin(), Name.end(), '_', '-');
  return "--" + Name;
}

Result<Choice> generation::choiceOf(const Model &M, const Settings &S) {
  const GenerationInfo &Defaults = M.manifest().Generation;
  Choice C;
  C.Beams = S.Beams.value_or(Defaults.Beams);
  C.LengthPenalty = S.LengthPenalty.value_or(Defaults.LengthPenalty);
  C.EarlyStopping = S.EarlyStopping.value_or(Defaults.EarlyStopping);
  bool Samples = S.Temperature.value_or(0) != 0 || S.TopK || S.TopP;
  // Who asks for one of the two does not want the artifact's other.
  if (Samples && !S.Beams)
    C.Beams = 1;
  if (C.Beams < 1 || C.Beams > MaxBeams)
    return Error(nameIn(S, "num_beams") + " is " + std::to_string(C.Beams) +
                 ": expected 1 to " + std::to_string(MaxBeams));
  if (C.Beams > 1 && Samples)
    return Error(nameIn(S, "num_beams") + " is " + std::to_string(C.Beams) +
                 ": beam search takes the likeliest tokens: expected 1 with " +
                 nameIn(S, "temperature") + ", " + nameIn(S, "top_k") + " or " +
                 nameIn(S, "top_p"));
  if (C.Beams == 1 && (S.LengthPenalty || S.EarlyStopping))
    return Error(
        nameIn(S, S.LengthPenalty ? "length_penalty" : "early_stopping") +
        ": needs " + nameIn(S, "num_beams") + " of at least 2");
  SamplingOptions &Sampling = C.Sampling;
  Sampling.Seed = S.Seed;
  if (Defaults.Sample) {
    Sampling.Temperature = Defaults.Temperature.value_or(1);
    Sampling.TopK = Defaults.TopK.value_or(0);
    Sampling.TopP = Defaults.TopP.value_or(1);
    // Transformers would sample between beams, which nobody asked for here.
    if (C.Beams > 1 && !S.Beams && !S.Temperature)
      return Error("the model's settings sample from " +
                   std::to_string(C.Beams) + " beams: expected " +
                   nameIn(S, "num_beams") + ", or " + nameIn(S, "temperature"));
  } else if (S.TopK || S.TopP) {
    // Who limits the choice wants a choice.
    Sampling.Temperature = 1;
  }
  Sampling.Temperature = S.Temperature.value_or(Sampling.Temperature);
  Sampling.TopK = S.TopK.value_or(Sampling.TopK);
  Sampling.TopP = S.TopP.value_or(Sampling.TopP);
  return C;
}

/// Most new tokens after `Prompt` tokens.
static int64_t newTokensAfter(int64_t Prompt, const Manifest &Info,
                              const Settings &S) {
  if (S.MaxNewTokens)
    return *S.MaxNewTokens;
  const GenerationInfo &Defaults = Info.Generation;
  if (Defaults.MaxNewTokens)
    return *Defaults.MaxNewTokens;
  // Of decoders it is often the model's length, and no wish.
  if (Info.MaxSource != 0 && Defaults.MaxLength)
    return std::max<int64_t>(*Defaults.MaxLength - Prompt, 1);
  return DefaultNewTokens;
}

static LogitsRules rulesOf(const GenerationInfo &Defaults, bool IgnoreEnd,
                           int64_t MaxLength) {
  LogitsRules Rules;
  Rules.RepetitionPenalty = Defaults.RepetitionPenalty;
  Rules.NoRepeatNgram = Defaults.NoRepeatNgram;
  Rules.Suppressed = Defaults.Suppressed;
  if (!IgnoreEnd)
    Rules.EndOfSequence = Defaults.EndOfSequence;
  Rules.MinLength = Defaults.MinLength;
  Rules.ForcedFirst = Defaults.ForcedFirst;
  Rules.ForcedLast = Defaults.ForcedLast;
  Rules.MaxLength = MaxLength;
  Rules.Renormalize = Defaults.Renormalize;
  return Rules;
}

Result<Request> generation::makeRequest(const Model &M, const Settings &S,
                                        std::vector<int32_t> Prompt) {
  const Manifest &Info = M.manifest();
  Result<Choice> How = choiceOf(M, S);
  if (!How)
    return How.error();
  Request R;
  R.How = *How;
  R.Prompt = std::move(Prompt);
  R.Prefix = S.Prefix;
  if (R.Prefix != 0 && !Info.HasPrefixMask)
    return Error(M.path() + ": " + nameIn(S, "prefix_tokens") + " is " +
                 std::to_string(R.Prefix) +
                 ": this model has no prefix mask: expected 0");
  if (Info.MaxSource != 0) {
    R.Source = std::exchange(R.Prompt, S.AnswerStart);
    std::optional<int32_t> Start = Info.Generation.DecoderStart;
    if (R.Prompt.empty() && !Start)
      return Error(M.path() +
                   ": the artifact names no token that an answer "
                   "begins with: expected " +
                   nameIn(S, "decoder_token_ids"));
    if (R.Prompt.empty())
      R.Prompt = {*Start};
  }
  auto Length = static_cast<int64_t>(R.Prompt.size());
  // The last new token need not be run, so it may be one beyond the model.
  int64_t Wanted = newTokensAfter(Length, Info, S);
  R.MaxNewTokens = std::min(Wanted, Info.MaxSequence + 1 - Length);
  R.IsCutByContext = R.MaxNewTokens < Wanted;
  R.Rules =
      rulesOf(Info.Generation, S.IgnoreEndOfSequence, Length + R.MaxNewTokens);
  return R;
}

SessionOptions generation::roomFor(const Model &M,
                                   std::span<const Request> Requests) {
  const Manifest &Info = M.manifest();
  SessionOptions Room;
  auto InPages = [&](CacheContent Content, int64_t Tokens) {
    for (const CacheInfo &Cache : Info.Caches)
      if (Cache.Content == Content)
        return (Tokens + Cache.PageTokens - 1) / Cache.PageTokens *
               Cache.PageTokens;
    return Tokens;
  };
  for (const Request &R : Requests) {
    int64_t Length = static_cast<int64_t>(R.Prompt.size()) +
                     std::max<int64_t>(R.MaxNewTokens, 0);
    Room.CacheTokens +=
        R.How.Beams * InPages(CacheContent::Sequence,
                              std::clamp<int64_t>(Length, 1, Info.MaxSequence));
    Room.SourceTokens +=
        InPages(CacheContent::Cross, static_cast<int64_t>(R.Source.size()));
  }
  return Room;
}
