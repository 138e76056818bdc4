//===- ModelOps.cpp - Scopes, parameters and dispatch --------------------===//

#include "dialects/Transformer/Checks.h"
#include "dialects/Transformer/Transformer.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

void ScopeOp::getAsmResultNames(OpAsmSetValueNameFn SetName) {
  SetName(getResult(), nameOfScope(getName(), getLayer()));
}

void ParameterOp::getAsmResultNames(OpAsmSetValueNameFn SetName) {
  SetName(getResult(), nameOfWeight(getKey()));
}

LogicalResult ScopeOp::verify() {
  // Artifacts call the root so.
  if (getName() == ".")
    return emitOpError() << "scope_c2: name: expected another than '.'";
  return checkAtLeast(*this, "scope_c1", "layer", 0,
                      static_cast<int64_t>(getLayer().value_or(0)));
}

LogicalResult ParameterOp::verify() {
  if (failed(checkComponent(*this, "parameter_c1", getComponent())))
    return failure();
  if (getKey().empty())
    return emitOpError() << "parameter_c2: key: expected a name, got none";
  return success();
}

LogicalResult DispatchOp::verifySymbolUses(SymbolTableCollection &SymbolTable) {
  for (FlatSymbolRefAttr Symbol : {getFewAttr(), getManyAttr()}) {
    auto Callee =
        SymbolTable.lookupNearestSymbolFrom<FunctionOpInterface>(*this, Symbol);
    if (!Callee)
      return emitOpError() << "dispatch_c1: " << Symbol
                           << ": expected a function of that name";
    if (!llvm::equal(Callee.getArgumentTypes(), getOperandTypes()) ||
        !llvm::equal(Callee.getResultTypes(), getResultTypes()))
      return emitOpError() << "dispatch_c2: " << Symbol << ": expected type "
                           << FunctionType::get(getContext(), getOperandTypes(),
                                                getResultTypes())
                           << ", got " << Callee.getFunctionType();
  }
  return success();
}
