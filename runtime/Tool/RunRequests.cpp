//===- RunRequests.cpp - tenon run --prompts ------------------------------===//

#include "runtime/Serving/Engine.h"
#include "runtime/Support/Console.h"
#include "runtime/Tool/Arguments.h"
#include "runtime/Tool/ProgressLine.h"
#include "runtime/Tool/RunArguments.h"
#include "runtime/Tool/RunSupport.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>

using namespace tenon;
using namespace tenon::engine;
using namespace tenon::generation;
using namespace tenon::serving;
using namespace tenon::tool;

/// Options that belong to the run as a whole, not to one request.
static bool isOfRun(std::string_view Option) {
  constexpr std::string_view Names[] = {"prompts",       "prompt-file",
                                        "prefix-tokens", "output",
                                        "threads",       "max-seq",
                                        "json",          "token-types",
                                        "max-num-seqs",  "no-prefix-cache",
                                        "prefix-cache",  "max-step-ms",
                                        "file",          "help"};
  return std::find(std::begin(Names), std::end(Names), Option) !=
         std::end(Names);
}

/// Members that the chat template takes.
static bool isOfConversation(std::string_view Key) {
  return Key == "messages" || Key == "tools";
}

/// The option that the member `Key` with the value `Value` stands for, as it
/// would be on the command line.
static Status addArgument(std::vector<std::string> &Arguments,
                          const std::string &Key, const Json &Value) {
  std::string Name = Key;
  std::replace(Name.begin(), Name.end(), '_', '-');
  if (isOfRun(Name))
    return Error("'" + Key + "' is no option of a request");
  if (Value.is_boolean()) {
    if (Value.get<bool>())
      Arguments.push_back("--" + Name);
    return {};
  }
  if (Value.is_array() &&
      std::all_of(Value.begin(), Value.end(),
                  [](const Json &V) { return V.is_number_integer(); }) &&
      Name.ends_with("-ids")) {
    std::string Ids;
    for (const Json &V : Value)
      Ids += (Ids.empty() ? "" : ",") + V.dump();
    Arguments.push_back("--" + Name + "=" + Ids);
    return {};
  }
  Json Values = Value.is_array() ? Value : Json::array({Value});
  for (const Json &V : Values) {
    if (!V.is_string() && !V.is_number())
      return Error("'" + Key + "' is " + printable(V.dump()) +
                   ": expected a string, a number, true, false or an array");
    Arguments.push_back("--" + Name + "=" +
                        (V.is_string() ? V.get<std::string>() : V.dump()));
  }
  return {};
}

/// The options of one request: those of the run, and over them its own.
static Result<RunOptions> optionsOf(const Json &J, const RunOptions &Common) {
  RunOptions Own = Common;
  if (J.is_string()) {
    Own.Prompts = {J.get<std::string>()};
    return Own;
  }
  if (!J.is_object())
    return Error(std::string("is ") + J.type_name() +
                 ": expected a string or an object");
  std::vector<std::string> Arguments = {Common.File};
  for (const auto &[Key, Value] : J.items())
    if (isOfConversation(Key))
      continue;
    else if (Status Added = addArgument(Arguments, Key, Value); !Added)
      return Added.error();
  CLI::App App;
  addRunOptions(App, Own);
  std::reverse(Arguments.begin(), Arguments.end()); // as CLI11 wants them
  try {
    App.parse(Arguments);
  } catch (const CLI::ParseError &Problem) {
    return Error(Problem.what());
  }
  if (Own.Prompts.size() + Own.TokenIds.size() + J.contains("messages") != 1)
    return Error("expected one of 'prompt', 'messages' and 'token_ids'");
  if (J.contains("tools") && !J.contains("messages"))
    return Error("'tools' is for 'messages'");
  return Own;
}

/// The prompt of a request with "messages", and "tools".
static Result<std::vector<int32_t>>
conversationPrompt(const Model &M, const Json &J, const Json &Tools) {
  Json Talk = {{"add_generation_prompt", true}, {"tools", Tools}};
  for (const auto &[Key, Value] : J.items())
    if (isOfConversation(Key))
      Talk[Key] = Value;
  Result<chat::Conversation> Read = chat::conversationFromJson(Talk);
  if (!Read)
    return Read.error();
  return M.chatPrompt(*Read);
}

static Result<std::vector<int32_t>> promptOf(const Model &M, const Json &J,
                                             const RunOptions &Own,
                                             const Json &Tools) {
  if (J.is_object() && J.contains("messages"))
    return conversationPrompt(M, J, Tools);
  Result<std::vector<std::vector<int32_t>>> Prompts =
      readPrompts(M, Own, Tools);
  if (!Prompts)
    return Prompts.error();
  return std::move(Prompts->front());
}

