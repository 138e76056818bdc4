//===- HoistRowSelection.cpp - Normalise only wanted rows -----------------===//

#include "passes/Fusion/Passes.h"

#include "passes/Support/Remarks.h"

namespace tenon {
#define GEN_PASS_DEF_HOISTROWSELECTION
#include "passes/Fusion/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

struct HoistRowSelection
    : public tenon::impl::HoistRowSelectionBase<HoistRowSelection> {
  void runOnOperation() override {
    getOperation().walk([&](SelectRowsOp Select) {
      Operation *Norm = Select.getInput().getDefiningOp();
      if (!isa_and_nonnull<LayerNormOp, RmsNormOp>(Norm))
        return;
      if (!Norm->hasOneUse()) {
        remarkMissed(Select, "fusion", "HoistRowSelection",
                     "the norm of all rows has another use");
        return;
      }
      OpBuilder Builder(Select);
      Value Rows = SelectRowsOp::create(Builder, Select.getLoc(),
                                        Norm->getOperand(0), Select.getBatch());
      Norm->moveBefore(Select);
      Norm->setOperand(0, Rows);
      remarkPassed(Select, "fusion", "HoistRowSelection",
                   "only wanted rows are normalised");
      Select.getResult().replaceAllUsesWith(Norm->getResult(0));
      Select->erase();
      ++NumHoisted;
    });
  }
};

} // namespace
