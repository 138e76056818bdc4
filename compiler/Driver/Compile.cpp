//===- Compile.cpp - From a model description to an artifact --------------===//

#include "compiler/Driver/Compile.h"

#include "compiler/Driver/DumpStages.h"
#include "compiler/Driver/ManifestBuilder.h"
#include "compiler/Driver/WeightPacking.h"
#include "compiler/Estimate/Estimate.h"
#include "compiler/Families/Import.h"
#include "compiler/Native/NativeCode.h"
#include "passes/Pipelines/Pipelines.h"
#include "runtime/Support/MappedFile.h"
#include "runtime/Tokenizer/Tokenizer.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace tenon;

namespace {

/// Collects MLIR's diagnostics: the first error becomes ours, remarks are
/// printed.
class Diagnostics {
public:
  explicit Diagnostics(mlir::MLIRContext &Context)
      : Handler(&Context, [this](mlir::Diagnostic &D) {
          std::string Line;
          llvm::raw_string_ostream Stream(Line);
          if (!llvm::isa<mlir::UnknownLoc>(D.getLocation()))
            Stream << D.getLocation() << ": ";
          Stream << D;
          if (D.getSeverity() == mlir::DiagnosticSeverity::Error) {
            if (First.empty())
              First = Line;
          } else if (D.getSeverity() == mlir::DiagnosticSeverity::Remark) {
            llvm::errs() << "remark: " << Line << "\n";
          }
          return mlir::success();
        }) {}

  /// The first error, or that `What` failed.
  Error error(const std::string &What) const {
    std::string Text = First.empty() ? What + " failed" : First;
    return Error(Text.substr(0, Text.find('\n')));
  }

private:
  std::string First;
  mlir::ScopedDiagnosticHandler Handler;
};

/// One line that is overwritten, on a terminal only.
class Progress {
public:
  explicit Progress(bool Wanted) : Shown(Wanted && ::isatty(2)) {}
  ~Progress() { clear(); }
  void show(const std::string &Text) {
    if (Shown)
      llvm::errs() << "\r\033[K" << Text;
  }
  void clear() {
    if (Shown)
      llvm::errs() << "\r\033[K";
  }

private:
  bool Shown;
};

bool isMlirFile(const std::string &Path) {
  return llvm::StringRef(Path).ends_with(".mlir");
}

Result<ImportedModel> import(mlir::MLIRContext &Context,
                             const CompileOptions &Options) {
  if (isMlirFile(Options.Model))
    return importMlir(Context, Options.Model, Options.Weights);
  ImportOptions Import;
  Import.MatrixType = Options.MatrixType;
  Import.MaxSequence = Options.MaxSequence;
  // A config alone is enough for its IR.
  Import.ConfigOnly = llvm::StringRef(Options.Model).ends_with(".json");
  return importModel(Context, Options.Model, Import);
}

/// Writes text to a file under a temporary name first, or to stdout ("-").
Status writeText(const std::string &Text, const std::string &Path) {
  if (Path.empty() || Path == "-") {
    llvm::outs() << Text;
    return {};
  }
  std::string Temporary = Path + ".tmp" + std::to_string(::getpid());
  std::error_code Failure;
  {
    llvm::raw_fd_ostream Stream(Temporary, Failure);
    if (!Failure) {
      Stream << Text;
      Stream.flush();
      Failure = Stream.error();
      Stream.clear_error();
    }
  }
  if (!Failure)
    Failure = llvm::sys::fs::rename(Temporary, Path);
  if (Failure) {
    (void)llvm::sys::fs::remove(Temporary);
    return Error(Path + ": cannot write: " + Failure.message());
  }
  return {};
}

std::string textOf(mlir::ModuleOp Module) {
  std::string Text;
  llvm::raw_string_ostream Stream(Text);
  Module.print(Stream);
  Stream << "\n";
  return Text;
}

/// One compilation: the model level once, then each CPU level from `fused` on.
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

    Result<StageDumper> Dumps = StageDumper::create(Options.DumpDirectory);
    if (!Dumps)
      return Dumps.error();
    Dumper = *Dumps;
    Shown.show("reading the model");
    Result<ImportedModel> Imported = import(Context, Options);
    if (!Imported)
      return Imported.error();
    Model = &*Imported;
    if (Options.Emit == "artifact" && Options.UntilAfter.empty() &&
        !Model->Weights)
      return Error(Options.Model +
                   ": has no weights: expected --weights DIRECTORY");
    return lower();
  }

