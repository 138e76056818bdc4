//===- DnnEnums.td - Enumerations of the dialect -----------*- tablegen -*-===//

#ifndef TENON_DIALECTS_DNN_ENUMS_TD
#define TENON_DIALECTS_DNN_ENUMS_TD

include "mlir/IR/EnumAttr.td"

def Dnn_FieldKind : I32EnumAttr<"FieldKind", "array of the batch", [
    I32EnumAttrCase<"TokenIds", 0, "token_ids">,
    I32EnumAttrCase<"TokenTypes", 1, "token_types">,
    I32EnumAttrCase<"Positions", 2, "positions">,
    I32EnumAttrCase<"SequenceOf", 3, "sequence_of">,
    I32EnumAttrCase<"Starts", 4, "starts">,
    I32EnumAttrCase<"OutputRows", 5, "output_rows">,
    I32EnumAttrCase<"SourceLengths", 6, "source_lengths">,
    I32EnumAttrCase<"Prefixes", 7, "prefixes">,
    I32EnumAttrCase<"StagedStarts", 8, "staged_starts">]> {
  let cppNamespace = "::tenon::dnn";
  let genSpecializedAttr = 0;
}

#endif // TENON_DIALECTS_DNN_ENUMS_TD
