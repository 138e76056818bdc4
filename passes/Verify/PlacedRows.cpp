//===- PlacedRows.cpp - Rows of the operands of a placed module -----------===//
//
// dnn_module_c8 and c9: kernels run over the rows of one of their operands, and
// trust that the others have as many.
//
//===----------------------------------------------------------------------===//

#include "passes/Verify/Passes.h"

#include "dialects/Transformer/RowCounts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tenon;
using transformer::CountKind;

namespace {

/// The count that rows are; none for rows of another number.
using Count = std::optional<CountKind>;

StringRef nameOf(Count Rows) {
  return Rows ? transformer::stringifyCountKind(*Rows) : "another number";
}

/// Whether `Operand` is where experts begin, which is one row in all.
bool isOffsets(OpOperand &Operand) {
  Operation *Op = Operand.getOwner();
  if (auto Group = dyn_cast<dnn::MoeGroupOp>(Op))
    return &Operand == &Group.getOffsetsOutMutable();
  if (auto GateUp = dyn_cast<dnn::MoeGateUpOp>(Op))
    return &Operand == &GateUp.getOffsetsMutable();
  auto Down = dyn_cast<dnn::MoeDownOp>(Op);
  return Down && &Operand == &Down.getOffsetsMutable();
}

bool hasRows(Value V) {
  auto Type = dyn_cast<RankedTensorType>(V.getType());
  return Type && dnn::isRows(Type);
}

class PlacedRows {
public:
  explicit PlacedRows(ModuleOp Module) : Module(Module) {}

  LogicalResult verify() {
    WalkResult Walked = Module.walk([&](dnn::DispatchOp Dispatch) {
      return WalkResult(verifyCall(Dispatch));
    });
    if (Walked.wasInterrupted())
      return failure();
    Walked = Module.walk([&](Operation *Op) {
      if (isa<dnn::ComputeOpInterface>(Op))
        return WalkResult(verifyComputation(Op));
      if (auto Return = dyn_cast<func::ReturnOp>(Op))
        return WalkResult(verifyReturn(Return));
      return WalkResult::advance();
    });
    return failure(Walked.wasInterrupted());
  }

private:
  /// Rows are counted where their destination is made, or passed by calls,
  /// which are one level deep. What nothing calls has tokens.
  Count countOf(Value Rows) const {
    while (auto Result = dyn_cast<OpResult>(Rows)) {
      auto Producer = dyn_cast<DestinationStyleOpInterface>(Result.getOwner());
      if (!Producer)
        break;
      Rows = Producer.getTiedOpOperand(Result)->get();
    }
    if (isa<BlockArgument>(Rows)) {
      auto Known = Passed.find(Rows);
      return Known == Passed.end() ? CountKind::Tokens : Known->second;
    }
    auto Empty = Rows.getDefiningOp<tensor::EmptyOp>();
    if (!Empty || Empty.getDynamicSizes().size() != 1)
      return std::nullopt;
    auto Made = Empty.getDynamicSizes().front().getDefiningOp<dnn::CountOp>();
    return Made ? Count(Made.getKind()) : std::nullopt;
  }

  LogicalResult verifyCall(dnn::DispatchOp Dispatch) {
    for (StringRef Name : {Dispatch.getFew(), Dispatch.getMany()}) {
      auto Callee = Module.lookupSymbol<func::FuncOp>(Name);
      for (auto [Argument, Operand] :
           llvm::zip(Callee.getArguments(), Dispatch.getInputs()))
        if (hasRows(Operand)) {
          auto [Known, IsNew] = Passed.try_emplace(Argument, countOf(Operand));
          if (failed(check(Dispatch, "passed to @" + Name, Known->second,
                           countOf(Operand))))
            return failure();
        }
      SmallVector<Count> Wanted = llvm::map_to_vector(
          Dispatch.getOuts(), [&](Value Out) { return countOf(Out); });
      auto [Known, IsNew] = Returned.try_emplace(Callee, Wanted);
      for (auto [Before, Now] : llvm::zip(Known->second, Wanted))
        if (failed(check(Dispatch, "returned by @" + Name, Before, Now)))
          return failure();
    }
    return success();
  }

  LogicalResult verifyComputation(Operation *Op) {
    auto Says = dyn_cast<transformer::RowsOpInterface>(Op);
    bool TakesBatch = llvm::any_of(Op->getOperandTypes(),
                                   llvm::IsaPred<transformer::BatchType>);
    std::optional<Count> Expected;
    for (OpOperand &Operand : Op->getOpOperands()) {
      if (!hasRows(Operand.get()))
        continue;
      unsigned Number = Operand.getOperandNumber();
      if (isOffsets(Operand)) {
        int64_t Rows = cast<ShapedType>(Operand.get().getType()).getDimSize(0);
        if (Rows != 1)
          return Op->emitOpError() << "dnn_module_c8: rows of operand "
                                   << Number << ": expected one of offsets";
        continue;
      }
      if (TakesBatch)
        Expected = Says ? Says.getOperandCount(Number) : CountKind::Tokens;
      Count Got = countOf(Operand.get());
      if (!Expected)
        Expected = Got;
      if (failed(check(Op, "of operand " + Twine(Number), *Expected, Got)))
        return failure();
    }
    return success();
  }

  LogicalResult verifyReturn(func::ReturnOp Return) {
    auto Function = Return->getParentOfType<func::FuncOp>();
    auto Wanted = Returned.find(Function);
    if (Wanted != Returned.end())
      for (auto [Expected, Value] :
           llvm::zip(Wanted->second, Return.getOperands()))
        if (failed(check(Return,
                         "returned, which go to a destination of @" +
                             Function.getName(),
                         Expected, countOf(Value))))
          return failure();
    std::optional<OutputKind> Output = transformer::outputOf(Function);
    if (!Output)
      return success();
    CountKind Expected = transformer::rowsOf(*Output);
    for (Value Rows : Return.getOperands())
      if (hasRows(Rows) && countOf(Rows) != Expected)
        return Return.emitOpError()
               << "dnn_module_c9: rows of the output '" << infoOf(*Output).Name
               << "': expected " << nameOf(Expected) << ", got "
               << nameOf(countOf(Rows));
    return success();
  }

  static LogicalResult check(Operation *Op, const Twine &Which, Count Expected,
                             Count Got) {
    if (Expected && Got == Expected)
      return success();
    return Op->emitOpError()
           << "dnn_module_c8: rows " << Which << ": expected "
           << (Expected ? nameOf(Expected) : "a count of the batch") << ", got "
           << nameOf(Got);
  }

  ModuleOp Module;
  /// Of arguments of functions that are called.
  llvm::DenseMap<Value, Count> Passed;
  /// Of the destinations that each function's results go to.
  llvm::DenseMap<Operation *, SmallVector<Count>> Returned;
};

} // namespace

LogicalResult tenon::verifyPlacedRows(ModuleOp Module) {
  return PlacedRows(Module).verify();
}
