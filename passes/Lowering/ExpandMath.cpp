//===- ExpandMath.cpp - Functions of mathematics as polynomials -----------===//

#include "passes/Lowering/Passes.h"

#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tenon {
#define GEN_PASS_DEF_EXPANDMATH
#include "passes/Lowering/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {

struct ExpandMath : public tenon::impl::ExpandMathBase<ExpandMath> {
  void runOnOperation() override {
    RewritePatternSet Patterns(&getContext());
    populateMathPolynomialApproximationPatterns(Patterns);
    vector::populateVectorMaskMaterializationPatterns(
        Patterns, /*force32BitVectorIndices=*/true);
    if (failed(applyPatternsGreedily(getOperation(), std::move(Patterns))))
      signalPassFailure();
  }
};

} // namespace
