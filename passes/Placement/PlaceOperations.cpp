//===- PlaceOperations.cpp - Fused operations as dnn operations -----------===//

#include "passes/Placement/Passes.h"

#include "passes/Packing/Passes.h"
#include "passes/Support/Functions.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

namespace tenon {
#define GEN_PASS_DEF_PLACEOPERATIONS
#include "passes/Placement/Passes.h.inc"
} // namespace tenon

using namespace mlir;
using namespace tenon;
namespace tr = tenon::transformer;

namespace {

/// Which count of the batch the rows of a tensor are.
class RowKinds {
public:
  explicit RowKinds(ModuleOp Module) : Module(Module) {}

  /// Finds the kinds of functions' arguments from their calls, in order. Fails
  /// when two calls pass different kinds.
  LogicalResult followCalls() {
    WalkResult Result = Module.walk([&](tr::DispatchOp Dispatch) {
      for (FlatSymbolRefAttr Name :
           {Dispatch.getFewAttr(), Dispatch.getManyAttr()}) {
        auto Callee = Module.lookupSymbol<func::FuncOp>(Name.getAttr());
        for (auto [Argument, Operand] :
             llvm::zip(Callee.getArguments(), Dispatch.getInputs())) {
          if (!isa<RankedTensorType>(Operand.getType()))
            continue;
          tr::RowKind Kind = of(Operand);
          auto [Entry, IsNew] = Arguments.try_emplace(Argument, Kind);
          if (IsNew || Entry->second == Kind)
            continue;
          Dispatch.emitOpError()
              << "rows of " << Name << ": expected "
              << tr::stringifyRowKind(Entry->second) << " as other calls pass, "
              << "got " << tr::stringifyRowKind(Kind);
          return WalkResult::interrupt();
        }
      }
      return WalkResult::advance();
    });
    return failure(Result.wasInterrupted());
  }

  tr::RowKind of(Value Rows) {
    if (isa<BlockArgument>(Rows)) {
      auto Known = Arguments.find(Rows);
      return Known == Arguments.end() ? tr::RowKind::Tokens : Known->second;
    }
    Operation *Op = Rows.getDefiningOp();
    unsigned Index = cast<OpResult>(Rows).getResultNumber();
    if (isa<tr::EmbeddingOp, tr::SinusoidOp, tr::InputRowsOp>(Op))
      return tr::RowKind::Tokens;
    if (isa<tr::SelectRowsOp>(Op))
      return tr::RowKind::Wanted;
    if (isa<tr::PoolOp>(Op))
      return tr::RowKind::Sequences;
    if (isa<tr::SplitStageOp>(Op) && Index == 1)
      return tr::RowKind::Chunks;
    if (auto Dispatch = dyn_cast<tr::DispatchOp>(Op)) {
      auto Callee = Module.lookupSymbol<func::FuncOp>(Dispatch.getMany());
      return of(Callee.getBody().front().getTerminator()->getOperand(Index));
    }
    // Everything else maps rows to rows; its first operand is one of them.
    return of(Op->getOperand(0));
  }

private:
  ModuleOp Module;
  llvm::DenseMap<Value, tr::RowKind> Arguments;
};

/// Rewrites one function, op by op, in order.
class Placer {
public:
  Placer(func::FuncOp Function, RowKinds &Kinds, const CpuLevelInfo &Level,
         int64_t MaxSequence, llvm::MapVector<Attribute, int64_t> &Scopes)
      : Function(Function), Kinds(Kinds), Level(Level),
        MaxSequence(MaxSequence), Scopes(Scopes),
        Builder(Function.getContext()) {}

  LogicalResult run() {
    Batch = batchOf(Function);
    if (!Batch)
      return Function.emitOpError()
             << "placement: expected an argument of type !transformer.batch";
    // Every kind of row count is known from the original ops, which are only
    // erased at the end.
    SmallVector<Operation *> Ops;
    for (Operation &Op : Function.getBody().front())
      Ops.push_back(&Op);
    for (Operation *Op : Ops) {
      Builder.setInsertionPoint(Op);
      if (failed(place(Op)))
        return failure();
    }
    for (Operation *Op : llvm::reverse(Ops))
      if (!isa<func::ReturnOp>(Op))
        Op->erase();
    SmallVector<Type> Results;
    for (Value Result :
         Function.getBody().front().getTerminator()->getOperands())
      Results.push_back(Result.getType());
    Function.setFunctionType(
        Builder.getFunctionType(Function.getArgumentTypes(), Results));
    return success();
  }

private:
  Value mapped(Value Old) { return Old ? Map.lookupOrDefault(Old) : Value(); }

