//===- Transformer.h - The transformer dialect ------------------*- C++ -*-===//
//
// Model graphs: see SPEC.md for every operation and its constraints.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TRANSFORMER_TRANSFORMER_H
#define TENON_DIALECTS_TRANSFORMER_TRANSFORMER_H

#include "dialects/Transformer/Assembly.h"
#include "dialects/Transformer/Traits.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/bit.h"

#include "dialects/Transformer/TransformerEnums.h.inc"

#include "dialects/Transformer/TransformerDialect.h.inc"

namespace tenon::transformer {
/// A double as an attribute's parameter: compared and hashed by its bits.
struct Real {
  Real(double Value) : Value(Value) {}
  operator double() const { return Value; }
  bool operator==(const Real &Other) const {
    return llvm::bit_cast<uint64_t>(Value) ==
           llvm::bit_cast<uint64_t>(Other.Value);
  }
  friend llvm::hash_code hash_value(const Real &R) {
    return llvm::hash_value(llvm::bit_cast<uint64_t>(R.Value));
  }

  double Value;
};

// What the runtime shares, under the names that model graphs use.
using tenon::Activation;
using tenon::KeyBlock;
using tenon::latentPageElements;
using tenon::PageLayout;
using tenon::PageTokens;
} // namespace tenon::transformer

#include "dialects/Transformer/TransformerAttrInterfaces.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Transformer/TransformerTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Transformer/TransformerAttributes.h.inc"

namespace tenon::transformer {
/// As the names of an operation's results: those of the weight that it
/// multiplies with, such as %q_proj.
inline constexpr llvm::StringLiteral AfterWeight = "@weight";

/// Suggests `Names`, separated by commas, for the results of `Op` in print.
void nameResults(mlir::Operation *Op, llvm::StringRef Names,
                 mlir::OpAsmSetValueNameFn SetName);

/// What a weight made of the parameters `Keys` is called in print,
/// q_proj_weight or q_k_v_proj_weight, and what a matmul with it, q_proj.
std::string nameOfWeight(llvm::ArrayRef<llvm::StringRef> Keys);
std::string nameOfMatmul(llvm::ArrayRef<llvm::StringRef> Keys);

/// What a scope is called in print: l3, encoder, root.
std::string nameOfScope(llvm::StringRef Name, std::optional<uint64_t> Layer);
} // namespace tenon::transformer

#include "dialects/Transformer/TransformerInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialects/Transformer/TransformerOps.h.inc"

namespace tenon::transformer {

/// Names of the discardable attributes that describe a model.
namespace attr {
/// On an entry function: "step" (uses a cache), "encode", "embed" (pooled) or
/// "encode_image".
inline constexpr llvm::StringLiteral Role = "transformer.role";
/// On an entry function: "logits" or "hidden" (a row per output row),
/// "pooled" or "classes" (a row per sequence).
inline constexpr llvm::StringLiteral Output = "transformer.output";
/// On the module, integers: sizes that requests are checked against. An entry
/// may have a vocabulary of its own, "encode_image" a longest sequence.
inline constexpr llvm::StringLiteral Vocabulary = "transformer.vocabulary";
inline constexpr llvm::StringLiteral MaxSequence = "transformer.max_sequence";
inline constexpr llvm::StringLiteral TokenTypes = "transformer.token_types";
/// On the module of an encoder-decoder: most tokens of a source text.
inline constexpr llvm::StringLiteral MaxSource = "transformer.max_source";
/// On the module: the type that matmuls with quantised weights compute in,
/// "f32" or "bf16", where the CPU level has products of bf16; elsewhere f32.
inline constexpr llvm::StringLiteral ComputeType = "transformer.compute_type";
/// On the module: "exact" when activations are never quantised for products
/// with quantised weights; "auto" otherwise.
inline constexpr llvm::StringLiteral Activations = "transformer.activations";
/// On the module: the family a model was imported as.
inline constexpr llvm::StringLiteral Family = "transformer.family";
/// On the module: batches of at most this many tokens run `few` variants.
inline constexpr llvm::StringLiteral FewTokens = "transformer.few_tokens";
/// On a function that exists twice: the batches it is compiled for, "few"
/// (decode-sized) or "many" (prefill-sized).
inline constexpr llvm::StringLiteral Variant = "transformer.variant";
/// On a function, integers: the most tokens and output rows it is called with.
inline constexpr llvm::StringLiteral MaxTokens = "transformer.max_tokens";
inline constexpr llvm::StringLiteral MaxOutputRows =
    "transformer.max_output_rows";
} // namespace attr

/// Whether `Type` is that of activations, tensor<?xWxf32>.
inline bool isActivations(mlir::Type Type) {
  auto Tensor = llvm::dyn_cast<mlir::RankedTensorType>(Type);
  return Tensor && !Tensor.hasStaticShape();
}

/// The element type of a matrix that is stored in `Format`.
mlir::Type storedType(mlir::MLIRContext *Context, StorageFormat Format);

/// Whether activations of `Module` are never quantised.
bool isExact(mlir::ModuleOp Module);

/// The inverse: the format of a stored weight, or of elements of that type,
/// which is f32, bf16 or quantised.
StorageFormat storageFormatOf(mlir::Type Stored);

/// Whether `Type` is that of a stored weight: a tensor of static shape.
inline bool isWeight(mlir::Type Type) {
  auto Tensor = llvm::dyn_cast<mlir::RankedTensorType>(Type);
  return Tensor && Tensor.hasStaticShape();
}

/// Whether a model may have the discardable attribute `Name`: others are
/// written by passes.
bool isModelAttribute(llvm::StringRef Name);

/// What `Entry` answers; none for a function that is no entry.
std::optional<OutputKind> outputOf(mlir::Operation *Entry);

/// Which count of the batch an entry's rows of output are.
inline CountKind rowsOf(OutputKind Output) {
  return isPerSequence(Output) ? CountKind::Sequences : CountKind::OutputRows;
}

/// The variant that `Function` is; none for one that runs for every batch.
std::optional<Variant> variantOf(mlir::Operation *Function);

/// How `Op` uses its weights of two or more dimensions; an error at `Op` when
/// it has such operands and does not say.
llvm::FailureOr<llvm::SmallVector<WeightUse>> weightUsesOf(mlir::Operation *Op);

/// Checks what SPEC.md calls a valid module (module_c1 ...), cache handles
/// included: what passes is compiled and runs. Emits an error at the operation
/// that breaks the first constraint.
llvm::LogicalResult verifyModel(mlir::ModuleOp Module);

/// Checks that every cache handle is used as the linear value it is, across
/// calls: one append at most takes a handle, and nothing uses it afterwards.
/// A call takes the handle when its callee appends to it. Emits an error and
/// fails at the first violation.
llvm::LogicalResult verifyCacheLinearity(mlir::ModuleOp Module);

} // namespace tenon::transformer

namespace tenon {
/// Columns of activations, tensors or buffers [rows, width].
inline int64_t widthOf(mlir::Value Activations) {
  return llvm::cast<mlir::ShapedType>(Activations.getType()).getDimSize(1);
}
} // namespace tenon

#endif // TENON_DIALECTS_TRANSFORMER_TRANSFORMER_H
