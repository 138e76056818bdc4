//===- RunRequests.cpp - tenon run --prompts ------------------------------===//

#include "runtime/Http/Fields.h"
#include "runtime/Serving/Engine.h"
#include "runtime/Support/Console.h"
#include "runtime/Tool/Arguments.h"
#include "runtime/Tool/CommandLine.h"
#include "runtime/Tool/ProgressLine.h"
#include "runtime/Tool/RunArguments.h"
#include "runtime/Tool/RunSupport.h"
#include "runtime/ToolCalls/Tools.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>

using namespace tenon;
using namespace tenon::engine;
using namespace tenon::generation;
using namespace tenon::http;
using namespace tenon::serving;
using namespace tenon::tool;

/// Whether `J` is an object with such a member; null counts as absent.
static bool hasMember(const Json &J, const char *Key) {
  return J.is_object() && J.contains(Key) && !J[Key].is_null();
}

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

/// The schema of a line, if it has one: not the name of a file, which is an
/// option's.
static const Json *schemaIn(const Json &Line) {
  for (const char *Key : {"json_schema", "json-schema"})
    if (hasMember(Line, Key) && Line[Key].is_object())
      return &Line[Key];
  return nullptr;
}

/// The member `Key` of a line as values of the option `O`, as they would be on
/// the command line.
static std::vector<std::string> valuesOf(Fields &F, const CLI::Option &O,
                                         const std::string &Key) {
  const Json *J = F.get(Key.c_str());
  if (!J)
    return {};
  std::vector<std::string> Values;
  auto Expect = [&](const std::string &What) {
    F.expected(Key, What);
    return std::vector<std::string>();
  };
  if (O.get_items_expected_max() == 0) {
    if (J->is_boolean())
      return {J->dump()};
    if (J->is_string() && Key == "early_stopping" && *J != "")
      return {J->get<std::string>()};
    return Expect("true or false");
  }
  if (Key.ends_with("_ids") && isTokens(*J))
    return {joinTokens(J->get<std::vector<int32_t>>())};
  if (Key == "logit_bias" && J->is_object()) {
    for (const auto &[Token, Bias] : J->items()) {
      std::string Value = Token + "=" + Bias.dump();
      if (!Bias.is_number() || !parseBias(Value)) {
        F.refuse({400, "'" + Key + "' has " + printable(Token) + ": " +
                           Bias.dump() +
                           ": expected a token id and a bias of -100 to 100"});
        return {};
      }
      Values.push_back(std::move(Value));
    }
    return Values;
  }
  std::string Type = O.get_type_name();
  bool IsWhole = Type.starts_with("INT") || Type == "SEED";
  auto IsGood = [&](const Json &V) {
    return IsWhole                     ? V.is_number_integer()
           : Type.starts_with("FLOAT") ? V.is_number()
                                       : V.is_string();
  };
  std::string Kind = IsWhole                     ? "a whole number"
                     : Type.starts_with("FLOAT") ? "a number"
                                                 : "a string";
  bool IsRepeated = O.get_items_expected_max() > 1;
  if (Key.ends_with("_ids"))
    Kind = "an array of token ids, or a string of them";
  else if (Key == "json_schema")
    Kind = "an object, or the name of a file";
  else if (IsRepeated)
    Kind += ", or an array of such";
  for (const Json &V : IsRepeated && J->is_array() ? *J : Json::array({*J})) {
    if (!IsGood(V))
      return Expect(Kind);
    Values.push_back(V.is_string() ? V.get<std::string>() : V.dump());
  }
  return Values;
}

/// The options that the members of a line stand for. They are read as the
/// server reads fields: null counts as absent, and nothing is converted.
static Result<std::vector<std::string>> optionsIn(const Json &Line,
                                                  const CLI::App &App) {
  Json Members = Json::object();
  for (const auto &[Key, Value] : Line.items()) {
    std::string Name = Key;
    std::replace(Name.begin(), Name.end(), '_', '-');
    if (isOfRun(Name))
      return Error("'" + Key + "' is no option of a request");
    if (&Value == schemaIn(Line))
      continue;
    std::replace(Name.begin(), Name.end(), '-', '_');
    Members[Name] = Value;
  }
  Fields F(Members);
  for (const char *Key : {"messages", "tools"})
    F.get(Key);
  std::vector<std::string> Options;
  for (const CLI::Option *O : tool::optionsOf(App))
    for (const std::string &Name : O->get_lnames()) {
      if (isOfRun(Name) || isOfConversation(Name))
        continue;
      std::string Key = Name;
      std::replace(Key.begin(), Key.end(), '-', '_');
      for (const std::string &Value : valuesOf(F, *O, Key))
        Options.push_back("--" + Name + "=" + Value);
    }
  if (std::optional<ApiError> Wrong = F.finish())
    return Error(Wrong->Message);
  return Options;
}

