//===- VerifyStages.cpp - What holds after each stage ---------------------===//

#include "passes/Verify/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tenon {
#define GEN_PASS_DEF_VERIFYMODEL
#define GEN_PASS_DEF_VERIFYFUSED
#define GEN_PASS_DEF_VERIFYPLACED
#define GEN_PASS_DEF_VERIFYBUFFERS
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

/// Weights are parameters of the function that uses them: packing finds them
/// by scope and key.
LogicalResult verifyWeights(ModuleOp Module) {
  WalkResult Result = Module.walk([&](Operation *Op) {
    for (OpOperand &Operand : Op->getOpOperands()) {
      auto Type = dyn_cast<RankedTensorType>(Operand.get().getType());
      if (!Type || !Type.hasStaticShape() ||
          Operand.get().getDefiningOp<tr::ParameterOp>())
        continue;
      Op->emitOpError() << "operand " << Operand.getOperandNumber()
                        << ": expected a transformer.parameter, got another "
                           "value of type "
                        << Type;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(Result.wasInterrupted());
}

struct VerifyModel : public tenon::impl::VerifyModelBase<VerifyModel> {
  void runOnOperation() override {
    ModuleOp Module = getOperation();
    bool HasEntry = false;
    for (auto Function : Module.getOps<func::FuncOp>()) {
      HasEntry |= Function->hasAttr(tr::attr::Role);
      if (llvm::none_of(Function.getArgumentTypes(),
                        [](Type T) { return isa<tr::BatchType>(T); })) {
        Function.emitOpError()
            << "expected an argument of type !transformer.batch";
        return signalPassFailure();
      }
    }
    if (!HasEntry) {
      Module.emitError() << "expected a function with the attribute "
                         << tr::attr::Role;
      return signalPassFailure();
    }
    if (failed(verifyOps(Module, "model",
                         "operations of the transformer dialect",
                         [](Operation *Op) {
                           return isa<func::CallOp>(Op) ||
                                  isa<tr::TransformerDialect>(Op->getDialect());
                         })) ||
        failed(verifyWeights(Module)) ||
        failed(tr::verifyCacheLinearity(Module)))
      signalPassFailure();
  }
};

struct VerifyFused : public tenon::impl::VerifyFusedBase<VerifyFused> {
  void runOnOperation() override {
    if (failed(verifyOps(
            getOperation(), "fused", "a fused operation (see --remarks)",
            [](Operation *Op) {
              return isa<tr::ScopeOp, tr::ParameterOp, tr::DispatchOp,
                         tr::EmbeddingOp, tr::LayerNormOp, tr::RmsNormOp,
                         tr::AddNormOp, tr::ProductOp, tr::GatedProductOp,
                         tr::ResidualOp, tr::SplitAppendOp, tr::SplitStageOp,
                         tr::OnlineAttentionOp, tr::SelectRowsOp, tr::PoolOp>(
                  Op);
            })) ||
        failed(tr::verifyCacheLinearity(getOperation())))
      signalPassFailure();
  }
};

struct VerifyPlaced : public tenon::impl::VerifyPlacedBase<VerifyPlaced> {
  void runOnOperation() override {
    if (failed(verifyOps(getOperation(), "placed", "a dnn operation on tensors",
                         [](Operation *Op) {
                           return isa<tensor::EmptyOp>(Op) ||
                                  isa<dnn::DnnDialect>(Op->getDialect());
                         })))
      return signalPassFailure();
    WalkResult Result = getOperation().walk([&](Operation *Op) {
      if (!isa<dnn::WeightOp, dnn::RopeTableOp>(Op) || Op->hasAttr("slot"))
        return WalkResult::advance();
      Op->emitOpError() << "expected a slot";
      return WalkResult::interrupt();
    });
    if (Result.wasInterrupted())
      signalPassFailure();
  }
};

struct VerifyBuffers : public tenon::impl::VerifyBuffersBase<VerifyBuffers> {
  void runOnOperation() override {
    if (failed(verifyOps(
            getOperation(), "buffers",
            "planned buffers, library products and generated kernels",
            [](Operation *Op) {
              if (isa<memref::AllocOp, memref::CopyOp>(Op) ||
                  isa<bufferization::BufferizationDialect>(Op->getDialect()))
                return false;
              if (isa<DestinationStyleOpInterface>(Op))
                return isa<dnn::DispatchOp>(Op);
              return llvm::none_of(Op->getResultTypes(),
                                   [](Type T) { return isa<TensorType>(T); });
            })))
      signalPassFailure();
  }
};

} // namespace
