//===- MoeKernels.cpp - Mixtures of experts ----------------------------===//
//
// See the dialect's MoeOps.td for how choices, order and offsets fit
// together. Threads claim panels of experts, of which only those that
// some token chose are read, each once for all of its tokens.
//
//===----------------------------------------------------------------------===//

#include "passes/Codegen/MatmulEmitter.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

/// Lower than any score.
static constexpr float Lowest = -1e30f;

namespace {

/// Chooses the experts of one token at a time.
class RouteEmitter {
public:
  RouteEmitter(KernelBuilder &B, dnn::MoeRouteOp Op)
      : B(B), Op(Op), Router(Op.getRouter()), Experts(widthOf(Op.getLogits())),
        Padded(roundUp(Experts, Lanes)), Scores(B.scratch({Padded})),
        Ranks(B.scratch({Padded})) {
    if (Op.getCorrection())
      Correction = B.weightView(Op.getCorrection());
    if (Router.getGroups() > 1)
      Groups = B.scratch({Router.getGroups()});
  }

  void emit() {
    B.share(B.dim0(Op.getLogits()), [&](Value Row) {
      score(Row);
      if (Groups)
        keepGroups();
      choose(Row);
    });
  }

private:
  /// Scores, and the ranks that experts are chosen by.
  void score(Value Row) {
    bool IsSoftmax = Router.getScore() == RouterScore::Softmax;
    auto Logits = [&](Value At, int64_t Valid) {
      return B.load(Op.getLogits(), {Row, At}, Valid);
    };
    Value Center, Scale;
    if (IsSoftmax) {
      Value Most = B.columns(Experts, B.vecConst(Lowest),
                             [&](Value At, int64_t Valid, ValueRange Carried) {
                               Value X =
                                   within(Logits(At, Valid), Valid, Lowest);
                               return SmallVector<Value>{B.maxf(Carried[0], X)};
                             })[0];
      Center = B.splat(B.largest(Most));
    }
    Value Total = B.columns(
        Experts, B.vecConst(0),
        [&](Value At, int64_t Valid, ValueRange Carried) {
          Value X = Logits(At, Valid);
          X = IsSoftmax ? Value(math::ExpOp::create(B, B.subf(X, Center)))
                        : B.activate(X, Activation::Sigmoid);
          B.store(X, Scores, {At});
          return SmallVector<Value>{B.addf(Carried[0], within(X, Valid, 0))};
        })[0];
    Scale = IsSoftmax ? B.splat(B.divf(B.f32(1), B.sum(Total))) : Value();
    B.columns(Experts, [&](Value At, int64_t Valid) {
      Value X = B.load(Scores, {At});
      if (Scale)
        X = B.mulf(X, Scale);
      B.store(X, Scores, {At});
      if (Correction)
        X = B.addf(X, B.load(Correction, {At}));
      B.store(within(X, Valid, Lowest), Ranks, {At});
    });
  }

  /// `X` with `Other` in lanes that stand for no expert.
  Value within(Value X, int64_t Valid, float Other) {
    if (Valid == Lanes)
      return X;
    return arith::SelectOp::create(B, B.maskOf(B.index(Valid)), X,
                                   B.vecConst(Other));
  }

  /// The largest of `Numbers` [0, Count) and where it first is.
  std::pair<Value, Value> largestOf(Value Numbers, Value From, Value To) {
    SmallVector<Value> Best =
        B.loop(From, To, 1, {B.f32(2 * Lowest), From},
               [&](Value At, ValueRange Carried) {
                 Value X = B.loadScalar(Numbers, {At});
                 Value IsMore = arith::CmpFOp::create(
                     B, arith::CmpFPredicate::OGT, X, Carried[0]);
                 return SmallVector<Value>{
                     arith::SelectOp::create(B, IsMore, X, Carried[0]),
                     arith::SelectOp::create(B, IsMore, At, Carried[1])};
               });
    return {Best[0], Best[1]};
  }

