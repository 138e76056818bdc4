//===- CalibrateModel.cpp - What --calibrate records ----------------------===//

#include "compiler/Driver/CalibrateModel.h"

#include "compiler/Calibration/Calibration.h"
#include "compiler/Manifest/ManifestBuilder.h"
#include "runtime/Tokenizer/Tokenizer.h"

#include "mlir/IR/Remarks.h"

#include <cinttypes>
#include <cmath>
#include <cstdio>

using namespace tenon;

Result<ModelCalibration> tenon::calibrateModel(
    ImportedModel &Plain, const CompileOptions &Options,
    const std::string &TokenizerText, CpuLevel Level,
    std::function<void(const std::string &, double)> Progress) {
  bool IsGenerated = Options.Calibrate == GeneratedText;
  std::optional<tokenizer::Tokenizer> T;
  if (!TokenizerText.empty()) {
    auto Read = tokenizer::Tokenizer::fromJson(TokenizerText, Options.Model);
    if (!Read)
      return Read.error();
    T = std::move(*Read);
  } else if (!IsGenerated) {
    return Error(Options.Model +
                 ": has no tokenizer: expected one for --calibrate");
  }
  mlir::ModuleOp Module = *Plain.Module;
  Result<Manifest> Described = describeModel(Module);
  if (!Described)
    return Described.error();
  if (Status Can = IsGenerated ? checkGenerates(*Described)
                               : checkCalibrated(*Described);
      !Can)
    return Can.error().withContext(Options.Model + ": --calibrate");
  int64_t MaxTokens =
      Options.CalibrateTokens.value_or(DefaultCalibrationTokens);
  CalibrationText Text;
  if (!IsGenerated) {
    auto Read =
        readCalibrationText(Options.Calibrate, *T, *Described, MaxTokens);
    if (!Read)
      return Read.error();
    Text = std::move(*Read);
  }
  auto Program =
      Calibrator::compile(Module, *Described, *Plain.Weights,
                          {Level, Options.DisabledPasses, std::move(Progress)});
  if (!Program)
    return Program.error().withContext("calibration");
  if (IsGenerated) {
    Result<TextEnds> Ends = textEndsOf(Plain.Generation, T);
    if (!Ends)
      return Ends.error();
    auto Generated = Program->generate(*Ends, MaxTokens);
    if (!Generated)
      return Generated.error().withContext("calibration");
    Text = std::move(*Generated);
  }
  Result<InputStatistics> Recorded = Program->record(Text);
  if (!Recorded)
    return Recorded.error().withContext("calibration");
  Json Description = {{"tokens", Text.Tokens}};
  if (Text.Checksum) {
    char Checksum[17];
    std::snprintf(Checksum, sizeof(Checksum), "%016" PRIx64, *Text.Checksum);
    Description["text_xxh3"] = Checksum;
  } else {
    Description["text"] = GeneratedText;
  }
  return ModelCalibration{std::move(*Recorded), std::move(Description)};
}

void tenon::remarkQuantised(mlir::MLIRContext &Context,
                            const ModelCalibration &Calibrated,
                            const PackedWeight &Weight,
                            const QuantisationOutcome &Outcome) {
  auto Share = [](double Error, double Square) {
    char Text[32];
    std::snprintf(Text, sizeof(Text), "%.3g %%",
                  Square == 0 ? 0 : 100 * std::sqrt(Error / Square));
    return std::string(Text);
  };
  const QuantisationError &E = Outcome.Error;
  std::string Text = Weight.name() + ": error " + Share(E.Error, E.Square);
  Text += Outcome.IsCalibrated
              ? ", of its outputs " + Share(E.OutputError, E.OutputSquare)
              : "; the text multiplied nothing with it";
  for (const std::string &Tensor : Weight.Sources)
    if (size_t Unseen = Calibrated.Inputs.unseen(Tensor).size())
      Text += "; " + std::to_string(Unseen) + " of " +
              std::to_string(Weight.Type.getCount()) +
              " experts got no token and have the weights of all";
  auto Remark = mlir::remark::analysis(
      mlir::UnknownLoc::get(&Context),
      mlir::remark::RemarkOpts::name("Calibrate").category("packing"));
  Remark << Text;
}
