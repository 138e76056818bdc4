//===- PropagateErrors.cpp - Answers of the runtime to the caller ---------===//

#include "passes/Lowering/Passes.h"

#include "runtime/Abi/TenonRt.h"

namespace tenon {
#define GEN_PASS_DEF_PROPAGATEERRORS
#include "passes/Lowering/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {

struct PropagateErrors
    : public tenon::impl::PropagateErrorsBase<PropagateErrors> {
  /// Entries, and whatever calls a function that may fail, answer its answer
  /// at once unless it is 0. Bodies of parallel regions cannot fail.
  void runOnOperation() override {
    ModuleOp Module = getOperation();
    SmallVector<LLVM::LLVMFuncOp> Pending;
    auto MayFail = [&](LLVM::LLVMFuncOp Function) {
      auto Type = Function.getFunctionType();
      if (!isa<LLVM::LLVMVoidType>(Type.getReturnType()))
        return;
      auto I64 = IntegerType::get(Module.getContext(), 64);
      Function.setFunctionType(
          LLVM::LLVMFunctionType::get(I64, Type.getParams()));
      Function.walk([&](LLVM::ReturnOp Return) {
        OpBuilder B(Return);
        Value Zero = LLVM::ConstantOp::create(B, Return.getLoc(), I64, 0);
        Return.getArgMutable().assign(Zero);
      });
      Pending.push_back(Function);
    };
    auto ReturnFailure = [&](LLVM::CallOp Call) {
      OpBuilder B(Call->getContext());
      Block *Before = Call->getBlock();
      Block *After = Before->splitBlock(std::next(Call->getIterator()));
      Block *Failed = B.createBlock(After);
      LLVM::ReturnOp::create(B, Call.getLoc(), Call.getResult());
      B.setInsertionPointToEnd(Before);
      Value Zero =
          LLVM::ConstantOp::create(B, Call.getLoc(), B.getI64Type(), 0);
      Value HasFailed = LLVM::ICmpOp::create(
          B, Call.getLoc(), LLVM::ICmpPredicate::ne, Call.getResult(), Zero);
      LLVM::CondBrOp::create(B, Call.getLoc(), HasFailed, Failed, After);
    };
    // Calls through the function table first, then those of their callers.
    SmallVector<LLVM::CallOp> Calls;
    Module.walk([&](LLVM::CallOp Call) { Calls.push_back(Call); });
    llvm::erase_if(Calls, [&](LLVM::CallOp Call) {
      if (Call.getCallee() || Call.getNumResults() == 0)
        return Call.getCallee().value_or("").empty();
      MayFail(Call->getParentOfType<LLVM::LLVMFuncOp>());
      ReturnFailure(Call);
      return true;
    });
    for (auto Function : Module.getOps<LLVM::LLVMFuncOp>())
      if (Function.getName().starts_with(TENON_RT_ENTRY_PREFIX))
        MayFail(Function);
    while (!Pending.empty()) {
      LLVM::LLVMFuncOp Callee = Pending.pop_back_val();
      llvm::erase_if(Calls, [&](LLVM::CallOp Call) {
        if (Call.getCallee() != Callee.getName())
          return false;
        OpBuilder B(Call);
        auto Checked = LLVM::CallOp::create(B, Call.getLoc(), Callee,
                                            Call.getArgOperands());
        MayFail(Call->getParentOfType<LLVM::LLVMFuncOp>());
        Call.erase();
        ReturnFailure(Checked);
        return true;
      });
    }
  }
};

} // namespace
