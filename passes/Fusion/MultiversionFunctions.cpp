//===- MultiversionFunctions.cpp - Variants of layer functions ------------===//

#include "mlir/IR/Builders.h"
#include "passes/Fusion/Passes.h"

namespace tenon {
#define GEN_PASS_DEF_MULTIVERSIONFUNCTIONS
#include "passes/Fusion/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

struct MultiversionFunctions
    : public tenon::impl::MultiversionFunctionsBase<MultiversionFunctions> {
  using MultiversionFunctionsBase::MultiversionFunctionsBase;

  void runOnOperation() override {
    ModuleOp Module = getOperation();
    OpBuilder Builder(Module.getContext());
    Module->setAttr(attr::FewTokens, Builder.getI64IntegerAttr(FewTokens));

    SmallVector<func::CallOp> Calls;
    for (auto Entry : Module.getOps<func::FuncOp>()) {
      if (!Entry->hasAttr(attr::Role))
        continue;
      setBounds(Entry, MaxTokens, MaxTokens);
      Entry.walk([&](func::CallOp Call) { Calls.push_back(Call); });
    }
    llvm::SmallSetVector<func::FuncOp, 4> Callees;
    for (func::CallOp Call : Calls)
      if (auto Callee = Module.lookupSymbol<func::FuncOp>(Call.getCallee()))
        Callees.insert(Callee);
    for (func::CallOp Call : Calls) {
      auto Callee = Module.lookupSymbol<func::FuncOp>(Call.getCallee());
      Builder.setInsertionPoint(Call);
      auto Dispatch = DispatchOp::create(
          Builder, Call.getLoc(), Call.getResultTypes(),
          nameOf(Callee, Variant::Few), nameOf(Callee, Variant::Many),
          CountKindAttr::get(Module.getContext(), countOf(Callee)),
          Call.getOperands());
      Call->replaceAllUsesWith(Dispatch.getResults());
      Call->erase();
    }
    for (func::FuncOp Callee : Callees) {
      func::FuncOp Few = Callee.clone();
      Module.insert(Callee, Few);
      bool ByTokens = countOf(Callee) == CountKind::Tokens;
      makeVariant(Few, Variant::Few);
      setBounds(Few, ByTokens ? FewTokens : MaxTokens, FewTokens);
      makeVariant(Callee, Variant::Many);
      setBounds(Callee, MaxTokens, MaxTokens);
    }
  }

  /// The name only helps people: passes go by the attribute.
  static FlatSymbolRefAttr nameOf(func::FuncOp Function, Variant V) {
    return FlatSymbolRefAttr::get(
        Function.getContext(),
        (Function.getName() + "." + stringifyVariant(V)).str());
  }

  static void makeVariant(func::FuncOp Function, Variant V) {
    Function.setName(nameOf(Function, V).getValue());
    Function->setAttr(attr::Variant,
                      VariantAttr::get(Function.getContext(), V));
  }

  /// A function that selects output rows works on those, others on all tokens.
  static CountKind countOf(func::FuncOp Function) {
    bool Selects = false;
    Function.walk([&](SelectOutputRowsOp) { Selects = true; });
    return Selects ? CountKind::OutputRows : CountKind::Tokens;
  }

  static void setBounds(func::FuncOp Function, int64_t Tokens,
                        int64_t OutputRows) {
    Builder B(Function.getContext());
    Function->setAttr(attr::MaxTokens, B.getI64IntegerAttr(Tokens));
    Function->setAttr(attr::MaxOutputRows, B.getI64IntegerAttr(OutputRows));
  }
};

} // namespace
