//===- NativeProgram.h - A placed module, compiled in memory ----*- C++ -*-===//
//
// Runs what the compiler makes of a placed module without an artifact, on the
// evaluator's batches, and shows the result of every operation on the way.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_BISECT_NATIVEPROGRAM_H
#define TENON_COMPILER_BISECT_NATIVEPROGRAM_H

#include "compiler/Checkpoint/Checkpoint.h"
#include "compiler/Evaluator/Batch.h"
#include "passes/Packing/WeightTables.h"
#include "passes/Pipelines/Pipelines.h"
#include "runtime/Abi/CpuLevel.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <map>
#include <memory>

namespace tenon::bisect {

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

/// Told of every pass that ran on `Module`; may change it.
using AfterPass =
    std::function<void(llvm::StringRef Pass, mlir::ModuleOp Module)>;

/// What the stages are told.
struct StageSettings {
  CpuLevel Level = CpuLevel::AVX2;
  int64_t FewTokens = 8;
  int64_t MaxTokens = 512;
  std::vector<std::string> Disabled;
  AfterPass After;

  bool disables(llvm::StringRef Pass) const {
    return llvm::is_contained(Disabled, Pass);
  }
};

/// Runs the passes of the stages from `First` to `Last` but those that are
/// left out, one by one. An error names the pass, with its first diagnostic.
/// `Ran` is told of each after `Settings.After`; false ends the run.
Status runStages(
    mlir::ModuleOp Module, const StageSettings &Settings, StageId First,
    StageId Last,
    const std::function<Result<bool>(const Stage &, llvm::StringRef)> &Ran =
        nullptr);

struct NativeOptions {
  StageSettings Settings;
  /// Buffers may share bytes of the arena, as plan-memory decides. Without,
  /// every buffer has bytes of its own and twice what it needs.
  bool SharedBuffers = true;
  /// Report the results of operations to `NativeProgram::observe`.
  bool Observed = false;
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

private:
  struct Implementation;
  explicit NativeProgram(std::unique_ptr<Implementation> Impl);
  std::unique_ptr<Implementation> Impl;
};

} // namespace tenon::bisect

#endif // TENON_COMPILER_BISECT_NATIVEPROGRAM_H
