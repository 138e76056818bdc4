//===- Interpreter.cpp - Functions, calls and values ----------------------===//

#include "compiler/Evaluator/Interpreter.h"

#include "compiler/Builder/ModelBuilder.h"
#include "compiler/Builder/Places.h"
#include "dialects/Transformer/RowCounts.h"
#include "runtime/Support/Json.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

/// Calls deeper than this are refused: recursion has no end.
static constexpr int MaxDepth = 64;

Error tenon::errorAt(Operation *Op, const Error &E) {
  std::string Place = escaped(placeOf(Op->getLoc()));
  return E.withContext((Place.empty() ? "" : Place + ": ") + "'" +
                       Op->getName().getStringRef().str() + "'");
}

/// Calls leave the naming of errors, and the rows, to what they call.
static bool isCall(Operation *Op) {
  return isa<func::CallOp, transformer::DispatchOp, dnn::DispatchOp>(Op);
}

/// As kernels quantise a group: the same operations on floats.
static void quantiseGroup(dnn::GroupedType Type, std::span<float> Group) {
  auto Largest = static_cast<float>(Type.getLargest());
  float Most = 0;
  for (float X : Group)
    Most = std::isnan(X) ? X : std::max(Most, std::abs(X));
  float Scale = Most / Largest;
  float Inverse = Most > dnn::SmallestGroup ? Largest / Most : 0;
  for (float &X : Group)
    X = std::nearbyint(X * Inverse) * Scale;
}

