//===- RunCommand.cpp - tenon run -----------------------------------------===//

#include "runtime/Support/Clock.h"
#include "runtime/Support/Console.h"
#include "runtime/Tool/Arguments.h"
#include "runtime/Tool/ProcessInfo.h"
#include "runtime/Tool/RunSupport.h"

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
  bool Sees = Kind == ModelKind::Image;
  const std::optional<ImageInfo> &Image = M.manifest().Image;
  bool Generates =
      Kind == ModelKind::Decoder || Kind == ModelKind::EncoderDecoder;
  bool HasPrompt = !Options.Prompts.empty() || !Options.PromptFile.empty() ||
                   !Options.TokenIds.empty();
  if (!Sees && !Options.Images.empty() && !(Image && Image->Token))
    return Refuse("--image", "this model reads text, not images");
  if (!Sees && !HasPrompt)
    return Error(M.path() + ": this model reads text: use --prompt TEXT");
  if (Sees && Options.Images.empty())
    return Error(M.path() + ": this model reads images: use --image FILE");
  if (Sees && HasPrompt)
    return Refuse("--image", "this model takes no prompt");
  if (Sees && Options.Images.size() > 1)
    return Refuse("--image", "this model takes one image");
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
  if (std::optional<std::string> Option = firstTextOption(Options))
    return Refuse(Option->c_str(), "this model generates no text");
  if (Kind == ModelKind::Encoder && Options.Output.empty())
    return Error(M.path() +
                 ": this model encodes and generates no text: use --output "
                 "FILE.npy" +
                 (M.hasEntry("embed") ? ", or tenon embed" : ""));
  return {};
}

/// Whatever the user names as a source of input.
static std::vector<std::string> inputsOf(const RunOptions &Options) {
  std::vector<std::string> Files = {Options.File, Options.PromptFile};
  Files.insert(Files.end(), Options.Images.begin(), Options.Images.end());
  Files.insert(Files.end(), Options.ModelFiles.begin(),
               Options.ModelFiles.end());
  std::vector<std::string> Tokens = Options.TokenIds;
  Tokens.insert(Tokens.end(), {Options.TokenTypes, Options.DecoderTokenIds});
  for (const std::string &Value : Tokens)
    if (Value.starts_with('@'))
      Files.push_back(Value.substr(1));
  return Files;
}

/// Runs all requests to their end. Text of the only one is printed as it comes
/// when `Stream` is set.
static Status generateAll(Generator &G, size_t Requests, bool Stream,
                          Timings &Times) {
  double Begin = secondsNow();
  while (G.running() != 0) {
    bool Reads = G.reading();
    int64_t Count = 0;
    for (size_t I = 0; I < Requests; ++I)
      Count += static_cast<int64_t>(G.running(static_cast<int64_t>(I)));
    Result<std::vector<Piece>> Pieces = G.step();
    if (!Pieces)
      return Pieces.error();
    for (const Piece &P : *Pieces)
      if (Stream)
        if (Status Done = print(P.Text); !Done)
          return Done;
    double End = secondsNow();
    if (Reads) {
      Times.FirstToken = secondsSinceStart();
      Times.Prefill += End - Begin;
    } else {
      Times.Decode += End - Begin;
      Times.DecodedTokens += Count;
    }
    Begin = End;
  }
  return {};
}

