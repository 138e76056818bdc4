//===- HugePages.h - Memory in pages of 2 MiB -------------------*- C++ -*-===//
//
// Mappings that the kernel may hold in huge pages, and how much of one it does.
// All of this is a wish: where the kernel, the file system or the state of
// memory has none, everything works in small pages.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_SUPPORT_HUGEPAGES_H
#define TENON_RUNTIME_SUPPORT_HUGEPAGES_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tenon {

/// A huge page. Of a file those parts lie in such pages that begin at a
/// multiple of it and were written to, or read from disk, in one piece.
inline constexpr uint64_t HugePageBytes = 2u << 20;

/// mmap() at an address that the kernel chooses; from HugePageBytes on it is a
/// multiple of that, and huge pages are asked for before anything is touched.
/// MAP_FAILED, with the reason in errno, as mmap().
void *mapHuge(size_t Bytes, int Protection, int Flags, int Descriptor);

/// How a part of this process's memory is held, in bytes.
struct PageUse {
  uint64_t Resident = 0; ///< Mapped now, in pages of any size.
  uint64_t Huge = 0;     ///< Of these, in huge pages.

  /// Huge of Resident, 0 to 1; nothing where nothing is resident.
  std::optional<double> share() const;
};

/// What `Smaps`, text in the form of /proc/PID/smaps, says of the mappings that
/// overlap `Ranges`; each counts once and whole. Nothing when it does not say
/// of all of them, or there is none.
std::optional<PageUse>
pageUseIn(std::string_view Smaps,
          std::span<const std::span<const std::byte>> Ranges);

/// The same of this process, from /proc/self/smaps.
std::optional<PageUse>
pageUse(std::span<const std::span<const std::byte>> Ranges);

/// MemAvailable in bytes of `Meminfo`, text in the form of /proc/meminfo:
/// memory that can be had without swapping. 0 where it is not said.
uint64_t availableMemoryIn(std::string_view Meminfo);
/// The same of this machine.
uint64_t availableMemory();

/// Maps the pages of a file mapping, reading them from disk where they are not
/// in memory, and answers whether that was done. Pages that the file no longer
/// has are left alone.
bool populate(std::span<const std::byte> Bytes);

} // namespace tenon

#endif // TENON_RUNTIME_SUPPORT_HUGEPAGES_H
