//===- ConvertAttention.cpp - Attention and its tables --------------------===//

#include "passes/Placement/DnnConverter.h"

#include "passes/Support/Functions.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

LogicalResult DnnConverter::convert(SplitAppendOp Op) {
  Value Out = emptyLike(Op.getQuery());
  Value Cache = mapped(Op.getCache());
  map(Op.getQuery(),
      dnn::SplitAppendOp::create(
          Builder, Op.getLoc(), Out.getType(), mapped(Op.getQkv()), Cache,
          mapped(Op.getScope()), Batch, packed(Op.getQueryNorm()),
          packed(Op.getKeyNorm()), ropeTable(Op.getLoc(), Op.getRopeAttr()),
          Out, Op.getHeadsAttr(), Op.getKvHeadsAttr(), Op.getRopeAttr(),
          Op.getEpsAttr(), Op.getNormOffsetAttr())
          .getResults());
  map(Op.getResult(), Cache);
  return success();
}

/// What queries, keys and values that are staged are multiplied in: bf16 where
/// the matmul that they come from multiplies it.
Type DnnConverter::stagedType(SplitStageOp Op) {
  auto Matmul = Op.getQkv().front().getDefiningOp<transformer::MatmulOp>();
  CacheFormat Format = CacheFormat::F32;
  if (Matmul && !Matmul.getWeights().empty() &&
      inputType(Matmul.getWeights().front(), /*IsExact=*/true).isBF16())
    Format = CacheFormat::BF16;
  return Module.Target.getQueryType(Format, /*IsExact=*/true,
                                    isDecodeSized(Function));
}

LogicalResult DnnConverter::convert(SplitStageOp Op) {
  Type Element = stagedType(Op);
  Value Query = emptyLike(Op.getQuery(), Element);
  Value Staged = emptyLike(Op.getStaged(), Element);
  if (Element.isBF16()) {
    int64_t HeadDim = cast<ShapedType>(Query.getType()).getDimSize(1) /
                      static_cast<int64_t>(Op.getHeads());
    PageLayout Layout{static_cast<int64_t>(Op.getKvHeads()), HeadDim,
                      dnn::stagedFormat(Staged)};
    Staged = emptyRows(Op.getLoc(), Module.Rows.of(Op.getStaged()),
                       Layout.elements(), Element);
  }
  auto New = dnn::SplitStageOp::create(
      Builder, Op.getLoc(), TypeRange{Query.getType(), Staged.getType()},
      mapped(Op.getQkv()), Batch, packed(Op.getQueryNorm()),
      packed(Op.getKeyNorm()), ropeTable(Op.getLoc(), Op.getRopeAttr()), Query,
      Staged, Op.getHeadsAttr(), Op.getKvHeadsAttr(), Op.getRopeAttr(),
      Op.getEpsAttr(), Op.getNormOffsetAttr());
  map(Op.getQuery(), New.getResults()[0]);
  map(Op.getStaged(), New.getResults()[1]);
  return success();
}

/// Pages of a partition, and the most partitions of a row, which bounds
/// scratch; longer rows have larger ones. Merging is to be small beside reading
/// 8 pages: of latent vectors a step of 8,192 tokens was 7 % slower with 4.
static constexpr int64_t PartitionPages = 8;
static constexpr int64_t MostPartitions = 64;

/// The most partitions of a row that sees at most `Pages` pages.
static int64_t partitionsOf(int64_t Pages) {
  return std::min<int64_t>(llvm::divideCeil(Pages, PartitionPages),
                           MostPartitions);
}

/// The most partitions of a row; 1 where rows are many, or their keys few.
int64_t DnnConverter::partitionsOf(OnlineAttentionOp Op) {
  if (!Op.getCache() || !isDecodeSized(Function))
    return 1;
  int64_t Pages = llvm::divideCeil(Module.Positions, PageTokens);
  // A window begins anywhere in a page.
  if (std::optional<uint64_t> Window = Op.getWindow())
    Pages = std::min<int64_t>(
        Pages,
        llvm::divideCeil(static_cast<int64_t>(*Window) - 1, PageTokens) + 1);
  return ::partitionsOf(Pages);
}