private:
  void enableRemarks() {
    mlir::remark::RemarkCategories Categories;
    Categories.passed = Categories.missed = ".*";
    (void)mlir::remark::enableOptimizationRemarks(
        Context, nullptr,
        std::make_unique<mlir::remark::RemarkEmittingPolicyAll>(), Categories,
        /*printAsEmitRemarks=*/true);
  }

  /// Reads the model's tokenizer, if it has one, as running it will: a file
  /// that cannot be used is found now.
  Status readTokenizer() {
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
    return Usable ? Status() : Usable.error();
  }

  /// The stage whose IR is asked for; empty for assembly and artifacts.
  std::string lastStage() const {
    if (!Options.UntilAfter.empty())
      return Options.UntilAfter;
    bool IsStage = llvm::any_of(
        stages(), [&](const Stage &S) { return S.Name == Options.Emit; });
    return IsStage ? Options.Emit : "";
  }

  int64_t maxTokens(const Manifest &M) const {
    if (Options.MaxTokensPerStep)
      return *Options.MaxTokensPerStep;
    // Prompts of decoders come in chunks, texts to encode in one piece.
    bool OnlyEncodes = llvm::none_of(
        M.Entries, [](const EntryInfo &E) { return E.Role == "step"; });
    return OnlyEncodes ? std::max<int64_t>(512, M.MaxSequence)
                       : std::min<int64_t>(512, M.MaxSequence);
  }

  /// Runs one stage; true in the result when its IR was all that was wanted.
  Result<bool> runStage(size_t Index, mlir::ModuleOp Module, CpuLevel Level) {
    const Stage &S = stages()[Index];
    auto Number = static_cast<int>(Index) + 1;
    // From placement on, each CPU level has dumps of its own.
    std::string Name = S.Name.str();
    if (Index >= FirstPlaced && Options.Levels.size() > 1)
      Name += "." + std::string(infoOf(Level).Name);
    PipelineOptions Pipeline;
    Pipeline.Level = std::string(infoOf(Level).Name);
    Pipeline.FewTokens = Options.FewTokens;
    Pipeline.MaxTokens = TokensPerStep;
    mlir::PassManager Passes(&Context);
    S.Populate(Passes, Pipeline);
    Dumper.watch(Passes, Number, Name);
    if (mlir::failed(Passes.run(Module)))
      return Messages->error("stage " + S.Name.str());
    if (Status Dumped = Dumper.endStage(Module, Number, Name); !Dumped)
      return Dumped.error();
    if (lastStage() != S.Name)
      return false;
    if (Status Written = writeText(textOf(Module), Options.Output); !Written)
      return Written.error();
    return true;
  }

  Status lower() {
    mlir::ModuleOp Module = *Model->Module;
    Result<Manifest> Described = describeModel(Module);
    if (!Described)
      return Described.error();
    Manifest M = std::move(*Described);
    Result<ModelEstimate> Estimate = estimateModel(Module);
    if (!Estimate)
      return Estimate.error();
    TokensPerStep = maxTokens(M);
    complete(M, *Estimate);

    for (size_t Index = 0; Index < FirstPlaced; ++Index) {
      Shown.show("stage " + stages()[Index].Name.str());
      Result<bool> Ended = runStage(Index, Module, Options.Levels.front());
      if (!Ended)
        return Ended.error();
      if (*Ended)
        return {};
    }
    std::optional<ArtifactWriter> Writer;
    if (lastStage().empty() && Options.Emit == "artifact") {
      if (Status Read = readTokenizer(); !Read)
        return Read;
      Result<ArtifactWriter> Created = ArtifactWriter::create(Options.Output);
      if (!Created)
        return Created.error();
      Writer.emplace(std::move(*Created));
    }
    std::vector<ScopeTable> Tables;
    for (CpuLevel Level : Options.Levels) {
      mlir::OwningOpRef<mlir::ModuleOp> Copy = Module.clone();
      Result<bool> Ended = lowerLevel(*Copy, Level, Writer, Tables);
      if (!Ended)
        return Ended.error();
      if (*Ended)
        return {};
    }
    return writeArtifact(std::move(M), *Writer, Tables);
  }

  /// From fused operations to native code; true when that was all.
  Result<bool> lowerLevel(mlir::ModuleOp Module, CpuLevel Level,
                          std::optional<ArtifactWriter> &Writer,
                          std::vector<ScopeTable> &Tables) {
    CodeInfo Code;
    Code.Level = Level;
    for (size_t Index = FirstPlaced; Index < stages().size(); ++Index) {
      Shown.show("stage " + stages()[Index].Name.str());
      Result<bool> Ended = runStage(Index, Module, Level);
      if (!Ended || *Ended)
        return Ended;
      if (stages()[Index].Name == "placed") {
        Code.Primitives = describePrimitives(Module);
        Tables = collectWeights(Module);
      } else if (stages()[Index].Name == "buffers") {
        Code.ArenaBytes = arenaBytes(Module);
        Code.Plan = describePlan(Module);
      }
    }
    if (Options.Emit == "asm") {
      Result<std::string> Assembly = toAssembly(Module, Level);
      if (!Assembly)
        return Assembly.error();
      if (Status Written = writeText(*Assembly, Options.Output); !Written)
        return Written.error();
      return true;
    }
    Shown.show("native code");
    Result<std::string> Object = toSharedObject(Module, Level);
    if (!Object)
      return Object.error();
    Result<size_t> Added = Writer->addCode(
        Code, std::as_bytes(std::span(Object->data(), Object->size())));
    if (!Added)
      return Added.error();
    return false;
  }

  void complete(Manifest &M, const ModelEstimate &Estimate) {
    M.WeightType = Model->StoredType;
    M.MaxTokensPerStep = TokensPerStep;
    M.FewTokens = Options.FewTokens;
    M.MaxTextTokens = Model->MaxTextTokens;
    M.Generation = Model->Generation;
    M.Labels = Model->Labels;
    M.Image = Model->Image;
    M.Estimates = toJson(Estimate);
    Json Levels = Json::array();
    for (CpuLevel Level : Options.Levels)
      Levels.push_back(infoOf(Level).Name);
    M.Compiled = {{"dtype", Model->StoredType},
                  {"target_cpu", Levels},
                  {"max_tokens_per_step", TokensPerStep},
                  {"few_tokens", Options.FewTokens}};
  }

  Status writeArtifact(Manifest M, ArtifactWriter &Writer,
                       const std::vector<ScopeTable> &Tables) {
    Result<std::vector<ScopeInfo>> Scopes = packWeights(
        Tables, M.Caches.size(), *Model->Weights, Writer, [&](double Share) {
          Shown.show("weights " +
                     std::to_string(static_cast<int>(Share * 100)) + " %");
        });
    if (!Scopes)
      return Scopes.error();
    M.Scopes = std::move(*Scopes);
    if (Status Stored = Writer.setTokenizer(TokenizerText); !Stored)
      return Stored;
    if (Status Finished = Writer.finish(std::move(M)); !Finished)
      return Finished;
    Shown.clear();
    for (const std::string &Note : Model->Notes)
      llvm::errs() << "tenon: note: " << Note << "\n";
    return {};
  }

  /// Index of the first stage that depends on the CPU level.
  static constexpr size_t FirstPlaced = 2;

  const CompileOptions &Options;
  Progress Shown;
  mlir::MLIRContext Context;
  Diagnostics *Messages = nullptr;
  StageDumper Dumper;
  ImportedModel *Model = nullptr;
  int64_t TokensPerStep = 0;
  std::string TokenizerText;
};

} // namespace

Status tenon::compile(const CompileOptions &Options) {
  return Compilation(Options).run();
}

Result<std::string> tenon::inspectModel(const std::string &Model, bool AsJson) {
  mlir::MLIRContext Context;
  mlir::DialectRegistry Registry;
  registerDialects(Registry);
  Context.appendDialectRegistry(Registry);
  Context.loadAllAvailableDialects();
  Diagnostics Caught(Context);
  ImportOptions Import;
  Import.ConfigOnly = true;
  Result<ImportedModel> Imported = isMlirFile(Model)
                                       ? importMlir(Context, Model)
                                       : importModel(Context, Model, Import);
  if (!Imported)
    return Imported.error();
  Result<ModelEstimate> Estimate = estimateModel(*Imported->Module);
  if (!Estimate)
    return Estimate.error();
  return AsJson ? toJson(*Estimate).dump(2) + "\n" : toText(*Estimate);
}
