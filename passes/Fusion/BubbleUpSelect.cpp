//===- BubbleUpSelect.cpp - Compute output rows only ----------------------===//

#include "passes/Fusion/Passes.h"

#include "dialects/Transformer/RowCounts.h"
#include "passes/Support/Remarks.h"

namespace tenon {
#define GEN_PASS_DEF_BUBBLEUPSELECT
#include "passes/Fusion/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

struct BubbleUpSelect : public tenon::impl::BubbleUpSelectBase<BubbleUpSelect> {
  void runOnOperation() override {
    SmallVector<SelectOutputRowsOp> Selects;
    getOperation().walk([&](SelectOutputRowsOp Op) { Selects.push_back(Op); });
    for (SelectOutputRowsOp Select : Selects)
      while (Operation *Producer = above(Select)) {
        swap(Select, Producer);
      }
  }

  /// The row-wise operation that can come after `Select` instead of before it;
  /// null when there is none.
  static Operation *above(SelectOutputRowsOp Select) {
    Operation *Producer = Select.getInput().getDefiningOp();
    if (!Producer || !Producer->hasTrait<trait::RowWise>() ||
        Producer->getNumResults() != 1 || rowOperandsOf(Producer).size() != 1)
      return nullptr;
    if (Producer->hasOneUse())
      return Producer;
    remarkMissed(Select, "fusion", "BubbleUpSelect",
                 "what computes all rows has another use");
    return nullptr;
  }

  static void swap(SelectOutputRowsOp Select, Operation *Producer) {
    OpOperand *Rows = rowOperandsOf(Producer).front();
    Value All = Rows->get();
    Producer->moveAfter(Select);
    Select.getResult().replaceAllUsesExcept(Producer->getResult(0), Producer);
    Select.getInputMutable().assign(All);
    Select.getResult().setType(cast<RankedTensorType>(All.getType()));
    Rows->set(Select.getResult());
    remarkPassed(Select, "fusion", "BubbleUpSelect",
                 Twine(Producer->getName().getStringRef()) +
                     " is computed for output rows only");
  }
};

} // namespace
