//===- TransformerBase.td - Dialect, types and attributes --*- tablegen -*-===//

#ifndef TENON_DIALECTS_TRANSFORMER_BASE_TD
#define TENON_DIALECTS_TRANSFORMER_BASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"

def Transformer_Dialect : Dialect {
  let name = "transformer";
  let cppNamespace = "::tenon::transformer";
  let summary = "Transformer models as graphs of named operations";
  let description = [{
    The operations of Transformer models on tensors whose first dimension is
    the tokens of a ragged batch: all tokens of all sequences of a step, back
    to back. Activations are f32 at this level; the type that products compute
    in is chosen when operations are placed on a CPU level.

    Parameters are named by a scope and a key and never appear as data. The
    key-value cache is a linear value. SPEC.md numbers every constraint.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Transformer_Type<string name, string typeMnemonic>
    : TypeDef<Transformer_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Transformer_BatchType : Transformer_Type<"Batch", "batch"> {
  let summary = "Descriptor of a ragged batch";
  let description = [{
    The tokens of one step: their ids, types, positions, the sequence each
    belongs to, and the rows whose output is wanted. Opaque.
  }];
}

def Transformer_ScopeType : Transformer_Type<"Scope", "scope"> {
  let summary = "Where a function finds its parameters";
  let description = [{
    A prefix of parameter names and the layer of the caches that belongs to it.
    Equal layers share one function and differ only in the scope they get.
  }];
}

def Transformer_CacheType : Transformer_Type<"Cache", "cache"> {
  let summary = "Handle of a key-value cache";
  let description = [{
    The state of one kind of key-value cache, of `kv_heads` heads of `head_dim`
    elements: `!transformer.cache<8x64xbf16>`. A linear value: an append takes
    a handle and gives the next one, and a handle once taken is not used again.
  }];
  let parameters = (ins "int64_t":$kvHeads, "int64_t":$headDim,
                        "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Enums
//===----------------------------------------------------------------------===//

class Transformer_Enum<string name, string summary,
                       list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::tenon::transformer";
  let genSpecializedAttr = 0;
}
class Transformer_EnumAttr<I32EnumAttr e, string mnem>
    : EnumAttr<Transformer_Dialect, e, mnem> {
  let assemblyFormat = "`` $value";
}

def Transformer_Activation : Transformer_Enum<"Activation",
    "element-wise function of a feed-forward", [
  I32EnumAttrCase<"None", 0, "none">,
  I32EnumAttrCase<"Relu", 1, "relu">,
  I32EnumAttrCase<"Gelu", 2, "gelu">,
  I32EnumAttrCase<"GeluTanh", 3, "gelu_tanh">,
  I32EnumAttrCase<"Silu", 4, "silu">]>;
def Transformer_ActivationAttr
    : Transformer_EnumAttr<Transformer_Activation, "activation">;

def Transformer_MaskKind : Transformer_Enum<"MaskKind",
    "which keys a query attends to", [
  I32EnumAttrCase<"Causal", 0, "causal">,
  I32EnumAttrCase<"Bidirectional", 1, "bidirectional">]>;
def Transformer_MaskAttr : Transformer_EnumAttr<Transformer_MaskKind, "mask">;

def Transformer_PoolKind : Transformer_Enum<"PoolKind",
    "how a sequence's rows become one", [
  I32EnumAttrCase<"Mean", 0, "mean">,
  I32EnumAttrCase<"Cls", 1, "cls">,
  I32EnumAttrCase<"Last", 2, "last">]>;
def Transformer_PoolKindAttr
    : Transformer_EnumAttr<Transformer_PoolKind, "pool_kind">;

def Transformer_IndexKind : Transformer_Enum<"IndexKind",
    "which number of a token looks its embedding up", [
  I32EnumAttrCase<"Token", 0, "token">,
  I32EnumAttrCase<"Position", 1, "position">,
  I32EnumAttrCase<"TokenType", 2, "token_type">]>;
def Transformer_IndexAttr
    : Transformer_EnumAttr<Transformer_IndexKind, "index">;

def Transformer_NormKind : Transformer_Enum<"NormKind",
    "which normalisation", [
  I32EnumAttrCase<"Layer", 0, "layer">,
  I32EnumAttrCase<"Rms", 1, "rms">]>;
def Transformer_NormAttr : Transformer_EnumAttr<Transformer_NormKind, "norm">;

def Transformer_RowKind : Transformer_Enum<"RowKind",
    "which count of the batch a function's work grows with", [
  I32EnumAttrCase<"Tokens", 0, "tokens">,
  I32EnumAttrCase<"Wanted", 1, "wanted">,
  I32EnumAttrCase<"Sequences", 2, "sequences">,
  I32EnumAttrCase<"Chunks", 3, "chunks">]>;
def Transformer_RowAttr : Transformer_EnumAttr<Transformer_RowKind, "rows">;

def Transformer_RopeStyle : Transformer_Enum<"RopeStyle",
    "which elements a rotation pairs", [
  I32EnumAttrCase<"Half", 0, "half">,
  I32EnumAttrCase<"Interleaved", 1, "interleaved">]>;

def Transformer_RopeScaling : Transformer_Enum<"RopeScaling",
    "how rotation frequencies are stretched", [
  I32EnumAttrCase<"Default", 0, "default">,
  I32EnumAttrCase<"Linear", 1, "linear">,
  I32EnumAttrCase<"Llama3", 2, "llama3">]>;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def Transformer_RopeAttr : AttrDef<Transformer_Dialect, "Rope"> {
  let mnemonic = "rope";
  let summary = "Rotary position embedding";
  let description = [{
    Rotates pairs of the first `dim` elements of every head by
    `position * frequency`; pair i has the frequency `base^(-2i/dim)`, changed
    by the scaling. `half` pairs element i with i + dim/2 (LLaMA in Hugging
    Face's layout), `interleaved` 2i with 2i + 1 (GPT-J).

    ```
    #transformer.rope<half, dim = 64, base = 10000.0>
    #transformer.rope<half, dim = 64, base = 10000.0, linear(factor = 2.0)>
    #transformer.rope<half, dim = 64, base = 500000.0,
      llama3(factor = 32.0, low = 1.0, high = 4.0, original = 8192.0)>
    ```

    Sources: Su et al. 2021 (RoFormer); for `llama3`, Transformers'
    `_compute_llama3_parameters`.
  }];
  let parameters = (ins "::tenon::transformer::RopeStyle":$style,
                        "int64_t":$dim, "::tenon::transformer::Real":$base,
                        "::tenon::transformer::RopeScaling":$scaling,
                        "::tenon::transformer::Real":$factor, "::tenon::transformer::Real":$lowFrequency,
                        "::tenon::transformer::Real":$highFrequency, "::tenon::transformer::Real":$original);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The `dim / 2` rotation frequencies in radians per position, computed in
    /// f32 as Transformers does.
    ::llvm::SmallVector<float> frequencies() const;
  }];
}

//===----------------------------------------------------------------------===//
// Operand classes and the op base
//===----------------------------------------------------------------------===//

/// Activations: `tensor<?xHxf32>`, a row per token.
def Transformer_Rows : ConfinedType<TensorRankOf<[F32], [2]>, [
    CPred<"::llvm::cast<::mlir::ShapedType>($_self).isDynamicDim(0)">,
    CPred<"!::llvm::cast<::mlir::ShapedType>($_self).isDynamicDim(1)">],
    "rows of f32, tensor<?xWxf32>">;
/// A stored matrix, `tensor<NxKxT>`: N output features, K input features.
def Transformer_Matrix : ConfinedType<
    StaticShapeTensorOf<[F32, F16, BF16]>, [HasAnyRankOfPred<[2]>], "stored matrix">;
/// A stored vector, `tensor<NxT>`.
def Transformer_Vector : ConfinedType<
    StaticShapeTensorOf<[F32, F16, BF16]>, [HasAnyRankOfPred<[1]>], "stored vector">;

/// Results print under names that say what they are.
class Transformer_Op<string mnemonic, list<Trait> traits = []>
    : Op<Transformer_Dialect, mnemonic,
         !listconcat([OpAsmOpInterface], traits)> {
  let extraClassDeclaration = [{
    void getAsmResultNames(::mlir::OpAsmSetValueNameFn SetName) {
      ::tenon::transformer::nameResults(getOperation(), SetName);
    }
  }];
}

/// Ops that only compute: not speculatable, as a wrong index or row count at
/// run time would be undefined.
class Transformer_ComputeOp<string mnemonic, list<Trait> traits = []>
    : Transformer_Op<mnemonic, !listconcat([NoMemoryEffect], traits)>;

#endif // TENON_DIALECTS_TRANSFORMER_BASE_TD
