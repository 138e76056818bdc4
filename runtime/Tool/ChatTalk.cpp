//===- ChatTalk.cpp - A conversation with a model -------------------------===//

#include "runtime/Tool/ChatTalk.h"

#include "runtime/Generation/ToolAnswer.h"
#include "runtime/Support/Console.h"

#include <algorithm>
#include <limits>

using namespace tenon;
using namespace tenon::engine;
using namespace tenon::generation;
using namespace tenon::tool;

namespace {

/// Prints an answer as it comes; with a reader of calls these as lines of their
/// own, and the marks around them not at all.
class AnswerPrinter {
public:
  AnswerPrinter(std::optional<ToolAnswer> Reader, bool HasStopStrings)
      : Reader(std::move(Reader)), Waits(HasStopStrings) {}

  Status add(const Piece &P) {
    if (!Reader)
      return put(P.Text);
    // What a stop string cuts off is known at the end.
    return Waits ? Status() : put(Reader->add(P.Tokens));
  }

  /// All that has come is `G`, an answer to `Prompt`.
  Status finish(const Model &M, const Generation &G,
                std::span<const int32_t> Prompt, const Json &Tools) {
    if (!Reader)
      return {};
    if (!Waits)
      return put(Reader->finish());
    std::optional<std::string_view> UpToStop;
    if (G.StopString)
      UpToStop = G.Text;
    Result<tools::ParsedAnswer> Whole =
        parseToolAnswer(M, Prompt, G.NewTokens, UpToStop, Tools);
    if (!Whole)
      return Whole.error();
    std::vector<tools::AnswerPart> Parts = {
        {tools::AnswerPart::Reasoning, Whole->Reasoning, {}},
        {tools::AnswerPart::Text, Whole->Text, {}}};
    for (const tools::ToolCall &Call : Whole->Calls)
      Parts.push_back({tools::AnswerPart::Call, "", Call});
    return put(Parts);
  }

  Status endLine() { return EndsLine ? Status() : put("\n"); }
  bool isEmpty() const { return IsEmpty; }
  const tools::ParsedAnswer &answer() const { return Answer; }

private:
  Status put(std::string_view Text) {
    if (Text.empty())
      return {};
    IsEmpty = false;
    EndsLine = Text.ends_with('\n');
    return print(Text);
  }

  Status put(const std::vector<tools::AnswerPart> &Parts) {
    using tools::AnswerPart;
    for (const AnswerPart &Part : Parts) {
      Answer.add(Part);
      if (Part.What != AnswerPart::Call && Part.Content.empty())
        continue;
      // Reasoning, text and calls stand on lines of their own.
      if (Part.What == AnswerPart::Call || Part.What != Last)
        if (Status Done = endLine(); !Done)
          return Done;
      Last = Part.What;
      Status Done = put(Part.What == AnswerPart::Call ? lineOf(Part.Function)
                                                      : Part.Content);
      if (!Done)
        return Done;
    }
    return {};
  }

  static std::string lineOf(const tools::ToolCall &Call) {
    return "[call " + escaped(Call.Name) + " " + escaped(Call.Arguments) +
           "]\n";
  }

  std::optional<ToolAnswer> Reader;
  bool Waits;
  bool EndsLine = true, IsEmpty = true;
  tools::AnswerPart::Kind Last = tools::AnswerPart::Text;
  tools::ParsedAnswer Answer;
};

} // namespace

Talk::Talk(const Model &M, Session &S, serving::ArtifactPrompts OfArtifact,
           std::string System, Json Tools, int64_t Room, uint64_t Seed)
    : M(M), S(S), OfArtifact(std::move(OfArtifact)), System(std::move(System)),
      Tools(std::move(Tools)), Room(Room), Seed(Seed) {
  reset();
}

void Talk::reset() {
  Now = {};
  Now.Talk.Tools = Tools;
  if (!System.empty())
    Now.Talk.add("system", System);
}

