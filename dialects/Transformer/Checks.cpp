//===- Checks.cpp - What verifiers of both dialects share -----------------===//

#include "dialects/Transformer/Checks.h"

#include "runtime/Abi/Limits.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace tenon;

LogicalResult tenon::checkEqual(Operation *Op, const Twine &Constraint,
                                const Twine &What, int64_t Expected,
                                int64_t Got) {
  if (Expected == Got)
    return success();
  return Op->emitOpError() << Constraint << ": " << What << ": expected "
                           << Expected << ", got " << Got;
}

LogicalResult tenon::checkType(Operation *Op, const Twine &Constraint,
                               const Twine &What, Type Expected, Type Got) {
  if (Expected == Got)
    return success();
  return Op->emitOpError() << Constraint << ": " << What << ": expected "
                           << Expected << ", got " << Got;
}

LogicalResult tenon::checkKeptType(Operation *Op, const Twine &Constraint,
                                   const Twine &Name, Value Like,
                                   Value Weight) {
  return checkType(Op, Constraint, "type of " + Name,
                   getElementTypeOrSelf(Like), getElementTypeOrSelf(Weight));
}

LogicalResult tenon::checkToken(Operation *Op, const Twine &Constraint,
                                uint64_t Token) {
  constexpr int64_t Most = std::numeric_limits<int32_t>::max();
  auto Id = static_cast<int64_t>(Token);
  if (Id >= 0 && Id <= Most)
    return success();
  return Op->emitOpError() << Constraint << ": token: expected 0 to " << Most
                           << ", got " << Id;
}

LogicalResult tenon::checkHeads(Operation *Op, const Twine &Constraint,
                                int64_t Heads, int64_t KvHeads) {
  if (Heads >= 1 && KvHeads >= 1 && Heads % KvHeads == 0)
    return success();
  return Op->emitOpError()
         << Constraint << ": heads: expected a positive multiple of kv_heads "
         << KvHeads << ", got " << Heads;
}

LogicalResult tenon::checkEps(Operation *Op, const Twine &Constraint,
                              const APFloat &Eps) {
  double Value = Eps.convertToDouble();
  if (Value >= 0 && Value < 1)
    return success();
  return Op->emitOpError() << Constraint
                           << ": eps: expected a number from 0 to 1, got "
                           << Value;
}

LogicalResult tenon::checkPositive(Operation *Op, const Twine &Constraint,
                                   const Twine &What, const APFloat &Got) {
  if (isPositive(Got.convertToDouble()))
    return success();
  return Op->emitOpError() << Constraint << ": " << What
                           << ": expected a positive number, got "
                           << Got.convertToDouble();
}

LogicalResult tenon::checkRope(Operation *Op, const Twine &Constraint,
                               transformer::RopeAttr Rope, int64_t HeadDim) {
  if (Rope.getDim() > HeadDim)
    return Op->emitOpError()
           << Constraint << ": rope dim: expected at most head_dim " << HeadDim
           << ", got " << Rope.getDim();
  for (float Frequency : Rope.frequencies())
    if (!isFinite(Frequency * static_cast<double>(MaxContext)))
      return Op->emitOpError()
             << Constraint << ": rope: expected finite angles, got " << Rope;
  return success();
}

LogicalResult tenon::checkFinite(Operation *Op, const Twine &Constraint,
                                 const Twine &What, const APFloat &Got) {
  if (isFinite(Got.convertToDouble()))
    return success();
  return Op->emitOpError() << Constraint << ": " << What
                           << ": expected a finite number, got "
                           << Got.convertToDouble();
}

LogicalResult tenon::checkAtLeast(Operation *Op, const Twine &Constraint,
                                  const Twine &What, int64_t Least,
                                  int64_t Got) {
  if (Got >= Least)
    return success();
  return Op->emitOpError() << Constraint << ": " << What
                           << ": expected at least " << Least << ", got "
                           << Got;
}

LogicalResult tenon::checkComponent(Operation *Op, const Twine &Constraint,
                                    StringRef Component) {
  static constexpr StringRef Components[] = {"embedding", "attention", "ffn",
                                             "norm", "head"};
  if (llvm::is_contained(Components, Component))
    return success();
  auto Diag = Op->emitOpError()
              << Constraint << ": component: expected one of ";
  llvm::interleaveComma(Components, Diag);
  return Diag << ", got " << Component;
}

