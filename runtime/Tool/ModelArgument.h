//===- ModelArgument.h - Artifacts and models as arguments ------*- C++ -*-===//
//
// Commands that run an artifact take a model too, which is compiled first, or
// was before.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TOOL_MODELARGUMENT_H
#define TENON_RUNTIME_TOOL_MODELARGUMENT_H

#include "runtime/ModelCache/Settings.h"
#include "runtime/Support/InputFile.h"
#include "runtime/Support/Progress.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace tenon::tool {

/// How a model is compiled; of an artifact nothing may be given.
struct ModelOptions {
  bool NoCache = false;
  ProgressForm Progress = ProgressForm::Terminal;
  /// Values of modelcache::AllSettings; the default where none is given.
  std::array<std::optional<std::string>, modelcache::AllSettings.size()> Values;

  /// The same for another model of the command: none of the settings.
  ModelOptions withoutSettings() const { return {NoCache, Progress, {}}; }
};

/// What was given in place of an artifact, as a file that can be run.
class ModelArgument {
public:
  /// Finds, or compiles, the artifact for `Path`. Progress and notes go to
  /// standard error.
  static Result<ModelArgument> open(const std::string &Path,
                                    const ModelOptions &Options);

  /// The artifact, while this lives.
  const std::string &artifact() const { return Artifact; }
  /// What no output may replace: the files of the model.
  const std::vector<std::string> &files() const { return Files; }

  /// An error that names the artifact as one that names what was given.
  Status named(const Status &Done) const;

private:
  std::string Given, Artifact;
  std::vector<std::string> Files;
  FileDescriptor Unnamed; ///< Of --no-cache.
};

} // namespace tenon::tool

#endif // TENON_RUNTIME_TOOL_MODELARGUMENT_H