  SmallVector<Value> mapped(ValueRange Old) {
    return llvm::map_to_vector(Old, [&](Value V) { return mapped(V); });
  }

  /// A fresh destination shaped like `Like`.
  Value emptyLike(Value Like, Type Element = {}) {
    auto Type = cast<RankedTensorType>(Like.getType());
    return emptyRows(Like.getLoc(), Kinds.of(Like), Type.getDimSize(1),
                     Element ? Element : Type.getElementType());
  }

  /// A fresh destination of `Width` columns.
  Value emptyRows(Location Loc, tr::RowKind Kind, int64_t Width, Type Element) {
    Value &Count = Counts[static_cast<size_t>(Kind)];
    if (!Count) {
      OpBuilder::InsertionGuard Guard(Builder);
      Builder.setInsertionPointToStart(&Function.getBody().front());
      Count = dnn::CountOp::create(Builder, Function.getLoc(),
                                   Builder.getIndexType(), Kind, Batch);
    }
    return tensor::EmptyOp::create(
        Builder, Loc, ArrayRef<int64_t>{ShapedType::kDynamic, Width}, Element,
        Count);
  }

  /// One packed weight of parameters `Sources`, one below another.
  Value packed(ValueRange Sources) {
    auto First = Sources.front().getDefiningOp<tr::ParameterOp>();
    auto Type = cast<RankedTensorType>(First.getType());
    // The matrices of experts are stacked, and never concatenated.
    bool IsStack = Type.getRank() == 3;
    SmallVector<StringRef> Keys;
    int64_t Rows = 0;
    for (Value Source : Sources) {
      auto Parameter = Source.getDefiningOp<tr::ParameterOp>();
      Keys.push_back(Parameter.getKey());
      Rows += cast<ShapedType>(Parameter.getType()).getDimSize(IsStack ? 1 : 0);
    }
    auto LayoutName = First->getAttrOfType<StringAttr>(LayoutAttrName);
    dnn::LayoutKind Layout =
        LayoutName            ? *dnn::symbolizeLayoutKind(LayoutName.getValue())
        : Type.getRank() == 1 ? dnn::LayoutKind::Vector
                              : dnn::LayoutKind::Panels;
    bool IsVector = Layout == dnn::LayoutKind::Vector;
    // Halves are widened when they are packed, vectors are always f32.
    mlir::Type Element = !IsVector && Type.getElementType().isBF16()
                             ? Type.getElementType()
                             : Builder.getF32Type();
    return dnn::WeightOp::create(
        Builder, First.getLoc(),
        dnn::PackedType::get(Builder.getContext(), Layout,
                             IsStack ? Type.getDimSize(0) : 1, Rows,
                             IsVector ? 1 : Type.getShape().back(), Element),
        mapped(First.getScope()), Builder.getStrArrayAttr(Keys),
        First.getComponentAttr(), /*slot=*/IntegerAttr());
  }
  Value packed(Value Source) {
    return Source ? packed(ValueRange(Source)) : Value();
  }

  /// The f32 table that `Content` says, [Rows, Columns].
  Value table(Location Loc, Value Scope, Attribute Content, int64_t Rows,
              int64_t Columns, StringAttr Key = {}) {
    auto Type =
        dnn::PackedType::get(Builder.getContext(), dnn::LayoutKind::Rows, 1,
                             Rows, Columns, Builder.getF32Type());
    return dnn::TableOp::create(Builder, Loc, Type, Scope, Content, Key,
                                /*slot=*/IntegerAttr());
  }

