//===- RowKernels.cpp - Kernels that go row by row ------------------------===//

#include "passes/Codegen/GroupReader.h"
#include "passes/Codegen/OutputRows.h"

using namespace mlir;
using namespace tenon;

static dnn::FieldKind fieldOf(transformer::IndexKind Kind) {
  switch (Kind) {
  case transformer::IndexKind::Token:
    return dnn::FieldKind::TokenIds;
  case transformer::IndexKind::Position:
    return dnn::FieldKind::Positions;
  case transformer::IndexKind::TokenType:
    return dnn::FieldKind::TokenTypes;
  }
  llvm_unreachable("all kinds are covered");
}

/// Writes row `Id` of a table in quantised panels: it is one lane of vectors
/// that hold 16 rows.
static void gatherQuantised(KernelBuilder &B, dnn::PackedType Packed,
                            Value Table, Value Id, Value Out, Value Row) {
  Value Values = B.scratch({GroupValues, Lanes});
  Value Column = B.mul(B.div(B.rem(Id, PanelWidth), Lanes), Lanes);
  Value Lane = B.rem(Id, Lanes);
  auto Group = [&](Value Number, int64_t Valid) {
    GroupReader Reader(B, Packed.getFormat(), Table, B.div(Id, PanelWidth),
                       Number, Column);
    Reader.forEachOctet([&](int64_t Octet, auto ValueOf) {
      for (int64_t I = 0; I < GroupReader::OctetValues; ++I)
        B.store(ValueOf(I), Values,
                {B.index(Octet * GroupReader::OctetValues + I), B.index(0)});
    });
    // What lies behind the row's end is not its own.
    Value First = B.mul(Number, GroupValues);
    B.loop(B.index(0), B.index(Valid), 1, [&](Value I) {
      B.storeScalar(B.loadScalar(Values, {I, Lane}), Out,
                    {Row, B.add(First, I)});
    });
  };
  int64_t Width = Packed.getInFeatures(), Full = Width / GroupValues;
  if (Full > 0)
    B.loop(B.index(0), B.index(Full), 1,
           [&](Value Number) { Group(Number, GroupValues); });
  if (int64_t Rest = Width % GroupValues)
    Group(B.index(Full), Rest);
}

template <> void tenon::emitKernel(KernelBuilder &B, dnn::EmbeddingOp Op) {
  auto Packed = cast<dnn::PackedType>(Op.getTable().getType());
  Value Table = B.weightView(Op.getTable());
  Value Ids = B.field(fieldOf(Op.getIndex()), Op.getBatch());
  Value Out = Op.getOuts();
  int64_t Width = Packed.getInFeatures();
  B.share(B.dim0(Out), [&](Value Row) {
    Value Id =
        B.add(B.loadIndex(Ids, Row), static_cast<int64_t>(Op.getOffset()));
    if (Packed.getLayout() == LayoutKind::RowMajor) {
      B.columns(Width, [&](Value Column, int64_t Valid) {
        B.store(B.load(Table, {Id, Column}, Valid), Out, {Row, Column}, Valid);
      });
      return;
    }
    if (infoOf(Packed.getFormat()).isQuantised())
      return gatherQuantised(B, Packed, Table, Id, Out, Row);
    // A row of a head packed in panels: its elements are a panel row apart.
    int64_t Interleave = infoOf(Packed.getFormat()).Interleave;
    Value Panel = B.div(Id, PanelWidth);
    Value Lane = B.mul(B.rem(Id, PanelWidth), Interleave);
    B.loop(B.index(0), B.index(Width), 1, [&](Value Column) {
      Value Step = B.div(Column, Interleave);
      Value At = B.add(Lane, B.rem(Column, Interleave));
      B.storeScalar(B.loadScalar(Table, {Panel, Step, At}), Out, {Row, Column});
    });
  });
}

template <>
void tenon::emitKernel(KernelBuilder &B, dnn::SelectOutputRowsOp Op) {
  Value OutputRows = B.field(dnn::FieldKind::OutputRows, Op.getBatch());
  B.share(B.dim0(Op.getOuts()), [&](Value Row) {
    Value From = B.loadIndex(OutputRows, Row);
    B.columns(widthOf(Op.getOuts()), [&](Value Column, int64_t Valid) {
      B.store(B.load(Op.getInput(), {From, Column}, Valid), Op.getOuts(),
              {Row, Column}, Valid);
    });
  });
}

