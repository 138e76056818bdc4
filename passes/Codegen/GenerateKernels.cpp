//===- GenerateKernels.cpp - A kernel for every generated operation -------===//

#include "passes/Codegen/KernelBuilder.h"
#include "passes/Support/Functions.h"

#include "llvm/ADT/TypeSwitch.h"

namespace tenon {
#define GEN_PASS_DEF_GENERATEKERNELS
#include "passes/Codegen/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {

struct GenerateKernels
    : public tenon::impl::GenerateKernelsBase<GenerateKernels> {
  void runOnOperation() override {
    ModuleOp Module = getOperation();
    const CpuLevelInfo *Level = levelOf(Module);
    if (!Level)
      return signalPassFailure();
    for (auto Function : Module.getOps<func::FuncOp>())
      if (!Function.isExternal())
        generate(Function, *Level);
  }

  /// Whether a kernel is to be written for `Op`.
  static bool isGenerated(Operation *Op) {
    if (auto Product = dyn_cast<dnn::ProductOp>(Op))
      return !Product.getSite();
    return isa<DestinationStyleOpInterface>(Op) && !isa<dnn::DispatchOp>(Op);
  }

  void generate(func::FuncOp Function, const CpuLevelInfo &Level) {
    bool ManyRows = !Function.getName().ends_with(FewSuffix);
    Value Batch = batchOf(Function);
    SmallVector<Operation *> Run;
    SmallVector<Operation *> Ops;
    for (Operation &Op : Function.getBody().front())
      Ops.push_back(&Op);
    for (Operation *Op : Ops) {
      if (isGenerated(Op)) {
        Run.push_back(Op);
        continue;
      }
      // Handles and buffers are no work; they stay before the region.
      if (isa<dnn::ProductOp, dnn::DispatchOp, func::ReturnOp>(Op)) {
        emitRegion(Run, Batch, Level, ManyRows);
        Run.clear();
        if (auto Product = dyn_cast<dnn::ProductOp>(Op))
          callSite(Product, Batch);
      } else if (!Run.empty()) {
        Op->moveBefore(Run.front());
      }
    }
  }

  static void callSite(dnn::ProductOp Product, Value Batch) {
    OpBuilder Builder(Product);
    dnn::CallSiteOp::create(Builder, Product.getLoc(), *Product.getSite(),
                            Batch, Product.getInput(), Product.getWeight(),
                            Product.getBias(), Product.getMultiplier(),
                            Product.getResidual(), Product.getOuts());
    Product->erase();
  }

  void emitRegion(ArrayRef<Operation *> Run, Value Batch,
                  const CpuLevelInfo &Level, bool ManyRows) {
    if (Run.empty())
      return;
    OpBuilder Builder(Run.front());
    auto Parallel = dnn::ParallelOp::create(Builder, Run.front()->getLoc());
    Builder.setInsertionPointToEnd(&Parallel.getBody().front());
    ++NumRegions;
    for (Operation *Op : Run) {
      if (Op != Run.front())
        dnn::BarrierOp::create(Builder, Op->getLoc(), Batch);
      KernelBuilder B(Builder, Op->getLoc(), Parallel, Level);
      emitKernel(B, Op, ManyRows);
      ++NumKernels;
      Builder.setInsertionPointToEnd(&Parallel.getBody().front());
    }
    for (Operation *Op : Run)
      Op->erase();
  }

  static void emitKernel(KernelBuilder &B, Operation *Op, bool ManyRows) {
    llvm::TypeSwitch<Operation *>(Op)
        .Case([&](dnn::ProductOp Typed) { emitProduct(B, Typed); })
        .Case([&](dnn::GatedProductOp Typed) { emitGatedProduct(B, Typed); })
        .Case([&](dnn::NormOp Typed) { emitNorm(B, Typed); })
        .Case([&](dnn::SplitAppendOp Typed) { emitSplitAppend(B, Typed); })
        .Case([&](dnn::SplitStageOp Typed) { emitSplitStage(B, Typed); })
        .Case(
            [&](dnn::AttentionOp Typed) { emitAttention(B, Typed, ManyRows); })
        .Case([&](dnn::EmbeddingOp Typed) { emitEmbedding(B, Typed); })
        .Case([&](dnn::SelectRowsOp Typed) { emitSelectRows(B, Typed); })
        .Case([&](dnn::PoolOp Typed) { emitPool(B, Typed); })
        .Case([&](dnn::AddOp Typed) { emitAdd(B, Typed); })
        .Case([&](dnn::CastOp Typed) { emitCast(B, Typed); })
        .Case([&](dnn::AppendOp Typed) { emitAppend(B, Typed); })
        .Case([&](dnn::RopeOp Typed) { emitRope(B, Typed); })
        .Case([&](dnn::LatentAttentionOp Typed) {
          emitLatentAttention(B, Typed);
        })
        .Case([&](dnn::InputRowsOp Typed) { emitInputRows(B, Typed); })
        .Case([&](dnn::ClassTokenOp Typed) { emitClassToken(B, Typed); })
        .Case([&](dnn::ElementwiseOp Typed) { emitElementwise(B, Typed); })
        .Case([&](dnn::SigmoidGateOp Typed) { emitSigmoidGate(B, Typed); })
        .Case([&](dnn::ColumnsOp Typed) { emitColumns(B, Typed); })
        .Case([&](dnn::RouteOp Typed) { emitRoute(B, Typed); })
        .Case([&](dnn::GroupOp Typed) { emitGroup(B, Typed); })
        .Case([&](dnn::ExpertGatedOp Typed) { emitExpertGated(B, Typed); })
        .Case([&](dnn::ExpertDownOp Typed) { emitExpertDown(B, Typed); })
        .Case([&](dnn::CombineOp Typed) { emitCombine(B, Typed); });
  }
};

} // namespace
