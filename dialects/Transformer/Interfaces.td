//===- Interfaces.td - What passes ask an operation --------*- tablegen -*-===//

#ifndef TENON_DIALECTS_TRANSFORMER_INTERFACES_TD
#define TENON_DIALECTS_TRANSFORMER_INTERFACES_TD

include "mlir/IR/OpBase.td"

class Transformer_Trait<string name> : NativeOpTrait<name> {
  let cppNamespace = "::tenon::trait";
}
def Transformer_Fused : Transformer_Trait<"Fused">;
def Transformer_RowWise : Transformer_Trait<"RowWise">;
def Transformer_AppendsToCache : Transformer_Trait<"AppendsToCache">;
def Transformer_ReadsCache : Transformer_Trait<"ReadsCache">;

def Transformer_RowsOpInterface : OpInterface<"RowsOpInterface"> {
  let cppNamespace = "::tenon::transformer";
  let description = [{
    Which count of the batch the rows of operands and results are. An operation
    without this interface gives results as many rows as its operands have; if
    it takes the batch, those are the tokens.
  }];
  let methods = [
    InterfaceMethod<"The count of the rows of operand `Operand`, of an "
                    "operation that takes the batch.",
      "::tenon::transformer::CountKind", "getOperandCount",
      (ins "unsigned":$Operand), "",
      "return ::tenon::transformer::CountKind::Tokens;">,
    InterfaceMethod<"The count of the rows of result `Result`.",
      "::tenon::transformer::CountKind", "getResultCount",
      (ins "unsigned":$Result), "",
      "return ::tenon::transformer::CountKind::Tokens;">
  ];
}

def Transformer_WeightOpInterface : OpInterface<"WeightOpInterface"> {
  let cppNamespace = "::tenon::transformer";
  let description = [{
    How an operation uses its weights of two or more dimensions. Every
    operation with such operands has it.
  }];
  let methods = [
    InterfaceMethod<"A use for each of these operands that is there.",
      "::llvm::SmallVector<::tenon::WeightUse>", "getWeightUses", (ins)>
  ];
}

def Transformer_AttentionOpInterface : OpInterface<"AttentionOpInterface"> {
  let cppNamespace = "::tenon::transformer";
  let description = [{
    What an operation costs that grows with the context.
  }];
  let methods = [
    InterfaceMethod<"The cost of its scores and their weighted sum.",
      "::tenon::AttentionCost", "getAttentionCost", (ins)>
  ];
}

def Transformer_TableAttr : AttrInterface<"TableAttrInterface"> {
  let cppNamespace = "::tenon::transformer";
  let description = [{
    The contents of a table of f32 numbers that is computed when a model is
    compiled.
  }];
  let methods = [
    InterfaceMethod<"Columns of the table; none when they are the user's to "
                    "choose.", "std::optional<int64_t>", "getTableWidth", (ins)>,
    InterfaceMethod<"Whether a row stands for a position, otherwise for a head.",
      "bool", "isByPosition", (ins)>,
    InterfaceMethod<"Rows of the stored parameter [rows, heads] that the table "
                    "is made of; none when it needs no parameter.",
      "std::optional<int64_t>", "getLearnedRows", (ins), "",
      "return std::nullopt;">,
    InterfaceMethod<"Fills row `Row` of a table of `Rows` rows. `Learned` has "
                    "the parameter's elements, row by row.",
      "void", "fillRow", (ins "int64_t":$Row, "int64_t":$Rows,
                              "::llvm::ArrayRef<float>":$Learned,
                              "::llvm::MutableArrayRef<float>":$Out)>
  ];
}

#endif // TENON_DIALECTS_TRANSFORMER_INTERFACES_TD
