//===- StageState.cpp - What a dump carries beside its IR -----------------===//

#include "compiler/Driver/StageState.h"

#include "compiler/Builder/Places.h"
#include "compiler/Estimate/Estimate.h"
#include "compiler/Families/Import.h"
#include "compiler/Manifest/ManifestBuilder.h"
#include "dialects/Dnn/Dnn.h"
#include "runtime/Abi/TenonRt.h"
#include "runtime/Support/InputFile.h"
#include "runtime/Support/Json.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

using namespace tenon;

/// The provider and key of the resource.
static constexpr llvm::StringLiteral Provider = "tenon";
static constexpr llvm::StringLiteral Key = "state";

static constexpr uint64_t MaxDumpBytes = 256 << 20;

static constexpr const char *LevelsField = "target_cpu";

void tenon::setCompiledLevels(Manifest &Model,
                              llvm::ArrayRef<CpuLevel> Levels) {
  Json Names = Json::array();
  for (CpuLevel Level : Levels)
    Names.push_back(infoOf(Level).Name);
  Model.Compiled[LevelsField] = Names;
}

Result<std::vector<CpuLevel>> tenon::compiledLevels(const Manifest &Model,
                                                    const std::string &Path) {
  std::vector<CpuLevel> Levels;
  if (Model.Compiled.is_object() && Model.Compiled.contains(LevelsField))
    for (const Json &Name : Model.Compiled[LevelsField]) {
      std::optional<CpuLevel> Level;
      if (Name.is_string())
        Level = cpuLevelNamed(Name.get_ref<const std::string &>());
      if (!Level || llvm::is_contained(Levels, *Level)) {
        Levels.clear();
        break;
      }
      Levels.push_back(*Level);
    }
  if (Levels.empty())
    return Error(Path + ": resource 'tenon.state': field 'compiled." +
                 LevelsField + "': expected different CPU levels");
  return Levels;
}

//===----------------------------------------------------------------------===//
// What a module says
//===----------------------------------------------------------------------===//

void tenon::describeCode(mlir::ModuleOp Module, StageId Stage,
                         StageState &State) {
  if (Stage == StageId::Placed)
    State.Code.Primitives = describePrimitives(Module);
  if (Stage == StageId::Placed || Stage == StageId::Buffers)
    State.Weights = collectWeights(Module);
  if (Stage == StageId::Buffers) {
    State.Code.ArenaBytes = arenaBytes(Module);
    State.Code.ScratchBytes = scratchBytes(Module);
    State.Code.Plan = describePlan(Module);
    State.Code.Kernels = describeKernels(Module);
  }
}

/// Checks that calls of the library are those of `Primitives`.
static Status checkCalls(mlir::ModuleOp Module, const std::string &Path,
                         llvm::ArrayRef<PrimitiveInfo> Primitives) {
  Status Checked;
  Module.walk([&](dnn::CallMatmulOp Call) {
    dnn::PackedType Weight = Call.getWeight().getType();
    auto Number = static_cast<size_t>(Call.getPrimitive());
    if (Number < Primitives.size() &&
        Primitives[Number].K == Weight.getInFeatures() &&
        Primitives[Number].N == Weight.getOutFeatures())
      return mlir::WalkResult::advance();
    Checked =
        Error(Path + ": dnn.call_matmul " + std::to_string(Number) +
              " with a weight of " + std::to_string(Weight.getOutFeatures()) +
              "x" + std::to_string(Weight.getInFeatures()) +
              ": expected one of the primitives of the resource "
              "'tenon.state'");
    return mlir::WalkResult::interrupt();
  });
  return Checked;
}

Status tenon::describeStage(mlir::ModuleOp Module, StageId Stage,
                            const std::string &Path, StageState &State) {
  if (Stage == StageId::Llvm)
    return {};
  Manifest Before = State.Model;
  describeSizes(Module, State.Model);
  Json &Compiled = State.Model.Compiled;
  if (!Compiled.is_object())
    return Error(Path + ": resource 'tenon.state': field 'compiled': expected "
                        "an object");
  Compiled["max_tokens_per_step"] = State.Model.MaxTokensPerStep;
  Compiled["few_tokens"] = State.Model.FewTokens;
  if (Stage != StageId::Buffers) {
    describeEntries(Module, State.Model);
  } else {
    // What is generated is for these sizes.
    Json Expected = toJson(Before), Got = toJson(State.Model);
    for (const auto &[Field, Value] : Got.items())
      if (Value != Expected[Field])
        return Error(Path + ": field '" + Field + "' is " +
                     escaped(Value.dump()) + ": expected " +
                     escaped(Expected[Field].dump()) +
                     ", as the resource 'tenon.state' says");
    if (Status Known = checkCalls(Module, Path, State.Code.Primitives); !Known)
      return Known;
  }
  if (Stage == StageId::Transformer) {
    Result<ModelEstimate> Estimate = estimateModel(Module);
    if (!Estimate)
      return Estimate.error();
    State.Model.Estimates = toJson(*Estimate);
    State.Model.WeightType = storedTypeOf(Module);
    Compiled["dtype"] = State.Model.WeightType;
  }
  describeCode(Module, Stage, State);
  return {};
}

