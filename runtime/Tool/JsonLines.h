//===- JsonLines.h - Files of one JSON value a line -------------*- C++ -*-===//

#ifndef TENON_RUNTIME_TOOL_JSONLINES_H
#define TENON_RUNTIME_TOOL_JSONLINES_H

#include "runtime/Support/InputFile.h"
#include "runtime/Support/Json.h"

#include <optional>
#include <string>

namespace tenon::tool {

/// Reads lines one by one, from a file of any size.
class JsonLines {
public:
  /// Of the regular file at `Path`, or of standard input for "-".
  static Result<JsonLines> open(const std::string &Path);

  /// The next value, null at the end. Blank lines are passed over; a line that
  /// is not JSON, or longer than 16 MiB, is an error with its place.
  Result<std::optional<Json>> next();

  /// "FILE:LINE" of the value that next() answered last.
  std::string place() const { return File + ":" + std::to_string(Line); }
  const std::string &file() const { return File; }
  size_t line() const { return Line; }

  /// Bytes of the lines so far, and of all; null for standard input.
  uint64_t position() const { return Position; }
  std::optional<uint64_t> bytes() const { return Bytes; }

private:
  JsonLines(std::string File, FileDescriptor Descriptor,
            std::optional<uint64_t> Bytes)
      : File(std::move(File)), Descriptor(std::move(Descriptor)), Bytes(Bytes) {
  }
  Result<bool> nextLine(std::string &Text);

  std::string File;          ///< As errors name it.
  FileDescriptor Descriptor; ///< None: standard input.
  std::optional<uint64_t> Bytes;
  size_t Line = 0;
  uint64_t Position = 0;
  std::string Buffer; ///< What was read and is not answered yet, from Begin on.
  size_t Begin = 0;
  bool IsAtEnd = false;
};

} // namespace tenon::tool

#endif // TENON_RUNTIME_TOOL_JSONLINES_H
