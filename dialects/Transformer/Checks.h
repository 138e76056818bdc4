//===- Checks.h - What verifiers of both dialects share ---------*- C++ -*-===//
//
// Each check is a numbered constraint of a SPEC.md; messages begin with the
// number and say what was expected and what was found.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TRANSFORMER_CHECKS_H
#define TENON_DIALECTS_TRANSFORMER_CHECKS_H

#include "dialects/Transformer/Transformer.h"

#include <cmath>
#include <limits>

namespace tenon {

inline int64_t sizeOf(mlir::Value Shaped, unsigned Dim) {
  return llvm::cast<mlir::ShapedType>(Shaped.getType()).getDimSize(Dim);
}

/// The first dimension of a tensor; none of none.
inline std::optional<int64_t> sizeIfAny(mlir::Value Shaped) {
  return Shaped ? std::optional(sizeOf(Shaped, 0)) : std::nullopt;
}

/// As kernels see it, which compute in f32.
inline bool isFinite(double Number) {
  return std::isfinite(static_cast<float>(Number));
}
/// The same, and above 0; normal, for kernels divide by it.
inline bool isPositive(double Number) {
  return std::isnormal(static_cast<float>(Number)) && Number > 0;
}

/// "CONSTRAINT: WHAT: expected EXPECTED, got GOT", unless they are equal.
llvm::LogicalResult checkEqual(mlir::Operation *Op,
                               const llvm::Twine &Constraint,
                               const llvm::Twine &What, int64_t Expected,
                               int64_t Got);

/// The same of types.
llvm::LogicalResult checkType(mlir::Operation *Op,
                              const llvm::Twine &Constraint,
                              const llvm::Twine &What, mlir::Type Expected,
                              mlir::Type Got);

/// "CONSTRAINT: type of NAME": the parameter `Weight` is kept in the type that
/// `Like` is.
llvm::LogicalResult checkKeptType(mlir::Operation *Op,
                                  const llvm::Twine &Constraint,
                                  const llvm::Twine &Name, mlir::Value Like,
                                  mlir::Value Weight);

/// "CONSTRAINT: token": it is the id of one.
llvm::LogicalResult checkToken(mlir::Operation *Op,
                               const llvm::Twine &Constraint, uint64_t Token);

/// `heads` is a positive multiple of a positive `kv_heads`.
llvm::LogicalResult checkHeads(mlir::Operation *Op,
                               const llvm::Twine &Constraint, int64_t Heads,
                               int64_t KvHeads);

/// 0 <= eps < 1.
llvm::LogicalResult checkEps(mlir::Operation *Op, const llvm::Twine &Constraint,
                             const llvm::APFloat &Eps);

/// "CONSTRAINT: WHAT: expected a positive number, got GOT".
llvm::LogicalResult checkPositive(mlir::Operation *Op,
                                  const llvm::Twine &Constraint,
                                  const llvm::Twine &What,
                                  const llvm::APFloat &Got);

/// "CONSTRAINT: WHAT: expected a finite number, got GOT".
llvm::LogicalResult checkFinite(mlir::Operation *Op,
                                const llvm::Twine &Constraint,
                                const llvm::Twine &What,
                                const llvm::APFloat &Got);

/// "CONSTRAINT: WHAT: expected at least LEAST, got GOT".
llvm::LogicalResult checkAtLeast(mlir::Operation *Op,
                                 const llvm::Twine &Constraint,
                                 const llvm::Twine &What, int64_t Least,
                                 int64_t Got);

/// The part of a head that rotates fits into the head.
llvm::LogicalResult checkRope(mlir::Operation *Op,
                              const llvm::Twine &Constraint,
                              transformer::RopeAttr Rope, int64_t HeadDim);

/// `component` is one that parameters count towards.
llvm::LogicalResult checkComponent(mlir::Operation *Op,
                                   const llvm::Twine &Constraint,
                                   llvm::StringRef Component);

//===----------------------------------------------------------------------===//
// Operations that both dialects have: PREFIX_c1 ... mean the same in both
//===----------------------------------------------------------------------===//

/// rope c1 to c3.
llvm::LogicalResult checkRotation(mlir::Operation *Op, llvm::StringRef Prefix,
                                  int64_t Width, uint64_t Heads, uint64_t From,
                                  transformer::RopeAttr Rope);

/// layer_norm and rms_norm c1 to c4, with `Weight` and `Bias` elements.
llvm::LogicalResult checkNorm(mlir::Operation *Op, llvm::StringRef Prefix,
                              int64_t Width, uint64_t Groups, int64_t Weight,
                              std::optional<int64_t> Bias,
                              const llvm::APFloat &Eps);

/// add_norm c1 to c4, with `Weight` and `Bias` elements.
llvm::LogicalResult checkAddNorm(mlir::Operation *Op, llvm::StringRef Prefix,
                                 int64_t Width, transformer::NormKind Kind,
                                 int64_t Weight, std::optional<int64_t> Bias,
                                 const llvm::APFloat &Eps);

/// CONSTRAINT: only `rms` adds an offset to its weight, a finite one.
llvm::LogicalResult checkNormOffset(mlir::Operation *Op,
                                    const llvm::Twine &Constraint,
                                    transformer::NormKind Kind,
                                    const llvm::APFloat &Offset);

/// moe c6: what is done to the gate and up of an expert.
llvm::LogicalResult checkGate(mlir::Operation *Op,
                              const llvm::Twine &Constraint,
                              std::optional<llvm::APFloat> Limit,
                              std::optional<llvm::APFloat> UpOffset);

/// slice c1.
llvm::LogicalResult checkSlice(mlir::Operation *Op, llvm::StringRef Prefix,
                               int64_t Width, uint64_t First, int64_t Count);

/// CONSTRAINT_GROUPS: groups divide the experts; CONSTRAINT_TOP: as many as are
/// chosen can be.
llvm::LogicalResult checkRouter(mlir::Operation *Op,
                                const llvm::Twine &ConstraintGroups,
                                const llvm::Twine &ConstraintTop,
                                transformer::RouterAttr Router,
                                int64_t Experts);

/// cache_append c1 to c3.
llvm::LogicalResult checkCacheAppend(mlir::Operation *Op,
                                     llvm::StringRef Prefix,
                                     transformer::CacheType Cache,
                                     mlir::Value Keys, mlir::Value Values);

/// latent_append and latent_attention c1 and c2: `Width` values per token.
llvm::LogicalResult checkLatentCache(mlir::Operation *Op,
                                     llvm::StringRef Prefix,
                                     transformer::CacheType Cache,
                                     int64_t Width);

/// What latent_attention is about.
struct LatentSizes {
  uint64_t Heads, KeyDim, ValueDim;
  int64_t QueryWidth, ResultWidth;
  /// Of `expand`.
  int64_t Rows, Rank;
  llvm::APFloat Scale;
};

/// latent_attention c1 to c6.
llvm::LogicalResult checkLatentAttention(mlir::Operation *Op,
                                         llvm::StringRef Prefix,
                                         transformer::CacheType Cache,
                                         const LatentSizes &Sizes);

/// Elements of a vector, whatever type its dialect gives it.
using ElementsFn = llvm::function_ref<int64_t(mlir::Value)>;

/// split_append and split_stage c1 to c7.
template <typename OpTy>
llvm::LogicalResult checkSplit(OpTy Op, llvm::StringRef Prefix,
                               int64_t QueryWidth, ElementsFn Elements) {
  auto Heads = static_cast<int64_t>(Op.getHeads());
  auto KvHeads = static_cast<int64_t>(Op.getKvHeads());
  if (failed(checkHeads(Op, Prefix + "_c1", Heads, KvHeads)))
    return llvm::failure();
  if (QueryWidth % Heads != 0)
    return Op.emitOpError() << Prefix
                            << "_c2: width of queries: expected a multiple of "
                               "heads "
                            << Heads << ", got " << QueryWidth;
  int64_t HeadDim = QueryWidth / Heads;
  int64_t KvWidth = KvHeads * HeadDim;
  llvm::SmallVector<int64_t> Expected = {QueryWidth + 2 * KvWidth};
  if (Op.getQkv().size() == 3)
    Expected = {QueryWidth, KvWidth, KvWidth};
  else if (Op.getQkv().size() != 1)
    return Op.emitOpError()
           << Prefix << "_c3: qkv: expected one tensor or three, got "
           << Op.getQkv().size();
  for (auto [ExpectedWidth, Part] : llvm::zip(Expected, Op.getQkv()))
    if (failed(checkEqual(Op, Prefix + "_c4", "width of qkv", ExpectedWidth,
                          widthOf(Part))))
      return llvm::failure();
  for (mlir::Value Norm :
       {mlir::Value(Op.getQueryNorm()), mlir::Value(Op.getKeyNorm())}) {
    if (!Norm)
      continue;
    if (failed(checkEqual(Op, Prefix + "_c5", "norm elements", HeadDim,
                          Elements(Norm))))
      return llvm::failure();
    if (!Op.getEps())
      return Op.emitOpError() << Prefix << "_c6: expected eps with a norm";
  }
  if (std::optional<llvm::APFloat> Eps = Op.getEps();
      Eps && failed(checkEps(Op, Prefix + "_c6", *Eps)))
    return llvm::failure();
  if (failed(
          checkFinite(Op, Prefix + "_c6", "norm_offset", Op.getNormOffset())))
    return llvm::failure();
  if (transformer::RopeAttr Rope = Op.getRopeAttr())
    return checkRope(Op, Prefix + "_c7", Rope, HeadDim);
  return llvm::success();
}

/// split_append c8 and c10.
template <typename OpTy>
llvm::LogicalResult checkSplitCache(OpTy Op, llvm::StringRef Prefix,
                                    int64_t QueryWidth) {
  transformer::CacheType Cache = Op.getCache().getType();
  if (Cache.getKind() != transformer::CacheKind::Sequence)
    return Op.emitOpError() << Prefix
                            << "_c10: cache: expected one that grows with the "
                               "sequence, got "
                            << Cache;
  if (failed(checkEqual(Op, Prefix + "_c8", "kv_heads of the cache",
                        static_cast<int64_t>(Op.getKvHeads()),
                        Cache.getKvHeads())))
    return llvm::failure();
  return checkEqual(Op, Prefix + "_c8", "head_dim of the cache",
                    QueryWidth / static_cast<int64_t>(Op.getHeads()),
                    Cache.getHeadDim());
}

/// Attention in all its forms: c1 to c7, c10, c14 and c15.
template <typename OpTy>
llvm::LogicalResult checkAttention(OpTy Op, llvm::StringRef Prefix,
                                   transformer::AlibiAttr Alibi,
                                   ElementsFn Elements) {
  using transformer::MaskKind;
  auto Heads = static_cast<int64_t>(Op.getHeads());
  auto KvHeads = static_cast<int64_t>(Op.getKvHeads());
  if (failed(checkHeads(Op, Prefix + "_c1", Heads, KvHeads)))
    return llvm::failure();
  int64_t Width = widthOf(Op.getQuery());
  if (Width % Heads != 0)
    return Op.emitOpError() << Prefix
                            << "_c2: width of queries: expected a multiple of "
                               "heads "
                            << Heads << ", got " << Width;
  bool IsBidirectional = Op.getMask() == MaskKind::Bidirectional;
  if (static_cast<bool>(Op.getCache()) != static_cast<bool>(Op.getScope()))
    return Op.emitOpError() << Prefix << "_c3: expected a cache with its scope";
  if (Op.getCache()) {
    transformer::CacheType Cache = Op.getCache().getType();
    if (failed(checkEqual(Op, Prefix + "_c4", "kv_heads of the cache", KvHeads,
                          Cache.getKvHeads())) ||
        failed(checkEqual(Op, Prefix + "_c4", "head_dim of the cache",
                          Width / Heads, Cache.getHeadDim())))
      return llvm::failure();
    if (Cache.isLatent() || Cache.isCross() != IsBidirectional)
      return Op.emitOpError()
             << Prefix << "_c5: mask: expected bidirectional over a "
             << "cross-attention cache, causal or prefix over one of the "
             << "sequence, got " << stringifyMaskKind(Op.getMask()) << " over "
             << Cache;
  } else if (Op.getMask() == MaskKind::Prefix) {
    return Op.emitOpError()
           << Prefix << "_c5: mask: expected a cache for prefix";
  }
  if (std::optional<uint64_t> Window = Op.getWindow()) {
    // Positions minus a window must not overflow.
    if (*Window < 1 || *Window > std::numeric_limits<int32_t>::max())
      return Op.emitOpError()
             << Prefix << "_c6: window: expected 1 to 2147483647, got "
             << *Window;
    if (Op.getMask() == MaskKind::Prefix || (Op.getCache() && IsBidirectional))
      return Op.emitOpError()
             << Prefix << "_c7: window: expected a causal mask, or a "
             << "bidirectional one of this step's keys";
  }
  if (std::optional<llvm::APFloat> Cap = Op.getSoftCap();
      Cap && failed(checkPositive(Op, Prefix + "_c10", "soft_cap", *Cap)))
    return llvm::failure();
  if (failed(checkFinite(Op, Prefix + "_c10", "scale", Op.getScale())))
    return llvm::failure();
  if (Alibi && Alibi.getRounded() && !Op.getCache())
    return Op.emitOpError() << Prefix
                            << "_c15: alibi: expected keys of a cache for "
                               "rounded biases, which go by position";
  if (mlir::Value Sinks = Op.getSinks())
    return checkEqual(Op, Prefix + "_c14", "elements of sinks", Heads,
                      Elements(Sinks));
  return llvm::success();
}

/// online_attention c8 and c9; staged keys and values have the format that
/// `FormatOf` says.
template <typename OpTy>
llvm::LogicalResult
checkStaged(OpTy Op, llvm::StringRef Prefix,
            llvm::function_ref<CacheFormat(mlir::Value)> FormatOf) {
  mlir::Value Staged = Op.getStaged();
  if (static_cast<bool>(Staged) == static_cast<bool>(Op.getCache()))
    return Op.emitOpError()
           << Prefix << "_c8: expected staged keys and values, or a cache";
  if (!Staged)
    return llvm::success();
  int64_t HeadDim =
      widthOf(Op.getQuery()) / static_cast<int64_t>(Op.getHeads());
  return checkEqual(Op, Prefix + "_c9", "width of staged",
                    PageLayout{static_cast<int64_t>(Op.getKvHeads()), HeadDim,
                               FormatOf(Staged)}
                        .elements(),
                    widthOf(Staged));
}

namespace transformer {

/// tensor<?xWidthxf32>.
mlir::RankedTensorType rowsType(mlir::MLIRContext *Context, int64_t Width);

/// PREFIX_c1 and PREFIX_c2: an [N, K] weight takes rows of `Width` columns, and
/// an optional bias has N elements.
llvm::LogicalResult checkWeight(mlir::Operation *Op, llvm::StringRef Prefix,
                                const llvm::Twine &Name, mlir::Value Weight,
                                mlir::Value Bias, int64_t Width);

/// Activations are multiplied with the weight: it is read in panels.
inline WeightUse matmulWith(mlir::OpOperand &Weight) {
  WeightUse Use{&Weight, LayoutKind::Panels, /*ReadsPanels=*/true};
  Use.IsMatmul = true;
  return Use;
}

} // namespace transformer
} // namespace tenon

#endif // TENON_DIALECTS_TRANSFORMER_CHECKS_H