  /// Takes experts of groups that are not among the best out of the ranks.
  void keepGroups() {
    int64_t Count = Router.getGroups();
    int64_t Size = Experts / Count;
    B.loop(B.index(0), B.index(Count), 1, [&](Value Group) {
      Value From = B.mul(Group, Size), To = B.add(From, Size);
      auto [Best, At] = largestOf(Ranks, From, To);
      if (Router.getPairs() && Size > 1) {
        B.storeScalar(B.f32(Lowest), Ranks, {At});
        Value Second = largestOf(Ranks, From, To).first;
        B.storeScalar(Best, Ranks, {At});
        Best = B.addf(Best, Second);
      }
      B.storeScalar(Best, Groups, {Group});
    });
    // What remains in the list after the best are gone is dropped.
    for (int64_t I = 0; I < Router.getKeptGroups(); ++I)
      B.storeScalar(B.f32(3 * Lowest), Groups,
                    {largestOf(Groups, B.index(0), B.index(Count)).second});
    B.loop(B.index(0), B.index(Experts), 1, [&](Value Expert) {
      Value Group = B.loadScalar(Groups, {B.div(Expert, Size)});
      Value IsKept = arith::CmpFOp::create(B, arith::CmpFPredicate::OLT, Group,
                                           B.f32(2 * Lowest));
      Value Rank = arith::SelectOp::create(
          B, IsKept, B.loadScalar(Ranks, {Expert}), B.f32(Lowest));
      B.storeScalar(Rank, Ranks, {Expert});
    });
  }

  void choose(Value Row) {
    Value Choices = Op.getChoicesOut(), Weights = Op.getWeightsOut();
    Value Top = B.index(Router.getTop());
    Value Total =
        B.loop(B.index(0), Top, 1, B.f32(0), [&](Value I, ValueRange Carried) {
          Value Expert = largestOf(Ranks, B.index(0), B.index(Experts)).second;
          B.storeScalar(B.f32(3 * Lowest), Ranks, {Expert});
          Value Score = B.loadScalar(Scores, {Expert});
          B.storeIndex(Expert, Choices, {Row, I});
          B.storeScalar(Score, Weights, {Row, I});
          return SmallVector<Value>{B.addf(Carried[0], Score)};
        })[0];
    Value Factor = B.f32(static_cast<float>(Router.getScale().Value));
    if (Router.getNormalize()) {
      // Sigmoids may all be zero.
      if (Router.getScore() == RouterScore::Sigmoid)
        Total = B.addf(Total, B.f32(1e-20f));
      Factor = B.divf(Factor, Total);
    }
    B.loop(B.index(0), Top, 1, [&](Value I) {
      Value Weight = B.loadScalar(Weights, {Row, I});
      B.storeScalar(B.mulf(Weight, Factor), Weights, {Row, I});
    });
  }

  KernelBuilder &B;
  dnn::MoeRouteOp Op;
  RouterAttr Router;
  int64_t Experts, Padded;
  Value Scores, Ranks;
  /// Null where the op has no such thing.
  Value Correction, Groups;
};

/// What both matmuls of experts share: the choices of each expert.
class ExpertEmitter {
public:
  using InputRow = MatmulEmitter::InputRow;
  using Finished = MatmulEmitter::Finished;

  ExpertEmitter(KernelBuilder &B, Value Order, Value Offsets)
      : B(B), Order(Order), Offsets(Offsets), Top(widthOf(Order)),
        Experts(widthOf(Offsets) - 1) {}

  /// Computes 16 features of a choice from their sums.
  using FeatureMaker =
      llvm::function_ref<Value(Value Expert, const Finished &Each)>;

