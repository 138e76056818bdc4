//===- Cost.cpp - What computations move and compute ----------------------===//

#include "dialects/Dnn/Dnn.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::dnn;

static int64_t bytesOf(PackedType Weight) {
  MemRefType Buffer = Weight.getBufferType();
  return Buffer.getNumElements() * Buffer.getElementTypeBitWidth() / 8;
}

static int64_t bytesOfRow(Value Rows) {
  return rowBytesOf(cast<ShapedType>(Rows.getType()));
}

/// Whether `Operand` is rows, not a handle, a weight or an array.
static bool hasRows(Value Operand) {
  auto Type = dyn_cast<ShapedType>(Operand.getType());
  return Type && Type.getRank() == 2 && isRows(Type);
}

/// One token's keys and values, or latent vector, in a cache.
static int64_t tokenBytesOf(Value Cache) {
  return cast<transformer::CacheType>(Cache.getType()).getPageBytes() /
         PageTokens;
}

/// The numbers that `Input` is multiplied as.
static Arithmetic numbersOf(Value Input) {
  if (groupedTypeOf(Input))
    return Arithmetic::Int8;
  return formatOf(Input) == StorageFormat::BF16 ? Arithmetic::BF16
                                                : Arithmetic::F32;
}

static int64_t matmulFlops(PackedType Weight) {
  return 2 * Weight.getOutFeatures() * Weight.getInFeatures();
}

/// Sets what a row's products with weights are, which take `Flops` of plain
/// numbers. Codes of 16 bits are multiplied digit by digit, or half as many at
/// once as those of 8.
static void setProducts(KernelCost &Cost, Value Input, int64_t Flops) {
  Cost.Numbers = numbersOf(Input);
  Cost.RowFlops = Flops;
  if (GroupedType Grouped = groupedTypeOf(Input))
    Cost.RowFlops *= Grouped.getBits() / 8;
}

/// One row of `Table` for each row, in place of all of it.
static void lookUp(KernelCost &Cost, PackedType Table) {
  Cost.WeightBytes -= bytesOf(Table);
  Cost.RowBytes += storedBytes(Table.getFormat(), Table.getInFeatures());
}

/// Scratch of partitions stays in caches, and most of its width is for longer
/// sequences than a step has.
static void leaveOut(KernelCost &Cost, Value Partials) {
  if (Partials)
    Cost.RowBytes -= bytesOfRow(Partials);
}

static void addAttention(KernelCost &Cost, const AttentionCost &Attention,
                         bool IsDecodeSized, int64_t KeyBytes) {
  Cost.KeyBytes = KeyBytes;
  Cost.KeyFlops = IsDecodeSized ? Attention.DecodeFlopsPerKey
                                : Attention.PrefillFlopsPerKey;
  Cost.Window = Attention.Window.value_or(0);
  Cost.Keys = Attention.IsCross    ? KeysSeen::Source
              : Attention.IsCausal ? KeysSeen::Causal
                                   : KeysSeen::Sequence;
}

/// The experts of one of the matmuls of a mixture; `Width` is the part of a row
/// of `Rows` that is one choice's.
static void addExperts(KernelCost &Cost, Value Input, PackedType Weight,
                       Value Rows, int64_t Width) {
  Cost.Parts = Weight.getCount();
  Cost.UsedParts = std::min(widthOf(Rows) / Width, Cost.Parts);
  setProducts(Cost, Input, Cost.UsedParts * matmulFlops(Weight));
}

Value dnn::rowsOf(ComputeOpInterface Op) {
  if (auto Select = dyn_cast<SelectOutputRowsOp>(*Op))
    return Select.getOuts();
  for (Value Operand : Op->getOperands())
    if (hasRows(Operand))
      return Operand;
  return {};
}

namespace {

template <typename T, typename... Ts>
concept OneOf = (std::is_same_v<T, Ts> || ...);

/// Every operation of the dialect.
template <typename... OpTys> struct CostedOps {
  /// Gives `Op`, a computation, to `Visitor` as its type.
  template <typename V> static void visit(Operation *Op, V &Visitor) {
    (tryVisit<OpTys>(Op, Visitor), ...);
  }

private:
  template <typename OpTy, typename V>
  static void tryVisit(Operation *Op, V &Visitor) {
    if constexpr (OpTy::template hasTrait<ComputeOpInterface::Trait>())
      if (auto Typed = dyn_cast<OpTy>(Op))
        Visitor(Typed);
  }
};
using Computations = CostedOps<
#define GET_OP_LIST
#include "dialects/Dnn/DnnOps.cpp.inc"
    >;

} // namespace

