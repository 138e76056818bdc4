//===- MappedFile.cpp - Read-only file mappings ---------------------------===//

#include "runtime/Support/MappedFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace tenon;

static Error systemError(const std::string &Path, const char *What) {
  ErrorKind Kind = errno == ENOENT || errno == ENOTDIR ? ErrorKind::NotFound
                   : errno == ENOMEM                   ? ErrorKind::OutOfMemory
                   : errno == EIO ? ErrorKind::Internal
                                  : ErrorKind::InvalidArgument;
  return Error(Kind, Path + ": " + What + ": " + std::strerror(errno));
}

Result<MappedFile> MappedFile::open(const std::string &Path) {
  int Descriptor = ::open(Path.c_str(), O_RDONLY | O_CLOEXEC);
  if (Descriptor < 0)
    return systemError(Path, "cannot open");
  MappedFile File(Path, Descriptor, nullptr, 0);
  struct stat Info;
  if (::fstat(Descriptor, &Info) != 0)
    return systemError(Path, "cannot stat");
  if (!S_ISREG(Info.st_mode))
    return Error(Path + ": not a regular file");
  File.Size = static_cast<size_t>(Info.st_size);
  if (File.Size == 0)
    return File;
  void *Address =
      ::mmap(nullptr, File.Size, PROT_READ, MAP_SHARED, Descriptor, 0);
  if (Address == MAP_FAILED) {
    File.Size = 0;
    return systemError(Path, "cannot map");
  }
  File.Data = static_cast<const std::byte *>(Address);
  return File;
}

MappedFile::MappedFile(MappedFile &&Other) noexcept
    : Path(std::move(Other.Path)),
      Descriptor(std::exchange(Other.Descriptor, -1)),
      Data(std::exchange(Other.Data, nullptr)),
      Size(std::exchange(Other.Size, 0)) {}

MappedFile &MappedFile::operator=(MappedFile &&Other) noexcept {
  if (this != &Other) {
    release();
    Path = std::move(Other.Path);
    Descriptor = std::exchange(Other.Descriptor, -1);
    Data = std::exchange(Other.Data, nullptr);
    Size = std::exchange(Other.Size, 0);
  }
  return *this;
}

MappedFile::~MappedFile() { release(); }

void MappedFile::release() {
  if (Data)
    ::munmap(const_cast<std::byte *>(Data), Size);
  if (Descriptor >= 0)
    ::close(Descriptor);
}

Status MappedFile::checkNotShrunk() const {
  struct stat Info;
  if (::fstat(Descriptor, &Info) != 0)
    return systemError(Path, "cannot stat");
  if (static_cast<uint64_t>(Info.st_size) < Size)
    return Error(ErrorKind::DamagedFile,
                 Path + ": shrank from " + std::to_string(Size) + " to " +
                     std::to_string(Info.st_size) + " bytes while in use");
  return {};
}

Result<std::string> tenon::readFile(const std::string &Path,
                                    uint64_t MaxBytes) {
  Result<MappedFile> File = MappedFile::open(Path);
  if (!File)
    return File.error();
  if (File->bytes().size() > MaxBytes)
    return Error(Path + ": is " + std::to_string(File->bytes().size()) +
                 " bytes long: expected at most " + std::to_string(MaxBytes));
  auto Bytes = File->bytes();
  return std::string(reinterpret_cast<const char *>(Bytes.data()),
                     Bytes.size());
}