  Value ropeTable(Location Loc, Value Scope, tr::RopeAttr Rope) {
    return Rope ? table(Loc, Scope, Rope, MaxSequence, Rope.getDim()) : Value();
  }

  /// A scope to keep a table in that is the same in all of them: any that the
  /// function knows will do. Null, with an error, when there is none.
  Value anyScope(Operation *Op) {
    for (BlockArgument Argument : Function.getArguments())
      if (isa<tr::ScopeType>(Argument.getType()))
        return Argument;
    for (auto Known : Function.getBody().front().getOps<tr::ScopeOp>())
      if (Known->isBeforeInBlock(Op))
        return mapped(Known);
    Op->emitOpError() << "placement: expected a scope in this function, to "
                         "keep a computed table in";
    return {};
  }

  /// Of a stored or packed weight.
  static Type elementOf(Value Weight) {
    if (auto Packed = dyn_cast<dnn::PackedType>(Weight.getType()))
      return Packed.getElementType();
    return cast<RankedTensorType>(Weight.getType()).getElementType();
  }

  /// The type that a product with `Weight` reads its rows in.
  Type computeType(Value Weight) {
    Type Element = elementOf(Weight);
    if (Element.isBF16() && Level.HasBF16Products)
      return Element;
    return Builder.getF32Type();
  }

  /// `Rows` in the type that a product with `Weight` reads.
  Value castFor(Value Old, Value Weight) {
    Value Rows = mapped(Old);
    Type Wanted = computeType(Weight);
    if (cast<ShapedType>(Rows.getType()).getElementType() == Wanted)
      return Rows;
    Value Out = emptyLike(Old, Wanted);
    return dnn::CastOp::create(Builder, Old.getLoc(), Out.getType(), Rows, Out)
        .getResults();
  }

  Value product(Location Loc, Value Old, Value OldInput, ValueRange Weights,
                ValueRange Biases, tr::Activation Act, Value Multiplier,
                Value Residual, Type Element = {}) {
    Value Weight = packed(Weights);
    Value Bias = Biases.empty() ? Value() : packed(Biases);
    Value Input = castFor(OldInput, Weight);
    Value Out = emptyLike(Old, Element);
    return dnn::ProductOp::create(
               Builder, Loc, Out.getType(), Input, Weight, Bias, Multiplier,
               Residual, Out,
               tr::ActivationAttr::get(Builder.getContext(), Act),
               /*site=*/IntegerAttr())
        .getResults();
  }

  LogicalResult place(Operation *Op) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(Op)
        .Case<tr::ParameterOp>([](auto) { return success(); })
        .Case<tr::DispatchOp, tr::SplitStageOp, tr::RopeOp, tr::SinusoidOp,
              tr::OnlineAttentionOp>(
            [&](auto Typed) { return placeOne(Typed); })
        .Case<tr::ScopeOp, tr::EmbeddingOp, tr::LayerNormOp, tr::RmsNormOp,
              tr::AddNormOp, tr::ProductOp, tr::GatedProductOp, tr::ResidualOp,
              tr::SplitAppendOp, tr::CacheAppendOp, tr::LatentAppendOp,
              tr::LatentAttentionOp, tr::MixtureOp, tr::InputRowsOp,
              tr::ClassTokenOp, tr::ActivationOp, tr::ScaleOp, tr::SoftCapOp,
              tr::ClampOp, tr::SigmoidGateOp, tr::ColumnsOp, tr::SelectRowsOp,
              tr::PoolOp, func::ReturnOp>([&](auto Typed) {
          placeOne(Typed);
          return success();
        })
        .Default([](Operation *Other) {
          return Other->emitOpError()
                 << "placement: expected a fused operation, got this one; see "
                    "--remarks for why it was not fused";
        });
  }

  void placeOne(tr::ScopeOp Op) {
    auto Key = ArrayAttr::get(
        Op.getContext(),
        {Op.getNameAttr(), Op.getLayerAttr() ? Attribute(Op.getLayerAttr())
                                             : UnitAttr::get(Op.getContext())});
    auto [Entry, IsNew] =
        Scopes.insert({Key, static_cast<int64_t>(Scopes.size())});
    Map.map(Op.getResult(),
            dnn::ScopeOp::create(
                Builder, Op.getLoc(), Op.getType(), Batch, Op.getNameAttr(),
                Builder.getI64IntegerAttr(Entry->second), Op.getLayerAttr()));
  }

