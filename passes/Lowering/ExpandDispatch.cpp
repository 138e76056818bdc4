//===- ExpandDispatch.cpp - Dispatches as branches ------------------------===//

#include "passes/Lowering/Passes.h"

namespace tenon {
#define GEN_PASS_DEF_EXPANDDISPATCH
#include "passes/Lowering/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {

struct ExpandDispatch : public tenon::impl::ExpandDispatchBase<ExpandDispatch> {
  /// A dispatch is a comparison and two calls.
  void runOnOperation() override {
    ModuleOp Module = getOperation();
    WalkResult Walked = Module.walk([&](dnn::DispatchOp Op) {
      if (Op.getNumResults() != 0) {
        Op.emitOpError("has results: expected it to write buffers");
        return WalkResult::interrupt();
      }
      OpBuilder B(Op);
      Location Loc = Op.getLoc();
      Value Count = dnn::CountOp::create(B, Loc, B.getIndexType(),
                                         Op.getCount(), Op.getBatch());
      Value Bound =
          dnn::FewTokensOp::create(B, Loc, B.getIndexType(), Op.getBatch());
      Value IsFew = arith::CmpIOp::create(B, Loc, arith::CmpIPredicate::ule,
                                          Count, Bound);
      SmallVector<Value> Operands(Op.getInputs());
      llvm::append_range(Operands, Op.getOuts());
      auto Call = [&](FlatSymbolRefAttr Callee) {
        // A layer's code exists once: calls must stay calls.
        Module.lookupSymbol<func::FuncOp>(Callee.getAttr())
            ->setAttr("passthrough", B.getStrArrayAttr({"noinline"}));
        return [=](OpBuilder &Nested, Location) {
          func::CallOp::create(Nested, Loc, Callee, TypeRange(), Operands);
          scf::YieldOp::create(Nested, Loc);
        };
      };
      scf::IfOp::create(B, Loc, IsFew, Call(Op.getFewAttr()),
                        Call(Op.getManyAttr()));
      Op->erase();
      return WalkResult::advance();
    });
    if (Walked.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
