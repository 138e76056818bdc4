//===- Evaluator.h - Running a model graph without compiling it -*- C++ -*-===//
//
// The oracle: interprets a module of the transformer dialect, model or fused
// ops, with the functions of Operations.h.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_EVALUATOR_EVALUATOR_H
#define TENON_COMPILER_EVALUATOR_EVALUATOR_H

#include "compiler/Checkpoint/Checkpoint.h"
#include "compiler/Evaluator/KeyValueCache.h"
#include "compiler/Evaluator/Tensor2D.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>

namespace tenon {

/// The row-major elements of the parameter called `Name` (scope and key), or
/// why there are none.
using ParameterProvider = std::function<Result<std::vector<float>>(
    llvm::StringRef Name, llvm::ArrayRef<int64_t> Shape)>;

/// Provides the tensors of `Weights`, which must outlive the provider.
ParameterProvider checkpointParameters(const Checkpoint &Weights);

/// Evaluates the entries of a module. Its caches persist between steps.
class Evaluator {
public:
  /// `Module` has passed verification and outlives the evaluator.
  Evaluator(mlir::ModuleOp Module, ParameterProvider Parameters)
      : Module(Module), Parameters(std::move(Parameters)) {}

  /// Runs the entry of `Role` and answers its rows: one per wanted row, token
  /// or sequence, as the entry's output asks. Parameters are rounded to the
  /// type that they are kept in, keys and values to the cache's. An error names
  /// the op and its location; caches may then hold part of the step.
  Result<Tensor2D> run(llvm::StringRef Role, const EvaluatorBatch &Batch);

  /// Drops what the caches hold of a sequence, its source text included: to be
  /// called before another text is encoded under its number.
  void forget(int64_t Sequence);

private:
  friend class Interpreter;

  mlir::ModuleOp Module;
  ParameterProvider Parameters;
  /// By the numbers of CacheNumbering.
  std::vector<KeyValueCache> Caches;
};

} // namespace tenon

#endif // TENON_COMPILER_EVALUATOR_EVALUATOR_H
