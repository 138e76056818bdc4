//===- RunCommand.cpp - tenon run -----------------------------------------===//

#include "runtime/Support/Console.h"
#include "runtime/Tool/Arguments.h"
#include "runtime/Tool/ProcessInfo.h"
#include "runtime/Tool/RunSupport.h"

#include <algorithm>
#include <cstdio>
#include <random>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::engine;
using namespace tenon::generation;
using namespace tenon::tokenizer;
using namespace tenon::tool;

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
  const std::pair<const char *, bool> ForText[] = {
      {"--max-new-tokens", Options.MaxNewTokens.value_or(0) != 0},
      {"--temperature", Options.Temperature.has_value()},
      {"--top-k", Options.TopK.has_value()},
      {"--top-p", Options.TopP.has_value()},
      {"--num-beams", Options.Beams.has_value()},
      {"--length-penalty", Options.LengthPenalty.has_value()},
      {"--early-stopping", Options.EarlyStopping.has_value()},
      {"--ignore-eos", Options.IgnoreEos},
      {"--prefix-tokens", Options.PrefixTokens != 0}};
  for (auto [Option, IsGiven] : ForText)
    if (IsGiven)
      return Refuse(Option, "this model generates no text");
  if (Kind == ModelKind::Encoder && Options.Output.empty())
    return Error(M.path() + ": this model encodes and generates no text: use "
                            "--output FILE.npy, or tenon embed");
  return {};
}

/// What is chosen, but for the seed.
static Result<Settings> settingsOf(const RunOptions &Options) {
  Settings S;
  S.MaxNewTokens = Options.MaxNewTokens;
  // Who asks for the raw output usually wants nothing else.
  if (!Options.MaxNewTokens && !Options.Output.empty())
    S.MaxNewTokens = 0;
  S.Temperature = Options.Temperature;
  S.TopK = Options.TopK;
  S.TopP = Options.TopP;
  S.Beams = Options.Beams;
  S.LengthPenalty = Options.LengthPenalty;
  S.EarlyStopping = Options.EarlyStopping;
  S.IgnoreEndOfSequence = Options.IgnoreEos;
  S.Prefix = Options.PrefixTokens;
  S.NamesAreOptions = true;
  if (!Options.DecoderTokenIds.empty()) {
    Result<std::vector<int32_t>> Start =
        parseTokens(Options.DecoderTokenIds, "--decoder-token-ids");
    if (!Start)
      return Start.error();
    S.AnswerStart = std::move(*Start);
  }
  return S;
}

/// Whatever the user names as a source of input.
static std::vector<std::string> inputsOf(const RunOptions &Options) {
  std::vector<std::string> Files = {Options.File, Options.PromptFile,
                                    Options.Image};
  std::vector<std::string> Tokens = Options.TokenIds;
  Tokens.insert(Tokens.end(), {Options.TokenTypes, Options.DecoderTokenIds});
  for (const std::string &Value : Tokens)
    if (Value.starts_with('@'))
      Files.push_back(Value.substr(1));
  return Files;
}

/// Runs all requests to their end. Text of the only one is printed as it comes
/// when `Stream` is set.
static Status generateAll(Generator &G, bool Stream, Timings &Times) {
  double Begin = secondsNow();
  for (bool IsFirst = true; G.running() != 0; IsFirst = false) {
    auto Count = static_cast<int64_t>(G.running());
    Result<std::vector<Piece>> Pieces = G.step();
    if (!Pieces)
      return Pieces.error();
    for (const Piece &P : *Pieces)
      if (Stream)
        if (Status Done = print(P.Text); !Done)
          return Done;
    double End = secondsNow();
    if (IsFirst) {
      Times.FirstToken = secondsSinceStart();
      Times.Prefill = End - Begin;
    } else {
      Times.Decode += End - Begin;
      Times.DecodedTokens += Count;
    }
    Begin = End;
  }
  return {};
}

static Json generationJson(const Request &R, const Generation &G,
                           std::string_view FinishReason, bool HasText) {
  Json J = Json::object();
  J["token_ids"] = G.NewTokens;
  J["text"] = HasText ? Json(G.Text) : Json();
  J["finish_reason"] = FinishReason;
  J["prompt_tokens"] = R.Source.empty() ? R.Prompt.size() : R.Source.size();
  J["seed"] = R.How.Sampling.Seed;
  if (G.Score)
    J["score"] = *G.Score;
  if (G.Failure)
    J["error"] = G.Failure->message();
  return J;
}

