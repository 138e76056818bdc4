//===- Thread.cpp - Threads that may not start ----------------------------===//

#include "runtime/Support/Thread.h"

#include <system_error>

using namespace tenon;

Result<std::thread> tenon::startThread(std::function<void()> Body) {
  try {
    return std::thread(std::move(Body));
  } catch (const std::system_error &Failure) {
    return Error(ErrorKind::OutOfMemory,
                 std::string("cannot start a thread: ") + Failure.what());
  }
}
