//===- Compile.cpp - From a model description to an artifact --------------===//

#include "compiler/Driver/Compile.h"

#include "compiler/Checkpoint/ChatFiles.h"
#include "compiler/Checkpoint/Gguf.h"
#include "compiler/Driver/CalibrateModel.h"
#include "compiler/Driver/Diagnostics.h"
#include "compiler/Driver/DumpStages.h"
#include "compiler/Driver/ShownProgress.h"
#include "compiler/Driver/StageState.h"
#include "compiler/Driver/TokenizerNotes.h"
#include "compiler/Estimate/Estimate.h"
#include "compiler/Families/Import.h"
#include "compiler/Manifest/ManifestBuilder.h"
#include "compiler/Native/NativeCode.h"
#include "compiler/Packing/WeightPacking.h"
#include "compiler/Prefixes/BakePrefixes.h"
#include "dialects/Transformer/ModelVerifier.h"
#include "passes/Packing/Passes.h"
#include "passes/Pipelines/Pipelines.h"
#include "passes/Verify/Passes.h"
#include "runtime/Artifact/Artifact.h"
#include "runtime/Support/Console.h"
#include "runtime/Support/InputFile.h"
#include "runtime/Tokenizer/Tokenizer.h"

#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <filesystem>

using namespace tenon;

namespace {

bool isMlirFile(const std::string &Path) {
  return llvm::StringRef(Path).ends_with(".mlir");
}

std::string directoryOf(const std::string &Path) {
  llvm::StringRef Parent = llvm::sys::path::parent_path(Path);
  return Parent.empty() ? "." : Parent.str();
}

ImportOptions importOptions(const CompileOptions &Options) {
  ImportOptions Import;
  Import.MatrixType = Options.MatrixType;
  Import.RequantisedTo = Options.Quantize;
  if (Options.Quantize != "none")
    Import.Requantises = [&Options](std::string_view Name,
                                    std::span<const int64_t> Shape) {
      return mayQuantize(Options.QuantizeExclude, Name,
                         {Shape.data(), Shape.size()});
    };
  Import.MaxSequence = Options.MaxSequence;
  Import.IgnoredKeys = Options.IgnoredConfigKeys;
  return Import;
}

/// What people should know of a model, one line each on stderr.
void printNotes(const ImportedModel &Model) {
  for (const std::string &Note : Model.Notes)
    printNote(Note);
}

/// Whether a compilation wrote this file, which may be replaced by the next.
bool isCompiled(const std::filesystem::path &Path) {
  if (Path.extension() == ".mlir" || Path.extension() == ".s")
    return true;
  Result<bool> Packed = isArtifact(Path);
  return Packed && *Packed;
}

/// The files that must not become an output: `Path`, or what belongs to the
/// checkpoint in that directory.
void addInputs(const std::string &Path, std::vector<std::string> &Files) {
  std::error_code Failure;
  if (!std::filesystem::is_directory(Path, Failure)) {
    llvm::append_range(Files, ggufPartsOf(Path));
    return;
  }
  // Some checkpoints have parts in folders of their own.
  constexpr int MaxDepth = 2;
  std::filesystem::recursive_directory_iterator Next(Path, Failure), End;
  for (; !Failure && Next != End; Next.increment(Failure)) {
    if (Next.depth() == MaxDepth)
      Next.disable_recursion_pending();
    std::error_code Ignored;
    if (Next->is_regular_file(Ignored) && !isCompiled(Next->path()))
      Files.push_back(Next->path());
  }
}

/// One compilation: the model level once, then each CPU level from `placed` on.
class Compilation {
public:
  explicit Compilation(const CompileOptions &Options)
      : Options(Options), Shown(Options.Progress) {}

