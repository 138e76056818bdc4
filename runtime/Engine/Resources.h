//===- Resources.h - What sessions of one process share ---------*- C++ -*-===//

#ifndef TENON_RUNTIME_ENGINE_RESOURCES_H
#define TENON_RUNTIME_ENGINE_RESOURCES_H

#include "runtime/Engine/Executor.h"

#include <atomic>
#include <memory>

namespace tenon::engine {

/// Bytes that sessions may have together, for caches and arenas of the size
/// that they are created with. Weights are mapped files, and outputs small;
/// neither counts. To be used from any thread.
class MemoryBudget {
public:
  explicit MemoryBudget(uint64_t Bytes) : Bytes(Bytes), Left(Bytes) {}

  /// Takes bytes until the answer is destroyed, which keeps the budget. An
  /// error of the kind OutOfMemory where so many are not left.
  static Result<std::shared_ptr<const void>>
  take(std::shared_ptr<MemoryBudget> Budget, uint64_t Wanted);

  uint64_t total() const { return Bytes; }
  uint64_t left() const { return Left.load(std::memory_order_relaxed); }

private:
  const uint64_t Bytes;
  std::atomic<uint64_t> Left;
};

/// Threads and memory of several sessions, of any models.
struct Resources {
  /// Sessions take turns on them, step by step, in the order in which they
  /// asked; null: each has its own.
  std::shared_ptr<Executor> Threads;
  std::shared_ptr<MemoryBudget> Memory; ///< Null: no limit.
};

} // namespace tenon::engine

#endif // TENON_RUNTIME_ENGINE_RESOURCES_H
