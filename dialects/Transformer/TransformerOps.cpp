//===- TransformerOps.cpp - What ODS generates of the operations ----------===//
//
// The verifiers are beside the definitions: FooOps.td and FooOps.cpp.
//
//===----------------------------------------------------------------------===//

#include "dialects/Transformer/Transformer.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

#include "dialects/Transformer/TransformerInterfaces.cpp.inc"

std::optional<Variant> transformer::variantOf(Operation *Function) {
  auto Name = Function->getAttrOfType<VariantAttr>(attr::Variant);
  return Name ? std::optional(Name.getValue()) : std::nullopt;
}

FailureOr<SmallVector<WeightUse>> transformer::weightUsesOf(Operation *Op) {
  if (auto Weights = dyn_cast<WeightOpInterface>(Op))
    return Weights.getWeightUses();
  for (OpOperand &Operand : Op->getOpOperands())
    if (Type T = Operand.get().getType();
        isWeight(T) && cast<ShapedType>(T).getRank() > 1)
      return Op->emitOpError()
             << "operand " << Operand.getOperandNumber()
             << ": expected an operation that says how it uses its weights";
  return SmallVector<WeightUse>();
}

#define GET_OP_CLASSES
#include "dialects/Transformer/TransformerOps.cpp.inc"