void Talk::setSystem(std::string Text) {
  System = std::move(Text);
  reset();
}

Status Talk::addImage(const std::string &Path) {
  if (!readsImages(M))
    return Error(M.path() + ": /image: this model reads no images: expected "
                            "texts only");
  Result<std::vector<PromptImage::Ptr>> Read = readPromptImages(M, {Path});
  if (!Read)
    return Read.error();
  Now.Images.push_back(std::move(Read->front()));
  ++Now.NewImages;
  return {};
}

std::optional<std::string> Talk::waitingCall() const {
  if (Now.Waiting.empty())
    return std::nullopt;
  return Now.Waiting.front().Name;
}

Result<Status> Talk::take(const std::string &Text, const RunOptions &Options,
                          const std::atomic<bool> &IsStopped) {
  State Before = Now;
  if (Now.Waiting.empty() && Now.NewImages != 0) {
    Json Content(std::exchange(Now.NewImages, 0), {{"type", "image"}});
    Content.push_back({{"type", "text"}, {"text", Text}});
    Now.Talk.Messages.push_back({{"role", "user"}, {"content", Content}});
  } else if (Now.Waiting.empty()) {
    Now.Talk.add("user", Text);
  } else {
    const Call &Asked = Now.Waiting.front();
    Now.Talk.Messages.push_back({{"role", "tool"},
                                 {"tool_call_id", Asked.Id},
                                 {"name", Asked.Name},
                                 {"content", Text}});
    Now.Waiting.pop_front();
    if (!Now.Waiting.empty())
      return Status();
  }
  return answer(std::move(Before), Options, IsStopped);
}

/// The message of an answer with calls.
static Json messageOf(const tools::ParsedAnswer &Answer,
                      std::span<const int32_t> Prompt) {
  Json Message = {{"role", "assistant"}, {"content", Answer.Text}};
  if (!Answer.Reasoning.empty())
    Message["reasoning_content"] = Answer.Reasoning;
  if (Answer.Calls.empty())
    return Message;
  Message["tool_calls"] = answerJson(Answer, Prompt)["tool_calls"];
  return Message;
}

/// Answers the messages; `Before` are those without the last input.
Result<Status> Talk::answer(State Before, const RunOptions &Options,
                            const std::atomic<bool> &IsStopped) {
  auto Withdraw = [&](const Error &Why) {
    Now = std::move(Before);
    return Status(Why);
  };
  Result<Request> R = request(Options);
  if (!R)
    return Withdraw(R.error());
  std::vector<int32_t> Prompt = R->Prompt;
  std::vector<int32_t> Numbered = Numbers.promptOf(M, *R);
  std::optional<ToolAnswer> Reader;
  if (!Tools.is_null()) {
    Result<ToolAnswer> Made = ToolAnswer::create(M, Prompt, Tools);
    if (!Made)
      return Withdraw(Made.error());
    Reader = std::move(*Made);
  }
  AnswerPrinter Printer(std::move(Reader), !R->StopStrings.empty());
  Generator G(S, variantFor(M, rowsOf(*R)));
  Result<int64_t> Id = start(G, std::move(*R), Numbered);
  if (!Id)
    return Withdraw(Id.error());
  Status Outcome;
  while (G.running() != 0 && !IsStopped.load()) {
    Result<std::vector<Piece>> Pieces = G.step();
    if (!Pieces) {
      if (Pieces.error().kind() != ErrorKind::Cancelled)
        Outcome = Pieces.error();
      break;
    }
    for (const Piece &P : *Pieces)
      if (Status Done = Printer.add(P); !Done)
        return Done.error();
  }
  if (std::optional<SequenceId> Held = G.keptPrompt(*Id)) {
    Kept = Held;
    KeptTokens = std::move(Numbered);
  }
  Generation Answer = std::move(G.take(*Id).Choices.front());
  if (Answer.Failure)
    Outcome = *Answer.Failure;
  if (Status Done = Printer.finish(M, Answer, Prompt, Tools); !Done)
    return Done.error();
  bool IsWhole = Outcome && Answer.Finish != FinishReason::None;
  bool NeedsLine = IsStopped.load() || (IsWhole && Printer.isEmpty());
  if (Status Done = NeedsLine ? print("\n") : Printer.endLine(); !Done)
    return Done.error();
  if (Answer.Text.empty() && Printer.answer().Calls.empty() && !IsWhole) {
    Now = std::move(Before);
  } else if (Tools.is_null()) {
    Now.Talk.add("assistant", Answer.Text);
  } else {
    Json Message = messageOf(Printer.answer(), Prompt);
    if (Message.contains("tool_calls"))
      for (const Json &Call : Message["tool_calls"])
        Now.Waiting.push_back({Call["id"].get<std::string>(),
                               Call["function"]["name"].get<std::string>()});
    Now.Talk.Messages.push_back(std::move(Message));
  }
  if (IsCut && (Answer.Finish == FinishReason::Length ||
                Answer.Finish == FinishReason::Context))
    printNote("the answer is cut: " + fullness());
  return Outcome;
}

