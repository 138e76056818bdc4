//===- Evaluator.cpp - Running a model graph without compiling it ---------===//

#include "compiler/Evaluator/Evaluator.h"

#include "compiler/Builder/ModelBuilder.h"
#include "compiler/Checkpoint/TensorView.h"
#include "compiler/Evaluator/Operations.h"
#include "dialects/Transformer/CacheNumbering.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

#include <memory>
#include <optional>
#include <variant>

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

ParameterProvider tenon::checkpointParameters(const Checkpoint &Weights) {
  return [&Weights](StringRef Name,
                    ArrayRef<int64_t> Shape) -> Result<std::vector<float>> {
    auto View = TensorView::resolve(Weights, std::string_view(Name),
                                    std::span(Shape.data(), Shape.size()));
    if (!View)
      return View.error();
    std::vector<float> Values(
        static_cast<size_t>(ShapedType::getNumElements(Shape)));
    if (Status S = View->readRowsAsFloat(0, View->rows(), Values.data()); !S)
      return S.error();
    return Values;
  };
}

void Evaluator::forget(int64_t Sequence) {
  for (KeyValueCache &Cache : Caches)
    Cache.forget(Sequence);
}

namespace tenon {

/// One run of one entry.
class Interpreter {
public:
  Interpreter(Evaluator &Owner, const EvaluatorBatch &Batch)
      : Owner(Owner), Batch(Batch), Handles(Owner.Caches.size()) {}

  /// Whether `Batch` is one, for an entry of `Role`.
  Status checkBatch(StringRef Role) const;
  Result<Tensor2D> runEntry(func::FuncOp Entry);

private:
  using Tensor = std::shared_ptr<const Tensor2D>;
  struct Scope {
    std::string Name;
    std::optional<int64_t> Layer;
  };
  /// A cache handle: appends count the versions of a cache up.
  struct Handle {
    size_t Kind;
    int64_t Version;
  };
  struct BatchHandle {};
  using Datum = std::variant<BatchHandle, Tensor, Scope, Handle>;
  using Frame = DenseMap<Value, Datum>;

  /// Calls deeper than this are refused: recursion has no end.
  static constexpr int MaxDepth = 64;

  Result<SmallVector<Datum>> call(func::FuncOp Function,
                                  ArrayRef<Datum> Arguments);
  Status evaluateOp(Operation &Op, Frame &F);
  Status callOp(Operation &Op, StringRef Callee, Frame &F);
  Status evaluateDispatch(DispatchOp Op, Frame &F);
  Status evaluateParameter(ParameterOp Op, Frame &F);
  Status evaluateEmbedding(EmbeddingOp Op, Frame &F);
  Status evaluateInputRows(InputRowsOp Op, Frame &F);
  Status evaluateMixture(MixtureOp Op, Frame &F);
  Status evaluateAttention(AttentionOp Op, Frame &F);
  Status evaluateOnlineAttention(OnlineAttentionOp Op, Frame &F);
  Status evaluateCacheAppend(CacheAppendOp Op, Frame &F);
  Status evaluateLatentAppend(LatentAppendOp Op, Frame &F);
  Status evaluateLatentAttention(LatentAttentionOp Op, Frame &F);
  Status evaluateSplitAppend(SplitAppendOp Op, Frame &F);
  Status evaluateSplitStage(SplitStageOp Op, Frame &F);

  // Operands. Verification has made sure that a value's type says what it is.
  static const Tensor2D &rows(const Frame &F, Value V) {
    return **std::get_if<Tensor>(&F.find(V)->second);
  }
  /// Null for an absent operand.
  static const Tensor2D *optional(const Frame &F, Value V) {
    return V ? &rows(F, V) : nullptr;
  }
  static SmallVector<const Tensor2D *> all(const Frame &F, ValueRange Values) {
    SmallVector<const Tensor2D *> Tensors;
    for (Value V : Values)
      Tensors.push_back(&rows(F, V));
    return Tensors;
  }
  static std::span<const Tensor2D *const>
  spanOf(const SmallVector<const Tensor2D *> &Tensors) {
    return {Tensors.data(), Tensors.size()};
  }
  static void set(Frame &F, Value V, Tensor2D T) {
    F[V] = std::make_shared<const Tensor2D>(std::move(T));
  }
  static Status set(Frame &F, Value V, Result<Tensor2D> T) {
    if (!T)
      return T.error();
    set(F, V, std::move(*T));
    return {};
  }

