//===- DnnBase.td - Dialect, types and op classes ----------*- tablegen -*-===//

#ifndef TENON_DIALECTS_DNN_BASE_TD
#define TENON_DIALECTS_DNN_BASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/Transformer/TransformerBase.td"
include "DnnEnums.td"

def Dnn_Dialect : Dialect {
  let name = "dnn";
  let cppNamespace = "::tenon::dnn";
  let summary = "Operations placed on a CPU: library products and kernels";
  let description = [{
    The operations of a model after placement. Each compute op is
    destination-passing, first on tensors and, once bufferized, on buffers; it
    is one call of the product library (it has a `site`) or one kernel to be
    generated. Batch, scope and cache stay the opaque handles of the
    transformer dialect; packed weights are opaque too.
  }];
  let dependentDialects = ["::tenon::transformer::TransformerDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

def Dnn_FieldAttr : EnumAttr<Dnn_Dialect, Dnn_FieldKind, "field"> {
  let assemblyFormat = "`` $value";
}

def Dnn_PackedType : TypeDef<Dnn_Dialect, "Packed"> {
  let mnemonic = "packed";
  let summary = "A weight in the layout it is stored in";
  let description = [{
    `!dnn.packed<panels, 97x72xbf16>`: N = 97 output features (or entries of a
    table) of K = 72 elements. `vector` is f32 padded to 64, `rows` plain
    row-major, `panels` the blocked layout that products read in place, 64
    output features side by side. `!dnn.packed<panels, 8x97x72xbf16>` holds the
    panels of 8 such matrices, those of experts, one after another.
  }];
  let parameters = (ins "::tenon::dnn::LayoutKind":$layout, "int64_t":$count,
                        "int64_t":$rows, "int64_t":$columns,
                        "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Output features that lie side by side in a panel.
    static constexpr int64_t PanelWidth = 64;

    /// The buffer that the packed weight is: `vector` [N'], `rows` [N, K],
    /// `panels` [count * ceil(N/64), K'/v, 64 v] with v elements of 4 bytes
    /// together.
    ::mlir::MemRefType getBufferType() const;
    /// Panels of one matrix.
    int64_t getPanels() const { return (getRows() + PanelWidth - 1) / PanelWidth; }
  }];
}

/// [rows, width] activations: tensors first, buffers later.
def Dnn_Rows : AnyTypeOf<[TensorRankOf<[F32, BF16], [2]>,
                          MemRefRankOf<[F32, BF16], [2]>]>;
/// [rows, width] numbers of experts, of choices: data, not shapes.
def Dnn_Numbers : AnyTypeOf<[TensorRankOf<[I32], [2]>,
                             MemRefRankOf<[I32], [2]>]>;
def Dnn_RowsOrNumbers : AnyTypeOf<[TensorRankOf<[F32, BF16, I32], [2]>,
                                   MemRefRankOf<[F32, BF16, I32], [2]>]>;
def Dnn_Indices : MemRefRankOf<[I32], [1]>;

class Dnn_Op<string mnemonic, list<Trait> traits = []>
    : Op<Dnn_Dialect, mnemonic, traits>;

/// A destination-passing computation: `outs` are written, never read.
class Dnn_ComputeOp<string mnemonic, list<Trait> traits = []>
    : Dnn_Op<mnemonic, !listconcat([
        DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>], traits)> {
  code dpsInits = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
  }];
  let extraClassDeclaration = dpsInits;
}

#endif // TENON_DIALECTS_DNN_BASE_TD
