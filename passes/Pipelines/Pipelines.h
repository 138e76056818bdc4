//===- Pipelines.h - The stages of compilation ------------------*- C++ -*-===//
//
// The one pipeline, stage by stage. The same table feeds tenon-compile's
// --emit and --until-after, tenon-opt, the dump directory and docs/stages.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PIPELINES_PIPELINES_H
#define TENON_PASSES_PIPELINES_PIPELINES_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

#include <string>

namespace tenon {

/// What the stages are told. No pass reads anything else.
struct PipelineOptions {
  /// Name of the CPU level that code is generated for.
  std::string Level = "avx2";
  /// Steps of at most this many tokens run `.few` code.
  int64_t FewTokens = 8;
  /// Most tokens of one step; sizes the arena.
  int64_t MaxTokens = 512;
};

/// One stage of the pipeline.
struct Stage {
  /// The value of --emit and --until-after.
  llvm::StringLiteral Name;
  /// What holds when the stage has ended.
  llvm::StringLiteral Holds;
  /// Dialects that are alive while the stage runs.
  llvm::StringLiteral Alive;
  /// Adds the stage's passes, the last of which verifies what holds.
  void (*Populate)(mlir::OpPassManager &, const PipelineOptions &);
};

/// All stages in order: model, fused, placed, buffers, llvm.
llvm::ArrayRef<Stage> stages();

/// Every dialect that the pipeline uses, with the interfaces it needs.
void registerDialects(mlir::DialectRegistry &Registry);

/// Every pass of the project, and each stage as a pipeline `stage-NAME`.
void registerPasses();

} // namespace tenon

#endif // TENON_PASSES_PIPELINES_PIPELINES_H
