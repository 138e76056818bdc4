//===- MatmulOps.td - Activations times packed weights -----*- tablegen -*-===//

#ifndef TENON_DIALECTS_DNN_MATMULOPS_TD
#define TENON_DIALECTS_DNN_MATMULOPS_TD

include "DnnBase.td"

def Dnn_MatmulOp : Dnn_ComputeOp<"matmul", [AttrSizedOperandSegments]> {
  let summary = "activation(x W^T + bias) . multiplier + residual";
  let description = [{
    With `primitive` a call of the library, otherwise a generated kernel. Equal
    library matmuls share a primitive, whose number is its place in the
    manifest.
  }];
  let resultNames = "@weight";
  let arguments = (ins Dnn_MatmulRows:$input, Dnn_MatrixPanels:$weight,
                       Optional<Dnn_Vector>:$bias,
                       Optional<Dnn_Activations>:$multiplier,
                       Optional<Dnn_Activations>:$residual,
                       Dnn_MatmulRows:$outs,
                       DefaultValuedAttr<Transformer_ActivationAttr,
                         "::tenon::Activation::None">:$activation,
                       OptionalAttr<I64Attr>:$primitive);
  let results = (outs Optional<Dnn_MatmulRows>:$results);
  let assemblyFormat = [{
    $input `weight` $weight (`bias` $bias^)? (`activation` custom<Enum>($activation)^)?
    (`multiplier` $multiplier^)? (`residual` $residual^)?
    (`primitive` $primitive^)? `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let methods = [{
    bool isLibraryCall() { return getPrimitiveAttr() != nullptr; }
    bool convertsOnStore(unsigned Result) { return true; }
    bool quantizesOnStore(unsigned Result) { return !isLibraryCall(); }
  }];
}

def Dnn_GatedMatmulOp : Dnn_ComputeOp<"gated_matmul", [
    AttrSizedOperandSegments]> {
  let summary = "activation(x G^T + g) . (x U^T + u) in one kernel";
  let resultNames = "hidden";
  let arguments = (ins Transformer_ActivationAttr:$activation,
                       Dnn_MatmulRows:$input, Dnn_MatrixPanels:$gate,
                       Dnn_MatrixPanels:$up, Optional<Dnn_Vector>:$gateBias,
                       Optional<Dnn_Vector>:$upBias, Dnn_MatmulRows:$outs);
  let results = (outs Optional<Dnn_MatmulRows>:$results);
  let assemblyFormat = [{
    custom<Enum>($activation) $input `gate` $gate (`bias` $gateBias^)? `up` $up
    (`bias` $upBias^)? `outs` `(` $outs `)` attr-dict
    `:` functional-type(operands, results)
  }];
  let methods = [{
    bool convertsOnStore(unsigned Result) { return true; }
    bool quantizesOnStore(unsigned Result) { return true; }
  }];
}

#endif // TENON_DIALECTS_DNN_MATMULOPS_TD
