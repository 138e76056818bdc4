//===- Memory.h - Large working memory --------------------------*- C++ -*-===//
//
// Working memory straight from the operating system: reserved at once, taken
// from the machine when first touched, page-aligned, from 2 MiB on in huge
// pages if the machine has them.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_ENGINE_MEMORY_H
#define TENON_RUNTIME_ENGINE_MEMORY_H

#include "runtime/Support/Result.h"

#include <cstddef>
#include <cstdint>

namespace tenon::engine {

/// Zeroed memory, unmapped on destruction.
class WorkingMemory {
public:
  WorkingMemory() = default;
  /// `What` names the memory in errors.
  static Result<WorkingMemory> reserve(uint64_t Bytes, const char *What);

  WorkingMemory(WorkingMemory &&Other) noexcept;
  WorkingMemory &operator=(WorkingMemory &&Other) noexcept;
  ~WorkingMemory();

  std::byte *data() const { return Data; }
  uint64_t size() const { return Size; }

private:
  std::byte *Data = nullptr;
  uint64_t Size = 0;
};

/// Bytes of memory that this process may use: the machine's, or the limit of
/// its control group where that is lower.
uint64_t machineMemory();

} // namespace tenon::engine

#endif // TENON_RUNTIME_ENGINE_MEMORY_H
