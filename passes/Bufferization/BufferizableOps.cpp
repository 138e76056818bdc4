//===- BufferizableOps.cpp - How dnn operations bufferize -----------------===//

#include "passes/Bufferization/Passes.h"

#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace tenon;

namespace {

/// Destination-passing ops keep their form: tensors are replaced by buffers
/// and results go. Destinations are never read.
template <typename OpTy>
struct DnnBufferization
    : public DstBufferizableOpInterfaceExternalModel<DnnBufferization<OpTy>,
                                                     OpTy> {
  bool bufferizesToMemoryRead(Operation *Op, OpOperand &Operand,
                              const AnalysisState &) const {
    return !cast<DestinationStyleOpInterface>(Op).isDpsInit(&Operand);
  }

  LogicalResult bufferize(Operation *Op, RewriterBase &Rewriter,
                          const BufferizationOptions &Options,
                          BufferizationState &State) const {
    OperationState New(Op->getLoc(), Op->getName());
    New.addAttributes(Op->getAttrs());
    New.propertiesAttr = Op->getPropertiesAsAttribute();
    for (Value Operand : Op->getOperands()) {
      if (!isa<TensorType>(Operand.getType())) {
        New.operands.push_back(Operand);
        continue;
      }
      FailureOr<Value> Buffer = getBuffer(Rewriter, Operand, Options, State);
      if (failed(Buffer))
        return failure();
      New.operands.push_back(*Buffer);
    }
    Rewriter.setInsertionPoint(Op);
    auto Replaced = cast<DestinationStyleOpInterface>(Rewriter.create(New));
    SmallVector<Value> Buffers;
    for (OpOperand &Init : Replaced.getDpsInitsMutable())
      Buffers.push_back(Init.get());
    replaceOpWithBufferizedValues(Rewriter, Op, Buffers);
    return success();
  }
};

/// Attaches to all of `OpTys` that pass destinations.
template <typename... OpTys> void attach(MLIRContext *Context) {
  auto AttachOne = [&]<typename OpTy>(std::type_identity<OpTy>) {
    if constexpr (OpTy::template hasTrait<DestinationStyleOpInterface::Trait>())
      OpTy::template attachInterface<DnnBufferization<OpTy>>(*Context);
  };
  (AttachOne(std::type_identity<OpTys>()), ...);
}

} // namespace

void tenon::registerDnnBufferization(DialectRegistry &Registry) {
  tensor::registerBufferizableOpInterfaceExternalModels(Registry);
  Registry.addExtension(+[](MLIRContext *Context, dnn::DnnDialect *) {
    attach<
#define GET_OP_LIST
#include "dialects/Dnn/DnnOps.cpp.inc"
        >(Context);
  });
}