  /// `RowOf` finds the elements of the input of a choice, which is a token and
  /// a number among the token's. What `Make` computes of them is stored beside
  /// the `Width` features of the token's other choices.
  void emit(MatmulEmitter &Matmul,
            llvm::function_ref<InputRow(Value Token, Value Number)> RowOf,
            Value Output, int64_t Width, FeatureMaker Make) {
    OutputRows Out(B, Output);
    int64_t Panels = Matmul.panels(), PerUnit = Matmul.panelsAtOnce();
    // Two panels may be of two experts.
    if (Panels % PerUnit != 0)
      PerUnit = 1;
    int64_t Units = Panels / PerUnit;
    auto [List, Chosen] = listChosen();
    auto PanelsOf = [&](Value Unit, Value Expert) {
      SmallVector<MatmulEmitter::Panel> Mine;
      Value First = B.mul(B.rem(Unit, Units), PerUnit);
      for (int64_t I = 0; I < PerUnit; ++I)
        Mine.push_back({B.add(B.add(B.mul(Expert, Panels), First), I),
                        B.mul(B.add(First, I), PanelWidth)});
      return Mine;
    };
    auto RowOfChoice = [&](Value Row) {
      auto [Token, Number] = choice(Row);
      return RowOf(Token, Number);
    };
    auto EmitUnit = [&, List = List](Value Unit, Value Prepared) {
      Value Expert = B.loadIndex(List, {B.div(Unit, Units)});
      Value From = offset(Expert), To = offset(B.add(Expert, 1));
      Value IsNew =
          arith::CmpIOp::create(B, arith::CmpIPredicate::ne, Expert, Prepared);
      B.ifThen(IsNew, [&] { Matmul.prepare(From, To, RowOfChoice); });
      Matmul.emit(PanelsOf(Unit, Expert), From, To, RowOfChoice,
                  {Out.vectors(), [&](Value Row, ArrayRef<Finished> Features) {
                     auto [Token, Number] = choice(Row);
                     storeFinished(B, Out, Token, B.mul(Number, Width),
                                   Features, [&](const Finished &Each) {
                                     return Make(Expert, Each);
                                   });
                   }});
      return Expert;
    };
    // Neighbours lie side by side in memory, which is asked for ahead.
    B.claim(B.mul(Chosen, Units), B.index(1), [&](Value First, Value Count) {
      Value Nobody = B.index(Experts);
      B.loop(First, B.add(First, Count), 1, Nobody,
             [&](Value Unit, ValueRange Prepared) {
               return SmallVector<Value>{EmitUnit(Unit, Prepared.front())};
             });
    });
  }

private:
  /// The list of the experts that some token chose, and how many these are.
  std::pair<Value, Value> listChosen() {
    Value List = B.scratch({Experts}, B.getI32Type());
    Value Count = B.loop(B.index(0), B.index(Experts), 1, B.index(0),
                         [&](Value Expert, ValueRange Carried) {
                           // Overwritten where nobody chose it.
                           B.storeIndex(Expert, List, {Carried[0]});
                           Value IsChosen = B.isLess(offset(Expert),
                                                     offset(B.add(Expert, 1)));
                           return SmallVector<Value>{arith::SelectOp::create(
                               B, IsChosen, B.add(Carried[0], 1), Carried[0])};
                         })[0];
    return {List, Count};
  }

  Value offset(Value Expert) {
    return B.loadIndex(Offsets, {B.index(0), Expert});
  }

  /// The token and number of the choice that is listed at `Place`.
  std::pair<Value, Value> choice(Value Place) {
    Value Choice = B.loadIndex(Order, {B.div(Place, Top), B.rem(Place, Top)});
    return {B.div(Choice, Top), B.rem(Choice, Top)};
  }

  KernelBuilder &B;
  Value Order, Offsets;
  int64_t Top, Experts;
};

/// Biases of an expert are a row of a matrix without room behind it.
Value addExpertBias(KernelBuilder &B, Value Sum, Value Bias, Value Expert,
                    const MatmulEmitter::Finished &Of) {
  return Bias ? B.addf(Sum,
                       loadMaybeMasked(B, Bias, {Expert, Of.Feature}, Of.Mask))
              : Sum;
}

} // namespace

template <> void tenon::emitKernel(KernelBuilder &B, dnn::MoeRouteOp Op) {
  RouteEmitter(B, Op).emit();
}

/// Counts choices per expert, adds the counts up, and files each choice.
template <> void tenon::emitKernel(KernelBuilder &B, dnn::MoeGroupOp Op) {
  Value Choices = Op.getChoices();
  Value Order = Op.getOrderOut(), Offsets = Op.getOffsetsOut();
  int64_t Top = widthOf(Choices), Experts = widthOf(Offsets) - 1;
  Value Next = B.scratch({Experts + 1}, B.getI32Type());
  Value Zero = B.index(0);
  auto ForEachChoice = [&](llvm::function_ref<void(Value, Value)> Body) {
    B.loop(Zero, B.mul(B.dim0(Choices), Top), 1, [&](Value Choice) {
      Value Expert =
          B.loadIndex(Choices, {B.div(Choice, Top), B.rem(Choice, Top)});
      Body(Choice, Expert);
    });
  };
  B.once([&] {
    B.loop(Zero, B.index(Experts + 1), 1,
           [&](Value I) { B.storeIndex(Zero, Next, {I}); });
    ForEachChoice([&](Value, Value Expert) {
      Value After = B.add(Expert, 1);
      B.storeIndex(B.add(B.loadIndex(Next, {After}), 1), Next, {After});
    });
    B.loop(Zero, B.index(Experts + 1), 1, Zero,
           [&](Value I, ValueRange Carried) {
             Value Sum = B.add(Carried[0], B.loadIndex(Next, {I}));
             B.storeIndex(Sum, Next, {I});
             B.storeIndex(Sum, Offsets, {Zero, I});
             return SmallVector<Value>{Sum};
           });
    ForEachChoice([&](Value Choice, Value Expert) {
      Value Place = B.loadIndex(Next, {Expert});
      B.storeIndex(Choice, Order, {B.div(Place, Top), B.rem(Place, Top)});
      B.storeIndex(B.add(Place, 1), Next, {Expert});
    });
  });
}

