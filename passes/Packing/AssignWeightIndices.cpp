//===- AssignWeightIndices.cpp - Number the weights of every scope --------===//

#include "passes/Packing/Passes.h"

#include "passes/Packing/WeightTables.h"

namespace tenon {
#define GEN_PASS_DEF_ASSIGNWEIGHTINDICES
#include "passes/Packing/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {

struct AssignWeightIndices
    : public tenon::impl::AssignWeightIndicesBase<AssignWeightIndices> {
  void runOnOperation() override {
    Builder B(&getContext());
    for (const SharedIndices &Table : sharedIndices(getOperation()))
      for (auto [Index, Entry] : llvm::enumerate(Table))
        for (Operation *Op : Entry.second)
          Op->setAttr("index",
                      B.getI64IntegerAttr(static_cast<int64_t>(Index)));
  }
};

} // namespace