//===----------------------------------------------------------------------===//
// To text
//===----------------------------------------------------------------------===//

/// The assembly of a type or an attribute.
template <typename T> static std::string textOf(T Thing) {
  std::string Text;
  llvm::raw_string_ostream(Text) << Thing;
  return Text;
}

static Json toJson(const PackedWeight &Weight) {
  Json J = {{"sources", Weight.Sources},
            {"component", Weight.Component},
            {"type", textOf(mlir::Type(Weight.Type))}};
  if (Weight.Table)
    J["table"] = textOf(mlir::Attribute(Weight.Table));
  return J;
}

static Json toJson(const ScopeTable &Scope) {
  Json Weights = Json::array();
  for (const std::optional<PackedWeight> &Weight : Scope.Weights)
    Weights.push_back(Weight ? toJson(*Weight) : Json());
  return {{"name", Scope.Name},
          {"layer", Scope.Layer ? Json(*Scope.Layer) : Json()},
          {"weights", Weights}};
}

static std::string jsonOf(const StageState &State) {
  std::optional<StageId> Stage = stageNamed(State.Stage);
  // The manifest's reader expects code to lie somewhere in a file.
  CodeInfo Code;
  if (Stage == StageId::Llvm)
    Code = State.Code;
  else if (Stage == StageId::Buffers)
    Code.Primitives = State.Code.Primitives;
  Code.Level = State.Code.Level;
  Code.Offset = 4096;
  Code.Bytes = 1;
  Manifest Whole = State.Model;
  Whole.Code = {Code};
  Json J = {{"manifest", toJson(Whole)}};
  if (Stage == StageId::Llvm) {
    J["weights"] = Json::array();
    for (const ScopeTable &Scope : State.Weights)
      J["weights"].push_back(toJson(Scope));
  }
  return J.dump();
}

void tenon::printWithState(mlir::ModuleOp Module, const StageState &State,
                           llvm::raw_ostream &Stream) {
  std::string Text = jsonOf(State);
  mlir::AsmState Printing(Module);
  Printing.attachResourcePrinter(
      Provider, [&](mlir::Operation *, mlir::AsmResourceBuilder &Builder) {
        Builder.buildString(Key, Text);
      });
  Module.print(Stream, Printing);
  Stream << "\n";
}

//===----------------------------------------------------------------------===//
// From text
//===----------------------------------------------------------------------===//

namespace {

/// Reads the JSON of weights, whose types and tables are MLIR's.
class WeightsReader {
public:
  WeightsReader(mlir::MLIRContext &Context, const std::string &Path)
      : Context(Context), Path(Path) {}

  Result<std::vector<ScopeTable>> read(const Json &Scopes) {
    std::vector<ScopeTable> Tables;
    if (!Scopes.is_array())
      return wrong("weights", "an array of scopes");
    for (const Json &J : Scopes) {
      if (!J.is_object() || !J.contains("name") || !J["name"].is_string() ||
          !J.contains("weights") || !J["weights"].is_array())
        return wrong("weights", "scopes with a name and weights");
      ScopeTable &Scope = Tables.emplace_back();
      Scope.Name = J["name"].get<std::string>();
      if (J.contains("layer") && J["layer"].is_number_integer())
        Scope.Layer = J["layer"].get<int64_t>();
      for (const Json &Weight : J["weights"]) {
        if (Weight.is_null()) {
          Scope.Weights.emplace_back();
          continue;
        }
        Result<PackedWeight> Read = readWeight(Weight);
        if (!Read)
          return Read.error();
        Scope.Weights.emplace_back(std::move(*Read));
      }
    }
    return Tables;
  }

private:
  Result<PackedWeight> readWeight(const Json &J) {
    if (!J.is_object() || !J.contains("type") || !J["type"].is_string() ||
        !J.contains("component") || !J["component"].is_string() ||
        !J.contains("sources") || !J["sources"].is_array())
      return wrong("weights", "a type, a component and sources");
    PackedWeight Weight;
    Weight.Component = J["component"].get<std::string>();
    for (const Json &Source : J["sources"]) {
      if (!Source.is_string())
        return wrong("weights.sources", "names");
      Weight.Sources.push_back(Source.get<std::string>());
    }
    Weight.Type = llvm::dyn_cast_or_null<dnn::PackedType>(
        mlir::parseType(J["type"].get<std::string>(), &Context));
    if (!Weight.Type)
      return wrong("weights.type", "a !dnn.packed");
    if (!J.contains("table"))
      return Weight;
    Weight.Table = llvm::dyn_cast_or_null<transformer::TableAttrInterface>(
        J["table"].is_string()
            ? mlir::parseAttribute(J["table"].get<std::string>(), &Context)
            : mlir::Attribute());
    if (!Weight.Table)
      return wrong("weights.table", "the contents of a table");
    return Weight;
  }

