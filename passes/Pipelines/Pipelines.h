//===- Pipelines.h - The stages of compilation ------------------*- C++ -*-===//
//
// The one pipeline, stage by stage. The same table feeds tenon-compile's
// --emit, --until-after, --from-stage and --disable-pass, tenon-opt, the dump
// directory, bisection and docs/stages.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PIPELINES_PIPELINES_H
#define TENON_PASSES_PIPELINES_PIPELINES_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <memory>
#include <optional>
#include <string>

namespace tenon {

/// Names of the optional passes, in order.
llvm::SmallVector<std::string> optionalPasses();
/// Names of the CPU levels, ascending.
llvm::SmallVector<std::string> cpuLevelNames();
/// What `quantize-weights` and `set-cache-format` may be asked for.
llvm::SmallVector<std::string> quantizationNames();
llvm::SmallVector<std::string> cacheFormatNames();

/// Reads one of the names that `Choices` gives; refuses others.
template <llvm::SmallVector<std::string> (*Choices)()>
struct ChoiceParser : llvm::cl::parser<std::string> {
  using llvm::cl::parser<std::string>::parser;
  bool parse(llvm::cl::Option &Option, llvm::StringRef, llvm::StringRef Name,
             std::string &Value) {
    llvm::SmallVector<std::string> Known = Choices();
    if (!llvm::is_contained(Known, Name))
      return Option.error("expected one of " + llvm::join(Known, ", ") +
                          ", not '" + Name + "'");
    Value = Name.str();
    return false;
  }
};

/// What the stages are told. No pass reads anything else. Also the options of
/// tenon-opt's --stage-NAME.
struct PipelineOptions : mlir::PassPipelineOptions<PipelineOptions> {
  Option<std::string, ChoiceParser<cpuLevelNames>> Level{
      *this, "level", llvm::cl::desc("CPU level to generate code for"),
      llvm::cl::init("avx2")};
  Option<std::string, ChoiceParser<quantizationNames>> Quantize{
      *this, "quantize",
      llvm::cl::desc("What matrices are quantised to: none, int8 or int4"),
      llvm::cl::init("none")};
  ListOption<std::string> QuantizeExclude{
      *this, "quantize-exclude",
      llvm::cl::desc("Matrices that are not: patterns of their names")};
  Option<std::string, ChoiceParser<cacheFormatNames>> KvCache{
      *this, "kv-cache",
      llvm::cl::desc("What caches store: auto, f32, bf16 or int8"),
      llvm::cl::init("auto")};
  Option<int64_t> FewTokens{
      *this, "few-tokens",
      llvm::cl::desc("Most tokens of a decode-sized batch"), llvm::cl::init(8)};
  Option<int64_t> MaxTokens{
      *this, "max-tokens",
      llvm::cl::desc("Most tokens of a step, which size the arena"),
      llvm::cl::init(512)};
  ListOption<std::string, ChoiceParser<optionalPasses>> Disabled{
      *this, "disable-pass", llvm::cl::desc("Optional passes to leave out")};
};

/// How a pass belongs to its stage.
enum class PassRole {
  /// The stages after it need what it does.
  Required,
  /// Compiled models compute the same without it, slower.
  Optional,
  /// The last of a stage: verifies what holds afterwards.
  Gate
};

/// A pass of a stage.
struct StagePass {
  PassRole Role;
  std::unique_ptr<mlir::Pass> (*Create)(const PipelineOptions &);
};

/// The stages in order.
enum class StageId { Transformer, Fused, Placed, Buffers, Llvm };
inline constexpr size_t StageCount = 5;

/// Whether the compiler verifies the module after every pass, which takes much
/// of its time, or after every stage. tenon-opt always does the former.
#ifdef NDEBUG
inline constexpr bool VerifiesEachPass = false;
#else
inline constexpr bool VerifiesEachPass = true;
#endif

/// One stage of the pipeline.
struct Stage {
  StageId Id;
  /// What users call it.
  llvm::StringLiteral Name;
  /// What holds when the stage has ended.
  llvm::StringLiteral Holds;
  /// Dialects of the module when the stage has ended.
  llvm::StringLiteral Alive;
  llvm::ArrayRef<StagePass> Passes;

  /// Adds the stage's passes but those that `Options` disables.
  void populate(mlir::OpPassManager &Manager,
                const PipelineOptions &Options) const;
};

/// All stages in order.
llvm::ArrayRef<Stage> stages();

/// The stage called `Name`.
std::optional<StageId> stageNamed(llvm::StringRef Name);

/// Every dialect that the pipeline uses, with the interfaces it needs.
void registerDialects(mlir::DialectRegistry &Registry);

/// Every pass of the project, and each stage as a pipeline `stage-NAME`.
void registerPasses();

} // namespace tenon

#endif // TENON_PASSES_PIPELINES_PIPELINES_H