  Status run() {
    mlir::DialectRegistry Registry;
    registerDialects(Registry);
    registerNativeTranslations(Registry);
    Context.appendDialectRegistry(Registry);
    Context.loadAllAvailableDialects();
    Context.disableMultithreading();
    if (Options.Remarks)
      enableRemarks();
    Diagnostics Caught(Context);
    Messages = &Caught;

    std::vector<std::string> Inputs;
    addInputs(Options.Model, Inputs);
    addInputs(Options.Weights, Inputs);
    if (!Options.Prefix.empty()) {
      Inputs.push_back(Options.Prefix);
      if (Status Read = readPrefixes(); !Read)
        return Read;
    }
    // Before there is work that could be lost.
    if (!Options.Output.empty() && Options.Output != "-") {
      Result<OutputFile> Created = OutputFile::create(Options.Output, Inputs);
      if (!Created)
        return Created.error();
      Out = std::move(*Created);
    }
    Result<StageDumper> Dumps =
        StageDumper::create(Options.DumpDirectory, std::move(Inputs));
    if (!Dumps)
      return Dumps.error();
    Dumper = std::move(*Dumps);
    Status Done = Options.FromStage.empty() ? compileModel() : compileDump();
    if (!Done)
      return Dumper.afterFailure(Done.error());
    Shown.clear();
    printNotes(*Model);
    return {};
  }

private:
  /// What --prefix asks for, as far as it can be checked before there is a
  /// model.
  Status readPrefixes() {
    Result<CpuLevel> Machine = effectiveLevel();
    if (!Machine)
      return Machine.error();
    if (llvm::none_of(Options.Levels, [&](CpuLevel Level) {
          return tenon::runs(Level, *Machine);
        }))
      return Error("--prefix runs the model: expected a --target-cpu that runs "
                   "here, at most " +
                   std::string(infoOf(*Machine).Name));
    Result<std::vector<PrefixLine>> Read = readPrefixLines(Options.Prefix);
    if (!Read)
      return Read.error();
    Prefixes = std::move(*Read);
    return {};
  }

  void enableRemarks() {
    mlir::remark::RemarkCategories Categories;
    Categories.passed = Categories.missed = Categories.analysis = ".*";
    (void)mlir::remark::enableOptimizationRemarks(
        Context, nullptr,
        std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(), Categories,
        /*printAsEmitRemarks=*/true);
  }

  //===--- From a model description ---------------------------------------===//

  Status compileModel() {
    Shown.show("reading the model");
    ImportOptions Import = importOptions(Options);
    // A config alone is enough for its IR.
    Import.ConfigOnly = llvm::StringRef(Options.Model).ends_with(".json");
    Result<ImportedModel> Imported =
        importNamed(Context, Options.Model, Options.Weights, Import);
    if (!Imported)
      return Imported.error();
    Model = std::move(*Imported);
    if (wantsArtifact() && !Model->Weights)
      return Error(
          Options.Model + ": has no weights: expected " +
          (isMlirFile(Options.Model)
               ? "--weights DIRECTORY"
               : "the directory of the model: " + directoryOf(Options.Model)));
    if (wantsArtifact())
      if (Status Set = setToolFormat(); !Set)
        return Set;
    mlir::ModuleOp Module = *Model->Module;
    if (!Options.Calibrate.empty())
      if (Status Done = calibrate(); !Done)
        return Done;
    setProducts(Module);
    StageState State;
    Result<Manifest> Described = describeModel(Module);
    if (!Described)
      return Described.error();
    State.Model = std::move(*Described);
    if (Options.KvCache == "int8" &&
        llvm::any_of(State.Model.Caches, [](const CacheInfo &Cache) {
          return Cache.Form == LatentForm;
        }))
      return Error("--kv-cache is 'int8': expected auto, f32 or bf16, as the "
                   "cache of " +
                   Options.Model + " keeps latent vectors");
    for (const EntryInfo &Entry : State.Model.Entries)
      if (wantsArtifact() && Entry.Features != 0 && !Model->Image)
        return Error(Options.Model + ": entry '" + Entry.Role +
                     "' takes images, and nothing says how they become rows: "
                     "expected a Hugging Face directory for an artifact");
    Result<ModelEstimate> Estimate = estimateModel(Module);
    if (!Estimate)
      return Estimate.error();
    complete(State.Model, *Estimate);
    if (const std::optional<ImageInfo> &Image = State.Model.Image;
        Image && Image->patches() + 1 > State.Model.MaxTokensPerStep)
      return Error("--max-tokens-per-step is " +
                   std::to_string(State.Model.MaxTokensPerStep) +
                   ": expected at least " +
                   std::to_string(Image->patches() + 1) +
                   ", the tokens of an image of " + Options.Model);
    if (std::optional<UnusedPattern> Unused =
            findUnusedPattern(Module, Options.QuantizeExclude))
      return Error("--quantize-exclude is '" + Unused->Pattern +
                   "': expected names of matrices of " + Options.Model +
                   ", such as '" + Unused->Matrix + "'");
    return lower(Module, std::move(State), StageId::Transformer);
  }