/// The options of one request: those of the run, and over them its own.
static Result<RunOptions> optionsOf(const Json &J, const RunOptions &Common) {
  RunOptions Own = Common;
  Own.Names = {};
  if (J.is_string()) {
    Own.Prompts = {J.get<std::string>()};
    return Own;
  }
  if (!J.is_object())
    return Error("is " + jsonKind(J) + ": expected a string or an object");
  CLI::App App;
  addRunOptions(App, Own);
  Result<std::vector<std::string>> Options = optionsIn(J, App);
  if (!Options)
    return Options.error();
  Options->push_back(Common.File);
  if (Status Parsed = parseOptions(App, *Options); !Parsed)
    return Parsed.error();
  if (const Json *Schema = schemaIn(J)) {
    Own.Must.JsonSchema = Schema->dump();
    Own.Must.JsonSchemaFile.clear();
  }
  bool HasMessages = hasMember(J, "messages");
  if (Own.Prompts.size() + Own.TokenIds.size() + HasMessages != 1)
    return Error("expected one of 'prompt', 'messages' and 'token_ids'");
  if (hasMember(J, "tools") && !HasMessages)
    return Error("'tools' is for 'messages'");
  if (!Own.System.empty() && !Own.Chat)
    return Error("'system' is for 'chat': conversations have it among their "
                 "'messages'");
  // What the run says of schemas is for the requests that have one.
  for (const char *OfSchema : {"--fixed-order", "--format"})
    if (!Own.Must.hasSchema() && App.count(OfSchema) != 0)
      return Error(usageErrorOf(Own.Must, Own.Names));
  return Own;
}

/// The prompt of a request with "messages", and "tools".
static Result<std::vector<int32_t>>
conversationPrompt(const Model &M, const Json &J, const Json &Tools) {
  Json Talk = {{"add_generation_prompt", true}, {"tools", Tools}};
  for (const auto &[Key, Value] : J.items())
    if (isOfConversation(Key) && !Value.is_null())
      Talk[Key] = Value;
  Result<chat::Conversation> Read = chat::conversationFromJson(Talk);
  if (!Read)
    return Read.error();
  if (Status Good = tools::checkTools(Read->Tools); !Good)
    return Good.error();
  return M.chatPrompt(*Read);
}

static Result<std::vector<int32_t>> promptOf(const Model &M, const Json &J,
                                             const RunOptions &Own,
                                             const Json &Tools) {
  if (hasMember(J, "messages"))
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
  bool IsTalk = hasMember(J, "messages");
  Json Tools = hasMember(J, "tools") ? J["tools"]
               : IsTalk || Own->Chat ? CommonTools
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

/// What has come of a request that failed as a whole, `Why`.
static Answer failedAnswer(const Request &R, const Error &Why) {
  Generation Failed;
  Failed.Finish = FinishReason::Error;
  Failed.Failure = Why;
  return {std::vector(static_cast<size_t>(R.How.Choices), Failed), {}};
}

/// The first of its choices that has failed; null if none has.
static const Error *failureOf(const Answer &A) {
  for (const Generation &G : A.Choices)
    if (G.Failure)
      return &*G.Failure;
  return nullptr;
}

static Json lineOf(const Model &M, const Wish &W, const Answer &A,
                   const RequestUsage &Usage) {
  Json J =
      answerJson(M, W.What, A, M.manifest().Tokenizer.has_value(), W.Tools);
  // Where it is looked for, however many choices there are.
  if (const Error *Failure = failureOf(A))
    J["error"] = Failure->message();
  J["cached_tokens"] = Usage.CachedTokens;
  J["timings"] = {{"queued_s", Usage.Queued},
                  {"first_token_s", Usage.FirstToken},
                  {"longest_gap_s", Usage.LongestGap},
                  {"total_s", Usage.Total}};
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
      Lines[I] =
          ::lineOf(M, (*All)[I], failedAnswer((*All)[I].What, No->What), {});
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
        const Request &Asked = (*All)[I].What;
        Answer A = U.Failure ? failedAnswer(Asked, *U.Failure) : *U.Answer;
        Lines[I] = ::lineOf(M, (*All)[I], A, U.Usage);
        Failures += failureOf(A) != nullptr;
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
