//===- Tools.h - The tools that a model may call ----------------*- C++ -*-===//

#ifndef TENON_RUNTIME_TOOLCALLS_TOOLS_H
#define TENON_RUNTIME_TOOLCALLS_TOOLS_H

#include "runtime/Support/Json.h"

namespace tenon::tools {

/// An error for the first of the array `Tools`, in the form of chat
/// completions, that is no function; it names it as "tools[N]".
Status checkTools(const Json &Tools);

} // namespace tenon::tools

#endif // TENON_RUNTIME_TOOLCALLS_TOOLS_H
