//===- ConvertAttention.cpp - Attention and its tables --------------------===//

#include "passes/Placement/DnnConverter.h"

#include "passes/Support/Functions.h"

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
  map(Op, dnn::AttentionOp::create(
              Builder, Op.getLoc(), Out.getType(), Op.getMaskAttr(), Query,
              Batch, mapped(Op.getStaged()), mapped(Op.getCache()),
              mapped(Op.getScope()), Bias, packed(Op.getSinks()), Out,
              Op.getHeadsAttr(), Op.getKvHeadsAttr(), Op.getScaleAttr(),
              Op.getWindowAttr(), Op.getSoftCapAttr(), Content)
              .getResults());
  return success();
}

LogicalResult DnnConverter::convert(LatentAttentionOp Op) {
  // The expanded form keeps a maximum and a total beside each weighted value.
  int64_t StateWidth = static_cast<int64_t>(Op.getHeads()) *
                       (static_cast<int64_t>(Op.getValueDim()) + 2);
  Value Out = emptyLike(Op.getResult());
  Value State = emptyRows(Op.getLoc(), Module.Rows.of(Op.getResult()),
                          StateWidth, Builder.getF32Type());
  map(Op, dnn::LatentAttentionOp::create(
              Builder, Op.getLoc(), TypeRange{Out.getType(), State.getType()},
              mapped(Op.getQuery()), Batch, mapped(Op.getCache()),
              mapped(Op.getScope()), packed(Op.getExpand()), Out, State,
              Op.getHeadsAttr(), Op.getKeyDimAttr(), Op.getValueDimAttr(),
              Op.getScaleAttr())
              .getResults()[0]);
  return success();
}
