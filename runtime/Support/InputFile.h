//===- InputFile.h - Opening files for reading ------------------*- C++ -*-===//
//
// How every file that a user names is opened and read: never waiting, and only
// if it is a regular file.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_SUPPORT_INPUTFILE_H
#define TENON_RUNTIME_SUPPORT_INPUTFILE_H

#include "runtime/Support/Result.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <sys/stat.h>
#include <utility>

namespace tenon {

/// An open file, closed on destruction.
class FileDescriptor {
public:
  explicit FileDescriptor(int Number = -1) : Number(Number) {}
  FileDescriptor(FileDescriptor &&Other) noexcept
      : Number(std::exchange(Other.Number, -1)) {}
  FileDescriptor &operator=(FileDescriptor &&Other) noexcept {
    std::swap(Number, Other.Number);
    return *this;
  }
  ~FileDescriptor();

  int get() const { return Number; }
  /// Closes it now; false when the operating system reports a failure.
  bool close();
  explicit operator bool() const { return Number >= 0; }

private:
  int Number;
};

/// "PATH: WHAT: why", from errno, with the kind of error that it stands for.
Error systemError(const std::string &Path, const std::string &What);

/// "a directory", "a FIFO", ...: what a file of this st_mode is.
const char *kindOfFile(mode_t Mode);

struct InputFile {
  FileDescriptor Descriptor;
  struct stat Info = {};
};

/// Opens the regular file at `Path`. A directory, FIFO, socket or device is an
/// error, and is not waited for.
Result<InputFile> openInput(const std::string &Path);

/// The whole content of a regular file of at most `MaxBytes` bytes.
Result<std::string> readFile(const std::string &Path, uint64_t MaxBytes);

/// The first `Bytes` bytes of a regular file, or all of a shorter one.
Result<std::string> readStart(const std::string &Path, size_t Bytes);

/// Whether `Path` ends in ".gguf", or is a file that begins as GGUF files do:
/// Ollama names them by their hash.
bool isGgufFile(const std::string &Path);

} // namespace tenon

#endif // TENON_RUNTIME_SUPPORT_INPUTFILE_H
