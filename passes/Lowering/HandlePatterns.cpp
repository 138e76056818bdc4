//===- HandlePatterns.cpp - Handles and buffers in the LLVM dialect -------===//

#include "passes/Lowering/Abi.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"

using namespace mlir;
using namespace tenon;
using transformer::CountKind;

namespace {

int32_t batchField(dnn::FieldKind Kind) {
  switch (Kind) {
  case dnn::FieldKind::TokenIds:
    return TENON_FIELD(tenon_rt_batch, token_ids);
  case dnn::FieldKind::TokenTypes:
    return TENON_FIELD(tenon_rt_batch, token_types);
  case dnn::FieldKind::Positions:
    return TENON_FIELD(tenon_rt_batch, positions);
  case dnn::FieldKind::SequenceOf:
    return TENON_FIELD(tenon_rt_batch, sequence_of);
  case dnn::FieldKind::Starts:
    return TENON_FIELD(tenon_rt_batch, starts);
  case dnn::FieldKind::OutputRows:
    return TENON_FIELD(tenon_rt_batch, output_rows);
  case dnn::FieldKind::SourceLengths:
    return TENON_FIELD(tenon_rt_batch, source_lengths);
  case dnn::FieldKind::Prefixes:
    return TENON_FIELD(tenon_rt_batch, prefixes);
  case dnn::FieldKind::StagedStarts:
    return TENON_FIELD(tenon_rt_batch, staged_starts);
  }
  llvm_unreachable("all fields are covered");
}

int32_t countField(CountKind Kind) {
  switch (Kind) {
  case CountKind::Tokens:
    return TENON_FIELD(tenon_rt_batch, tokens);
  case CountKind::OutputRows:
    return TENON_FIELD(tenon_rt_batch, output_row_count);
  case CountKind::Sequences:
    return TENON_FIELD(tenon_rt_batch, sequences);
  case CountKind::StagedPages:
    return TENON_FIELD(tenon_rt_batch, staged_pages);
  }
  llvm_unreachable("all counts are covered");
}

/// The descriptor of `Rows` dense rows at `Pointer`.
Value dynamicRows(const LLVMTypeConverter &Converter, OpBuilder &B,
                  Location Loc, MemRefType Type, Value Pointer, Value Rows) {
  auto Descriptor =
      MemRefDescriptor::poison(B, Loc, Converter.convertType(Type));
  Abi A(B, Loc);
  Descriptor.setAllocatedPtr(B, Loc, Pointer);
  Descriptor.setAlignedPtr(B, Loc, Pointer);
  Descriptor.setOffset(B, Loc, A.constant(0));
  Descriptor.setSize(B, Loc, 0, Rows);
  int64_t Width = Type.getRank() == 2 ? Type.getDimSize(1) : 1;
  Descriptor.setStride(B, Loc, 0, A.constant(Width));
  if (Type.getRank() == 2) {
    Descriptor.setSize(B, Loc, 1, A.constant(Width));
    Descriptor.setStride(B, Loc, 1, A.constant(1));
  }
  return Descriptor;
}

int64_t bytesOf(MemRefType Type) {
  return Type.getNumElements() * Type.getElementTypeBitWidth() / 8;
}

struct CountPattern : public ConvertOpToLLVMPattern<dnn::CountOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::CountOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    Abi A(B, Op.getLoc());
    B.replaceOp(Op, A.word(A.batch(Operands.getBatch()),
                           countField(Op.getKind()), A.I64));
    return success();
  }
};

struct FewTokensPattern : public ConvertOpToLLVMPattern<dnn::FewTokensOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::FewTokensOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    Abi A(B, Op.getLoc());
    B.replaceOp(Op, A.word(A.batch(Operands.getBatch()),
                           TENON_FIELD(tenon_rt_batch, few_tokens), A.I64));
    return success();
  }
};

struct ScopePattern : public ConvertOpToLLVMPattern<dnn::ScopeOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::ScopeOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    Abi A(B, Op.getLoc());
    Value Scopes = A.pointer(Operands.getBatch(), StepScopes);
    B.replaceOp(Op, A.offset(Scopes,
                             A.constant(static_cast<int64_t>(Op.getNumber())),
                             sizeof(tenon_rt_scope)));
    return success();
  }
};

