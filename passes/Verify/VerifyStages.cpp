//===- VerifyStages.cpp - What holds after each stage ---------------------===//

#include "passes/Verify/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSet.h"

namespace tenon {
#define GEN_PASS_DEF_VERIFYMODEL
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

/// The argument that the cache handle `Handle` of `Function` began as; null
/// when it is none of its cache arguments.
BlockArgument originOf(Value Handle) {
  while (Operation *Op = Handle.getDefiningOp()) {
    // Of an append or a call: the operand in the same place among its caches.
    auto IsCache = [](Value V) { return isa<tr::CacheType>(V.getType()); };
    auto Place = llvm::count_if(
        Op->getResults().take_front(cast<OpResult>(Handle).getResultNumber()),
        IsCache);
    SmallVector<Value> Operands =
        llvm::filter_to_vector(Op->getOperands(), IsCache);
    if (Place >= static_cast<int64_t>(Operands.size()))
      return {};
    Handle = Operands[Place];
  }
  return cast<BlockArgument>(Handle);
}

/// Functions return caches in the order they take them: from placement on a
/// returned handle is the one that went in.
LogicalResult verifyCacheOrder(func::FuncOp Function) {
  SmallVector<BlockArgument> Arguments =
      llvm::filter_to_vector(Function.getArguments(), [](Value V) {
        return isa<tr::CacheType>(V.getType());
      });
  unsigned Next = 0;
  Operation *Return = Function.getBody().front().getTerminator();
  for (Value Result : Return->getOperands()) {
    if (!isa<tr::CacheType>(Result.getType()))
      continue;
    if (Next == Arguments.size() || originOf(Result) != Arguments[Next])
      return Return->emitOpError()
             << "expected caches in the order of the function's arguments";
    ++Next;
  }
  return success();
}

/// An entry has a role of its own, no rows as arguments, and one result of
/// rows.
LogicalResult verifyEntry(func::FuncOp Entry, llvm::StringSet<> &Roles) {
  StringRef Role = Entry->getAttrOfType<StringAttr>(tr::attr::Role).getValue();
  if (!Roles.insert(Role).second)
    return Entry.emitOpError()
           << "expected one entry of role '" << Role << "', got a second one";
  auto IsRows = [](Type T) { return isa<TensorType>(T); };
  if (llvm::any_of(Entry.getArgumentTypes(), IsRows))
    return Entry.emitOpError() << "expected an entry without tensor arguments";
  int64_t Results = llvm::count_if(Entry.getResultTypes(), IsRows);
  if (Results != 1)
    return Entry.emitOpError() << "expected an entry with one tensor result, "
                                  "got "
                               << Results;
  return success();
}

/// Functions have a body and a batch, entries more; there is an entry.
LogicalResult verifyFunctions(ModuleOp Module) {
  llvm::StringSet<> Roles;
  for (auto Function : Module.getOps<func::FuncOp>()) {
    if (Function.isExternal())
      return Function.emitOpError() << "expected a body";
    if (llvm::none_of(Function.getArgumentTypes(),
                      [](Type T) { return isa<tr::BatchType>(T); }))
      return Function.emitOpError()
             << "expected an argument of type !transformer.batch";
    if (failed(verifyCacheOrder(Function)))
      return failure();
    if (Function->hasAttr(tr::attr::Role) &&
        failed(verifyEntry(Function, Roles)))
      return failure();
  }
  if (Roles.empty())
    return Module.emitError()
           << "expected a function with the attribute " << tr::attr::Role;
  return success();
}

struct VerifyModel : public tenon::impl::VerifyModelBase<VerifyModel> {
  void runOnOperation() override {
    ModuleOp Module = getOperation();
    auto IsModelOp = [](Operation *Op) {
      return isa<func::CallOp>(Op) ||
             isa<tr::TransformerDialect>(Op->getDialect());
    };
    if (failed(verifyFunctions(Module)) ||
        failed(verifyOps(Module, "transformer",
                         "operations of the transformer dialect", IsModelOp)) ||
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
                         tr::EmbeddingOp, tr::SinusoidOp, tr::InputRowsOp,
                         tr::ClassTokenOp, tr::RopeOp, tr::LayerNormOp,
                         tr::RmsNormOp, tr::AddNormOp, tr::ProductOp,
                         tr::GatedProductOp, tr::ResidualOp, tr::ActivationOp,
                         tr::ScaleOp, tr::SoftCapOp, tr::ClampOp,
                         tr::SigmoidGateOp, tr::ColumnsOp, tr::MixtureOp,
                         tr::CacheAppendOp, tr::SplitAppendOp, tr::SplitStageOp,
                         tr::OnlineAttentionOp, tr::LatentAppendOp,
                         tr::LatentAttentionOp, tr::SelectRowsOp, tr::PoolOp>(
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
      if (!isa<dnn::WeightOp, dnn::TableOp>(Op) || Op->hasAttr("slot"))
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