  /// What --tool-format says goes before what the template says.
  Status setToolFormat() {
    if (Options.ToolFormat.empty()) {
      if (Model->Chat)
        if (std::optional<std::string> Note = noteOnToolCalls(*Model->Chat))
          Model->Notes.push_back(std::move(*Note));
      return {};
    }
    if (!Model->Chat)
      return Error(Options.Model +
                   ": --tool-format: the model has no chat template: expected "
                   "one that tells it which tools there are");
    Model->Chat->ToolFormat =
        Options.ToolFormat == "none" ? "" : Options.ToolFormat;
    return {};
  }

  /// What products with quantised weights are made of, unless the model says;
  /// activations are exact if either does.
  void setProducts(mlir::ModuleOp Module) {
    IsQuantised = Options.Quantize != "none" || isQuantised(Module);
    if (!IsQuantised)
      return;
    auto Set = [&](llvm::StringRef Name, llvm::StringRef Text) {
      Module->setAttr(Name, mlir::StringAttr::get(&Context, Text));
    };
    if (!Module->hasAttr(transformer::attr::ComputeType))
      Set(transformer::attr::ComputeType,
          nameOf(Options.MatrixType.value_or(ElementType::BF16)));
    IsExact = Options.Activations == "exact" || transformer::isExact(Module);
    Set(transformer::attr::Activations, IsExact ? "exact" : "auto");
  }

  void complete(Manifest &M, const ModelEstimate &Estimate) {
    M.WeightType = Model->StoredType;
    M.MaxTokensPerStep = Options.MaxTokensPerStep.value_or(
        defaultTokensPerStep(M, *Model->Module));
    M.FewTokens = Options.FewTokens.value_or(
        defaultFewTokens(*Model->Module, IsQuantised, Options.Levels));
    M.MaxTextTokens = Model->MaxTextTokens;
    M.Generation = Model->Generation;
    M.Labels = Model->Labels;
    M.Image = Model->Image;
    M.Estimates = toJson(Estimate);
    M.Compiled = {{"dtype", Model->StoredType},
                  {"max_tokens_per_step", M.MaxTokensPerStep},
                  {"few_tokens", M.FewTokens}};
    setCompiledLevels(M, Levels);
    if (IsQuantised)
      M.Compiled["activations"] = IsExact ? "exact" : "auto";
    if (Calibrated)
      M.Compiled["calibration"] = Calibrated->Description;
  }

  //===--- Calibration ----------------------------------------------------===//

  /// Records what the model's matrices are multiplied with, by running it as it
  /// is without --quantize, in bf16 unless --dtype says otherwise.
  Status calibrate() {
    Result<CpuLevel> Level = effectiveLevel();
    if (!Level)
      return Level.error();
    if (Status Read = readTokenizer(); !Read)
      return Read;
    ImportOptions Plain = importOptions(Options);
    Plain.MatrixType = Options.MatrixType.value_or(ElementType::BF16);
    Plain.Requantises = [](std::string_view, std::span<const int64_t>) {
      return true;
    };
    Result<ImportedModel> Imported =
        importNamed(Context, Options.Model, Options.Weights, Plain);
    if (!Imported)
      return Imported.error();
    Shown.show("compiling to calibrate");
    Result<ModelCalibration> Done =
        calibrateModel(*Imported, Options, TokenizerText, *Level,
                       [&](const std::string &What, double Share) {
                         Shown.show(What, Share);
                       });
    if (!Done)
      return Done.error();
    Calibrated.emplace(std::move(*Done));
    return {};
  }

