//===- SelectLibraryMatmuls.cpp - Which matmuls the library does ----------===//

#include "passes/Placement/Passes.h"

#include "passes/Support/Functions.h"
#include "passes/Support/Remarks.h"

namespace tenon {
#define GEN_PASS_DEF_SELECTLIBRARYMATMULS
#include "passes/Placement/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;
using namespace tenon::dnn;

namespace {

struct SelectLibraryMatmuls
    : public tenon::impl::SelectLibraryMatmulsBase<SelectLibraryMatmuls> {
  void runOnOperation() override {
    TargetAttr Target = targetOf(getOperation());
    if (!Target)
      return signalPassFailure();
    SmallVector<MatmulOp> Primitives;
    getOperation().walk([&](MatmulOp Matmul) {
      std::string Why = whyGenerated(Matmul, Target);
      if (!Why.empty()) {
        remarkMissed(Matmul, "placement", "LibraryMatmul", "generated: " + Why);
        return;
      }
      remarkPassed(Matmul, "placement", "LibraryMatmul",
                   "computed by the library");
      auto *Same = llvm::find_if(Primitives, [&](MatmulOp Other) {
        return sharePrimitive(Matmul, Other);
      });
      Matmul.setPrimitive(Same - Primitives.begin());
      if (Same == Primitives.end())
        Primitives.push_back(Matmul);
    });
  }

  /// Why the library does not compute `Matmul`; empty when it does.
  static std::string whyGenerated(MatmulOp Matmul, TargetAttr Target) {
    if (isDecodeSized(Matmul))
      return "a decode-sized batch streams the weights";
    StorageFormat Format = Matmul.getWeight().getType().getFormat();
    std::string Name(infoOf(Format).Name);
    if (!Target.libraryServes(Format))
      return (Target.getLevel() + " has no library matmul for panels of " +
              Name)
          .str();
    if (formatOf(Matmul.getInput()) != Format)
      return "the library has no matmul of other activations with " + Name;
    if (Format == StorageFormat::F32 &&
        formatOf(Matmul.getOuts()) != StorageFormat::F32)
      return "the library's f32 matmul writes f32";
    return {};
  }

  static bool sharePrimitive(MatmulOp A, MatmulOp B) {
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
};

} // namespace
