//===- ChatCommand.cpp - tenon chat ---------------------------------------===//

#include "runtime/Generation/ToolAnswer.h"
#include "runtime/Support/Console.h"
#include "runtime/Tool/ChatInput.h"
#include "runtime/Tool/ChatTalk.h"
#include "runtime/Tool/CommandLine.h"
#include "runtime/Tool/RunArguments.h"
#include "runtime/Tool/RunSupport.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
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
    std::vector<std::string> Arguments;
    for (const auto &[Name, Value] : Given)
      Arguments.push_back("--" + Name + "=" + Value);
    if (Status Parsed = parseOptions(App, Arguments); !Parsed)
      return Parsed.error();
    if (std::string Wrong = usageErrorOf(Own.Must); !Wrong.empty())
      return Error(Wrong);
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
    grammar::GrammarStore Store;
    grammar::GrammarCache Grammars(Store);
    Result<Settings> S = settingsOf(M, *Own, Grammars);
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

constexpr std::string_view Help =
    "/system TEXT      begin a new conversation in which the model is told "
    "TEXT first\n"
    "/reset            begin a new conversation\n"
    "/image FILE       begin the next message with the image of a PNG or JPEG "
    "file\n"
    "/set NAME VALUE   set what tenon run has as --NAME, such as temperature "
    "0.7\n"
    "/set NAME         set it back\n"
    "/set              show what is set\n"
    "/help             show this\n"
    "/exit             leave, as does the end of the input\n"
    "A line that ends with \\ goes on with the next. What stands between two "
    "lines of \"\"\" is one message, whatever it begins with. Ctrl-C stops an "
    "answer. What the model calls of --tools is shown as [call NAME "
    "ARGUMENTS]; "
    "the next message is the result, of several calls one each.\n";

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
      if (Status Done = mark(nextMark()); !Done)
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

  /// Before a line: what it is.
  std::string nextMark() const {
    if (Reader.isInside())
      return "... ";
    std::optional<std::string> Called = T.waitingCall();
    return Called ? "result of " + escaped(*Called) + "> " : ">>> ";
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
      Result<Status> Done = T.take(Input.Text, *Own, IsInterrupted);
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
    } else if (Name == "/image") {
      report(T.addImage(std::string(Argument)));
    } else if (Name == "/set" && Argument.empty()) {
      if (Status Done = print(Settings.shown()); !Done)
        return Done.error();
    } else if (Name == "/set") {
      size_t Cut = std::min(Argument.find_first_of(" \t\n"), Argument.size());
      report(Settings.set(Argument.substr(0, Cut),
                          withoutBlanks(Argument.substr(Cut)), M));
    } else {
      report(Error("unknown command " + printable(Name) +
                   ": expected /system, /reset, /image, /set, /help or "
                   "/exit"));
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
  Result<Json> Tools = readTools(Options.Tools);
  if (!Tools)
    return Tools.error();
  if (!Tools->is_null())
    if (Result<ToolAnswer> Reader = ToolAnswer::create(M, {}, *Tools); !Reader)
      return Reader.error();
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
  Talk Conversation(M, *S, std::move(*OfArtifact), Options.System,
                    std::move(*Tools), Room,
                    Options.Seed.value_or(std::random_device()()));
  return Chat(M, Conversation, Options).run();
}