/// Writes every element of `Output` as `Make` computes it from row, column and
/// the number of valid lanes. Threads share pieces of rows: one row may be all
/// that there is.
static void writeRows(
    KernelBuilder &B, Value Output,
    llvm::function_ref<Value(Value Row, Value Column, int64_t Valid)> Make) {
  constexpr int64_t PieceColumns = 8 * GroupValues;
  OutputRows Out(B, Output);
  int64_t Width = widthOf(Output), Rest = Width % PieceColumns;
  int64_t Pieces = llvm::divideCeil(Width, PieceColumns);
  auto Write = [&](Value Row, Value First, int64_t Count) {
    Out.columns(Row, First, Count, [&](Value Column, int64_t Valid) {
      return Make(Row, B.add(Column, First), Valid);
    });
  };
  if (Pieces == 1) {
    B.share(B.dim0(Output), [&](Value Row) { Write(Row, B.index(0), Width); });
    return;
  }
  B.share(B.mul(B.dim0(Output), Pieces), [&](Value Item) {
    Value Row = B.div(Item, Pieces), Number = B.rem(Item, Pieces);
    Value First = B.mul(Number, PieceColumns);
    if (Rest == 0)
      return Write(Row, First, PieceColumns);
    B.ifThenElse(
        B.isEqual(Number, B.index(Pieces - 1)),
        [&] { Write(Row, First, Rest); },
        [&] { Write(Row, First, PieceColumns); });
  });
}

template <> void tenon::emitKernel(KernelBuilder &B, dnn::ResidualOp Op) {
  writeRows(B, Op.getOuts(), [&](Value Row, Value Column, int64_t Valid) {
    return B.addf(B.load(Op.getLhs(), {Row, Column}, Valid),
                  B.load(Op.getRhs(), {Row, Column}, Valid));
  });
}

template <> void tenon::emitKernel(KernelBuilder &B, dnn::CastOp Op) {
  writeRows(B, Op.getOuts(), [&](Value Row, Value Column, int64_t Valid) {
    return B.load(Op.getInput(), {Row, Column}, Valid);
  });
}

/// Writes `Make` of every element of the input.
template <typename OpTy>
static void mapElements(KernelBuilder &B, OpTy Op,
                        llvm::function_ref<Value(Value)> Make) {
  writeRows(B, Op.getOuts(), [&](Value Row, Value Column, int64_t Valid) {
    return Make(B.load(Op.getInput(), {Row, Column}, Valid));
  });
}

static Value vectorOf(KernelBuilder &B, const APFloat &Number) {
  return B.vecConst(static_cast<float>(Number.convertToDouble()));
}

template <> void tenon::emitKernel(KernelBuilder &B, dnn::ActivationOp Op) {
  mapElements(B, Op, [&](Value X) { return B.activate(X, Op.getKind()); });
}

template <> void tenon::emitKernel(KernelBuilder &B, dnn::ScaleOp Op) {
  mapElements(B, Op,
              [&](Value X) { return B.mulf(X, vectorOf(B, Op.getFactor())); });
}

template <> void tenon::emitKernel(KernelBuilder &B, dnn::SoftCapOp Op) {
  double Bound = Op.getBound().convertToDouble();
  mapElements(B, Op, [&](Value X) {
    Value Inner = B.mulf(X, B.vecConst(static_cast<float>(1 / Bound)));
    return B.mulf(math::TanhOp::create(B, Inner), vectorOf(B, Op.getBound()));
  });
}

template <> void tenon::emitKernel(KernelBuilder &B, dnn::ClampOp Op) {
  mapElements(B, Op, [&](Value X) {
    Value Bound = vectorOf(B, Op.getBound());
    return B.maxf(B.minf(X, Bound), vectorOf(B, -Op.getBound()));
  });
}

template <> void tenon::emitKernel(KernelBuilder &B, dnn::SigmoidGateOp Op) {
  writeRows(B, Op.getOuts(), [&](Value Row, Value Column, int64_t Valid) {
    Value Gate = B.splat(B.loadScalar(Op.getGate(), {Row, B.index(0)}));
    return B.mulf(B.load(Op.getInput(), {Row, Column}, Valid),
                  B.activate(Gate, Activation::Sigmoid));
  });
}

template <> void tenon::emitKernel(KernelBuilder &B, dnn::SliceOp Op) {
  writeRows(B, Op.getOuts(), [&](Value Row, Value Column, int64_t Valid) {
    Value From = B.add(Column, static_cast<int64_t>(Op.getFirst()));
    return B.load(Op.getInput(), {Row, From}, Valid);
  });
}

