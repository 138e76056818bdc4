//===- BufferizeFunctions.cpp - Each function bufferized alone ------------===//

#include "passes/Bufferization/Passes.h"
#include "passes/Support/DeadCode.h"
#include "passes/Support/Functions.h"

#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"

namespace tenon {
#define GEN_PASS_DEF_BUFFERIZEFUNCTIONS
#include "passes/Bufferization/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;

namespace {

MemRefType bufferTypeOf(Type Tensor) {
  auto Ranked = cast<RankedTensorType>(Tensor);
  return MemRefType::get(Ranked.getShape(), Ranked.getElementType());
}

struct BufferizeFunctions
    : public tenon::impl::BufferizeFunctionsBase<BufferizeFunctions> {
  void runOnOperation() override {
    for (auto Function : getOperation().getOps<func::FuncOp>()) {
      if (Function.isExternal())
        continue;
      if (failed(passBuffers(Function)) || failed(bufferize(Function)))
        return signalPassFailure();
    }
  }

  /// Makes tensors of the signature buffers, with results behind arguments.
  static LogicalResult passBuffers(func::FuncOp Function) {
    Block &Body = Function.getBody().front();
    auto Builder = OpBuilder::atBlockBegin(&Body);
    Location Loc = Function.getLoc();
    for (BlockArgument Argument : Body.getArguments()) {
      auto Tensor = dyn_cast<RankedTensorType>(Argument.getType());
      if (!Tensor)
        continue;
      Argument.setType(bufferTypeOf(Tensor));
      auto Read =
          bufferization::ToTensorOp::create(Builder, Loc, Tensor, Argument,
                                            /*restrict=*/true);
      Argument.replaceAllUsesExcept(Read, Read);
    }

    bool IsEntry = Function->hasAttr(transformer::attr::Role);
    Operation *Return = Body.getTerminator();
    Builder.setInsertionPoint(Return);
    for (Value Result : Return->getOperands()) {
      if (!isa<RankedTensorType>(Result.getType()))
        return Function.emitOpError()
               << "bufferize-functions: expected a function that returns "
                  "ranked tensors, got "
               << Result.getType();
      MemRefType Type = bufferTypeOf(Result.getType());
      Value Out;
      if (IsEntry) {
        Value Rows = outputRows(Result);
        if (!Rows)
          return Function.emitOpError()
                 << "bufferize-functions: expected an entry that returns "
                    "computed rows, counted by a dnn.count";
        FailureOr<Value> Batch = batchOf(Function);
        if (failed(Batch))
          return failure();
        Out = dnn::OutputOp::create(Builder, Loc, Type, *Batch, Rows);
      } else {
        Out = Body.addArgument(Type, Loc);
      }
      auto Write = bufferization::MaterializeInDestinationOp::create(
          Builder, Loc, Result, Out);
      Write.setRestrict(true);
      Write.setWritable(true);
    }
    Return->setOperands({});
    Function.setFunctionType(
        Builder.getFunctionType(Body.getArgumentTypes(), {}));
    return success();
  }

  /// The row count that `Result`'s destination was made with; null if it was
  /// not made in this function.
  static Value outputRows(Value Result) {
    auto Producer = Result.getDefiningOp<DestinationStyleOpInterface>();
    if (!Producer)
      return {};
    Value Init = Producer.getTiedOpOperand(cast<OpResult>(Result))->get();
    auto Empty = Init.getDefiningOp<tensor::EmptyOp>();
    return Empty && Empty.getDynamicSizes().size() == 1
               ? Empty.getDynamicSizes().front()
               : Value();
  }

  static LogicalResult bufferize(func::FuncOp Function) {
    IRRewriter Rewriter(Function.getContext());
    if (failed(bufferization::eliminateEmptyTensors(Rewriter, Function)))
      return failure();
    bufferization::OneShotBufferizationOptions Options;
    bufferization::BufferizationState State;
    if (failed(bufferization::runOneShotBufferize(Function, Options, State)))
      return failure();
    eraseDeadOperations(Function);
    return success();
  }
};

} // namespace
