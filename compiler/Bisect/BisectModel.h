//===- BisectModel.h - Bisection of a model description ---------*- C++ -*-===//

#ifndef TENON_COMPILER_BISECT_BISECTMODEL_H
#define TENON_COMPILER_BISECT_BISECTMODEL_H

#include "runtime/Abi/CpuLevel.h"
#include "runtime/Support/Result.h"

#include <optional>
#include <string>
#include <vector>

namespace tenon::bisect {

/// What `tenon bisect` is told.
struct BisectModelOptions {
  /// A Hugging Face directory, a GGUF file or one in the transformer dialect.
  std::string Model;
  /// The checkpoint of a model in the transformer dialect.
  std::string Weights;
  /// Ids of one sequence, "1,2,3" or "@FILE.npy"; some without.
  std::optional<std::string> TokenIds;
  /// A .npy file of reference outputs of TokenIds, if not empty.
  std::string Against;
  /// Must run here, as the compiled program does.
  CpuLevel Level = CpuLevel::AVX2;
  /// As `tenon compile` chooses without one.
  std::optional<int64_t> FewTokens;
  std::vector<std::string> DisabledPasses;
  /// Keys of config.json to leave out that are refused otherwise.
  std::vector<std::string> IgnoredConfigKeys;
};

struct BisectAnswer {
  bool Differs = false;
  /// For people, lines with ends.
  std::string Text;
};

/// Imports a model and finds the first difference; see bisect(). On a terminal
/// standard error shows what is being done. Errors: what cannot be read, and a
/// level that does not run here.
Result<BisectAnswer> bisectModel(const BisectModelOptions &Options);

} // namespace tenon::bisect

#endif // TENON_COMPILER_BISECT_BISECTMODEL_H
