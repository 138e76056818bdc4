//===- RunCommand.cpp - tenon run -----------------------------------------===//

#include "runtime/Tool/Arguments.h"
#include "runtime/Tool/Generation.h"
#include "runtime/Tool/ProcessInfo.h"

#include <algorithm>

using namespace tenon;

namespace {

/// How the tokens of a run are chosen.
struct Choice {
  SamplingOptions Sampling;
  BeamSettings Search;
};

} // namespace

/// Refuses options that say nothing to a model of this kind.
static Status checkFit(const Model &M, ModelKind Kind,
                       const RunOptions &Options) {
  auto Refuse = [&](const char *Option, const char *Expected) {
    return Error(M.path() + ": " + Option + ": " + Expected);
  };
  bool Reads = Kind != ModelKind::Image;
  bool Generates =
      Kind == ModelKind::Decoder || Kind == ModelKind::EncoderDecoder;
  if (Reads && !Options.Image.empty())
    return Refuse("--image", "this model reads text, not images");
  if (!Reads && Options.Image.empty())
    return Error(M.path() + ": this model reads images: use --image FILE");
  if (Kind != ModelKind::EncoderDecoder && !Options.DecoderTokenIds.empty())
    return Refuse("--decoder-token-ids", "only for encoder-decoders");
  if (Kind == ModelKind::EncoderDecoder && !Options.Output.empty() &&
      Options.DecoderTokenIds.empty())
    return Refuse("--output", "needs --decoder-token-ids, the tokens whose "
                              "output an encoder-decoder gives");
  if (Kind == ModelKind::EncoderDecoder && !Options.TokenTypes.empty())
    return Refuse("--token-types", "this model has none");
  if (Kind == ModelKind::Decoder && !Options.TokenTypes.empty() &&
      Options.Output.empty())
    return Refuse("--token-types", "needs --output");
  if (Generates)
    return {};
  const std::pair<const char *, bool> Given[] = {
      {"--max-new-tokens", Options.MaxNewTokens.value_or(0) != 0},
      {"--temperature", Options.Temperature.has_value()},
      {"--top-k", Options.TopK.has_value()},
      {"--top-p", Options.TopP.has_value()},
      {"--num-beams", Options.Beams.has_value()},
      {"--length-penalty", Options.LengthPenalty.has_value()},
      {"--early-stopping", Options.EarlyStopping.has_value()},
      {"--ignore-eos", Options.IgnoreEos}};
  for (auto [Option, IsGiven] : Given)
    if (IsGiven)
      return Refuse(Option, "this model generates no text");
  if (Kind == ModelKind::Encoder && Options.Output.empty())
    return Error(M.path() + ": this model encodes and generates no text: use "
                            "--output FILE.npy, or tenon embed");
  return {};
}

/// The artifact's settings where the options say nothing.
static Result<Choice> choiceOf(const GenerationInfo &Defaults,
                               const RunOptions &Options) {
  Choice C;
  BeamSettings &Search = C.Search;
  Search.Beams = Options.Beams.value_or(Defaults.Beams);
  Search.LengthPenalty = Options.LengthPenalty.value_or(Defaults.LengthPenalty);
  Search.EarlyStopping = Options.EarlyStopping.value_or(Defaults.EarlyStopping);
  bool Samples =
      Options.Temperature.value_or(0) != 0 || Options.TopK || Options.TopP;
  // Who asks for one of the two does not want the artifact's other.
  if (Samples && !Options.Beams)
    Search.Beams = 1;
  if (Search.Beams > 1 && Samples)
    return Error("--num-beams is " + std::to_string(Search.Beams) +
                 ": beam search takes the likeliest tokens: expected 1 with "
                 "--temperature, --top-k or --top-p");
  if (Search.Beams == 1 && (Options.LengthPenalty || Options.EarlyStopping))
    return Error(std::string(Options.LengthPenalty ? "--length-penalty"
                                                   : "--early-stopping") +
                 ": needs --num-beams of at least 2");
  SamplingOptions &S = C.Sampling;
  if (Defaults.Sample) {
    S.Temperature = Defaults.Temperature.value_or(1);
    S.TopK = Defaults.TopK.value_or(0);
    S.TopP = Defaults.TopP.value_or(1);
    // Transformers would sample between beams, which nobody asked for here.
    if (Search.Beams > 1 && !Options.Beams && !Options.Temperature)
      return Error("the model's settings sample from " +
                   std::to_string(Search.Beams) +
                   " beams: expected --num-beams, or --temperature");
  } else if (Options.TopK || Options.TopP) {
    // Who limits the choice wants a choice.
    S.Temperature = 1;
  }
  S.Temperature = Options.Temperature.value_or(S.Temperature);
  S.TopK = Options.TopK.value_or(S.TopK);
  S.TopP = Options.TopP.value_or(S.TopP);
  return C;
}

