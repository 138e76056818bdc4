//===- PlanMemory.cpp - One arena for all buffers -------------------------===//

#include "passes/Bufferization/Passes.h"

#include "passes/Support/Functions.h"
#include "runtime/Abi/StagedPages.h"
#include "runtime/Abi/TenonRt.h"

#include "llvm/Support/MathExtras.h"

namespace tenon {
#define GEN_PASS_DEF_PLANMEMORY
#include "passes/Bufferization/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;
namespace tr = tenon::transformer;

namespace {

constexpr int64_t Alignment = 64;

/// One allocation: its size, when it is alive, where it goes.
struct Planned {
  memref::AllocOp Alloc;
  dnn::CountOp Count;
  int64_t Bytes = 0;
  int64_t First = 0;
  int64_t Last = 0;
  int64_t Offset = 0;

  bool isAliveWith(const Planned &Other) const {
    return First <= Other.Last && Other.First <= Last;
  }
};

struct PlanMemory : public tenon::impl::PlanMemoryBase<PlanMemory> {
  void runOnOperation() override {
    ModuleOp Module = getOperation();
    int64_t EntryBytes = 0, CalleeBytes = 0;
    // Entries call layer functions one after another: all callees start behind
    // the largest entry frame.
    for (bool Entries : {true, false})
      for (auto Function : Module.getOps<func::FuncOp>()) {
        if (Function->hasAttr(tr::attr::Role) != Entries ||
            Function.isExternal())
          continue;
        FailureOr<int64_t> End = plan(Function, Entries ? 0 : EntryBytes);
        if (failed(End))
          return signalPassFailure();
        int64_t &Bytes = Entries ? EntryBytes : CalleeBytes;
        Bytes = std::max(Bytes, *End);
      }
    Module->setAttr(dnn::attr::ArenaBytes,
                    Builder(&getContext())
                        .getI64IntegerAttr(std::max(EntryBytes, CalleeBytes)));
  }

  /// The most rows that a count of `Kind` has in `Function`.
  static FailureOr<int64_t> mostRows(func::FuncOp Function,
                                     tr::CountKind Kind) {
    auto Bound = [&](StringRef Name) -> int64_t {
      auto Value = Function->getAttrOfType<IntegerAttr>(Name);
      return Value ? Value.getInt() : 0;
    };
    int64_t Tokens = Bound(tr::attr::MaxTokens);
    int64_t Rows = 0;
    switch (Kind) {
    case tr::CountKind::Tokens:
    case tr::CountKind::Sequences:
      Rows = Tokens;
      break;
    case tr::CountKind::OutputRows:
      Rows = Bound(tr::attr::MaxOutputRows);
      break;
    case tr::CountKind::StagedPages:
      return StagedPages::most(Tokens);
    }
    if (Rows < 1)
      return Function.emitOpError()
             << "plan-memory: expected attributes " << tr::attr::MaxTokens
             << " and " << tr::attr::MaxOutputRows;
    return tenon_rt_bucket(Rows);
  }

  /// Who uses `Buffer`, also through views of it. A buffer that leaves through
  /// anything else would be needed for longer than can be seen.
  static SmallVector<Operation *> usersOf(Value Buffer) {
    SmallVector<Operation *> Users;
    SmallVector<Value> Views = {Buffer};
    while (!Views.empty()) {
      Value View = Views.pop_back_val();
      for (Operation *User : View.getUsers()) {
        Users.push_back(User);
        for (Value Result : User->getResults())
          if (isa<BaseMemRefType>(Result.getType()))
            Views.push_back(Result);
      }
    }
    return Users;
  }

  /// Plans one frame from `Base` on; its end.
  FailureOr<int64_t> plan(func::FuncOp Function, int64_t Base) {
    Block &Body = Function.getBody().front();
    llvm::DenseMap<Operation *, int64_t> Order;
    for (auto [Index, Op] : llvm::enumerate(Body))
      Order[&Op] = static_cast<int64_t>(Index);

    SmallVector<Planned> Buffers;
    for (auto Alloc :
         llvm::make_early_inc_range(Body.getOps<memref::AllocOp>())) {
      if (Alloc->use_empty()) {
        Alloc->erase();
        continue;
      }
      Planned Buffer;
      Buffer.Alloc = Alloc;
      MemRefType Type = Alloc.getType();
      FailureOr<int64_t> Rows = Type.getDimSize(0);
      if (!Type.hasStaticShape()) {
        Buffer.Count =
            Alloc.getDynamicSizes().size() == 1
                ? Alloc.getDynamicSizes()[0].getDefiningOp<dnn::CountOp>()
                : dnn::CountOp();
        if (!Buffer.Count)
          return Alloc.emitOpError() << "plan-memory: expected no or one "
                                        "dynamic size, a dnn.count";
        Rows = mostRows(Function, Buffer.Count.getKind());
        if (failed(Rows))
          return failure();
      }
      int64_t RowBytes = dnn::rowBytesOf(Type);
      if (llvm::MulOverflow(*Rows, RowBytes, Buffer.Bytes) ||
          Buffer.Bytes > (int64_t(1) << 46))
        return Alloc.emitOpError() << "plan-memory: a buffer of " << *Rows
                                   << " rows does not fit any memory";
      Buffer.Bytes = static_cast<int64_t>(
          llvm::alignTo(static_cast<uint64_t>(Buffer.Bytes), Alignment));
      Buffer.First = INT64_MAX;
      for (Operation *User : usersOf(Alloc)) {
        int64_t At = Order.lookup(Body.findAncestorOpInBlock(*User));
        Buffer.First = std::min(Buffer.First, At);
        Buffer.Last = std::max(Buffer.Last, At);
      }
      Buffers.push_back(Buffer);
    }

    // Largest first, each at the lowest offset where it fits.
    SmallVector<Planned *> BySize =
        llvm::map_to_vector(Buffers, [](Planned &B) { return &B; });
    llvm::stable_sort(BySize, [](const Planned *A, const Planned *B) {
      return A->Bytes > B->Bytes;
    });
    int64_t End = Base;
    SmallVector<Planned *> Placed;
    for (Planned *Buffer : BySize) {
      int64_t Offset = Base;
      for (Planned *Other : Placed)
        if (Buffer->isAliveWith(*Other) &&
            Other->Offset < Offset + Buffer->Bytes)
          Offset = std::max(Offset, Other->Offset + Other->Bytes);
      Buffer->Offset = Offset;
      End = std::max(End, Offset + Buffer->Bytes);
      Placed.push_back(Buffer);
      llvm::stable_sort(Placed, [](const Planned *A, const Planned *B) {
        return A->Offset < B->Offset;
      });
    }

    for (Planned &Buffer : Buffers) {
      FailureOr<Value> Batch = batchOf(Buffer.Alloc);
      if (failed(Batch))
        return failure();
      OpBuilder B(Buffer.Alloc);
      Location Loc = Buffer.Alloc.getLoc();
      Value Rows;
      if (Buffer.Count)
        Rows = Buffer.Count;
      else
        Rows = arith::ConstantIndexOp::create(
            B, Loc, Buffer.Alloc.getType().getDimSize(0));
      auto New = dnn::BufferOp::create(
          B, Loc, Buffer.Alloc.getType(), *Batch, Rows, Buffer.Offset,
          dnn::PlanAttr::get(B.getContext(), Buffer.Bytes, Buffer.First,
                             Buffer.Last));
      Buffer.Alloc.getResult().replaceAllUsesWith(New);
      Buffer.Alloc->erase();
    }
    return End;
  }
};

} // namespace
