//===- Thread.h - Threads that may not start --------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_SUPPORT_THREAD_H
#define TENON_RUNTIME_SUPPORT_THREAD_H

#include "runtime/Support/Result.h"

#include <functional>
#include <thread>

namespace tenon {

/// A thread that runs `Body`. An error of the kind OutOfMemory where the system
/// has no room for one more.
Result<std::thread> startThread(std::function<void()> Body);

} // namespace tenon

#endif // TENON_RUNTIME_SUPPORT_THREAD_H
