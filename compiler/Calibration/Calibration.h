//===- Calibration.h - What a model's matrices multiply in a text -*- C++
//-*-===//
//
// Runs the compiled program of a model that is not quantised over a text and
// records the mean squares of what its matrices are multiplied with.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_CALIBRATION_CALIBRATION_H
#define TENON_COMPILER_CALIBRATION_CALIBRATION_H

#include "compiler/Checkpoint/Checkpoint.h"
#include "compiler/Packing/InputStatistics.h"
#include "runtime/Abi/CpuLevel.h"
#include "runtime/Artifact/Manifest.h"
#include "runtime/Tokenizer/Tokenizer.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <string>
#include <vector>

namespace tenon {

/// Tokens that a text is cut into, and that caches hold.
inline constexpr int64_t CalibrationWindow = 512;
/// Fewer tokens say nothing of a model.
inline constexpr int64_t MinCalibrationTokens = 64;
inline constexpr int64_t DefaultCalibrationTokens = 4096;

/// A text as a model reads it.
struct CalibrationText {
  /// Each begins with the special tokens that begin a text.
  std::vector<std::vector<int32_t>> Windows;
  int64_t Tokens = 0;    ///< Of all windows.
  uint64_t Checksum = 0; ///< XXH3-64 of the whole text.
};

/// Cuts the file `Path`, or standard input ("-"), into windows for `Model`; of
/// a longer text windows of at most `MaxTokens` tokens in all, from all over
/// it. An error for an empty file, one of fewer than MinCalibrationTokens
/// tokens, and ids that the model does not know.
Result<CalibrationText> readCalibrationText(const std::string &Path,
                                            const tokenizer::Tokenizer &T,
                                            const artifact::Manifest &Model,
                                            int64_t MaxTokens);

/// An error for a model that does not read one text token by token; it begins
/// with what the model is.
Status checkCalibrated(const artifact::Manifest &Model);

struct CalibrationSettings {
  CpuLevel Level = CpuLevel::AVX2;
  /// Optional passes to leave out.
  std::vector<std::string> DisabledPasses;
  /// Told the share done, from 0 to 1.
  std::function<void(double)> Report;
};

/// Runs `Model`, a module that has passed verification and that `Described`
/// describes, over `Text`, with one thread per core. All its weights are in
/// memory, packed, meanwhile.
Result<InputStatistics> recordInputs(mlir::ModuleOp Model,
                                     const artifact::Manifest &Described,
                                     const Checkpoint &Weights,
                                     const CalibrationText &Text,
                                     const CalibrationSettings &Settings);

} // namespace tenon

#endif // TENON_COMPILER_CALIBRATION_CALIBRATION_H
