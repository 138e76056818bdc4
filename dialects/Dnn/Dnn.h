//===- Dnn.h - The dnn dialect ----------------------------------*- C++ -*-===//
//
// Operations placed on a CPU: see SPEC.md for each and its constraints.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_DNN_DNN_H
#define TENON_DIALECTS_DNN_DNN_H

#include "dialects/Transformer/Transformer.h"
#include "runtime/Abi/CpuLevel.h"

#include "mlir/Interfaces/DestinationStyleOpInterface.h"

#include "dialects/Dnn/DnnEnums.h.inc"

#include "dialects/Dnn/DnnDialect.h.inc"

namespace tenon::dnn {

/// The types of a library matmul, at the levels that have one for panels of
/// `Weight`: rows of the weight's format, and f32 gives f32.
constexpr bool isLibraryMatmul(StorageFormat Input, StorageFormat Weight,
                               StorageFormat Output) {
  return Input == Weight &&
         (Weight != StorageFormat::F32 || Output == StorageFormat::F32);
}

/// What is added to the numbers of a quantised format's codes to make them
/// unsigned bytes, a power of two or 0, and the largest that then occurs.
struct UnsignedCodes {
  int64_t Bias;
  int64_t Largest;
};
constexpr UnsignedCodes unsignedCodes(StorageFormat Format) {
  const StorageFormatInfo &Info = infoOf(Format);
  if (!Info.Codes)
    return {Info.Bits == 8 ? 128 : Info.Offset, (int64_t(1) << Info.Bits) - 1};
  int64_t Least = 0, Largest = 0, Bias = 1;
  for (int64_t Number : *Info.Codes) {
    Least = Number < Least ? Number : Least;
    Largest = Number > Largest ? Number : Largest;
  }
  while (Bias < -Least)
    Bias *= 2;
  return {Bias, Largest + Bias};
}

/// How many quads of such codes and of signed bytes from -127 to 127 have
/// products whose sums, in pairs, 16 bits hold: a power of two, 0 for none.
constexpr int64_t quadsInWords(StorageFormat Format) {
  int64_t Most = INT16_MAX / (2 * 127 * unsignedCodes(Format).Largest);
  if (Most == 0)
    return 0;
  int64_t Quads = 1;
  while (2 * Quads <= Most && 2 * Quads <= GroupValues / 4)
    Quads *= 2;
  return Quads;
}

} // namespace tenon::dnn

namespace tenon {
/// For attributes, which are uniqued by their parameters.
llvm::hash_code hash_value(const KernelCost &Cost);
} // namespace tenon

#define GET_TYPEDEF_CLASSES
#include "dialects/Dnn/DnnTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Dnn/DnnAttributes.h.inc"

namespace tenon::dnn {

/// The cache's pages as a memory resource: appends write it, attention reads
/// it, so that neither moves past the other.
struct CachePages : public mlir::SideEffects::Resource::Base<CachePages> {
  llvm::StringRef getName() final { return "CachePages"; }
};

/// The effects of a compute op: buffers among the inputs are read, destinations
/// written, and cache pages as the op's traits say.
void addComputeEffects(mlir::Operation *Op,
                       llvm::SmallVectorImpl<mlir::SideEffects::EffectInstance<
                           mlir::MemoryEffects::Effect>> &Effects);

/// Whether rows of this type lie one behind another, of a width that is known.
bool isRows(mlir::Type Type);

/// What holds of every computation: dnn_compute_c1 ... of SPEC.md.
llvm::LogicalResult verifyComputeOp(mlir::Operation *Op);

/// Whether each of `Parts` equal parts of a row of grouped integers of `Width`
/// columns begins with a group.
inline bool partsBeginWithGroups(int64_t Width, int64_t Parts) {
  return Parts == 1 || (Parts > 1 && Width / Parts % GroupValues == 0);
}

/// Bytes that buffers of the memory plan are aligned to.
inline constexpr int64_t BufferAlignment = 64;

/// As transformer::nameResults, with weights of this dialect.
void nameResults(mlir::Operation *Op, llvm::StringRef Names,
                 mlir::OpAsmSetValueNameFn SetName);

} // namespace tenon::dnn

#include "dialects/Dnn/DnnInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialects/Dnn/DnnOps.h.inc"

namespace tenon::dnn {

/// Names of the discardable attributes of a placed module.
namespace attr {
/// On a module from placement on, a #dnn.target.
inline constexpr llvm::StringLiteral Target = "dnn.target";
/// On a transformer.parameter, a #dnn.layout: how it is packed.
inline constexpr llvm::StringLiteral Layout = "dnn.layout";
/// On a module with a memory plan, i64 >= 0: bytes of the arena.
inline constexpr llvm::StringLiteral ArenaBytes = "dnn.arena_bytes";
/// On a module with kernels, i64 >= 0: bytes of a thread's scratch memory.
inline constexpr llvm::StringLiteral ScratchBytes = "dnn.scratch_bytes";
} // namespace attr

/// The elements of a buffer in `Format`: f32, bf16, or the bytes of blocks.
mlir::Type elementTypeOf(mlir::MLIRContext *Context, StorageFormat Format);

/// The values of a cache in `Format`.
mlir::Type elementTypeOf(mlir::MLIRContext *Context, CacheFormat Format);

/// The format of plain numbers of `Element`, which is f32 or bf16.
StorageFormat formatOf(mlir::Type Element);

/// The format of activations, tensors or buffers.
inline StorageFormat formatOf(mlir::Value Activations) {
  return formatOf(
      llvm::cast<mlir::ShapedType>(Activations.getType()).getElementType());
}

/// What rows of grouped integers are made of; null for others.
inline GroupedType groupedTypeOf(mlir::Value Rows) {
  return llvm::dyn_cast<GroupedType>(
      llvm::cast<mlir::ShapedType>(Rows.getType()).getElementType());
}

/// A group of grouped integers whose largest number is at most this has codes
/// of 0: the reciprocal of its scale would overflow.
inline constexpr float SmallestGroup = 1e-30f;

/// Bytes of one of `Rows`, tensors or buffers of static width.
int64_t rowBytesOf(mlir::ShapedType Rows);

/// A page as buffers, with words of P values (see PageLayout): keys [kv_heads,
/// 4, head_dim / P rounded up, 16 P], values [kv_heads, 64 / P, P times
/// head_dim rounded up to 16], scales [2, kv_heads, 64], null where there are
/// none.
struct PageTypes {
  mlir::MemRefType Keys, Values, Scales;
};
PageTypes pageTypes(mlir::MLIRContext *Context, const PageLayout &Layout);

/// The format of rows of staged keys and values, f32 or bf16.
CacheFormat stagedFormat(mlir::Value Staged);

/// Latent vectors of a page as a buffer: [64, width rounded up to 16].
mlir::MemRefType latentPageType(int64_t Width, mlir::Type Element);

/// Digits of 8 bits of the queries, and of the weights, that cached integers
/// are multiplied with.
inline constexpr int64_t QueryDigits = 2;

/// Whether `Op` multiplies cached integers as they are, one token with a page.
/// Otherwise they are widened first.
bool multipliesCachedIntegers(AttentionOp Op);

/// What a call of the kernel of `Op`, or of the library in its place, moves and
/// computes: the one place that says so.
KernelCost costOf(ComputeOpInterface Op);

/// The operand whose rows those of the cost are.
mlir::Value rowsOf(ComputeOpInterface Op);

/// What `Module` is compiled for; null, with an error, before placement.
TargetAttr targetOf(mlir::ModuleOp Module);

} // namespace tenon::dnn

#endif // TENON_DIALECTS_DNN_DNN_H
