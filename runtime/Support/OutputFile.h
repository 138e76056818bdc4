//===- OutputFile.h - Every file that is written ----------------*- C++ -*-===//
//
// The one way in which the tools write files: artifacts, IR, assembly, arrays
// and dumps. What cannot be written is refused before there is work to lose,
// and a file is whole or as it was before.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_SUPPORT_OUTPUTFILE_H
#define TENON_RUNTIME_SUPPORT_OUTPUTFILE_H

#include "runtime/Support/Result.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tenon {

/// Takes bytes in order.
using ByteSink = std::function<Status(std::string_view)>;

/// One file being written.
///
/// A regular file, or one that is not there yet, is replaced by finish() in one
/// step; through a symbolic link the file that it names is. What was appended
/// until then is in a file without a name (O_TMPFILE), which goes away with the
/// process, however that ends. Where the file system has no such files it has a
/// name of its own in the same directory, which SIGINT, SIGTERM and SIGHUP
/// remove; only SIGKILL leaves it behind.
///
/// A device or a FIFO is opened by create() and gets all bytes from finish().
class OutputFile {
public:
  /// Checks that `Path` can be written and starts a file for it: a directory,
  /// a name that is too long, a place or a file without permission to write
  /// are errors, and so is a file that is one of `Inputs`, under any name. A
  /// FIFO is waited for until somebody reads it. Without `Nameless` the file
  /// has a temporary name from the start.
  static Result<OutputFile> create(const std::string &Path,
                                   std::span<const std::string> Inputs = {},
                                   bool Nameless = true);

  OutputFile(OutputFile &&) noexcept;
  OutputFile &operator=(OutputFile &&) noexcept;
  /// Without finish() before, everything is as it was.
  ~OutputFile();

  const std::string &path() const;
  /// Bytes appended and skipped so far.
  uint64_t position() const;

  Status append(std::span<const std::byte> Bytes);
  Status append(std::string_view Text);
  /// Goes on at `Position`, at or behind position(), with zeros before.
  Status skipTo(uint64_t Position);
  /// Replaces bytes that were appended or skipped.
  Status overwrite(uint64_t Offset, std::span<const std::byte> Bytes);

  /// A name under which this process can open what was written so far.
  Result<std::string> openablePath();
  /// Drops what lies behind `Position`, which is at or before position().
  Status rewindTo(uint64_t Position);

  /// Gives the file its name, or hands the bytes to the device. Nothing may
  /// follow.
  Status finish();

private:
  struct Implementation;
  explicit OutputFile(std::unique_ptr<Implementation> Impl);
  std::unique_ptr<Implementation> Impl;
};

} // namespace tenon

#endif // TENON_RUNTIME_SUPPORT_OUTPUTFILE_H
