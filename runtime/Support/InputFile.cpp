//===- InputFile.cpp - Opening files for reading --------------------------===//

#include "runtime/Support/InputFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace tenon;

FileDescriptor::~FileDescriptor() { close(); }

bool FileDescriptor::close() {
  int Closed = std::exchange(Number, -1);
  return Closed < 0 || ::close(Closed) == 0;
}

Error tenon::systemError(const std::string &Path, const std::string &What) {
  ErrorKind Kind = errno == ENOENT || errno == ENOTDIR ? ErrorKind::NotFound
                   : errno == ENOMEM                   ? ErrorKind::OutOfMemory
                   : errno == EIO ? ErrorKind::Internal
                                  : ErrorKind::InvalidArgument;
  return Error(Kind, Path + ": " + What + ": " + std::strerror(errno));
}

const char *tenon::kindOfFile(mode_t Mode) {
  switch (Mode & S_IFMT) {
  case S_IFDIR:
    return "a directory";
  case S_IFIFO:
    return "a FIFO";
  case S_IFSOCK:
    return "a socket";
  case S_IFCHR:
  case S_IFBLK:
    return "a device";
  default:
    return "a file";
  }
}

Result<InputFile> tenon::openInput(const std::string &Path) {
  // Without O_NONBLOCK, opening a FIFO waits for who writes to it.
  InputFile File{
      FileDescriptor(
          ::open(Path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)),
      {}};
  if (!File.Descriptor)
    return systemError(Path, "cannot open");
  if (::fstat(File.Descriptor.get(), &File.Info) != 0)
    return systemError(Path, "cannot stat");
  if (!S_ISREG(File.Info.st_mode))
    return Error(Path + ": is " + kindOfFile(File.Info.st_mode) +
                 ", not a regular file");
  return File;
}

/// The first `Bytes` bytes, or all of a shorter file.
static Result<std::string> readUpTo(const InputFile &File,
                                    const std::string &Path, size_t Bytes) {
  std::string Text;
  Text.resize(Bytes);
  size_t Done = 0;
  while (Done < Bytes) {
    ssize_t Count =
        ::read(File.Descriptor.get(), Text.data() + Done, Bytes - Done);
    if (Count < 0 && errno == EINTR)
      continue;
    if (Count < 0)
      return systemError(Path, "cannot read");
    if (Count == 0)
      break;
    Done += static_cast<size_t>(Count);
  }
  Text.resize(Done);
  return Text;
}

Result<std::string> tenon::readFile(const std::string &Path,
                                    uint64_t MaxBytes) {
  Result<InputFile> File = openInput(Path);
  if (!File)
    return File.error();
  auto Size = static_cast<uint64_t>(File->Info.st_size);
  if (Size > MaxBytes)
    return Error(Path + ": is " + std::to_string(Size) +
                 " bytes long: expected at most " + std::to_string(MaxBytes));
  return readUpTo(*File, Path, static_cast<size_t>(Size));
}

Result<std::string> tenon::readStart(const std::string &Path, size_t Bytes) {
  Result<InputFile> File = openInput(Path);
  if (!File)
    return File.error();
  return readUpTo(*File, Path, Bytes);
}

bool tenon::isGgufFile(const std::string &Path) {
  if (Path.ends_with(".gguf"))
    return true;
  Result<std::string> Start = readStart(Path, 4);
  return Start && *Start == "GGUF";
}
