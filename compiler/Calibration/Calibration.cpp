//===- Calibration.cpp - What a model's matrices multiply in a text -------===//

#include "compiler/Calibration/Calibration.h"

#include "runtime/Artifact/Format.h"
#include "runtime/Sampling/Philox.h"
#include "runtime/Sampling/Sampler.h"
#include "runtime/Tool/Arguments.h"
#include "runtime/Tool/Evaluation.h"

#include "llvm/ADT/ScopeExit.h"

#include <algorithm>
#include <limits>

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

Status tenon::checkGenerates(const artifact::Manifest &Model) {
  if (Status Can = checkCalibrated(Model); !Can)
    return Can;
  for (const artifact::EntryInfo &Entry : Model.Entries)
    if (Entry.Role == "step" && Entry.Output == OutputKind::Logits)
      return {};
  return Error("this model generates no text: expected a decoder with a head, "
               "or a text file");
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

Calibrator::Calibrator(ModuleOp Model, const artifact::Manifest &Described,
                       const CalibrationSettings &Settings,
                       std::unique_ptr<PackedWeights> Packed,
                       NativeProgram Program)
    : Model(Model), Described(&Described), Settings(Settings),
      Packed(std::move(Packed)), Program(std::move(Program)) {
  this->Model.walk([&](transformer::MergeFeaturesOp Op) {
    ImageToken = static_cast<int64_t>(Op.getToken());
  });
}

Result<Calibrator> Calibrator::compile(ModuleOp Model,
                                       const artifact::Manifest &Described,
                                       const Checkpoint &Weights,
                                       const CalibrationSettings &Settings) {
  NativeOptions Options;
  Options.Settings.Level = Settings.Level;
  Options.Settings.MaxTokens =
      std::min(CalibrationWindow, Described.MaxSequence);
  Options.Settings.Disabled = Settings.DisabledPasses;
  // Else the last layer would see the rows of output only.
  Options.Settings.Disabled.push_back("bubble-up-select");
  Options.Shown = Observed::Inputs;
  Options.Threads = 0;
  Options.MaxPositions = Options.Settings.MaxTokens;
  Options.MaxSequences = GeneratedAtOnce;

  OwningOpRef<ModuleOp> Placed = Model.clone();
  if (Status Lowered = runStages(*Placed, Options.Settings,
                                 StageId::Transformer, StageId::Placed);
      !Lowered)
    return Lowered.error();
  auto Packed = std::make_unique<PackedWeights>(Weights);
  Result<NativeProgram> Program =
      NativeProgram::compile(*Placed, *Packed, Options);
  if (!Program)
    return Program.error();
  return Calibrator(Model, Described, Settings, std::move(Packed),
                    std::move(*Program));
}

//===----------------------------------------------------------------------===//
// Generating
//===----------------------------------------------------------------------===//

Result<TextEnds>
tenon::textEndsOf(const artifact::GenerationInfo &Generation,
                  const std::optional<tokenizer::Tokenizer> &T) {
  TextEnds Ends;
  Ends.EndOfSequence = Generation.EndOfSequence;
  if (!T)
    return Ends;
  // The tokenizer may add nothing to an empty text.
  Result<tool::TextTokens> Tokens = tool::tokensOf(*T, "a");
  if (!Tokens)
    return Tokens.error();
  Tokens->Ids.resize(Tokens->Beginning);
  Ends.Beginning = std::move(Tokens->Ids);
  return Ends;
}

Result<CalibrationText> Calibrator::generate(const TextEnds &Ends,
                                             int64_t MaxTokens) {
  int64_t Window =
      std::min({GeneratedWindow, Described->MaxSequence, MaxTokens});
  int64_t Count = MaxTokens / Window;
  Result<sampling::Sampler> Sampler =
      sampling::Sampler::create({.Temperature = 1, .Seed = 0});
  if (!Sampler)
    return Sampler.error();
  auto BeginningOf = [&](int64_t Number) {
    if (!Ends.Beginning.empty())
      return Ends.Beginning.front();
    auto Token = static_cast<int64_t>(
        sampling::uniformAt(0, static_cast<uint32_t>(Number), 0) *
        static_cast<double>(Described->Vocabulary));
    // Another token for that of images.
    return static_cast<int32_t>(Token == ImageToken ? Token == 0 : Token);
  };

  CalibrationText Text;
  for (int64_t First = 0; First < Count; First += GeneratedAtOnce) {
    int64_t Sequences = std::min(GeneratedAtOnce, Count - First);
    // How many tokens of the beginning each text has so far.
    std::vector<size_t> Begun(static_cast<size_t>(Sequences), 1);
    for (int64_t S = 0; S < Sequences; ++S)
      Text.Windows.push_back({BeginningOf(First + S)});
    auto Windows = std::span(Text.Windows).last(static_cast<size_t>(Sequences));
    for (int64_t Position = 0; Position + 1 < Window; ++Position) {
      EvaluatorBatch Batch;
      for (int64_t S = 0; S < Sequences; ++S)
        Batch.add(S, {{Windows[static_cast<size_t>(S)].back()}}, Position, 1);
      Result<Tensor2D> Logits = Program.run("step", Batch);
      if (!Logits)
        return Logits.error();
      for (int64_t S = 0; S < Sequences; ++S) {
        auto Place = static_cast<size_t>(S);
        if (Begun[Place] < Ends.Beginning.size()) {
          Windows[Place].push_back(Ends.Beginning[Begun[Place]++]);
          continue;
        }
        std::span<float> Scores(Logits->row(S),
                                static_cast<size_t>(Logits->Columns));
        if (ImageToken)
          Scores[static_cast<size_t>(*ImageToken)] =
              -std::numeric_limits<float>::infinity();
        Result<int32_t> Token = Sampler->pick(Scores, Position + 1,
                                              static_cast<uint32_t>(First + S));
        if (!Token)
          return Token.error();
        Windows[Place].push_back(*Token);
        if (llvm::is_contained(Ends.EndOfSequence, *Token))
          Begun[Place] = 0;
      }
      if (Settings.Report)
        Settings.Report(
            "generating text to calibrate with",
            static_cast<double>(First * Window + Sequences * (Position + 2)) /
                static_cast<double>(Count * Window));
    }
  }
  Text.Tokens = Count * Window;
  return Text;
}

//===----------------------------------------------------------------------===//
// Recording
//===----------------------------------------------------------------------===//

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

Result<InputStatistics> Calibrator::record(const CalibrationText &Text) {
  InputStatistics Inputs;
  Program.observeInputs(
      [&](const PackedWeight &Weight, int64_t Matrix, const Tensor2D &Rows) {
        Inputs.add(Weight.Sources, Weight.Type.getCount(), Matrix, Rows);
      });
  llvm::scope_exit Unobserved([&] { Program.observeInputs({}); });
  double Done = 0;
  for (const std::vector<int32_t> &Window : Text.Windows) {
    for (const artifact::EntryInfo &Entry : Described->Entries) {
      // Of a model that reads images in its text, the text says enough.
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
      if (Result<Tensor2D> Ran = Program.run(Entry.Role, Batch); !Ran)
        return Ran.error();
    }
    Done += static_cast<double>(Window.size());
    if (Settings.Report)
      Settings.Report("calibrating", Done / static_cast<double>(Text.Tokens));
  }
  return Inputs;
}
