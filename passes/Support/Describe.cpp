//===- Describe.cpp - Operations for people -------------------------------===//

#include "passes/Support/Describe.h"

#include "passes/Support/Scopes.h"

#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tenon;

/// "q_proj.weight 72x72xbf16" of a weight that has a name; empty for others.
static std::string describeWeight(Value Weight) {
  std::string Text;
  llvm::raw_string_ostream Stream(Text);
  if (auto Parameter = Weight.getDefiningOp<transformer::ParameterOp>()) {
    auto Type = cast<ShapedType>(Parameter.getType());
    Stream << Parameter.getKey() << " ";
    llvm::interleave(Type.getShape(), Stream, "x");
    Stream << "x" << Type.getElementType();
  } else if (auto Packed = Weight.getDefiningOp<dnn::WeightOp>()) {
    llvm::interleave(
        Packed.getKeys().getAsRange<StringAttr>(),
        [&](StringAttr Key) { Stream << Key.getValue(); },
        [&] { Stream << " + "; });
    dnn::PackedType Type = Packed.getType();
    Stream << " ";
    if (Type.getCount() > 1)
      Stream << Type.getCount() << "x";
    Stream << Type.getOutFeatures() << "x" << Type.getInFeatures() << "x"
           << infoOf(Type.getFormat()).Name;
  }
  return Text;
}

SmallVector<Value> tenon::inputsOf(Operation *Op) {
  if (auto Destinations = dyn_cast<DestinationStyleOpInterface>(Op))
    return Destinations.getDpsInputs();
  return SmallVector<Value>(Op->getOperands());
}

std::string tenon::describeRows(ValueRange Values) {
  SmallVector<std::string> Rows;
  for (Value V : Values) {
    auto Type = dyn_cast<ShapedType>(V.getType());
    if (!Type || Type.getRank() != 2 || !Type.isDynamicDim(0))
      continue;
    llvm::raw_string_ostream(Rows.emplace_back())
        << "?x" << Type.getDimSize(1) << "x" << Type.getElementType();
  }
  return llvm::join(Rows, ", ");
}

SmallVector<std::string> tenon::describeWeights(Operation *Op) {
  SmallVector<std::string> Weights;
  for (Value Input : inputsOf(Op))
    if (std::string Weight = describeWeight(Input); !Weight.empty())
      Weights.push_back(Weight);
  return Weights;
}

std::string tenon::describeOperation(Operation *Op) {
  std::string Text = Op->getName().stripDialect().str();
  if (std::string Rows = describeRows(inputsOf(Op)); !Rows.empty())
    Text += " " + Rows;
  if (std::string Rows = describeRows(Op->getResults()); !Rows.empty())
    Text += " -> " + Rows;
  for (const std::string &Weight : describeWeights(Op))
    Text += ", " + Weight;
  return Text;
}

std::string tenon::layersOf(Operation *Op) {
  auto Function = Op->getParentOfType<func::FuncOp>();
  auto Module = Op->getParentOfType<ModuleOp>();
  if (!Function || !Module)
    return "";
  ScopeNames Scopes(Module);
  for (BlockArgument Argument : Function.getArguments()) {
    ArrayRef<StringAttr> Names = Scopes.of(Argument);
    if (Names.empty())
      continue;
    constexpr size_t MostNamed = 3;
    std::string Text;
    llvm::raw_string_ostream Stream(Text);
    llvm::interleaveComma(Names.take_front(MostNamed), Stream,
                          [&](StringAttr Name) { Stream << Name.getValue(); });
    if (Names.size() > MostNamed)
      Stream << " and " << Names.size() - MostNamed << " more";
    return Text;
  }
  return "";
}
