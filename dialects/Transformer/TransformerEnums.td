//===- TransformerEnums.td - Enumerations of the dialect ---*- tablegen -*-===//
//
// Those that the runtime shares (activations) are in runtime/Abi/Types.h.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TRANSFORMER_ENUMS_TD
#define TENON_DIALECTS_TRANSFORMER_ENUMS_TD

include "mlir/IR/EnumAttr.td"

class Transformer_Enum<string name, string summary,
                       list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::tenon::transformer";
  let genSpecializedAttr = 0;
}

def Transformer_CacheKind : Transformer_Enum<"CacheKind",
    "what a cache holds", [
  I32EnumAttrCase<"Sequence", 0, "sequence">,
  I32EnumAttrCase<"Cross", 1, "cross">,
  I32EnumAttrCase<"Latent", 2, "latent">]>;

def Transformer_MaskKind : Transformer_Enum<"MaskKind",
    "which keys a query attends to", [
  I32EnumAttrCase<"Causal", 0, "causal">,
  I32EnumAttrCase<"Bidirectional", 1, "bidirectional">,
  I32EnumAttrCase<"Prefix", 2, "prefix">]>;

def Transformer_PoolKind : Transformer_Enum<"PoolKind",
    "how a sequence's rows become one", [
  I32EnumAttrCase<"Mean", 0, "mean">,
  I32EnumAttrCase<"Cls", 1, "cls">,
  I32EnumAttrCase<"Last", 2, "last">]>;

def Transformer_IndexKind : Transformer_Enum<"IndexKind",
    "which number of a token looks its embedding up", [
  I32EnumAttrCase<"Token", 0, "token">,
  I32EnumAttrCase<"Position", 1, "position">,
  I32EnumAttrCase<"TokenType", 2, "token_type">]>;

def Transformer_NormKind : Transformer_Enum<"NormKind",
    "which normalisation", [
  I32EnumAttrCase<"Layer", 0, "layer">,
  I32EnumAttrCase<"Rms", 1, "rms">]>;

def Transformer_CountKind : Transformer_Enum<"CountKind",
    "which count of the batch a function's work grows with", [
  I32EnumAttrCase<"Tokens", 0, "tokens">,
  I32EnumAttrCase<"OutputRows", 1, "output_rows">,
  I32EnumAttrCase<"Sequences", 2, "sequences">,
  I32EnumAttrCase<"StagedPages", 3, "staged_pages">]>;

def Transformer_RopeStyle : Transformer_Enum<"RopeStyle",
    "which elements a rotation pairs", [
  I32EnumAttrCase<"Half", 0, "half">,
  I32EnumAttrCase<"Interleaved", 1, "interleaved">]>;

def Transformer_RopeScaling : Transformer_Enum<"RopeScaling",
    "how rotation frequencies are stretched", [
  I32EnumAttrCase<"Default", 0, "default">,
  I32EnumAttrCase<"Linear", 1, "linear">,
  I32EnumAttrCase<"Llama3", 2, "llama3">,
  I32EnumAttrCase<"Yarn", 3, "yarn">,
  I32EnumAttrCase<"LongRope", 4, "longrope">]>;

def Transformer_RouterScore : Transformer_Enum<"RouterScore",
    "how a router's logits become scores", [
  I32EnumAttrCase<"Softmax", 0, "softmax">,
  I32EnumAttrCase<"Sigmoid", 1, "sigmoid">]>;

def Transformer_Variant : Transformer_Enum<"Variant",
    "which batches a function is compiled for", [
  I32EnumAttrCase<"Few", 0, "few">,
  I32EnumAttrCase<"Many", 1, "many">]>;

#endif // TENON_DIALECTS_TRANSFORMER_ENUMS_TD
