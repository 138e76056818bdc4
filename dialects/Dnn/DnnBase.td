//===- DnnBase.td - Dialect, types and op classes ----------*- tablegen -*-===//

#ifndef TENON_DIALECTS_DNN_BASE_TD
#define TENON_DIALECTS_DNN_BASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/Transformer/TransformerBase.td"
include "DnnEnums.td"
include "DnnInterfaces.td"

def Dnn_Dialect : Dialect {
  let name = "dnn";
  let cppNamespace = "::tenon::dnn";
  let summary = "Operations placed on a CPU: library matmuls and kernels";
  let description = [{
    The operations of a model after placement. Each compute op is
    destination-passing, first on tensors and, once bufferized, on buffers; it
    is one call of the library (a matmul with a `primitive`) or one kernel to be
    generated. Batch, scope and cache stay the opaque handles of the
    transformer dialect; packed weights are opaque too. SPEC.md numbers every
    constraint.
  }];
  let dependentDialects = ["::tenon::transformer::TransformerDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

//===----------------------------------------------------------------------===//
// Attributes and types
//===----------------------------------------------------------------------===//

def Dnn_FieldAttr : EnumAttr<Dnn_Dialect, Dnn_FieldKind, "field"> {
  let assemblyFormat = "`<` $value `>`";
}

def Tenon_LayoutKind : Tenon_SharedEnum<"LayoutKind", "LayoutKinds",
                                        "layout of a packed weight">;
/// On a parameter: the layout that it is packed in.
def Dnn_LayoutAttr : EnumAttr<Dnn_Dialect, Tenon_LayoutKind, "layout"> {
  let cppNamespace = "::tenon::dnn";
  let assemblyFormat = "`<` $value `>`";
}

def Dnn_TargetAttr : AttrDef<Dnn_Dialect, "Target"> {
  let mnemonic = "target";
  let summary = "What code is generated for";
  let description = [{
    A CPU level and what passes need to know of it: the width and number of
    vector registers, its dot products, and the storage formats that the library
    has fast matmuls for.

    ```
    #dnn.target<avx512_bf16, vector = 512, registers = 32,
                dot = [bf16, int8, int16], library = [f32, bf16]>
    ```
  }];
  let parameters = (ins StringRefParameter<"name of the CPU level">:$level,
                        "int64_t":$vectorBits, "int64_t":$registers,
                        ArrayRefParameter<"::tenon::DotProduct">:$dots,
                        ArrayRefParameter<"::tenon::StorageFormat">:$library);
  let builders = [
    // What runtime/Abi/CpuLevel.h says of the level.
    AttrBuilder<(ins "const ::tenon::CpuLevelInfo &":$info)>
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool hasDot(DotProduct Dot) const {
      return ::llvm::is_contained(getDots(), Dot);
    }
    /// Whether the library has fast matmuls of rows of `Input` with panels of
    /// `Weight` that write rows of `Output`.
    bool libraryServes(StorageFormat Input, StorageFormat Weight,
                       StorageFormat Output) const {
      return ::llvm::is_contained(getLibrary(), Weight) &&
             ::tenon::dnn::isLibraryMatmul(Input, Weight, Output);
    }
    /// f32 values of a vector register.
    int64_t getLanes() const { return getVectorBits() / 32; }
    /// The element type that a matmul with weights of `Format` reads its input
    /// in. With quantised weights that is integers where the level has dot
    /// products of them: of 16 bits in a decode-sized batch, which the memory
    /// bounds, of 8 bits otherwise. With dot products of 16 bits alone, 8 bits
    /// are for formats of which 16 hold sums of products. `IsExact` leaves
    /// activations as they are, and so do tiles of bf16, which multiply faster
    /// than they could be scaled: weights are then multiplied in `Compute` where
    /// there is a choice; of a decode-sized batch only codes of 4 bits, which
    /// become bf16 by one look-up.
    ::mlir::Type getInputType(StorageFormat Format, StorageFormat Compute,
                              bool IsExact, bool IsDecodeSized) const;
    /// Whether one token's attention multiplies cached integers as they are,
    /// with numbers of 16 bits: sums of both digits take many registers.
    bool multipliesCachedIntegers() const {
      return hasDot(DotProduct::Int8) && getVectorBits() >= 512;
    }
    /// The element type that attention over a cache of `Format` reads its
    /// queries in: bf16 where pairs of it are multiplied, or integers with 16
    /// bits of it. In a decode-sized batch, which the memory bounds, these alone
    /// are. It is f32 where integers are multiplied with activations that are to
    /// stay exact.
    ::mlir::Type getQueryType(CacheFormat Format, bool IsExact,
                              bool IsDecodeSized) const;
  }];
}

def Dnn_GroupedType : TypeDef<Dnn_Dialect, "Grouped",
                              [MemRefElementTypeInterface]> {
  let mnemonic = "grouped";
  let summary = "Element of rows that are quantised in groups";
  let description = [{
    `tensor<?x2048x!dnn.grouped<8>>`: activations for integer dot products. Of
    each group of 32 neighbours x, the last one of a row padded with zeros, a
    record holds the codes q = round(x / s), s = max |x| / M, in `bits` bits.
    `dot` says which products they are for: `int8`, which is not written, has M
    = 127, or 127 * 256 of 16 bits; `int16` has M = 32767.

    | bytes of a record | |
    |---|---|
    | 32 | `int8`: codes as i8; of 16 bits the high digits h of q = 256 h + l |
    | 0 or 32 | `int8`: of 16 bits the low digits l, -128 to 127 |
    | 64 | `int16`, in place of those: codes as i16 |
    | 4 | s as f32 |
    | 8 | sums of the codes of both halves of the group as i32 |

    Codes stand in the order that panels of quantised weights have (quadFeature
    of runtime/Abi/Types.h); of i16 the four of a quad as 0, 2, 1, 3.
  }];
  let parameters = (ins "int64_t":$bits, "::tenon::DotProduct":$dot);
  let builders = [
    /// For products of bytes.
    TypeBuilder<(ins "int64_t":$bits)>
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Factors of a dot product that a code has: digits of 8 bits, or itself.
    int64_t getDigits() const { return getBits() / getDigitBits(); }
    int64_t getDigitBits() const {
      return getDot() == DotProduct::Int16 ? 16 : 8;
    }
    /// The feature of a group whose code is number `Place` of its record.
    int64_t getFeature(int64_t Place) const {
      int64_t Byte = Place % 4;
      if (getDot() == DotProduct::Int16)
        Byte = Byte % 2 * 2 + Byte / 2;
      return quadFeature(Place / 4, Byte);
    }
    /// Where the scale and the sums stand in a record, and its end.
    int64_t getScaleOffset() const { return getBits() / 8 * GroupValues; }
    int64_t getSumsOffset() const { return getScaleOffset() + 4; }
    int64_t getRecordBytes() const { return getSumsOffset() + 8; }
    /// The largest code.
    int64_t getLargest() const {
      if (getBits() == 8)
        return 127;
      return getDot() == DotProduct::Int16 ? 32767 : 127 * 256;
    }
  }];
}