  LogicalResult placeOne(tr::DispatchOp Op) {
    SmallVector<Value> Outs;
    for (Value Output : Op.getOutputs())
      if (isa<RankedTensorType>(Output.getType()))
        Outs.push_back(emptyLike(Output));
    auto New = dnn::DispatchOp::create(
        Builder, Op.getLoc(), ValueRange(Outs).getTypes(), Op.getFewAttr(),
        Op.getManyAttr(), Op.getRowsAttr(), Batch, mapped(Op.getInputs()),
        Outs);
    // A cache result is the handle that went in, as appends are effects now:
    // caches come out in the order they go in.
    SmallVector<Value> Caches;
    for (Value Input : Op.getInputs())
      if (isa<tr::CacheType>(Input.getType()))
        Caches.push_back(mapped(Input));
    unsigned NextOut = 0, NextCache = 0;
    for (Value Output : Op.getOutputs()) {
      if (isa<RankedTensorType>(Output.getType())) {
        Map.map(Output, Value(New.getResults()[NextOut++]));
        continue;
      }
      if (NextCache == Caches.size() ||
          Caches[NextCache].getType() != Output.getType())
        return Op.emitOpError() << "placement: expected cache results in the "
                                   "order of the cache operands";
      Map.map(Output, Caches[NextCache++]);
    }
    return success();
  }

  void placeOne(tr::EmbeddingOp Op) {
    Value Out = emptyLike(Op.getResult());
    Map.map(Op.getResult(),
            dnn::EmbeddingOp::create(
                Builder, Op.getLoc(), Out.getType(), Op.getIndexAttr(), Batch,
                packed(Op.getTable()), Out, Op.getOffsetAttr())
                .getResults());
  }

  LogicalResult placeOne(tr::SinusoidOp Op) {
    Value Scope = anyScope(Op);
    if (!Scope)
      return failure();
    Value Out = emptyLike(Op.getResult());
    int64_t Width = cast<RankedTensorType>(Out.getType()).getDimSize(1);
    Value Table = table(Op.getLoc(), Scope,
                        tr::SinusoidAttr::get(Op.getContext(), Op.getStyle()),
                        MaxSequence, Width);
    Map.map(Op.getResult(), dnn::EmbeddingOp::create(
                                Builder, Op.getLoc(), Out.getType(),
                                tr::IndexKindAttr::get(Op.getContext(),
                                                       tr::IndexKind::Position),
                                Batch, Table, Out, Builder.getI64IntegerAttr(0))
                                .getResults());
    return success();
  }

  void placeOne(tr::InputRowsOp Op) {
    Value Out = emptyLike(Op.getResult());
    Map.map(Op.getResult(), dnn::InputRowsOp::create(Builder, Op.getLoc(),
                                                     Out.getType(), Batch, Out)
                                .getResults());
  }

  void placeOne(tr::ClassTokenOp Op) {
    Value Out = emptyLike(Op.getResult());
    Map.map(Op.getResult(),
            dnn::ClassTokenOp::create(Builder, Op.getLoc(), Out.getType(),
                                      mapped(Op.getInput()), Batch,
                                      packed(Op.getToken()), Out)
                .getResults());
  }

  LogicalResult placeOne(tr::RopeOp Op) {
    Value Scope = anyScope(Op);
    if (!Scope)
      return failure();
    Value Out = emptyLike(Op.getResult());
    Map.map(Op.getResult(),
            dnn::RopeOp::create(
                Builder, Op.getLoc(), Out.getType(), mapped(Op.getInput()),
                Batch, ropeTable(Op.getLoc(), Scope, Op.getRope()), Out,
                Op.getHeads(), Op.getOffset(), Op.getRope())
                .getResults());
    return success();
  }

