//===- OutputFile.cpp - Every file that is written ------------------------===//

#include "runtime/Support/OutputFile.h"

#include "runtime/Support/Console.h"
#include "runtime/Support/HugePages.h"
#include "runtime/Support/InputFile.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <mutex>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace tenon;

//===----------------------------------------------------------------------===//
// Files that a signal removes
//===----------------------------------------------------------------------===//

namespace {

/// What a signal handler may read: nothing that allocates.
struct GuardedFile {
  std::atomic<bool> IsTaken{false};
  std::atomic<bool> IsReady{false};
  char Path[PATH_MAX];
};

constexpr std::array EndingSignals = {SIGINT, SIGTERM, SIGHUP};
/// More files at once than any command writes.
GuardedFile GuardedFiles[8];
struct sigaction BeforeGuard[EndingSignals.size()];

} // namespace

extern "C" {

static void removeAndEnd(int Signal) {
  for (GuardedFile &File : GuardedFiles)
    if (File.IsReady.load())
      ::unlink(File.Path);
  // As it was before: this time the signal does what it would have done, and
  // whoever waits sees which it was.
  for (size_t I = 0; I < EndingSignals.size(); ++I)
    if (EndingSignals[I] == Signal)
      ::sigaction(Signal, &BeforeGuard[I], nullptr);
  ::raise(Signal);
}

} // extern "C"

static void catchEndingSignals() {
  static std::mutex Lock;
  static std::array<bool, EndingSignals.size()> IsCaught{};
  std::lock_guard Guard(Lock);
  for (size_t I = 0; I < EndingSignals.size(); ++I) {
    struct sigaction Now = {};
    // Who is told to ignore a signal goes on doing so.
    if (::sigaction(EndingSignals[I], nullptr, &Now) != 0 ||
        Now.sa_handler == SIG_IGN || Now.sa_handler == removeAndEnd)
      continue;
    // A server's handlers come after these, and leave the default behind.
    if (std::exchange(IsCaught[I], true) && Now.sa_handler != SIG_DFL)
      continue;
    BeforeGuard[I] = Now;
    struct sigaction Action = {};
    Action.sa_handler = removeAndEnd;
    ::sigemptyset(&Action.sa_mask);
    ::sigaction(EndingSignals[I], &Action, nullptr);
  }
}

namespace {

/// While it lives, a signal that ends the process removes the file.
class SignalGuard {
public:
  explicit SignalGuard(const std::string &Path) {
    catchEndingSignals();
    if (Path.size() >= sizeof(GuardedFile::Path))
      return;
    for (GuardedFile &File : GuardedFiles)
      if (!File.IsTaken.exchange(true)) {
        std::memcpy(File.Path, Path.c_str(), Path.size() + 1);
        File.IsReady.store(true);
        Taken = &File;
        return;
      }
  }
  SignalGuard(const SignalGuard &) = delete;
  SignalGuard &operator=(const SignalGuard &) = delete;
  ~SignalGuard() {
    if (!Taken)
      return;
    Taken->IsReady.store(false);
    Taken->IsTaken.store(false);
  }

private:
  GuardedFile *Taken = nullptr;
};

} // namespace

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

/// What is appended is written in pieces of this size, at multiples of it: the
/// kernel then keeps them in huge pages, where the file system has such.
static constexpr size_t PieceBytes = HugePageBytes;

struct OutputFile::Implementation {
  std::string Path;       ///< As it was given, for messages.
  FileDescriptor Sink;    ///< A device or FIFO; none for a regular file.
  FileDescriptor Folder;  ///< Where the regular file is.
  std::string FolderPath; ///< The same for signals.
  std::string Name;       ///< The file in there.
  FileDescriptor File;    ///< What is written until finish().
  std::string Temporary;  ///< Its name in Folder; empty without one.
  std::optional<SignalGuard> Guard;
  uint64_t Position = 0;
  std::vector<std::byte> Gathered; ///< The last bytes before Position.

  ~Implementation() {
    if (!Temporary.empty())
      ::unlinkat(Folder.get(), Temporary.c_str(), 0);
  }

