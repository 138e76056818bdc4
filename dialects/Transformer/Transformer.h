//===- Transformer.h - The transformer dialect ------------------*- C++ -*-===//
//
// Model graphs: see SPEC.md for every operation and its constraints.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TRANSFORMER_TRANSFORMER_H
#define TENON_DIALECTS_TRANSFORMER_TRANSFORMER_H

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

/// Tokens of one cache page, and of one row of staged keys and values.
inline constexpr int64_t PageTokens = 64;
/// Keys lie transposed in blocks of this many tokens.
inline constexpr int64_t KeyBlock = 16;

/// Elements of one page of one layer: keys [kv_heads][64/16][head_dim][16],
/// then values [kv_heads][64][head_dim rounded up to 16].
constexpr int64_t pageElements(int64_t KvHeads, int64_t HeadDim) {
  int64_t PaddedDim = (HeadDim + KeyBlock - 1) / KeyBlock * KeyBlock;
  return KvHeads * PageTokens * (HeadDim + PaddedDim);
}

/// Elements of one page of one layer of latent vectors: [64][width rounded up
/// to 16].
constexpr int64_t latentPageElements(int64_t Width) {
  return PageTokens * ((Width + KeyBlock - 1) / KeyBlock * KeyBlock);
}
} // namespace tenon::transformer

#define GET_TYPEDEF_CLASSES
#include "dialects/Transformer/TransformerTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Transformer/TransformerAttributes.h.inc"

namespace tenon::transformer {
/// Suggests names for printed results: %q_proj of the weight "q_proj.weight",
/// %l3 of layer 3's scope, otherwise what the op computes.
void nameResults(mlir::Operation *Op, mlir::OpAsmSetValueNameFn SetName);
} // namespace tenon::transformer

#define GET_OP_CLASSES
#include "dialects/Transformer/TransformerOps.h.inc"

namespace tenon::transformer {

/// Names of the discardable attributes that describe a model.
namespace attr {
/// On an entry function: "step" (uses a cache), "encode", "embed" (pooled) or
/// "encode_image".
inline constexpr llvm::StringLiteral Role = "transformer.role";
/// On an entry function: "logits" or "hidden" (a row per wanted token),
/// "pooled" or "classes" (a row per sequence).
inline constexpr llvm::StringLiteral Output = "transformer.output";
/// On the module, integers: sizes that requests are checked against. An entry
/// may have a vocabulary of its own.
inline constexpr llvm::StringLiteral Vocabulary = "transformer.vocabulary";
inline constexpr llvm::StringLiteral MaxSequence = "transformer.max_sequence";
inline constexpr llvm::StringLiteral TokenTypes = "transformer.token_types";
/// On the module of an encoder-decoder: most tokens of a source text.
inline constexpr llvm::StringLiteral MaxSource = "transformer.max_source";
/// On the module: the family a model was imported as.
inline constexpr llvm::StringLiteral Family = "transformer.family";
/// On the module: batches of at most this many tokens run `.few` code.
inline constexpr llvm::StringLiteral FewTokens = "transformer.few_tokens";
/// On a function, integers: the most tokens and wanted rows it is called with.
inline constexpr llvm::StringLiteral MaxTokens = "transformer.max_tokens";
inline constexpr llvm::StringLiteral MaxWanted = "transformer.max_wanted";
} // namespace attr

/// Checks that every cache handle is used as the linear value it is, across
/// calls: one append at most takes a handle, and nothing uses it afterwards.
/// A call takes the handle when its callee appends to it. Emits an error and
/// fails at the first violation.
llvm::LogicalResult verifyCacheLinearity(mlir::ModuleOp Module);

} // namespace tenon::transformer

#endif // TENON_DIALECTS_TRANSFORMER_TRANSFORMER_H
