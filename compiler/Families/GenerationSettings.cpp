//===- GenerationSettings.cpp - How a checkpoint wants to generate --------===//

#include "compiler/Families/GenerationSettings.h"

#include <algorithm>

using namespace tenon;

namespace {

/// Settings that say nothing about which token is taken.
bool isInert(const Config &Settings, const std::string &Key) {
  static constexpr std::string_view Inert[] = {
      "_from_model_config",   "bos_token_id",
      "cache_implementation", "max_length",
      "max_new_tokens",       "output_attentions",
      "output_hidden_states", "output_scores",
      "pad_token_id",         "return_dict_in_generate",
      "transformers_version", "use_cache"};
  if (std::find(std::begin(Inert), std::end(Inert), Key) != std::end(Inert) ||
      !Settings.has(Key))
    return true;
  // Penalties and such that are off.
  auto Number = Settings.number(Key);
  if (Number &&
      (*Number ==
           (Key.ends_with("penalty") && Key != "diversity_penalty" ? 1 : 0) ||
       (*Number == 1 && Key.starts_with("num_"))))
    return true;
  auto Flag = Settings.boolean(Key);
  return Flag && !*Flag;
}

/// Settings that a config.json may have among its own and that nothing here
/// reads.
bool isOfGeneration(const std::string &Key) {
  static constexpr std::string_view Keys[] = {
      "begin_suppress_tokens",
      "diversity_penalty",
      "encoder_no_repeat_ngram_size",
      "exponential_decay_length_penalty",
      "num_beam_groups",
      "num_return_sequences"};
  return std::find(std::begin(Keys), std::end(Keys), Key) != std::end(Keys);
}

class GenerationReader {
public:
  GenerationReader(const Config &Settings, int64_t Vocabulary,
                   std::vector<std::string> &Notes)
      : Settings(Settings), Vocabulary(Vocabulary), Notes(Notes) {}

  /// Ends of sequence: those that the vocabulary has.
  Status ends(GenerationInfo &Info) {
    auto Ids = Settings.optionalIntegers("eos_token_id", 0, INT32_MAX);
    if (!Ids)
      return Ids.error();
    for (int64_t Id : *Ids) {
      if (Id < Vocabulary)
        Info.EndOfSequence.push_back(static_cast<int32_t>(Id));
      else
        Notes.push_back(Settings.file() + ": field 'eos_token_id' has " +
                        std::to_string(Id) + ", which a vocabulary of " +
                        std::to_string(Vocabulary) + " never reaches");
    }
    return {};
  }

  Status sampling(GenerationInfo &Info) {
    set(Info.Sample, Settings.booleanOr("do_sample", false));
    set(Info.Temperature, Settings.optionalNumber("temperature", 0, 1e6));
    set(Info.TopK, Settings.optionalInteger("top_k", 0, INT32_MAX));
    set(Info.TopP, Settings.optionalNumber("top_p", 0, 1));
    set(Info.MinP, Settings.optionalNumber("min_p", 0, 1));
    set(Info.TypicalP, Settings.optionalNumber("typical_p", 0, 1));
    return First;
  }

  /// Beams, and what changes scores before the choice.
  Status search(GenerationInfo &Info) {
    constexpr int64_t MostTokens = 1 << 24;
    set(Info.Beams, Settings.integerOr("num_beams", 1, 1, 1024));
    set(Info.LengthPenalty, Settings.numberOr("length_penalty", 1, -100, 100));
    bool StopsEarly = false;
    if (auto Word = Settings.string("early_stopping"); !Word)
      set(StopsEarly, Settings.booleanOr("early_stopping", false));
    else if (*Word == "never")
      Info.Stops = sampling::EarlyStopping::Never;
    else if (First)
      First = Settings.expected("early_stopping", "true, false or 'never'");
    if (StopsEarly)
      Info.Stops = sampling::EarlyStopping::Yes;
    set(Info.NoRepeatNgram,
        Settings.integerOr("no_repeat_ngram_size", 0, 0, MostTokens));
    set(Info.RepetitionPenalty,
        Settings.numberOr("repetition_penalty", 1, 1e-3, 1e3));
    set(Info.MinLength, Settings.integerOr("min_length", 0, 0, MostTokens));
    set(Info.MinNewTokens,
        Settings.integerOr("min_new_tokens", 0, 0, MostTokens));
    set(Info.MaxLength, Settings.optionalInteger("max_length", 1, MostTokens));
    set(Info.MaxNewTokens,
        Settings.optionalInteger("max_new_tokens", 1, MostTokens));
    set(Info.Renormalize, Settings.booleanOr("renormalize_logits", false));
    suppressed(Info);
    stopStrings(Info);
    return First;
  }