/// The batch's rows of input, of the shape of `Out`.
static Value givenRows(KernelBuilder &B, Value Batch, Value Out) {
  auto Type =
      MemRefType::get({ShapedType::kDynamic, widthOf(Out)}, B.getF32Type());
  return dnn::FeaturesOp::create(B, Type, Batch, B.dim0(Out));
}

template <> void tenon::emitKernel(KernelBuilder &B, dnn::InputFeaturesOp Op) {
  Value Out = Op.getOuts();
  Value Given = givenRows(B, Op.getBatch(), Out);
  writeRows(B, Out, [&](Value Row, Value Column, int64_t Valid) {
    return B.load(Given, {Row, Column}, Valid);
  });
}

template <> void tenon::emitKernel(KernelBuilder &B, dnn::ClassTokenOp Op) {
  Value Token = B.weightView(Op.getToken());
  Value Positions = B.field(dnn::FieldKind::Positions, Op.getBatch());
  writeRows(B, Op.getOuts(), [&](Value Row, Value Column, int64_t Valid) {
    Value IsFirst = B.isEqual(B.loadIndex(Positions, Row), B.index(0));
    return arith::SelectOp::create(B, IsFirst, B.load(Token, {Column}),
                                   B.load(Op.getInput(), {Row, Column}, Valid));
  });
}

template <> void tenon::emitKernel(KernelBuilder &B, dnn::MergeFeaturesOp Op) {
  Value Out = Op.getOuts();
  Value Given = givenRows(B, Op.getBatch(), Out);
  Value Ids = B.field(dnn::FieldKind::TokenIds, Op.getBatch());
  B.share(B.dim0(Out), [&](Value Row) {
    auto CopyFrom = [&](Value Rows) {
      B.columns(widthOf(Out), [&](Value Column, int64_t Valid) {
        B.store(B.load(Rows, {Row, Column}, Valid), Out, {Row, Column}, Valid);
      });
    };
    // No row of other tokens may be read: there may be none.
    Value Token = B.index(static_cast<int64_t>(Op.getToken()));
    B.ifThenElse(
        B.isEqual(B.loadIndex(Ids, Row), Token), [&] { CopyFrom(Given); },
        [&] { CopyFrom(Op.getInput()); });
  });
}

template <> void tenon::emitKernel(KernelBuilder &B, dnn::PoolOp Op) {
  Value Starts = B.field(dnn::FieldKind::Starts, Op.getBatch());
  Value Out = Op.getOuts();
  int64_t Width = widthOf(Out);
  B.share(B.dim0(Out), [&](Value Sequence) {
    Value From = B.loadIndex(Starts, Sequence);
    Value To = B.loadIndex(Starts, B.add(Sequence, 1));
    if (Op.getKind() == transformer::PoolKind::Cls)
      To = B.add(From, 1);
    if (Op.getKind() == transformer::PoolKind::Last)
      From = B.sub(To, B.index(1));
    Value Rows = arith::SIToFPOp::create(
        B, B.getF32Type(),
        arith::IndexCastOp::create(B, B.getI32Type(), B.sub(To, From)));
    Value Share = B.splat(B.divf(B.f32(1), Rows));
    Value Squares = B.columns(
        Width, B.vecConst(0),
        [&](Value Column, int64_t Valid, ValueRange Carried) {
          Value Total = B.loop(
              From, To, 1, B.vecConst(0), [&](Value Row, ValueRange Sum) {
                return SmallVector<Value>{B.addf(
                    Sum[0], B.load(Op.getInput(), {Row, Column}, Valid))};
              })[0];
          Value Mean = B.mulf(Total, Share);
          B.store(Mean, Out, {Sequence, Column}, Valid);
          return SmallVector<Value>{B.fma(Mean, Mean, Carried[0])};
        })[0];
    if (!Op.getNormalize())
      return;
    Value Length = math::SqrtOp::create(B, B.sum(Squares));
    Value Scale = B.splat(B.divf(B.f32(1), B.maxf(Length, B.f32(1e-12f))));
    B.columns(Width, [&](Value Column, int64_t Valid) {
      B.store(B.mulf(B.load(Out, {Sequence, Column}, Valid), Scale), Out,
              {Sequence, Column}, Valid);
    });
  });
}