/// A line of the file.
struct Wish {
  Request What;
  Json Tools; ///< That its conversation has; null: none.
};

static Result<Wish> wishOf(const Model &M, const Json &J,
                           const RunOptions &Common, const Json &CommonTools,
                           uint64_t Seed, grammar::GrammarCache &Known) {
  Result<RunOptions> Own = optionsOf(J, Common);
  if (!Own)
    return Own.error();
  bool IsTalk = J.is_object() && J.contains("messages");
  Json Tools = IsTalk && J.contains("tools") ? J["tools"]
               : IsTalk || Own->Chat         ? CommonTools
                                             : Json();
  Result<std::vector<int32_t>> Prompt = promptOf(M, J, *Own, Tools);
  if (!Prompt)
    return Prompt.error();
  Result<Settings> S = settingsOf(M, *Own, Known);
  if (!S)
    return S.error();
  S->Seed = Own->Seed.value_or(Seed);
  S->Tools = Tools;
  if (!Own->Images.empty() && !readsImages(M))
    return Error("'image': this model reads text, not images");
  Result<std::vector<PromptImage::Ptr>> Images =
      readPromptImages(M, Own->Images);
  if (!Images)
    return Images.error();
  Result<Request> Made =
      makeRequest(M, *S, std::move(*Prompt), std::move(*Images));
  if (!Made)
    return Made.error();
  return Wish{std::move(*Made), std::move(Tools)};
}

/// Every line of the file that is not blank. All are read before any runs: a
/// mistake in the last one costs no time.
static Result<std::vector<Wish>> readRequests(const Model &M,
                                              const RunOptions &Options) {
  Result<std::string> Text = readText(Options.Requests);
  if (!Text)
    return Text.error();
  std::string File =
      Options.Requests == "-" ? "standard input" : Options.Requests;
  uint64_t Seed = Options.Seed.value_or(std::random_device()());
  Result<Json> Tools = readTools(Options.Tools);
  if (!Tools)
    return Tools.error();
  grammar::GrammarStore Store;
  grammar::GrammarCache Known(Store);
  std::vector<Wish> All;
  size_t Number = 0;
  for (size_t From = 0; From < Text->size();) {
    size_t End = std::min(Text->find('\n', From), Text->size());
    std::string_view Line = std::string_view(*Text).substr(From, End - From);
    From = End + 1;
    ++Number;
    if (Line.find_first_not_of(" \t\r") == std::string_view::npos)
      continue;
    std::string Place = File + ":" + std::to_string(Number);
    Result<Json> J = parseJson(Line, Place);
    if (!J)
      return J.error();
    Result<Wish> R = wishOf(M, *J, Options, *Tools, Seed + All.size(), Known);
    if (!R)
      return R.error().withContext(Place);
    All.push_back(std::move(*R));
  }
  if (All.empty())
    return Error(File + ": has no requests: expected one a line");
  return All;
}

/// Room for the largest requests that can run at once.
static SessionOptions roomForRun(const Model &M, const RunOptions &Options,
                                 const std::vector<Wish> &All) {
  std::vector<SessionOptions> Rooms;
  for (const Wish &W : All)
    Rooms.push_back(roomFor(M, {&W.What, 1}));
  SessionOptions Room;
  Room.Threads = Options.Threads;
  auto Most = std::min(Rooms.size(), static_cast<size_t>(Options.MaxNumSeqs));
  auto Sum = [&](int64_t SessionOptions::*Tokens) {
    std::sort(Rooms.begin(), Rooms.end(),
              [&](const SessionOptions &A, const SessionOptions &B) {
                return A.*Tokens > B.*Tokens;
              });
    for (size_t I = 0; I < Most; ++I)
      Room.*Tokens += Rooms[I].*Tokens;
  };
  Sum(&SessionOptions::CacheTokens);
  Sum(&SessionOptions::SourceTokens);
  if (!Options.NoPrefixCache)
    Room.CacheTokens *= 2;
  if (!Options.PrefixFile.empty())
    Room.CacheTokens = std::max(Room.CacheTokens,
                                defaultRoom(M, Options.MaxNumSeqs).CacheTokens);
  if (!Options.NoPrefixCache)
    Room.CacheTokens += artifactPromptTokens(M);
  if (Options.MaxSeq != 0)
    Room.CacheTokens = Options.MaxSeq;
  return Room;
}

static Json errorLine(const Error &Why) {
  Json J = Json::object();
  J["error"] = Why.message();
  return J;
}

static bool hasFailed(const Update &U) {
  return U.Failure ||
         std::any_of(U.Answer->Choices.begin(), U.Answer->Choices.end(),
                     [](const Generation &G) { return bool(G.Failure); });
}

