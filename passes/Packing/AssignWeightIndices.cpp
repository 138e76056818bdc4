//===- AssignWeightIndices.cpp - Number the weights of every scope --------===//

#include "passes/Packing/Passes.h"

#include "passes/Support/Scopes.h"

#include "llvm/ADT/EquivalenceClasses.h"

#include <map>

namespace tenon {
#define GEN_PASS_DEF_ASSIGNWEIGHTINDICES
#include "passes/Packing/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {

/// What distinguishes two weights of one scope, and orders them.
std::string identityOf(Operation *Op) {
  std::string Identity;
  llvm::raw_string_ostream Stream(Identity);
  if (auto Weight = dyn_cast<dnn::WeightOp>(Op))
    Stream << Weight.getKeys() << Weight.getType();
  else
    Stream << "table " << Op->getAttrDictionary() << Op->getResult(0).getType();
  return Identity;
}

struct AssignWeightIndices
    : public tenon::impl::AssignWeightIndicesBase<AssignWeightIndices> {
  void runOnOperation() override {
    ScopeNames Scopes(getOperation());
    SmallVector<Operation *> Weights;
    getOperation().walk([&](Operation *Op) {
      if (isa<dnn::WeightOp, dnn::TableOp>(Op))
        Weights.push_back(Op);
    });

    // Scopes that meet in one function argument share their indices.
    llvm::EquivalenceClasses<StringAttr> Kinds;
    for (Operation *Op : Weights) {
      ArrayRef<StringAttr> Names = Scopes.of(Op->getOperand(0));
      for (StringAttr Name : Names)
        Kinds.unionSets(Names.front(), Name);
    }
    std::map<const void *, std::map<std::string, SmallVector<Operation *>>>
        Tables;
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
    Builder B(&getContext());
    for (auto &[Kind, Table] : Tables)
      for (auto [Index, Entry] : llvm::enumerate(Table)) {
        for (Operation *Op : Entry.second)
          Op->setAttr("index",
                      B.getI64IntegerAttr(static_cast<int64_t>(Index)));
      }
  }
};

} // namespace
