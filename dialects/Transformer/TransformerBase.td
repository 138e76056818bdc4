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
include "dialects/Transformer/Interfaces.td"
include "dialects/Transformer/TransformerEnums.td"

def Transformer_Dialect : Dialect {
  let name = "transformer";
  let cppNamespace = "::tenon::transformer";
  let summary = "Transformer models as graphs of named operations";
  let description = [{
    The operations of Transformer models on tensors whose first dimension is
    the tokens of a ragged batch: all tokens of all sequences of a step, back
    to back. Activations are f32 at this level; the type that matmuls compute
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

/// Function arguments of these types print under the type's name.
class Transformer_Type<string name, string typeMnemonic>
    : TypeDef<Transformer_Dialect, name, [
        DeclareTypeInterfaceMethods<OpAsmTypeInterface, ["getAsmName"]>]> {
  let mnemonic = typeMnemonic;
}

def Transformer_BatchType : Transformer_Type<"Batch", "batch"> {
  let summary = "Descriptor of a ragged batch";
  let description = [{
    The tokens of one step: their ids, types, positions, the sequence each
    belongs to, and the output rows. Opaque.
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
  let summary = "Handle of a cache";
  let description = [{
    The state of one kind of cache. A linear value: an append takes a handle
    and gives the next one, and a handle once taken is not used again.

    ```
    !transformer.cache<8x64xbf16>          keys and values, 8 heads of 64
    !transformer.cache<cross 8x64xbf16>    those of a source text
    !transformer.cache<latent 1x576xbf16>  576 values per token (MLA)
    !transformer.cache<8x64xi8>            integers and a scale per head
    ```

    The last word is the storage format. A `cross` cache, which cross-attention
    reads, is filled once per sequence, with the source text of an
    encoder-decoder, and has page tables of its own. A `latent` one is that of
    multi-head latent attention (MLA, DeepSeek).
  }];
  let parameters = (ins "::tenon::transformer::CacheKind":$kind,
                        "int64_t":$kvHeads, "int64_t":$headDim,
                        "::tenon::CacheFormat":$format);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isCross() const { return getKind() == CacheKind::Cross; }
    bool isLatent() const { return getKind() == CacheKind::Latent; }
    /// Of the pages of keys and values.
    PageLayout getPageLayout() const {
      return {getKvHeads(), getHeadDim(), getFormat()};
    }
    /// Bytes of one page of one layer.
    int64_t getPageBytes() const;
    /// Bytes of a value, and of the scales of one token of one layer.
    int64_t getScaleBytes() const {
      return infoOf(getFormat()).HasScales ? 2 * 4 * getKvHeads() : 0;
    }
  }];
}

def Transformer_QuantType : TypeDef<Transformer_Dialect, "Quant"> {
  let mnemonic = "quant";
  let summary = "Element of a quantised matrix";
  let description = [{
    `tensor<2048x8192x!transformer.quant<q4_k>>` is stored in blocks of that
    format along its rows: codes of a few bits that share scales. The
    operations that multiply with such a matrix compute with the values that
    the blocks stand for.
  }];
  let parameters = (ins "::tenon::StorageFormat":$format);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Enumerations as attributes
//===----------------------------------------------------------------------===//

/// An enumeration of runtime/Abi/Types.h with its table of names.
class Tenon_SharedEnum<string name, string table, string summary>
    : I32EnumAttr<name, summary, []> {
  let cppNamespace = "::tenon";
  let genSpecializedAttr = 0;
  let parameterParser = "::tenon::parseNamed($_parser, ::tenon::" # table # ")";
  let parameterPrinter = "$_printer << ::tenon::infoOf($_self).Name";
}

/// `#transformer.mask<causal>` alone; operations print the word (custom<Enum>).
class Transformer_EnumAttr<EnumAttrInfo e, string mnem>
    : EnumAttr<Transformer_Dialect, e, mnem> {
  let cppNamespace = "::tenon::transformer";
  let assemblyFormat = "`<` $value `>`";
}

def Tenon_Activation : Tenon_SharedEnum<"Activation", "Activations",
    "element-wise function of a feed-forward">;
def Transformer_ActivationAttr
    : Transformer_EnumAttr<Tenon_Activation, "activation">;
def Transformer_MaskAttr : Transformer_EnumAttr<Transformer_MaskKind, "mask">;
def Transformer_PoolKindAttr
    : Transformer_EnumAttr<Transformer_PoolKind, "pool_kind">;
def Transformer_IndexAttr
    : Transformer_EnumAttr<Transformer_IndexKind, "index">;
def Transformer_NormAttr : Transformer_EnumAttr<Transformer_NormKind, "norm">;
def Transformer_CountAttr : Transformer_EnumAttr<Transformer_CountKind, "count">;
def Transformer_RopeStyleAttr
    : Transformer_EnumAttr<Transformer_RopeStyle, "rope_style">;
def Transformer_VariantAttr
    : Transformer_EnumAttr<Transformer_Variant, "variant">;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def Transformer_RopeAttr : AttrDef<Transformer_Dialect, "Rope", [
    DeclareAttrInterfaceMethods<Transformer_TableAttr, ["getTableWidth", "isByPosition", "fillRow"]>]> {
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
    #transformer.rope<half, dim = 64, base = 10000.0, yarn(factor = 4.0,
      fast = 32.0, slow = 1.0, original = 4096.0, truncate = 1.0,
      attention = 1.14)>
    #transformer.rope<half, dim = 4, base = 10000.0,
      longrope(attention = 1.19, 1.0, 1.5)>
    ```

    `attention` scales cosines and sines, and so queries and keys.

    Sources: Su et al. 2021 (RoFormer); for the scalings `llama3`, `yarn` (Peng
    et al. 2023) and `longrope` (Ding et al. 2024), the functions of these names
    in Transformers' modeling_rope_utils.
  }];
  let parameters = (ins "::tenon::transformer::RopeStyle":$style,
                        "int64_t":$dim, "::tenon::transformer::Real":$base,
                        "::tenon::transformer::RopeScaling":$scaling,
                        ArrayRefParameter<"::tenon::transformer::Real",
                          "numbers of the scaling, in the order they print in">
                          :$numbers);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The `dim / 2` rotation frequencies in radians per position, computed in
    /// f32 as Transformers does.
    ::llvm::SmallVector<float> frequencies() const;
    /// What cosines and sines are multiplied with.
    float attentionFactor() const;
  }];
}

def Transformer_SinusoidAttr : AttrDef<Transformer_Dialect, "Sinusoid", [
    DeclareAttrInterfaceMethods<Transformer_TableAttr, ["getTableWidth", "isByPosition", "fillRow"]>]> {
  let mnemonic = "sinusoid";
  let summary = "A table of sinusoids";
  let description = [{
    See the operation of that name: `#transformer.sinusoid<half>`.
  }];
  let parameters = (ins EnumParameter<Transformer_RopeStyle>:$style);
  let assemblyFormat = "`<` $style `>`";
}

def Transformer_AlibiAttr : AttrDef<Transformer_Dialect, "Alibi", [
    DeclareAttrInterfaceMethods<Transformer_TableAttr, ["getTableWidth", "isByPosition", "fillRow"]>]> {
  let mnemonic = "alibi";
  let summary = "Linear biases of attention";
  let description = [{
    Adds `slope * key position` to the scores of a head (Press et al. 2022).
    With n heads, m the largest power of two not above n, head h < m has the
    slope `2^(-max (h + 1) / m)`; the others take every second one of twice as
    many. `rounded` is Falcon's form: slopes, positions and their products are
    rounded to bf16, and these multiplied with the scale of the scores.

    ```
    #transformer.alibi<max = 8.0>
    #transformer.alibi<max = 8.0, rounded>
    ```
  }];
  let parameters = (ins "::tenon::transformer::Real":$maxBias, "bool":$rounded);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// One slope per head, rounded if the attribute says so.
    ::llvm::SmallVector<float> slopes(int64_t Heads) const;
  }];
}

