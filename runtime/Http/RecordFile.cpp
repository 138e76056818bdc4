//===- RecordFile.cpp - The file of tenon serve --record ------------------===//

#include "runtime/Http/RecordFile.h"

#include "runtime/Support/Clock.h"
#include "runtime/Support/Console.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace tenon;
using namespace tenon::http;

RecordFile::RecordFile(std::string Path, RecordHeader Served,
                       uint64_t MostBytes)
    : Path(std::move(Path)), Served(std::move(Served)), MostBytes(MostBytes),
      Start(secondsNow()) {}

RecordFile::~RecordFile() {
  if (Dropped > 0)
    (void)append(droppedLineOf(Dropped)); // Nobody can be told any more.
  if (File >= 0)
    ::close(File);
}

/// Bytes up to the end of the last whole line of a file of `Size` bytes.
static Result<uint64_t> wholeLines(int File, uint64_t Size,
                                   const std::string &Path) {
  constexpr uint64_t Block = 1 << 16;
  std::string Part(Block, '\0');
  for (uint64_t End = Size; End > 0;) {
    uint64_t From = End - std::min(End, Block);
    ssize_t Got =
        ::pread(File, Part.data(), End - From, static_cast<off_t>(From));
    if (Got != static_cast<ssize_t>(End - From))
      return Error(Path + ": " + std::strerror(Got < 0 ? errno : EIO));
    size_t At = Part.rfind('\n', static_cast<size_t>(Got) - 1);
    if (At != std::string::npos)
      return From + At + 1;
    End = From;
  }
  return uint64_t(0);
}

/// Opens the file and checks what is in it.
Status RecordFile::begin() {
  auto Fail = [&](const std::string &Why) { return Error(Path + ": " + Why); };
  // Not waited for, if it is a FIFO.
  constexpr int Flags = O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC;
  File = ::open(Path.c_str(), Flags, S_IRUSR | S_IWUSR);
  if (File < 0)
    return Fail(std::strerror(errno));
  struct stat Info{};
  if (::fstat(File, &Info) != 0)
    return Fail(std::strerror(errno));
  if (!S_ISREG(Info.st_mode))
    return Fail("is no file: expected one, or a name for a new one");
  if (::flock(File, LOCK_EX | LOCK_NB) != 0)
    return Fail("another server records there");
  std::string First(RecordBegin.size(), '\0');
  if (Info.st_size != 0 && (::pread(File, First.data(), First.size(), 0) !=
                                static_cast<ssize_t>(First.size()) ||
                            First != RecordBegin))
    return Fail("is no record of tenon serve: expected one, or a name for a "
                "new file");
  if (::fchmod(File, S_IRUSR | S_IWUSR) != 0)
    return Fail(std::strerror(errno));
  Result<uint64_t> Whole =
      wholeLines(File, static_cast<uint64_t>(Info.st_size), Path);
  if (!Whole)
    return Whole.error();
  Bytes = *Whole;
  if (::ftruncate(File, static_cast<off_t>(Bytes)) != 0)
    return Fail(std::strerror(errno));
  return append(recordLineOf(Served));
}

Result<std::unique_ptr<RecordFile>> RecordFile::open(const std::string &Path,
                                                     RecordHeader Served,
                                                     uint64_t MostBytes) {
  // A limit on files is an error to write, as a full disk is.
  std::signal(SIGXFSZ, SIG_IGN);
  std::unique_ptr<RecordFile> Made(
      new RecordFile(Path, std::move(Served), MostBytes));
  if (Status Done = Made->begin(); !Done)
    return Done.error();
  return Made;
}

/// Writes a line, whole or not at all.
Status RecordFile::append(const std::string &Line) {
  if (File >= 0 && writeAll(File, Line)) {
    Bytes += Line.size();
    return {};
  }
  Error Why(Path + ": " + std::strerror(File < 0 ? EBADF : errno));
  if (File >= 0)
    (void)::ftruncate(File, static_cast<off_t>(Bytes)); // Or it is cut.
  return Why;
}

/// Says when writing begins to fail, and when it works again.
void RecordFile::tell(const Status &Done) {
  if (std::exchange(IsFailing, !Done) == !Done)
    return;
  if (!Done)
    printNote("--record: " + Done.error().message() +
              ": requests are not recorded until it can be written");
  else
    printNote("--record: " + Path + ": requests are recorded again");
}

void RecordFile::add(const RequestTrace &T, size_t DroppedBefore) {
  Dropped += DroppedBefore;
  std::string Line = recordLineOf(T, Served, Start);
  if (Dropped > 0)
    Line = droppedLineOf(Dropped) + Line;
  Status Done;
  if (File >= 0 && Bytes + Line.size() > MostBytes) {
    std::string Old = Path + ".1";
    if (std::rename(Path.c_str(), Old.c_str()) != 0)
      Done = Error(Old + ": " + std::strerror(errno));
    else
      ::close(std::exchange(File, -1));
  }
  if (Done && File < 0) {
    Done = begin();
    if (!Done && File >= 0)
      ::close(std::exchange(File, -1));
  }
  if (Done)
    Done = append(Line);
  Dropped = Done ? 0 : Dropped + 1;
  tell(Done);
}