/// A weight or a table of angles: an entry of the scope's table.
template <typename OpTy>
struct WeightIndexPattern : public ConvertOpToLLVMPattern<OpTy> {
  using ConvertOpToLLVMPattern<OpTy>::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(OpTy Op, typename OpTy::Adaptor Operands,
                                ConversionPatternRewriter &B) const override {
    if (!Op.getIndex())
      return Op.emitOpError() << "expected an index";
    Abi A(B, Op.getLoc());
    Value Table = A.pointer(Operands.getScope(), ScopeWeights);
    B.replaceOp(Op, A.pointer(Table, static_cast<int32_t>(*Op.getIndex())));
    return success();
  }
};

struct WeightViewPattern : public ConvertOpToLLVMPattern<dnn::WeightViewOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::WeightViewOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    B.replaceOp(Op, {MemRefDescriptor::fromStaticShape(
                        B, Op.getLoc(), *getTypeConverter(),
                        cast<MemRefType>(Op.getType()), Operands.getWeight())});
    return success();
  }
};

struct RowBytesPattern : public ConvertOpToLLVMPattern<dnn::RowBytesOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::RowBytesOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    MemRefDescriptor Rows(Operands.getRows());
    B.replaceOp(Op, dynamicRows(*getTypeConverter(), B, Op.getLoc(),
                                cast<MemRefType>(Op.getType()),
                                Rows.alignedPtr(B, Op.getLoc()),
                                Rows.size(B, Op.getLoc(), 0)));
    return success();
  }
};

struct FieldPattern : public ConvertOpToLLVMPattern<dnn::FieldOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::FieldOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    Abi A(B, Op.getLoc());
    Value Batch = A.batch(Operands.getBatch());
    // The size is only nominal: kernels know how far they may go.
    Value Size = A.word(Batch, TENON_FIELD(tenon_rt_batch, tokens), A.I64);
    B.replaceOp(Op,
                dynamicRows(*getTypeConverter(), B, Op.getLoc(),
                            cast<MemRefType>(Op.getType()),
                            A.pointer(Batch, batchField(Op.getKind())), Size));
    return success();
  }
};

struct PageTablePattern : public ConvertOpToLLVMPattern<dnn::PageTableOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::PageTableOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    Abi A(B, Op.getLoc());
    Value Tables =
        A.pointer(A.batch(Operands.getBatch()),
                  Op.getCross() ? TENON_FIELD(tenon_rt_batch, cross_pages)
                                : TENON_FIELD(tenon_rt_batch, pages));
    Value Table = A.word(Tables, Operands.getSequence(), A.Ptr);
    B.replaceOp(Op, dynamicRows(*getTypeConverter(), B, Op.getLoc(),
                                cast<MemRefType>(Op.getType()), Table,
                                A.constant(0)));
    return success();
  }
};

/// Keys and values as descriptors of the page at `Base`.
SmallVector<Value> pageDescriptors(const LLVMTypeConverter &Converter,
                                   OpBuilder &B, Location Loc, TypeRange Parts,
                                   Value Base) {
  Abi A(B, Loc);
  SmallVector<Value> Descriptors;
  for (Type Part : Parts) {
    auto Buffer = cast<MemRefType>(Part);
    Descriptors.push_back(
        MemRefDescriptor::fromStaticShape(B, Loc, Converter, Buffer, Base));
    Base = A.offset(Base, A.constant(1), bytesOf(Buffer));
  }
  return Descriptors;
}

/// Bytes of all of `Parts`.
int64_t bytesOfAll(TypeRange Parts) {
  int64_t Bytes = 0;
  for (Type Part : Parts)
    Bytes += bytesOf(cast<MemRefType>(Part));
  return Bytes;
}

/// Page `Number` of the layer of `Scope` in the cache of number `Cache`.
Value pageAddress(Abi &A, Value Scope, Value Cache, Value Number,
                  int64_t PageBytes) {
  Value Layers = A.pointer(Scope, ScopeCaches);
  return A.offset(A.word(Layers, Cache, A.Ptr), Number, PageBytes);
}

struct PagePattern : public ConvertOpToLLVMPattern<dnn::PageOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::PageOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    Abi A(B, Op.getLoc());
    TypeRange Parts = Op->getResultTypes();
    Value Page = pageAddress(A, Operands.getScope(), Operands.getCache(),
                             Operands.getPage(), bytesOfAll(Parts));
    B.replaceOp(
        Op, pageDescriptors(*getTypeConverter(), B, Op.getLoc(), Parts, Page));
    return success();
  }
};

