//===- BenchCommand.cpp - tenon bench -------------------------------------===//

#include "runtime/Engine/Session.h"
#include "runtime/Sampling/LogProbabilities.h"
#include "runtime/Support/Clock.h"
#include "runtime/Support/Console.h"
#include "runtime/Support/OutputFile.h"
#include "runtime/Tool/Commands.h"
#include "runtime/Tool/ProcessInfo.h"
#include "runtime/Tool/ProfileReport.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <random>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::cache;
using namespace tenon::engine;
using namespace tenon::sampling;
using namespace tenon::tool;

namespace {

/// What one round took, in seconds.
struct Round {
  double Prefill = 0;
  double Decode = 0;
};

/// Phases of a round, recorded if they are profiled.
class Phases {
public:
  static constexpr const char *Encode = "encode", *Prefill = "prefill",
                              *Decode = "decode";

  explicit Phases(Session &S) : S(S) {}

  /// Records from now on. An error when the code cannot be profiled.
  Status record() {
    const Model &M = S.model();
    for (const char *Name : {Encode, Prefill, Decode}) {
      Result<Profile> Recorder = Profile::create(M.manifest(), M.code());
      if (!Recorder)
        return Recorder.error().withContext(M.path());
      Recorded.push_back({Name, std::move(*Recorder)});
    }
    return {};
  }

  /// Runs `Work`, a part of the phase `Name`, and answers its seconds.
  template <typename Function> double run(const char *Name, Function Work) {
    auto Phase = std::find_if(
        Recorded.begin(), Recorded.end(),
        [&](const ProfiledPhase &Each) { return Each.Name == Name; });
    S.setProfile(Phase == Recorded.end() ? nullptr : &Phase->Recorder);
    double Begin = secondsNow();
    Work();
    double Seconds = secondsNow() - Begin;
    S.setProfile(nullptr);
    if (Phase != Recorded.end())
      Phase->Seconds += Seconds;
    return Seconds;
  }

