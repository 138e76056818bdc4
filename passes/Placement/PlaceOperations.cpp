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
    if (isa<tr::EmbeddingOp>(Op))
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
    tr::RowKind Kind = Kinds.of(Like);
    Value &Count = Counts[static_cast<size_t>(Kind)];
    if (!Count) {
      OpBuilder::InsertionGuard Guard(Builder);
      Builder.setInsertionPointToStart(&Function.getBody().front());
      Count = dnn::CountOp::create(Builder, Function.getLoc(),
                                   Builder.getIndexType(), Kind, Batch);
    }
    return tensor::EmptyOp::create(Builder, Like.getLoc(), Type.getShape(),
                                   Element ? Element : Type.getElementType(),
                                   Count);
  }

  /// One packed weight of parameters `Sources`, one below another.
  Value packed(ValueRange Sources) {
    auto First = Sources.front().getDefiningOp<tr::ParameterOp>();
    SmallVector<StringRef> Keys;
    int64_t Rows = 0;
    for (Value Source : Sources) {
      auto Parameter = Source.getDefiningOp<tr::ParameterOp>();
      Keys.push_back(Parameter.getKey());
      Rows += cast<ShapedType>(Parameter.getType()).getDimSize(0);
    }
    auto Type = cast<RankedTensorType>(First.getType());
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
        dnn::PackedType::get(Builder.getContext(), Layout, Rows,
                             IsVector ? 1 : Type.getDimSize(1), Element),
        mapped(First.getScope()), Builder.getStrArrayAttr(Keys),
        First.getComponentAttr(), /*slot=*/IntegerAttr());
  }
  Value packed(Value Source) {
    return Source ? packed(ValueRange(Source)) : Value();
  }

  Value ropeTable(Location Loc, Value Scope, tr::RopeAttr Rope) {
    if (!Rope)
      return {};
    auto Type =
        dnn::PackedType::get(Builder.getContext(), dnn::LayoutKind::Rows,
                             MaxSequence, Rope.getDim(), Builder.getF32Type());
    return dnn::RopeTableOp::create(Builder, Loc, Type, Scope, Rope,
                                    /*slot=*/IntegerAttr());
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
        .Case<tr::DispatchOp, tr::SplitStageOp>(
            [&](auto Typed) { return placeOne(Typed); })
        .Case<tr::ScopeOp, tr::EmbeddingOp, tr::LayerNormOp, tr::RmsNormOp,
              tr::AddNormOp, tr::ProductOp, tr::GatedProductOp, tr::ResidualOp,
              tr::SplitAppendOp, tr::OnlineAttentionOp, tr::SelectRowsOp,
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
            dnn::EmbeddingOp::create(Builder, Op.getLoc(), Out.getType(),
                                     Op.getIndexAttr(), Batch,
                                     packed(Op.getTable()), Out)
                .getResults());
  }

  void norm(Operation *Op, tr::NormKind Kind, Value Input, Value Residual,
            Value Weight, Value Bias, FloatAttr Eps, int64_t Groups,
            ArrayRef<Value> Results) {
    SmallVector<Value> Outs =
        llvm::map_to_vector(Results, [&](Value R) { return emptyLike(R); });
    auto New = dnn::NormOp::create(
        Builder, Op->getLoc(), ValueRange(Outs).getTypes(),
        tr::NormKindAttr::get(Op->getContext(), Kind), mapped(Input),
        mapped(Residual), packed(Weight), packed(Bias), Outs, Eps,
        Builder.getI64IntegerAttr(Groups));
    for (auto [Old, Result] : llvm::zip(Results, New.getResults()))
      Map.map(Old, Result);
  }
  void placeOne(tr::LayerNormOp Op) {
    norm(Op, tr::NormKind::Layer, Op.getInput(), {}, Op.getWeight(),
         Op.getBias(), Op.getEpsAttr(), 1, {Op.getResult()});
  }
  void placeOne(tr::RmsNormOp Op) {
    norm(Op, tr::NormKind::Rms, Op.getInput(), {}, Op.getWeight(), {},
         Op.getEpsAttr(), static_cast<int64_t>(Op.getGroups()),
         {Op.getResult()});
  }
  void placeOne(tr::AddNormOp Op) {
    norm(Op, Op.getKind(), Op.getLhs(), Op.getRhs(), Op.getWeight(),
         Op.getBias(), Op.getEpsAttr(), 1, {Op.getResult(), Op.getSum()});
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
                Op.getEpsAttr())
                .getResults());
    Map.map(Op.getResult(), Cache);
  }

  LogicalResult placeOne(tr::SplitStageOp Op) {
    SmallVector<Value> Outs = {emptyLike(Op.getQuery()),
                               emptyLike(Op.getStaged())};
    // Angles are the same in every scope: any that the function knows will do.
    Value Scope;
    for (BlockArgument Argument : Function.getArguments())
      if (isa<tr::ScopeType>(Argument.getType()))
        Scope = Argument;
    for (auto Known : Function.getBody().front().getOps<tr::ScopeOp>())
      if (!Scope && Known->isBeforeInBlock(Op))
        Scope = mapped(Known);
    if (!Scope && Op.getRopeAttr())
      return Op.emitOpError()
             << "placement: expected a scope in this function, to keep the "
                "table of rotation angles in";
    auto New = dnn::SplitStageOp::create(
        Builder, Op.getLoc(), ValueRange(Outs).getTypes(), mapped(Op.getQkv()),
        Batch, packed(Op.getQueryNorm()), packed(Op.getKeyNorm()),
        ropeTable(Op.getLoc(), Scope, Op.getRopeAttr()), Outs,
        Op.getHeadsAttr(), Op.getKvHeadsAttr(), Op.getRopeAttr(),
        Op.getEpsAttr());
    Map.map(Op.getQuery(), New.getResults()[0]);
    Map.map(Op.getStaged(), New.getResults()[1]);
    return success();
  }

  void placeOne(tr::OnlineAttentionOp Op) {
    Value Out = emptyLike(Op.getResult());
    Map.map(Op.getResult(),
            dnn::AttentionOp::create(
                Builder, Op.getLoc(), Out.getType(), Op.getMaskAttr(),
                mapped(Op.getQuery()), Batch, mapped(Op.getStaged()),
                mapped(Op.getCache()), mapped(Op.getScope()), Out,
                Op.getHeadsAttr(), Op.getKvHeadsAttr(), Op.getScaleAttr(),
                Op.getWindowAttr())
                .getResults());
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
    bool Rotates = false;
    Module.walk([&](Operation *Op) { Rotates |= Op->hasAttr("rope"); });
    if (Rotates && !MaxSequence) {
      Module.emitError() << "expected the attribute " << tr::attr::MaxSequence
                         << ": it sizes the table of rotation angles";
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
      if (failed(Placer(Function, Kinds, infoOf(*Chosen),
                        MaxSequence ? MaxSequence.getInt() : 1, Scopes)
                     .run()))
        return signalPassFailure();
  }
};

} // namespace