  QuantisationSettings quantisation() {
    QuantisationSettings Settings;
    if (!Calibrated)
      return Settings;
    Settings.Inputs = &Calibrated->Inputs;
    Settings.Measure = Options.Remarks;
    Settings.Done = [this](const PackedWeight &Weight,
                           const QuantisationOutcome &Outcome) {
      if (Outcome.IsKept)
        KeptBlocks.push_back(Weight.name());
      else if (Options.Remarks)
        remarkQuantised(Context, *Calibrated, Weight, Outcome);
    };
    return Settings;
  }

  /// A note when a text could not change some of the weights.
  void noteKept() {
    if (KeptBlocks.empty())
      return;
    Model->Notes.push_back(
        Options.Model + ": --calibrate changes nothing of " +
        std::to_string(KeptBlocks.size()) +
        " quantised matrices, which stay in the format that they are stored "
        "in; the first is " +
        printable(KeptBlocks.front()));
  }

  //===--- From a dump ----------------------------------------------------===//

  /// Goes on behind the stage that the dump was written after.
  Status compileDump() {
    std::optional<StageId> After = stageNamed(Options.FromStage);
    if (!After)
      return Error("--from-stage is '" + Options.FromStage +
                   "': expected a stage");
    PipelineOptions Defaults;
    llvm::StringSet<> Left;
    for (const Stage &S : stages())
      for (const StagePass &Entry : S.Passes)
        if (S.Id > *After)
          Left.insert(Entry.Create(Defaults)->getArgument());
    for (const std::string &Pass : Options.DisabledPasses)
      if (!Left.contains(Pass))
        return Error("--disable-pass is '" + Pass +
                     "': expected a pass behind the stage '" +
                     Options.FromStage + "'");
    Shown.show("reading the dump");
    Result<LoadedStage> Loaded =
        readStage(Context, Options.Model, Options.FromStage);
    if (!Loaded)
      return Loaded.error();
    Model.emplace();
    if (Status Valid = checkDump(*Loaded->Module, *After); !Valid)
      return Valid;
    if (Status Described = describeStage(*Loaded->Module, *After, Options.Model,
                                         Loaded->State);
        !Described)
      return Described;
    if (lastStage() == After) {
      Result<bool> Written = emitted(*Loaded->Module);
      return Written ? Status() : Status(Written.error());
    }
    if (wantsArtifact()) {
      if (Status Opened = openWeights(); !Opened)
        return Opened;
      if (Status Set = setToolFormat(); !Set)
        return Set;
    }
    size_t Next = static_cast<size_t>(*After) + 1;
    // From placement on a dump is of one level, perhaps of several.
    if (*After >= StageId::Placed)
      setCompiledLevels(Loaded->State.Model, {Loaded->State.Code.Level});
    auto Wanted = compiledLevels(Loaded->State.Model, Options.Model);
    if (!Wanted)
      return Wanted.error();
    Levels = std::move(*Wanted);
    if (Next == StageCount) {
      Result<bool> Done = finishLevel(*Loaded->Module, Loaded->State);
      if (!Done || *Done)
        return Done ? Status() : Status(Done.error());
      return writeArtifact(std::move(Loaded->State));
    }
    return lower(*Loaded->Module, std::move(Loaded->State), stages()[Next].Id);
  }

  /// Checks that what somebody may have edited is what a stage makes.
  Status checkDump(mlir::ModuleOp Module, StageId Stage) {
    PipelineOptions Defaults;
    mlir::PassManager Gate(&Context);
    Gate.addPass(
        stages()[static_cast<size_t>(Stage)].Passes.back().Create(Defaults));
    if (mlir::succeeded(Gate.run(Module)) &&
        (Stage != StageId::Fused ||
         mlir::succeeded(transformer::verifyFusedModel(Module))) &&
        (Stage != StageId::Placed ||
         mlir::succeeded(transformer::verifyInterface(Module))) &&
        (Stage != StageId::Buffers || mlir::succeeded(verifyHandles(Module))))
      return {};
    return Messages->error("stage " + Options.FromStage);
  }

