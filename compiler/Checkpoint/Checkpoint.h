//===- Checkpoint.h - The weights of a model directory ----------*- C++ -*-===//
//
// One view of a model's tensors, whether stored in one file or in shards.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_CHECKPOINT_CHECKPOINT_H
#define TENON_COMPILER_CHECKPOINT_CHECKPOINT_H

#include "compiler/Checkpoint/Safetensors.h"

#include <set>

namespace tenon {

/// More shards than this are refused: each takes a mapping and a descriptor.
inline constexpr size_t MaxShards = 1000;

/// The tensors of a directory's model.safetensors, or of the shards that its
/// model.safetensors.index.json lists. TensorInfo pointers and the names stay
/// valid while the checkpoint lives, also when it is moved.
class Checkpoint {
public:
  /// Whether `Directory` has a file that open() would read.
  static bool isIn(const std::string &Directory);

  /// Opens the checkpoint in `Directory` and checks all of its headers. Pickle
  /// files (.bin, .pt, .pth, .ckpt) are never read: unpickling runs code.
  static Result<Checkpoint> open(const std::string &Directory);

  /// The given tensors of mapped files, such as the parts of a GGUF file, by
  /// name. Errors name the first file; one when two tensors have the same name.
  static Result<Checkpoint>
  fromTensors(std::vector<std::unique_ptr<MappedFile>> Files,
              std::vector<TensorInfo> Tensors);

  /// Puts `New` in the place of the tensors named `Old`, once; of a checkpoint
  /// of safetensors files, to whose bytes the sources of `New` may refer. An
  /// error when two have the same name.
  Status replace(const std::set<std::string_view> &Old,
                 std::vector<TensorInfo> New);

  /// The tensor named `Name`, of any type, or null.
  const TensorInfo *find(std::string_view Name) const;

  /// The tensor named `Name`; an error when it is missing, is not F32, F16 or
  /// BF16, or has another shape than `Shape`.
  Result<const TensorInfo *> require(std::string_view Name,
                                     std::span<const int64_t> Shape) const;

  /// The tensor named `Name`, of any shape; an error when it is not F32, F16 or
  /// BF16, or missing: "missing tensor 'NAME': expected EXPECTED".
  Result<const TensorInfo *> requireFloat(std::string_view Name,
                                          std::string_view Expected) const;

  /// The file that errors name: the only one, or the index of several.
  const std::string &path() const { return Path; }

  /// All names, sorted.
  std::vector<std::string_view> names() const;

  /// Writes rows [FirstRow, FirstRow + Rows) of `Tensor` to `Out` as f32,
  /// exactly; a row is all that one index of the first dimension selects (a
  /// scalar is one row of one). NaN and infinities are passed on. An error
  /// when the type is no float, a row is out of range, or the file shrank.
  Status readRowsAsFloat(const TensorInfo &Tensor, int64_t FirstRow,
                         int64_t Rows, float *Out) const;

  /// The same for elements [First, First + Count) in the order of storage,
  /// which is row-major unless the tensor has its ColumnsFirst.
  Status readElementsAsFloat(const TensorInfo &Tensor, int64_t First,
                             int64_t Count, float *Out) const;

  /// Tells the kernel that these rows will not be read again, so that reading
  /// a checkpoint front to back keeps little of it in memory. Reading them
  /// later still works. Rows out of range are clipped.
  void dropRows(const TensorInfo &Tensor, int64_t FirstRow, int64_t Rows) const;
  /// The same for elements [First, First + Count) in the order of storage.
  void dropElements(const TensorInfo &Tensor, int64_t First,
                    int64_t Count) const;
  /// dropRows for the whole tensor.
  void drop(const TensorInfo &Tensor) const;

  /// An error when one of the files is no longer what it was when it was
  /// opened; see MappedFile.
  Status checkUnchanged() const;

private:
  Checkpoint() = default;
  static Result<Checkpoint> openSharded(const std::string &Directory,
                                        const std::string &IndexPath);

  std::string Path;
  std::vector<SafetensorsFile> Files;
  // Of fromTensors.
  std::vector<std::unique_ptr<MappedFile>> Mapped;
  // What fromTensors or replace was given.
  std::vector<TensorInfo> Given;
  std::vector<const TensorInfo *> ByName;
};

/// Writes the elements of type `Type` that `Bytes` holds, at any alignment, to
/// `Out` as f32, exactly.
void widenToFloat(std::span<const std::byte> Bytes, ElementType Type,
                  float *Out);

} // namespace tenon

#endif // TENON_COMPILER_CHECKPOINT_CHECKPOINT_H
