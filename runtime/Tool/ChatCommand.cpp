//===- ChatCommand.cpp - tenon chat ---------------------------------------===//

#include "runtime/Support/Console.h"
#include "runtime/Tool/ChatInput.h"
#include "runtime/Tool/RunArguments.h"
#include "runtime/Tool/RunSupport.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <map>
#include <poll.h>
#include <random>
#include <unistd.h>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::engine;
using namespace tenon::generation;
using namespace tenon::tool;

//===----------------------------------------------------------------------===//
// Ctrl-C
//===----------------------------------------------------------------------===//

// All that the handler touches: lock-free atomics and a pipe that never blocks.
static std::atomic<bool> IsInterrupted{false};
static std::atomic<Session *> Interruptible{nullptr};
static std::array<int, 2> Wake = {-1, -1};
static_assert(std::atomic<bool>::is_always_lock_free &&
              std::atomic<Session *>::is_always_lock_free);

extern "C" {
static void interrupt(int) {
  int Before = errno;
  IsInterrupted.store(true);
  // Stores to an atomic.
  if (Session *S = Interruptible.load())
    S->cancel();
  // A full pipe wakes too.
  [[maybe_unused]] ssize_t Written = ::write(Wake[1], "", 1);
  errno = Before;
}
}

namespace {

/// While it lives Ctrl-C sets IsInterrupted, cancels what `S` runs and wakes
/// who waits for input.
class InterruptHandler {
public:
  Status install(Session &S) {
    if (::pipe2(Wake.data(), O_CLOEXEC | O_NONBLOCK) != 0)
      return Error(std::string("chat: pipe: ") + std::strerror(errno));
    Interruptible.store(&S);
    struct sigaction Action = {};
    Action.sa_handler = interrupt;
    Action.sa_flags = SA_RESTART;
    ::sigaction(SIGINT, &Action, &Before);
    return {};
  }

  ~InterruptHandler() {
    if (Wake[0] < 0)
      return;
    ::sigaction(SIGINT, &Before, nullptr);
    Interruptible.store(nullptr);
    for (int &End : Wake)
      ::close(std::exchange(End, -1));
  }

private:
  struct sigaction Before = {};
};

/// Forgets what Ctrl-C was pressed for.
void forgetInterrupts() {
  std::array<char, 64> Bytes;
  while (Wake[0] >= 0 && ::read(Wake[0], Bytes.data(), Bytes.size()) > 0)
    ;
  IsInterrupted.store(false);
}

//===----------------------------------------------------------------------===//
// Input
//===----------------------------------------------------------------------===//

/// Lines of standard input.
class LineReader {
public:
  enum class Event { Line, End, Interrupt };

  Result<Event> next(std::string &Line) {
    for (;;) {
      if (size_t At = Buffer.find('\n'); At != std::string::npos) {
        Line = Buffer.substr(0, At);
        Buffer.erase(0, At + 1);
        return Event::Line;
      }
      if (IsAtEnd) {
        Line = std::exchange(Buffer, {});
        return Line.empty() ? Event::End : Event::Line;
      }
      std::array<pollfd, 2> Sources = {
          {{STDIN_FILENO, POLLIN, 0}, {Wake[0], POLLIN, 0}}};
      if (::poll(Sources.data(), Sources.size(), -1) < 0) {
        if (errno == EINTR)
          continue;
        return fail();
      }
      if (Sources[1].revents != 0) {
        forgetInterrupts();
        return Event::Interrupt;
      }
      std::array<char, 4096> Bytes;
      ssize_t Count = ::read(STDIN_FILENO, Bytes.data(), Bytes.size());
      if (Count < 0 && errno == EINTR)
        continue;
      if (Count < 0)
        return fail();
      IsAtEnd = Count == 0;
      Buffer.append(Bytes.data(), static_cast<size_t>(Count));
    }
  }

private:
  static Error fail() {
    return Error(ErrorKind::Internal,
                 std::string("standard input: ") + std::strerror(errno));
  }

  std::string Buffer;
  bool IsAtEnd = false;
};

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

/// Generation settings: those of the command line, and over them what /set has
/// said.
class ChatSettings {
public:
  explicit ChatSettings(const RunOptions &Start) : Start(Start) {}

