//===- Inspect.h - What an artifact holds, for people -----------*- C++ -*-===//
//
// Reports an artifact's model, code, parameters, caches, weights and memory
// plan as text or JSON, without running any of its code.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TOOL_INSPECT_H
#define TENON_RUNTIME_TOOL_INSPECT_H

#include "runtime/Artifact/Artifact.h"

#include <string>

namespace tenon::tool {

struct InspectOptions {
  bool Json = false; ///< One JSON object instead of text.
  /// Read all weights, compare their checksums, and say how much of the file
  /// is in huge pages.
  bool Verify = false;
  bool MemoryPlan = false; ///< In the text: where values lie in the arenas.
  bool Matmuls = false;    ///< In the text: the library's matmuls.
};

/// Appends the report to `Out`. Fails only when verification does. The text
/// has at most 25 lines, whatever the model, without what is asked for.
///
/// Members of the JSON form: those of artifact::describe(), weights_verified,
/// and huge_pages (the share of the file in memory that is in huge pages; null
/// where that is not known, as without Verify).
Status inspectArtifact(const artifact::Artifact &A,
                       const InspectOptions &Options, std::string &Out);

} // namespace tenon::tool

#endif // TENON_RUNTIME_TOOL_INSPECT_H
