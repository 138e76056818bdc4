//===- MappedFile.h - Read-only file mappings -------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_SUPPORT_MAPPEDFILE_H
#define TENON_RUNTIME_SUPPORT_MAPPEDFILE_H

#include "runtime/Support/InputFile.h"
#include "runtime/Support/MappingGuard.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <sys/stat.h>

namespace tenon {

/// What a file is mapped for. What is read over and over takes huge pages, if
/// the kernel has the file in such: see HugePages.h.
enum class MappedPages { Small, Huge };

/// A whole file mapped read-only and shared; unmapped on destruction.
///
/// Reading it never ends the process: where the file is cut off while it is
/// mapped, or the disk fails, it reads as zeros. Whoever has read calls
/// checkUnchanged() before the result is used.
class MappedFile {
public:
  /// Maps the regular file at `Path`; an empty file has an empty span. Later
  /// messages call it `Name`, if that is not empty.
  static Result<MappedFile> open(const std::string &Path,
                                 MappedPages Pages = MappedPages::Small,
                                 const std::string &Name = {});

  MappedFile(MappedFile &&Other) noexcept;
  MappedFile &operator=(MappedFile &&Other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {Data, Size}; }
  const std::string &path() const { return Path; }

  /// An error (damaged file) when what was read since opening may not be what
  /// the file held then: it could not be read, or has another length or time
  /// of modification. A file that was replaced by another of its name is
  /// unchanged. What is changed within one tick of the file system's clock
  /// after opening (a few milliseconds), or by somebody who sets the time back,
  /// is not seen.
  Status checkUnchanged() const;

private:
  explicit MappedFile(std::string Path, InputFile Opened)
      : Path(std::move(Path)), Opened(std::move(Opened)) {}
  void release();

  std::string Path;
  InputFile Opened;
  const std::byte *Data = nullptr;
  size_t Size = 0;
  MappingGuard Guard;
};

} // namespace tenon

#endif // TENON_RUNTIME_SUPPORT_MAPPEDFILE_H
