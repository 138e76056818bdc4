//===- FoldCasts.cpp - Producers write what matmuls read ------------------===//

#include "passes/Placement/Passes.h"

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
    dnn::TargetAttr Target = dnn::targetOf(getOperation());
    if (!Target)
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
      StringRef Why = fold(Cast, Target);
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
  static StringRef fold(dnn::CastOp Cast, dnn::TargetAttr Target) {
    Value Source = Cast.getInput();
    auto Producer = Source.getDefiningOp<dnn::ComputeOpInterface>();
    if (dnn::groupedTypeOf(Cast.getOuts()))
      return "a group needs all of its elements at once";
    if (!Source.hasOneUse())
      return "the value is read in its own type too";
    if (!Producer)
      return "the value comes from outside of the function";
    // A wider destination would skip the rounding that the cast reads.
    if (widthOf(Cast.getOuts()) > widthOf(Source))
      return "the value is rounded before it is widened";
    auto Result = cast<OpResult>(Source);
    if (!Producer.convertsOnStore(Result.getResultNumber()))
      return "its producer writes one type only";
    // A matmul of the library is worth more than a cast.
    if (auto Matmul = dyn_cast<dnn::MatmulOp>(Producer.getOperation());
        Matmul && !isDecodeSized(Matmul)) {
      auto IsServed = [&](Value Output) {
        return Target.libraryServes(dnn::formatOf(Matmul.getInput()),
                                    Matmul.getWeight().getType().getFormat(),
                                    dnn::formatOf(Output));
      };
      if (IsServed(Source) && !IsServed(Cast.getOuts()))
        return "the library's matmul does not write this type";
    }
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