  /// The newest cache that `CacheValue` is a handle of, and the layer of
  /// `ScopeValue` in it.
  struct CacheLayer {
    KeyValueCache *Cache;
    int64_t Layer;
    Handle Taken;
  };
  Result<CacheLayer> cacheLayer(const Frame &F, Value CacheValue,
                                Value ScopeValue);
  /// The handle after an append.
  Handle next(Handle Taken) { return {Taken.Kind, ++Handles[Taken.Kind]}; }

  /// Static sizes are verified; row counts are only known now.
  Status checkRows(Operation &Op, const Frame &F) const;
  template <typename OpTy>
  static evaluate::AttentionShape shapeOf(OpTy Op, const Frame &F);
  template <typename OpTy>
  static evaluate::SplitShape splitShapeOf(OpTy Op, const Frame &F);

  Evaluator &Owner;
  const EvaluatorBatch &Batch;
  /// The newest version of each kind of cache.
  std::vector<int64_t> Handles;
  int Depth = 0;
};

} // namespace tenon

static double realOf(const APFloat &Real) { return Real.convertToDouble(); }

static int64_t integerOf(uint64_t Integer) {
  return static_cast<int64_t>(Integer);
}

/// `E` with the op's name and location before it.
static Error errorAt(Operation &Op, const Error &E) {
  std::string Where;
  llvm::raw_string_ostream Stream(Where);
  Stream << "'" << Op.getName() << "' at " << Op.getLoc();
  return E.withContext(Where);
}

//===----------------------------------------------------------------------===//
// Batches, entries and calls
//===----------------------------------------------------------------------===//

Status Interpreter::checkBatch(StringRef Role) const {
  int64_t Tokens = Batch.tokens();
  auto CheckSize = [&](const char *Name, size_t Size) -> Status {
    if (static_cast<int64_t>(Size) == Tokens)
      return {};
    return Error(std::string("batch: field '") + Name + "' has " +
                 std::to_string(Size) + " elements: expected " +
                 std::to_string(Tokens) + ", one per token");
  };
  if (Tokens == 0)
    return Error("batch: field 'TokenIds' has 0 elements: expected at least 1");
  if (Status S = CheckSize("Positions", Batch.Positions.size()); !S)
    return S;
  if (Status S = CheckSize("Sequences", Batch.Sequences.size()); !S)
    return S;
  if (!Batch.TokenTypes.empty())
    if (Status S = CheckSize("TokenTypes", Batch.TokenTypes.size()); !S)
      return S;

  auto Limit = Owner.Module->getAttrOfType<IntegerAttr>(attr::MaxSequence);
  auto Source = Owner.Module->getAttrOfType<IntegerAttr>(attr::MaxSource);
  if (Role != "step" && Source)
    Limit = Source;
  DenseSet<int64_t> Ended;
  for (int64_t T = 0; T < Tokens; ++T) {
    auto Fail = [&](const char *Field, int64_t Value, const std::string &Want) {
      return Error(std::string("batch: field '") + Field + "' of token " +
                   std::to_string(T) + " is " + std::to_string(Value) +
                   ": expected " + Want);
    };
    int64_t Position = Batch.Positions[T];
    if (Position < 0)
      return Fail("Positions", Position, "at least 0");
    if (Limit && Position >= Limit.getInt())
      return Fail("Positions", Position,
                  "below " + std::to_string(Limit.getInt()));
    if (T == 0)
      continue;
    int64_t Sequence = Batch.Sequences[T], Last = Batch.Sequences[T - 1];
    if (Sequence == Last && Position != Batch.Positions[T - 1] + 1)
      return Fail("Positions", Position,
                  std::to_string(Batch.Positions[T - 1] + 1) +
                      ", the next of its sequence");
    if (Sequence != Last && (Ended.insert(Last), Ended.contains(Sequence)))
      return Fail("Sequences", Sequence,
                  "the tokens of a sequence side by side");
  }
  size_t Sequences = Batch.starts().size() - 1;
  if (!Batch.Prefixes.empty() && Batch.Prefixes.size() != Sequences)
    return Error("batch: field 'Prefixes' has " +
                 std::to_string(Batch.Prefixes.size()) +
                 " elements: expected " + std::to_string(Sequences) +
                 ", one per sequence");
  for (int64_t Prefix : Batch.Prefixes)
    if (Prefix < 0)
      return Error("batch: field 'Prefixes' has " + std::to_string(Prefix) +
                   ": expected at least 0");
  int64_t Previous = -1;
  for (int64_t Row : Batch.Wanted) {
    if (Row <= Previous || Row >= Tokens)
      return Error("batch: field 'Wanted' has " + std::to_string(Row) +
                   ": expected ascending rows below " + std::to_string(Tokens));
    Previous = Row;
  }
  return {};
}

