//===- RunSettings.cpp - What tenon run asks for --------------------------===//

#include "runtime/Tool/Arguments.h"
#include "runtime/Tool/RunSupport.h"

using namespace tenon;
using namespace tenon::engine;
using namespace tenon::generation;
using namespace tenon::sampling;
using namespace tenon::tool;

std::optional<std::string> tool::firstTextOption(const RunOptions &Options) {
  const std::pair<const char *, bool> ForText[] = {
      {"--chat", Options.Chat},
      {"--max-new-tokens", Options.MaxNewTokens.value_or(0) != 0},
      {"--min-new-tokens", Options.MinNewTokens.has_value()},
      {"--temperature", Options.Temperature.has_value()},
      {"--top-k", Options.TopK.has_value()},
      {"--top-p", Options.TopP.has_value()},
      {"--min-p", Options.MinP.has_value()},
      {"--typical-p", Options.TypicalP.has_value()},
      {"--n", Options.Choices.has_value()},
      {"--first-choice", Options.FirstChoice.has_value()},
      {"--num-beams", Options.Beams.has_value()},
      {"--length-penalty", Options.LengthPenalty.has_value()},
      {"--early-stopping", !Options.EarlyStopping.empty()},
      {"--repetition-penalty", Options.RepetitionPenalty.has_value()},
      {"--presence-penalty", Options.PresencePenalty.has_value()},
      {"--frequency-penalty", Options.FrequencyPenalty.has_value()},
      {"--logit-bias", !Options.LogitBias.empty()},
      {"--bad-words", !Options.BadWords.empty()},
      {"--bad-word-ids", !Options.BadWordIds.empty()},
      {"--stop", !Options.Stop.empty()},
      {"--stop-token-id", !Options.StopTokenIds.empty()},
      {"--include-stop", Options.IncludeStop},
      {"--logprobs", Options.LogProbabilities.has_value()},
      {"--echo", Options.Echo},
      {"--prompt-lookup-num-tokens", Options.Lookup.has_value()},
      {"--ignore-eos", Options.IgnoreEos},
      {"--json-schema", Options.Must.hasSchema()},
      {"--regex", Options.Must.Regex.has_value()},
      {"--ebnf", !Options.Must.EbnfFile.empty()},
      {"--json-object", Options.Must.JsonObject},
      {"--choice", !Options.Must.Choices.empty()},
      {"--prefix-tokens", Options.PrefixTokens != 0}};
  for (auto [Option, IsGiven] : ForText)
    if (IsGiven)
      return Option;
  return std::nullopt;
}

/// Words as text and as ids.
static Status readBadWords(const Model &M, const RunOptions &Options,
                           std::vector<std::vector<int32_t>> &Words) {
  for (const std::string &Word : Options.BadWords) {
    Result<const tokenizer::Tokenizer *> T = M.tokenizer();
    if (!T)
      return T.error();
    auto Tokens = tokensOfWord(**T, Word);
    if (!Tokens)
      return Tokens.error().withContext(Options.Names("bad_words"));
    Words.insert(Words.end(), Tokens->begin(), Tokens->end());
  }
  for (const std::string &Value : Options.BadWordIds) {
    Result<std::vector<int32_t>> Word =
        parseTokens(Value, Options.Names("bad_word_ids"));
    if (!Word)
      return Word.error();
    Words.push_back(std::move(*Word));
  }
  return {};
}

Result<Settings> tool::settingsOf(const Model &M, const RunOptions &Options,
                                  grammar::GrammarCache &Grammars) {
  Settings S;
  S.NamesAreOptions = Options.Names.AreOptions;
  S.MaxNewTokens = Options.MaxNewTokens;
  // Who asks for the raw output usually wants nothing else.
  if (!Options.MaxNewTokens && !Options.Output.empty())
    S.MaxNewTokens = 0;
  S.MinNewTokens = Options.MinNewTokens;
  S.Temperature = Options.Temperature;
  S.TopK = Options.TopK;
  S.TopP = Options.TopP;
  S.MinP = Options.MinP;
  S.TypicalP = Options.TypicalP;
  S.Choices = Options.Choices.value_or(1);
  S.FirstChoice = Options.FirstChoice.value_or(0);
  S.Beams = Options.Beams;
  S.LengthPenalty = Options.LengthPenalty;
  for (EarlyStopping Mode :
       {EarlyStopping::No, EarlyStopping::Yes, EarlyStopping::Never})
    if (nameOf(Mode) == Options.EarlyStopping)
      S.EarlyStopping = Mode;
  S.RepetitionPenalty = Options.RepetitionPenalty;
  S.PresencePenalty = Options.PresencePenalty.value_or(0);
  S.FrequencyPenalty = Options.FrequencyPenalty.value_or(0);
  for (const std::string &Value : Options.LogitBias)
    S.LogitBias.push_back(*parseBias(Value)); // Checked when it was given.
  if (Status Read = readBadWords(M, Options, S.BadWords); !Read)
    return Read.error();
  Result<grammar::Grammar::Ptr> Must = grammar::compile(Options.Must, Grammars);
  if (!Must)
    return Must.error();
  S.Grammar = *Must;
  S.Grammars = &Grammars;
  S.IgnoreEndOfSequence = Options.IgnoreEos;
  S.StopStrings = Options.Stop;
  S.StopTokens = Options.StopTokenIds;
  S.IncludeStop = Options.IncludeStop;
  S.LogProbabilities = Options.LogProbabilities;
  S.Echo = Options.Echo;
  S.Lookup = Options.Lookup.value_or(0);
  S.Prefix = Options.PrefixTokens;
  if (!Options.DecoderTokenIds.empty()) {
    Result<std::vector<int32_t>> Start = parseTokens(
        Options.DecoderTokenIds, Options.Names("decoder_token_ids"));
    if (!Start)
      return Start.error();
    S.AnswerStart = std::move(*Start);
  }
  return S;
}
