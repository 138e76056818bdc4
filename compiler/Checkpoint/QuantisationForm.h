//===- QuantisationForm.h - What quantization_config says -------*- C++ -*-===//

#ifndef TENON_COMPILER_CHECKPOINT_QUANTISATIONFORM_H
#define TENON_COMPILER_CHECKPOINT_QUANTISATIONFORM_H

#include "compiler/Checkpoint/Config.h"

namespace tenon {

/// What a quantization_config says of the tensors beside it.
struct QuantisationForm {
  /// `quant_method`.
  enum class Method { GPTQ, AWQ, CompressedTensors, FP8, MXFP4 };
  Method Kind;
  /// Of an integer; of compressed-tensors those that its groups of layers have.
  std::vector<int64_t> Bits = {};
  /// Of GPTQ: input features that share a scale; none when all do.
  std::optional<int64_t> GroupSize = {};
  /// Of GPTQ: zero points are stored minus one, as before checkpoint_format
  /// gptq_v2.
  bool ZerosLessOne = false;
  /// Of FP8: output and input features that share a scale.
  std::vector<int64_t> Tile = {};
};

/// The method that `quant_method` names; none for one that is not read.
std::optional<QuantisationForm::Method> quantMethodNamed(std::string_view Name);

/// Reads a quantization_config of one of these methods. An error for what is
/// not read: AWQ's other layouts, rotations, sparsity. Keys that never say what
/// the stored numbers are count as read.
Result<QuantisationForm> readQuantisationForm(QuantisationForm::Method Method,
                                              const Config &Settings);

} // namespace tenon

#endif // TENON_COMPILER_CHECKPOINT_QUANTISATIONFORM_H