def Dnn_PlanAttr : AttrDef<Dnn_Dialect, "Plan"> {
  let mnemonic = "plan";
  let summary = "A buffer's place in the memory plan";
  let description = [{
    Its size in bytes and the first and last operation of its function that
    needs it.
  }];
  let parameters = (ins "int64_t":$bytes, "int64_t":$first, "int64_t":$last);
  let assemblyFormat = [{
    `<` $bytes `bytes` `from` $first `to` $last `>`
  }];
  let genVerifyDecl = 1;
}

def Dnn_CostAttr : AttrDef<Dnn_Dialect, "Cost"> {
  let mnemonic = "cost";
  let summary = "What a kernel moves and computes";
  let description = [{
    The numbers of KernelCost (runtime/Abi/Types.h) under their names, those
    that say nothing left out:

    ```
    #dnn.cost<weight_bytes = 8388608, row_bytes = 12288, row_flops = 8388608,
              numbers = bf16>
    ```
  }];
  let parameters = (ins "::tenon::KernelCost":$cost);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Dnn_PackedType : TypeDef<Dnn_Dialect, "Packed", [
    DeclareTypeInterfaceMethods<OpAsmTypeInterface, ["getAsmName"]>]> {
  let mnemonic = "packed";
  let summary = "A weight in the layout and format it is stored in";
  let description = [{
    `!dnn.packed<panels, 97x72xbf16>`: N = 97 output features (or entries of a
    table) of K = 72 input features, stored as bf16. `vector` is f32 padded to
    64, `row_major` plain, `panels` the blocked layout that matmuls read in
    place, 64 output features side by side; only panels are quantised. `!dnn.packed<panels, 8x97x72xbf16>`
    holds the panels of 8 such matrices, those of experts, one after another.
  }];
  let parameters = (ins "::tenon::LayoutKind":$layout, "int64_t":$count,
                        "int64_t":$outFeatures, "int64_t":$inFeatures,
                        "::tenon::StorageFormat":$format);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The buffer that the packed weight is: `vector` [N'], `row_major` [N, K],
    /// `panels` [count * ceil(N/64), K'/v, 64 v] with v the format's
    /// interleave, and of quantised formats [count * ceil(N/64), blocks, bytes
    /// of 64 blocks] of i8.
    ::mlir::MemRefType getBufferType() const;
    /// Panels of one matrix.
    int64_t getPanels() const { return panelsOf(getOutFeatures()); }
    bool isPanels() const { return getLayout() == LayoutKind::Panels; }
    bool isVector() const { return getLayout() == LayoutKind::Vector; }
    bool isRowMajor() const { return getLayout() == LayoutKind::RowMajor; }
    bool isMatrixPanels() const { return isPanels() && getCount() == 1; }
    bool isLookup() const { return isRowMajor() || isMatrixPanels(); }
    bool isTable() const {
      return isRowMajor() && getFormat() == StorageFormat::F32;
    }
  }];
}

