//===- Gguf.h - One .gguf file ----------------------------------*- C++ -*-===//
//
// Maps a GGUF file and checks its whole header before anything is used: its
// metadata, and where its tensors lie.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_CHECKPOINT_GGUF_H
#define TENON_COMPILER_CHECKPOINT_GGUF_H

#include "compiler/Checkpoint/Safetensors.h"
#include "compiler/Checkpoint/StoredFormat.h"

#include <functional>
#include <optional>
#include <unordered_map>

namespace tenon {

/// Limits on what a header may ask for.
inline constexpr uint64_t MaxGgufKeys = 65'536;
inline constexpr uint64_t MaxGgufAlignment = 1 << 20;
inline constexpr uint32_t MaxGgufDims = 4;

/// The types of metadata values, numbered as in the file.
enum class GgufType : uint32_t {
  UInt8,
  Int8,
  UInt16,
  Int16,
  UInt32,
  Int32,
  Float32,
  Bool,
  String,
  Array,
  UInt64,
  Int64,
  Float64
};

/// A metadata value inside its file.
struct GgufValue {
  /// Of an array: of its elements.
  GgufType Type = GgufType::UInt8;
  bool IsArray = false;
  uint64_t Count = 1;
  /// Numbers one after another, or strings each after its length of 8 bytes.
  std::span<const std::byte> Bytes;
};

/// A tensor inside its file.
struct GgufTensor {
  std::string Name;
  /// Outermost dimension first, as elsewhere here; the file's order is the
  /// reverse.
  std::vector<int64_t> Shape;
  const StoredFormat *Format = nullptr;
  std::span<const std::byte> Bytes;
  /// The part that holds it.
  const MappedFile *File = nullptr;
};

/// A mapped GGUF file of version 2 or 3, little-endian, whose header has been
/// checked: keys and tensors have names of their own, every value and tensor
/// lies inside the file, tensors do not overlap and have types that are read.
/// A file that llama.cpp's gguf-split divided is read from its first part,
/// which has all keys, and all parts beside it. The getters' errors name the
/// file, the key, its value and what was expected.
class GgufFile {
public:
  static Result<GgufFile> open(const std::string &Path);

  const std::string &path() const { return Path; }
  /// The mappings that all spans refer to; they stay valid while the taker
  /// keeps them.
  std::vector<std::unique_ptr<MappedFile>> takeMappings() {
    return std::move(Files);
  }
  /// An error when a part has changed since it was opened.
  Status checkUnchanged() const;

  /// In the file's order.
  const std::vector<std::string> &keys() const { return Keys; }
  const GgufValue *find(const std::string &Key) const;
  bool has(const std::string &Key) const { return find(Key) != nullptr; }

  /// A whole number in [Min, Max], stored in any type of whole numbers.
  Result<int64_t> integer(const std::string &Key, int64_t Min,
                          int64_t Max) const;
  /// A finite number. One stored in 32 bits becomes the number that its
  /// shortest text stands for, as people wrote it: 1e-05, not 9.99999975e-06.
  Result<double> number(const std::string &Key) const;
  Result<bool> boolean(const std::string &Key) const;
  Result<std::string> string(const std::string &Key) const;

  /// The number of elements; an error when it is no array of that kind.
  Result<uint64_t> arraySize(const std::string &Key, bool OfStrings) const;
  Result<std::vector<int64_t>> integers(const std::string &Key) const;
  Result<std::vector<double>> numbers(const std::string &Key) const;
  Result<std::vector<bool>> booleans(const std::string &Key) const;
  /// Strings as views of the file.
  Result<std::vector<std::string_view>> strings(const std::string &Key) const;

  /// "FILE: field 'KEY' is VALUE: expected EXPECTED"; a value that is absent
  /// makes it "FILE: missing field 'KEY': expected EXPECTED".
  Error expected(const std::string &Key, std::string_view Expected) const;

  /// In the file's order, part by part.
  const std::vector<GgufTensor> &tensors() const { return Tensors; }
  const GgufTensor *findTensor(const std::string &Name) const;

private:
  explicit GgufFile(std::unique_ptr<MappedFile> Mapped) : Path(Mapped->path()) {
    Files.push_back(std::move(Mapped));
  }
  friend class GgufReader;
  /// One part.
  static Result<GgufFile> openPart(const std::string &Path);
  Status addParts();

  /// The value of `Key`, if it is a single one.
  const GgufValue *single(const std::string &Key) const;

  std::string Path;
  std::vector<std::unique_ptr<MappedFile>> Files;
  std::vector<std::string> Keys;
  std::unordered_map<std::string, GgufValue> Values;
  std::vector<GgufTensor> Tensors;
  std::unordered_map<std::string, size_t> TensorIndex;
};

/// The paths of all parts, by that of one, "NAME-00002-of-00003.gguf"; `Path`
/// alone when it is no such name.
std::vector<std::string> ggufPartsOf(const std::string &Path);

} // namespace tenon

#endif // TENON_COMPILER_CHECKPOINT_GGUF_H
