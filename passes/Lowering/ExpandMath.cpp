//===- ExpandMath.cpp - Functions of mathematics as polynomials -----------===//

#include "passes/Lowering/Passes.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
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
    // Kernels are many times as large as what there is to expand.
    SmallVector<Operation *> Expanded;
    getOperation().walk([&](Operation *Op) {
      if (isa<math::MathDialect>(Op->getDialect()) ||
          isa<vector::CreateMaskOp>(Op))
        Expanded.push_back(Op);
    });
    if (failed(applyOpPatternsGreedily(Expanded, std::move(Patterns))))
      signalPassFailure();
  }
};

} // namespace
