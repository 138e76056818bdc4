//===- OutlineParallel.cpp - Parallel regions as functions ----------------===//

#include "passes/Codegen/Passes.h"
#include "passes/Support/Functions.h"

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
    FailureOr<Value> Batch = batchOf(Region);
    if (failed(Batch))
      return failure();

    IRRewriter Rewriter(Region.getContext());
    SmallVector<Value> Captured = isolate(Region.getBody());
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
    dnn::LaunchOp::create(Rewriter, Region.getLoc(), Name, *Batch, Captured);
    Rewriter.eraseOp(Region);
    return success();
  }

  /// Makes values from outside arguments of the region, which it returns;
  /// constants are made again inside.
  static SmallVector<Value> isolate(Region &Body) {
    llvm::SetVector<Value> Above;
    getUsedValuesDefinedAbove(Body, Above);
    SmallVector<Value> Captured;
    auto Builder = OpBuilder::atBlockBegin(&Body.front());
    for (Value Outside : Above) {
      Value Inside;
      Operation *Source = Outside.getDefiningOp();
      if (Source && Source->hasTrait<OpTrait::ConstantLike>()) {
        Inside = Builder.clone(*Source)->getResult(0);
      } else {
        Captured.push_back(Outside);
        Inside = Body.addArgument(Outside.getType(), Outside.getLoc());
      }
      replaceAllUsesInRegionWith(Outside, Inside, Body);
    }
    return Captured;
  }

  llvm::DenseMap<Operation *, int64_t> Counters;
};

} // namespace
