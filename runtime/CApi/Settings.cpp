//===- Settings.cpp - Settings of generation, and samplers, from C --------===//

#include "runtime/CApi/Handles.h"
#include "runtime/Grammar/GrammarTexts.h"
#include "runtime/ToolCalls/Tools.h"

#include <cmath>

using namespace tenon;
using namespace tenon::capi;

/// What the first version had of the structs; that their sizes end there is
/// what tells callers apart.
static constexpr size_t FirstSettings = offsetof(tenon_settings, min_p);
static_assert(FirstSettings == 80);

void tenon_settings_init_sized(tenon_settings *settings, size_t struct_size) {
  if (!settings)
    return;
  tenon_settings S{};
  S.max_new_tokens = S.top_k = S.num_beams = S.min_new_tokens = -1;
  S.temperature = S.top_p = S.min_p = S.typical_p = S.repetition_penalty = -1;
  S.length_penalty = NAN;
  S.early_stopping = -1;
  S.n = 1;
  // Of a newer caller the rest is 0, as the rule of the structs has it.
  std::memset(static_cast<void *>(settings), 0, struct_size);
  S.struct_size = struct_size;
  std::memcpy(static_cast<void *>(settings), &S,
              std::min(struct_size, sizeof(S)));
}

void(tenon_settings_init)(tenon_settings *settings) {
  tenon_settings_init_sized(settings, FirstSettings);
}

/// Arrays of a caller as vectors; one that is null must have no elements.
template <typename To, typename From>
static Status readArray(const std::string &Name, const From *Values,
                        size_t Count, std::vector<To> &Target) {
  if (!Values && Count != 0)
    return Error(Name + " is null: expected " + std::to_string(Count) +
                 " elements");
  if (Count != 0)
    Target.assign(Values, Values + Count);
  return {};
}

static Status readTexts(const std::string &Name, const char *const *Values,
                        size_t Count, std::vector<std::string> &Target) {
  std::vector<const char *> Texts;
  if (Status Done = readArray(Name, Values, Count, Texts); !Done)
    return Done;
  for (const char *Text : Texts) {
    if (!Text)
      return Error(Name + ": one is null: expected text");
    Target.emplace_back(Text);
  }
  return {};
}

/// What changes scores, and what ends a text.
static Status readLists(const tenon_settings &Read, generation::Settings &S) {
  std::vector<int32_t> Tokens;
  std::vector<float> Biases;
  std::vector<size_t> Lengths;
  auto Fill = [](const char *Name, const auto *Values, size_t Count,
                 auto &Target) {
    return readArray(Name, Values, Count, Target);
  };
  if (Status Done =
          Fill("bias_tokens", Read.bias_tokens, Read.bias_count, Tokens);
      !Done)
    return Done;
  if (Status Done = Fill("biases", Read.biases, Read.bias_count, Biases); !Done)
    return Done;
  for (size_t I = 0; I < Tokens.size(); ++I)
    S.LogitBias.push_back({Tokens[I], Biases[I]});
  if (Status Done = Fill("bad_word_lengths", Read.bad_word_lengths,
                         Read.bad_word_count, Lengths);
      !Done)
    return Done;
  const int32_t *Next = Read.bad_word_tokens;
  if (!Next && !Lengths.empty())
    return Error("bad_word_tokens is null: expected tokens");
  for (size_t Length : Lengths) {
    S.BadWords.emplace_back(Next, Next + Length);
    Next += Length;
  }
  if (Status Done = readTexts("stop_strings", Read.stop_strings,
                              Read.stop_string_count, S.StopStrings);
      !Done)
    return Done;
  return Fill("stop_token_ids", Read.stop_token_ids, Read.stop_token_id_count,
              S.StopTokens);
}