KernelCost dnn::costOf(ComputeOpInterface Op) {
  KernelCost Cost;
  for (Value Operand : Op->getOperands()) {
    if (auto Packed = dyn_cast<PackedType>(Operand.getType()))
      Cost.WeightBytes += bytesOf(Packed);
    else if (hasRows(Operand))
      Cost.RowBytes += bytesOfRow(Operand);
  }
  bool IsDecodeSized =
      transformer::variantOf(Op->getParentOfType<FunctionOpInterface>()) ==
      transformer::Variant::Few;

  // What an operation adds to that; one without an overload does not compile.
  auto Add = llvm::makeVisitor(
      // A row from rows, with all of the weights.
      [](OneOf<ActivationOp, AddNormOp, CastOp, ClampOp, ClassTokenOp,
               InputFeaturesOp, LayerNormOp, MergeFeaturesOp, MoeCombineOp,
               MoeGroupOp, MoeRouteOp, ResidualOp, RmsNormOp, ScaleOp,
               SelectOutputRowsOp, SigmoidGateOp, SliceOp, SoftCapOp> auto) {},
      [&](EmbeddingOp Op) { lookUp(Cost, Op.getTable().getType()); },
      [&](RopeOp Op) { lookUp(Cost, Op.getTable().getType()); },
      [&](SplitAppendOp Op) {
        if (Op.getTable())
          lookUp(Cost, Op.getTable().getType());
        Cost.RowBytes += tokenBytesOf(Op.getCache());
      },
      [&](SplitStageOp Op) {
        if (Op.getTable())
          lookUp(Cost, Op.getTable().getType());
        // A row of the staging buffer is a page of tokens.
        int64_t Staged = bytesOfRow(Op.getStagedOut());
        Cost.RowBytes += Staged / PageTokens - Staged;
      },
      [&](OneOf<CacheAppendOp, LatentAppendOp> auto Op) {
        Cost.RowBytes += tokenBytesOf(Op.getCache());
      },
      [&](PoolOp Op) {
        // A row per sequence, not per token.
        Cost.RowBytes -= bytesOfRow(Op.getOuts());
      },
      [&](MatmulOp Op) {
        setProducts(Cost, Op.getInput(), matmulFlops(Op.getWeight().getType()));
      },
      [&](GatedMatmulOp Op) {
        setProducts(Cost, Op.getInput(),
                    matmulFlops(Op.getGate().getType()) +
                        matmulFlops(Op.getUp().getType()));
      },
      [&](MoeGateUpOp Op) {
        PackedType Up = Op.getUp().getType();
        addExperts(Cost, Op.getInput(), Up, Op.getOuts(), Up.getOutFeatures());
        Cost.RowFlops *= 2;
      },
      [&](MoeDownOp Op) {
        PackedType Down = Op.getDown().getType();
        addExperts(Cost, Op.getInput(), Down, Op.getInput(),
                   Down.getInFeatures());
      },
      [&](AttentionOp Op) {
        bool IsCross =
            Op.getCache() &&
            cast<transformer::CacheType>(Op.getCache().getType()).isCross();
        int64_t KeyBytes = 0;
        if (Op.getCache()) {
          KeyBytes = tokenBytesOf(Op.getCache());
        } else {
          int64_t Staged = bytesOfRow(Op.getStaged());
          KeyBytes = Staged / PageTokens;
          Cost.RowBytes -= Staged;
        }
        leaveOut(Cost, Op.getPartialsOut());
        addAttention(
            Cost,
            attentionCost(widthOf(Op.getQuery()), Op.getWindow(),
                          Op.getMask() != transformer::MaskKind::Bidirectional,
                          IsCross),
            IsDecodeSized, KeyBytes);
        Cost.Numbers = numbersOf(Op.getQuery());
        if (multipliesCachedIntegers(Op)) {
          Cost.Numbers = Arithmetic::Int8;
          Cost.KeyFlops *= QueryDigits;
        }
      },
      [&](LatentAttentionOp Op) {
        PackedType Expand = Op.getExpand().getType();
        auto Heads = static_cast<int64_t>(Op.getHeads());
        leaveOut(Cost, Op.getPartialsOut());
        addAttention(Cost,
                     latentAttentionCost(Heads,
                                         static_cast<int64_t>(Op.getKeyDim()),
                                         static_cast<int64_t>(Op.getValueDim()),
                                         Op.getRank(), Op.getRopeDim()),
                     IsDecodeSized, tokenBytesOf(Op.getCache()));
        Cost.RowFlops = matmulFlops(Expand);
        Cost.Numbers = numbersOf(Op.getQuery());
      });
  Computations::visit(Op, Add);
  return Cost;
}