//===----------------------------------------------------------------------===//
// Operations that both dialects have
//===----------------------------------------------------------------------===//

LogicalResult tenon::checkRotation(Operation *Op, StringRef Prefix,
                                   int64_t Width, uint64_t Heads, uint64_t From,
                                   transformer::RopeAttr Rope) {
  auto Parts = static_cast<int64_t>(Heads);
  if (Parts < 1 || Width % Parts != 0)
    return Op->emitOpError()
           << Prefix << "_c1: heads: expected a divisor of the width " << Width
           << ", got " << Parts;
  auto First = static_cast<int64_t>(From);
  if (First < 0 || First >= Width / Parts)
    return Op->emitOpError()
           << Prefix << "_c3: from: expected an element of a head of "
           << Width / Parts << ", got " << First;
  return checkRope(Op, Prefix + "_c2", Rope, Width / Parts - First);
}

LogicalResult tenon::checkNorm(Operation *Op, StringRef Prefix, int64_t Width,
                               uint64_t Groups, int64_t Weight,
                               std::optional<int64_t> Bias,
                               const APFloat &Eps) {
  auto Count = static_cast<int64_t>(Groups);
  if (Count < 1 || Width % Count != 0)
    return Op->emitOpError()
           << Prefix << "_c1: groups: expected a divisor of the width " << Width
           << ", got " << Count;
  if (Weight != Width && Weight != Width / Count)
    return Op->emitOpError() << Prefix << "_c2: weight elements: expected "
                             << Width / Count << ", got " << Weight;
  if (Bias &&
      failed(checkEqual(Op, Prefix + "_c4", "bias elements", Weight, *Bias)))
    return failure();
  return checkEps(Op, Prefix + "_c3", Eps);
}

LogicalResult tenon::checkAddNorm(Operation *Op, StringRef Prefix,
                                  int64_t Width, transformer::NormKind Kind,
                                  int64_t Weight, std::optional<int64_t> Bias,
                                  const APFloat &Eps) {
  if (failed(checkEqual(Op, Prefix + "_c1", "weight elements", Width, Weight)))
    return failure();
  if (Kind == transformer::NormKind::Rms && Bias)
    return Op->emitOpError() << Prefix << "_c2: bias: expected none for rms";
  if (Bias &&
      failed(checkEqual(Op, Prefix + "_c3", "bias elements", Width, *Bias)))
    return failure();
  return checkEps(Op, Prefix + "_c4", Eps);
}

LogicalResult tenon::checkNormOffset(Operation *Op, const Twine &Constraint,
                                     transformer::NormKind Kind,
                                     const APFloat &Offset) {
  if (Kind == transformer::NormKind::Rms)
    return checkFinite(Op, Constraint, "offset", Offset);
  if (Offset.isZero())
    return success();
  return Op->emitOpError() << Constraint << ": offset: expected none for layer";
}

LogicalResult tenon::checkGate(Operation *Op, const Twine &Constraint,
                               std::optional<APFloat> Limit,
                               std::optional<APFloat> UpOffset) {
  if (Limit && failed(checkPositive(Op, Constraint, "limit", *Limit)))
    return failure();
  if (!UpOffset)
    return success();
  return checkFinite(Op, Constraint, "up_offset", *UpOffset);
}

LogicalResult tenon::checkSlice(Operation *Op, StringRef Prefix, int64_t Width,
                                uint64_t First, int64_t Count) {
  auto From = static_cast<int64_t>(First);
  // Without the sum, which may overflow.
  if (From >= 0 && From <= Width - Count)
    return success();
  return Op->emitOpError() << Prefix << "_c1: columns: expected " << Count
                           << " of " << Width << ", got those from " << From;
}

LogicalResult tenon::checkRouter(Operation *Op, const Twine &ConstraintGroups,
                                 const Twine &ConstraintTop,
                                 transformer::RouterAttr Router,
                                 int64_t Experts) {
  int64_t Groups = Router.getGroups();
  if (Experts % Groups != 0)
    return Op->emitOpError()
           << ConstraintGroups << ": groups: expected a divisor of " << Experts
           << " experts, got " << Groups;
  int64_t Choice = Experts / Groups * Router.getKeptGroups();
  if (Router.getTop() > Choice)
    return Op->emitOpError()
           << ConstraintTop << ": top: expected at most the " << Choice
           << " experts to choose from, got " << Router.getTop();
  return success();
}

