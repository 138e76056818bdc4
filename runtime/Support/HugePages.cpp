//===- HugePages.cpp - Memory in pages of 2 MiB ---------------------------===//

#include "runtime/Support/HugePages.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

using namespace tenon;

// Of Linux 5.14; Debian 12's headers have it, older ones may not.
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

void *tenon::mapHuge(size_t Bytes, int Protection, int Flags, int Descriptor) {
  auto Map = [&](void *Address, int More) {
    return ::mmap(Address, Bytes, Protection, Flags | More, Descriptor, 0);
  };
  size_t Whole = 0;
  if (Bytes < HugePageBytes ||
      __builtin_add_overflow(Bytes, HugePageBytes, &Whole))
    return Map(nullptr, 0);
  // Room in which there is a multiple, and then the rest of it goes back.
  void *Room = ::mmap(nullptr, Whole, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (Room == MAP_FAILED)
    return Map(nullptr, 0);
  auto First = reinterpret_cast<uintptr_t>(Room);
  uintptr_t Begin = (First + HugePageBytes - 1) / HugePageBytes * HugePageBytes;
  void *Address = Map(reinterpret_cast<void *>(Begin), MAP_FIXED);
  if (Address == MAP_FAILED) {
    int Failure = errno;
    ::munmap(Room, Whole);
    errno = Failure;
    return MAP_FAILED;
  }
  if (Begin != First)
    ::munmap(Room, Begin - First);
  auto Page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  uintptr_t End = Begin + (Bytes + Page - 1) / Page * Page;
  if (End < First + Whole)
    ::munmap(reinterpret_cast<void *>(End), First + Whole - End);
  (void)::madvise(Address, Bytes, MADV_HUGEPAGE);
  return Address;
}

std::optional<double> PageUse::share() const {
  if (Resident == 0)
    return std::nullopt;
  return std::min(static_cast<double>(Huge) / static_cast<double>(Resident),
                  1.0);
}

/// The next line of `Text`, which it is taken from.
static std::string_view takeLine(std::string_view &Text) {
  size_t End = std::min(Text.find('\n'), Text.size());
  std::string_view Line = Text.substr(0, End);
  Text.remove_prefix(std::min(End + 1, Text.size()));
  return Line;
}

/// The bytes of a line "Name:   123 kB" that is called `Name`.
static std::optional<uint64_t> bytesOf(std::string_view Line,
                                       std::string_view Name) {
  if (!Line.starts_with(Name) || !Line.substr(Name.size()).starts_with(':'))
    return std::nullopt;
  size_t Digits = Line.find_first_not_of(' ', Name.size() + 1);
  uint64_t Kilobytes = 0;
  if (Digits == std::string_view::npos ||
      std::from_chars(Line.data() + Digits, Line.data() + Line.size(),
                      Kilobytes)
              .ec != std::errc() ||
      Kilobytes > UINT64_MAX / 1024)
    return std::nullopt;
  return Kilobytes * 1024;
}

/// The addresses of a line that begins a mapping: "begin-end rights ...".
static bool readRange(std::string_view Line, uintptr_t &Begin, uintptr_t &End) {
  const char *Last = Line.data() + Line.size();
  auto First = std::from_chars(Line.data(), Last, Begin, 16);
  if (First.ec != std::errc() || First.ptr == Last || *First.ptr != '-')
    return false;
  auto Second = std::from_chars(First.ptr + 1, Last, End, 16);
  return Second.ec == std::errc() && Second.ptr != Last && *Second.ptr == ' ';
}

std::optional<PageUse>
tenon::pageUseIn(std::string_view Smaps,
                 std::span<const std::span<const std::byte>> Ranges) {
  PageUse Sum;
  bool IsInside = false, IsFound = false;
  // Of the mapping that is being read.
  bool HasResident = true, HasHuge = true;
  while (!Smaps.empty()) {
    std::string_view Line = takeLine(Smaps);
    uintptr_t Begin = 0, End = 0;
    if (readRange(Line, Begin, End)) {
      if (!HasResident || !HasHuge)
        return std::nullopt;
      IsInside = std::any_of(Ranges.begin(), Ranges.end(), [&](auto Range) {
        auto First = reinterpret_cast<uintptr_t>(Range.data());
        return !Range.empty() && First < End && First + Range.size() > Begin;
      });
      IsFound |= IsInside;
      HasResident = HasHuge = !IsInside;
      continue;
    }
    if (!IsInside)
      continue;
    if (std::optional<uint64_t> Bytes = bytesOf(Line, "Rss")) {
      Sum.Resident += *Bytes;
      HasResident = true;
    }
    // A mapping has one kind of them. That of files came last, so kernels that
    // do not say it cannot be asked.
    for (const char *Name : {"AnonHugePages", "ShmemPmdMapped"})
      Sum.Huge += bytesOf(Line, Name).value_or(0);
    if (std::optional<uint64_t> Bytes = bytesOf(Line, "FilePmdMapped")) {
      Sum.Huge += *Bytes;
      HasHuge = true;
    }
  }
  if (!IsFound || !HasResident || !HasHuge)
    return std::nullopt;
  return Sum;
}

/// All of a file of /proc; empty when it cannot be read.
static std::string contentOf(const char *Path) {
  std::ifstream File(Path, std::ios::binary);
  return {std::istreambuf_iterator<char>(File), {}};
}

std::optional<PageUse>
tenon::pageUse(std::span<const std::span<const std::byte>> Ranges) {
  return pageUseIn(contentOf("/proc/self/smaps"), Ranges);
}

uint64_t tenon::availableMemoryIn(std::string_view Meminfo) {
  while (!Meminfo.empty())
    if (auto Bytes = bytesOf(takeLine(Meminfo), "MemAvailable"))
      return *Bytes;
  return 0;
}

uint64_t tenon::availableMemory() {
  return availableMemoryIn(contentOf("/proc/meminfo"));
}

bool tenon::populate(std::span<const std::byte> Bytes) {
  auto Page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  auto Begin = reinterpret_cast<uintptr_t>(Bytes.data()) / Page * Page;
  uintptr_t End = reinterpret_cast<uintptr_t>(Bytes.data()) + Bytes.size();
  return ::madvise(reinterpret_cast<void *>(Begin), End - Begin,
                   MADV_POPULATE_READ) == 0;
}
