//===- ConvertHandles.cpp - Scopes, calls, tables of positions ------------===//

#include "passes/Placement/DnnConverter.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

dnn::ScopeOp DnnConverter::createScope(Location Loc, StringAttr Name,
                                       IntegerAttr Layer) {
  MLIRContext *Context = Builder.getContext();
  auto Key = ArrayAttr::get(
      Context, {Name, Layer ? Attribute(Layer) : UnitAttr::get(Context)});
  int64_t Number =
      Module.Scopes.insert({Key, static_cast<int64_t>(Module.Scopes.size())})
          .first->second;
  return dnn::ScopeOp::create(Builder, Loc, ScopeType::get(Context), Batch,
                              Name, Builder.getI64IntegerAttr(Number), Layer);
}

LogicalResult DnnConverter::convert(ScopeOp Op) {
  map(Op, createScope(Op.getLoc(), Op.getNameAttr(), Op.getLayerAttr()));
  return success();
}

LogicalResult DnnConverter::convert(DispatchOp Op) {
  SmallVector<Value> Outs;
  for (Value Output : Op.getOutputs())
    if (isActivations(Output.getType()))
      Outs.push_back(emptyLike(Output));
  auto New = dnn::DispatchOp::create(
      Builder, Op.getLoc(), ValueRange(Outs).getTypes(), Op.getFewAttr(),
      Op.getManyAttr(), Op.getCountAttr(), Batch, mapped(Op.getInputs()), Outs);
  // Appends are effects now: caches come out in the order they go in.
  SmallVector<Value> Caches =
      llvm::filter_to_vector(mapped(Op.getInputs()), [](Value V) {
        return isa<CacheType>(V.getType());
      });
  unsigned NextOut = 0, NextCache = 0;
  for (Value Output : Op.getOutputs()) {
    if (isActivations(Output.getType())) {
      map(Output, New.getResults()[NextOut++]);
      continue;
    }
    if (NextCache == Caches.size() ||
        Caches[NextCache].getType() != Output.getType())
      return Op.emitOpError()
             << "expected cache results in the order of the cache operands";
    map(Output, Caches[NextCache++]);
  }
  return success();
}

LogicalResult DnnConverter::convert(func::ReturnOp Op) {
  SmallVector<Value> Kept;
  for (Value Result : Op.getOperands())
    if (!isa<CacheType>(Result.getType()))
      Kept.push_back(mapped(Result));
  Op.getOperandsMutable().assign(Kept);
  return success();
}

/// A row of a table by position.
LogicalResult DnnConverter::convert(SinusoidOp Op) {
  Value Out = emptyLike(Op.getResult());
  Value Table =
      table(Op.getLoc(), anyScope(),
            SinusoidAttr::get(Op.getContext(), Op.getStyle()), Module.Positions,
            cast<RankedTensorType>(Out.getType()).getDimSize(1));
  map(Op, dnn::EmbeddingOp::create(
              Builder, Op.getLoc(), Out.getType(),
              IndexKindAttr::get(Op.getContext(), IndexKind::Position), Batch,
              Table, Out, Builder.getI64IntegerAttr(0))
              .getResults());
  return success();
}

LogicalResult DnnConverter::convert(RopeOp Op) {
  Value Out = emptyLike(Op.getResult());
  map(Op, dnn::RopeOp::create(Builder, Op.getLoc(), Out.getType(),
                              mapped(Op.getInput()), Batch,
                              ropeTable(Op.getLoc(), Op.getRope()), Out,
                              Op.getHeads(), Op.getOffset(), Op.getRope())
              .getResults());
  return success();
}