  Result<RunOptions> options() const {
    RunOptions Own = Start;
    CLI::App App;
    addGenerationOptions(App, Own);
    std::vector<std::string> Arguments; // from the last on, as CLI11 wants them
    for (const auto &[Name, Value] : Given)
      Arguments.push_back("--" + Name + "=" + Value);
    try {
      App.parse(Arguments);
    } catch (const CLI::ParseError &Problem) {
      return Error(Problem.what());
    }
    return Own;
  }

  /// Sets `Name` to `Value`; an empty value is what it was in the beginning.
  /// With an error all is as before.
  Status set(std::string_view Spelled, std::string_view Value, const Model &M) {
    std::string Name(Spelled);
    std::replace(Name.begin(), Name.end(), '_', '-');
    RunOptions Unused;
    CLI::App App;
    addGenerationOptions(App, Unused);
    if (Name == "help" || !App.get_option_no_throw("--" + Name))
      return Error("/set: unknown setting " + printable(Spelled) +
                   ": expected a name such as temperature, of an option of "
                   "tenon run for generation");
    auto Before = Given;
    Given.erase(Name);
    if (!Value.empty())
      Given.emplace(Name, Value);
    Status Good = check(M);
    if (Good)
      return {};
    Given = std::move(Before);
    return Good.error().withContext("/set " + Name + " " +
                                    escaped(Value.substr(0, 80)));
  }

  std::string shown() const {
    std::string Text;
    for (const auto &[Name, Value] : Given)
      Text.append(escaped(Name)).append(" ").append(escaped(Value)) += "\n";
    return Text.empty() ? "nothing is set\n" : Text;
  }

  /// Whether a request would be taken.
  Status check(const Model &M) const {
    Result<RunOptions> Own = options();
    if (!Own)
      return Own.error();
    Result<Settings> S = settingsOf(M, *Own);
    if (!S)
      return S.error();
    if (!S->MaxNewTokens)
      S->MaxNewTokens = M.manifest().MaxSequence;
    Result<Request> R = makeRequest(M, *S, {0});
    return R ? Status() : R.error();
  }

private:
  const RunOptions &Start;
  std::map<std::string, std::string> Given;
};

//===----------------------------------------------------------------------===//
// Conversation
//===----------------------------------------------------------------------===//

/// A conversation with a model. It is kept as messages and rendered anew for
/// each answer; of the prompt before, the tokens that both begin with need not
/// run again.
class Talk {
public:
  Talk(const Model &M, Session &S, serving::ArtifactPrompts OfArtifact,
       std::string System, int64_t Room, uint64_t Seed)
      : M(M), S(S), OfArtifact(std::move(OfArtifact)),
        System(std::move(System)), Room(Room), Seed(Seed) {
    reset();
  }

  void reset() {
    Messages = {};
    if (!System.empty())
      Messages.add("system", System);
  }

  /// Takes effect with a new conversation, which begins here.
  void setSystem(std::string Text) {
    System = std::move(Text);
    reset();
  }

  /// Answers a message of the user, printing as it goes. What is answered in
  /// part, because of Ctrl-C or an error, stays so; without any of it the
  /// message is withdrawn. The outer status is that of standard output.
  Result<Status> answer(const std::string &Text, const RunOptions &Options) {
    chat::Conversation Before = Messages;
    Messages.add("user", Text);
    Result<Request> R = request(Options);
    if (!R) {
      Messages = std::move(Before);
      return Status(R.error());
    }
    std::vector<int32_t> Prompt = R->Prompt;
    Generator G(S, variantFor(M, rowsOf(*R)));
    Result<int64_t> Id = start(G, std::move(*R));
    if (!Id) {
      Messages = std::move(Before);
      return Status(Id.error());
    }
    Status Outcome;
    bool EndsLine = true;
    while (G.running() != 0 && !IsInterrupted.load()) {
      Result<std::vector<Piece>> Pieces = G.step();
      if (!Pieces) {
        if (Pieces.error().kind() != ErrorKind::Cancelled)
          Outcome = Pieces.error();
        break;
      }
      for (const Piece &P : *Pieces) {
        if (Status Done = print(P.Text); !Done)
          return Done.error();
        if (!P.Text.empty())
          EndsLine = P.Text.ends_with('\n');
      }
    }
    if (std::optional<SequenceId> Held = G.keptPrompt(*Id)) {
      Kept = Held;
      KeptTokens = std::move(Prompt);
    }
    Generation Answer = std::move(G.take(*Id).Choices.front());
    if (Answer.Failure)
      Outcome = *Answer.Failure;
    bool IsWhole = Outcome && Answer.Finish != FinishReason::None;
    if (!EndsLine || IsInterrupted.load() || (IsWhole && Answer.Text.empty()))
      if (Status Done = print("\n"); !Done)
        return Done.error();
    if (Answer.Text.empty() && !IsWhole)
      Messages = std::move(Before);
    else
      Messages.add("assistant", Answer.Text);
    if (IsCut && (Answer.Finish == FinishReason::Length ||
                  Answer.Finish == FinishReason::Context))
      printNote("the answer is cut: " + fullness());
    return Outcome;
  }

private:
  std::string fullness() const {
    return "the conversation has reached the longest of " +
           std::to_string(Room) + " tokens; /reset begins a new one";
  }