Status tool::runModel(const RunOptions &Options) {
  double Begin = secondsNow();
  Timings Times;
  Result<std::shared_ptr<const Model>> Loaded = Model::load(Options.File);
  if (!Loaded)
    return Loaded.error();
  const Model &M = **Loaded;
  ModelKind Kind = kindOf(M);
  if (Status Fits = checkFit(M, Kind, Options); !Fits)
    return Fits;
  std::optional<OutputFile> Out;
  if (!Options.Output.empty()) {
    Result<OutputFile> Created =
        OutputFile::create(Options.Output, inputsOf(Options));
    if (!Created)
      return Created.error();
    Out = std::move(*Created);
  }
  if (Kind == ModelKind::Image || (Kind == ModelKind::Classifier && !Out))
    return classify(*Loaded, Options, std::move(Out), Begin);

  Result<std::vector<std::vector<int32_t>>> Prompts = readPrompts(M, Options);
  if (!Prompts)
    return Prompts.error();
  Result<std::vector<int32_t>> Types =
      readTokenTypes(Options, Prompts->front());
  if (!Types)
    return Types.error();
  Result<Settings> S = settingsOf(Options);
  if (!S)
    return S.error();
  bool Generates =
      Options.Output.empty() || Options.MaxNewTokens.value_or(0) > 0;
  uint64_t Seed = Options.Seed.value_or(std::random_device()());
  std::vector<Request> Requests;
  for (std::vector<int32_t> &Prompt : *Prompts) {
    S->Seed = Seed + Requests.size();
    Result<Request> R = makeRequest(M, *S, std::move(Prompt));
    if (!R)
      return R.error();
    if (!Generates)
      R->How.Beams = 1;
    Times.PromptTokens +=
        static_cast<int64_t>(R->Prompt.size() + R->Source.size());
    Requests.push_back(std::move(*R));
  }
  SessionOptions Room = roomFor(M, Requests);
  Room.Threads = Options.Threads;
  if (Options.MaxSeq != 0)
    Room.CacheTokens = Options.MaxSeq;
  Result<Session> Running = Session::create(*Loaded, Room);
  if (!Running)
    return Running.error();
  Times.Load = secondsNow() - Begin;

  if (Out) {
    double From = secondsNow();
    if (Status Written =
            writeOutputs(*Running, Requests.front(), *Types, std::move(*Out));
        !Written)
      return Written;
    if (!Generates) {
      Times.Prefill = secondsNow() - From;
      Times.FirstToken = secondsSinceStart();
    }
  }

  bool HasText = Generates && M.manifest().Tokenizer.has_value();
  std::vector<Generation> All(Requests.size());
  if (Generates) {
    Generator G(*Running);
    for (const Request &R : Requests)
      if (Result<int64_t> Added = G.add(R); !Added)
        return Added.error();
    bool Stream = !Options.Json && HasText;
    if (Status Done = generateAll(G, Stream, Times); !Done)
      return Done;
    for (size_t I = 0; I < All.size(); ++I)
      All[I] = G.take(static_cast<int64_t>(I));
  }

  if (Options.Json) {
    Json J = Json::array();
    for (size_t I = 0; I < All.size(); ++I) {
      J.push_back(generationJson(Requests[I], All[I],
                                 Generates ? nameOf(All[I].Finish) : "output",
                                 HasText));
      J.back()["timings"] = timingsJson(Times);
    }
    // One prompt, one object.
    if (Status Done = print(lineOf(J.size() == 1 ? Json(J.front()) : J)); !Done)
      return Done;
  } else if (Generates) {
    // A model without a tokenizer can still show what it chose; text has been
    // printed as it came.
    const Generation &Single = All.front();
    std::string Line = HasText ? "" : joinTokens(Single.NewTokens);
    bool Ends = !Single.Text.empty() && Single.Text.back() == '\n';
    // A generation that fails before its first token has no line to end.
    if (!Ends && !(Single.Failure && Single.NewTokens.empty()))
      Line += "\n";
    if (Status Done = print(Line); !Done)
      return Done;
  }
  if (std::any_of(All.begin(), All.end(), [](const Generation &G) {
        return G.Finish == FinishReason::Context;
      }))
    printNote("cut at the model's longest sequence of " +
              std::to_string(M.manifest().MaxSequence) + " tokens");
  for (size_t I = 0; I < All.size(); ++I)
    if (const std::optional<Error> &Failure = All[I].Failure)
      return All.size() == 1
                 ? *Failure
                 : Failure->withContext("prompt " + std::to_string(I + 1));
  return {};
}
