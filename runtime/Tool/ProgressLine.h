//===- ProgressLine.h - How far a long command is ---------------*- C++ -*-===//

#ifndef TENON_RUNTIME_TOOL_PROGRESSLINE_H
#define TENON_RUNTIME_TOOL_PROGRESSLINE_H

#include "runtime/Tool/StatusLine.h"

#include <cstddef>
#include <optional>

namespace tenon::tool {

/// Counts, rates and the time that is left, on a terminal:
/// "embedding: 12 texts, 3.1 texts/s, 210 tokens/s, 40 %, 0:18 left".
class ProgressLine {
public:
  ProgressLine(std::string Doing, std::string Things);

  /// So many more things and tokens are done.
  void add(size_t MoreThings, size_t MoreTokens) {
    Things += MoreThings;
    Tokens += MoreTokens;
  }
  /// Shows them, ten times a second at most. `Share` of all is done, where that
  /// is known.
  void show(std::optional<double> Share);
  /// Makes room for output on the same terminal.
  void clear();

private:
  StatusLine Line;
  std::string Doing, Name;
  size_t Things = 0, Tokens = 0;
  double Begin, Next = 0;
};

} // namespace tenon::tool

#endif // TENON_RUNTIME_TOOL_PROGRESSLINE_H