  void elementwise(Operation *Op, tr::Activation Act, double InputFactor,
                   double Factor, FloatAttr Bound = {}) {
    Value Out = emptyLike(Op->getResult(0));
    Map.map(Op->getResult(0),
            dnn::ElementwiseOp::create(
                Builder, Op->getLoc(), Out.getType(),
                tr::ActivationAttr::get(Op->getContext(), Act),
                mapped(Op->getOperand(0)), Out,
                Builder.getF64FloatAttr(InputFactor),
                Builder.getF64FloatAttr(Factor), Bound)
                .getResults());
  }
  void placeOne(tr::ActivationOp Op) { elementwise(Op, Op.getKind(), 1, 1); }
  void placeOne(tr::ScaleOp Op) {
    elementwise(Op, tr::Activation::None, 1, Op.getFactor().convertToDouble());
  }
  void placeOne(tr::SoftCapOp Op) {
    double Bound = Op.getBound().convertToDouble();
    elementwise(Op, tr::Activation::Tanh, 1 / Bound, Bound);
  }

  void placeOne(tr::ClampOp Op) {
    elementwise(Op, tr::Activation::None, 1, 1, Op.getBoundAttr());
  }

  void placeOne(tr::SigmoidGateOp Op) {
    Value Out = emptyLike(Op.getResult());
    Map.map(Op.getResult(),
            dnn::SigmoidGateOp::create(Builder, Op.getLoc(), Out.getType(),
                                       mapped(Op.getInput()),
                                       mapped(Op.getGate()), Out)
                .getResults());
  }

  void placeOne(tr::ColumnsOp Op) {
    Value Out = emptyLike(Op.getResult());
    Map.map(Op.getResult(),
            dnn::ColumnsOp::create(Builder, Op.getLoc(), Out.getType(),
                                   mapped(Op.getInput()), Out, Op.getFirst())
                .getResults());
  }

  /// Router, grouping, the two products of all experts, and the sum.
  void placeOne(tr::MixtureOp Op) {
    Location Loc = Op.getLoc();
    tr::RowKind Kind = Kinds.of(Op.getInput());
    tr::RouterAttr Router = Op.getRouter();
    int64_t Top = Router.getTop();
    Type I32 = Builder.getI32Type(), F32 = Builder.getF32Type();
    Value Choices = emptyRows(Loc, Kind, Top, I32);
    Value Weights = emptyRows(Loc, Kind, Top, F32);
    auto Route = dnn::RouteOp::create(
        Builder, Loc, TypeRange{Choices.getType(), Weights.getType()},
        mapped(Op.getLogits()), packed(Op.getCorrection()),
        ValueRange{Choices, Weights}, Router);
    Value Order = emptyRows(Loc, Kind, Top, I32);
    Value Offsets = tensor::EmptyOp::create(
        Builder, Loc, ArrayRef<int64_t>{1, Op.getExperts() + 1}, I32);
    auto Group = dnn::GroupOp::create(
        Builder, Loc, TypeRange{Order.getType(), Offsets.getType()},
        Route.getResults()[0], ValueRange{Order, Offsets});
    Value Gate = packed(Op.getGate()), Down = packed(Op.getDown());
    Value Hidden =
        emptyRows(Loc, Kind, Top * Op.getInner(), computeType(Op.getDown()));
    Hidden = dnn::ExpertGatedOp::create(
                 Builder, Loc, Hidden.getType(), Op.getActivationAttr(),
                 castFor(Op.getInput(), Gate), Group.getResults()[0],
                 Group.getResults()[1], Gate, packed(Op.getUp()),
                 packed(Op.getGateBias()), packed(Op.getUpBias()), Hidden,
                 Op.getLimitAttr(), Op.getUpOffsetAttr())
                 .getResults();
    Value Out = emptyLike(Op.getResult());
    int64_t Width = cast<RankedTensorType>(Out.getType()).getDimSize(1);
    Value Parts = emptyRows(Loc, Kind, Top * Width, F32);
    Parts = dnn::ExpertDownOp::create(
                Builder, Loc, Parts.getType(), Hidden, Group.getResults()[0],
                Group.getResults()[1], Down, packed(Op.getDownBias()), Parts)
                .getResults();
    Map.map(Op.getResult(),
            dnn::CombineOp::create(Builder, Loc, Out.getType(), Parts,
                                   Route.getResults()[1], Out)
                .getResults());
  }