  /// The checkpoint, and the tokenizer beside it, of a dump: a model directory,
  /// a GGUF file, or a directory with nothing but weights.
  Status openWeights() {
    if (Result<ImportedModel> Whole =
            importModel(Context, Options.Weights, importOptions(Options))) {
      Model = std::move(*Whole);
      return {};
    }
    Result<Checkpoint> Weights = Checkpoint::open(Options.Weights);
    if (!Weights)
      return Weights.error();
    Model->Weights = std::move(*Weights);
    return {};
  }

  //===--- Stages ---------------------------------------------------------===//

  /// The stage whose IR is asked for; none for assembly and artifacts.
  std::optional<StageId> lastStage() const {
    return stageNamed(Options.UntilAfter.empty() ? Options.Emit
                                                 : Options.UntilAfter);
  }
  bool wantsArtifact() const {
    return Options.Emit == "artifact" && Options.UntilAfter.empty();
  }

  /// Runs stages [First, Last]; true in the result when the IR of one of them
  /// was all that was wanted.
  Result<bool> runStages(mlir::ModuleOp Module, StageState &State,
                         StageId First, StageId Last) {
    for (const Stage &S : stages()) {
      if (S.Id < First || S.Id > Last)
        continue;
      Shown.show("stage " + S.Name.str());
      auto Number = static_cast<int>(S.Id) + 1;
      // From placement on, each CPU level has dumps of its own.
      std::string Name = S.Name.str();
      if (S.Id >= StageId::Placed && Levels.size() > 1)
        Name += "." + std::string(infoOf(State.Code.Level).Name);
      PipelineOptions Pipeline;
      Pipeline.Level = std::string(infoOf(State.Code.Level).Name);
      Pipeline.Quantize = Options.Quantize;
      for (const std::string &Pattern : Options.QuantizeExclude)
        Pipeline.QuantizeExclude.addValue(Pattern);
      Pipeline.KvCache = Options.KvCache;
      Pipeline.FewTokens = State.Model.FewTokens;
      Pipeline.MaxTokens = State.Model.MaxTokensPerStep;
      for (const std::string &Pass : Options.DisabledPasses)
        Pipeline.Disabled.addValue(Pass);
      mlir::PassManager Passes(&Context);
      Passes.enableVerifier(VerifiesEachPass);
      S.populate(Passes, Pipeline);
      Dumper.watch(Passes, Number, Name);
      Messages->watch(Passes);
      if (mlir::failed(Passes.run(Module)) || mlir::failed(verify(Module))) {
        // A dump is what somebody may have written.
        if (!Options.FromStage.empty())
          return Messages->error("stage " + S.Name.str());
        std::string Where = "stage '" + S.Name.str() + "'";
        if (S.Id >= StageId::Placed)
          Where += " for " + Pipeline.Level;
        return Messages->defect(Where);
      }
      State.Stage = S.Name.str();
      if (S.Id == StageId::Transformer &&
          (Options.Quantize != "none" || Options.KvCache != "auto")) {
        // Sizes are those of the formats that were chosen.
        State.Model.Caches = describeCaches(Module);
        Result<ModelEstimate> Estimate = estimateModel(Module);
        if (!Estimate)
          return Estimate.error();
        Model->StoredType = storedTypeOf(Module);
        complete(State.Model, *Estimate);
      }
      describeCode(Module, S.Id, State);
      if (Status Dumped = Dumper.endStage(Module, State, Number, Name); !Dumped)
        return Dumped.error();
      if (lastStage() == S.Id)
        return emitted(Module);
    }
    return false;
  }

