//===- RunCommand.cpp - tenon run -----------------------------------------===//

#include "runtime/Engine/Session.h"
#include "runtime/Sampling/Sampler.h"
#include "runtime/Support/MappedFile.h"
#include "runtime/Tool/Arguments.h"
#include "runtime/Tool/Commands.h"
#include "runtime/Tool/Npy.h"
#include "runtime/Tool/ProcessInfo.h"

#include <algorithm>
#include <limits>

using namespace tenon;

static constexpr uint64_t MaxPromptBytes = 256u << 20;

namespace {

/// One prompt and what is generated after it.
struct Generation {
  std::vector<int32_t> Prompt;
  Sampler Choice;
  SequenceId Sequence{};
  std::vector<int32_t> NewTokens;
  std::optional<StreamingDecoder> Decoder;
  std::string Text;
  /// Empty while it goes on; then "eos", "length" or "error".
  std::string FinishReason;
  std::optional<Error> Failure;
};

struct Timings {
  double Load = 0;
  double FirstToken = 0; ///< Since the start of the process.
  double Prefill = 0;
  double Decode = 0;
  int64_t PromptTokens = 0;
  int64_t DecodedTokens = 0;
};

} // namespace

static Json timingsJson(const Timings &T) {
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

/// `J` on one line; text that is not UTF-8 gets replacement characters.
static std::string lineOf(const Json &J) {
  return J.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// The token ids of every prompt, in the order of the options.
static Result<std::vector<std::vector<int32_t>>>
readPrompts(const Model &M, const RunOptions &Options) {
  std::vector<std::string> Texts = Options.Prompts;
  if (!Options.PromptFile.empty()) {
    Result<std::string> Text = readFile(Options.PromptFile, MaxPromptBytes);
    if (!Text)
      return Text.error();
    Texts.push_back(*Text);
  }
  std::vector<std::vector<int32_t>> Prompts;
  for (const std::string &Text : Texts) {
    Result<const Tokenizer *> Tokens = M.tokenizer();
    if (!Tokens)
      return Tokens.error();
    // Whole: a tokenizer's own limit must not cut a prompt unnoticed.
    Result<std::vector<int32_t>> Ids =
        (*Tokens)->encode(Text, true, std::numeric_limits<size_t>::max());
    if (!Ids)
      return Ids.error().withContext("prompt");
    if (Ids->empty())
      return Error("prompt " + printable(Text) +
                   " has no tokens: expected at least one");
    Prompts.push_back(std::move(*Ids));
  }
  for (const std::string &Value : Options.TokenIds) {
    Result<std::vector<int32_t>> Ids = parseTokens(Value, "--token-ids");
    if (!Ids)
      return Ids.error();
    Prompts.push_back(std::move(*Ids));
  }
  return Prompts;
}

/// Writes the output row of every input position to Options.Output.
static Status writeOutputs(Session &S, const std::vector<int32_t> &Ids,
                           const std::vector<int32_t> &Types,
                           const std::string &Path) {
  const Model &M = S.model();
  bool Steps = M.hasEntry("step");
  Result<const Entry *> Code = M.entry(Steps ? "step" : "encode");
  if (!Code)
    return Code.error();
  Result<NpyWriter> File = NpyWriter::create(
      Path, static_cast<int64_t>(Ids.size()), (*Code)->Info.Width);
  if (!File)
    return File.error();
  std::span<const int32_t> Tokens(Ids), TokenTypes(Types);
  // One step's rows at a time: all rows of a long prompt may be gigabytes.
  auto Most = static_cast<size_t>(M.manifest().MaxTokensPerStep);
  size_t Size = Steps ? Most : std::max<size_t>(Tokens.size(), 1);
  SequenceId Sequence = S.createSequence();
  for (size_t From = 0; From < Tokens.size(); From += Size) {
    size_t Count = std::min(Size, Tokens.size() - From);
    auto Part = Tokens.subspan(From, Count);
    auto PartTypes =
        TokenTypes.empty() ? TokenTypes : TokenTypes.subspan(From, Count);
    StepItem Item{Sequence, Part, PartTypes, Wanted::All};
    EncodeItem Whole{Part, PartTypes, Wanted::All};
    Result<std::vector<ItemResult>> Answer =
        Steps ? S.step({&Item, 1}) : S.encode({&Whole, 1});
    if (!Answer)
      return Answer.error();
    if (!Answer->front().Outcome)
      return Answer->front().Outcome;
    if (Status Written = File->append(Answer->front().Values); !Written)
      return Written;
  }
  if (Status Ended = S.endSequence(Sequence); !Ended)
    return Ended;
  return File->finish();
}

static SamplingOptions samplingOf(const GenerationInfo &Defaults,
                                  const RunOptions &Options) {
  SamplingOptions S;
  if (Defaults.Sample) {
    S.Temperature = Defaults.Temperature.value_or(1);
    S.TopK = Defaults.TopK.value_or(0);
    S.TopP = Defaults.TopP.value_or(1);
  } else if (Options.TopK || Options.TopP) {
    // Who limits the choice wants a choice.
    S.Temperature = 1;
  }
  S.Temperature = Options.Temperature.value_or(S.Temperature);
  S.TopK = Options.TopK.value_or(S.TopK);
  S.TopP = Options.TopP.value_or(S.TopP);
  return S;
}

/// Generates after all prompts at once. Text is printed as it comes when
/// `Stream` is set.
static Status generate(Session &S, std::vector<Generation> &All,
                       const RunOptions &Options, int64_t NewTokens,
                       bool Stream, Timings &Times) {
  const Manifest &Info = S.model().manifest();
  const std::vector<int32_t> &Ends = Info.Generation.EndOfSequence;
  auto IsEnd = [&](int32_t Token) {
    return !Options.IgnoreEos &&
           std::find(Ends.begin(), Ends.end(), Token) != Ends.end();
  };
  auto Emit = [&](Generation &G, const std::string &Piece) -> Status {
    G.Text += Piece;
    return Stream ? print(Piece) : Status();
  };
  for (Generation &G : All)
    G.Sequence = S.createSequence();

  for (bool First = true;; First = false) {
    std::vector<StepItem> Items;
    std::vector<Generation *> Owners;
    for (Generation &G : All) {
      if (!G.FinishReason.empty())
        continue;
      auto Tokens = First ? std::span<const int32_t>(G.Prompt)
                          : std::span<const int32_t>(G.NewTokens).last(1);
      Items.push_back({G.Sequence, Tokens, {}, Wanted::Last});
      Owners.push_back(&G);
    }
    if (Items.empty())
      return {};
    double Begin = secondsNow();
    Result<std::vector<ItemResult>> Answers = S.step(Items);
    if (!Answers)
      return Answers.error();
    for (size_t I = 0; I < Owners.size(); ++I) {
      Generation &G = *Owners[I];
      const ItemResult &Answer = (*Answers)[I];
      std::optional<Error> Failure;
      std::optional<int32_t> Token;
      if (!Answer.Outcome) {
        Failure = Answer.Outcome.error();
      } else if (NewTokens > 0) {
        // The head may be padded beyond the vocabulary.
        auto Known = std::min(Answer.Values.size(),
                              static_cast<size_t>(Info.Vocabulary));
        Result<int32_t> Picked = G.Choice.pick(Answer.Values.first(Known));
        if (Picked)
          Token = *Picked;
        else
          Failure = Picked.error();
      }
      if (Token) {
        G.NewTokens.push_back(*Token);
        if (IsEnd(*Token))
          G.FinishReason = "eos";
        else if (G.Decoder)
          if (Status Done = Emit(G, G.Decoder->push(*Token)); !Done)
            return Done;
      }
      auto Held = static_cast<int64_t>(G.Prompt.size() + G.NewTokens.size());
      if (Failure) {
        G.Failure = Failure;
        G.FinishReason = "error";
      } else if (G.FinishReason.empty() &&
                 (static_cast<int64_t>(G.NewTokens.size()) >= NewTokens ||
                  Held > Info.MaxSequence)) {
        G.FinishReason = "length";
      }
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
        Times.PromptTokens += static_cast<int64_t>(G->Prompt.size());
    } else {
      Times.Decode += Took;
      Times.DecodedTokens += static_cast<int64_t>(Owners.size());
    }
  }
}

static Json generationJson(const Generation &G) {
  Json J = Json::object();
  J["token_ids"] = G.NewTokens;
  J["text"] = G.Decoder ? Json(G.Text) : Json();
  J["finish_reason"] = G.FinishReason;
  J["prompt_tokens"] = G.Prompt.size();
  if (G.Failure)
    J["error"] = G.Failure->message();
  return J;
}

Status tenon::runModel(const RunOptions &Options) {
  double Begin = secondsNow();
  Timings Times;
  Result<std::shared_ptr<const Model>> Loaded = Model::load(Options.File);
  if (!Loaded)
    return Loaded.error();
  const Model &M = **Loaded;
  const Manifest &Info = M.manifest();
  Result<std::vector<std::vector<int32_t>>> Prompts = readPrompts(M, Options);
  if (!Prompts)
    return Prompts.error();
  std::vector<int32_t> Types;
  if (!Options.TokenTypes.empty()) {
    Result<std::vector<int32_t>> Read =
        parseTokens(Options.TokenTypes, "--token-types");
    if (!Read)
      return Read.error();
    Types = std::move(*Read);
    if (Types.size() != Prompts->front().size())
      return Error("--token-types: " + std::to_string(Types.size()) +
                   " values for " + std::to_string(Prompts->front().size()) +
                   " tokens: expected one per token");
  }
  int64_t NewTokens = Options.MaxNewTokens.value_or(
      Options.Output.empty() ? DefaultNewTokens : 0);
  bool Generates = Options.Output.empty() || NewTokens > 0;
  if (Generates && !M.hasEntry("step"))
    return Error(Options.File + ": this model encodes and generates no text: "
                                "use --output FILE.npy, or tenon embed");

  // Room for every sequence in whole pages, but no more than they can use.
  int64_t Page = Info.Caches.empty() ? 1 : Info.Caches.front().PageTokens;
  int64_t Tokens = Options.MaxSeq;
  if (Tokens == 0)
    for (const auto &Prompt : *Prompts) {
      int64_t Needed =
          std::min(Info.MaxSequence, static_cast<int64_t>(Prompt.size()) +
                                         std::min(NewTokens, Info.MaxSequence));
      Tokens += (Needed + Page - 1) / Page * Page;
    }
  Result<Session> S = Session::create(*Loaded, {Options.Threads, Tokens});
  if (!S)
    return S.error();
  Times.Load = secondsNow() - Begin;

  if (!Options.Output.empty()) {
    double From = secondsNow();
    Status Written = writeOutputs(*S, Prompts->front(), Types, Options.Output);
    if (!Written)
      return Written;
    if (!Generates) {
      Times.Prefill = secondsNow() - From;
      Times.PromptTokens = static_cast<int64_t>(Prompts->front().size());
      Times.FirstToken = secondsSinceStart();
    }
  }

  SamplingOptions Sampling = samplingOf(Info.Generation, Options);
  std::vector<Generation> All;
  for (size_t I = 0; I < Prompts->size(); ++I) {
    Sampling.Seed = Options.Seed + I;
    Result<Sampler> Choice = Sampler::create(Sampling);
    if (!Choice)
      return Choice.error();
    All.push_back(
        {std::move((*Prompts)[I]), std::move(*Choice), {}, {}, {}, {}, {}, {}});
    if (Generates && Info.Tokenizer) {
      Result<const Tokenizer *> Text = M.tokenizer();
      if (!Text)
        return Text.error();
      All.back().Decoder.emplace(**Text);
    }
  }
  if (!Generates) {
    All.front().FinishReason = "output";
  } else {
    bool Stream = !Options.Json && Info.Tokenizer.has_value();
    Status Done = generate(*S, All, Options, NewTokens, Stream, Times);
    if (!Done)
      return Done;
  }

  if (Options.Json) {
    Json J = Json::array();
    for (const Generation &G : All)
      J.push_back(generationJson(G));
    // One prompt, one object.
    if (All.size() == 1)
      J = Json(J.front());
    if (J.is_object())
      J["timings"] = timingsJson(Times);
    else
      for (Json &One : J)
        One["timings"] = timingsJson(Times);
    if (Status Done = print(lineOf(J)); !Done)
      return Done;
  } else if (Generates) {
    const Generation &G = All.front();
    // A model without a tokenizer can still show what it chose.
    std::string Line = G.Decoder ? "" : joinTokens(G.NewTokens);
    bool Ends = !G.Text.empty() && G.Text.back() == '\n';
    if (Status Done = print(Ends ? Line : Line + "\n"); !Done)
      return Done;
  }
  for (size_t I = 0; I < All.size(); ++I)
    if (All[I].Failure)
      return All.size() == 1 ? *All[I].Failure
                             : All[I].Failure->withContext(
                                   "prompt " + std::to_string(I + 1));
  return {};
}
