//===- BakePrefixes.cpp - Prompts that an artifact has run ----------------===//

#include "compiler/Prefixes/BakePrefixes.h"

#include "runtime/Serving/Scheduler.h"
#include "runtime/Tool/JsonLines.h"
#include "runtime/Tool/RunSupport.h"

#include <algorithm>
#include <array>
#include <limits>

using namespace tenon;
using namespace tenon::serving;

/// Members of a line, of which one gives the prompt.
static constexpr std::array<std::string_view, 3> Sources = {
    "prompt", "token_ids", "messages"};

static Status checkLine(const Json &J) {
  if (J.is_string())
    return {};
  if (!J.is_object())
    return Error("is " + jsonKind(J) + ": expected a string or an object");
  for (const auto &[Key, Value] : J.items())
    if (Key != "tools" &&
        std::find(Sources.begin(), Sources.end(), Key) == Sources.end())
      return Error(printable(Key) +
                   " is no member of a prefix: expected prompt, token_ids, "
                   "messages and tools");
  auto Given =
      std::count_if(Sources.begin(), Sources.end(), [&](std::string_view Key) {
        return J.contains(std::string(Key));
      });
  if (Given != 1)
    return Error("expected one of 'prompt', 'messages' and 'token_ids'");
  if (J.contains("tools") && !J.contains("messages"))
    return Error("'tools' is for 'messages'");
  if (auto At = J.find("prompt"); At != J.end() && !At->is_string())
    return Error("'prompt' is " + jsonKind(*At) + ": expected a string");
  if (auto At = J.find("token_ids"); At != J.end()) {
    constexpr int32_t Most = std::numeric_limits<int32_t>::max();
    if (!At->is_array() ||
        !std::all_of(At->begin(), At->end(), [](const Json &Id) {
          return Id.is_number_integer() && Id >= 0 && Id <= Most;
        }))
      return Error("'token_ids' is " + printable(At->dump()) +
                   ": expected an array of token ids");
  }
  if (J.contains("messages"))
    if (Result<chat::Conversation> Read = chat::conversationFromJson(J); !Read)
      return Read.error();
  return {};
}

Result<std::vector<PrefixLine>>
tenon::readPrefixLines(const std::string &Path) {
  Result<tool::JsonLines> Lines = tool::JsonLines::open(Path);
  if (!Lines)
    return Lines.error();
  std::vector<PrefixLine> All;
  for (;;) {
    Result<std::optional<Json>> Next = Lines->next();
    if (!Next)
      return Next.error();
    if (!*Next)
      break;
    if (Status Good = checkLine(**Next); !Good)
      return Good.error().withContext(Lines->place());
    All.push_back({Lines->place(), std::move(**Next)});
  }
  if (All.empty())
    return Error(Lines->file() + ": has no prompts: expected one a line");
  return All;
}

/// What the prompts of two conversations have in common that go on from `J`
/// with different texts.
static Result<std::vector<int32_t>> commonPrompt(const engine::Model &M,
                                                 const Json &J) {
  std::vector<std::vector<int32_t>> Prompts;
  for (const char *Text : {"a", "1"}) {
    Result<chat::Conversation> Talk = chat::conversationFromJson(J);
    if (!Talk)
      return Talk.error();
    bool IsAnswered = Talk->Messages.back().at("role") == "user";
    Talk->add(IsAnswered ? "assistant" : "user", Text);
    Talk->AddGenerationPrompt = false;
    Result<std::vector<int32_t>> Ids = M.chatPrompt(*Talk);
    if (!Ids)
      return Ids;
    Prompts.push_back(std::move(*Ids));
  }
  auto End = std::mismatch(Prompts[0].begin(), Prompts[0].end(),
                           Prompts[1].begin(), Prompts[1].end());
  Prompts[0].erase(End.first, Prompts[0].end());
  return std::move(Prompts[0]);
}

