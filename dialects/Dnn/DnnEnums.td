//===- DnnEnums.td - Enumerations of the dialect -----------*- tablegen -*-===//

#ifndef TENON_DIALECTS_DNN_ENUMS_TD
#define TENON_DIALECTS_DNN_ENUMS_TD

include "mlir/IR/EnumAttr.td"

def Dnn_LayoutKind : I32EnumAttr<"LayoutKind", "layout of a packed weight", [
    I32EnumAttrCase<"Vector", 0, "vector">,
    I32EnumAttrCase<"Rows", 1, "rows">,
    I32EnumAttrCase<"Panels", 2, "panels">]> {
  let cppNamespace = "::tenon::dnn";
  let genSpecializedAttr = 0;
}

def Dnn_FieldKind : I32EnumAttr<"FieldKind", "array of the batch", [
    I32EnumAttrCase<"TokenIds", 0, "token_ids">,
    I32EnumAttrCase<"TokenTypes", 1, "token_types">,
    I32EnumAttrCase<"Positions", 2, "positions">,
    I32EnumAttrCase<"SequenceOf", 3, "sequence_of">,
    I32EnumAttrCase<"Starts", 4, "starts">,
    I32EnumAttrCase<"Wanted", 5, "wanted">,
    I32EnumAttrCase<"MemoryLengths", 6, "memory_lengths">,
    I32EnumAttrCase<"Prefixes", 7, "prefixes">]> {
  let cppNamespace = "::tenon::dnn";
  let genSpecializedAttr = 0;
}
#endif // TENON_DIALECTS_DNN_ENUMS_TD