def Transformer_BucketsAttr : AttrDef<Transformer_Dialect, "Buckets", [
    DeclareAttrInterfaceMethods<Transformer_TableAttr, ["getTableWidth", "isByPosition", "getLearnedRows", "fillRow"]>]> {
  let mnemonic = "buckets";
  let summary = "Buckets of relative positions";
  let description = [{
    Which of `count` learned biases a distance (key position minus query
    position) has: small distances have one each, larger ones share
    logarithmically, from `max` on all the last (Raffel et al. 2020). In
    `bidirectional` attention half of the buckets are for keys behind the query,
    otherwise these all have the first.

    ```
    #transformer.buckets<32, max = 128, bidirectional>
    ```
  }];
  let parameters = (ins "int64_t":$count, "int64_t":$maxDistance,
                        "bool":$bidirectional);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The bucket of key position minus query position; computed in f32 as
    /// Transformers does.
    int64_t bucketOf(int64_t Distance) const;
  }];
}

def Transformer_RouterAttr : AttrDef<Transformer_Dialect, "Router"> {
  let mnemonic = "router";
  let summary = "How experts are chosen";
  let description = [{
    Scores are the softmax or the sigmoid of the router's logits. The `top`
    highest (plus a correction, if there is one) are chosen and weighted with
    their scores, divided by the sum of those chosen (`normalize`) and times
    `scale`. With `groups` G of which g are kept, experts lie in G groups, and
    only those of the g best can be chosen; a group is as good as its best
    expert, or as its best two together (`pairs`).

    ```
    #transformer.router<softmax, top = 2, normalize>
    #transformer.router<sigmoid, top = 8, normalize, scale = 2.5,
      groups = 8 keep 4 pairs>
    ```

    Sources: Shazeer et al. 2017; DeepSeek-V2 and V3 for groups.
  }];
  let parameters = (ins "::tenon::transformer::RouterScore":$score,
                        "int64_t":$top, "bool":$normalize,
                        "::tenon::transformer::Real":$scale,
                        "int64_t":$groups, "int64_t":$keptGroups,
                        "bool":$pairs);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Operand classes and the op base
//===----------------------------------------------------------------------===//

/// Activations: `tensor<?xHxf32>`, a row per token.
def Transformer_Activations : ConfinedType<TensorRankOf<[F32], [2]>, [
    CPred<"::llvm::cast<::mlir::ShapedType>($_self).isDynamicDim(0)">,
    CPred<"!::llvm::cast<::mlir::ShapedType>($_self).isDynamicDim(1)">],
    "rows of f32, tensor<?xWxf32>">;
/// A stored matrix, `tensor<NxKxT>`: N output features, K input features.
def Transformer_Matrix : ConfinedType<
    StaticShapeTensorOf<[F32, F16, BF16, Transformer_QuantType]>,
    [HasAnyRankOfPred<[2]>], "stored matrix">;
/// One of plain numbers.
def Transformer_PlainMatrix : ConfinedType<
    StaticShapeTensorOf<[F32, F16, BF16]>, [HasAnyRankOfPred<[2]>],
    "stored matrix that is not quantised">;
/// A stored vector, `tensor<NxT>`.
def Transformer_Vector : ConfinedType<
    StaticShapeTensorOf<[F32, F16, BF16]>, [HasAnyRankOfPred<[1]>], "stored vector">;

/// Matrices of all experts, `tensor<ExNxKxT>`.
def Transformer_Stack : ConfinedType<
    StaticShapeTensorOf<[F32, F16, BF16, Transformer_QuantType]>,
    [HasAnyRankOfPred<[3]>],
    "stored matrices of experts">;

/// Results print under names that say what they are.
class Transformer_Op<string mnemonic, list<Trait> traits = []>
    : Op<Transformer_Dialect, mnemonic,
         !listconcat([OpAsmOpInterface], traits)> {
  /// What its results print as, separated by commas.
  string resultNames = mnemonic;
  /// C++ declarations of the op's own.
  code methods = "";
  let extraClassDeclaration = [{
    void getAsmResultNames(::mlir::OpAsmSetValueNameFn SetName) {
      ::tenon::transformer::nameResults(getOperation(), "}] # resultNames # [{",
                                        SetName);
    }
  }] # methods;
}

/// An op that suggests the names of its results by a method of its own.
class Transformer_HandleOp<string mnemonic, list<Trait> traits = []>
    : Op<Transformer_Dialect, mnemonic,
         !listconcat([Pure, DeclareOpInterfaceMethods<OpAsmOpInterface,
                                                      ["getAsmResultNames"]>],
                     traits)>;

/// Ops that only compute: not speculatable, as a wrong index or row count at
/// run time would be undefined. Fusion rewrites them.
class Transformer_ComputeOp<string mnemonic, list<Trait> traits = []>
    : Transformer_Op<mnemonic, !listconcat([NoMemoryEffect], traits)>;

/// Ops that stay until they are converted to the dnn dialect.
class Transformer_FusedOp<string mnemonic, list<Trait> traits = []>
    : Transformer_ComputeOp<mnemonic, !listconcat([Transformer_Fused], traits)>;

/// One activation in, one out, row by row.
class Transformer_RowWiseOp<string mnemonic, list<Trait> traits = []>
    : Transformer_FusedOp<mnemonic, !listconcat([Transformer_RowWise], traits)>;

def Transformer_Rows : DeclareOpInterfaceMethods<Transformer_RowsOpInterface,
  ["getResultCount"]>;
def Transformer_Weights
    : DeclareOpInterfaceMethods<Transformer_WeightOpInterface>;
def Transformer_Attends
    : DeclareOpInterfaceMethods<Transformer_AttentionOpInterface>;

#endif // TENON_DIALECTS_TRANSFORMER_BASE_TD