void tenon::roundToType(Type Type, Tensor2D &Value) {
  auto Packed = dyn_cast<dnn::PackedType>(Type);
  mlir::Type Element = getElementTypeOrSelf(Type);
  if (auto Grouped = dyn_cast<dnn::GroupedType>(Element)) {
    for (int64_t Row = 0; Row < Value.Rows; ++Row)
      for (int64_t At = 0; At < Value.Columns; At += GroupValues)
        quantiseGroup(
            Grouped,
            {Value.row(Row) + At,
             static_cast<size_t>(std::min(GroupValues, Value.Columns - At))});
    return;
  }
  // Counts and indices are exact, and quantised weights come as they are.
  if (Packed ? infoOf(Packed.getFormat()).isQuantised()
             : !isa<FloatType>(Element))
    return;
  StorageFormat Format = Packed ? Packed.getFormat() : dnn::formatOf(Element);
  for (int64_t Row = 0; Row < Value.Rows; ++Row)
    roundTo(Format, {Value.row(Row), static_cast<size_t>(Value.Columns)});
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

SmallVector<Datum> Frame::operator[](ValueRange Range) const {
  return llvm::map_to_vector(Range, [&](Value V) { return (*this)[V]; });
}

std::vector<const Tensor2D *> Frame::tensors(ValueRange Range) const {
  std::vector<const Tensor2D *> Tensors;
  for (Value V : Range)
    Tensors.push_back(&tensor(V));
  return Tensors;
}

Result<Frame::CacheLayer> Frame::cacheLayer(Value Cache, Value Scope) const {
  CacheHandle Taken = *std::get_if<CacheHandle>(&(*this)[Cache]);
  const EvaluatorScope &In = scope(Scope);
  if (Taken.Version != Run.version(Taken.Number))
    return Error("cache: expected the newest handle, got one that an earlier "
                 "append has taken");
  if (!In.Layer)
    return Error("scope '" + In.Name + "': expected one with a layer");
  return CacheLayer{&Run.Owner.Caches[Taken.Number].Cache, *In.Layer, Taken};
}

Result<std::vector<float>> Frame::parameter(const EvaluatorScope &Scope,
                                            StringRef Key,
                                            ArrayRef<int64_t> Shape,
                                            StorageFormat Format) const {
  std::string Name = parameterName(Scope.Name, Key);
  auto Values = Run.Owner.Parameters(Name, Shape, Format);
  if (!Values)
    return Values.error();
  auto Count = static_cast<int64_t>(Values->size());
  if (!ShapedType::isDynamicShape(Shape) &&
      Count != ShapedType::getNumElements(Shape))
    return Error("parameter '" + Name + "' has " + std::to_string(Count) +
                 " elements: expected " +
                 std::to_string(ShapedType::getNumElements(Shape)));
  return Values;
}

Status Frame::set(Operation *Op, unsigned Index, Tensor2D Value) {
  OpResult Result = Op->getResult(Index);
  auto Type = cast<RankedTensorType>(Result.getType());
  std::optional<int64_t> Rows;
  if (auto Dps = dyn_cast<DestinationStyleOpInterface>(Op))
    if (mlir::Value Out = Dps.getTiedOpOperand(Result)->get(); has(Out))
      Rows = tensor(Out).Rows;
  if (Value.Rows != Rows.value_or(Value.Rows) ||
      Value.Columns != Type.getDimSize(1))
    return Error("result " + std::to_string(Index) + " is " +
                 std::to_string(Value.Rows) + " x " +
                 std::to_string(Value.Columns) + ": expected " +
                 std::to_string(Rows.value_or(Value.Rows)) + " x " +
                 std::to_string(Type.getDimSize(1)));
  roundToType(Type, Value);
  if (Run.Owner.Observer)
    Run.Owner.Observer({Op, Index, Scope}, Value);
  bind(Result, std::move(Value));
  return {};
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Static sizes are verified; row counts are only known now.
static Status checkRows(Operation *Op, const Frame &F) {
  auto Says = dyn_cast<RowsOpInterface>(Op);
  auto Dps = dyn_cast<DestinationStyleOpInterface>(Op);
  bool TakesBatch =
      llvm::any_of(Op->getOperandTypes(), llvm::IsaPred<BatchType>);
  std::optional<int64_t> Expected;
  for (OpOperand *Operand : rowOperandsOf(Op)) {
    // Results are compared with their destinations when they are set.
    if (Dps && Dps.isDpsInit(Operand))
      continue;
    int64_t Count = F.tensor(Operand->get()).Rows;
    if (TakesBatch)
      Expected = F.batch().count(
          Says ? Says.getOperandCount(Operand->getOperandNumber())
               : CountKind::Tokens);
    if (Count != Expected.value_or(Count))
      return Error("operand " + std::to_string(Operand->getOperandNumber()) +
                   " has " + std::to_string(Count) + " rows: expected " +
                   std::to_string(*Expected));
    Expected = Count;
  }
  return {};
}

/// A destination, with contents that show when something reads them.
static void evaluateEmpty(tensor::EmptyOp Op, Frame &F) {
  RankedTensorType Type = Op.getType();
  int64_t Rows = Type.isDynamicDim(0)
                     ? *std::get_if<int64_t>(&F[Op.getDynamicSizes()[0]])
                     : Type.getDimSize(0);
  Tensor2D Empty(Rows, Type.getDimSize(1));
  llvm::fill(Empty.Data, std::numeric_limits<float>::quiet_NaN());
  F.bind(Op, std::move(Empty));
}

Status tenon::evaluateAny(Operation *Op, Frame &F) {
  if (!isCall(Op))
    if (Status S = checkRows(Op, F); !S)
      return S;
  if (isa_and_nonnull<TransformerDialect>(Op->getDialect()))
    return evaluateTransformer(Op, F);
  if (isa_and_nonnull<dnn::DnnDialect>(Op->getDialect()))
    return evaluateDnn(Op, F);
  if (auto Empty = dyn_cast<tensor::EmptyOp>(Op)) {
    evaluateEmpty(Empty, F);
    return {};
  }
  if (auto Call = dyn_cast<func::CallOp>(Op)) {
    auto Results =
        F.interpreter().call(Op, Call.getCallee(), F[Call.getOperands()]);
    if (!Results)
      return Results.error();
    for (auto [Value, Passed] : llvm::zip(Op->getResults(), *Results))
      F.bind(Value, Passed);
    return {};
  }
  return Error("operation: expected one of the transformer or the dnn dialect, "
               "a call, a destination or a return");
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

int64_t &Interpreter::version(size_t Number) {
  if (Versions.size() <= Number)
    Versions.resize(Number + 1);
  return Versions[Number];
}

Result<SmallVector<Datum>> Interpreter::call(func::FuncOp Function,
                                             ArrayRef<Datum> Arguments) {
  if (Function.isExternal() || !llvm::hasSingleElement(Function.getBody()))
    return errorAt(Function, Error("body: expected one block"));
  if (Depth >= MaxDepth)
    return errorAt(Function,
                   Error("calls nest deeper than " + std::to_string(MaxDepth)));
  EvaluatorScope Scope;
  for (const Datum &Argument : llvm::reverse(Arguments))
    if (auto *Passed = std::get_if<EvaluatorScope>(&Argument))
      Scope = *Passed;
  Frame F(*this, std::move(Scope));
  for (auto [Argument, Passed] : llvm::zip(Function.getArguments(), Arguments))
    F.bind(Argument, Passed);
  ++Depth;
  for (Operation &Op : Function.getBody().front()) {
    if (auto Return = dyn_cast<func::ReturnOp>(Op)) {
      --Depth;
      return F[Return.getOperands()];
    }
    if (Status S = evaluateAny(&Op, F); !S)
      return isCall(&Op) ? S.error() : errorAt(&Op, S.error());
  }
  return errorAt(Function, Error("body: expected a return"));
}

Result<SmallVector<Datum>> Interpreter::call(Operation *Op, StringRef Callee,
                                             ArrayRef<Datum> Operands) {
  auto Function = Owner.Module.lookupSymbol<func::FuncOp>(Callee);
  if (!Function)
    return errorAt(Op, Error("callee '" + Callee.str() +
                             "': expected a function of that name"));
  return call(Function, Operands);
}

/// `Passed` as a value of `Type`: activations or a weight.
static Result<Datum> inputOf(Type Type, const Tensor2D &Passed) {
  int64_t Rows = Passed.Rows, Columns = Passed.Columns;
  if (auto Packed = dyn_cast<dnn::PackedType>(Type)) {
    Rows = Packed.getCount() * Packed.getOutFeatures();
    Columns = Packed.getInFeatures();
    // Vectors are rows here.
    if (Packed.isVector())
      std::swap(Rows, Columns);
  } else {
    auto Tensor = cast<RankedTensorType>(Type);
    Columns = Tensor.getShape().back();
    if (Tensor.hasStaticShape())
      Rows = Tensor.getNumElements() / Columns;
  }
  if (Passed.Rows != Rows || Passed.Columns != Columns)
    return Error("is " + std::to_string(Passed.Rows) + " x " +
                 std::to_string(Passed.Columns) + ": expected " +
                 std::to_string(Rows) + " x " + std::to_string(Columns));
  Tensor2D Rounded = Passed;
  roundToType(Type, Rounded);
  return Datum(std::make_shared<const Tensor2D>(std::move(Rounded)));
}

Result<SmallVector<Datum>>
Interpreter::arguments(func::FuncOp Function, const EvaluatorInputs &Inputs) {
  SmallVector<Datum> Arguments;
  auto NextTensor = Inputs.Tensors.begin();
  auto NextScope = Inputs.Scopes.begin();
  auto Fail = [&](const std::string &What) {
    return errorAt(
        Function, Error("argument " + std::to_string(Arguments.size()) + What));
  };
  for (Type T : Function.getArgumentTypes()) {
    if (isa<BatchType>(T)) {
      Arguments.push_back(BatchHandle());
    } else if (isa<CacheType>(T)) {
      size_t Number = Owner.cacheNumber(Function, Arguments.size());
      Arguments.push_back(CacheHandle{Number, version(Number)});
    } else if (isa<ScopeType>(T)) {
      if (NextScope == Inputs.Scopes.end())
        return Fail(": expected a scope among the inputs");
      Arguments.push_back(*NextScope++);
    } else if (isa<RankedTensorType, dnn::PackedType>(T)) {
      if (NextTensor == Inputs.Tensors.end())
        return Fail(": expected a tensor among the inputs");
      auto Passed = inputOf(T, *NextTensor++);
      if (!Passed)
        return Fail(" " + Passed.error().message());
      Arguments.push_back(std::move(*Passed));
    } else {
      return Fail(": expected a batch, a cache, a scope, activations or a "
                  "weight");
    }
  }
  if (NextTensor != Inputs.Tensors.end() || NextScope != Inputs.Scopes.end())
    return Fail(": expected no more, got further inputs");
  return Arguments;
}

//===----------------------------------------------------------------------===//
// One operation
//===----------------------------------------------------------------------===//

/// Whether an operation is given `Operand`, which is no destination.
static bool isGiven(Value Operand) {
  if (isa<dnn::PackedType>(Operand.getType()))
    return isa<BlockArgument>(Operand);
  return isa<RankedTensorType>(Operand.getType()) &&
         !Operand.getDefiningOp<ParameterOp>();
}

/// Makes `V`, a handle, a weight or a destination, known to `F`.
static Status define(Value V, Frame &F) {
  if (F.has(V))
    return {};
  if (isa<CacheType>(V.getType())) {
    // The newest handle, through whatever took an earlier one.
    Operation *Taker = V.getDefiningOp();
    OpOperand *Before = Taker ? cacheOperandOf(Taker) : nullptr;
    if (!Before)
      return Error("operand: expected a cache that is an argument");
    if (Status S = define(Before->get(), F); !S)
      return S;
    F.bind(V, F[Before->get()]);
    return {};
  }
  Operation *Op = V.getDefiningOp();
  if (!Op || llvm::any_of(Op->getOperands(), isGiven))
    return Error("operand: expected a handle, or an input for it");
  for (Value Operand : Op->getOperands())
    if (Status S = define(Operand, F); !S)
      return S;
  return evaluateAny(Op, F);
}

Result<std::vector<Tensor2D>>
Interpreter::evaluate(Operation *Op, const EvaluatorInputs &Inputs) {
  auto Function = Op->getParentOfType<func::FuncOp>();
  Frame F(*this,
          Inputs.Scopes.empty() ? EvaluatorScope() : Inputs.Scopes.front());
  size_t NextScope = 0;
  for (BlockArgument Argument : Function.getArguments()) {
    if (isa<BatchType>(Argument.getType())) {
      F.bind(Argument, BatchHandle());
    } else if (isa<CacheType>(Argument.getType())) {
      size_t Number = Owner.cacheNumber(Function, Argument.getArgNumber());
      F.bind(Argument, CacheHandle{Number, version(Number)});
    } else if (isa<ScopeType>(Argument.getType()) &&
               NextScope < Inputs.Scopes.size()) {
      F.bind(Argument, Inputs.Scopes[NextScope++]);
    }
  }

  auto Dps = dyn_cast<DestinationStyleOpInterface>(Op);
  size_t NextTensor = 0;
  for (OpOperand &Operand : Op->getOpOperands()) {
    auto Fail = [&](const Error &E) {
      return errorAt(Op,
                     E.withContext("operand " +
                                   std::to_string(Operand.getOperandNumber())));
    };
    Value V = Operand.get();
    bool IsDestination = Dps && Dps.isDpsInit(&Operand);
    // A destination that something else has written only gives its place.
    if (IsDestination && !V.getDefiningOp<tensor::EmptyOp>())
      continue;
    if (IsDestination || !isGiven(V)) {
      if (Status S = define(V, F); !S)
        return Fail(S.error());
      continue;
    }
    if (NextTensor == Inputs.Tensors.size())
      return Fail(Error("expected a tensor among the inputs"));
    auto Passed = inputOf(V.getType(), Inputs.Tensors[NextTensor++]);
    if (!Passed)
      return Fail(Passed.error());
    F.bind(V, std::move(*Passed));
  }
  if (NextTensor != Inputs.Tensors.size())
    return errorAt(Op, Error("expected " + std::to_string(NextTensor) +
                             " inputs, got " +
                             std::to_string(Inputs.Tensors.size())));
  if (Status S = evaluateAny(Op, F); !S)
    return isCall(Op) ? S.error() : errorAt(Op, S.error());
  std::vector<Tensor2D> Results;
  for (Value Result : Op->getResults())
    if (isa<RankedTensorType>(Result.getType()))
      Results.push_back(F.tensor(Result));
  return Results;
}