  void append(Operation *Op, Value Cache, Value Scope, ValueRange Parts) {
    dnn::AppendOp::create(Builder, Op->getLoc(), mapped(Cache), mapped(Scope),
                          Batch, mapped(Parts));
    Map.map(Op->getResult(0), mapped(Cache));
  }
  void placeOne(tr::CacheAppendOp Op) {
    append(Op, Op.getCache(), Op.getScope(), {Op.getKeys(), Op.getValues()});
  }
  void placeOne(tr::LatentAppendOp Op) {
    append(Op, Op.getCache(), Op.getScope(), {Op.getLatent(), Op.getRotated()});
  }

  void placeOne(tr::LatentAttentionOp Op) {
    auto Heads = static_cast<int64_t>(Op.getHeads());
    auto ValueDim = static_cast<int64_t>(Op.getValueDim());
    // The expanded form keeps a maximum and a sum beside each weighted value.
    SmallVector<Value> Outs = {emptyLike(Op.getResult()),
                               emptyRows(Op.getLoc(), Kinds.of(Op.getResult()),
                                         Heads * (ValueDim + 2),
                                         Builder.getF32Type())};
    Map.map(Op.getResult(),
            dnn::LatentAttentionOp::create(
                Builder, Op.getLoc(), ValueRange(Outs).getTypes(),
                mapped(Op.getQuery()), Batch, mapped(Op.getCache()),
                mapped(Op.getScope()), packed(Op.getExpand()), Outs,
                Op.getHeadsAttr(), Op.getKeyDimAttr(), Op.getValueDimAttr(),
                Op.getScaleAttr())
                .getResults()[0]);
  }

  void norm(Operation *Op, tr::NormKind Kind, Value Input, Value Residual,
            Value Weight, Value Bias, FloatAttr Eps, int64_t Groups,
            FloatAttr Offset, ArrayRef<Value> Results) {
    SmallVector<Value> Outs =
        llvm::map_to_vector(Results, [&](Value R) { return emptyLike(R); });
    auto New = dnn::NormOp::create(
        Builder, Op->getLoc(), ValueRange(Outs).getTypes(),
        tr::NormKindAttr::get(Op->getContext(), Kind), mapped(Input),
        mapped(Residual), packed(Weight), packed(Bias), Outs, Eps,
        Builder.getI64IntegerAttr(Groups), Offset);
    for (auto [Old, Result] : llvm::zip(Results, New.getResults()))
      Map.map(Old, Result);
  }
  void placeOne(tr::LayerNormOp Op) {
    norm(Op, tr::NormKind::Layer, Op.getInput(), {}, Op.getWeight(),
         Op.getBias(), Op.getEpsAttr(), static_cast<int64_t>(Op.getGroups()),
         Builder.getF64FloatAttr(0), {Op.getResult()});
  }
  void placeOne(tr::RmsNormOp Op) {
    norm(Op, tr::NormKind::Rms, Op.getInput(), {}, Op.getWeight(), {},
         Op.getEpsAttr(), static_cast<int64_t>(Op.getGroups()),
         Op.getOffsetAttr(), {Op.getResult()});
  }
  void placeOne(tr::AddNormOp Op) {
    norm(Op, Op.getKind(), Op.getLhs(), Op.getRhs(), Op.getWeight(),
         Op.getBias(), Op.getEpsAttr(), 1, Op.getOffsetAttr(),
         {Op.getResult(), Op.getSum()});
  }

  void placeOne(tr::ProductOp Op) {
    Map.map(Op.getResult(),
            product(Op.getLoc(), Op.getResult(), Op.getInput(), Op.getWeights(),
                    Op.getBiases(), Op.getActivation(),
                    mapped(Op.getMultiplier()), mapped(Op.getResidual())));
  }

