//===- WeightTables.cpp - The weights of every scope ----------------------===//

#include "passes/Packing/WeightTables.h"

#include "passes/Support/Scopes.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tenon;

/// What distinguishes two weights of one scope, and orders them.
static std::string identityOf(Operation *Op) {
  std::string Identity;
  llvm::raw_string_ostream Stream(Identity);
  if (auto Weight = dyn_cast<dnn::WeightOp>(Op)) {
    Stream << Weight.getKeys() << Weight.getType();
  } else {
    auto Table = cast<dnn::TableOp>(Op);
    Stream << "table " << Table.getContent() << Table.getKeyAttr()
           << Table.getType();
  }
  return Identity;
}

std::vector<SharedIndices> tenon::sharedIndices(ModuleOp Module) {
  ScopeNames Scopes(Module);
  SmallVector<Operation *> Weights;
  Module.walk([&](Operation *Op) {
    if (isa<dnn::WeightOp, dnn::TableOp>(Op))
      Weights.push_back(Op);
  });
  llvm::EquivalenceClasses<StringAttr> Kinds;
  for (Operation *Op : Weights) {
    ArrayRef<StringAttr> Names = Scopes.of(Op->getOperand(0));
    for (StringAttr Name : Names)
      Kinds.unionSets(Names.front(), Name);
  }
  llvm::MapVector<const void *, SharedIndices> Tables;
  for (Operation *Op : Weights) {
    Value Scope = Op->getOperand(0);
    ArrayRef<StringAttr> Names = Scopes.of(Scope);
    // A function that nothing calls has a table of its own.
    const void *Kind =
        Names.empty()
            ? Scope.getAsOpaquePointer()
            : Kinds.getLeaderValue(Names.front()).getAsOpaquePointer();
    Tables[Kind][identityOf(Op)].push_back(Op);
  }
  std::vector<SharedIndices> Result;
  for (auto &[Kind, Table] : Tables)
    Result.push_back(std::move(Table));
  return Result;
}

std::string PackedWeight::name() const {
  if (!Table)
    return llvm::join(Sources, "+");
  std::string Name;
  llvm::raw_string_ostream Stream(Name);
  Stream << Table << " " << Type.getOutFeatures() << "x"
         << Type.getInFeatures();
  if (!Sources.empty())
    Stream << " of " << Sources.front();
  return Name;
}

std::vector<ScopeTable> tenon::collectWeights(ModuleOp Module) {
  ScopeNames Scopes(Module);
  std::vector<ScopeTable> Tables;
  llvm::StringMap<size_t> Numbers;
  Module.walk([&](dnn::ScopeOp Op) {
    auto Number = static_cast<size_t>(Op.getNumber());
    if (Tables.size() <= Number)
      Tables.resize(Number + 1);
    Tables[Number].Name = Op.getName().str();
    if (Op.getLayer())
      Tables[Number].Layer = static_cast<int64_t>(*Op.getLayer());
    Numbers[Op.getName()] = Number;
  });

  auto Place = [&](Value Scope, std::optional<uint64_t> Index,
                   llvm::function_ref<PackedWeight(StringRef)> Make) {
    for (StringAttr Name : Scopes.of(Scope)) {
      std::vector<std::optional<PackedWeight>> &Weights =
          Tables[Numbers[Name]].Weights;
      if (Weights.size() <= *Index)
        Weights.resize(*Index + 1);
      Weights[*Index] = Make(Name);
    }
  };
  Module.walk([&](Operation *Op) {
    if (auto Weight = dyn_cast<dnn::WeightOp>(Op)) {
      Place(Weight.getScope(), Weight.getIndex(), [&](StringRef Scope) {
        PackedWeight Result;
        for (auto Key : Weight.getKeys().getAsRange<StringAttr>())
          Result.Sources.push_back(ScopeNames::fullName(Scope, Key));
        Result.Component = Weight.getComponent().str();
        Result.Type = Weight.getType();
        return Result;
      });
    } else if (auto Table = dyn_cast<dnn::TableOp>(Op)) {
      Place(Table.getScope(), Table.getIndex(), [&](StringRef Scope) {
        PackedWeight Result;
        if (std::optional<StringRef> Key = Table.getKey())
          Result.Sources.push_back(ScopeNames::fullName(Scope, *Key));
        Result.Component = "position";
        Result.Table = Table.getContent();
        Result.Type = Table.getType();
        return Result;
      });
    }
  });
  return Tables;
}