struct LatentPagePattern : public ConvertOpToLLVMPattern<dnn::LatentPageOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::LatentPageOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    Abi A(B, Op.getLoc());
    auto Type = cast<MemRefType>(Op.getType());
    Value Page = pageAddress(A, Operands.getScope(), Operands.getCache(),
                             Operands.getPage(), bytesOf(Type));
    B.replaceOp(Op, {MemRefDescriptor::fromStaticShape(
                        B, Op.getLoc(), *getTypeConverter(), Type, Page)});
    return success();
  }
};

struct StagedPagePattern : public ConvertOpToLLVMPattern<dnn::StagedPageOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::StagedPageOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    Abi A(B, Op.getLoc());
    TypeRange Parts = Op->getResultTypes();
    MemRefDescriptor Staged(Operands.getStaged());
    Value Page = A.offset(Staged.alignedPtr(B, Op.getLoc()), Operands.getRow(),
                          bytesOfAll(Parts));
    B.replaceOp(
        Op, pageDescriptors(*getTypeConverter(), B, Op.getLoc(), Parts, Page));
    return success();
  }
};

/// Each thread has its part of the scratch memory.
struct ScratchPattern : public ConvertOpToLLVMPattern<dnn::ScratchOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(dnn::ScratchOp Op, OpAdaptor Operands,
                                ConversionPatternRewriter &B) const override {
    Location Loc = Op.getLoc();
    Abi A(B, Loc);
    Value Step = Operands.getBatch();
    Value Begin = LLVM::MulOp::create(B, Loc, Operands.getThread(),
                                      A.word(Step, StepScratchBytes, A.I64));
    Value Bytes = LLVM::AddOp::create(
        B, Loc, Begin, A.constant(static_cast<int64_t>(Op.getOffset())));
    Value Place = A.offset(A.pointer(Step, StepScratch), Bytes, 1);
    B.replaceOp(Op, {MemRefDescriptor::fromStaticShape(
                        B, Loc, *getTypeConverter(),
                        cast<MemRefType>(Op.getType()), Place)});
    return success();
  }
};

/// Where the rows of a buffer, of the input features and of the output begin.
Value addressOf(Abi &A, dnn::BufferOp Op, dnn::BufferOp::Adaptor Operands) {
  return A.offset(A.pointer(Operands.getBatch(), StepArena),
                  A.constant(static_cast<int64_t>(Op.getOffset())), 1);
}

Value addressOf(Abi &A, dnn::FeaturesOp, dnn::FeaturesOp::Adaptor Operands) {
  return A.pointer(A.batch(Operands.getBatch()),
                   TENON_FIELD(tenon_rt_batch, features));
}

Value addressOf(Abi &A, dnn::OutputOp, dnn::OutputOp::Adaptor Operands) {
  return A.pointer(Operands.getBatch(), StepOutput);
}

template <typename OpTy>
struct RowsPattern : public ConvertOpToLLVMPattern<OpTy> {
  using ConvertOpToLLVMPattern<OpTy>::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(OpTy Op, typename OpTy::Adaptor Operands,
                                ConversionPatternRewriter &B) const override {
    Abi A(B, Op.getLoc());
    B.replaceOp(Op,
                dynamicRows(*this->getTypeConverter(), B, Op.getLoc(),
                            cast<MemRefType>(Op.getType()),
                            addressOf(A, Op, Operands), Operands.getRows()));
    return success();
  }
};

} // namespace

void tenon::populateHandlePatterns(LLVMTypeConverter &Converter,
                                   RewritePatternSet &Patterns) {
  Patterns
      .add<CountPattern, FewTokensPattern, ScopePattern,
           WeightIndexPattern<dnn::WeightOp>, WeightIndexPattern<dnn::TableOp>,
           WeightViewPattern, RowBytesPattern, FieldPattern, PageTablePattern,
           PagePattern, LatentPagePattern, StagedPagePattern, ScratchPattern,
           RowsPattern<dnn::BufferOp>, RowsPattern<dnn::FeaturesOp>,
           RowsPattern<dnn::OutputOp>>(Converter);
}
