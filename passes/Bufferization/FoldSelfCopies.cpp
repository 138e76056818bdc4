//===- FoldSelfCopies.cpp - Drop copies of a buffer onto itself -----------===//

#include "passes/Bufferization/Passes.h"

namespace tenon {
#define GEN_PASS_DEF_FOLDSELFCOPIES
#include "passes/Bufferization/Passes.h.inc"
} // namespace tenon

using namespace mlir;

namespace {
struct FoldSelfCopies : public tenon::impl::FoldSelfCopiesBase<FoldSelfCopies> {
  void runOnOperation() override {
    getOperation().walk([&](memref::CopyOp Copy) {
      if (Copy.getSource() != Copy.getTarget())
        return;
      Copy->erase();
    });
  }
};
} // namespace
