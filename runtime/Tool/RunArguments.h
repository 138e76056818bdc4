//===- RunArguments.h - The options of tenon run ----------------*- C++ -*-===//

#ifndef TENON_RUNTIME_TOOL_RUNARGUMENTS_H
#define TENON_RUNTIME_TOOL_RUNARGUMENTS_H

#include "runtime/Tool/Commands.h"

#include <CLI/CLI.hpp>

namespace tenon::tool {

/// Makes `App` parse its options into `Run`, which must outlive it.
void addRunOptions(CLI::App &App, RunOptions &Run);

} // namespace tenon::tool

#endif // TENON_RUNTIME_TOOL_RUNARGUMENTS_H
