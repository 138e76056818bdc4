//===- NativeProgram.h - A placed module, compiled in memory ----*- C++ -*-===//
//
// Runs what the compiler makes of a placed module without an artifact, on the
// evaluator's batches, and shows on the way what operations compute or what
// weights are multiplied with.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_NATIVE_NATIVEPROGRAM_H
#define TENON_COMPILER_NATIVE_NATIVEPROGRAM_H

#include "compiler/Checkpoint/Checkpoint.h"
#include "compiler/Evaluator/Batch.h"
#include "compiler/Native/RunStages.h"
#include "passes/Packing/WeightTables.h"

#include <functional>
#include <map>
#include <memory>

namespace tenon {

/// Weights as an artifact has them, packed when they are first asked for and
/// shared by programs.
class PackedWeights {
public:
  /// `Source` outlives this.
  explicit PackedWeights(const Checkpoint &Source) : Source(Source) {}

  /// The bytes of `Weight`, aligned as in an artifact.
  Result<const void *> bytesOf(const PackedWeight &Weight);

private:
  struct Release {
    void operator()(std::byte *Bytes) const;
  };
  const Checkpoint &Source;
  std::map<std::string, std::unique_ptr<std::byte, Release>> Packed;
};

/// What a program shows while it runs.
enum class Observed {
  Nothing,
  /// Results of operations, to `NativeProgram::observe`.
  Results,
  /// Rows that weights are multiplied with, to `NativeProgram::observeInputs`.
  Inputs
};

struct NativeOptions {
  StageSettings Settings;
  /// Buffers may share bytes of the arena, as plan-memory decides. Without,
  /// every buffer has bytes of its own and twice what it needs.
  bool SharedBuffers = true;
  Observed Shown = Observed::Nothing;
  /// 0 means one per core this process may run on.
  int64_t Threads = 1;
  /// Positions that the caches hold of each sequence.
  int64_t MaxPositions = 256;
  /// Sequences there may be.
  int64_t MaxSequences = 8;
};

/// The operations of `Placed` that pass destinations, in the order that
/// NativeProgram numbers them in.
llvm::SmallVector<mlir::Operation *> computationsOf(mlir::ModuleOp Placed);

/// A placed module as native code.
class NativeProgram {
public:
  /// Compiles a copy of `Placed`. `Weights` outlives the program.
  static Result<NativeProgram> compile(mlir::ModuleOp Placed,
                                       PackedWeights &Weights,
                                       const NativeOptions &Options);
  NativeProgram(NativeProgram &&) noexcept;
  NativeProgram &operator=(NativeProgram &&) noexcept;
  ~NativeProgram();

  /// Runs the entry of `Role` and answers its rows, as Evaluator::run does.
  /// Caches persist between runs.
  Result<Tensor2D> run(llvm::StringRef Role, const EvaluatorBatch &Batch);

  /// Told of result `Result` of operation `Number`, each time it has run.
  using Observer =
      std::function<void(size_t Number, unsigned Result, Tensor2D Value)>;
  void observe(Observer Told);

  /// Told, before a matmul runs, of the rows of input that a weight in panels
  /// is multiplied with: of a stack, those of matrix `Matrix`, if there are
  /// any. A weight may consist of several tensors.
  using InputObserver = std::function<void(
      const PackedWeight &Weight, int64_t Matrix, const Tensor2D &Rows)>;
  void observeInputs(InputObserver Told);

private:
  struct Implementation;
  explicit NativeProgram(std::unique_ptr<Implementation> Impl);
  std::unique_ptr<Implementation> Impl;
};

} // namespace tenon

#endif // TENON_COMPILER_NATIVE_NATIVEPROGRAM_H
