//===- AssignSites.cpp - Which products the library computes --------------===//

#include "passes/Placement/Passes.h"

#include "passes/Support/Functions.h"
#include "passes/Support/Remarks.h"

namespace tenon {
#define GEN_PASS_DEF_ASSIGNSITES
#include "passes/Placement/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;
using namespace tenon::dnn;

namespace {

struct AssignSites : public tenon::impl::AssignSitesBase<AssignSites> {
  void runOnOperation() override {
    ModuleOp Module = getOperation();
    const CpuLevelInfo *Level = levelOf(Module);
    if (!Level)
      return signalPassFailure();
    Builder B(&getContext());
    SmallVector<ProductOp> Sites;
    Module.walk([&](ProductOp Product) {
      std::string Why = whyGenerated(Product, *Level);
      if (!Why.empty()) {
        ++NumGenerated;
        remarkMissed(Product, "placement", "LibraryProduct",
                     "generated: " + Why);
        return;
      }
      ++NumLibrary;
      remarkPassed(Product, "placement", "LibraryProduct",
                   "computed by the library");
      auto *Same = llvm::find_if(
          Sites, [&](ProductOp Other) { return isSameSite(Product, Other); });
      Product.setSite(Same - Sites.begin());
      if (Same == Sites.end())
        Sites.push_back(Product);
    });
  }

  /// Why the library does not compute `Product`; empty when it does.
  static std::string whyGenerated(ProductOp Product, const CpuLevelInfo &Info) {
    if (!Product->getParentOfType<FunctionOpInterface>().getName().ends_with(
            ManySuffix))
      return "few rows, the weights are streamed";
    Type Weight = Product.getWeight().getType().getElementType();
    std::string Level(Info.Name);
    if (Weight.isBF16() && !Info.HasBF16Products)
      return Level + " has no bf16 products, weights are widened in a kernel";
    if (!Info.HasAVX512)
      return Level + " has no library product for the packed layout";
    return {};
  }

  static bool isSameSite(ProductOp A, ProductOp B) {
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
