//===- CompilerProcess.cpp - Compiling in another process -----------------===//

#include "runtime/ModelCache/CompilerProcess.h"

#include "runtime/Support/InputFile.h"
#include "runtime/Support/Json.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tenon;
using namespace tenon::modelcache;

Result<std::string> modelcache::compilerPath() {
  if (const char *Named = std::getenv("TENON_COMPILE"); Named && *Named)
    return std::string(Named);
  std::error_code Failure;
  auto Self = std::filesystem::read_symlink("/proc/self/exe", Failure);
  if (Failure)
    return Error(ErrorKind::Internal,
                 "cannot find this executable: " + Failure.message());
  return (Self.parent_path() / "tenon-compile").string();
}

Error modelcache::cannotCompile(const std::string &Compiler) {
  const char *Named = std::getenv("TENON_COMPILE");
  if (errno == ENOENT && Named && Compiler == Named)
    return Error(ErrorKind::NotFound,
                 "TENON_COMPILE is " + printable(Compiler) +
                     ": no such file: expected the path of tenon-compile");
  if (errno == ENOENT)
    return Error(ErrorKind::NotFound,
                 Compiler + " does not exist: this is a runtime-only build, "
                            "which runs artifacts but cannot compile models");
  return systemError(Compiler, "cannot start");
}

namespace {

/// What the process writes to standard error, line by line.
class Listener {
public:
  explicit Listener(const CompilerEvents &Events) : Events(Events) {}

  void hear(std::string_view Text) {
    // More than any line of the compiler's.
    constexpr size_t MaxLineBytes = 1 << 16;
    for (char C : Text) {
      if (C != '\n' && Line.size() < MaxLineBytes) {
        Line += C;
        continue;
      }
      end();
    }
  }

  void end() {
    std::string Whole = std::exchange(Line, {});
    constexpr std::string_view Note = "tenon: note: ",
                               Failure = "tenon: error: ";
    if (Whole.starts_with(Note)) {
      if (Events.Note)
        Events.Note(Whole.substr(Note.size()));
    } else if (Whole.starts_with(Failure)) {
      Message = Whole.substr(Failure.size());
    } else if (Whole.starts_with("{\"progress\":")) {
      progress(Whole);
    } else if (!Whole.empty()) {
      Last = std::move(Whole);
    }
  }

  std::string Message; ///< Of the error; empty: it has said none.
  std::string Last;    ///< The last line that is nothing else.

private:
  void progress(const std::string &Text) {
    // A line that is none is only a line less.
    Result<Json> J = parseJson(Text, "progress");
    if (!J || !Events.Progress)
      return;
    JsonField Root(*J, "progress");
    Result<JsonField> Now = Root.member("progress");
    Result<JsonField> Phase =
        Now ? Now->member("phase") : Result<JsonField>(Now.error());
    Result<std::string> Name =
        Phase ? Phase->asString() : Result<std::string>(Phase.error());
    if (!Name)
      return;
    std::optional<double> Share;
    if (Now->has("share"))
      if (Result<double> Number = Now->member("share")->asNumber())
        Share = *Number;
    Events.Progress(*Name, Share);
  }

  const CompilerEvents &Events;
  std::string Line;
};

} // namespace

/// Becomes the compiler. Only what may be called between fork and exec of a
/// process with threads.
[[noreturn]] static void becomeCompiler(pid_t Parent, int Output, int Failed,
                                        char **Values) {
  int Nothing = ::open("/dev/null", O_RDONLY);
  // Signals that the caller has blocked or ignores are not for the compiler.
  sigset_t None;
  ::sigemptyset(&None);
  ::sigprocmask(SIG_SETMASK, &None, nullptr);
  if (Nothing >= 0 && ::dup2(Nothing, STDIN_FILENO) >= 0 &&
      ::dup2(Output, STDOUT_FILENO) >= 0 &&
      ::dup2(Output, STDERR_FILENO) >= 0 &&
      ::prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && ::getppid() == Parent)
    ::execv(Values[0], Values);
  int Why = errno;
  [[maybe_unused]] ssize_t Told = ::write(Failed, &Why, sizeof(Why));
  ::_exit(127);
}

Status modelcache::runCompiler(const std::string &Compiler,
                               const std::vector<std::string> &Arguments,
                               const CompilerEvents &Events) {
  std::vector<std::string> Copies = {Compiler, "compile"};
  Copies.insert(Copies.end(), Arguments.begin(), Arguments.end());
  std::vector<char *> Values;
  for (std::string &Copy : Copies)
    Values.push_back(Copy.data());
  Values.push_back(nullptr);

  // One for what it says, one for why it could not be started.
  std::array<int, 2> Said, Failed;
  if (::pipe2(Said.data(), O_CLOEXEC) != 0)
    return systemError(Compiler, "cannot make a pipe");
  FileDescriptor SaidOut(Said[0]), SaidIn(Said[1]);
  if (::pipe2(Failed.data(), O_CLOEXEC) != 0)
    return systemError(Compiler, "cannot make a pipe");
  FileDescriptor FailedOut(Failed[0]), FailedIn(Failed[1]);
  pid_t Parent = ::getpid(), Child = ::fork();
  if (Child < 0)
    return systemError(Compiler, "cannot start a process");
  if (Child == 0)
    becomeCompiler(Parent, Said[1], Failed[1], Values.data());
  SaidIn.close();
  FailedIn.close();

  Listener Heard(Events);
  std::array<char, 4096> Bytes;
  for (;;) {
    ssize_t Count = ::read(Said[0], Bytes.data(), Bytes.size());
    if (Count < 0 && errno == EINTR)
      continue;
    if (Count <= 0)
      break;
    Heard.hear({Bytes.data(), static_cast<size_t>(Count)});
  }
  Heard.end();
  int Why = 0;
  ssize_t Told;
  do
    Told = ::read(Failed[0], &Why, sizeof(Why));
  while (Told < 0 && errno == EINTR);
  int Ended = 0;
  while (::waitpid(Child, &Ended, 0) < 0)
    if (errno != EINTR)
      return systemError(Compiler, "cannot wait for it");
  if (Told == sizeof(Why)) {
    errno = Why;
    return cannotCompile(Compiler);
  }
  if (WIFEXITED(Ended) && WEXITSTATUS(Ended) == 0)
    return {};
  if (!Heard.Message.empty())
    return Error(Heard.Message);
  std::string How =
      WIFSIGNALED(Ended)
          ? "was ended by signal " + std::to_string(WTERMSIG(Ended)) + " (" +
                ::strsignal(WTERMSIG(Ended)) + ")" +
                (WTERMSIG(Ended) == SIGKILL ? ": perhaps for want of memory"
                                            : "")
          : "ended with status " + std::to_string(WEXITSTATUS(Ended));
  return Error(ErrorKind::Internal,
               Compiler + " " + How +
                   (Heard.Last.empty() ? "" : ": " + printable(Heard.Last)));
}
