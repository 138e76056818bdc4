//===- RowCounts.cpp - Which count of the batch rows are ------------------===//

#include "dialects/Transformer/RowCounts.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

SmallVector<OpOperand *> transformer::rowOperandsOf(Operation *Op) {
  SmallVector<OpOperand *> Rows;
  for (OpOperand &Operand : Op->getOpOperands())
    if (isActivations(Operand.get().getType()))
      Rows.push_back(&Operand);
  return Rows;
}

SmallVector<FunctionOpInterface> transformer::calleesOf(Operation *Op) {
  SmallVector<StringAttr> Names;
  if (auto Dispatch = dyn_cast<DispatchOp>(Op)) {
    Names = {Dispatch.getFewAttr().getAttr(), Dispatch.getManyAttr().getAttr()};
  } else if (auto Call = dyn_cast<CallOpInterface>(Op)) {
    if (auto Symbol = dyn_cast<SymbolRefAttr>(Call.getCallableForCallee()))
      Names = {Symbol.getLeafReference()};
  }
  SmallVector<FunctionOpInterface> Callees;
  for (StringAttr Name : Names)
    if (auto Callee =
            Op->getParentOfType<ModuleOp>().lookupSymbol<FunctionOpInterface>(
                Name);
        Callee && !Callee.isExternal())
      Callees.push_back(Callee);
  return Callees;
}

FailureOr<RowCounts> RowCounts::compute(ModuleOp Module) {
  RowCounts Result;
  // Entries reach all that is called; what is not called stands for itself.
  SmallVector<FunctionOpInterface> Functions;
  for (bool IsEntry : {true, false})
    for (auto Function : Module.getOps<FunctionOpInterface>())
      if (Function->hasAttr(attr::Role) == IsEntry && !Function.isExternal())
        Functions.push_back(Function);
  llvm::SmallPtrSet<Operation *, 8> Done;
  for (FunctionOpInterface Function : Functions)
    for (Operation &Op : Function.getFunctionBody().front()) {
      if (Done.contains(Function))
        break;
      for (FunctionOpInterface Callee : calleesOf(&Op)) {
        if (failed(Result.visitCall(&Op, Callee)))
          return failure();
        if (!Done.insert(Callee).second)
          continue;
        for (Operation &Inner : Callee.getFunctionBody().front())
          if (failed(Result.visit(&Inner)))
            return failure();
      }
      if (failed(Result.visit(&Op)))
        return failure();
    }
  return Result;
}

CountKind RowCounts::of(Value Activations) const {
  auto Found = Counts.find(Activations);
  return Found == Counts.end() ? CountKind::Tokens : Found->second;
}

LogicalResult RowCounts::visitCall(Operation *Call, Operation *Callee) {
  auto Function = cast<FunctionOpInterface>(Callee);
  for (auto [Argument, Operand] :
       llvm::zip(Function.getArguments(), Call->getOperands())) {
    if (!isActivations(Operand.getType()))
      continue;
    auto [Known, IsNew] = Counts.try_emplace(Argument, of(Operand));
    if (!IsNew && Known->second != of(Operand))
      return Call->emitOpError()
             << "module_c14: rows passed to @" << Function.getName()
             << ": expected " << stringifyCountKind(Known->second)
             << " as other calls pass, got " << stringifyCountKind(of(Operand));
  }
  return success();
}

LogicalResult RowCounts::visit(Operation *Op) {
  SmallVector<FunctionOpInterface> Callees = calleesOf(Op);
  if (!Callees.empty()) {
    Operation *Return =
        Callees.back().getFunctionBody().front().getTerminator();
    for (auto [Result, Returned] :
         llvm::zip(Op->getResults(), Return->getOperands()))
      if (isActivations(Result.getType()))
        Counts[Result] = of(Returned);
    return success();
  }
  if (Op->hasTrait<OpTrait::ReturnLike>())
    return success();
  auto Says = dyn_cast<RowsOpInterface>(Op);
  bool TakesBatch =
      llvm::any_of(Op->getOperandTypes(), llvm::IsaPred<BatchType>);
  std::optional<CountKind> Expected;
  for (OpOperand *Operand : rowOperandsOf(Op)) {
    if (TakesBatch)
      Expected = Says ? Says.getOperandCount(Operand->getOperandNumber())
                      : CountKind::Tokens;
    CountKind Got = of(Operand->get());
    if (!Expected)
      Expected = Got;
    if (*Expected != Got)
      return Op->emitOpError()
             << "module_c13: rows of operand " << Operand->getOperandNumber()
             << ": expected " << stringifyCountKind(*Expected) << ", got "
             << stringifyCountKind(Got);
  }
  for (OpResult Result : Op->getResults())
    if (isActivations(Result.getType()))
      Counts[Result] = Says ? Says.getResultCount(Result.getResultNumber())
                            : Expected.value_or(CountKind::Tokens);
  return success();
}
