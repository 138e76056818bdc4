//===- Request.cpp - What to generate -------------------------------------===//

#include "runtime/Generation/Request.h"

#include "runtime/Generation/ToolAnswer.h"
#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>
#include <utility>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::engine;
using namespace tenon::generation;
using namespace tenon::sampling;

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

bool generation::isIn(const std::vector<int32_t> &Tokens, int32_t Token) {
  return std::find(Tokens.begin(), Tokens.end(), Token) != Tokens.end();
}

/// Rules.MaxLength is left open.
static LogitsRules rulesOf(const Manifest &Info, const Settings &S) {
  const GenerationInfo &Defaults = Info.Generation;
  LogitsRules Rules;
  Rules.Bias = S.LogitBias;
  Rules.RepetitionPenalty =
      S.RepetitionPenalty.value_or(Defaults.RepetitionPenalty);
  Rules.PresencePenalty = S.PresencePenalty;
  Rules.FrequencyPenalty = S.FrequencyPenalty;
  Rules.NoRepeatNgram = Defaults.NoRepeatNgram;
  Rules.BadWords = Defaults.BadWords;
  Rules.BadWords.insert(Rules.BadWords.end(), S.BadWords.begin(),
                        S.BadWords.end());
  Rules.Suppressed = Defaults.Suppressed;
  // It stands for rows of an image, and a new one would have none.
  if (Info.Image && Info.Image->Token)
    Rules.Suppressed.push_back(*Info.Image->Token);
  if (!S.IgnoreEndOfSequence)
    Rules.EndOfSequence = Defaults.EndOfSequence;
  Rules.MinLength = Defaults.MinLength;
  Rules.MinNewTokens = S.MinNewTokens.value_or(Defaults.MinNewTokens);
  Rules.ForcedFirst = Defaults.ForcedFirst;
  Rules.ForcedLast = Defaults.ForcedLast;
  Rules.Renormalize = Defaults.Renormalize;
  return Rules;
}

/// What ends the text of `R`, besides the end tokens that its rules have.
static Status setStops(Request &R, const Model &M, const Settings &S,
                       int64_t Vocabulary) {
  SettingNames Name = S.names();
  for (int32_t Token : S.StopTokens) {
    if (Token < 0 || Token >= Vocabulary)
      return Name.refuse("stop_token_id", int64_t(Token),
                         "0 to " + std::to_string(Vocabulary - 1));
    if (isIn(R.Rules.EndOfSequence, Token))
      continue;
    R.StopTokens.push_back(Token);
    R.Rules.EndOfSequence.push_back(Token);
  }
  R.StopStrings = S.StopStrings;
  if (const auto &Own = M.manifest().Generation.StopStrings;
      M.manifest().Tokenizer)
    R.StopStrings.insert(R.StopStrings.end(), Own.begin(), Own.end());
  if (!S.StopStrings.empty() && !M.manifest().Tokenizer)
    return Error(M.path() + ": " + Name("stop") +
                 ": the artifact has no tokenizer: expected " +
                 Name("stop_token_id"));
  for (const std::string &Text : S.StopStrings) {
    if (Text.empty())
      return Error(Name("stop") + " is '': expected at least one character");
    if (tokenizer::findInvalidUtf8(Text))
      return Error(Name("stop") + " is " + printable(Text) +
                   ": expected UTF-8");
  }
  R.IncludeStop = S.IncludeStop;
  return {};
}

/// Log-probabilities, and whether the prompt is repeated.
static Status setScores(Request &R, const Model &M, const Settings &S,
                        int64_t Vocabulary) {
  SettingNames Name = S.names();
  if (S.LogProbabilities) {
    if (*S.LogProbabilities < 0 || *S.LogProbabilities > Vocabulary)
      return Name.refuse("logprobs", *S.LogProbabilities,
                         "0 to " + std::to_string(Vocabulary) +
                             ", the vocabulary");
    R.Scored = static_cast<size_t>(*S.LogProbabilities);
  }
  if (S.Echo && M.manifest().MaxSource != 0)
    return Error(M.path() + ": " + Name("echo") +
                 ": this model answers its prompt: expected a decoder, which "
                 "goes on with it");
  R.Echo = S.Echo;
  return {};
}

