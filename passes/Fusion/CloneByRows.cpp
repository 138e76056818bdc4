//===- CloneByRows.cpp - Variants for few and for many rows ---------------===//

#include "passes/Fusion/Passes.h"
#include "passes/Support/Functions.h"

#include "mlir/IR/Builders.h"

namespace tenon {
#define GEN_PASS_DEF_CLONEBYROWS
#include "passes/Fusion/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

struct CloneByRows : public tenon::impl::CloneByRowsBase<CloneByRows> {
  using CloneByRowsBase::CloneByRowsBase;

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
          variantName(Callee, FewSuffix), variantName(Callee, ManySuffix),
          RowKindAttr::get(Module.getContext(), rowsOf(Callee)),
          Call.getOperands());
      Call->replaceAllUsesWith(Dispatch.getResults());
      Call->erase();
    }
    for (func::FuncOp Callee : Callees) {
      func::FuncOp Few = Callee.clone();
      Few.setName(variantName(Callee, FewSuffix).getValue());
      Module.insert(Callee, Few);
      bool ByTokens = rowsOf(Callee) == RowKind::Tokens;
      setBounds(Few, ByTokens ? FewTokens : MaxTokens, FewTokens);
      Callee.setName(variantName(Callee, ManySuffix).getValue());
      setBounds(Callee, MaxTokens, MaxTokens);
      ++NumCloned;
    }
  }

  static FlatSymbolRefAttr variantName(func::FuncOp Function,
                                       StringRef Suffix) {
    return FlatSymbolRefAttr::get(Function.getContext(),
                                  Function.getName().str() + Suffix.str());
  }

  /// A function that selects rows works on those; all others on every token.
  static RowKind rowsOf(func::FuncOp Function) {
    bool Selects = false;
    Function.walk([&](SelectRowsOp) { Selects = true; });
    return Selects ? RowKind::Wanted : RowKind::Tokens;
  }

  static void setBounds(func::FuncOp Function, int64_t Tokens, int64_t Wanted) {
    Builder B(Function.getContext());
    Function->setAttr(attr::MaxTokens, B.getI64IntegerAttr(Tokens));
    Function->setAttr(attr::MaxWanted, B.getI64IntegerAttr(Wanted));
  }
};

} // namespace