/// Most new tokens after `Prompt` tokens.
static int64_t newTokensAfter(size_t Prompt, const Manifest &Info,
                              const RunOptions &Options) {
  if (Options.MaxNewTokens)
    return *Options.MaxNewTokens;
  if (!Options.Output.empty())
    return 0;
  const GenerationInfo &Defaults = Info.Generation;
  if (Defaults.MaxNewTokens)
    return *Defaults.MaxNewTokens;
  // Of decoders it is often the model's length, and no wish.
  if (Info.MaxSource != 0 && Defaults.MaxLength)
    return std::max<int64_t>(*Defaults.MaxLength - static_cast<int64_t>(Prompt),
                             1);
  return DefaultNewTokens;
}

static LogitsRules rulesOf(const GenerationInfo &Defaults, bool IgnoreEos,
                           int64_t MaxLength) {
  LogitsRules Rules;
  Rules.RepetitionPenalty = Defaults.RepetitionPenalty;
  Rules.NoRepeatNgram = Defaults.NoRepeatNgram;
  Rules.Suppressed = Defaults.Suppressed;
  if (!IgnoreEos)
    Rules.EndOfSequence = Defaults.EndOfSequence;
  Rules.MinLength = Defaults.MinLength;
  Rules.ForcedFirst = Defaults.ForcedFirst;
  Rules.ForcedLast = Defaults.ForcedLast;
  Rules.MaxLength = MaxLength;
  Rules.Renormalize = Defaults.Renormalize;
  return Rules;
}

/// The tokens that an encoder-decoder's answer begins with.
static Result<std::vector<int32_t>> answerStart(const Model &M,
                                                const RunOptions &Options) {
  if (!Options.DecoderTokenIds.empty())
    return parseTokens(Options.DecoderTokenIds, "--decoder-token-ids");
  if (std::optional<int32_t> Start = M.manifest().Generation.DecoderStart)
    return std::vector<int32_t>{*Start};
  return Error(M.path() + ": the artifact names no token that an answer begins "
                          "with: expected --decoder-token-ids");
}

static Result<std::vector<Generation>>
makeGenerations(const Model &M, const RunOptions &Options, bool Translates,
                SamplingOptions Sampling,
                std::vector<std::vector<int32_t>> Prompts) {
  const Manifest &Info = M.manifest();
  std::vector<Generation> All;
  for (size_t I = 0; I < Prompts.size(); ++I) {
    Sampling.Seed = Options.Seed + I;
    Result<Sampler> Picker = Sampler::create(Sampling);
    if (!Picker)
      return Picker.error();
    Generation G(std::move(*Picker));
    G.Prompt = std::move(Prompts[I]);
    if (Translates) {
      Result<std::vector<int32_t>> Start = answerStart(M, Options);
      if (!Start)
        return Start.error();
      G.Source = std::exchange(G.Prompt, std::move(*Start));
    }
    auto Length = static_cast<int64_t>(G.Prompt.size());
    // The last new token need not be run, so it may be one beyond the model.
    G.Limit = std::min(newTokensAfter(G.Prompt.size(), Info, Options),
                       Info.MaxSequence + 1 - Length);
    G.Rules = rulesOf(Info.Generation, Options.IgnoreEos, Length + G.Limit);
    All.push_back(std::move(G));
  }
  return All;
}

/// Room for every sequence in whole pages, but no more than they can use.
static SessionOptions roomFor(const std::vector<Generation> &All,
                              const Manifest &Info, const RunOptions &Options,
                              int64_t Beams) {
  SessionOptions Room;
  Room.Threads = Options.Threads;
  auto InPages = [&](CacheContent Content, int64_t Tokens) {
    for (const CacheInfo &Cache : Info.Caches)
      if (Cache.Content == Content)
        return (Tokens + Cache.PageTokens - 1) / Cache.PageTokens *
               Cache.PageTokens;
    return Tokens;
  };
  for (const Generation &G : All) {
    int64_t Length =
        static_cast<int64_t>(G.Prompt.size()) + std::max<int64_t>(G.Limit, 0);
    Room.CacheTokens +=
        Beams * InPages(CacheContent::Sequence,
                        std::clamp<int64_t>(Length, 1, Info.MaxSequence));
    Room.SourceTokens +=
        InPages(CacheContent::Cross, static_cast<int64_t>(G.Source.size()));
  }
  if (Options.MaxSeq != 0)
    Room.CacheTokens = Options.MaxSeq;
  return Room;
}