  /// Writes the text that was all that was wanted.
  Status writeText(const std::string &Text) {
    if (!Out) {
      Shown.clear();
      return print(Text);
    }
    if (Status Written = Out->append(Text); !Written)
      return Written;
    return Out->finish();
  }

  /// Writes the IR that was all that was wanted.
  Result<bool> emitted(mlir::ModuleOp Module) {
    std::string Text;
    llvm::raw_string_ostream Stream(Text);
    Module.print(Stream);
    Stream << "\n";
    if (Status Written = writeText(Text); !Written)
      return Written.error();
    return true;
  }

  /// From stage `First` to the end, or to what was asked for.
  Status lower(mlir::ModuleOp Module, StageState State, StageId First) {
    State.Code.Level = Levels.front();
    if (Result<bool> Ended = runStages(Module, State, First, StageId::Fused);
        !Ended || *Ended)
      return Ended ? Status() : Status(Ended.error());
    if (wantsArtifact())
      if (Status Begun = beginArtifact(); !Begun)
        return Begun;
    for (CpuLevel Level : Levels) {
      mlir::OwningOpRef<mlir::ModuleOp> Copy = Module.clone();
      StageState OfLevel = State;
      OfLevel.Code.Level = Level;
      Result<bool> Ended = runStages(
          *Copy, OfLevel, std::max(First, StageId::Placed), StageId::Llvm);
      if (Ended && !*Ended)
        Ended = finishLevel(*Copy, OfLevel);
      if (!Ended || *Ended)
        return Ended ? Status() : Status(Ended.error());
      if (Status Same = keepWeights(State, OfLevel); !Same)
        return Same;
    }
    return writeArtifact(std::move(State));
  }

  /// All levels read the same packed weights.
  Status keepWeights(StageState &State, StageState &OfLevel) {
    if (Level0Weights.empty())
      Level0Weights = namesOf(OfLevel.Weights);
    else if (Level0Weights != namesOf(OfLevel.Weights))
      return defectOfCompiler(
          "level " + std::string(infoOf(OfLevel.Code.Level).Name) +
          ": weights are indexed or packed otherwise than at level " +
          std::string(infoOf(Levels.front()).Name));
    State.Weights = std::move(OfLevel.Weights);
    return {};
  }

  /// What identifies every weight of every scope, by index.
  static std::vector<std::string>
  namesOf(const std::vector<ScopeTable> &Tables) {
    std::vector<std::string> Names;
    for (const ScopeTable &Table : Tables) {
      Names.push_back(Table.Name);
      for (const std::optional<PackedWeight> &Weight : Table.Weights) {
        std::string &Name = Names.emplace_back();
        if (Weight)
          llvm::raw_string_ostream(Name) << Weight->name() << Weight->Type;
      }
    }
    return Names;
  }

  /// Native code of a module of the last stage; true when that was all.
  Result<bool> finishLevel(mlir::ModuleOp Module, const StageState &State) {
    CpuLevel Level = State.Code.Level;
    if (Options.Emit == "asm") {
      Result<std::string> Assembly = toAssembly(Module, Level);
      if (!Assembly)
        return Assembly.error();
      if (Status Written = writeText(*Assembly); !Written)
        return Written.error();
      return true;
    }
    if (!wantsArtifact())
      return true;
    if (!Writer)
      if (Status Begun = beginArtifact(); !Begun)
        return Begun.error();
    Shown.show("native code");
    Result<std::string> Object = toSharedObject(Module, Level);
    if (!Object)
      return Object.error();
    Result<size_t> Added = Writer->addCode(
        State.Code, std::as_bytes(std::span(Object->data(), Object->size())));
    if (!Added)
      return Added.error();
    return false;
  }

  //===--- The artifact ---------------------------------------------------===//

  Status beginArtifact() {
    if (Status Read = readTokenizer(); !Read)
      return Read;
    if (!Out)
      return Error("an artifact needs a file: expected an output");
    Result<ArtifactWriter> Created = ArtifactWriter::create(std::move(*Out));
    if (!Created)
      return Created.error();
    Writer.emplace(std::move(*Created));
    return {};
  }