/// Prints what has been generated and is not printed yet.
static Status show(const Model &M, const RunOptions &Options,
                   const std::vector<Request> &Requests,
                   const std::vector<Answer> &All,
                   const std::vector<size_t> &Cached, bool HasText,
                   const Json &Tools, const Timings &Times) {
  if (Options.Json) {
    Json J = Json::array();
    for (size_t I = 0; I < All.size(); ++I) {
      J.push_back(answerJson(M, Requests[I], All[I], HasText, Tools));
      J.back()["cached_tokens"] = Cached[I];
      J.back()["timings"] = timingsJson(Times);
    }
    // One prompt, one object.
    return print(lineOf(J.size() == 1 ? Json(J.front()) : J));
  }
  // A model without a tokenizer can still show what it chose; text has been
  // printed as it came.
  const Generation &Single = All.front().Choices.front();
  if (Single.Finish == FinishReason::None)
    return {};
  std::vector<int32_t> Tokens = Single.NewTokens;
  if (Options.Echo)
    Tokens.insert(Tokens.begin(), Requests.front().Prompt.begin(),
                  Requests.front().Prompt.end());
  std::string Line = HasText ? "" : joinTokens(Tokens);
  bool Ends = !Single.Text.empty() && Single.Text.back() == '\n';
  // A generation that fails before its first token has no line to end.
  if (!Ends && !(Single.Failure && Tokens.empty()))
    Line += "\n";
  return print(Line);
}

namespace {

/// What a run is given.
struct RunInput {
  Json Tools;
  std::vector<Request> Requests; ///< One for each prompt.
  std::vector<int32_t> Types;    ///< Of the tokens of the only prompt, or none.
};

/// What it has generated, of each request.
struct RunAnswers {
  std::vector<Answer> All;
  std::vector<size_t> Cached; ///< Prompt tokens that had run before.

  /// One text without a token each.
  explicit RunAnswers(size_t Requests) : All(Requests), Cached(Requests) {
    for (Answer &A : All)
      A.Choices.resize(1);
  }
};

} // namespace

/// Whether a run is for text, and not for --output alone.
static bool generatesText(const RunOptions &Options) {
  return Options.Output.empty() || Options.MaxNewTokens.value_or(0) > 0;
}

static Result<RunInput> readInput(const Model &M, const RunOptions &Options,
                                  grammar::GrammarCache &Grammars) {
  Result<Json> Tools = readTools(Options.Tools);
  if (!Tools)
    return Tools.error();
  Result<std::vector<std::vector<int32_t>>> Prompts =
      readPrompts(M, Options, *Tools);
  if (!Prompts)
    return Prompts.error();
  Result<std::vector<PromptImage::Ptr>> Images =
      readPromptImages(M, Options.Images);
  if (!Images)
    return Images.error();
  Result<std::vector<int32_t>> Types =
      readTokenTypes(Options, Prompts->front());
  if (!Types)
    return Types.error();
  Result<Settings> S = settingsOf(M, Options, Grammars);
  if (!S)
    return S.error();
  RunInput Input{std::move(*Tools), {}, std::move(*Types)};
  S->Tools = Input.Tools;
  uint64_t Seed = Options.Seed.value_or(std::random_device()());
  for (std::vector<int32_t> &Prompt : *Prompts) {
    S->Seed = Seed + Input.Requests.size();
    Result<Request> R = makeRequest(M, *S, std::move(Prompt), *Images);
    if (!R)
      return R.error();
    if (Status Fits = checkPromptLength(M, *R); !Fits)
      return Prompts->size() == 1
                 ? Fits.error()
                 : Fits.error().withContext(
                       "prompt " + std::to_string(Input.Requests.size() + 1));
    if (!generatesText(Options))
      R->How.Beams = 1;
    Input.Requests.push_back(std::move(*R));
  }
  if (Options.MaxSeq != 0)
    if (Status Cut = cutToCache(Input.Requests, Options.MaxSeq); !Cut)
      return Cut.error().withContext("--max-seq");
  return Input;
}

