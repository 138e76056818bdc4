//===- MappingGuard.h - Mappings whose file goes away -----------*- C++ -*-===//
//
// Reading a mapped page that its file no longer has, or that cannot be read
// from disk, raises SIGBUS, in whichever thread and library the load stands.
// In a guarded mapping such pages read as zeros instead, and the mapping
// remembers it.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_SUPPORT_MAPPINGGUARD_H
#define TENON_RUNTIME_SUPPORT_MAPPINGGUARD_H

#include <cstddef>
#include <utility>

namespace tenon {

/// Guards one read-only mapping as long as it lives.
///
/// The first guard of a process installs a handler of SIGBUS, for good. Signals
/// of other addresses go to the handler that was there before. A handler that
/// the program installs later takes this one's place, unless it hands on what
/// is not its own.
class MappingGuard {
public:
  MappingGuard() = default;
  MappingGuard(const void *Address, size_t Bytes);
  MappingGuard(MappingGuard &&Other) noexcept
      : Taken(std::exchange(Other.Taken, nullptr)) {}
  MappingGuard &operator=(MappingGuard &&Other) noexcept {
    std::swap(Taken, Other.Taken);
    return *this;
  }
  /// Before the mapping is removed.
  ~MappingGuard();

  /// Whether a part of the mapping could not be read and is zeros now.
  bool isDamaged() const;

  struct Slot;

private:
  Slot *Taken = nullptr;
};

} // namespace tenon

#endif // TENON_RUNTIME_SUPPORT_MAPPINGGUARD_H
