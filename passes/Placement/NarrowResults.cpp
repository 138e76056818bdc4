//===- NarrowResults.cpp - Producers write what products read -------------===//

#include "passes/Placement/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tenon {
#define GEN_PASS_DEF_NARROWRESULTS
#include "passes/Placement/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;
using namespace tenon::dnn;

namespace {

struct NarrowResults : public tenon::impl::NarrowResultsBase<NarrowResults> {
  void runOnOperation() override {
    SmallVector<CastOp> Casts;
    getOperation().walk([&](CastOp Op) { Casts.push_back(Op); });
    llvm::DenseMap<Value, CastOp> FirstOf;
    SmallVector<CastOp> Kept;
    for (CastOp Cast : Casts) {
      auto [Entry, IsNew] = FirstOf.try_emplace(Cast.getInput(), Cast);
      if (IsNew) {
        Kept.push_back(Cast);
        continue;
      }
      Cast.getResults().replaceAllUsesWith(Entry->second.getResults());
      Cast->erase();
      ++NumMerged;
    }
    for (CastOp Cast : Kept)
      if (narrow(Cast))
        ++NumNarrowed;
  }

  /// Writes the cast's only source in the cast's type.
  static bool narrow(CastOp Cast) {
    Value Source = Cast.getInput();
    Operation *Producer = Source.getDefiningOp();
    // Staged keys and dispatched functions have a type of their own.
    if (!Source.hasOneUse() ||
        !isa_and_nonnull<NormOp, ProductOp, GatedProductOp, AttentionOp,
                         SelectRowsOp>(Producer))
      return false;
    auto Dps = cast<DestinationStyleOpInterface>(Producer);
    OpOperand *Init = Dps.getTiedOpOperand(cast<OpResult>(Source));
    Value Destination = Cast.getOuts();
    if (auto Empty = Destination.getDefiningOp())
      Empty->moveBefore(Producer);
    Init->set(Destination);
    Source.setType(cast<TypedValue<RankedTensorType>>(Destination).getType());
    Cast.getResults().replaceAllUsesWith(Source);
    Cast->erase();
    return true;
  }
};

} // namespace