Result<Request> generation::makeRequest(const Model &M, const Settings &S,
                                        std::vector<int32_t> Prompt,
                                        std::vector<PromptImage::Ptr> Images) {
  if (!S.Grammar && !S.Tools.empty() &&
      (S.IsSingleCall || hasStrictTool(S.Tools))) {
    Result<grammar::Grammar::Ptr> Calls = callGrammar(M, S, Prompt);
    if (!Calls)
      return Calls.error();
    Settings Constrained = S;
    Constrained.Grammar = std::move(*Calls);
    return makeRequest(M, Constrained, std::move(Prompt), std::move(Images));
  }
  const Manifest &Info = M.manifest();
  SettingNames Name = S.names();
  Result<Strategy> How = strategyOf(M, S);
  if (!How)
    return How.error();
  Result<const Entry *> Code = M.entry("step");
  int64_t Vocabulary =
      Code ? Info.vocabularyOf((*Code)->Info) : Info.Vocabulary;
  Request R;
  R.How = *How;
  Result<std::vector<int32_t>> Whole =
      withImageRows(M, std::move(Prompt), Images.size());
  if (!Whole)
    return Whole.error();
  for (const PromptImage::Ptr &Image : Images)
    if (auto Values = Info.Image->patches() * Info.Image->patchValues();
        std::cmp_not_equal(Image->Patches.size(), Values))
      return Error("an image has " + std::to_string(Image->Patches.size()) +
                   " values of patches: expected the model's " +
                   std::to_string(Values));
  R.Prompt = std::move(*Whole);
  R.Images = std::move(Images);
  R.Prefix = S.Prefix;
  if (R.Prefix != 0 && !Info.HasPrefixMask)
    return Error(M.path() + ": " + Name("prefix_tokens") + " is " +
                 std::to_string(R.Prefix) +
                 ": this model has no prefix mask: expected 0");
  if (Info.MaxSource != 0) {
    R.Source = std::exchange(R.Prompt, S.AnswerStart);
    std::optional<int32_t> Start = Info.Generation.DecoderStart;
    if (R.Prompt.empty() && !Start)
      return Error(M.path() +
                   ": the artifact names no token that an answer "
                   "begins with: expected " +
                   Name("decoder_token_ids"));
    if (R.Prompt.empty())
      R.Prompt = {*Start};
  }
  auto Length = static_cast<int64_t>(R.Prompt.size());
  // The last new token need not be run, so it may be one beyond the model.
  int64_t Wanted = newTokensAfter(Length, Info, S);
  R.MaxNewTokens = std::min(Wanted, Info.MaxSequence + 1 - Length);
  R.IsCutByContext = R.MaxNewTokens < Wanted;
  // Nothing is chosen, nor searched.
  if (R.MaxNewTokens <= 0)
    R.How.Beams = 1;
  if (S.MinNewTokens && (*S.MinNewTokens < 0 || *S.MinNewTokens > Wanted))
    return Name.refuse("min_new_tokens", *S.MinNewTokens,
                       "0 to " + std::to_string(std::max<int64_t>(Wanted, 0)) +
                           ", " + Name("max_new_tokens"));
  R.Rules = rulesOf(Info, S);
  R.Rules.MaxLength = Length + R.MaxNewTokens;
  if (Status Fits = check(R.Rules, Vocabulary, Name); !Fits)
    return Fits.error();
  if (Status Set = setStops(R, M, S, Vocabulary); !Set)
    return Set.error();
  if (Status Set = setScores(R, M, S, Vocabulary); !Set)
    return Set.error();
  if (S.Grammar) {
    auto Tokens = M.tokenTable(S.Grammar->hasSpecialTokens());
    if (!Tokens)
      return Tokens.error();
    R.Grammar = S.Grammar;
    R.Tokens = *Tokens;
    // No token is the only choice but where the grammar says so.
    R.Rules.ForcedFirst.reset();
    R.Rules.ForcedLast.reset();
  }
  return R;
}