  /// Those that have run.
  std::vector<ProfiledPhase> take() {
    std::erase_if(Recorded, [](const ProfiledPhase &Each) {
      return Each.Recorder.steps() == 0;
    });
    return std::move(Recorded);
  }

private:
  Session &S;
  std::vector<ProfiledPhase> Recorded;
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

/// The outcome of a call, and of each of its items.
static Status outcomeOf(const Result<std::vector<ItemResult>> &Answers) {
  return Answers ? firstFailure(*Answers) : Status(Answers.error());
}

/// `Id`, or another token where it stands for an image, which there is none of.
static int32_t textToken(const Manifest &Info, int32_t Id) {
  bool IsImage = Info.Image && Info.Image->Token == Id;
  return IsImage ? static_cast<int32_t>((Id + 1) % Info.Vocabulary) : Id;
}

/// One prefill of every prompt and the decoding steps after it. The prompts of
/// an encoder-decoder are its source texts.
static Result<Round> runDecoder(Session &S,
                                const std::vector<std::vector<int32_t>> &Ids,
                                int64_t NewTokens, double &FirstToken,
                                Phases &Parts) {
  Result<const Entry *> Code = S.model().entry("step");
  if (!Code)
    return Code.error();
  std::vector<int32_t> Chosen(Ids.size());
  std::vector<StepItem> Items;
  std::vector<SourceItem> Sources;
  std::vector<int32_t> Start = {
      S.model().manifest().Generation.DecoderStart.value_or(0)};
  bool Translates = S.sourceCache() != nullptr;
  for (const std::vector<int32_t> &Prompt : Ids) {
    SequenceId Id = S.createSequence();
    Items.push_back({Id, Translates ? Start : Prompt, {}, OutputRows::Last});
    Sources.push_back({Id, Prompt});
  }
  Round Times;
  Status Done;
  if (Translates)
    Times.Prefill += Parts.run(
        Phases::Encode, [&] { Done = outcomeOf(S.encodeSources(Sources)); });
  auto RunStep = [&]() -> Status {
    Result<std::vector<ItemResult>> Answers = S.step(Items);
    if (Status Outcome = outcomeOf(Answers); !Outcome)
      return Outcome;
    // On all threads, as Generator does.
    std::vector<Status> Picked(Ids.size());
    S.forEach(Ids.size(), [&](size_t I) {
      Result<int32_t> Token = likeliest(
          scoresOf((*Answers)[I].Values, S.model().manifest(), (*Code)->Info));
      if (!Token) {
        Picked[I] = Token.error();
        return;
      }
      Chosen[I] = textToken(S.model().manifest(), *Token);
      Items[I].Tokens = {&Chosen[I], 1};
    });
    for (const Status &Each : Picked)
      if (!Each)
        return Each;
    return {};
  };
  for (int64_t Step = 0; Done && Step <= NewTokens; ++Step) {
    double Taken = Parts.run(Step == 0 ? Phases::Prefill : Phases::Decode,
                             [&] { Done = RunStep(); });
    (Step == 0 ? Times.Prefill : Times.Decode) += Taken;
    if (Done && FirstToken == 0)
      FirstToken = secondsSinceStart();
  }
  if (!Done)
    return Done.error();
  for (const StepItem &Item : Items)
    if (Status Ended = S.endSequence(Item.Sequence); !Ended)
      return Ended.error();
  return Times;
}

/// One pass over every text of an encoder.
static Result<Round> runEncoder(Session &S,
                                const std::vector<std::vector<int32_t>> &Ids,
                                double &FirstToken, Phases &Parts) {
  std::vector<EncodeItem> Items;
  for (const std::vector<int32_t> &Text : Ids)
    Items.push_back({Text, {}, OutputRows::All});
  Status Done;
  double Taken = Parts.run(Phases::Encode, [&] {
    Done = outcomeOf(S.model().hasEntry("embed") ? S.embed(Items)
                                                 : S.encode(Items));
  });
  if (!Done)
    return Done.error();
  if (FirstToken == 0)
    FirstToken = secondsSinceStart();
  return Round{Taken, 0};
}

/// One pass over `Count` images of zeros.
static Result<Round> runImages(Session &S, int64_t Count, double &FirstToken,
                               Phases &Parts) {
  const ImageInfo &Image = *S.model().manifest().Image;
  std::vector<float> Patches(
      static_cast<size_t>(Image.patches() * Image.patchValues()));
  std::vector<ImageItem> Items(static_cast<size_t>(Count),
                               {Patches, OutputRows::All});
  Status Done;
  double Taken = Parts.run(Phases::Encode,
                           [&] { Done = outcomeOf(S.encodeImages(Items)); });
  if (!Done)
    return Done.error();
  if (FirstToken == 0)
    FirstToken = secondsSinceStart();
  return Round{Taken, 0};
}

/// Measures the limits, and puts together what there is to say.
static Result<ProfileReport> reportOf(const Session &S,
                                      const BenchOptions &Options,
                                      std::vector<ProfiledPhase> Recorded) {
  const Model &M = S.model();
  Result<MachineRates> Rates = measureRates(M.code(), Options.Threads);
  if (!Rates)
    return Rates.error();
  ProfileReport Report{M.manifest(), M.code(), {}, *Rates, std::move(Recorded)};
  for (size_t I = 0; I < M.code().Primitives.size(); ++I)
    Report.Implementations.push_back(S.matmulImplementations(I));
  return Report;
}

namespace {
/// Tokens of a text.
struct Lengths {
  int64_t Prompt; ///< Of an encoder-decoder, of its source.
  int64_t New;    ///< Decoded after it.
};
} // namespace

/// What is asked for of a model that reads text, or as much of the usual as it
/// has room for.
static Result<Lengths> lengthsOf(const Manifest &Info, bool Decodes,
                                 const BenchOptions &Options) {
  constexpr int64_t UsualPrompt = 512, UsualNew = 32;
  bool Translates = Info.MaxSource != 0;
  int64_t Longest = Info.MaxSequence;
  int64_t ForNew = Translates             ? Longest - 1
                   : Options.PromptTokens ? Longest - *Options.PromptTokens
                                          : Longest / 2;
  int64_t UsedNew = Decodes ? std::clamp<int64_t>(ForNew, 1, UsualNew) : 0;
  int64_t New = Decodes ? Options.NewTokens.value_or(UsedNew) : 0;
  int64_t ForPrompt = Translates ? Info.MaxSource : Longest - New;
  int64_t Prompt = Options.PromptTokens.value_or(
      std::clamp<int64_t>(ForPrompt, 1, UsualPrompt));
  if (Translates && Prompt > Info.MaxSource)
    return Error("--prompt-tokens is " + std::to_string(Prompt) +
                 ": expected at most " + std::to_string(Info.MaxSource) +
                 ", the model's source length");
  // An answer begins with one token.
  if ((Translates ? 1 : Prompt) + New > Longest)
    return Error("--prompt-tokens and --new-tokens are " +
                 std::to_string(Prompt) + " and " + std::to_string(New) +
                 ": expected at most " + std::to_string(Longest) +
                 " together, the model's length");
  bool IsLess = (!Options.PromptTokens && Prompt < UsualPrompt) ||
                (Decodes && !Options.NewTokens && New < UsualNew);
  if (IsLess)
    printNote("measured with " + std::to_string(Prompt) +
              " prompt tokens and " + std::to_string(New) +
              " new ones: the model has no room for " +
              std::to_string(UsualPrompt) + " and " + std::to_string(UsualNew));
  return Lengths{Prompt, New};
}

namespace {
/// A session, and what was measured with it.
struct Measurements {
  Session S;
  Lengths Tokens;
  double Load = 0, FirstToken = 0;               ///< Seconds.
  std::vector<double> Prefill = {}, Decode = {}; ///< Seconds of each round.
  std::vector<ProfiledPhase> Recorded = {};      ///< With --profile.
};
} // namespace

/// `Count` texts of so many tokens, the same each time.
static std::vector<std::vector<int32_t>>
randomTexts(const Manifest &Info, int64_t Count, int64_t Tokens) {
  std::mt19937_64 Random(1);
  std::vector<std::vector<int32_t>> Ids(static_cast<size_t>(Count));
  for (std::vector<int32_t> &Text : Ids)
    for (int64_t I = 0; I < Tokens; ++I)
      Text.push_back(textToken(
          Info, static_cast<int32_t>(Random() %
                                     static_cast<uint64_t>(Info.Vocabulary))));
  return Ids;
}

/// Loads the model and runs all rounds.
static Result<Measurements> measure(const BenchOptions &Options) {
  double Begin = secondsNow();
  Result<std::shared_ptr<const Model>> Loaded = Model::load(Options.File);
  if (!Loaded)
    return Loaded.error();
  const Manifest &Info = (*Loaded)->manifest();
  bool Decodes = (*Loaded)->hasEntry("step");
  bool Sees = !Decodes && (*Loaded)->hasEntry("encode_image");
  bool Translates = Decodes && Info.MaxSource != 0;
  Result<Lengths> Tokens = Sees ? Lengths{Info.Image->patches() + 1, 0}
                                : lengthsOf(Info, Decodes, Options);
  if (!Tokens)
    return Tokens.error();
  // An answer begins with one token.
  int64_t Length = (Translates ? 1 : Tokens->Prompt) + Tokens->New;
  // In whole pages; every kind of cache has pages of the same size.
  int64_t Page = Info.Caches.empty() ? 1 : Info.Caches.front().PageTokens;
  auto Room = [&](int64_t Count) {
    return (Count + Page - 1) / Page * Page * Options.Batch;
  };
  Result<Session> S =
      Session::create(*Loaded, {Options.Threads, Room(Length),
                                Translates ? Room(Tokens->Prompt) : 0});
  if (!S)
    return S.error();
  Measurements Done{std::move(*S), *Tokens};
  Done.Load = secondsNow() - Begin;

  std::vector<std::vector<int32_t>> Ids =
      randomTexts(Info, Options.Batch, Sees ? 0 : Tokens->Prompt);
  auto RunRound = [&](Phases &Parts) {
    return Decodes
               ? runDecoder(Done.S, Ids, Tokens->New, Done.FirstToken, Parts)
           : Sees ? runImages(Done.S, Options.Batch, Done.FirstToken, Parts)
                  : runEncoder(Done.S, Ids, Done.FirstToken, Parts);
  };
  Phases Parts(Done.S);
  if (Options.Profile) {
    if (Status Able = Parts.record(); !Able)
      return Able.error();
    Phases Unrecorded(Done.S);
    if (Result<Round> WarmUp = RunRound(Unrecorded); !WarmUp)
      return WarmUp.error();
  }
  for (int64_t I = 0; I < Options.Repeat; ++I) {
    Result<Round> Times = RunRound(Parts);
    if (!Times)
      return Times.error();
    Done.Prefill.push_back(Times->Prefill);
    Done.Decode.push_back(Times->Decode);
  }
  Done.Recorded = Parts.take();
  return Done;
}

/// What is said of them.
static Json numbersOf(const Measurements &Done, const BenchOptions &Options) {
  const Model &M = Done.S.model();
  auto Batch = static_cast<double>(Options.Batch);
  Json J = Json::object();
  J["prefill_tokens_per_s"] =
      Batch * static_cast<double>(Done.Tokens.Prompt) / medianOf(Done.Prefill);
  if (Done.Tokens.New > 0)
    J["decode_tokens_per_s"] =
        Batch * static_cast<double>(Done.Tokens.New) / medianOf(Done.Decode);
  J["first_token_s"] = Done.FirstToken;
  J["load_s"] = Done.Load;
  J["peak_rss_mb"] = peakResidentMegabytes();
  // What the system does not say is left out.
  auto Say = [&](const char *Name, const std::optional<PageUse> &Use) {
    if (std::optional<double> Share = Use ? Use->share() : std::nullopt)
      J[Name] = *Share;
  };
  std::span<const std::byte> File = M.artifact().bytes();
  Say("huge_pages_of_file", pageUse({&File, 1}));
  Say("huge_pages_of_memory", Done.S.memoryUse());
  J["prompt_tokens"] = Done.Tokens.Prompt;
  J["new_tokens"] = Done.Tokens.New;
  J["batch"] = Options.Batch;
  J["repeat"] = Options.Repeat;
  J["threads"] = Done.S.threads();
  J["level"] = infoOf(M.code().Level).Name;
  J["library_matmuls"] = Done.S.matmulCounters().Library;
  J["reference_matmuls"] = Done.S.matmulCounters().Reference;
  return J;
}

/// In three significant digits: the others are noise.
static std::string measuredText(double Value) {
  char Digits[64];
  std::snprintf(Digits, sizeof(Digits), "%.3g", Value);
  char *End =
      std::to_chars(Digits, std::end(Digits), std::strtod(Digits, nullptr),
                    std::chars_format::fixed)
          .ptr;
  return {Digits, End};
}

static std::string numbersText(const Json &Numbers) {
  std::string Text;
  for (const auto &[Key, Value] : Numbers.items())
    Text += Key + std::string(24 - std::min<size_t>(Key.size(), 23), ' ') +
            (Value.is_string()         ? Value.get<std::string>()
             : Value.is_number_float() ? measuredText(Value)
                                       : Value.dump()) +
            "\n";
  return Text;
}

Status tool::benchModel(const BenchOptions &Options) {
  std::optional<OutputFile> Svg;
  if (!Options.ProfileSvg.empty()) {
    std::vector<std::string> Inputs = Options.ModelFiles;
    Inputs.push_back(Options.File);
    Result<OutputFile> Created = OutputFile::create(Options.ProfileSvg, Inputs);
    if (!Created)
      return Created.error();
    Svg = std::move(*Created);
  }
  Result<Measurements> Done = measure(Options);
  if (!Done)
    return Done.error();
  Json Numbers = numbersOf(*Done, Options);
  std::string Tables;
  if (Options.Profile) {
    // Only now: it takes memory that the peak above must not have.
    Result<ProfileReport> Report =
        reportOf(Done->S, Options, std::move(Done->Recorded));
    if (!Report)
      return Report.error();
    if (Svg) {
      if (Status Written = Svg->append(profileSvg(*Report)); !Written)
        return Written;
      if (Status Finished = Svg->finish(); !Finished)
        return Finished;
    }
    if (Options.Json) {
      Numbers["limits"] = limitsJson(Report->Rates);
      Numbers["profile"] = profileJson(*Report);
    } else {
      Tables = "\n" + profileText(*Report, Options.ProfileLayers);
    }
  }
  return print(Options.Json ? Numbers.dump() + "\n"
                            : numbersText(Numbers) + Tables);
}
