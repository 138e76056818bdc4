//===- SelectLibraryMatmuls.cpp - Which matmuls the library does ----------===//

#include "passes/Placement/Passes.h"

#include "passes/Placement/LibraryMatmuls.h"
#include "passes/Support/Functions.h"
#include "passes/Support/Remarks.h"

#include "llvm/Support/FormatVariadic.h"

namespace tenon {
#define GEN_PASS_DEF_SELECTLIBRARYMATMULS
#include "passes/Placement/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

bool tenon::isMatmul(Operation *Op) {
  return isa<dnn::MatmulOp, dnn::GatedMatmulOp, dnn::MoeGateUpOp,
             dnn::MoeDownOp>(Op);
}

static constexpr const char *StreamsWeights =
    "a decode-sized batch streams the weights";

std::string tenon::whyGenerated(Operation *Op) {
  if (isa<dnn::MoeGateUpOp, dnn::MoeDownOp>(Op))
    return "which rows an expert takes is data";
  if (auto Matmul = dyn_cast<dnn::MatmulOp>(Op))
    return whyGenerated(Matmul, getElementTypeOrSelf(Matmul.getOuts()));
  if (isDecodeSized(Op))
    return StreamsWeights;
  return "gate and up are one pass over the rows";
}

std::string tenon::whyGenerated(dnn::MatmulOp Matmul, Type Output) {
  if (isDecodeSized(Matmul))
    return StreamsWeights;
  if (dnn::groupedTypeOf(Matmul.getInput()))
    return "the library has no dot products of groups";
  dnn::TargetAttr Target = dnn::targetOf(Matmul->getParentOfType<ModuleOp>());
  StorageFormat Input = dnn::formatOf(Matmul.getInput());
  StorageFormat Weight = Matmul.getWeight().getType().getFormat();
  bool IsQuantised = isa<dnn::GroupedType>(Output);
  StorageFormat Written =
      IsQuantised ? StorageFormat::F32 : dnn::formatOf(Output);
  if (Target.libraryServes(Input, Weight, Written))
    return IsQuantised ? "the library writes no grouped integers" : "";
  if (Target.hasDot(DotProduct::BF16Tile) && Input == StorageFormat::BF16)
    return "tiles multiply bf16";
  auto Name = [](StorageFormat Format) { return infoOf(Format).Name; };
  return llvm::formatv("{0} has no library matmul of {1} rows with panels of "
                       "{2} that writes {3}",
                       Target.getLevel(), Name(Input), Name(Weight),
                       Name(Written));
}

std::string tenon::whyPlaced(Operation *Op) {
  if (std::string Why = whyGenerated(Op); !Why.empty())
    return Why;
  auto Matmul = dyn_cast<dnn::MatmulOp>(Op);
  return Matmul && Matmul.isLibraryCall()
             ? "prefill-sized rows, of formats that it serves"
             : "library matmuls were not selected";
}

bool tenon::sharePrimitive(dnn::MatmulOp A, dnn::MatmulOp B) {
  auto SameType = [](Value X, Value Y) {
    return static_cast<bool>(X) == static_cast<bool>(Y) &&
           (!X || X.getType() == Y.getType());
  };
  return SameType(A.getInput(), B.getInput()) &&
         SameType(A.getWeight(), B.getWeight()) &&
         SameType(A.getBias(), B.getBias()) &&
         SameType(A.getMultiplier(), B.getMultiplier()) &&
         SameType(A.getResidual(), B.getResidual()) &&
         SameType(A.getOuts(), B.getOuts()) &&
         A.getActivation() == B.getActivation();
}

namespace {

struct SelectLibraryMatmuls
    : public tenon::impl::SelectLibraryMatmulsBase<SelectLibraryMatmuls> {
  void runOnOperation() override {
    if (!dnn::targetOf(getOperation()))
      return signalPassFailure();
    SmallVector<dnn::MatmulOp> Primitives;
    getOperation().walk([&](Operation *Op) {
      if (!isMatmul(Op))
        return;
      std::string Why = whyGenerated(Op);
      if (!Why.empty()) {
        remarkChosen(Op, "placement", "LibraryMatmul", "generated: " + Why);
        return;
      }
      auto Matmul = cast<dnn::MatmulOp>(Op);
      remarkChosen(Matmul, "placement", "LibraryMatmul",
                   "computed by the library");
      auto *Same = llvm::find_if(Primitives, [&](dnn::MatmulOp Other) {
        return sharePrimitive(Matmul, Other);
      });
      Matmul.setPrimitive(Same - Primitives.begin());
      if (Same == Primitives.end())
        Primitives.push_back(Matmul);
    });
  }
};

} // namespace