  void placeOne(tr::GatedProductOp Op) {
    bool IsMany = Function.getName().ends_with(ManySuffix);
    if (IsMany && isLibraryType(Op.getUp())) {
      SmallVector<Value> UpBias, GateBias;
      if (Op.getUpBias())
        UpBias.push_back(Op.getUpBias());
      if (Op.getGateBias())
        GateBias.push_back(Op.getGateBias());
      Value Lifted = product(Op.getLoc(), Op.getResult(), Op.getInput(),
                             Value(Op.getUp()), UpBias, tr::Activation::None,
                             {}, {}, computeType(Op.getUp()));
      Map.map(Op.getResult(),
              product(Op.getLoc(), Op.getResult(), Op.getInput(),
                      Value(Op.getGate()), GateBias, Op.getActivation(), Lifted,
                      {}));
      return;
    }
    Value Up = packed(Op.getUp());
    Value Out = emptyLike(Op.getResult());
    Map.map(Op.getResult(),
            dnn::GatedProductOp::create(
                Builder, Op.getLoc(), Out.getType(), Op.getActivationAttr(),
                castFor(Op.getInput(), Up), packed(Op.getGate()), Up,
                packed(Op.getGateBias()), packed(Op.getUpBias()), Out)
                .getResults());
  }

  void placeOne(tr::ResidualOp Op) {
    Value Out = emptyLike(Op.getResult());
    Map.map(Op.getResult(),
            dnn::AddOp::create(Builder, Op.getLoc(), Out.getType(),
                               mapped(Op.getLhs()), mapped(Op.getRhs()), Out)
                .getResults());
  }

  void placeOne(tr::SplitAppendOp Op) {
    Value Out = emptyLike(Op.getQuery());
    Value Cache = mapped(Op.getCache());
    Map.map(Op.getQuery(),
            dnn::SplitAppendOp::create(
                Builder, Op.getLoc(), Out.getType(), mapped(Op.getQkv()), Cache,
                mapped(Op.getScope()), Batch, packed(Op.getQueryNorm()),
                packed(Op.getKeyNorm()),
                ropeTable(Op.getLoc(), mapped(Op.getScope()), Op.getRopeAttr()),
                Out, Op.getHeadsAttr(), Op.getKvHeadsAttr(), Op.getRopeAttr(),
                Op.getEpsAttr(), Op.getNormOffsetAttr())
                .getResults());
    Map.map(Op.getResult(), Cache);
  }

  LogicalResult placeOne(tr::SplitStageOp Op) {
    SmallVector<Value> Outs = {emptyLike(Op.getQuery()),
                               emptyLike(Op.getStaged())};
    Value Scope = Op.getRopeAttr() ? anyScope(Op) : Value();
    if (Op.getRopeAttr() && !Scope)
      return failure();
    auto New = dnn::SplitStageOp::create(
        Builder, Op.getLoc(), ValueRange(Outs).getTypes(), mapped(Op.getQkv()),
        Batch, packed(Op.getQueryNorm()), packed(Op.getKeyNorm()),
        ropeTable(Op.getLoc(), Scope, Op.getRopeAttr()), Outs,
        Op.getHeadsAttr(), Op.getKvHeadsAttr(), Op.getRopeAttr(),
        Op.getEpsAttr(), Op.getNormOffsetAttr());
    Map.map(Op.getQuery(), New.getResults()[0]);
    Map.map(Op.getStaged(), New.getResults()[1]);
    return success();
  }

  LogicalResult placeOne(tr::OnlineAttentionOp Op) {
    auto Heads = static_cast<int64_t>(Op.getHeads());
    Attribute Content;
    Value Bias;
    if (tr::BucketsAttr Buckets = Op.getBucketsAttr()) {
      auto Learned = Op.getBias().getDefiningOp<tr::ParameterOp>();
      Content = Buckets;
      Bias = table(Op.getLoc(), mapped(Learned.getScope()), Buckets, Heads,
                   2 * Buckets.getMaxDistance() + 1, Learned.getKeyAttr());
    } else if (tr::AlibiAttr Alibi = Op.getAlibiAttr()) {
      Value Scope = anyScope(Op);
      if (!Scope)
        return failure();
      Content = Alibi;
      Bias = table(Op.getLoc(), Scope, Alibi, Heads, 1);
    }
    Value Out = emptyLike(Op.getResult());
    Map.map(Op.getResult(),
            dnn::AttentionOp::create(
                Builder, Op.getLoc(), Out.getType(), Op.getMaskAttr(),
                mapped(Op.getQuery()), Batch, mapped(Op.getStaged()),
                mapped(Op.getCache()), mapped(Op.getScope()), Bias,
                packed(Op.getSinks()), Out, Op.getHeadsAttr(),
                Op.getKvHeadsAttr(), Op.getScaleAttr(), Op.getWindowAttr(),
                Op.getSoftCapAttr(), Content)
                .getResults());
    return success();
  }