Result<Tensor2D> Interpreter::runEntry(func::FuncOp Entry) {
  SmallVector<Datum> Arguments;
  CacheNumbering Numbering(Owner.Module);
  CacheNumbering::Entry Numbers = Numbering.entry();
  for (Type T : Entry.getArgumentTypes()) {
    if (isa<BatchType>(T))
      Arguments.push_back(BatchHandle());
    else if (auto Cache = dyn_cast<CacheType>(T))
      Arguments.push_back(Handle{Numbers.number(Cache), 0});
    else
      return errorAt(*Entry,
                     Error("argument " + std::to_string(Arguments.size()) +
                           ": expected a batch or a cache"));
  }
  auto Results = call(Entry, Arguments);
  if (!Results)
    return Results.error();
  for (Datum &Value : *Results)
    if (auto *Output = std::get_if<Tensor>(&Value))
      return Tensor2D(**Output);
  return errorAt(*Entry, Error("results: expected rows among them"));
}

Result<SmallVector<Interpreter::Datum>>
Interpreter::call(func::FuncOp Function, ArrayRef<Datum> Arguments) {
  if (Function.isExternal() || !llvm::hasSingleElement(Function.getBody()))
    return errorAt(*Function, Error("body: expected one block"));
  if (Depth >= MaxDepth)
    return errorAt(*Function,
                   Error("calls nest deeper than " + std::to_string(MaxDepth)));
  Frame F;
  for (auto [Argument, Given] : llvm::zip(Function.getArguments(), Arguments))
    F[Argument] = Given;
  ++Depth;
  for (Operation &Op : Function.getBody().front()) {
    if (auto Return = dyn_cast<func::ReturnOp>(Op)) {
      --Depth;
      SmallVector<Datum> Results;
      for (Value V : Return.getOperands())
        Results.push_back(F.find(V)->second);
      return Results;
    }
    Status S = checkRows(Op, F);
    if (S)
      S = evaluateOp(Op, F);
    if (!S)
      // Calls leave the naming to the op that failed inside.
      return isa<func::CallOp, DispatchOp>(Op) ? S.error()
                                               : errorAt(Op, S.error());
  }
  return errorAt(*Function, Error("body: expected a return"));
}

Status Interpreter::callOp(Operation &Op, StringRef Callee, Frame &F) {
  auto Function = Owner.Module.lookupSymbol<func::FuncOp>(Callee);
  if (!Function)
    return errorAt(Op, Error("callee '" + Callee.str() +
                             "': expected a function of that name"));
  SmallVector<Datum> Arguments;
  for (Value V : Op.getOperands())
    Arguments.push_back(F.find(V)->second);
  auto Results = call(Function, Arguments);
  if (!Results)
    return Results.error();
  for (auto [Value, Given] : llvm::zip(Op.getResults(), *Results))
    F[Value] = Given;
  return {};
}

