//===- MappedFile.h - Read-only file mappings -------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_SUPPORT_MAPPEDFILE_H
#define TENON_RUNTIME_SUPPORT_MAPPEDFILE_H

#include "runtime/Support/Result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tenon {

/// A whole file mapped read-only and shared; unmapped on destruction.
class MappedFile {
public:
  /// Maps the regular file at `Path`; an empty file has an empty span.
  static Result<MappedFile> open(const std::string &Path);

  MappedFile(MappedFile &&Other) noexcept;
  MappedFile &operator=(MappedFile &&Other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {Data, Size}; }
  const std::string &path() const { return Path; }

  /// An error when the file on disk is now shorter than the mapping, whose
  /// tail would fault. Call before a long read.
  Status checkNotShrunk() const;

private:
  MappedFile(std::string Path, int Descriptor, const std::byte *Data,
             size_t Size)
      : Path(std::move(Path)), Descriptor(Descriptor), Data(Data), Size(Size) {}
  void release();

  std::string Path;
  int Descriptor = -1;
  const std::byte *Data = nullptr;
  size_t Size = 0;
};

/// The whole content of a regular file of at most `MaxBytes` bytes.
Result<std::string> readFile(const std::string &Path, uint64_t MaxBytes);

} // namespace tenon

#endif // TENON_RUNTIME_SUPPORT_MAPPEDFILE_H
