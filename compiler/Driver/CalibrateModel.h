//===- CalibrateModel.h - What --calibrate records --------------*- C++ -*-===//

#ifndef TENON_COMPILER_DRIVER_CALIBRATEMODEL_H
#define TENON_COMPILER_DRIVER_CALIBRATEMODEL_H

#include "compiler/Driver/Compile.h"
#include "compiler/Families/Import.h"
#include "compiler/Packing/WeightPacking.h"

#include <functional>

namespace tenon {

/// What a model's matrices were multiplied with while it read a text.
struct ModelCalibration {
  InputStatistics Inputs;
  /// What the artifact says of the text.
  Json Description;
};

/// Runs `Plain`, the model of `Options` as it is without --quantize, at
/// `Level`, on the text that the options ask for. `TokenizerText` is that of
/// its tokenizer.json, empty for none. An error when the model takes no text,
/// or generates none and is to.
Result<ModelCalibration>
calibrateModel(ImportedModel &Plain, const CompileOptions &Options,
               const std::string &TokenizerText, CpuLevel Level,
               std::function<void(const std::string &, double)> Progress);

/// Remarks what a text has changed of a weight, or that it has not.
void remarkQuantised(mlir::MLIRContext &Context,
                     const ModelCalibration &Calibrated,
                     const PackedWeight &Weight,
                     const QuantisationOutcome &Outcome);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_CALIBRATEMODEL_H
