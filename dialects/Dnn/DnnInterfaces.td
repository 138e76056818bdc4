//===- DnnInterfaces.td - What passes ask a compute op -----*- tablegen -*-===//

#ifndef TENON_DIALECTS_DNN_INTERFACES_TD
#define TENON_DIALECTS_DNN_INTERFACES_TD

include "mlir/IR/OpBase.td"

def Dnn_ComputeOpInterface : OpInterface<"ComputeOpInterface"> {
  let cppNamespace = "::tenon::dnn";
  let description = [{
    A computation that the library does or that becomes a kernel. Every
    operation with it has an evaluator function and, unless it is always the
    library's, an emitter: without one the compiler does not link.
  }];
  let methods = [
    InterfaceMethod<"Whether the library does it.", "bool", "isLibraryCall",
      (ins), "", "return false;">,
    InterfaceMethod<"Whether destination `Result` may be f32 or bf16, what is "
                    "stored being rounded to it. Without that a cast of the "
                    "result stays an operation.",
      "bool", "convertsOnStore", (ins "unsigned":$Result), "",
      "return false;">,
    InterfaceMethod<"Whether it may be of grouped integers too, whole groups "
                    "being quantised as they are stored.",
      "bool", "quantizesOnStore", (ins "unsigned":$Result), "",
      "return false;">
  ];
  let extraSharedClassDeclaration = [{
    /// Whether destination `Result` may have rows of `Element`.
    bool canStore(unsigned Result, ::mlir::Type Element) {
      if (::llvm::isa<::tenon::dnn::GroupedType>(Element))
        return $_op.quantizesOnStore(Result);
      return !::llvm::isa<::mlir::FloatType>(Element) || Element.isF32() ||
             $_op.convertsOnStore(Result);
    }
  }];
  let verify = [{ return ::tenon::dnn::verifyComputeOp($_op); }];
}

#endif // TENON_DIALECTS_DNN_INTERFACES_TD
