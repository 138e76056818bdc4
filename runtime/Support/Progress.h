//===- Progress.h - How the progress of compiling is told -------*- C++ -*-===//

#ifndef TENON_RUNTIME_SUPPORT_PROGRESS_H
#define TENON_RUNTIME_SUPPORT_PROGRESS_H

#include "runtime/Support/Json.h"

#include <optional>
#include <string>

namespace tenon {

/// On standard error.
enum class ProgressForm {
  None,
  Terminal, ///< One line that is overwritten, where stderr is a terminal.
  Json      ///< Lines of progressJson().
};

/// {"progress": {"phase": TEXT, "share": 0 to 1, or null where it is not
/// known}} and a line end.
inline std::string progressJson(const std::string &Phase,
                                std::optional<double> Share) {
  Json Now = {{"phase", Phase}, {"share", Share ? Json(*Share) : Json()}};
  return Json{{"progress", Now}}.dump() + "\n";
}

} // namespace tenon

#endif // TENON_RUNTIME_SUPPORT_PROGRESS_H