/// What the text must be; null: anything.
static Result<grammar::Grammar::Ptr>
readConstraint(const tenon_settings &Read, grammar::GrammarCache &Known) {
  grammar::GrammarTexts Texts;
  for (auto [Text, Target] :
       {std::pair(Read.json_schema, &Texts.JsonSchema),
        std::pair(Read.regex, &Texts.Regex), std::pair(Read.ebnf, &Texts.Ebnf)})
    if (Text)
      *Target = Text;
  Texts.JsonObject = Read.json_object != 0;
  Texts.FixedOrder = Read.fixed_order != 0;
  if (Read.format)
    Texts.Format = Read.format;
  if (Status Done =
          readTexts("choices", Read.choices, Read.choice_count, Texts.Choices);
      !Done)
    return Done.error();
  Result<grammar::Grammar::Ptr> Made = grammar::compile(Texts, Known);
  if (std::vector<std::string> Names = Texts.given();
      !Made && Names.size() == 1)
    return Made.error().withContext(Names.front());
  return Made;
}

/// The tools that calls may be of; null: none.
static Result<Json> readTools(const tenon_settings &Read) {
  if (!Read.tools)
    return Json();
  Result<Json> Tools = parseJson(Read.tools, "tools");
  if (!Tools)
    return Error(Tools.error().message());
  if (!Tools->is_array() && !Tools->is_null())
    return Error("tools is " + jsonKind(*Tools) + ": expected an array");
  if (Status Good = tools::checkTools(*Tools); !Good)
    return Good.error();
  return Tools;
}

Result<generation::Settings> capi::readSettings(const char *Function,
                                                const tenon_settings *Passed,
                                                grammar::GrammarCache *Known) {
  generation::Settings S;
  if (!Passed)
    return S;
  auto Refuse = [&](const char *Name, int64_t Value, const char *Expected) {
    return S.names().refuse(Name, Value, Expected).withContext(Function);
  };
  Result<tenon_settings> Read = readStruct<tenon_settings>(
      std::string(Function) + ": settings", Passed, FirstSettings);
  if (!Read)
    return Read.error();
  if (Read->max_new_tokens < -1)
    return Refuse("max_new_tokens", Read->max_new_tokens,
                  "at least 0, or -1 for the model's");
  if (Read->early_stopping < -1 || Read->early_stopping > 2)
    return Refuse("early_stopping", Read->early_stopping, "-1 to 2");
  if (Read->top_logprobs < 0 || (Read->top_logprobs > 0 && !Read->logprobs))
    return Refuse("top_logprobs", Read->top_logprobs,
                  Read->logprobs ? "at least 0" : "0 without logprobs");
  auto Set = [](auto &Target, auto Value) {
    if (Value != -1)
      Target = Value;
  };
  Set(S.MaxNewTokens, Read->max_new_tokens);
  Set(S.Temperature, Read->temperature);
  Set(S.TopK, Read->top_k);
  Set(S.TopP, Read->top_p);
  Set(S.Beams, Read->num_beams);
  if (!std::isnan(Read->length_penalty))
    S.LengthPenalty = Read->length_penalty;
  if (Read->early_stopping != -1)
    S.EarlyStopping =
        static_cast<sampling::EarlyStopping>(Read->early_stopping);
  S.IgnoreEndOfSequence = Read->ignore_eos != 0;
  S.Seed = Read->seed;
  S.Prefix = Read->prefix_tokens;
  // An older caller's 0 must ask for nothing.
  if (Read->typical_p != 0)
    Set(S.TypicalP, Read->typical_p);
  if (Read->repetition_penalty != 0)
    Set(S.RepetitionPenalty, Read->repetition_penalty);
  S.PresencePenalty = Read->presence_penalty;
  S.FrequencyPenalty = Read->frequency_penalty;
  if (Read->struct_size > FirstSettings) {
    Set(S.MinP, Read->min_p);
    Set(S.MinNewTokens, Read->min_new_tokens);
  }
  S.Choices = Read->n == 0 ? 1 : Read->n;
  S.FirstChoice = Read->first_choice;
  S.IncludeStop = Read->include_stop != 0;
  S.Echo = Read->echo != 0;
  S.Lookup = Read->prompt_lookup_num_tokens;
  if (Read->logprobs)
    S.LogProbabilities = Read->top_logprobs;
  if (Status Lists = readLists(*Read, S); !Lists)
    return Lists.error().withContext(Function);
  if (Known) {
    Result<grammar::Grammar::Ptr> Must = readConstraint(*Read, *Known);
    if (!Must)
      return Must.error().withContext(Function);
    S.Grammar = std::move(*Must);
    Result<Json> Tools = readTools(*Read);
    if (!Tools)
      return Tools.error().withContext(Function);
    S.Tools = std::move(*Tools);
    S.Grammars = Known;
  }
  return S;
}