//===----------------------------------------------------------------------===//
// Operand classes
//===----------------------------------------------------------------------===//

/// Tensors first, buffers later; rows lie one behind another.
class Dnn_RowsOf<list<Type> elements, string what> : ConfinedType<
    AnyTypeOf<[TensorRankOf<elements, [2]>, MemRefRankOf<elements, [2]>]>,
    [CPred<"::tenon::dnn::isRows($_self)">],
    "rows of " # what # ", [rows, static width]">;
def Dnn_Activations : Dnn_RowsOf<[F32, BF16], "f32 or bf16">;
/// What matmuls read, and what quantising kernels write.
def Dnn_MatmulRows : Dnn_RowsOf<[F32, BF16, Dnn_GroupedType],
                                "f32, bf16 or grouped integers">;
def Dnn_F32Rows : Dnn_RowsOf<[F32], "f32">;
/// Numbers of experts, of choices: data, not shapes.
def Dnn_IndexRows : Dnn_RowsOf<[I32], "i32">;
def Dnn_ActivationsOrIndexRows : Dnn_RowsOf<[F32, BF16, I32],
                                            "f32, bf16 or i32">;
def Dnn_IndexArray : MemRefRankOf<[I32], [1]>;

class Dnn_BufferOf<list<Type> elements, string what> : ConfinedType<
    MemRefRankOf<elements, [2]>, [CPred<"::tenon::dnn::isRows($_self)">],
    "a buffer of rows of " # what>;
def Dnn_Buffer : Dnn_BufferOf<[F32, BF16], "f32 or bf16">;
def Dnn_F32Buffer : Dnn_BufferOf<[F32], "f32">;
def Dnn_AnyBuffer : Dnn_BufferOf<[F32, BF16, I32, Dnn_GroupedType],
                                "f32, bf16, i32 or grouped integers">;