  void placeOne(tr::SelectRowsOp Op) {
    Value Out = emptyLike(Op.getResult());
    Map.map(Op.getResult(),
            dnn::SelectRowsOp::create(Builder, Op.getLoc(), Out.getType(),
                                      mapped(Op.getInput()), Batch, Out)
                .getResults());
  }

  void placeOne(tr::PoolOp Op) {
    Value Out = emptyLike(Op.getResult());
    Map.map(Op.getResult(),
            dnn::PoolOp::create(Builder, Op.getLoc(), Out.getType(),
                                Op.getKindAttr(), mapped(Op.getInput()), Batch,
                                Out, Op.getNormalizeAttr())
                .getResults());
  }

  void placeOne(func::ReturnOp Op) {
    SmallVector<Value> Kept;
    for (Value Result : Op.getOperands())
      if (!isa<tr::CacheType>(Result.getType()))
        Kept.push_back(mapped(Result));
    Op.getOperandsMutable().assign(Kept);
  }

  /// Whether the library has fast products of the weight's type here.
  bool isLibraryType(Value Weight) {
    return elementOf(Weight).isBF16() ? Level.HasBF16Products : Level.HasAVX512;
  }

  func::FuncOp Function;
  RowKinds &Kinds;
  const CpuLevelInfo &Level;
  int64_t MaxSequence;
  llvm::MapVector<Attribute, int64_t> &Scopes;
  OpBuilder Builder;
  Value Batch;
  IRMapping Map;
  std::array<Value, 4> Counts;
};

struct PlaceOperations
    : public tenon::impl::PlaceOperationsBase<PlaceOperations> {
  using PlaceOperationsBase::PlaceOperationsBase;

  void runOnOperation() override {
    ModuleOp Module = getOperation();
    std::optional<CpuLevel> Chosen = cpuLevelNamed(std::string_view(Level));
    if (!Chosen) {
      Module.emitError() << "unknown CPU level '" << Level << "'";
      return signalPassFailure();
    }
    Builder B(&getContext());
    Module->setAttr(LevelAttrName, B.getStringAttr(Level));
    auto MaxSequence =
        Module->getAttrOfType<IntegerAttr>(tr::attr::MaxSequence);
    // Positions are those of a sequence or of a source text.
    int64_t Positions = MaxSequence ? MaxSequence.getInt() : 1;
    if (auto Source = Module->getAttrOfType<IntegerAttr>(tr::attr::MaxSource))
      Positions = std::max(Positions, Source.getInt());
    bool HasTables = false;
    Module.walk([&](Operation *Op) {
      HasTables |= Op->hasAttr("rope") || isa<tr::SinusoidOp>(Op);
    });
    if (HasTables && !MaxSequence) {
      Module.emitError() << "expected the attribute " << tr::attr::MaxSequence
                         << ": it sizes tables of positions";
      return signalPassFailure();
    }
    RowKinds Kinds(Module);
    if (failed(Kinds.followCalls()))
      return signalPassFailure();
    llvm::MapVector<Attribute, int64_t> Scopes;
    // Entries first: row kinds of their calls are read off the callees.
    SmallVector<func::FuncOp> Entries, Others;
    for (auto Function : Module.getOps<func::FuncOp>())
      (Function->hasAttr(tr::attr::Role) ? Entries : Others)
          .push_back(Function);
    llvm::append_range(Entries, Others);
    for (func::FuncOp Function : Entries)
      if (failed(Placer(Function, Kinds, infoOf(*Chosen), Positions, Scopes)
                     .run()))
        return signalPassFailure();
  }
};

} // namespace
