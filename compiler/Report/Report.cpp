//===- Report.cpp - What a model consists of, read off the stages ---------===//

#include "compiler/Report/Report.h"

#include "compiler/Builder/ModelWalk.h"
#include "compiler/Driver/Diagnostics.h"
#include "compiler/Families/Import.h"
#include "compiler/Manifest/ManifestBuilder.h"
#include "dialects/Transformer/Assembly.h"
#include "passes/Pipelines/Pipelines.h"
#include "passes/Placement/LibraryMatmuls.h"
#include "passes/Support/Describe.h"
#include "runtime/Packing/Layout.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tenon;
namespace tr = tenon::transformer;

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// Parameters of one function, each counted once.
static void countParameters(func::FuncOp Function, LayerRow &Row) {
  llvm::DenseMap<Operation *, int64_t> Idle;
  Function.walk([&](tr::WeightOpInterface Op) {
    for (const WeightUse &Use : Op.getWeightUses())
      if (auto Parameter = Use.Operand->get().getDefiningOp<tr::ParameterOp>())
        Idle[Parameter] =
            cast<ShapedType>(Parameter.getType()).getNumElements() / Use.Parts *
            (Use.Parts - Use.Used);
  });
  Function.walk([&](tr::ParameterOp Parameter) {
    auto Type = cast<ShapedType>(Parameter.getType());
    int64_t Elements = Type.getNumElements();
    Row.Parameters += Elements;
    Row.Active += Elements - Idle.lookup(Parameter);
    Row.Bytes += storedBytes(tr::storageFormatOf(Type), Elements);
  });
}