static Json generationJson(const Generation &G) {
  Json J = Json::object();
  J["token_ids"] = G.NewTokens;
  J["text"] = G.Decoder ? Json(G.Text) : Json();
  J["finish_reason"] = G.FinishReason;
  J["prompt_tokens"] = G.Source.empty() ? G.Prompt.size() : G.Source.size();
  if (G.Score)
    J["score"] = *G.Score;
  if (G.Failure)
    J["error"] = G.Failure->message();
  return J;
}

static Status printJson(const std::vector<Generation> &All,
                        const Timings &Times) {
  Json J = Json::array();
  for (const Generation &G : All) {
    J.push_back(generationJson(G));
    J.back()["timings"] = timingsJson(Times);
  }
  // One prompt, one object.
  if (All.size() == 1)
    J = Json(J.front());
  return print(lineOf(J));
}

Status tenon::runModel(const RunOptions &Options) {
  double Begin = secondsNow();
  Timings Times;
  Result<std::shared_ptr<const Model>> Loaded = Model::load(Options.File);
  if (!Loaded)
    return Loaded.error();
  const Model &M = **Loaded;
  const Manifest &Info = M.manifest();
  ModelKind Kind = kindOf(M);
  if (Status Fits = checkFit(M, Kind, Options); !Fits)
    return Fits;
  if (Kind == ModelKind::Image ||
      (Kind == ModelKind::Classifier && Options.Output.empty()))
    return classify(*Loaded, Options, Begin);

  Result<std::vector<std::vector<int32_t>>> Prompts = readPrompts(M, Options);
  if (!Prompts)
    return Prompts.error();
  Result<std::vector<int32_t>> Types =
      readTokenTypes(Options, Prompts->front());
  if (!Types)
    return Types.error();
  Result<Choice> How = choiceOf(Info.Generation, Options);
  if (!How)
    return How.error();
  bool Translates = Kind == ModelKind::EncoderDecoder;
  Result<std::vector<Generation>> All = makeGenerations(
      M, Options, Translates, How->Sampling, std::move(*Prompts));
  if (!All)
    return All.error();
  Generation &Single = All->front();
  bool Generates =
      Options.Output.empty() || Options.MaxNewTokens.value_or(0) > 0;
  int64_t Beams = Generates ? How->Search.Beams : 1;
  Result<Session> S =
      Session::create(*Loaded, roomFor(*All, Info, Options, Beams));
  if (!S)
    return S.error();
  Times.Load = secondsNow() - Begin;

  if (!Options.Output.empty()) {
    double From = secondsNow();
    Status Written =
        Translates ? writeDecoderOutputs(*S, Single.Source, Single.Prompt,
                                         Options.Output)
                   : writeOutputs(*S, Single.Prompt, *Types, Options.Output);
    if (!Written)
      return Written;
    if (!Generates) {
      Times.Prefill = secondsNow() - From;
      Times.PromptTokens =
          static_cast<int64_t>(Single.Prompt.size() + Single.Source.size());
      Times.FirstToken = secondsSinceStart();
      Single.FinishReason = "output";
    }
  }

  if (Generates) {
    if (Info.Tokenizer)
      for (Generation &G : *All) {
        Result<const Tokenizer *> Text = M.tokenizer();
        if (!Text)
          return Text.error();
        G.Decoder.emplace(**Text);
      }
    bool Stream = !Options.Json && Info.Tokenizer.has_value();
    Status Done = Beams > 1 ? generateByBeams(*S, *All, How->Search, Times)
                            : generate(*S, *All, Stream, Times);
    if (!Done)
      return Done;
  }

  if (Options.Json) {
    if (Status Done = printJson(*All, Times); !Done)
      return Done;
  } else if (Generates) {
    // A model without a tokenizer can still show what it chose; greedy text
    // has been printed as it came.
    std::string Line = !Single.Decoder ? joinTokens(Single.NewTokens)
                       : Beams > 1     ? Single.Text
                                       : "";
    bool Ends = !Single.Text.empty() && Single.Text.back() == '\n';
    if (Status Done = print(Ends ? Line : Line + "\n"); !Done)
      return Done;
  }
  for (size_t I = 0; I < All->size(); ++I)
    if (const std::optional<Error> &Failure = (*All)[I].Failure)
      return All->size() == 1
                 ? *Failure
                 : Failure->withContext("prompt " + std::to_string(I + 1));
  return {};
}
