//===- Compile.h - From a model description to an artifact ------*- C++ -*-===//

#ifndef TENON_COMPILER_DRIVER_COMPILE_H
#define TENON_COMPILER_DRIVER_COMPILE_H

#include "compiler/Checkpoint/ElementType.h"
#include "runtime/Abi/CpuLevel.h"
#include "runtime/Support/Progress.h"
#include "runtime/Support/Result.h"

#include <optional>
#include <string>
#include <vector>

namespace tenon {

struct CompileOptions {
  /// A Hugging Face directory or a file in the transformer dialect.
  std::string Model;
  /// The checkpoint of a model in the transformer dialect.
  std::string Weights;
  /// Where the artifact or the text goes; text without one to stdout.
  std::string Output;
  /// A stage's name for its IR, "asm", or "artifact".
  std::string Emit = "artifact";
  /// Stops after this stage and emits its IR, if not empty.
  std::string UntilAfter;
  /// `Model` is a dump of the end of this stage, from which compilation goes on
  /// with the checkpoint `Weights`; a model description if empty.
  std::string FromStage;
  /// Optional passes to leave out.
  std::vector<std::string> DisabledPasses;
  /// Directory for the IR after every pass, if not empty.
  std::string DumpDirectory;
  /// Levels that code is generated for; at least one.
  std::vector<CpuLevel> Levels;
  std::optional<ElementType> MatrixType;
  /// Whether activations may be quantised for products with quantised weights:
  /// "auto" or "exact".
  std::string Activations = "auto";
  /// What matrices are quantised to: "none", "int8" or "int4".
  std::string Quantize = "none";
  /// Patterns of the names of matrices that are not, but stay as they are.
  std::vector<std::string> QuantizeExclude;
  /// A text that the model reads before it is quantised, for second moments of
  /// what matrices are multiplied with; none if empty. As Prefix and ToolFormat
  /// for an artifact alone.
  std::string Calibrate;
  /// Most tokens of it; as many as measured to be enough without one.
  std::optional<int64_t> CalibrateTokens;
  /// JSON lines of prompts whose keys and values the artifact keeps, as this
  /// machine computes them; none if empty.
  std::string Prefix;
  /// How the model writes tool calls: a name of tools::toolFormats(), or
  /// "none"; as its chat template has it if empty.
  std::string ToolFormat;
  /// What caches store: "auto", "f32", "bf16" or "int8".
  std::string KvCache = "auto";
  std::optional<int64_t> MaxSequence;
  /// Keys of config.json to leave out that are refused otherwise.
  std::vector<std::string> IgnoredConfigKeys;
  /// Most tokens of a step; chosen by kind of model without one.
  std::optional<int64_t> MaxTokensPerStep;
  /// Batches of at most this many tokens are decode-sized; chosen by what
  /// products are made of without one.
  std::optional<int64_t> FewTokens;
  /// Print what was and was not fused, placed and packed to stderr.
  bool Remarks = false;
  /// How progress is shown on stderr.
  ProgressForm Progress = ProgressForm::None;
};

/// Compiles. On an error nothing is left under the output's name that was not
/// there before.
Status compile(const CompileOptions &Options);

struct InspectModelOptions {
  /// A directory, a config.json, a GGUF file or a file in the transformer
  /// dialect.
  std::string Model;
  /// Tokens that operations are counted for; by default the longest sequence.
  std::optional<int64_t> Context;
  /// As of CompileOptions.
  std::vector<std::string> IgnoredConfigKeys;
  bool AsJson = false;
};

/// Parameters, operations and cache of a model that is not compiled, as
/// compiling it by default would keep them, as text or JSON. Notes go to
/// stderr.
Result<std::string> inspectModel(const InspectModelOptions &Options);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_COMPILE_H
