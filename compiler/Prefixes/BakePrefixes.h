//===- BakePrefixes.h - Prompts that an artifact has run --------*- C++ -*-===//

#ifndef TENON_COMPILER_PREFIXES_BAKEPREFIXES_H
#define TENON_COMPILER_PREFIXES_BAKEPREFIXES_H

#include "compiler/Artifact/ArtifactWriter.h"
#include "runtime/Support/Json.h"

#include <functional>
#include <string>
#include <vector>

namespace tenon {

/// A line of --prefix.
struct PrefixLine {
  std::string Place; ///< "FILE:LINE".
  Json Value;
};

/// Reads the JSON lines at `Path`, or of standard input for "-": each a string,
/// or an object with "prompt", "token_ids" or "messages" (and "tools"). What
/// needs no model to be found wrong is found now.
Result<std::vector<PrefixLine>> readPrefixLines(const std::string &Path);

/// Runs the prompts of `Lines` on what `Writer` has written so far, an artifact
/// that `M` describes, and stores whole pages of their keys and values in it.
/// Of "messages" it is what all conversations have in common that go on from
/// them. `Report` is told which share of the prompts has run.
Status bakePrefixes(ArtifactWriter &Writer, const Manifest &M,
                    const std::vector<PrefixLine> &Lines,
                    const std::function<void(double)> &Report);

} // namespace tenon

#endif // TENON_COMPILER_PREFIXES_BAKEPREFIXES_H