LogicalResult DnnConverter::convert(OnlineAttentionOp Op) {
  auto Heads = static_cast<int64_t>(Op.getHeads());
  TableAttrInterface Content;
  Value Bias;
  if (BucketsAttr Buckets = Op.getBucketsAttr()) {
    auto Learned = Op.getBias().getDefiningOp<ParameterOp>();
    Content = Buckets;
    Bias = table(Op.getLoc(), mapped(Learned.getScope()), Buckets, Heads,
                 *Buckets.getTableWidth(), Learned.getKeyAttr());
  } else if (AlibiAttr Alibi = Op.getAlibiAttr()) {
    Content = Alibi;
    Bias = table(Op.getLoc(), anyScope(), Alibi, Heads, *Alibi.getTableWidth());
  }
  Value Query = mapped(Op.getQuery());
  if (Op.getCache()) {
    CacheFormat Format = cast<CacheType>(Op.getCache().getType()).getFormat();
    Type QueryType = Module.Target.getQueryType(Format, Module.IsExact,
                                                isDecodeSized(Function));
    if (getElementTypeOrSelf(Query) != QueryType)
      Query = castInto(Query, emptyLike(Op.getQuery(), QueryType));
  }
  Value Out = emptyLike(Op.getResult());
  SmallVector<Type> Types = {Out.getType()};
  Value Partials;
  IntegerAttr Pages;
  if (int64_t Count = partitionsOf(Op); Count > 1) {
    Pages = Builder.getI64IntegerAttr(PartitionPages);
    Partials = emptyRows(
        Op.getLoc(), Module.Rows.of(Op.getResult()),
        Count * (cast<ShapedType>(Out.getType()).getDimSize(1) + 2 * Heads),
        Builder.getF32Type());
    Types.push_back(Partials.getType());
  }
  map(Op, dnn::AttentionOp::create(
              Builder, Op.getLoc(), Types, Op.getMaskAttr(), Query, Batch,
              mapped(Op.getStaged()), mapped(Op.getCache()),
              mapped(Op.getScope()), Bias, packed(Op.getSinks()), Out, Partials,
              Op.getHeadsAttr(), Op.getKvHeadsAttr(), Op.getScaleAttr(),
              Op.getWindowAttr(), Op.getSoftCapAttr(), Content, Pages)
              .getResults()[0]);
  return success();
}

LogicalResult DnnConverter::convert(LatentAttentionOp Op) {
  // The expanded form keeps a maximum and a total beside each weighted value.
  int64_t StateWidth = static_cast<int64_t>(Op.getHeads()) *
                       (static_cast<int64_t>(Op.getValueDim()) + 2);
  Value Out = emptyLike(Op.getResult());
  Value State = emptyRows(Op.getLoc(), Module.Rows.of(Op.getResult()),
                          StateWidth, Builder.getF32Type());
  // 16 heads go through a page together, which in f32 takes longer than the
  // page from memory: they have bf16 queries in decode-sized batches too.
  bool HasDots = Module.Target.hasDot(DotProduct::BF16) && !Module.IsExact;
  Type QueryType = Module.Target.getQueryType(
      Op.getCache().getType().getFormat(), Module.IsExact,
      isDecodeSized(Function) && !HasDots);
  Value Query = mapped(Op.getQuery());
  if (getElementTypeOrSelf(Query) != QueryType)
    Query = castInto(Query, emptyLike(Op.getQuery(), QueryType));
  SmallVector<Type> Types = {Out.getType(), State.getType()};
  Value Partials;
  IntegerAttr Pages;
  if (isDecodeSized(Function)) {
    // Also of a single partition: absorbing K is shared by head, reading pages
    // by 16 of them.
    int64_t Count =
        ::partitionsOf(llvm::divideCeil(Module.Positions, PageTokens));
    Pages = Builder.getI64IntegerAttr(PartitionPages);
    auto Heads = static_cast<int64_t>(Op.getHeads());
    int64_t Rank = Op.getRank();
    int64_t RopeDim =
        widthOf(Op.getQuery()) / Heads - static_cast<int64_t>(Op.getKeyDim());
    Partials = emptyRows(Op.getLoc(), Module.Rows.of(Op.getResult()),
                         Heads * (Rank + RopeDim + Count * (Rank + 2)),
                         Builder.getF32Type());
    Types.push_back(Partials.getType());
  }
  map(Op, dnn::LatentAttentionOp::create(
              Builder, Op.getLoc(), Types, Query, Batch, mapped(Op.getCache()),
              mapped(Op.getScope()), packed(Op.getExpand()), Out, State,
              Partials, Op.getHeadsAttr(), Op.getKeyDimAttr(),
              Op.getValueDimAttr(), Op.getScaleAttr(), Pages)
              .getResults()[0]);
  return success();
}