  Error fail(const std::string &What) const { return systemError(Path, What); }

  Status refuseInputs(const struct stat &Info,
                      std::span<const std::string> Inputs) const;
  Status openSink(int Flags = 0);
  Status openReplacement(const std::optional<struct stat> &Old, bool Nameless);
  /// Calls `Use` with names until one is free; it answers as a system call.
  template <typename Function> Status nameTemporary(Function &&Use);

  Status write(uint64_t Offset, std::span<const std::byte> Bytes) const;
  Status flush();
  /// Cuts the file off at `To`, or goes on there behind a hole.
  Status moveEnd(uint64_t To);
  Status publish();
  Status copyToSink();
};

/// Whether `Path` is an entry of /proc, where links are more than their text.
static bool isInProc(const std::string &Path) {
  std::error_code Ignored;
  std::filesystem::path Folder = std::filesystem::path(Path).parent_path();
  Folder = std::filesystem::canonical(Folder.empty() ? "." : Folder, Ignored);
  return Folder.native().starts_with("/proc/");
}

/// Follows the symbolic links of `Path` to the name that a file has, or would
/// have. Nothing for links like /dev/stdout, which are open files.
static Result<std::optional<std::string>> resolve(std::string Path) {
  constexpr int MaxLinks = 40;
  for (int Links = 0; Links < MaxLinks; ++Links) {
    std::error_code Failure;
    if (!std::filesystem::is_symlink(
            std::filesystem::symlink_status(Path, Failure)))
      return std::optional(Path);
    if (isInProc(Path))
      return std::optional<std::string>();
    std::filesystem::path Next = std::filesystem::read_symlink(Path, Failure);
    if (Failure)
      return Error(Path + ": cannot read this link: " + Failure.message());
    Path = std::filesystem::path(Path).parent_path() / Next;
  }
  return Error(Path + ": more than " + std::to_string(MaxLinks) +
               " symbolic links");
}

Status OutputFile::Implementation::refuseInputs(
    const struct stat &Info, std::span<const std::string> Inputs) const {
  for (const std::string &Input : Inputs) {
    struct stat Other;
    if (::stat(Input.c_str(), &Other) == 0 && Other.st_dev == Info.st_dev &&
        Other.st_ino == Info.st_ino)
      return Error(Path + ": is also an input" +
                   (Input == Path ? "" : ", " + Input) +
                   ": expected another file for the output");
  }
  return {};
}

