//===- Checks.cpp - What verifiers of placed operations share -------------===//

#include "dialects/Dnn/Checks.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::dnn;

bool dnn::isRows(Type T) {
  auto Rows = cast<ShapedType>(T);
  if (Rows.isDynamicDim(1))
    return false;
  auto Buffer = dyn_cast<MemRefType>(T);
  return !Buffer || Buffer.getLayout().isIdentity();
}

LogicalResult dnn::verifyComputeOp(Operation *Op) {
  auto Compute = cast<DestinationStyleOpInterface>(Op);
  bool HasTensors = false, HasBuffers = false;
  for (Type T : Op->getOperandTypes()) {
    HasTensors |= isa<TensorType>(T);
    HasBuffers |= isa<BaseMemRefType>(T);
  }
  if (HasTensors && HasBuffers)
    return Op->emitOpError()
           << "dnn_compute_c1: expected tensors or buffers, got both";
  for (auto [Index, Init] : llvm::enumerate(Compute.getDpsInitsMutable())) {
    Type Element = cast<ShapedType>(Init.get().getType()).getElementType();
    if (cast<ComputeOpInterface>(Op).canStore(Index, Element))
      continue;
    if (isa<GroupedType>(Element))
      return Op->emitOpError()
             << "dnn_compute_c3: destination " << Index
             << ": expected rows of f32 or bf16, got " << Element;
    return Op->emitOpError() << "dnn_compute_c2: destination " << Index
                             << ": expected rows of f32, got " << Element;
  }
  return success();
}

LogicalResult dnn::checkWidths(Operation *Op, const Twine &Constraint,
                               int64_t Width, ArrayRef<NamedValue> Rows) {
  for (auto [Name, Row] : Rows)
    if (Row && failed(checkEqual(Op, Constraint, "width of " + Name, Width,
                                 widthOf(Row))))
      return failure();
  return success();
}

LogicalResult dnn::checkWeight(Operation *Op, StringRef Prefix, StringRef Name,
                               Value Weight, Value Bias, int64_t Width) {
  if (failed(checkEqual(Op, Prefix + "_c1", Name + " input features", Width,
                        packedTypeOf(Weight).getInFeatures())))
    return failure();
  if (!Bias)
    return success();
  return checkEqual(Op, Prefix + "_c2", Name + " bias elements",
                    elementsOf(Weight), elementsOf(Bias));
}

LogicalResult dnn::checkFormat(Operation *Op, const Twine &Constraint,
                               StringRef Name, Value Like, Value Weight) {
  MLIRContext *Context = Op->getContext();
  return checkType(
      Op, Constraint, "format of " + Name,
      transformer::storedType(Context, packedTypeOf(Like).getFormat()),
      transformer::storedType(Context, packedTypeOf(Weight).getFormat()));
}

LogicalResult dnn::checkGrouped(Operation *Op, const Twine &Constraint,
                                Value Input, Value Weight) {
  StorageFormat Format = packedTypeOf(Weight).getFormat();
  if (!groupedTypeOf(Input) || infoOf(Format).isQuantised())
    return success();
  return Op->emitOpError() << Constraint
                           << ": input of grouped integers: expected quantised "
                              "weights, got "
                           << infoOf(Format).Name;
}

LogicalResult dnn::checkRopeTable(Operation *Op, const Twine &Constraint,
                                  transformer::RopeAttr Rope, Value Table) {
  if (static_cast<bool>(Rope) != static_cast<bool>(Table))
    return Op->emitOpError()
           << Constraint << ": expected a rotation with its table";
  if (!Rope)
    return success();
  return checkEqual(Op, Constraint, "columns of the table",
                    *Rope.getTableWidth(), packedTypeOf(Table).getInFeatures());
}

LogicalResult dnn::checkOffsets(Operation *Op, const Twine &Constraint,
                                Value Offsets, Value Weight) {
  return checkEqual(Op, Constraint, "width of offsets",
                    packedTypeOf(Weight).getCount() + 1, widthOf(Offsets));
}