std::string Talk::fullness() const {
  return "the conversation has reached the longest of " + std::to_string(Room) +
         " tokens; /reset begins a new one";
}

Result<Request> Talk::request(const RunOptions &Options) {
  Result<std::vector<int32_t>> Prompt = M.chatPrompt(Now.Talk);
  if (!Prompt)
    return Prompt.error();
  // Images that wait for a message are not in it.
  std::vector<PromptImage::Ptr> Images(
      Now.Images.begin(),
      Now.Images.end() - static_cast<ptrdiff_t>(Now.NewImages));
  Result<std::vector<int32_t>> Whole = withImageRows(M, *Prompt, Images.size());
  if (!Whole)
    return Whole.error();
  auto Length = static_cast<int64_t>(Whole->size());
  if (Length > Room)
    return Error("the message is left out, as the conversation would have " +
                 std::to_string(Length) + " tokens: expected at most " +
                 std::to_string(Room) + "; /reset begins a new one");
  Result<Settings> How = settingsOf(M, Options, Grammars);
  if (!How)
    return How.error();
  How->Seed = Seed++;
  How->Tools = Tools;
  // Answers end by themselves: without a wish they may take all the room.
  int64_t Wanted =
      How->MaxNewTokens.value_or(M.manifest().Generation.MaxNewTokens.value_or(
          std::numeric_limits<int64_t>::max()));
  // The last token need not run.
  int64_t Left = Room + 1 - Length;
  IsCut = Left < Wanted;
  How->MaxNewTokens = std::min(Wanted, Left);
  return makeRequest(M, *How, std::move(*Prompt), std::move(Images));
}

/// Adds the request, of the prompt `Numbered`, behind what the prompt before
/// has in common with it.
Result<int64_t> Talk::start(Generator &G, Request R,
                            std::span<const int32_t> Numbered) {
  std::optional<PromptStart> Start;
  if (std::optional<SequenceId> Held = std::exchange(Kept, std::nullopt)) {
    auto [End, Unused] = std::mismatch(KeptTokens.begin(), KeptTokens.end(),
                                       Numbered.begin(), Numbered.end());
    // The last token of a prompt always runs.
    size_t Common = std::min(static_cast<size_t>(End - KeptTokens.begin()),
                             R.Prompt.size() - 1);
    if (Common != 0 && S.truncateSequence(*Held, static_cast<int64_t>(Common)))
      Start = PromptStart{*Held, Common};
    else if (Status Ended = S.endSequence(*Held); !Ended)
      return Ended.error();
  }
  if (!Start)
    Start = OfArtifact.startOf(R);
  Result<int64_t> Id = G.add(std::move(R), Start, /*KeepsPrompt=*/true);
  if (!Id && Start)
    if (Status Ended = S.endSequence(Start->Sequence); !Ended)
      return Ended.error();
  return Id;
}
