//===- PlaceScratch.cpp - Scratch memory of threads -----------------------===//

#include "passes/Codegen/Passes.h"
#include "passes/Support/Functions.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace tenon {
#define GEN_PASS_DEF_PLACESCRATCH
#include "passes/Codegen/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {

/// Bytes of scratch that a region may have on the stack of a thread: threads
/// have 8 MiB by default, 2 MiB without a limit, and less where somebody says
/// so.
constexpr int64_t MostOnStack = int64_t(64) << 10;
constexpr int64_t PageBytes = 4096;

struct PlaceScratch : public tenon::impl::PlaceScratchBase<PlaceScratch> {
  void runOnOperation() override {
    int64_t Most = 0;
    WalkResult Placed =
        getOperation().walk([&](dnn::ParallelOp Region) -> WalkResult {
          FailureOr<int64_t> Bytes = place(Region);
          if (failed(Bytes))
            return WalkResult::interrupt();
          Most = std::max(Most, *Bytes);
          return WalkResult::advance();
        });
    if (Placed.wasInterrupted())
      return signalPassFailure();
    // Threads share no page.
    getOperation()->setAttr(
        dnn::attr::ScratchBytes,
        Builder(&getContext())
            .getI64IntegerAttr(llvm::alignTo(Most, PageBytes)));
  }

  static int64_t bytesOf(memref::AllocaOp Op) {
    MemRefType Type = Op.getType();
    return static_cast<int64_t>(
        llvm::alignTo(Type.getNumElements() * Type.getElementTypeBitWidth() / 8,
                      dnn::BufferAlignment));
  }

  /// What `Region` needs of its threads' scratch memory.
  static FailureOr<int64_t> place(dnn::ParallelOp Region) {
    auto Scratch =
        llvm::to_vector(Region.getBody().front().getOps<memref::AllocaOp>());
    llvm::stable_sort(Scratch, [](memref::AllocaOp A, memref::AllocaOp B) {
      return bytesOf(A) > bytesOf(B);
    });
    int64_t OnStack = 0, InMemory = 0;
    for (memref::AllocaOp Op : Scratch)
      OnStack += bytesOf(Op);
    for (memref::AllocaOp Op : Scratch) {
      if (OnStack <= MostOnStack)
        break;
      FailureOr<Value> Batch = batchOf(Region);
      if (failed(Batch))
        return failure();
      OpBuilder Builder(Op);
      auto Placed =
          dnn::ScratchOp::create(Builder, Op.getLoc(), Op.getType(), *Batch,
                                 Region.getThread(), InMemory);
      OnStack -= bytesOf(Op);
      InMemory += bytesOf(Op);
      Op->replaceAllUsesWith(Placed);
      Op->erase();
    }
    return InMemory;
  }
};

} // namespace
