//===- VerifyStages.cpp - What holds after each stage ---------------------===//

#include "passes/Verify/Passes.h"

#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"

namespace tenon {
#define GEN_PASS_DEF_VERIFYTRANSFORMER
#define GEN_PASS_DEF_VERIFYFUSED
#define GEN_PASS_DEF_VERIFYPLACED
#define GEN_PASS_DEF_VERIFYBUFFERS
#define GEN_PASS_DEF_VERIFYLLVM
#include "passes/Verify/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;
namespace tr = tenon::transformer;

namespace {

/// Fails at the first op that `IsLegal` refuses, saying what `Stage` allows.
LogicalResult verifyOps(ModuleOp Module, StringRef Stage, StringRef Allowed,
                        function_ref<bool(Operation *)> IsLegal) {
  WalkResult Result = Module.walk([&](Operation *Op) {
    if (isa<ModuleOp, func::FuncOp, func::ReturnOp>(Op) || IsLegal(Op))
      return WalkResult::advance();
    Op->emitOpError() << "is not allowed after stage '" << Stage
                      << "': expected " << Allowed;
    return WalkResult::interrupt();
  });
  return failure(Result.wasInterrupted());
}

/// An operation that handles and calls on tensors are made of.
bool isHandle(Operation *Op) {
  return isa<dnn::CountOp, dnn::ScopeOp, dnn::WeightOp, dnn::TableOp,
             dnn::DispatchOp>(Op);
}

struct VerifyTransformer
    : public tenon::impl::VerifyTransformerBase<VerifyTransformer> {
  void runOnOperation() override {
    if (failed(tr::verifyModel(getOperation())))
      signalPassFailure();
  }
};

struct VerifyFused : public tenon::impl::VerifyFusedBase<VerifyFused> {
  void runOnOperation() override {
    auto IsFused = [](Operation *Op) {
      return Op->hasTrait<trait::Fused>() ||
             isa<tr::ScopeOp, tr::ParameterOp, tr::DispatchOp>(Op);
    };
    if (failed(tr::verifyCacheLinearity(getOperation())) ||
        failed(verifyOps(getOperation(), "fused",
                         "a fused operation (remarks say why it is none)",
                         IsFused)))
      signalPassFailure();
  }
};

struct VerifyPlaced : public tenon::impl::VerifyPlacedBase<VerifyPlaced> {
  void runOnOperation() override {
    auto IsPlaced = [](Operation *Op) {
      return isa<tensor::EmptyOp, dnn::ComputeOpInterface>(Op) || isHandle(Op);
    };
    if (!dnn::targetOf(getOperation()) ||
        failed(verifyOps(getOperation(), "placed", "a dnn operation on tensors",
                         IsPlaced)) ||
        failed(verifyPlacedModule(getOperation())))
      signalPassFailure();
  }
};

struct VerifyBuffers : public tenon::impl::VerifyBuffersBase<VerifyBuffers> {
  void runOnOperation() override {
    if (failed(verifyOps(getOperation(), "buffers",
                         "planned buffers, library matmuls and generated "
                         "kernels",
                         isPlanned)) ||
        failed(verifyOutputRows(getOperation())) ||
        failed(verifyKernelNumbers(getOperation())))
      signalPassFailure();
  }

  static bool isPlanned(Operation *Op) {
    auto IsTensor = [](Type T) { return isa<TensorType>(T); };
    if (llvm::any_of(Op->getOperandTypes(), IsTensor) ||
        llvm::any_of(Op->getResultTypes(), IsTensor))
      return false;
    Dialect *Home = Op->getDialect();
    if (isa<dnn::DnnDialect>(Home))
      return !isa<dnn::ComputeOpInterface>(Op);
    // Kernels keep scratch of their own, and move numbers.
    if (isa<memref::MemRefDialect>(Home))
      return isa<memref::AllocaOp, memref::ViewOp, memref::LoadOp,
                 memref::StoreOp, memref::PrefetchOp, memref::DimOp>(Op);
    return isa<arith::ArithDialect, math::MathDialect, scf::SCFDialect,
               vector::VectorDialect, x86vector::X86VectorDialect,
               amx::AMXDialect>(Home);
  }
};

struct VerifyLlvm : public tenon::impl::VerifyLlvmBase<VerifyLlvm> {
  void runOnOperation() override {
    WalkResult Result = getOperation().walk([](Operation *Op) {
      if (isa<ModuleOp>(Op))
        return WalkResult::advance();
      if (!isa<LLVM::LLVMDialect>(Op->getDialect())) {
        Op->emitOpError() << "is not allowed after stage 'llvm': expected an "
                             "operation of the llvm dialect";
        return WalkResult::interrupt();
      }
      if (auto Function = dyn_cast<LLVM::LLVMFuncOp>(Op);
          Function && Function.isExternal()) {
        Function.emitOpError() << "expected a body: generated code reaches "
                                  "the runtime through the step alone";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    if (Result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