static Result<std::vector<int32_t>> promptOf(const engine::Model &M,
                                             const Json &J) {
  if (J.is_object() && J.contains("messages"))
    return commonPrompt(M, J);
  if (J.is_object() && J.contains("token_ids"))
    return J.at("token_ids").get<std::vector<int32_t>>();
  const auto &Text =
      (J.is_string() ? J : J.at("prompt")).get_ref<const std::string &>();
  return tool::tokensOfPrompt(M, Text);
}

static Result<std::vector<generation::Request>>
requestsOf(const engine::Model &M, const std::vector<PrefixLine> &Lines) {
  generation::Settings How;
  How.MaxNewTokens = 1;
  auto Page = static_cast<size_t>(M.manifest().Caches.at(0).PageTokens);
  std::vector<generation::Request> All;
  for (const PrefixLine &Line : Lines) {
    Result<std::vector<int32_t>> Prompt = promptOf(M, Line.Value);
    if (!Prompt)
      return Prompt.error().withContext(Line.Place);
    if (Prompt->size() < Page)
      return Error(Line.Place + ": has " + std::to_string(Prompt->size()) +
                   " tokens: expected at least " + std::to_string(Page) +
                   ", a page of the cache");
    Result<generation::Request> R =
        generation::makeRequest(M, How, std::move(*Prompt));
    if (!R)
      return R.error().withContext(Line.Place);
    All.push_back(std::move(*R));
  }
  return All;
}

static std::optional<Error> failureOf(const Update &U) {
  if (U.Answer)
    return U.Answer->Choices.front().Failure;
  return U.Failure;
}

Status tenon::bakePrefixes(ArtifactWriter &Writer, const Manifest &M,
                           const std::vector<PrefixLine> &Lines,
                           const std::function<void(double)> &Report) {
  if (M.MaxSource != 0 || M.Caches.empty())
    return Error("--prefix: this model is no decoder: expected one that "
                 "generates text without a source text");
  Result<std::string> Path = Writer.preview(M);
  if (!Path)
    return Path.error();
  Result<std::shared_ptr<const engine::Model>> Loaded =
      engine::Model::load(*Path, Writer.path());
  if (!Loaded)
    return Loaded.error().withContext("--prefix");
  Result<std::vector<generation::Request>> All = requestsOf(**Loaded, Lines);
  if (!All)
    return All.error();
  // One at a time, beside all that are kept.
  int64_t Longest = 0;
  engine::SessionOptions Room;
  for (const generation::Request &R : *All) {
    int64_t Own = generation::roomFor(**Loaded, {&R, 1}).CacheTokens;
    Longest = std::max(Longest, Own);
    Room.CacheTokens += Own;
  }
  Room.CacheTokens += Longest;
  Result<engine::Session> S = engine::Session::create(*Loaded, Room);
  if (!S)
    return S.error().withContext("--prefix");
  SchedulerOptions Rules;
  Rules.MaxNumSeqs = 1;
  // Nobody waits for a token.
  Rules.MaxStepMs = 1e9;
  Result<Scheduler> Plan = Scheduler::create(*S, std::move(Rules));
  if (!Plan)
    return Plan.error().withContext("--prefix");
  // One after the other: an error has a line.
  for (size_t I = 0; I < Lines.size(); ++I) {
    auto Given = Plan->submit(std::move((*All)[I]));
    if (const auto *No = std::get_if<Refusal>(&Given))
      return No->What.withContext(Lines[I].Place);
    while (!Plan->idle())
      for (const Update &U : Plan->step())
        if (std::optional<Error> Failure = failureOf(U))
          return Failure->withContext(Lines[I].Place);
    Report(static_cast<double>(I + 1) / static_cast<double>(Lines.size()));
  }
  const PrefixCache &Kept = Plan->prefixes();
  auto Pages = static_cast<int64_t>(Kept.pages());
  return Writer.setPrefixes(
      static_cast<int64_t>(Kept.size()), Pages * S->cache().pageTokens(),
      [&](const ByteSink &Out) { return writePrefixes(Out, *S, Kept); });
}