template <> void tenon::emitKernel(KernelBuilder &B, dnn::MoeGateUpOp Op) {
  std::unique_ptr<MatmulEmitter> Matmul = MatmulEmitter::create(
      B, Op.getInput(), widthOf(Op.getInput()), {Op.getGate(), Op.getUp()});
  int64_t Inner = Op.getGate().getType().getOutFeatures();
  Value GateBias = Op.getGateBias() ? B.weightView(Op.getGateBias()) : Value();
  Value UpBias = Op.getUpBias() ? B.weightView(Op.getUpBias()) : Value();
  auto Number = [](const std::optional<APFloat> &Real) {
    return Real ? static_cast<float>(Real->convertToDouble()) : 0;
  };
  float Limit = Number(Op.getLimit()), UpOffset = Number(Op.getUpOffset());
  Value Zero = B.index(0);
  ExpertEmitter(B, Op.getOrder(), Op.getOffsets())
      .emit(
          *Matmul,
          [&](Value Token, Value) {
            return MatmulEmitter::InputRow{Token, Zero};
          },
          Op.getOuts(), Inner,
          [&](Value Expert, const MatmulEmitter::Finished &Each) {
            Value Gate =
                addExpertBias(B, Each.PerWeight[0], GateBias, Expert, Each);
            Value Up =
                addExpertBias(B, Each.PerWeight[1], UpBias, Expert, Each);
            if (Op.getLimit()) {
              Gate = B.minf(Gate, B.vecConst(Limit));
              Up = B.maxf(B.minf(Up, B.vecConst(Limit)), B.vecConst(-Limit));
            }
            if (Op.getUpOffset())
              Up = B.addf(Up, B.vecConst(UpOffset));
            return B.mulf(B.activate(Gate, Op.getActivation()), Up);
          });
}

template <> void tenon::emitKernel(KernelBuilder &B, dnn::MoeDownOp Op) {
  dnn::PackedType Down = Op.getDown().getType();
  int64_t Inner = Down.getInFeatures(), Width = Down.getOutFeatures();
  std::unique_ptr<MatmulEmitter> Matmul =
      MatmulEmitter::create(B, Op.getInput(), Inner, Op.getDown());
  Value Bias = Op.getDownBias() ? B.weightView(Op.getDownBias()) : Value();
  ExpertEmitter(B, Op.getOrder(), Op.getOffsets())
      .emit(
          *Matmul,
          [&](Value Token, Value Choice) {
            return MatmulEmitter::InputRow{Token, B.mul(Choice, Inner)};
          },
          Op.getOuts(), Width,
          [&](Value Expert, const MatmulEmitter::Finished &Each) {
            return addExpertBias(B, Each.PerWeight[0], Bias, Expert, Each);
          });
}

template <> void tenon::emitKernel(KernelBuilder &B, dnn::MoeCombineOp Op) {
  Value Out = Op.getOuts();
  int64_t Width = widthOf(Out), Top = widthOf(Op.getWeights());
  B.share(B.dim0(Out), [&](Value Row) {
    B.columns(Width, [&](Value Column, int64_t Valid) {
      Value Sum = B.vecConst(0);
      for (int64_t I = 0; I < Top; ++I)
        Sum = B.fma(
            B.splat(B.loadScalar(Op.getWeights(), {Row, B.index(I)})),
            B.load(Op.getInput(), {Row, B.add(Column, I * Width)}, Valid), Sum);
      B.store(Sum, Out, {Row, Column}, Valid);
    });
  });
}
