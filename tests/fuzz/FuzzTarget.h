//===- FuzzTarget.h - What the fuzz targets share ---------------*- C++ -*-===//
//
// A target reads one input as one parser does, and states what must hold of the
// answer. Anything that ends the process is a finding. libFuzzer drives the
// targets in the preset `fuzz`, ReplayMain.cpp in all others.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TESTS_FUZZ_FUZZTARGET_H
#define TENON_TESTS_FUZZ_FUZZTARGET_H

#include "runtime/Support/Result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size);

namespace tenon::fuzz {

/// What a target reads from its input.
inline std::string_view textOf(const uint8_t *Data, size_t Size) {
  return {reinterpret_cast<const char *>(Data), Size};
}

/// The parts before and after the first NUL; the second is empty without one.
std::pair<std::string_view, std::string_view> splitAtNul(std::string_view Text);

/// Ends the process, saying `What`, unless `Holds`.
void require(bool Holds, std::string_view What);

/// Requires an error of one printable line of UTF-8.
void requireError(const Error &E);

/// The same of an answer that is one. True when it is none.
template <typename T> bool isGood(const Result<T> &Answer) {
  if (!Answer)
    requireError(Answer.error());
  return static_cast<bool>(Answer);
}

/// A regular file in memory with content that can be replaced, for parsers that
/// open files themselves.
class MemoryFile {
public:
  MemoryFile();
  /// Its path stays the same.
  const std::string &path() const { return Path; }
  void setContent(std::string_view Content);

private:
  int Descriptor;
  std::string Path;
};

/// A directory below $TMPDIR that goes away when the process exits.
class Directory {
public:
  Directory();
  ~Directory();
  const std::string &path() const { return Path; }
  void write(std::string_view Name, std::string_view Content) const;
  /// Writes those files of `Packed` whose names are in `Names`: files one after
  /// another, each behind a line "//--- NAME" as of LLVM's split-file.
  void writePacked(std::string_view Packed,
                   std::span<const std::string_view> Names) const;
  /// Removes all files.
  void clear() const;

private:
  std::string Path;
};

} // namespace tenon::fuzz

#endif // TENON_TESTS_FUZZ_FUZZTARGET_H
