//===- Memory.cpp - Large working memory ----------------------------------===//

#include "runtime/Engine/Memory.h"

#include "runtime/Support/HugePages.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

using namespace tenon;
using namespace tenon::engine;

Result<WorkingMemory> WorkingMemory::reserve(uint64_t Bytes, const char *What) {
  WorkingMemory M;
  if (Bytes == 0)
    return M;
  void *Address = mapHuge(Bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
  if (Address == MAP_FAILED)
    return Error(ErrorKind::OutOfMemory,
                 std::string(What) + ": cannot reserve " +
                     std::to_string(Bytes) + " bytes: " + std::strerror(errno));
  M.Data = static_cast<std::byte *>(Address);
  M.Size = Bytes;
  return M;
}

WorkingMemory::WorkingMemory(WorkingMemory &&Other) noexcept
    : Data(std::exchange(Other.Data, nullptr)),
      Size(std::exchange(Other.Size, 0)) {}

WorkingMemory &WorkingMemory::operator=(WorkingMemory &&Other) noexcept {
  std::swap(Data, Other.Data);
  std::swap(Size, Other.Size);
  return *this;
}

WorkingMemory::~WorkingMemory() {
  if (Data)
    ::munmap(Data, Size);
}

uint64_t engine::machineMemory() {
  auto Bytes = static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
               static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  // "max", or no such file, where there is no limit.
  std::ifstream File("/sys/fs/cgroup/memory.max");
  uint64_t Limit = 0;
  if (File >> Limit && Limit != 0)
    Bytes = std::min(Bytes, Limit);
  return Bytes;
}