static Json lineOf(const Model &M, const Wish &W, const Update &U) {
  if (U.Failure)
    return errorLine(*U.Failure);
  Json J = answerJson(M, W.What, *U.Answer, M.manifest().Tokenizer.has_value(),
                      W.Tools);
  J["cached_tokens"] = U.Usage.CachedTokens;
  J["timings"] = {{"queued_s", U.Usage.Queued},
                  {"first_token_s", U.Usage.FirstToken},
                  {"longest_gap_s", U.Usage.LongestGap},
                  {"total_s", U.Usage.Total}};
  return J;
}

void tool::notePrefixes(const std::string &File, const PrefixesRead &Done) {
  if (Done.IsOfAnother)
    printNote(File + ": was made by another artifact, version of Tenon or CPU: "
                     "it is not read, and replaced at the end");
  else if (Done.LeftOut != 0)
    printNote(File + ": no room for " + std::to_string(Done.LeftOut) + " of " +
              std::to_string(Done.LeftOut + Done.Prompts) + " prompts");
}

/// Reads the prompts that earlier commands have kept in `File`, if it is there.
static Status loadPrefixes(Scheduler &Plan, const std::string &File) {
  std::error_code Ignored;
  if (File.empty() || !std::filesystem::exists(File, Ignored))
    return {};
  Result<PrefixesRead> Done = Plan.loadPrefixes(File);
  if (!Done)
    return Done.error();
  notePrefixes(File, *Done);
  return {};
}

Status tool::runRequests(const RunOptions &Options) {
  Result<std::shared_ptr<const Model>> Loaded = Model::load(Options.File);
  if (!Loaded)
    return Loaded.error();
  const Model &M = **Loaded;
  if (ModelKind Kind = kindOf(M);
      Kind != ModelKind::Decoder && Kind != ModelKind::EncoderDecoder)
    return Error(M.path() + ": --prompts: this model generates no text");
  Result<std::vector<Wish>> All = readRequests(M, Options);
  if (!All)
    return All.error();
  Result<Session> S = Session::create(*Loaded, roomForRun(M, Options, *All));
  if (!S)
    return S.error();
  SchedulerOptions Rules;
  Rules.MaxNumSeqs = Options.MaxNumSeqs;
  Rules.MaxQueued = All->size();
  Rules.MaxStepMs = Options.MaxStepMs;
  Rules.CachesPrefixes = !Options.NoPrefixCache;
  Result<Scheduler> Plan = Scheduler::create(*S, std::move(Rules));
  if (!Plan)
    return Plan.error();
  noteArtifactPrompts(M, Plan->artifactPrefixes());
  if (Status Loaded = loadPrefixes(*Plan, Options.PrefixFile); !Loaded)
    return Loaded;

  // Answers wait until all before them are there.
  std::vector<std::optional<Json>> Lines(All->size());
  std::map<RequestId, size_t> Places;
  size_t Printed = 0, Failures = 0;
  for (size_t I = 0; I < All->size(); ++I) {
    std::variant<RequestId, Refusal> Given = Plan->submit((*All)[I].What);
    if (const auto *No = std::get_if<Refusal>(&Given)) {
      Lines[I] = errorLine(No->What);
      ++Failures;
    } else {
      Places[std::get<RequestId>(Given)] = I;
    }
  }
  ProgressLine Progress("generating", "requests");
  size_t Ended = Failures;
  while (Printed < Lines.size()) {
    for (const Update &U : Plan->step()) {
      size_t NewTokens = 0;
      for (const Piece &Each : U.Pieces)
        NewTokens += Each.Tokens.size();
      Ended += isFinal(U.State);
      Progress.add(isFinal(U.State), NewTokens);
      if (isFinal(U.State)) {
        size_t I = Places.at(U.Id);
        Lines[I] = ::lineOf(M, (*All)[I], U);
        Failures += hasFailed(U);
      }
    }
    Progress.show(static_cast<double>(Ended) /
                  static_cast<double>(Lines.size()));
    for (; Printed < Lines.size() && Lines[Printed]; ++Printed) {
      Json J = {{"index", Printed}};
      J.update(*Lines[Printed]);
      Progress.clear();
      if (Status Done = print(tool::lineOf(J)); !Done)
        return Done;
      Lines[Printed] = Json();
    }
  }
  if (!Options.PrefixFile.empty())
    if (Status Saved = Plan->savePrefixes(Options.PrefixFile); !Saved)
      return Saved;
  if (Failures != 0)
    return Error(std::to_string(Failures) + " of " +
                 std::to_string(Lines.size()) +
                 " requests failed: see 'error' in their lines");
  return {};
}
