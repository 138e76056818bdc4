//===- OutlineParallel.cpp - Parallel regions as functions ----------------===//

#include "passes/Codegen/Passes.h"

#include "mlir/Transforms/RegionUtils.h"

namespace tenon {
#define GEN_PASS_DEF_OUTLINEPARALLEL
#include "passes/Codegen/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {

struct OutlineParallel
    : public tenon::impl::OutlineParallelBase<OutlineParallel> {
  void runOnOperation() override {
    SmallVector<dnn::ParallelOp> Regions;
    getOperation().walk([&](dnn::ParallelOp Op) { Regions.push_back(Op); });
    for (dnn::ParallelOp Region : Regions)
      if (failed(outline(Region)))
        return signalPassFailure();
  }

  LogicalResult outline(dnn::ParallelOp Region) {
    auto Parent = Region->getParentOfType<func::FuncOp>();
    Value Batch;
    for (BlockArgument Argument : Parent.getArguments())
      if (isa<transformer::BatchType>(Argument.getType()))
        Batch = Argument;
    if (!Batch)
      return Region.emitOpError()
             << "expected a function with a !transformer.batch";

    // What handles are made from travels; the handles are made again inside.
    IRRewriter Rewriter(Region.getContext());
    SmallVector<Value> Captured = makeRegionIsolatedFromAbove(
        Rewriter, Region.getBody(), [](Operation *Op) {
          return isMemoryEffectFree(Op) && Op->getNumRegions() == 0;
        });
    Block &Body = Region.getBody().front();
    Rewriter.setInsertionPointToEnd(&Body);
    func::ReturnOp::create(Rewriter, Region.getLoc());
    auto Type = Rewriter.getFunctionType(Body.getArgumentTypes(), {});
    Rewriter.setInsertionPoint(Parent);
    std::string Name =
        (Parent.getName() + ".region" + Twine(Counters[Parent]++)).str();
    auto Function = func::FuncOp::create(Rewriter, Region.getLoc(), Name, Type);
    Function.setPrivate();
    Function.getBody().takeBody(Region.getBody());

    Rewriter.setInsertionPoint(Region);
    dnn::LaunchOp::create(Rewriter, Region.getLoc(), Name, Batch, Captured);
    Rewriter.eraseOp(Region);
    ++NumOutlined;
    return success();
  }

  llvm::DenseMap<Operation *, int64_t> Counters;
};

} // namespace