  Result<Request> request(const RunOptions &Options) {
    Result<std::vector<int32_t>> Prompt = M.chatPrompt(Messages);
    if (!Prompt)
      return Prompt.error();
    auto Length = static_cast<int64_t>(Prompt->size());
    if (Length > Room)
      return Error("the message is left out, as the conversation would have " +
                   std::to_string(Length) + " tokens: expected at most " +
                   std::to_string(Room) + "; /reset begins a new one");
    Result<Settings> How = settingsOf(M, Options);
    if (!How)
      return How.error();
    How->Seed = Seed++;
    // Answers end by themselves: without a wish they may take all the room.
    int64_t Wanted = How->MaxNewTokens.value_or(
        M.manifest().Generation.MaxNewTokens.value_or(
            std::numeric_limits<int64_t>::max()));
    // The last token need not run.
    int64_t Left = Room + 1 - Length;
    IsCut = Left < Wanted;
    How->MaxNewTokens = std::min(Wanted, Left);
    return makeRequest(M, *How, std::move(*Prompt));
  }

  /// Adds the request behind what the prompt before has in common with it.
  Result<int64_t> start(Generator &G, Request R) {
    std::optional<PromptStart> Start;
    if (std::optional<SequenceId> Held = std::exchange(Kept, std::nullopt)) {
      auto [End, Unused] = std::mismatch(KeptTokens.begin(), KeptTokens.end(),
                                         R.Prompt.begin(), R.Prompt.end());
      // The last token of a prompt always runs.
      size_t Common = std::min(static_cast<size_t>(End - KeptTokens.begin()),
                               R.Prompt.size() - 1);
      if (Common != 0 &&
          S.truncateSequence(*Held, static_cast<int64_t>(Common)))
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

  const Model &M;
  Session &S;
  serving::ArtifactPrompts OfArtifact;
  std::string System;
  /// Tokens of a sequence.
  int64_t Room;
  uint64_t Seed;
  chat::Conversation Messages;
  /// Holds KeptTokens, the prompt before.
  std::optional<SequenceId> Kept;
  std::vector<int32_t> KeptTokens;
  /// The answer has less room than it may have tokens.
  bool IsCut = false;
};

constexpr std::string_view Help =
    "/system TEXT      begin a new conversation in which the model is told "
    "TEXT first\n"
    "/reset            begin a new conversation\n"
    "/set NAME VALUE   set what tenon run has as --NAME, such as temperature "
    "0.7\n"
    "/set NAME         set it back\n"
    "/set              show what is set\n"
    "/help             show this\n"
    "/exit             leave, as does the end of the input\n"
    "A line that ends with \\ goes on with the next. What stands between two "
    "lines of \"\"\" is one message, whatever it begins with. Ctrl-C stops an "
    "answer.\n";

/// The loop over inputs.
class Chat {
public:
  Chat(const Model &M, Talk &T, const RunOptions &Options)
      : M(M), T(T), Settings(Options),
        HasMarks(::isatty(STDIN_FILENO) && ::isatty(STDOUT_FILENO)) {}

  Status run() {
    if (Status Done = mark("/help shows the commands\n"); !Done)
      return Done;
    bool WasInterrupted = false;
    for (;;) {
      if (Status Done = mark(Reader.isInside() ? "... " : ">>> "); !Done)
        return Done;
      std::string Line;
      Result<LineReader::Event> Event = Lines.next(Line);
      if (!Event)
        return Event.error();
      if (*Event == LineReader::Event::Interrupt) {
        if (Status Done = mark("\n"); !Done || WasInterrupted)
          return Done ? end() : Done;
        WasInterrupted = true;
        Reader.drop();
        printNote("Ctrl-C again leaves, as do /exit and the end of the input");
        continue;
      }
      WasInterrupted = false;
      bool IsEnd = *Event == LineReader::Event::End;
      std::optional<ChatInput> Input =
          IsEnd ? Reader.finish() : Reader.take(Line);
      if (Input) {
        Result<bool> Leaves = take(*Input);
        if (!Leaves)
          return Leaves.error();
        if (*Leaves)
          return end();
      }
      if (IsEnd) {
        if (Status Done = mark("\n"); !Done)
          return Done;
        return end();
      }
    }
  }

private:
  /// For who sits at a terminal.
  Status mark(std::string_view Text) const {
    return HasMarks ? print(Text) : Status();
  }

  /// In a pipe nobody has seen the errors on the way.
  Status end() const {
    if (HasMarks || Failures == 0)
      return {};
    return Error("chat: " + std::to_string(Failures) +
                 (Failures == 1 ? " input" : " inputs") + " failed");
  }

  void report(const Status &Done) {
    if (Done)
      return;
    ++Failures;
    printError(Done.error().message());
  }

  /// Does what an input says; whether it ends the session.
  Result<bool> take(const ChatInput &Input) {
    if (!Input.isCommand()) {
      Result<RunOptions> Own = Settings.options();
      if (!Own)
        return Own.error();
      forgetInterrupts();
      Result<Status> Done = T.answer(Input.Text, *Own);
      if (!Done)
        return Done.error();
      forgetInterrupts();
      report(*Done);
      return false;
    }
    std::string_view Name = Input.command(), Argument = Input.argument();
    if (Name == "/exit")
      return true;
    if (Name == "/help") {
      if (Status Done = print(Help); !Done)
        return Done.error();
    } else if (Name == "/reset") {
      T.reset();
    } else if (Name == "/system") {
      T.setSystem(std::string(Argument));
    } else if (Name == "/set" && Argument.empty()) {
      if (Status Done = print(Settings.shown()); !Done)
        return Done.error();
    } else if (Name == "/set") {
      size_t Cut = std::min(Argument.find_first_of(" \t\n"), Argument.size());
      report(Settings.set(Argument.substr(0, Cut),
                          withoutBlanks(Argument.substr(Cut)), M));
    } else {
      report(Error("unknown command " + printable(Name) +
                   ": expected /system, /reset, /set, /help or /exit"));
    }
    return false;
  }

  const Model &M;
  Talk &T;
  ChatSettings Settings;
  bool HasMarks;
  LineReader Lines;
  ChatInputReader Reader;
  size_t Failures = 0;
};

} // namespace

Status tool::chatWithModel(const RunOptions &Options) {
  Result<std::shared_ptr<const Model>> Loaded = Model::load(Options.File);
  if (!Loaded)
    return Loaded.error();
  const Model &M = **Loaded;
  if (kindOf(M) != ModelKind::Decoder)
    return Error(M.path() + ": chat: this model is no decoder: expected one "
                            "that goes on with text");
  // Before the first message is typed.
  if (Result<const chat::Template *> Form = M.chatTemplate(); !Form)
    return Form.error();
  if (Status Good = ChatSettings(Options).check(M); !Good)
    return Good;
  const Manifest &Info = M.manifest();
  int64_t Room = Info.MaxSequence;
  if (Options.MaxSeq != 0)
    Room = std::min(Room, Options.MaxSeq);
  SessionOptions Space;
  Space.Threads = Options.Threads;
  Space.CacheTokens = Room + artifactPromptTokens(M);
  // The prompt that is kept and the text that goes on with it share all pages
  // but the one that the prompt ends in.
  if (!Info.Caches.empty())
    Space.CacheTokens += 2 * Info.Caches.front().PageTokens;
  Result<Session> S = Session::create(*Loaded, Space);
  if (!S)
    return S.error();
  Result<serving::ArtifactPrompts> OfArtifact =
      serving::ArtifactPrompts::create(*S);
  if (!OfArtifact)
    return OfArtifact.error();
  noteArtifactPrompts(M, OfArtifact->read());
  InterruptHandler Handler;
  if (::isatty(STDIN_FILENO))
    if (Status Done = Handler.install(*S); !Done)
      return Done;
  Talk Conversation(M, *S, std::move(*OfArtifact), Options.System, Room,
                    Options.Seed.value_or(std::random_device()()));
  return Chat(M, Conversation, Options).run();
}
