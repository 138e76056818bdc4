//===- MappedFile.cpp - Read-only file mappings ---------------------------===//

#include "runtime/Support/MappedFile.h"

#include "runtime/Support/HugePages.h"

#include <sys/mman.h>
#include <utility>

using namespace tenon;

Result<MappedFile> MappedFile::open(const std::string &Path, MappedPages Pages,
                                    const std::string &Name) {
  Result<InputFile> Opened = openInput(Path);
  if (!Opened)
    return Opened.error();
  MappedFile File(Name.empty() ? Path : Name, std::move(*Opened));
  auto Size = static_cast<size_t>(File.Opened.Info.st_size);
  if (Size == 0)
    return File;
  int Descriptor = File.Opened.Descriptor.get();
  void *Address =
      Pages == MappedPages::Huge
          ? mapHuge(Size, PROT_READ, MAP_SHARED, Descriptor)
          : ::mmap(nullptr, Size, PROT_READ, MAP_SHARED, Descriptor, 0);
  if (Address == MAP_FAILED)
    return systemError(Path, "cannot map");
  File.Data = static_cast<const std::byte *>(Address);
  File.Size = Size;
  File.Guard = MappingGuard(Address, Size);
  return File;
}

MappedFile::MappedFile(MappedFile &&Other) noexcept
    : Path(std::move(Other.Path)), Opened(std::move(Other.Opened)),
      Data(std::exchange(Other.Data, nullptr)),
      Size(std::exchange(Other.Size, 0)), Guard(std::move(Other.Guard)) {}

MappedFile &MappedFile::operator=(MappedFile &&Other) noexcept {
  if (this != &Other) {
    release();
    Path = std::move(Other.Path);
    Opened = std::move(Other.Opened);
    Data = std::exchange(Other.Data, nullptr);
    Size = std::exchange(Other.Size, 0);
    Guard = std::move(Other.Guard);
  }
  return *this;
}

MappedFile::~MappedFile() { release(); }

void MappedFile::release() {
  Guard = MappingGuard();
  if (Data)
    ::munmap(const_cast<std::byte *>(Data), Size);
}

Status MappedFile::checkUnchanged() const {
  auto Changed = [&](const std::string &How) {
    return Error(ErrorKind::DamagedFile, Path + ": " + How + " while in use");
  };
  struct stat Info;
  if (::fstat(Opened.Descriptor.get(), &Info) != 0)
    return systemError(Path, "cannot stat");
  if (Info.st_size != Opened.Info.st_size)
    return Changed((Info.st_size < Opened.Info.st_size ? "shrank" : "grew") +
                   (" from " + std::to_string(Opened.Info.st_size)) + " to " +
                   std::to_string(Info.st_size) + " bytes");
  if (Info.st_mtim.tv_sec != Opened.Info.st_mtim.tv_sec ||
      Info.st_mtim.tv_nsec != Opened.Info.st_mtim.tv_nsec)
    return Changed("was written to");
  if (Guard.isDamaged())
    return Changed("became unreadable");
  return {};
}
