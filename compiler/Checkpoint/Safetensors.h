//===- Safetensors.h - One .safetensors file --------------------*- C++ -*-===//
//
// Maps a safetensors file and checks its whole header before anything is used.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_CHECKPOINT_SAFETENSORS_H
#define TENON_COMPILER_CHECKPOINT_SAFETENSORS_H

#include "compiler/Checkpoint/ElementType.h"
#include "runtime/Support/MappedFile.h"
#include "runtime/Support/Result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

/// Limits on what a header may ask for.
inline constexpr uint64_t MaxSafetensorsHeader = 100'000'000;
inline constexpr size_t MaxTensors = 1'000'000;
inline constexpr size_t MaxTensorDims = 8;
inline constexpr size_t MaxTensorName = 1024;

/// Reads a tensor whose file stores it in another form: in quantised blocks,
/// with its rows in another order, as a part of a larger one. Elements count in
/// the order of storage, and those asked for exist.
class TensorSource {
public:
  virtual ~TensorSource() = default;

  /// Writes elements [First, First + Count) to `Out` as f32. An error, without
  /// the tensor's name, when what is stored is no number.
  virtual Status readElements(int64_t First, int64_t Count,
                              float *Out) const = 0;
  /// As Checkpoint::dropElements.
  virtual void dropElements(int64_t First, int64_t Count) const = 0;

  /// The quantised format that the elements are stored in, in its blocks along
  /// rows; none when they are not, or when reading changes their values.
  virtual std::optional<StorageFormat> keptFormat() const { return {}; }
  /// Of a keptFormat(), writes the blocks of elements [First, First + Count),
  /// whole blocks, as readBlock() reads them. An error as of readElements.
  virtual Status readBlocks(int64_t First, int64_t Count, std::byte *Out) const;
  /// Of quantised elements without a keptFormat(), why there is none: what
  /// follows "matrices".
  virtual std::string_view whyWidened() const { return {}; }
};

/// A stored tensor. Bytes and File live as long as the file's owner.
struct TensorInfo {
  std::string Name;
  /// Meaningful only when isFloat().
  ElementType Type = ElementType::F32;
  /// Outermost dimension first, each at least 1; empty for a scalar.
  std::vector<int64_t> Shape;
  /// Whether the file has the last two dimensions the other way round, each
  /// column's elements side by side. TensorView reads such a tensor.
  bool ColumnsFirst = false;
  /// Elements in the order of storage, at any alignment. Empty unless
  /// isFloat(), so that no other type is taken for floats, and with a Source.
  /// Call File->checkUnchanged() before use.
  std::span<const std::byte> Bytes;
  /// What a safetensors file has of the tensor, whatever its type.
  std::span<const std::byte> Stored;
  /// Set when the file holds the tensor in another form than Bytes: it is then
  /// read through Checkpoint alone.
  std::shared_ptr<const TensorSource> Source;
  const MappedFile *File = nullptr;
  /// The type as the file spells it, such as "BF16", "I64" or "Q4_K".
  std::string StoredType;

  /// True for what Tenon reads: F32, F16, BF16, and all that has a Source.
  bool isFloat() const {
    return Source || StoredType == "F32" || StoredType == "F16" ||
           StoredType == "BF16";
  }

  /// The product of the shape, which the file's reader has checked.
  int64_t elements() const {
    int64_t Product = 1;
    for (int64_t Size : Shape)
      Product *= Size;
    return Product;
  }
};

/// A mapped safetensors file whose header has been checked: every tensor lies
/// inside the file, has as many bytes as its shape and type say, and the
/// tensors fill the data with neither gap nor overlap.
class SafetensorsFile {
public:
  /// Maps and checks the file at `Path`.
  static Result<SafetensorsFile> open(const std::string &Path);

  /// All tensors, sorted by name.
  const std::vector<TensorInfo> &tensors() const { return Tensors; }
  const std::string &path() const { return File->path(); }
  const MappedFile &mapping() const { return *File; }

private:
  explicit SafetensorsFile(std::unique_ptr<MappedFile> File)
      : File(std::move(File)) {}

  // Behind a pointer, for tensors keep its address while this object moves.
  std::unique_ptr<MappedFile> File;
  std::vector<TensorInfo> Tensors;
};

/// Checks that a tensor's or shard's `Name` has 1 to `MaxBytes` bytes and no
/// control characters, which would reach terminals through messages. `Where`
/// begins the error.
Status checkName(std::string_view Name, size_t MaxBytes,
                 const std::string &Where);

/// An error when `Content` is a Git LFS pointer, which stands where a large
/// file has not been downloaded.
Status refuseGitLfsPointer(std::string_view Content, const std::string &Path);

/// `Shape` as text: "[2, 3]".
std::string shapeText(std::span<const int64_t> Shape);

} // namespace tenon

#endif // TENON_COMPILER_CHECKPOINT_SAFETENSORS_H