  /// First and last tokens. A null switches a default off.
  Status forced(GenerationInfo &Info, const GenerationDefaults &Defaults,
                bool UsesDefaults) {
    Info.ForcedFirst = token("forced_bos_token_id", std::nullopt);
    Info.ForcedLast = token("forced_eos_token_id",
                            UsesDefaults ? Defaults.ForcedLast : std::nullopt);
    Info.DecoderStart = token("decoder_start_token_id",
                              UsesDefaults ? Defaults.Start : std::nullopt);
    return First;
  }

  /// Says what is left out; of a file of more than settings for generating,
  /// `IsOwn` is false.
  void note(bool IsOwn) {
    for (const std::string &Key : Settings.unreadKeys())
      if (!isInert(Settings, Key) && (IsOwn || isOfGeneration(Key)))
        Notes.push_back(Settings.file() + ": field " + Settings.described(Key) +
                        ": not used when generating");
  }

private:
  template <typename To, typename From> void set(To &Field, Result<From> Read) {
    if (Read)
      Field = std::move(*Read);
    else if (First)
      First = Read.error();
  }

  std::optional<int32_t> token(std::string_view Key,
                               std::optional<int64_t> Default) {
    if (Settings.isNull(Key))
      return std::nullopt;
    std::optional<int64_t> Id;
    set(Id, Settings.optionalInteger(Key, 0, Vocabulary - 1));
    if (!Id)
      Id = Default;
    if (!Id || *Id >= Vocabulary)
      return std::nullopt;
    return static_cast<int32_t>(*Id);
  }

  /// suppress_tokens and bad_words_ids. An end of sequence alone is no bad
  /// word, as in Transformers.
  void suppressed(GenerationInfo &Info) {
    std::vector<int64_t> Ids;
    set(Ids, Settings.optionalIntegers("suppress_tokens", 0, Vocabulary - 1));
    auto Lists = Settings.optionalIntegerLists("bad_words_ids", 0, INT32_MAX);
    if (!Lists) {
      if (First)
        First = Lists.error();
      return;
    }
    for (const std::vector<int64_t> &List : *Lists) {
      bool IsKnown = std::all_of(List.begin(), List.end(),
                                 [&](int64_t Id) { return Id < Vocabulary; });
      if (List.empty() || !IsKnown)
        Notes.push_back(Settings
                            .expected("bad_words_ids",
                                      "words of tokens of the vocabulary; "
                                      "others are left out")
                            .message());
      else if (List.size() > 1)
        Info.BadWords.emplace_back(List.begin(), List.end());
      else if (std::find(Info.EndOfSequence.begin(), Info.EndOfSequence.end(),
                         List.front()) == Info.EndOfSequence.end())
        Ids.push_back(List.front());
    }
    for (int64_t Id : Ids)
      Info.Suppressed.push_back(static_cast<int32_t>(Id));
  }

  /// One text, or several.
  void stopStrings(GenerationInfo &Info) {
    if (auto Text = Settings.string("stop_strings"))
      Info.StopStrings = {*Text};
    else
      set(Info.StopStrings, Settings.optionalStrings("stop_strings"));
    for (const std::string &Text : Info.StopStrings)
      if (Text.empty() && First)
        First = Settings.expected("stop_strings",
                                  "texts of at least one character");
  }

  const Config &Settings;
  int64_t Vocabulary;
  std::vector<std::string> &Notes;
  Status First;
};

} // namespace

Result<GenerationInfo> tenon::readGeneration(const Config &Settings,
                                             int64_t Vocabulary,
                                             const GenerationDefaults &Defaults,
                                             std::vector<std::string> &Notes) {
  GenerationInfo Info;
  std::optional<Config> Own = Settings.generation();
  if (!Own || !Own->has("eos_token_id")) {
    GenerationReader Older(Settings, Vocabulary, Notes);
    if (Status S = Older.ends(Info); !S)
      return S.error();
  }
  if (!Own && !Defaults.HasSource)
    return Info;
  GenerationReader Reader(Own ? *Own : Settings, Vocabulary, Notes);
  if (Own)
    if (Status S = Reader.ends(Info); !S)
      return S.error();
  if (Status S = Reader.sampling(Info); !S)
    return S.error();
  if (Status S = Reader.search(Info); !S)
    return S.error();
  if (Defaults.HasSource) {
    if (Status S = Reader.forced(Info, Defaults, !Own); !S)
      return S.error();
    // The one thing that the config still says beside the other file.
    if (!Info.DecoderStart && Own)
      if (auto Id = Settings.optionalInteger("decoder_start_token_id", 0,
                                             Vocabulary - 1);
          Id && *Id)
        Info.DecoderStart = static_cast<int32_t>(**Id);
  }
  Reader.note(Own.has_value());
  return Info;
}