Status generation::checkPrompt(const Model &M,
                               std::span<const int32_t> Prompt) {
  const Manifest &Info = M.manifest();
  Result<const Entry *> Step = M.entry("step");
  if (!Step)
    return Step.error();
  int64_t Longest = Info.MaxSource != 0 ? Info.MaxSource : Info.MaxSequence;
  if (std::cmp_greater(Prompt.size(), Longest))
    return Error("the prompt has " + std::to_string(Prompt.size()) +
                 " tokens: expected at most " + std::to_string(Longest) +
                 ", the model's longest");
  int64_t Vocabulary = Info.vocabularyOf((*Step)->Info);
  for (int32_t Id : Prompt)
    if (Id < 0 || Id >= Vocabulary)
      return Error("the prompt has token " + std::to_string(Id) +
                   ": expected 0 to " + std::to_string(Vocabulary - 1));
  return {};
}

Status generation::checkPromptLength(const Model &M, const Request &R) {
  int64_t Longest = M.manifest().MaxSequence;
  if (std::cmp_less_equal(R.Prompt.size(), Longest))
    return {};
  return Error(
      (R.Source.empty() ? "the prompt has " : "the start of the answer has ") +
      std::to_string(R.Prompt.size()) + " tokens: expected at most " +
      std::to_string(Longest) + ", the model's longest sequence");
}

int64_t generation::rowsOf(const Request &R) {
  return std::max(R.How.Choices, R.How.Beams);
}

bool generation::canSharePrompt(const Request &R) {
  return R.Source.empty() && R.Prefix == 0 && !(R.Echo && R.Scored);
}

SessionOptions generation::roomFor(const Model &M,
                                   std::span<const Request> Requests) {
  const Manifest &Info = M.manifest();
  SessionOptions Room;
  auto PageOf = [&](CacheContent Content) -> int64_t {
    for (const CacheInfo &Cache : Info.Caches)
      if (Cache.Content == Content)
        return Cache.PageTokens;
    return 1;
  };
  auto InPages = [&](CacheContent Content, int64_t Tokens) {
    int64_t Page = PageOf(Content);
    return (Tokens + Page - 1) / Page * Page;
  };
  for (const Request &R : Requests) {
    auto Prompt = static_cast<int64_t>(R.Prompt.size());
    int64_t Length = Prompt + std::max<int64_t>(R.MaxNewTokens, 0);
    int64_t Whole = InPages(CacheContent::Sequence,
                            std::clamp<int64_t>(Length, 1, Info.MaxSequence));
    // Choices share the pages that the prompt fills.
    int64_t Page = PageOf(CacheContent::Sequence);
    int64_t Shared = std::min(Prompt / Page * Page, Whole);
    Room.CacheTokens += R.How.Beams > 1
                            ? R.How.Beams * Whole
                            : Whole + (R.How.Choices - 1) * (Whole - Shared);
    Room.SourceTokens +=
        InPages(CacheContent::Cross, static_cast<int64_t>(R.Source.size()));
  }
  return Room;
}

Status generation::cutToCache(std::span<Request> Requests, int64_t Tokens) {
  int64_t Prompts = 0, Most = 0;
  for (const Request &R : Requests) {
    Prompts += static_cast<int64_t>(R.Prompt.size());
    Most = std::max(Most, R.MaxNewTokens);
  }
  if (Prompts > Tokens)
    return Error("the cache holds " + std::to_string(Tokens) +
                 (Tokens == 1 ? " token" : " tokens") +
                 ": expected at least the " + std::to_string(Prompts) +
                 (Requests.size() == 1 ? " of the prompt" : " of the prompts"));
  // Rows share their prompt, and the last token of each need not run.
  auto Used = [&](int64_t NewTokens) {
    int64_t Sum = Prompts;
    for (const Request &R : Requests)
      Sum += rowsOf(R) *
             std::max<int64_t>(std::min(R.MaxNewTokens, NewTokens) - 1, 0);
    return Sum;
  };
  while (Used(Most) > Tokens)
    --Most;
  for (Request &R : Requests)
    if (R.MaxNewTokens > Most) {
      R.MaxNewTokens = Most;
      R.IsCutByContext = true;
      R.Rules.MaxLength = static_cast<int64_t>(R.Prompt.size()) + Most;
    }
  return {};
}