LogicalResult tenon::checkCacheAppend(Operation *Op, StringRef Prefix,
                                      transformer::CacheType Cache, Value Keys,
                                      Value Values) {
  if (Cache.isLatent())
    return Op->emitOpError()
           << Prefix << "_c3: cache: expected one of keys and values, got "
           << Cache;
  int64_t Width = Cache.getKvHeads() * Cache.getHeadDim();
  if (failed(checkEqual(Op, Prefix + "_c1", "width of keys", Width,
                        widthOf(Keys))))
    return failure();
  return checkEqual(Op, Prefix + "_c2", "width of values", Width,
                    widthOf(Values));
}

LogicalResult tenon::checkLatentCache(Operation *Op, StringRef Prefix,
                                      transformer::CacheType Cache,
                                      int64_t Width) {
  if (!Cache.isLatent())
    return Op->emitOpError()
           << Prefix << "_c1: cache: expected a latent one, got " << Cache;
  return checkEqual(Op, Prefix + "_c2", "values per token of the cache", Width,
                    Cache.getHeadDim());
}

LogicalResult tenon::checkLatentAttention(Operation *Op, StringRef Prefix,
                                          transformer::CacheType Cache,
                                          const LatentSizes &Sizes) {
  auto Heads = static_cast<int64_t>(Sizes.Heads);
  auto KeyDim = static_cast<int64_t>(Sizes.KeyDim);
  auto ValueDim = static_cast<int64_t>(Sizes.ValueDim);
  if (Heads < 1 || KeyDim < 1 || ValueDim < 1)
    return Op->emitOpError()
           << Prefix
           << "_c3: heads, key_dim and value_dim: expected positive numbers, "
              "got "
           << Heads << ", " << KeyDim << " and " << ValueDim;
  if (failed(checkFinite(Op, Prefix + "_c3", "scale", Sizes.Scale)))
    return failure();
  int64_t RopeDim = Sizes.QueryWidth / Heads - KeyDim;
  if (Sizes.QueryWidth % Heads != 0 || RopeDim < 1)
    return Op->emitOpError()
           << Prefix << "_c4: width of queries: expected " << Heads
           << " heads of more than " << KeyDim << ", got " << Sizes.QueryWidth;
  if (failed(checkEqual(Op, Prefix + "_c5", "rows of expand",
                        Heads * (KeyDim + ValueDim), Sizes.Rows)) ||
      failed(checkEqual(Op, Prefix + "_c6", "width of the result",
                        Heads * ValueDim, Sizes.ResultWidth)))
    return failure();
  return checkLatentCache(Op, Prefix, Cache, Sizes.Rank + RopeDim);
}

OpOperand *tenon::cacheOperandOf(Operation *Op) {
  for (OpOperand &Operand : Op->getOpOperands())
    if (isa<transformer::CacheType>(Operand.get().getType()))
      return &Operand;
  return nullptr;
}

LogicalResult tenon::verifyOneCache(Operation *Op) {
  int64_t Caches = llvm::count_if(Op->getOperandTypes(),
                                  llvm::IsaPred<transformer::CacheType>);
  if (Caches == 1)
    return success();
  return Op->emitOpError() << "expected one cache operand, got " << Caches;
}

RankedTensorType transformer::rowsType(MLIRContext *Context, int64_t Width) {
  return RankedTensorType::get({ShapedType::kDynamic, Width},
                               Float32Type::get(Context));
}

LogicalResult transformer::checkWeight(Operation *Op, StringRef Prefix,
                                       const Twine &Name, Value Weight,
                                       Value Bias, int64_t Width) {
  if (failed(checkEqual(Op, Prefix + "_c1", Name + " input features", Width,
                        sizeOf(Weight, 1))))
    return failure();
  if (!Bias)
    return success();
  return checkEqual(Op, Prefix + "_c2", Name + " bias elements",
                    sizeOf(Weight, 0), sizeOf(Bias, 0));
}
