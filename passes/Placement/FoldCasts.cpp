//===- FoldCasts.cpp - Producers write what matmuls read ------------------===//

#include "passes/Placement/Passes.h"

#include "passes/Placement/LibraryMatmuls.h"
#include "passes/Support/Functions.h"
#include "passes/Support/Remarks.h"

namespace tenon {
#define GEN_PASS_DEF_FOLDCASTS
#include "passes/Placement/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {

struct FoldCasts : public tenon::impl::FoldCastsBase<FoldCasts> {
  void runOnOperation() override {
    if (!dnn::targetOf(getOperation()))
      return signalPassFailure();
    SmallVector<dnn::CastOp> Casts;
    getOperation().walk([&](dnn::CastOp Op) { Casts.push_back(Op); });
    // A value is cast once to each type.
    llvm::DenseMap<std::pair<Value, Type>, dnn::CastOp> FirstOf;
    SmallVector<dnn::CastOp> Kept;
    for (dnn::CastOp Cast : Casts) {
      auto [Entry, IsNew] = FirstOf.try_emplace(
          {Cast.getInput(), Cast.getResults().getType()}, Cast);
      if (IsNew) {
        Kept.push_back(Cast);
        continue;
      }
      Cast.getResults().replaceAllUsesWith(Entry->second.getResults());
      erase(Cast);
    }
    for (dnn::CastOp Cast : Kept) {
      StringRef Why = fold(Cast);
      if (!Why.empty())
        remarkMissed(Cast, "placement", "FoldCasts", Why);
    }
  }

  /// Bits of an element of `Rows`.
  static unsigned widthOf(Value Rows) {
    return cast<ShapedType>(Rows.getType()).getElementTypeBitWidth();
  }

  static void erase(dnn::CastOp Cast) {
    Operation *Destination = Cast.getOuts().getDefiningOp();
    Cast->erase();
    eraseIfUnused(Destination);
  }

  static void eraseIfUnused(Operation *Destination) {
    if (Destination && Destination->use_empty())
      Destination->erase();
  }

  /// Writes the cast's only source in the cast's type, or says why not.
  static StringRef fold(dnn::CastOp Cast) {
    Value Source = Cast.getInput();
    auto Producer = Source.getDefiningOp<dnn::ComputeOpInterface>();
    bool IsQuantised = static_cast<bool>(dnn::groupedTypeOf(Cast.getOuts()));
    if (!Source.hasOneUse())
      return "the value is read in its own type too";
    if (!Producer)
      return "the value comes from outside of the function";
    // Another destination would skip the rounding that the cast reads.
    if (IsQuantised && !getElementTypeOrSelf(Source).isF32())
      return "the value is rounded before it is quantised";
    if (!IsQuantised && widthOf(Cast.getOuts()) > widthOf(Source))
      return "the value is rounded before it is widened";
    auto Result = cast<OpResult>(Source);
    unsigned Number = Result.getResultNumber();
    if (!Producer.canStore(Number, getElementTypeOrSelf(Cast.getOuts())))
      return IsQuantised ? "its producer does not quantise what it stores"
                         : "its producer writes one type only";
    // A matmul of the library is worth more than a cast.
    if (auto Matmul = dyn_cast<dnn::MatmulOp>(Producer.getOperation()))
      if (whyGenerated(Matmul).empty() &&
          !whyGenerated(Matmul, getElementTypeOrSelf(Cast.getOuts())).empty())
        return "the library's matmul does not write this type";
    remarkPassed(Cast, "placement", "FoldCasts",
                 "written in this type by its producer, " +
                     Producer->getName().getStringRef());
    auto Destinations = cast<DestinationStyleOpInterface>(*Producer);
    OpOperand *Init = Destinations.getTiedOpOperand(Result);
    Operation *Before = Init->get().getDefiningOp();
    Value Destination = Cast.getOuts();
    if (Operation *Empty = Destination.getDefiningOp())
      Empty->moveBefore(Producer);
    Init->set(Destination);
    Source.setType(Destination.getType());
    Cast.getResults().replaceAllUsesWith(Source);
    Cast->erase();
    eraseIfUnused(Before);
    return {};
  }
};

} // namespace
