//===- GenerateKernels.cpp - A kernel for every generated operation -------===//

#include "passes/Codegen/KernelBuilder.h"
#include "passes/Placement/LibraryMatmuls.h"
#include "passes/Support/DeadCode.h"
#include "passes/Support/Functions.h"

#include "mlir/IR/AsmState.h"

namespace tenon {
#define GEN_PASS_DEF_GENERATEKERNELS
#include "passes/Codegen/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {

/// Every operation of the dnn dialect.
template <typename... OpTys> struct Emitters {
  /// Emits `Op` as its type does.
  static void emit(KernelBuilder &B, Operation *Op) {
    (tryEmit<OpTys>(B, Op), ...);
  }

private:
  template <typename OpTy>
  static void tryEmit(KernelBuilder &B, Operation *Op) {
    if constexpr (OpTy::template hasTrait<dnn::ComputeOpInterface::Trait>())
      if (auto Typed = dyn_cast<OpTy>(Op))
        emitKernel(B, Typed);
  }
};
using DnnEmitters = Emitters<
#define GET_OP_LIST
#include "dialects/Dnn/DnnOps.cpp.inc"
    >;

/// What kernels since the last barrier read and write.
class PendingEffects {
public:
  /// Whether `Op` must wait until all threads have done them.
  bool conflictWith(Operation *Op) const {
    return llvm::any_of(effectsOf(Op), [&](const Effect &Later) {
      return llvm::any_of(Pending, [&](const Effect &Earlier) {
        return (isWrite(Later) || isWrite(Earlier)) &&
               Later.getResource() == Earlier.getResource() &&
               mayOverlap(Later.getValue(), Earlier.getValue());
      });
    });
  }
  void add(Operation *Op) { llvm::append_range(Pending, effectsOf(Op)); }
  void clear() { Pending.clear(); }

private:
  using Effect = MemoryEffects::EffectInstance;

  static SmallVector<Effect> effectsOf(Operation *Op) {
    SmallVector<Effect> Effects;
    cast<MemoryEffectOpInterface>(Op).getEffects(Effects);
    return Effects;
  }
  static bool isWrite(const Effect &Of) {
    return isa<MemoryEffects::Write>(Of.getEffect());
  }
  /// Buffers of a function overlap as they are planned to, and never overlap
  /// what the function is given. Effects on no value are on all of a resource.
  static bool mayOverlap(Value A, Value B) {
    if (!A || !B || A == B)
      return true;
    auto First = A.getDefiningOp<dnn::BufferOp>();
    auto Second = B.getDefiningOp<dnn::BufferOp>();
    if (!First || !Second)
      return !First && !Second;
    if (!First.getPlan() || !Second.getPlan())
      return true;
    auto Begin = [](dnn::BufferOp Of) {
      return static_cast<int64_t>(Of.getOffset());
    };
    auto End = [&](dnn::BufferOp Of) {
      return Begin(Of) + Of.getPlanAttr().getBytes();
    };
    return Begin(First) < End(Second) && Begin(Second) < End(First);
  }

