//===- Evaluator.cpp - Running IR without compiling it --------------------===//

#include "compiler/Evaluator/Evaluator.h"

#include "compiler/Checkpoint/TensorView.h"
#include "compiler/Evaluator/Interpreter.h"
#include "dialects/Transformer/CacheNumbering.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

ParameterProvider tenon::checkpointParameters(const Checkpoint &Weights) {
  return [&Weights](StringRef Name, ArrayRef<int64_t> Shape,
                    StorageFormat Format) -> Result<std::vector<float>> {
    auto Expression = std::string_view(Name);
    auto View =
        ShapedType::isDynamicShape(Shape)
            ? TensorView::resolveMatrix(Weights, Expression, std::nullopt,
                                        Shape.size() == 1 ? 1 : Shape.back())
            : TensorView::resolve(Weights, Expression,
                                  std::span(Shape.data(), Shape.size()));
    if (!View)
      return View.error();
    std::vector<float> Values(
        static_cast<size_t>(View->rows() * View->columns()));
    Status Read =
        infoOf(Format).isQuantised()
            ? View->readRowsQuantised(Format, 0, View->rows(), Values.data())
            : View->readRowsAsFloat(0, View->rows(), Values.data());
    if (!Read)
      return Read.error();
    return Values;
  };
}

//===----------------------------------------------------------------------===//
// Caches
//===----------------------------------------------------------------------===//

Evaluator::Evaluator(ModuleOp Module, ParameterProvider Parameters)
    : Module(Module), Parameters(std::move(Parameters)) {
  CacheNumbering Numbering(Module);
  for (CacheType Cache : Numbering.types())
    addCache(Cache);
}

size_t Evaluator::addCache(CacheType Type) {
  int64_t Width = Type.getKvHeads() * Type.getHeadDim();
  Caches.push_back({Type, KeyValueCache(Width, Type.isLatent() ? 0 : Width,
                                        Type.getFormat(), Type.getHeadDim())});
  return Caches.size() - 1;
}

size_t Evaluator::cacheNumber(func::FuncOp Function, unsigned Argument) {
  ArrayRef<Type> Types = Function.getArgumentTypes();
  auto Type = cast<CacheType>(Types[Argument]);
  auto Earlier = llvm::count(Types.take_front(Argument), Type);
  for (size_t Number = 0; Number < Caches.size(); ++Number)
    if (Caches[Number].Type == Type && Earlier-- == 0)
      return Number;
  // No entry has it: this function has been called by itself.
  while (Earlier-- > 0)
    addCache(Type);
  return addCache(Type);
}

KeyValueCache &Evaluator::cache(func::FuncOp Function, unsigned Argument) {
  return Caches[cacheNumber(Function, Argument)].Cache;
}

void Evaluator::forget(int64_t Sequence) {
  for (TypedCache &Cache : Caches)
    Cache.Cache.forget(Sequence);
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

static std::optional<int64_t> countOf(Operation *Op, StringRef Name) {
  auto Count = Op->getAttrOfType<IntegerAttr>(Name);
  return Count ? std::optional(Count.getInt()) : std::nullopt;
}

Result<Tensor2D> Evaluator::run(StringRef Role, const EvaluatorBatch &Batch) {
  for (auto Function : Module.getOps<func::FuncOp>()) {
    auto Has = Function->getAttrOfType<StringAttr>(attr::Role);
    if (!Has || Has.getValue() != Role)
      continue;
    std::optional<int64_t> Limit = countOf(Module, attr::MaxSequence);
    if (std::optional<int64_t> Source = countOf(Module, attr::MaxSource);
        Source && Role != "step")
      Limit = Source;
    if (std::optional<int64_t> Own = countOf(Function, attr::MaxSequence))
      Limit = Own;
    if (Status S = Batch.check(Limit); !S)
      return S.error();
    auto Results = call(Function, Batch);
    if (!Results)
      return Results.error();
    if (Results->empty())
      return errorAt(Function, Error("results: expected rows among them"));
    return std::move(Results->front());
  }
  return Error("module: role '" + Role.str() +
               "': expected a function that has it");
}

Result<std::vector<Tensor2D>> Evaluator::call(func::FuncOp Function,
                                              const EvaluatorBatch &Batch,
                                              const EvaluatorInputs &Inputs) {
  if (Status S = Batch.check(std::nullopt); !S)
    return S.error();
  Interpreter Run(*this, Batch);
  auto Arguments = Run.arguments(Function, Inputs);
  if (!Arguments)
    return Arguments.error();
  auto Results = Run.call(Function, *Arguments);
  if (!Results)
    return Results.error();
  std::vector<Tensor2D> Rows;
  for (const Datum &Value : *Results)
    if (auto *Tensor = std::get_if<std::shared_ptr<const Tensor2D>>(&Value))
      Rows.push_back(**Tensor);
  return Rows;
}

Result<std::vector<Tensor2D>>
Evaluator::evaluate(Operation *Op, const EvaluatorBatch &Batch,
                    const EvaluatorInputs &Inputs) {
  if (Status S = Batch.check(std::nullopt); !S)
    return S.error();
  return Interpreter(*this, Batch).evaluate(Op, Inputs);
}