Result<std::vector<generation::PromptImage::Ptr>>
capi::readImages(const char *Function, const engine::Model &M,
                 const tenon_settings *Passed) {
  std::vector<generation::PromptImage::Ptr> Images;
  if (!Passed)
    return Images;
  Result<tenon_settings> Read = readStruct<tenon_settings>(
      std::string(Function) + ": settings", Passed, FirstSettings);
  if (!Read)
    return Read.error();
  if (Read->image_count == 0)
    return Images;
  auto Refuse = [&](const std::string &What) {
    return Error(std::string(Function) + ": " + What);
  };
  if (!generation::readsImages(M))
    return Refuse("image_count is " + std::to_string(Read->image_count) +
                  ": expected 0, for this model reads texts only");
  if (!Read->images)
    return Refuse("images is null: expected " +
                  std::to_string(Read->image_count) + " elements");
  const artifact::ImageInfo &Info = *M.manifest().Image;
  auto Size = static_cast<size_t>(Info.Channels * Info.Height * Info.Width);
  for (size_t I = 0; I < Read->image_count; ++I) {
    if (!Read->images[I])
      return Refuse("images: one is null: expected pixels");
    Images.push_back(
        generation::makePromptImage({Read->images[I], Size}, Info));
  }
  return Images;
}

struct tenon_sampler {
  sampling::Sampler Picker;
  uint32_t Choice = 0;
  int64_t Position = 0;
};

tenon_status tenon_sampler_create(const tenon_model *model,
                                  const tenon_settings *settings,
                                  tenon_sampler **sampler) {
  if (!model || !sampler)
    return fail("tenon_sampler_create: model or sampler is null");
  return guarded([&]() -> tenon_status {
    Result<generation::Settings> S =
        readSettings("tenon_sampler_create", settings, nullptr);
    if (!S)
      return fail(S.error());
    // One token is chosen at a time, whatever the model's beams.
    S->Beams = 1;
    S->LengthPenalty.reset();
    S->EarlyStopping.reset();
    Result<generation::Strategy> How =
        generation::strategyOf(*model->Loaded, *S);
    if (!How)
      return fail(How.error());
    Result<sampling::Sampler> Picker = sampling::Sampler::create(How->Sampling);
    if (!Picker)
      return fail(Picker.error());
    *sampler = new tenon_sampler{std::move(*Picker), How->FirstChoice};
    return TENON_OK;
  });
}

void tenon_sampler_destroy(tenon_sampler *sampler) { delete sampler; }

tenon_status tenon_sampler_seek(tenon_sampler *sampler, int64_t position) {
  if (!sampler || position < 0)
    return fail("tenon_sampler_seek: sampler is null, or position is " +
                std::to_string(position) + ": expected at least 0");
  sampler->Position = position;
  return TENON_OK;
}

tenon_status tenon_sampler_pick(tenon_sampler *sampler, const float *scores,
                                size_t count, int32_t *token) {
  if (!sampler || !scores || count == 0 || !token)
    return fail("tenon_sampler_pick: sampler, scores or token is null, or "
                "count is 0");
  return guarded([&]() -> tenon_status {
    Result<int32_t> Picked = sampler->Picker.pick(
        {scores, count}, sampler->Position, sampler->Choice);
    if (!Picked)
      return fail(Picked.error());
    ++sampler->Position;
    *token = *Picked;
    return TENON_OK;
  });
}
