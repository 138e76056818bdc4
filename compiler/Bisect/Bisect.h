//===- Bisect.h - The first pass whose result differs -----------*- C++ -*-===//
//
// Compiles a model pass by pass and compares what it computes with the model
// level: by the evaluator up to `placed`, by running the compiled program
// behind it. Names the pass, the layer and the operation that differ first.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BISECT_BISECT_H
#define TENON_COMPILER_BISECT_BISECT_H

#include "compiler/Native/NativeProgram.h"

#include "mlir/IR/OwningOpRef.h"

#include <optional>
#include <string>
#include <vector>

namespace tenon::bisect {

/// What may differ, relative to the largest magnitude of what is compared.
struct Tolerance {
  /// In f32 sums differ by their order alone.
  static constexpr double F32 = 1e-5;
  /// Of one operation with bf16 among its operands and results, which is given
  /// the same operands: a value may round to its neighbour, 2^-8 away, and
  /// kernels may round what they multiply.
  static constexpr double OneBF16 = 1e-2;
  /// Of a whole model with bf16 in it: passes choose what is rounded.
  static constexpr double ModelBF16 = 5e-2;
  /// Of a whole model, what placement may change where it quantises rows:
  /// outliers leave 8 bits for them and fewer for others of their group.
  static constexpr double ModelGrouped = 2e-1;
};

/// What one operation may differ by; one that quantises what it stores, also by
/// a code.
double toleranceOf(mlir::Operation *Op);

/// The largest difference, relative to the largest magnitude of `Expected`, or
/// to 1e-3 where that is less; infinite when shapes differ or a value is no
/// number in one alone.
double differenceOf(const Tensor2D &Got, const Tensor2D &Expected);

/// One call of an entry.
struct Run {
  std::string Role;
  EvaluatorBatch Batch;
};

/// Runs for every entry of `Model`, on `Ids` or, when there are none, on some
/// that depend on the vocabulary alone: more tokens than `FewTokens` at once,
/// in two sequences, and for decoders one more of each behind them.
Result<std::vector<Run>>
runsFor(mlir::ModuleOp Model, llvm::ArrayRef<int64_t> Ids, int64_t FewTokens);

struct BisectOptions {
  /// Disabled passes are left out of all that is tried.
  StageSettings Settings;
  /// Ids of one sequence; some if empty.
  std::vector<int64_t> TokenIds;
  /// Reference outputs of the first run with output, one row per token of
  /// `TokenIds`.
  std::optional<Tensor2D> Against;
  /// Told what is being done, one line each.
  std::function<void(const std::string &)> Progress;
};

/// What differs first.
struct Difference {
  /// "import", or as --disable-pass calls it; "stage llvm" for what only the
  /// passes of that stage, or LLVM, can have done.
  std::string Pass;
  std::string Stage;
  /// The scope's name, such as that of a layer; empty outside of layers.
  std::string Layer;
  /// "dnn.matmul", and its location; empty when the pass failed.
  std::string Operation, Location;
  /// Relative to the largest magnitude.
  double Error = 0;
  /// In words, what is known beyond that.
  std::string Detail;
  /// Optional passes without which the result is right.
  std::vector<std::string> RightWithout;
};

struct BisectReport {
  std::optional<Difference> First;
  /// Passes after which the model was evaluated, and results of compiled
  /// operations that were compared.
  int64_t Passes = 0, Operations = 0;
};

/// Finds the first difference of `Model`, a module that has passed
/// verification, with these weights. An error when the model cannot be
/// evaluated at all.
Result<BisectReport> bisect(mlir::ModuleOp Model, const Checkpoint &Weights,
                            const BisectOptions &Options);

/// The report for people, lines with ends.
std::string toText(const BisectReport &Report);

} // namespace tenon::bisect

#endif // TENON_COMPILER_BISECT_BISECT_H
