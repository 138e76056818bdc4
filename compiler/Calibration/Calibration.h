//===- Calibration.h - What a model's matrices multiply in a text -*- C++
//-*-===//
//
// Runs the compiled program of a model that is not quantised over a text, which
// it may have generated itself, and records the second moments of what its
// matrices are multiplied with.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_CALIBRATION_CALIBRATION_H
#define TENON_COMPILER_CALIBRATION_CALIBRATION_H

#include "compiler/Checkpoint/Checkpoint.h"
#include "compiler/Native/NativeProgram.h"
#include "compiler/Packing/InputStatistics.h"
#include "runtime/Abi/CpuLevel.h"
#include "runtime/Artifact/Manifest.h"
#include "runtime/Tokenizer/Tokenizer.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tenon {

/// Tokens that a text is cut into, and that caches hold.
inline constexpr int64_t CalibrationWindow = 512;
/// Fewer tokens say nothing of a model.
inline constexpr int64_t MinCalibrationTokens = 64;
inline constexpr int64_t DefaultCalibrationTokens = 2048;
/// Stands for texts that the model generates, where a text file is named.
inline constexpr const char *GeneratedText = "auto";
/// Tokens of each text that a model generates, and how many at once.
inline constexpr int64_t GeneratedWindow = 128;
inline constexpr int64_t GeneratedAtOnce = 16;

/// A text as a model reads it.
struct CalibrationText {
  /// Each begins with the special tokens that begin a text.
  std::vector<std::vector<int32_t>> Windows;
  int64_t Tokens = 0; ///< Of all windows.
  /// XXH3-64 of the whole text, of one that was read.
  std::optional<uint64_t> Checksum;
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

/// An error for a model that does not generate text; it begins as that of
/// checkCalibrated.
Status checkGenerates(const artifact::Manifest &Model);

struct CalibrationSettings {
  CpuLevel Level = CpuLevel::AVX2;
  /// Optional passes to leave out.
  std::vector<std::string> DisabledPasses;
  /// Told what is done, and the share of it, from 0 to 1.
  std::function<void(const std::string &, double)> Report;
};

/// How a model's texts begin and end.
struct TextEnds {
  /// Tokens that begin every text; without any, each begins with a token that
  /// is drawn from the vocabulary.
  std::vector<int32_t> Beginning;
  /// Tokens that end one.
  std::vector<int32_t> EndOfSequence;
};

/// Those of a model with the tokenizer `T`, if it has one.
Result<TextEnds> textEndsOf(const artifact::GenerationInfo &Generation,
                            const std::optional<tokenizer::Tokenizer> &T);

/// The program of a model that is not quantised.
class Calibrator {
public:
  /// Compiles `Model`, a module that has passed verification and that
  /// `Described` describes, for one thread per core. All its weights are in
  /// memory, packed, as long as the program. `Model`, `Described` and `Weights`
  /// outlive it.
  static Result<Calibrator> compile(mlir::ModuleOp Model,
                                    const artifact::Manifest &Described,
                                    const Checkpoint &Weights,
                                    const CalibrationSettings &Settings);

  /// Texts of `MaxTokens` tokens in all, at most, drawn from the model's own
  /// distribution, as "Self-calibration for language model quantization and
  /// pruning" (Williams, Chrysostomou and Aletras, 2024) does at temperature
  /// 1. A text that ends is followed by another in the same window. The same
  /// texts each time.
  Result<CalibrationText> generate(const TextEnds &Ends, int64_t MaxTokens);

  /// Runs the model over `Text`.
  Result<InputStatistics> record(const CalibrationText &Text);

private:
  Calibrator(mlir::ModuleOp Model, const artifact::Manifest &Described,
             const CalibrationSettings &Settings,
             std::unique_ptr<PackedWeights> Packed, NativeProgram Program);

  mlir::ModuleOp Model;
  const artifact::Manifest *Described;
  CalibrationSettings Settings;
  /// No text has it: it stands for an image.
  std::optional<int64_t> ImageToken;
  std::unique_ptr<PackedWeights> Packed;
  NativeProgram Program;
};

} // namespace tenon

#endif // TENON_COMPILER_CALIBRATION_CALIBRATION_H