/// What is written to a device may take long to make: it goes to a file first,
/// so that an error does not leave half of it there.
Status OutputFile::Implementation::openSink(int Flags) {
  Sink = FileDescriptor(
      ::open(Path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | Flags));
  if (!Sink)
    return fail("cannot write");
  const char *Wanted = std::getenv("TMPDIR");
  std::string Folder = Wanted && *Wanted ? Wanted : "/tmp";
  File = FileDescriptor(
      ::open(Folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (File)
    return {};
  std::string Name = Folder + "/tenon-XXXXXX";
  File = FileDescriptor(::mkostemp(Name.data(), O_CLOEXEC));
  if (!File)
    return systemError(Folder, "cannot create a temporary file");
  ::unlink(Name.c_str());
  return {};
}

template <typename Function>
Status OutputFile::Implementation::nameTemporary(Function &&Use) {
  constexpr int MaxTries = 1000;
  for (int Try = 0; Try < MaxTries; ++Try) {
    // Short, as `Name` may be as long as names can be.
    std::string Free =
        ".tenon-" + std::to_string(::getpid()) + "-" + std::to_string(Try);
    Guard.emplace(FolderPath + "/" + Free);
    if (Use(Free) == 0) {
      Temporary = Free;
      return {};
    }
    Guard.reset();
    if (errno != EEXIST)
      break;
  }
  return fail("cannot create a file beside it");
}

Status OutputFile::Implementation::openReplacement(
    const std::optional<struct stat> &Old, bool Nameless) {
  Result<std::optional<std::string>> Target = resolve(Path);
  if (!Target)
    return Target.error();
  // A shell's redirection, say: what is there already stays.
  if (!*Target)
    return openSink(O_APPEND);
  std::filesystem::path Whole(**Target);
  Name = Whole.filename();
  FolderPath = Whole.has_parent_path() ? Whole.parent_path().native() : ".";
  if (Name.empty() || Name == "." || Name == "..")
    return Error(Path + ": expected the name of a file");
  Folder = FileDescriptor(
      ::open(FolderPath.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!Folder)
    return fail("cannot write");
  if (Old) {
    if (::faccessat(AT_FDCWD, Path.c_str(), W_OK, AT_EACCESS) != 0)
      return fail("cannot write");
    // Where everybody may write, only owners may replace.
    struct stat Holder;
    uid_t Self = ::geteuid();
    if (::fstat(Folder.get(), &Holder) == 0 && (Holder.st_mode & S_ISVTX) &&
        Self != 0 && Self != Old->st_uid && Self != Holder.st_uid) {
      errno = EPERM;
      return fail("cannot replace");
    }
  }
  if (Nameless)
    File = FileDescriptor(
        ::openat(Folder.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0666));
  // Without /proc it could not get a name later.
  std::string Link = "/proc/self/fd/" + std::to_string(File.get());
  if (!File || ::access(Link.c_str(), F_OK) != 0) {
    Status Named = nameTemporary([&](const std::string &Free) {
      File =
          FileDescriptor(::openat(Folder.get(), Free.c_str(),
                                  O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
      return File ? 0 : -1;
    });
    if (!Named)
      return Named;
  }
  if (Old) {
    // As far as they can be kept: only root may give files away.
    (void)!::fchown(File.get(), Old->st_uid, Old->st_gid);
    (void)::fchmod(File.get(), Old->st_mode & 0777);
  }
  return {};
}

Status
OutputFile::Implementation::write(uint64_t Offset,
                                  std::span<const std::byte> Bytes) const {
  while (!Bytes.empty()) {
    ssize_t Written = ::pwrite(File.get(), Bytes.data(), Bytes.size(),
                               static_cast<off_t>(Offset));
    if (Written < 0 && errno == EINTR)
      continue;
    if (Written <= 0)
      return fail("cannot write " + std::to_string(Bytes.size()) +
                  " bytes at offset " + std::to_string(Offset));
    Offset += static_cast<uint64_t>(Written);
    Bytes = Bytes.subspan(static_cast<size_t>(Written));
  }
  return {};
}

Status OutputFile::Implementation::flush() {
  Status Done = write(Position - Gathered.size(), Gathered);
  Gathered.clear();
  return Done;
}

Status OutputFile::Implementation::moveEnd(uint64_t To) {
  if (Status Done = flush(); !Done)
    return Done;
  if (::ftruncate(File.get(), static_cast<off_t>(To)) != 0)
    return fail("cannot write");
  Position = To;
  return {};
}

Status OutputFile::Implementation::copyToSink() {
  std::vector<char> Piece(PieceBytes);
  for (uint64_t Done = 0; Done < Position;) {
    size_t Wanted = std::min<uint64_t>(Piece.size(), Position - Done);
    ssize_t Count =
        ::pread(File.get(), Piece.data(), Wanted, static_cast<off_t>(Done));
    if (Count < 0 && errno == EINTR)
      continue;
    if (Count <= 0)
      return fail("cannot read back what was written");
    if (!writeAll(Sink.get(), {Piece.data(), static_cast<size_t>(Count)}))
      return fail("cannot write");
    Done += static_cast<uint64_t>(Count);
  }
  return Sink.close() ? Status() : fail("cannot write");
}

Status OutputFile::Implementation::publish() {
  // Some file systems report a failed write only here.
  if (FileDescriptor Copy(::dup(File.get())); Copy && !Copy.close())
    return fail("cannot write");
  if (Temporary.empty()) {
    std::string Link = "/proc/self/fd/" + std::to_string(File.get());
    auto Give = [&](const std::string &Free) {
      return ::linkat(AT_FDCWD, Link.c_str(), Folder.get(), Free.c_str(),
                      AT_SYMLINK_FOLLOW);
    };
    if (Give(Name) == 0)
      return {};
    // linkat() does not replace files, so it gets a name of its own first.
    if (Status Named = nameTemporary(Give); !Named)
      return Named;
  }
  if (::renameat(Folder.get(), Temporary.c_str(), Folder.get(), Name.c_str()) !=
      0)
    return fail("cannot replace");
  Temporary.clear();
  return {};
}

OutputFile::OutputFile(std::unique_ptr<Implementation> Impl)
    : Impl(std::move(Impl)) {}
OutputFile::OutputFile(OutputFile &&) noexcept = default;
OutputFile &OutputFile::operator=(OutputFile &&) noexcept = default;
OutputFile::~OutputFile() = default;

Result<OutputFile> OutputFile::create(const std::string &Path,
                                      std::span<const std::string> Inputs,
                                      bool Nameless) {
  if (Path.empty())
    return Error("the name of the output is empty: expected a file");
  auto Impl = std::make_unique<Implementation>();
  Impl->Path = Path;
  std::optional<struct stat> Old = std::make_optional<struct stat>();
  if (::stat(Path.c_str(), &*Old) != 0) {
    if (errno != ENOENT)
      return Impl->fail("cannot write");
    Old.reset();
  }
  if (Old && S_ISDIR(Old->st_mode))
    return Error(Path + ": is a directory: expected a file to write");
  if (Old)
    if (Status Other = Impl->refuseInputs(*Old, Inputs); !Other)
      return Other.error();
  Status Opened = Old && !S_ISREG(Old->st_mode)
                      ? Impl->openSink()
                      : Impl->openReplacement(Old, Nameless);
  if (!Opened)
    return Opened.error();
  return OutputFile(std::move(Impl));
}

const std::string &OutputFile::path() const { return Impl->Path; }
uint64_t OutputFile::position() const { return Impl->Position; }

Status OutputFile::append(std::span<const std::byte> Bytes) {
  while (!Bytes.empty()) {
    size_t Missing = PieceBytes - Impl->Position % PieceBytes;
    std::span<const std::byte> Part;
    if (Missing == PieceBytes && Bytes.size() >= PieceBytes) {
      // Nothing is gathered at the beginning of a piece.
      Part = Bytes.first(Bytes.size() / PieceBytes * PieceBytes);
      if (Status Done = Impl->write(Impl->Position, Part); !Done)
        return Done;
      Impl->Position += Part.size();
    } else {
      Part = Bytes.first(std::min(Missing, Bytes.size()));
      Impl->Gathered.reserve(PieceBytes);
      Impl->Gathered.insert(Impl->Gathered.end(), Part.begin(), Part.end());
      Impl->Position += Part.size();
      if (Part.size() == Missing)
        if (Status Done = Impl->flush(); !Done)
          return Done;
    }
    Bytes = Bytes.subspan(Part.size());
  }
  return {};
}

Status OutputFile::append(std::string_view Text) {
  return append(std::as_bytes(std::span(Text.data(), Text.size())));
}

Status OutputFile::skipTo(uint64_t Position) {
  // A short gap is written, which leaves its piece in one; a long one is a
  // hole.
  if (Position - Impl->Position < PieceBytes) {
    std::vector<std::byte> Zeros(Position - Impl->Position);
    return append(Zeros);
  }
  return Impl->moveEnd(Position);
}

Status OutputFile::overwrite(uint64_t Offset,
                             std::span<const std::byte> Bytes) {
  if (Status Done = Impl->flush(); !Done)
    return Done;
  return Impl->write(Offset, Bytes);
}

Result<std::string> OutputFile::openablePath() {
  if (Status Done = Impl->flush(); !Done)
    return Done.error();
  return Impl->Temporary.empty()
             ? "/proc/self/fd/" + std::to_string(Impl->File.get())
             : Impl->FolderPath + "/" + Impl->Temporary;
}

Status OutputFile::rewindTo(uint64_t Position) {
  return Impl->moveEnd(Position);
}

Status OutputFile::finish() {
  if (Status Done = Impl->flush(); !Done)
    return Done;
  return Impl->Sink ? Impl->copyToSink() : Impl->publish();
}