Status Interpreter::evaluateDispatch(DispatchOp Op, Frame &F) {
  int64_t Count = 0;
  switch (Op.getRows()) {
  case RowKind::Tokens:
    Count = Batch.tokens();
    break;
  case RowKind::Wanted:
    Count = static_cast<int64_t>(Batch.Wanted.size());
    break;
  case RowKind::Sequences:
    Count = static_cast<int64_t>(Batch.starts().size()) - 1;
    break;
  case RowKind::Chunks:
    Count = (Batch.tokens() + PageTokens - 1) / PageTokens;
    break;
  }
  auto Few = Owner.Module->getAttrOfType<IntegerAttr>(attr::FewTokens);
  bool IsFew = Count <= (Few ? Few.getInt() : 0);
  return callOp(*Op, IsFew ? Op.getFew() : Op.getMany(), F);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// The operands of `Op` that have a row per token, or per wanted row.
static SmallVector<Value> rowOperands(Operation &Op) {
  SmallVector<Value> Rows =
      llvm::TypeSwitch<Operation *, SmallVector<Value>>(&Op)
          .Case<RopeOp, LayerNormOp, RmsNormOp, LinearOp, FeedForwardOp,
                GatedFeedForwardOp, GatedProductOp, ActivationOp, ScaleOp,
                SoftCapOp, ClampOp, ColumnsOp, ClassTokenOp, SelectRowsOp,
                LmHeadOp, PoolOp>(
              [](auto O) { return SmallVector<Value>{O.getInput()}; })
          .Case<SigmoidGateOp>([](auto O) {
            return SmallVector<Value>{O.getInput(), O.getGate()};
          })
          .Case<MixtureOp>([](auto O) {
            return SmallVector<Value>{O.getInput(), O.getLogits()};
          })
          .Case<LatentAppendOp>([](auto O) {
            return SmallVector<Value>{O.getLatent(), O.getRotated()};
          })
          .Case<ResidualOp, AddNormOp>(
              [](auto O) { return SmallVector<Value>{O.getLhs(), O.getRhs()}; })
          .Case<ProductOp>([](ProductOp O) {
            return SmallVector<Value>{O.getInput(), O.getMultiplier(),
                                      O.getResidual()};
          })
          .Case<CacheAppendOp>([](CacheAppendOp O) {
            return SmallVector<Value>{O.getKeys(), O.getValues()};
          })
          .Case<AttentionOp>([](AttentionOp O) {
            return SmallVector<Value>{O.getQuery(), O.getKeys(), O.getValues()};
          })
          .Case<OnlineAttentionOp, LatentAttentionOp>(
              [](auto O) { return SmallVector<Value>{O.getQuery()}; })
          .Case<SplitAppendOp, SplitStageOp>(
              [](auto O) { return SmallVector<Value>(O.getQkv()); })
          .Default({});
  llvm::erase(Rows, Value());
  return Rows;
}

Status Interpreter::checkRows(Operation &Op, const Frame &F) const {
  bool TakesBatch =
      llvm::any_of(Op.getOperandTypes(), llvm::IsaPred<BatchType>);
  std::optional<int64_t> Expected;
  if (TakesBatch)
    Expected = Batch.tokens();
  for (Value Operand : rowOperands(Op)) {
    int64_t Count = rows(F, Operand).Rows;
    if (!Expected)
      Expected = Count;
    if (Count != *Expected)
      return Error("operand has " + std::to_string(Count) + " rows: expected " +
                   std::to_string(*Expected));
  }
  auto Online = dyn_cast<OnlineAttentionOp>(Op);
  if (!Online || !Online.getStaged())
    return {};
  int64_t Chunks = (Batch.tokens() + PageTokens - 1) / PageTokens;
  int64_t Count = rows(F, Online.getStaged()).Rows;
  if (Count == Chunks)
    return {};
  return Error("staged has " + std::to_string(Count) + " rows: expected " +
               std::to_string(Chunks));
}

Result<Interpreter::CacheLayer>
Interpreter::cacheLayer(const Frame &F, Value CacheValue, Value ScopeValue) {
  Handle Taken = *std::get_if<Handle>(&F.find(CacheValue)->second);
  const Scope &In = *std::get_if<Scope>(&F.find(ScopeValue)->second);
  if (Taken.Version != Handles[Taken.Kind])
    return Error("cache: expected the newest handle, got one that an earlier "
                 "append has taken");
  if (!In.Layer)
    return Error("scope '" + In.Name + "': expected one with a layer");
  return CacheLayer{&Owner.Caches[Taken.Kind], *In.Layer, Taken};
}

Status Interpreter::evaluateParameter(ParameterOp Op, Frame &F) {
  const Scope &In = *std::get_if<Scope>(&F.find(Op.getScope())->second);
  auto Type = cast<RankedTensorType>(Op.getType());
  std::string Name = parameterName(In.Name, Op.getKey());
  auto Values = Owner.Parameters(Name, Type.getShape());
  if (!Values)
    return Values.error();
  if (static_cast<int64_t>(Values->size()) != Type.getNumElements())
    return Error("parameter '" + Name + "' has " +
                 std::to_string(Values->size()) + " elements: expected " +
                 std::to_string(Type.getNumElements()));
  ElementType Kept = Type.getElementType().isBF16()  ? ElementType::BF16
                     : Type.getElementType().isF16() ? ElementType::F16
                                                     : ElementType::F32;
  for (float &Element : *Values)
    Element = roundTo(Kept, Element);
  Tensor2D Stored;
  // Matrices of experts lie one below another.
  Stored.Columns = Type.getShape().back();
  Stored.Rows = Type.getNumElements() / Stored.Columns;
  Stored.Data = std::move(*Values);
  set(F, Op, std::move(Stored));
  return {};
}

Status Interpreter::evaluateEmbedding(EmbeddingOp Op, Frame &F) {
  const Tensor2D &Table = rows(F, Op.getTable());
  auto Lookup = [&](const std::vector<int64_t> &Indices) {
    return set(F, Op,
               evaluate::embedding(Table, Indices, integerOf(Op.getOffset())));
  };
  switch (Op.getIndex()) {
  case IndexKind::Token:
    return Lookup(Batch.TokenIds);
  case IndexKind::Position:
    return Lookup(Batch.Positions);
  case IndexKind::TokenType:
    if (Batch.TokenTypes.empty())
      return Lookup(std::vector<int64_t>(Batch.TokenIds.size()));
    return Lookup(Batch.TokenTypes);
  }
  return {};
}

Status Interpreter::evaluateInputRows(InputRowsOp Op, Frame &F) {
  const Tensor2D &Features = Batch.Features;
  int64_t Width =
      cast<RankedTensorType>(Op.getResult().getType()).getDimSize(1);
  if (Features.Rows != Batch.tokens() || Features.Columns != Width)
    return Error("batch: field 'Features' is " + std::to_string(Features.Rows) +
                 " x " + std::to_string(Features.Columns) + ": expected " +
                 std::to_string(Batch.tokens()) + " x " +
                 std::to_string(Width));
  set(F, Op, Features);
  return {};
}

Status Interpreter::evaluateMixture(MixtureOp Op, Frame &F) {
  evaluate::Experts Stored;
  Stored.Gate = &rows(F, Op.getGate());
  Stored.Up = &rows(F, Op.getUp());
  Stored.Down = &rows(F, Op.getDown());
  Stored.GateBias = optional(F, Op.getGateBias());
  Stored.UpBias = optional(F, Op.getUpBias());
  Stored.DownBias = optional(F, Op.getDownBias());
  if (std::optional<APFloat> Limit = Op.getLimit())
    Stored.Limit = realOf(*Limit);
  if (std::optional<APFloat> Offset = Op.getUpOffset())
    Stored.UpOffset = realOf(*Offset);
  set(F, Op,
      evaluate::mixture(
          Op.getActivation(), rows(F, Op.getInput()), rows(F, Op.getLogits()),
          optional(F, Op.getCorrection()), Stored, Op.getRouter()));
  return {};
}

template <typename OpTy>
evaluate::AttentionShape Interpreter::shapeOf(OpTy Op, const Frame &F) {
  evaluate::AttentionShape Shape;
  Shape.Heads = integerOf(Op.getHeads());
  Shape.KvHeads = integerOf(Op.getKvHeads());
  Shape.Scale = realOf(Op.getScale());
  Shape.Mask = Op.getMask();
  if (std::optional<uint64_t> Window = Op.getWindow())
    Shape.Window = integerOf(*Window);
  if (std::optional<APFloat> Cap = Op.getSoftCap())
    Shape.SoftCap = realOf(*Cap);
  Shape.Alibi = Op.getAlibiAttr();
  Shape.Buckets = Op.getBucketsAttr();
  Shape.Bias = optional(F, Op.getBias());
  Shape.Sinks = optional(F, Op.getSinks());
  return Shape;
}

Status Interpreter::evaluateAttention(AttentionOp Op, Frame &F) {
  const Tensor2D &Query = rows(F, Op.getQuery());
  if (Op.getKeys()) {
    set(F, Op,
        evaluate::attention(Query, Batch, rows(F, Op.getKeys()),
                            rows(F, Op.getValues()), shapeOf(Op, F)));
    return {};
  }
  auto From = cacheLayer(F, Op.getCache(), Op.getScope());
  if (!From)
    return From.error();
  return set(F, Op,
             evaluate::cachedAttention(Query, Batch, *From->Cache, From->Layer,
                                       shapeOf(Op, F)));
}

Status Interpreter::evaluateOnlineAttention(OnlineAttentionOp Op, Frame &F) {
  const Tensor2D &Query = rows(F, Op.getQuery());
  if (Op.getStaged()) {
    set(F, Op,
        evaluate::onlineAttention(Query, Batch, rows(F, Op.getStaged()),
                                  shapeOf(Op, F)));
    return {};
  }
  auto From = cacheLayer(F, Op.getCache(), Op.getScope());
  if (!From)
    return From.error();
  return set(F, Op,
             evaluate::cachedOnlineAttention(Query, Batch, *From->Cache,
                                             From->Layer, shapeOf(Op, F)));
}

Status Interpreter::evaluateCacheAppend(CacheAppendOp Op, Frame &F) {
  auto To = cacheLayer(F, Op.getCache(), Op.getScope());
  if (!To)
    return To.error();
  F[Op.getResult()] = next(To->Taken);
  return evaluate::cacheAppend(*To->Cache, To->Layer, Batch,
                               rows(F, Op.getKeys()), rows(F, Op.getValues()));
}

Status Interpreter::evaluateLatentAppend(LatentAppendOp Op, Frame &F) {
  auto To = cacheLayer(F, Op.getCache(), Op.getScope());
  if (!To)
    return To.error();
  F[Op.getResult()] = next(To->Taken);
  return evaluate::latentAppend(*To->Cache, To->Layer, Batch,
                                rows(F, Op.getLatent()),
                                rows(F, Op.getRotated()));
}

Status Interpreter::evaluateLatentAttention(LatentAttentionOp Op, Frame &F) {
  auto From = cacheLayer(F, Op.getCache(), Op.getScope());
  if (!From)
    return From.error();
  evaluate::LatentShape Shape;
  Shape.Heads = integerOf(Op.getHeads());
  Shape.KeyDim = integerOf(Op.getKeyDim());
  Shape.ValueDim = integerOf(Op.getValueDim());
  Shape.Scale = realOf(Op.getScale());
  return set(F, Op,
             evaluate::latentAttention(rows(F, Op.getQuery()), Batch,
                                       *From->Cache, From->Layer,
                                       rows(F, Op.getExpand()), Shape));
}

template <typename OpTy>
evaluate::SplitShape Interpreter::splitShapeOf(OpTy Op, const Frame &F) {
  evaluate::SplitShape Shape;
  Shape.Heads = integerOf(Op.getHeads());
  Shape.KvHeads = integerOf(Op.getKvHeads());
  Shape.QueryNorm = optional(F, Op.getQueryNorm());
  Shape.KeyNorm = optional(F, Op.getKeyNorm());
  if (Op.getEpsAttr())
    Shape.Eps = Op.getEpsAttr().getValueAsDouble();
  Shape.NormOffset = realOf(Op.getNormOffset());
  Shape.Rope = Op.getRopeAttr();
  return Shape;
}

Status Interpreter::evaluateSplitAppend(SplitAppendOp Op, Frame &F) {
  auto To = cacheLayer(F, Op.getCache(), Op.getScope());
  if (!To)
    return To.error();
  auto Query = evaluate::splitAppend(spanOf(all(F, Op.getQkv())), *To->Cache,
                                     To->Layer, Batch, splitShapeOf(Op, F));
  F[Op.getResult()] = next(To->Taken);
  return set(F, Op.getQuery(), std::move(Query));
}

Status Interpreter::evaluateSplitStage(SplitStageOp Op, Frame &F) {
  auto Split = evaluate::splitStage(spanOf(all(F, Op.getQkv())), Batch,
                                    splitShapeOf(Op, F));
  set(F, Op.getQuery(), std::move(Split.Query));
  set(F, Op.getStaged(), std::move(Split.Staged));
  return {};
}

Status Interpreter::evaluateOp(Operation &Op, Frame &F) {
  // What cannot fail sets its result here.
  auto Done = [&](Value V, Tensor2D T) -> Status {
    set(F, V, std::move(T));
    return {};
  };
  return llvm::TypeSwitch<Operation *, Status>(&Op)
      .Case<func::CallOp>(
          [&](func::CallOp O) { return callOp(Op, O.getCallee(), F); })
      .Case<DispatchOp>([&](DispatchOp O) { return evaluateDispatch(O, F); })
      .Case<ScopeOp>([&](ScopeOp O) -> Status {
        Scope Named{O.getName().str(), std::nullopt};
        if (std::optional<uint64_t> Layer = O.getLayer())
          Named.Layer = integerOf(*Layer);
        F[O.getResult()] = Named;
        return {};
      })
      .Case<ParameterOp>([&](ParameterOp O) { return evaluateParameter(O, F); })
      .Case<EmbeddingOp>([&](EmbeddingOp O) { return evaluateEmbedding(O, F); })
      .Case<RopeOp>([&](RopeOp O) {
        return Done(O, evaluate::rope(rows(F, O.getInput()), Batch.Positions,
                                      integerOf(O.getHeads()),
                                      integerOf(O.getOffset()), O.getRope()));
      })
      .Case<SinusoidOp>([&](SinusoidOp O) {
        auto Type = cast<RankedTensorType>(O.getResult().getType());
        return Done(O, evaluate::sinusoid(Batch.Positions, Type.getDimSize(1),
                                          O.getStyle()));
      })
      .Case<InputRowsOp>([&](InputRowsOp O) { return evaluateInputRows(O, F); })
      .Case<ClassTokenOp>([&](ClassTokenOp O) {
        return Done(O, evaluate::classToken(rows(F, O.getInput()), Batch,
                                            rows(F, O.getToken())));
      })
      .Case<LayerNormOp>([&](LayerNormOp O) {
        return Done(O, evaluate::layerNorm(
                           rows(F, O.getInput()), rows(F, O.getWeight()),
                           optional(F, O.getBias()), realOf(O.getEps()),
                           integerOf(O.getGroups())));
      })
      .Case<RmsNormOp>([&](RmsNormOp O) {
        return Done(
            O, evaluate::rmsNorm(rows(F, O.getInput()), rows(F, O.getWeight()),
                                 realOf(O.getEps()), integerOf(O.getGroups()),
                                 realOf(O.getOffset())));
      })
      .Case<LinearOp>([&](LinearOp O) {
        return Done(O, evaluate::linear(rows(F, O.getInput()),
                                        rows(F, O.getWeight()),
                                        optional(F, O.getBias())));
      })
      .Case<FeedForwardOp>([&](FeedForwardOp O) {
        return Done(O, evaluate::feedForward(
                           O.getActivation(), rows(F, O.getInput()),
                           rows(F, O.getUp()), optional(F, O.getUpBias()),
                           rows(F, O.getDown()), optional(F, O.getDownBias())));
      })
      .Case<GatedFeedForwardOp>([&](GatedFeedForwardOp O) {
        return Done(O, evaluate::gatedFeedForward(
                           O.getActivation(), rows(F, O.getInput()),
                           rows(F, O.getGate()), optional(F, O.getGateBias()),
                           rows(F, O.getUp()), optional(F, O.getUpBias()),
                           rows(F, O.getDown()), optional(F, O.getDownBias())));
      })
      .Case<ResidualOp>([&](ResidualOp O) {
        return Done(
            O, evaluate::residual(rows(F, O.getLhs()), rows(F, O.getRhs())));
      })
      .Case<ActivationOp>([&](ActivationOp O) {
        return Done(O,
                    evaluate::activation(O.getKind(), rows(F, O.getInput())));
      })
      .Case<ScaleOp>([&](ScaleOp O) {
        return Done(
            O, evaluate::scale(rows(F, O.getInput()), realOf(O.getFactor())));
      })
      .Case<SoftCapOp>([&](SoftCapOp O) {
        return Done(
            O, evaluate::softCap(rows(F, O.getInput()), realOf(O.getBound())));
      })
      .Case<ClampOp>([&](ClampOp O) {
        return Done(
            O, evaluate::clamp(rows(F, O.getInput()), realOf(O.getBound())));
      })
      .Case<SigmoidGateOp>([&](SigmoidGateOp O) {
        return Done(O, evaluate::sigmoidGate(rows(F, O.getInput()),
                                             rows(F, O.getGate())));
      })
      .Case<ColumnsOp>([&](ColumnsOp O) {
        auto Type = cast<RankedTensorType>(O.getResult().getType());
        return Done(O, evaluate::columns(rows(F, O.getInput()),
                                         integerOf(O.getFirst()),
                                         Type.getDimSize(1)));
      })
      .Case<MixtureOp>([&](MixtureOp O) { return evaluateMixture(O, F); })
      .Case<CacheAppendOp>(
          [&](CacheAppendOp O) { return evaluateCacheAppend(O, F); })
      .Case<LatentAppendOp>(
          [&](LatentAppendOp O) { return evaluateLatentAppend(O, F); })
      .Case<LatentAttentionOp>(
          [&](LatentAttentionOp O) { return evaluateLatentAttention(O, F); })
      .Case<AttentionOp>([&](AttentionOp O) { return evaluateAttention(O, F); })
      .Case<SelectRowsOp>([&](SelectRowsOp O) {
        return Done(O, evaluate::selectRows(rows(F, O.getInput()), Batch));
      })
      .Case<LmHeadOp>([&](LmHeadOp O) {
        return Done(O, evaluate::lmHead(rows(F, O.getInput()), Batch,
                                        rows(F, O.getWeight()),
                                        optional(F, O.getBias())));
      })
      .Case<PoolOp>([&](PoolOp O) {
        return Done(O, evaluate::pool(O.getKind(), rows(F, O.getInput()), Batch,
                                      O.getNormalize()));
      })
      .Case<ProductOp>([&](ProductOp O) {
        return Done(O, evaluate::product(rows(F, O.getInput()),
                                         spanOf(all(F, O.getWeights())),
                                         spanOf(all(F, O.getBiases())),
                                         O.getActivation(),
                                         optional(F, O.getMultiplier()),
                                         optional(F, O.getResidual())));
      })
      .Case<GatedProductOp>([&](GatedProductOp O) {
        return Done(O, evaluate::gatedProduct(
                           O.getActivation(), rows(F, O.getInput()),
                           rows(F, O.getGate()), optional(F, O.getGateBias()),
                           rows(F, O.getUp()), optional(F, O.getUpBias())));
      })
      .Case<AddNormOp>([&](AddNormOp O) {
        auto Both = evaluate::addNorm(
            O.getKind(), rows(F, O.getLhs()), rows(F, O.getRhs()),
            rows(F, O.getWeight()), optional(F, O.getBias()),
            realOf(O.getEps()), realOf(O.getOffset()));
        set(F, O.getSum(), std::move(Both.Sum));
        return Done(O.getResult(), std::move(Both.Normed));
      })
      .Case<SplitAppendOp>(
          [&](SplitAppendOp O) { return evaluateSplitAppend(O, F); })
      .Case<SplitStageOp>(
          [&](SplitStageOp O) { return evaluateSplitStage(O, F); })
      .Case<OnlineAttentionOp>(
          [&](OnlineAttentionOp O) { return evaluateOnlineAttention(O, F); })
      .Default([](Operation *) -> Status {
        return Error("operation: expected one of the transformer dialect, a "
                     "call or a return");
      });
}

/// The caches of `Module`, by number.
static std::vector<KeyValueCache> cachesOf(ModuleOp Module) {
  std::vector<KeyValueCache> Caches;
  for (CacheType Cache : CacheNumbering(Module).types()) {
    int64_t Width = Cache.getKvHeads() * Cache.getHeadDim();
    Caches.emplace_back(Width, Cache.isLatent() ? 0 : Width,
                        Cache.getElementType().isBF16() ? ElementType::BF16
                                                        : ElementType::F32);
  }
  return Caches;
}

Result<Tensor2D> Evaluator::run(StringRef Role, const EvaluatorBatch &Batch) {
  if (Caches.empty())
    Caches = cachesOf(Module);
  for (auto Function : Module.getOps<func::FuncOp>()) {
    auto Has = Function->getAttrOfType<StringAttr>(attr::Role);
    if (!Has || Has.getValue() != Role)
      continue;
    Interpreter Run(*this, Batch);
    if (Status S = Run.checkBatch(Role); !S)
      return S.error();
    return Run.runEntry(Function);
  }
  return Error("module: role '" + Role.str() +
               "': expected a function that has it");
}
