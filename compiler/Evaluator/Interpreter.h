//===- Interpreter.h - Values of one run of the evaluator -------*- C++ -*-===//
//
// What the overloads of evaluateOp see: one function's values by a Frame, the
// batch, caches and calls by the Interpreter behind it.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_EVALUATOR_INTERPRETER_H
#define TENON_COMPILER_EVALUATOR_INTERPRETER_H

#include "compiler/Evaluator/Evaluator.h"
#include "dialects/Dnn/Dnn.h"

#include "llvm/ADT/DenseMap.h"

#include <memory>
#include <variant>

namespace tenon {

/// A cache handle: appends of the transformer dialect count the versions of a
/// cache up, in the dnn dialect handles stay.
struct CacheHandle {
  size_t Number;
  int64_t Version;
};
struct BatchHandle {};

/// What a value is; verification has made sure that its type says which.
using Datum = std::variant<BatchHandle, std::shared_ptr<const Tensor2D>,
                           EvaluatorScope, CacheHandle, int64_t>;

/// One run: of an entry, a function or an operation.
class Interpreter {
public:
  Interpreter(Evaluator &Owner, const EvaluatorBatch &Batch)
      : Owner(Owner), Batch(Batch) {}

  /// Runs `Function`; `Arguments` are one per argument.
  Result<llvm::SmallVector<Datum>> call(mlir::func::FuncOp Function,
                                        llvm::ArrayRef<Datum> Arguments);
  /// Finds what `Callee` names, from a call `Op` with `Operands`.
  Result<llvm::SmallVector<Datum>> call(mlir::Operation *Op,
                                        llvm::StringRef Callee,
                                        llvm::ArrayRef<Datum> Operands);
  /// The arguments of `Function`, of which `Inputs` has those that neither the
  /// batch nor the caches are.
  Result<llvm::SmallVector<Datum>> arguments(mlir::func::FuncOp Function,
                                             const EvaluatorInputs &Inputs);
  /// Runs `Op` alone.
  Result<std::vector<Tensor2D>> evaluate(mlir::Operation *Op,
                                         const EvaluatorInputs &Inputs);

private:
  friend class Frame;

  /// The newest version of a cache.
  int64_t &version(size_t Number);

  Evaluator &Owner;
  const EvaluatorBatch &Batch;
  std::vector<int64_t> Versions;
  int Depth = 0;
};

/// The values of one run of a function.
class Frame {
public:
  Frame(Interpreter &Run, EvaluatorScope Scope)
      : Run(Run), Scope(std::move(Scope)) {}

  const EvaluatorBatch &batch() const { return Run.Batch; }
  Interpreter &interpreter() { return Run; }

  // Operands.
  bool has(mlir::Value V) const { return Values.contains(V); }
  const Datum &operator[](mlir::Value V) const {
    return Values.find(V)->second;
  }
  llvm::SmallVector<Datum> operator[](mlir::ValueRange Range) const;
  /// Activations or a weight.
  const Tensor2D &tensor(mlir::Value V) const {
    return **std::get_if<std::shared_ptr<const Tensor2D>>(&(*this)[V]);
  }
  /// Null for an absent operand.
  const Tensor2D *optional(mlir::Value V) const {
    return V ? &tensor(V) : nullptr;
  }
  std::vector<const Tensor2D *> tensors(mlir::ValueRange Range) const;
  const EvaluatorScope &scope(mlir::Value V) const {
    return *std::get_if<EvaluatorScope>(&(*this)[V]);
  }
  /// The newest cache that `Cache` is a handle of, and the layer of `Scope`.
  struct CacheLayer {
    KeyValueCache *Cache;
    int64_t Layer;
    CacheHandle Taken;
  };
  Result<CacheLayer> cacheLayer(mlir::Value Cache, mlir::Value Scope) const;
  /// The handle after an append.
  CacheHandle next(CacheHandle Taken) {
    return {Taken.Number, ++Run.version(Taken.Number)};
  }
  /// The elements of a parameter of `Scope`; those of a quantised `Format` as
  /// it stores them.
  Result<std::vector<float>> parameter(const EvaluatorScope &Scope,
                                       llvm::StringRef Key,
                                       llvm::ArrayRef<int64_t> Shape,
                                       StorageFormat Format = {}) const;

  // Results.
  /// A handle, a weight or what a call answers.
  void bind(mlir::Value V, Datum Value) { Values[V] = std::move(Value); }
  void bind(mlir::Value V, Tensor2D Value) {
    Values[V] = std::make_shared<const Tensor2D>(std::move(Value));
  }
  /// Result `Index` of a computation: rounds it to its type and tells the
  /// observer.
  Status set(mlir::Operation *Op, unsigned Index, Tensor2D Value);
  Status set(mlir::Operation *Op, Tensor2D Value) {
    return set(Op, 0, std::move(Value));
  }
  Status set(mlir::Operation *Op, Result<Tensor2D> Value) {
    return Value ? set(Op, 0, std::move(*Value)) : Status(Value.error());
  }

private:
  Interpreter &Run;
  EvaluatorScope Scope;
  llvm::DenseMap<mlir::Value, Datum> Values;
};

/// Rounds `Value` as elements of activations, a parameter or a packed weight of
/// `Type` are stored.
void roundToType(mlir::Type Type, Tensor2D &Value);

/// Runs one operation on values of `F` and sets its results there.
Status evaluateAny(mlir::Operation *Op, Frame &F);
/// The same for one of the transformer or of the dnn dialect.
Status evaluateTransformer(mlir::Operation *Op, Frame &F);
Status evaluateDnn(mlir::Operation *Op, Frame &F);

/// `E` with the op's place and name before it.
Error errorAt(mlir::Operation *Op, const Error &E);

} // namespace tenon

#endif // TENON_COMPILER_EVALUATOR_INTERPRETER_H