/// Generates from all `Requests` at once; text is printed as it comes when
/// `Stream` is set.
static Result<RunAnswers> generate(Session &S,
                                   const std::vector<Request> &Requests,
                                   bool Stream, Timings &Times) {
  const Model &M = S.model();
  int64_t Rows = 0;
  for (const Request &R : Requests)
    Rows += rowsOf(R);
  Result<serving::ArtifactPrompts> Kept = serving::ArtifactPrompts::create(S);
  if (!Kept)
    return Kept.error();
  noteArtifactPrompts(M, Kept->read());
  Generator G(S, variantFor(M, Rows));
  RunAnswers Answers(Requests.size());
  for (size_t I = 0; I < Requests.size(); ++I) {
    std::optional<PromptStart> Start = Kept->startOf(Requests[I]);
    if (Start) {
      Answers.Cached[I] = Start->Tokens;
      Times.PromptTokens -= static_cast<int64_t>(Start->Tokens);
    }
    if (Result<int64_t> Added =
            G.add(Requests[I], Start, /*KeepsPrompt=*/false);
        !Added)
      return Added.error();
  }
  if (Status Done = generateAll(G, Requests.size(), Stream, Times); !Done)
    return Done.error();
  for (size_t I = 0; I < Requests.size(); ++I)
    Answers.All[I] = G.take(static_cast<int64_t>(I));
  return Answers;
}

/// Notes why texts were cut. The first error of one.
static Status reportEnds(const Model &M, const RunOptions &Options,
                         const std::vector<Request> &Requests,
                         const std::vector<Answer> &All) {
  bool IsCutByModel = false, IsCutByCache = false;
  std::optional<Error> Failure;
  for (size_t I = 0; I < All.size(); ++I)
    for (size_t K = 0; K < All[I].Choices.size(); ++K) {
      const Generation &G = All[I].Choices[K];
      if (G.Finish == FinishReason::Context) {
        auto Length = static_cast<int64_t>(Requests[I].Prompt.size());
        bool IsWhole =
            Length + Requests[I].MaxNewTokens > M.manifest().MaxSequence;
        (IsWhole ? IsCutByModel : IsCutByCache) = true;
      }
      if (!G.Failure || Failure)
        continue;
      Failure = G.Failure;
      if (All[I].Choices.size() > 1)
        Failure = Failure->withContext("choice " + std::to_string(K));
      if (All.size() > 1)
        Failure = Failure->withContext("prompt " + std::to_string(I + 1));
    }
  if (IsCutByModel)
    printNote("cut at the model's longest sequence of " +
              std::to_string(M.manifest().MaxSequence) + " tokens");
  if (IsCutByCache)
    printNote("cut where the cache ends: --max-seq is " +
              std::to_string(Options.MaxSeq));
  return Failure ? Status(*Failure) : Status();
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

  grammar::GrammarStore Store;
  grammar::GrammarCache Grammars(Store);
  Result<RunInput> Input = readInput(M, Options, Grammars);
  if (!Input)
    return Input.error();
  const std::vector<Request> &Requests = Input->Requests;
  for (const Request &R : Requests)
    Times.PromptTokens +=
        static_cast<int64_t>(R.Prompt.size() + R.Source.size());
  bool Generates = generatesText(Options);
  SessionOptions Room = roomFor(M, Requests);
  Room.Threads = Options.Threads;
  if (Generates)
    Room.CacheTokens += artifactPromptTokens(M);
  Result<Session> Running = Session::create(*Loaded, Room);
  if (!Running)
    return Running.error();
  Times.Load = secondsNow() - Begin;

  if (Out) {
    double From = secondsNow();
    if (Status Written = writeOutputs(*Running, Requests.front(), Input->Types,
                                      std::move(*Out));
        !Written)
      return Written;
    if (!Generates) {
      Times.Prefill = secondsNow() - From;
      Times.FirstToken = secondsSinceStart();
    }
  }

  bool HasText = Generates && M.manifest().Tokenizer.has_value();
  RunAnswers Answers(Requests.size());
  if (Generates) {
    Result<RunAnswers> Given =
        generate(*Running, Requests, !Options.Json && HasText, Times);
    if (!Given)
      return Given.error();
    Answers = std::move(*Given);
  }
  if (Status Shown = show(M, Options, Requests, Answers.All, Answers.Cached,
                          HasText, Input->Tools, Times);
      !Shown)
    return Shown;
  return reportEnds(M, Options, Requests, Answers.All);
}