/// The calls of an entry, equal neighbours together, and its own parameters.
static void listLayers(func::FuncOp Entry, std::vector<LayerRow> &Rows) {
  LayerRow Own;
  Own.Entry = Own.Function = Entry.getName();
  countParameters(Entry, Own);
  size_t First = Rows.size();
  Rows.push_back(Own);
  auto Module = Entry->getParentOfType<ModuleOp>();
  Entry.walk([&](func::CallOp Call) {
    LayerRow Row;
    Row.Entry = Own.Entry;
    Row.Function = Call.getCallee();
    for (Value Argument : Call.getOperands())
      if (auto Scope = Argument.getDefiningOp<tr::ScopeOp>()) {
        Row.First = Row.Last = Scope.getName();
        break;
      }
    LayerRow &Before = Rows.back();
    if (Before.Function == Row.Function) {
      Before.Last = Row.Last;
      ++Before.Count;
      return;
    }
    countParameters(Module.lookupSymbol<func::FuncOp>(Row.Function), Row);
    Rows.push_back(Row);
  });
  // Most entries only call.
  if (Own.Parameters == 0)
    Rows.erase(Rows.begin() + static_cast<ptrdiff_t>(First));
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

/// `Value` without the name of its dialect; a single word alone.
static std::string bare(Attribute Value) {
  std::string Text;
  llvm::raw_string_ostream Stream(Text);
  Value.printStripped(Stream);
  StringRef Word = StringRef(Text).split('<').second;
  if (Word.consume_back(">") && !Word.contains(','))
    return Word.str();
  return Text;
}

/// "heads = 8" of what an operation says of itself.
static std::string describeAttribute(NamedAttribute Named) {
  std::string Text;
  llvm::raw_string_ostream Stream(Text);
  Stream << Named.getName().getValue();
  if (isa<UnitAttr>(Named.getValue()))
    return Text;
  Stream << " = ";
  if (auto Number = dyn_cast<IntegerAttr>(Named.getValue()))
    Stream << Number.getValue();
  else if (auto Real = dyn_cast<FloatAttr>(Named.getValue()))
    Stream << shortest(Real.getValueAsDouble());
  else
    Stream << bare(Named.getValue());
  return Text;
}

static std::vector<std::string> detailsOf(Operation *Op) {
  std::vector<std::string> Details;
  std::string Rows = describeRows(inputsOf(Op));
  if (std::string Results = describeRows(Op->getResults()); !Results.empty())
    Rows += " \u2192 " + Results;
  Details.push_back(Rows);
  llvm::append_range(Details, describeWeights(Op));
  SmallVector<std::string> Attributes;
  for (NamedAttribute Named : Op->getAttrs())
    if (!Named.getName().getValue().ends_with("Sizes") &&
        !Named.getName().getValue().ends_with("_sizes"))
      Attributes.push_back(describeAttribute(Named));
  if (!Attributes.empty())
    Details.push_back(llvm::join(Attributes, ", "));
  return Details;
}

static FunctionGraph graphOf(func::FuncOp Function) {
  FunctionGraph Graph;
  Graph.Name = Function.getName();
  Block &Body = Function.getBody().front();
  Graph.Layers = layersOf(&Body.front());
  llvm::DenseMap<Value, size_t> MadeBy;
  for (BlockArgument Argument : Function.getArguments())
    if (tr::isActivations(Argument.getType())) {
      MadeBy[Argument] = Graph.Nodes.size();
      Graph.Nodes.push_back({"input", {describeRows(Argument)}, {}});
    }
  for (Operation &Op : Body) {
    if (isa<tr::ParameterOp, tr::ScopeOp>(Op))
      continue;
    GraphNode Node;
    Node.Name = Op.getName().stripDialect();
    if (auto Dispatch = dyn_cast<tr::DispatchOp>(Op))
      Node.Name = Dispatch.getFew().str() + " or " + Dispatch.getMany().str();
    else if (!Op.hasTrait<OpTrait::IsTerminator>())
      Node.Details = detailsOf(&Op);
    for (Value Operand : Op.getOperands())
      if (auto Found = MadeBy.find(Operand);
          Found != MadeBy.end() &&
          !llvm::is_contained(Node.Inputs, Found->second))
        Node.Inputs.push_back(Found->second);
    if (isa<tr::DispatchOp>(Op) &&
        Node.Inputs == std::vector<size_t>{Graph.Nodes.size() - 1} &&
        Node.Name == Graph.Nodes.back().Name) {
      ++Graph.Nodes.back().Count;
      for (Value Result : Op.getResults())
        MadeBy[Result] = Graph.Nodes.size() - 1;
      continue;
    }
    for (Value Result : Op.getResults())
      MadeBy[Result] = Graph.Nodes.size();
    Graph.Nodes.push_back(std::move(Node));
  }
  return Graph;
}

/// A graph for each function of which there is one, and for one of each two
/// variants, which are equal when fusion has ended.
static std::vector<FunctionGraph> graphsOf(ModuleOp Module) {
  std::vector<FunctionGraph> Graphs;
  for (auto Function : Module.getOps<func::FuncOp>())
    if (tr::variantOf(Function) != tr::Variant::Many)
      Graphs.push_back(graphOf(Function));
  return Graphs;
}

//===----------------------------------------------------------------------===//
// Matmuls
//===----------------------------------------------------------------------===//

static void listMatmuls(func::FuncOp Function, std::vector<MatmulRow> &Rows) {
  Function.walk([&](Operation *Op) {
    if (!isMatmul(Op))
      return;
    MatmulRow Row;
    Row.Function = Function.getName();
    Row.Operation = Op->getName().stripDialect().str() + ": " +
                    llvm::join(describeWeights(Op), ", ");
    for (Value Operand : inputsOf(Op)) {
      auto Packed = dyn_cast<dnn::PackedType>(Operand.getType());
      if (!Packed || !Packed.isPanels())
        continue;
      Row.Inputs = Packed.getInFeatures();
      Row.Outputs += Packed.getOutFeatures();
      Row.Matrices = Packed.getCount();
      Row.Format = tenon::infoOf(Packed.getFormat()).Name;
      Row.Bytes += Packed.getCount() *
                   packedBytes({Packed.getLayout(), Packed.getFormat()},
                               Packed.getOutFeatures(), Row.Inputs);
    }
    Row.Flops = 2 * Row.Inputs * Row.Outputs;
    Row.Reason = whyPlaced(Op);
    Row.Placement = "kernel";
    if (auto Matmul = dyn_cast<dnn::MatmulOp>(Op);
        Matmul && Matmul.isLibraryCall())
      Row.Placement =
          "library, primitive " + std::to_string(*Matmul.getPrimitive());
    Rows.push_back(std::move(Row));
  });
}

//===----------------------------------------------------------------------===//
// The stages
//===----------------------------------------------------------------------===//

Result<ModelReport>
tenon::reportModel(const std::string &Model, CpuLevel Level,
                   const std::vector<std::string> &IgnoredConfigKeys) {
  DialectRegistry Registry;
  registerDialects(Registry);
  MLIRContext Context(Registry, MLIRContext::Threading::DISABLED);
  Context.loadAllAvailableDialects();
  Diagnostics Caught(Context);
  ImportOptions Import;
  Import.IgnoredKeys = IgnoredConfigKeys;
  Result<ImportedModel> Imported = importDescription(Context, Model, Import);
  if (!Imported)
    return Imported.error();
  ModuleOp Module = *Imported->Module;

  ModelReport Report;
  Report.Model = Model;
  Report.Notes = Imported->Notes;
  Report.Level = tenon::infoOf(Level).Name;
  Result<ModelEstimate> Estimate = estimateModel(Module);
  if (!Estimate)
    return Estimate.error();
  Report.Estimate = std::move(*Estimate);
  Result<Manifest> Described = describeModel(Module);
  if (!Described)
    return Described.error();
  Report.MaxTokensPerStep = defaultTokensPerStep(*Described, Module);
  for (func::FuncOp Entry : entriesOf(Module))
    listLayers(Entry, Report.Layers);

  PipelineOptions Options;
  Options.Level = Report.Level;
  Options.MaxTokens = Report.MaxTokensPerStep;
  Options.FewTokens = defaultFewTokens(Module, isQuantised(Module), Level);
  for (const Stage &S : stages()) {
    if (S.Id > StageId::Buffers)
      break;
    PassManager Passes(&Context);
    S.populate(Passes, Options);
    Caught.watch(Passes);
    if (failed(Passes.run(Module)))
      return Caught.defect("stage '" + S.Name.str() + "'");
    if (S.Id == StageId::Fused)
      Report.Graphs = graphsOf(Module);
    if (S.Id == StageId::Placed)
      for (auto Function : Module.getOps<func::FuncOp>())
        listMatmuls(Function, Report.Matmuls);
  }
  Report.Plan = describePlan(Module);
  Report.ArenaBytes = arenaBytes(Module);
  return Report;
}