  /// Reads the model's tokenizer, if it has one, as running it will: a file
  /// that cannot be used is found now.
  Status readTokenizer() {
    if (!TokenizerText.empty())
      return {};
    std::string Where = Model->TokenizerPath;
    if (!Model->TokenizerText.empty()) {
      TokenizerText = Model->TokenizerText;
      Where = Options.Model;
    } else if (!Where.empty()) {
      constexpr uint64_t MaxTokenizerBytes = 100u << 20;
      Result<std::string> Text = readFile(Where, MaxTokenizerBytes);
      if (!Text)
        return Text.error();
      TokenizerText = std::move(*Text);
    } else {
      return {};
    }
    Result<tokenizer::Tokenizer> Usable =
        tokenizer::Tokenizer::fromJson(TokenizerText, Where);
    if (!Usable)
      return Usable.error();
    std::vector<std::string> Notes;
    if (Model->TokenizerText.empty())
      Notes = notesOnTokenizer(directoryOf(Where), *Usable);
    else if (std::error_code Ignored;
             std::filesystem::is_directory(Where, Ignored))
      Notes = notesOnTokenizer(Where, *Usable, "the vocabulary beside it");
    for (std::string &Note : Notes)
      Model->Notes.push_back(std::move(Note));
    return {};
  }

  Status writeArtifact(StageState State) {
    Manifest M = std::move(State.Model);
    Result<std::vector<ScopeInfo>> Scopes = packWeights(
        State.Weights, M.Caches.size(), *Model->Weights, *Writer,
        quantisation(), [&](double Share) { Shown.show("weights", Share); });
    if (!Scopes)
      return Scopes.error();
    noteKept();
    M.Scopes = std::move(*Scopes);
    if (Status Stored = Writer->setTokenizer(TokenizerText); !Stored)
      return Stored;
    M.Chat = Model->Chat;
    if (!Prefixes.empty())
      if (Status Baked = bakePrefixes(
              *Writer, M, Prefixes,
              [&](double Share) { Shown.show("prefixes", Share); });
          !Baked)
        return Baked;
    return Writer->finish(std::move(M));
  }

  const CompileOptions &Options;
  ShownProgress Shown;
  mlir::MLIRContext Context;
  Diagnostics *Messages = nullptr;
  StageDumper Dumper;
  std::optional<ImportedModel> Model;
  bool IsQuantised = false;
  /// Whether activations stay numbers.
  bool IsExact = false;
  std::vector<CpuLevel> Levels = Options.Levels;
  std::vector<std::string> Level0Weights;
  std::optional<OutputFile> Out; ///< None for standard output.
  std::optional<ArtifactWriter> Writer;
  std::string TokenizerText;
  std::optional<ModelCalibration> Calibrated; ///< With --calibrate.
  std::vector<std::string> KeptBlocks;
  std::vector<PrefixLine> Prefixes; ///< With --prefix.
};

} // namespace

Status tenon::compile(const CompileOptions &Options) {
  return Compilation(Options).run();
}

Result<std::string> tenon::inspectModel(const InspectModelOptions &Options) {
  mlir::MLIRContext Context;
  mlir::DialectRegistry Registry;
  registerDialects(Registry);
  Context.appendDialectRegistry(Registry);
  Context.loadAllAvailableDialects();
  Diagnostics Caught(Context);
  CompileOptions Source;
  Source.Model = Options.Model;
  Source.IgnoredConfigKeys = Options.IgnoredConfigKeys;
  Result<ImportedModel> Imported =
      importDescription(Context, Source.Model, importOptions(Source));
  if (!Imported)
    return Imported.error();
  Result<ModelEstimate> Estimate =
      estimateModel(*Imported->Module, Options.Context);
  if (!Estimate)
    return Estimate.error();
  printNotes(*Imported);
  if (!Options.AsJson)
    return toText(*Estimate, Imported->StoredType);
  Json Report = toJson(*Estimate);
  Report["weight_type"] = Imported->StoredType;
  return Report.dump(2) + "\n";
}
