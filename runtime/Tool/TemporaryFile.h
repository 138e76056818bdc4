//===- TemporaryFile.h - Files that an interrupt removes --------*- C++ -*-===//
//
// A file that is being written under a temporary name should not stay behind
// when the user interrupts the program.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TOOL_TEMPORARYFILE_H
#define TENON_RUNTIME_TOOL_TEMPORARYFILE_H

#include <string>

namespace tenon::tool {

/// From now on SIGINT, SIGTERM and SIGHUP remove the file at `Path` before
/// they end the process, as they would have without this. One file at a time:
/// the last one given.
void removeOnSignal(const std::string &Path);

/// No file is to be removed any more.
void keepOnSignal();

} // namespace tenon::tool

#endif // TENON_RUNTIME_TOOL_TEMPORARYFILE_H