/// Packed weights by the layout that an operation reads.
class Dnn_PackedAs<string predicate, string what> : ConfinedType<
    Dnn_PackedType,
    [CPred<"::llvm::cast<::tenon::dnn::PackedType>($_self)." # predicate>],
    what, "::tenon::dnn::PackedType">;
def Dnn_Vector : Dnn_PackedAs<"isVector()", "a packed vector">;
def Dnn_Panels : Dnn_PackedAs<"isPanels()", "a weight packed in panels">;
def Dnn_Rows : Dnn_PackedAs<"isRowMajor()", "a row-major weight">;
/// What is looked up row by row; a matmul may read the same panels.
def Dnn_Lookup : Dnn_PackedAs<"isLookup()",
    "a row-major weight, or the panels of one matrix">;
/// The panels of one matrix.
def Dnn_MatrixPanels : Dnn_PackedAs<"isMatrixPanels()",
                                    "the panels of one matrix">;
/// What dnn.table makes.
def Dnn_Table : Dnn_PackedAs<"isTable()", "a row-major table of f32">;

/// What is added to a norm's stored weight.
def Dnn_NormOffset : DefaultValuedAttr<F64Attr, "::llvm::APFloat(0.0)">;

//===----------------------------------------------------------------------===//
// Operation classes
//===----------------------------------------------------------------------===//

class Dnn_Op<string mnemonic, list<Trait> traits = []>
    : Op<Dnn_Dialect, mnemonic, traits>;

/// A handle or a buffer, which prints under a name of its own.
class Dnn_HandleOp<string mnemonic, list<Trait> traits = []>
    : Dnn_Op<mnemonic, !listconcat([
        Pure, DeclareOpInterfaceMethods<OpAsmOpInterface,
                                        ["getAsmResultNames"]>], traits)>;

/// A destination-passing computation: its last `destinations` operands are
/// written, never read, and on tensors it has a result for each.
class Dnn_ComputeOp<string mnemonic, list<Trait> traits = [],
                    int destinations = 1>
    : Dnn_Op<mnemonic, !listconcat([
        OpAsmOpInterface, DestinationStyleOpInterface, MemoryEffectsOpInterface,
        Dnn_ComputeOpInterface], traits)> {
  /// What its results print as on tensors, separated by commas.
  string resultNames = mnemonic;
  /// C++ that counts its destinations.
  code destinationCount = "" # destinations;
  /// C++ declarations of the op's own.
  code methods = "";
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() {
      const unsigned Count = }] # destinationCount # [{;
      return ::mlir::MutableOperandRange(
          getOperation(), getOperation()->getNumOperands() - Count, Count);
    }
    void getEffects(::llvm::SmallVectorImpl<::mlir::SideEffects::EffectInstance<
                        ::mlir::MemoryEffects::Effect>> &Effects) {
      ::tenon::dnn::addComputeEffects(getOperation(), Effects);
    }
    void getAsmResultNames(::mlir::OpAsmSetValueNameFn SetName) {
      ::tenon::dnn::nameResults(getOperation(), "}] # resultNames # [{",
                                SetName);
    }
  }] # methods;
  let hasVerifier = 1;
}

/// For operations of which not all operands have a row per token.
def Dnn_OperandRows : DeclareOpInterfaceMethods<Transformer_RowsOpInterface,
  ["getOperandCount"]>;

/// A kernel that rounds what it stores to the type of its destination, row by
/// row.
class Dnn_RowWiseOp<string mnemonic, list<Trait> traits = []>
    : Dnn_ComputeOp<mnemonic, traits> {
  let methods = [{
    bool convertsOnStore(unsigned Result) { return true; }
  }];
}

/// A kernel whose elements do not depend on each other: it can quantise, too.
class Dnn_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : Dnn_ComputeOp<mnemonic, traits> {
  let methods = [{
    bool convertsOnStore(unsigned Result) { return true; }
    bool quantizesOnStore(unsigned Result) { return true; }
  }];
}

#endif // TENON_DIALECTS_DNN_BASE_TD
