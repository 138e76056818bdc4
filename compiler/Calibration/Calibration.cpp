//===- Calibration.cpp - What a model's matrices multiply in a text -------===//

#include "compiler/Calibration/Calibration.h"

#include "compiler/Native/NativeProgram.h"
#include "runtime/Artifact/Format.h"
#include "runtime/Tool/Arguments.h"
#include "runtime/Tool/Evaluation.h"

#include <algorithm>

using namespace mlir;
using namespace tenon;

Result<CalibrationText>
tenon::readCalibrationText(const std::string &Path,
                           const tokenizer::Tokenizer &T,
                           const artifact::Manifest &Model, int64_t MaxTokens) {
  std::string Name = Path == "-" ? "standard input" : Path;
  Result<std::string> Content = tool::readText(Path);
  if (!Content)
    return Content.error();
  if (Content->empty())
    return Error(Name + ": empty: expected text");
  Result<tool::TextTokens> Read = tool::tokensOf(T, *Content);
  if (!Read)
    return Read.error().withContext(Name);
  auto Length = static_cast<int64_t>(Read->Ids.size());
  if (Length < MinCalibrationTokens)
    return Error(Name + ": " + std::to_string(Length) +
                 (Length == 1 ? " token" : " tokens") + ": expected at least " +
                 std::to_string(MinCalibrationTokens) + " to calibrate with");
  for (int32_t Id : Read->Ids)
    if (Id < 0 || Id >= Model.Vocabulary)
      return Error(Name + ": token id " + std::to_string(Id) +
                   ": expected 0 to " + std::to_string(Model.Vocabulary - 1) +
                   ", the vocabulary of the model");

  CalibrationText Text;
  Text.Checksum = artifact::checksumOf(
      std::as_bytes(std::span(Content->data(), Content->size())));
  auto Begin = std::span<const int32_t>(Read->Ids).first(Read->Beginning);
  auto Own = std::span<const int32_t>(Read->Ids).subspan(Read->Beginning);
  size_t Window = static_cast<size_t>(
      std::min({CalibrationWindow, Model.MaxSequence, MaxTokens}));
  if (Window <= Begin.size())
    return Error(Name + ": " + std::to_string(Begin.size()) +
                 " tokens begin a text: expected fewer than " +
                 std::to_string(Window) + ", those of a window");
  size_t Step = Window - Begin.size();
  size_t Pieces = (Own.size() + Step - 1) / Step;
  size_t Wanted = std::min(
      Pieces, std::max<size_t>(static_cast<size_t>(MaxTokens) / Window, 1));
  for (size_t I = 0; I < Wanted; ++I) {
    size_t From = I * Pieces / Wanted * Step;
    auto Part = Own.subspan(From, std::min(Step, Own.size() - From));
    std::vector<int32_t> &Ids = Text.Windows.emplace_back();
    Ids.assign(Begin.begin(), Begin.end());
    Ids.insert(Ids.end(), Part.begin(), Part.end());
    Text.Tokens += static_cast<int64_t>(Ids.size());
  }
  return Text;
}

Status tenon::checkCalibrated(const artifact::Manifest &Model) {
  const char *Kind = nullptr;
  if (Model.MaxSource != 0)
    Kind = "an encoder-decoder";
  // Of a model that reads images in its text, the text says enough.
  bool HasStep = false, TakesImages = false;
  for (const artifact::EntryInfo &Entry : Model.Entries) {
    HasStep |= Entry.Role == "step";
    TakesImages |= Entry.Role == "encode_image";
  }
  if (TakesImages && !HasStep)
    Kind = "a vision model";
  if (!Kind)
    return {};
  return Error("this model is " + std::string(Kind) +
               ": expected a decoder or an encoder of texts");
}

/// Rows of output of a window: a few of a decoder, whose rows of logits are
/// long, all of an encoder.
static std::vector<int64_t> outputRows(int64_t Tokens, bool IsStep) {
  constexpr int64_t Every = 4;
  std::vector<int64_t> Rows;
  for (int64_t Row = 0; Row < Tokens; ++Row)
    if (!IsStep || Row % Every == Every - 1 || Row == Tokens - 1)
      Rows.push_back(Row);
  return Rows;
}

Result<InputStatistics>
tenon::recordInputs(ModuleOp Model, const artifact::Manifest &Described,
                    const Checkpoint &Weights, const CalibrationText &Text,
                    const CalibrationSettings &Settings) {
  NativeOptions Options;
  Options.Settings.Level = Settings.Level;
  Options.Settings.MaxTokens = 1;
  for (const std::vector<int32_t> &Window : Text.Windows)
    Options.Settings.MaxTokens = std::max(Options.Settings.MaxTokens,
                                          static_cast<int64_t>(Window.size()));
  Options.Settings.Disabled = Settings.DisabledPasses;
  // Else the last layer would see the rows of output only.
  Options.Settings.Disabled.push_back("bubble-up-select");
  Options.Shown = Observed::Inputs;
  Options.Threads = 0;
  Options.MaxPositions = Options.Settings.MaxTokens;
  Options.MaxSequences = 1;

  OwningOpRef<ModuleOp> Placed = Model.clone();
  if (Status Lowered = runStages(*Placed, Options.Settings,
                                 StageId::Transformer, StageId::Placed);
      !Lowered)
    return Lowered.error();
  PackedWeights Packed(Weights);
  Result<NativeProgram> Program =
      NativeProgram::compile(*Placed, Packed, Options);
  if (!Program)
    return Program.error();

  InputStatistics Inputs;
  Program->observeInputs(
      [&](const PackedWeight &Weight, int64_t Matrix, const Tensor2D &Rows) {
        Inputs.add(Weight.Sources, Weight.Type.getCount(), Matrix, Rows);
      });
  // A text has no images for it to stand for.
  std::optional<int64_t> ImageToken;
  Model.walk([&](transformer::MergeFeaturesOp Op) {
    ImageToken = static_cast<int64_t>(Op.getToken());
  });
  double Done = 0;
  for (const std::vector<int32_t> &Window : Text.Windows) {
    for (const artifact::EntryInfo &Entry : Described.Entries) {
      if (Entry.Role == "encode_image")
        continue;
      // The same sequence again: what its caches held is written over.
      EvaluatorBatch Batch;
      std::vector<int64_t> Ids(Window.begin(), Window.end());
      if (ImageToken)
        std::erase(Ids, *ImageToken);
      if (Ids.empty())
        continue;
      Batch.add(0, Ids, 0, 0);
      Batch.OutputRows = outputRows(Batch.tokens(), Entry.Role == "step");
      if (Result<Tensor2D> Ran = Program->run(Entry.Role, Batch); !Ran)
        return Ran.error();
    }
    Done += static_cast<double>(Window.size());
    if (Settings.Report)
      Settings.Report(Done / static_cast<double>(Text.Tokens));
  }
  return Inputs;
}
