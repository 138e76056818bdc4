//===- Evaluator.h - Running IR without compiling it ------------*- C++ -*-===//
//
// The oracle: interprets modules of the transformer dialect, model or fused,
// and placed ones, the dnn dialect on tensors, with the functions of
// Operations.h.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_EVALUATOR_EVALUATOR_H
#define TENON_COMPILER_EVALUATOR_EVALUATOR_H

#include "compiler/Checkpoint/Checkpoint.h"
#include "compiler/Evaluator/Batch.h"
#include "compiler/Evaluator/KeyValueCache.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <functional>

namespace tenon {

/// The row-major elements of the parameter called `Name` (scope and key), or
/// why there are none. The first dimension of `Shape` may be dynamic: so many
/// rows as there are. Of a quantised `Format`, the values that it stores.
using ParameterProvider = std::function<Result<std::vector<float>>(
    llvm::StringRef Name, llvm::ArrayRef<int64_t> Shape, StorageFormat Format)>;

/// Provides the tensors of `Weights`, which must outlive the provider.
ParameterProvider checkpointParameters(const Checkpoint &Weights);

/// What a scope says: the prefix of parameter names and the layer of caches.
struct EvaluatorScope {
  std::string Name;
  std::optional<int64_t> Layer;
};

/// What a function or an operation is given besides the batch and the caches.
struct EvaluatorInputs {
  /// Of a function: its arguments that are activations or weights, in order.
  /// Of an operation: its operands that are activations, in order, without
  /// destinations. Rounded to their type or storage format.
  std::vector<Tensor2D> Tensors;
  /// Arguments of the function that are scopes, in order.
  std::vector<EvaluatorScope> Scopes;
};

/// An operation that computed a result.
struct EvaluatorEvent {
  mlir::Operation *Op;
  /// Which of the operation's results.
  unsigned Result;
  /// The scope that its function was called with, such as that of a layer;
  /// without a name when it has none.
  const EvaluatorScope &Scope;
};

/// Told of every result that is activations, in the order of evaluation;
/// handles, weights and results of calls are not. What it leaves in `Value` is
/// what users of the result get, so that a tool may go on with other numbers.
using EvaluatorObserver =
    std::function<void(const EvaluatorEvent &Event, Tensor2D &Value)>;

/// Evaluates the entries of a module, its functions or single operations. Its
/// caches persist between steps.
///
/// Results are rounded as a kernel's store rounds them: to the type of their
/// destination, ties to even. Sums are in double. Parameters are rounded to the
/// type or format that they are stored in, keys and values to the cache's. The
/// state and the partials that attention leaves are scratch, and no numbers
/// here.
class Evaluator {
public:
  /// `Module` has passed verification and outlives the evaluator.
  Evaluator(mlir::ModuleOp Module, ParameterProvider Parameters);

  /// Runs the entry of `Role` and answers its rows: one per output row, token
  /// or sequence, as the entry's output asks. An error names the op and its
  /// place; caches may then hold part of the step.
  Result<Tensor2D> run(llvm::StringRef Role, const EvaluatorBatch &Batch);

  /// Runs one function of the module and answers its results that are
  /// activations. Its n-th argument of one cache type is the n-th such cache.
  Result<std::vector<Tensor2D>> call(mlir::func::FuncOp Function,
                                     const EvaluatorBatch &Batch,
                                     const EvaluatorInputs &Inputs = {});

  /// Runs one operation of the module, with what its scopes, weights, tables
  /// and destinations are made of, and answers its results that are
  /// activations. `Inputs.Scopes` are arguments of its function.
  Result<std::vector<Tensor2D>> evaluate(mlir::Operation *Op,
                                         const EvaluatorBatch &Batch,
                                         const EvaluatorInputs &Inputs);

  /// Tells `Observer` of what runs from now on; null for nobody.
  void observe(EvaluatorObserver Observer) {
    this->Observer = std::move(Observer);
  }

  /// The cache that is argument `Argument` of `Function`.
  KeyValueCache &cache(mlir::func::FuncOp Function, unsigned Argument);

  /// Drops what the caches hold of a sequence, its source text included: to be
  /// called before another text is encoded under its number.
  void forget(int64_t Sequence);

private:
  friend class Frame;
  friend class Interpreter;

  /// A cache and its type. Those of entries come first, by CacheNumbering.
  struct TypedCache {
    transformer::CacheType Type;
    KeyValueCache Cache;
  };
  size_t addCache(transformer::CacheType Type);
  size_t cacheNumber(mlir::func::FuncOp Function, unsigned Argument);

  mlir::ModuleOp Module;
  ParameterProvider Parameters;
  EvaluatorObserver Observer;
  std::vector<TypedCache> Caches;
};

} // namespace tenon

#endif // TENON_COMPILER_EVALUATOR_EVALUATOR_H