  Error wrong(const char *Field, const char *Expected) const {
    return Error(Path + ": resource 'tenon.state': field '" + Field +
                 "': expected " + Expected);
  }

  mlir::MLIRContext &Context;
  const std::string &Path;
};

} // namespace

/// The last stage that `Module` has been through: each leaves an attribute.
static StageId stageOf(mlir::ModuleOp Module) {
  if (!Module.getOps<mlir::LLVM::LLVMFuncOp>().empty())
    return StageId::Llvm;
  if (Module->hasAttr(dnn::attr::ArenaBytes))
    return StageId::Buffers;
  if (Module->hasAttr(dnn::attr::Target))
    return StageId::Placed;
  return Module->hasAttr(transformer::attr::FewTokens) ? StageId::Fused
                                                       : StageId::Transformer;
}

static Result<StageState> stateFrom(mlir::MLIRContext &Context,
                                    const std::string &Text, StageId Stage,
                                    const std::string &Path) {
  std::string Where = Path + ": resource 'tenon.state'";
  Result<Json> Parsed = parseJson(Text, Where);
  if (!Parsed)
    return Parsed.error();
  const Json &J = *Parsed;
  if (!J.is_object() || !J.contains("manifest"))
    return Error(Where + ": expected a manifest");
  StageState State;
  State.Stage = stages()[static_cast<size_t>(Stage)].Name.str();
  Result<Manifest> Whole = manifestFromJson(J["manifest"], Where);
  if (!Whole)
    return Whole.error();
  State.Model = std::move(*Whole);
  if (State.Model.Code.size() != 1)
    return Error(Where + ": expected code for one CPU level, got " +
                 std::to_string(State.Model.Code.size()));
  State.Code = std::move(State.Model.Code.front());
  State.Model.Code.clear();
  State.Code.Offset = State.Code.Bytes = 0;
  if (Stage != StageId::Llvm)
    return State;
  if (!J.contains("weights"))
    return Error(Where + ": expected weights, which LLVM does not say");
  Result<std::vector<ScopeTable>> Weights =
      WeightsReader(Context, Path).read(J["weights"]);
  if (!Weights)
    return Weights.error();
  State.Weights = std::move(*Weights);
  return State;
}

Result<LoadedStage> tenon::readStage(mlir::MLIRContext &Context,
                                     const std::string &Path,
                                     llvm::StringRef Stage) {
  Result<std::string> Text = readFile(Path, MaxDumpBytes);
  if (!Text)
    return Text.error();
  std::optional<std::string> State, First;
  mlir::ScopedDiagnosticHandler Handler(&Context, [&](mlir::Diagnostic &D) {
    if (D.getSeverity() == mlir::DiagnosticSeverity::Error && !First)
      First = placeOf(D.getLocation()) + ": " + D.str();
    return mlir::success();
  });
  mlir::ParserConfig Settings(&Context);
  Settings.attachResourceParser(
      Provider, [&](mlir::AsmParsedResourceEntry &Entry) {
        if (Entry.getKey() != Key)
          return mlir::success();
        mlir::FailureOr<std::string> Value = Entry.parseAsString();
        if (mlir::succeeded(Value))
          State = *Value;
        return mlir::LogicalResult(Value);
      });
  LoadedStage Loaded;
  Loaded.Module =
      mlir::parseSourceString<mlir::ModuleOp>(*Text, Settings, Path);
  if (!Loaded.Module)
    return Error(First ? escaped(First->substr(0, First->find('\n')))
                       : Path + ": expected a module in MLIR's syntax");
  if (!State)
    return Error(Path + ": has no resource 'tenon.state': expected a file that "
                        "--dump-stages wrote at the end of a stage");
  Result<StageState> Read =
      stateFrom(Context, *State, stageOf(*Loaded.Module), Path);
  if (!Read)
    return Read.error();
  Loaded.State = std::move(*Read);
  if (Loaded.State.Stage != Stage)
    return Error(Path + ": is a dump of stage " +
                 printable(Loaded.State.Stage) + ": expected one of '" +
                 Stage.str() + "', as --from-stage says");
  std::string_view Level = infoOf(Loaded.State.Code.Level).Name;
  if (auto Target =
          (*Loaded.Module)->getAttrOfType<dnn::TargetAttr>(dnn::attr::Target);
      Target && std::string_view(Target.getLevel()) != Level)
    return Error(Path + ": attribute '" + dnn::attr::Target.str() +
                 "' is for " + printable(Target.getLevel()) + ": expected " +
                 std::string(Level) + ", as the resource 'tenon.state' says");
  return Loaded;
}
