//===- ProcessInfo.h - What this process has used ---------------*- C++ -*-===//

#ifndef TENON_RUNTIME_TOOL_PROCESSINFO_H
#define TENON_RUNTIME_TOOL_PROCESSINFO_H

namespace tenon::tool {

/// Seconds since this process was started, the dynamic linker's work
/// included; to 10 ms.
double secondsSinceStart();

/// Largest resident memory so far in MiB, mapped files included.
double peakResidentMegabytes();

} // namespace tenon::tool

#endif // TENON_RUNTIME_TOOL_PROCESSINFO_H