  SmallVector<Effect> Pending;
};

struct GenerateKernels
    : public tenon::impl::GenerateKernelsBase<GenerateKernels> {
  void runOnOperation() override {
    dnn::TargetAttr Target = dnn::targetOf(getOperation());
    if (!Target)
      return signalPassFailure();
    NextNumber = 0;
    for (auto Function : getOperation().getOps<func::FuncOp>())
      if (!Function.isExternal() && failed(generate(Function, Target)))
        return signalPassFailure();
    eraseDeadOperations(getOperation());
  }

  LogicalResult generate(func::FuncOp Function, dnn::TargetAttr Target) {
    auto Computations = Function.getOps<dnn::ComputeOpInterface>();
    if (Computations.empty())
      return success();
    FailureOr<Value> Found = batchOf(*Computations.begin());
    if (failed(Found))
      return failure();
    Value Batch = *Found;
    nameOperations(Function);
    SmallVector<Operation *> Run;
    SmallVector<Operation *> Ops = llvm::map_to_vector(
        Function.getBody().front(), [](Operation &Op) { return &Op; });
    for (Operation *Op : Ops) {
      auto Compute = dyn_cast<dnn::ComputeOpInterface>(Op);
      if (Compute && !Compute.isLibraryCall()) {
        Run.push_back(Compute);
        continue;
      }
      // Handles and buffers are no work; they stay before the region.
      if (!Run.empty() && isMemoryEffectFree(Op) &&
          !Op->hasTrait<OpTrait::IsTerminator>()) {
        Op->moveBefore(Run.front());
        continue;
      }
      emitRegion(Run, Batch, Target);
      Run.clear();
      if (auto Matmul = dyn_cast<dnn::MatmulOp>(Op))
        callLibrary(Matmul, Batch);
    }
    return success();
  }

  /// Writes down every computation under the names that dumps have shown it
  /// with, while all of the function is still there.
  void nameOperations(func::FuncOp Function) {
    Texts.clear();
    AsmState Names(Function);
    for (Operation &Op : Function.getBody().front())
      if (isa<dnn::ComputeOpInterface>(Op)) {
        std::string Text;
        llvm::raw_string_ostream Stream(Text);
        Op.print(Stream, Names);
        StringRef Short = Text;
        Short.consume_front("dnn.");
        Texts[&Op] = Short;
      }
  }

  /// Says that `Op` begins. `Thread` is null outside of regions.
  void announce(OpBuilder &Builder, dnn::ComputeOpInterface Op, Value Batch,
                Value Thread) {
    auto Function = Op->getParentOfType<func::FuncOp>();
    Value Scope;
    for (BlockArgument Argument : Function.getArguments())
      if (!Scope && isa<transformer::ScopeType>(Argument.getType()))
        Scope = Argument;
    Location Loc = Op.getLoc();
    Value Rows = memref::DimOp::create(Builder, Loc, dnn::rowsOf(Op), 0);
    IntegerAttr Primitive;
    if (auto Matmul = dyn_cast<dnn::MatmulOp>(*Op))
      Primitive = Matmul.getPrimitiveAttr();
    StringAttr Reason;
    if (isMatmul(Op))
      Reason = Builder.getStringAttr(whyPlaced(Op));
    dnn::KernelOp::create(
        Builder, Loc, Builder.getStringAttr(Texts[Op]),
        Function.getSymNameAttr(), Builder.getI64IntegerAttr(NextNumber++),
        Batch, Scope, Rows, Thread,
        dnn::CostAttr::get(Builder.getContext(), dnn::costOf(Op)), Primitive,
        Reason);
  }

  void callLibrary(dnn::MatmulOp Matmul, Value Batch) {
    OpBuilder Builder(Matmul);
    announce(Builder, Matmul, Batch, /*Thread=*/{});
    dnn::CallMatmulOp::create(Builder, Matmul.getLoc(), *Matmul.getPrimitive(),
                              Batch, Matmul.getInput(), Matmul.getWeight(),
                              Matmul.getBias(), Matmul.getMultiplier(),
                              Matmul.getResidual(), Matmul.getOuts());
    Matmul->erase();
  }

  void emitRegion(ArrayRef<Operation *> Run, Value Batch,
                  dnn::TargetAttr Target) {
    if (Run.empty())
      return;
    OpBuilder Builder(Run.front());
    bool IsDecode = isDecodeSized(Run.front());
    auto Parallel = dnn::ParallelOp::create(Builder, Run.front()->getLoc());
    Block &Body = Parallel.getBody().front();
    PendingEffects Pending;
    for (Operation *Op : Run) {
      Builder.setInsertionPointToEnd(&Body);
      if (Pending.conflictWith(Op)) {
        dnn::BarrierOp::create(Builder, Op->getLoc(), Batch);
        Pending.clear();
      }
      Pending.add(Op);
      announce(Builder, cast<dnn::ComputeOpInterface>(Op), Batch,
               Parallel.getThread());
      KernelBuilder B(Builder, Op->getLoc(), Parallel, Batch, Target, IsDecode);
      DnnEmitters::emit(B, Op);
    }
    for (Operation *Op : Run)
      Op->erase();
  }

  /// The place in the manifest of the next kernel or call.
  int64_t NextNumber = 0;
  /// What each computation of the function printed as.
  llvm::DenseMap<Operation *, std::string> Texts;
};

} // namespace
