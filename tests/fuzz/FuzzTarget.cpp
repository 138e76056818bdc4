//===- FuzzTarget.cpp - What the fuzz targets share -----------------------===//

#include "tests/fuzz/FuzzTarget.h"

#include "runtime/Support/Json.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/mman.h>
#include <unistd.h>

using namespace tenon;
using namespace tenon::fuzz;

std::pair<std::string_view, std::string_view>
fuzz::splitAtNul(std::string_view Text) {
  size_t At = Text.find('\0');
  if (At == Text.npos)
    return {Text, {}};
  return {Text.substr(0, At), Text.substr(At + 1)};
}

void fuzz::require(bool Holds, std::string_view What) {
  if (Holds)
    return;
  std::fprintf(stderr, "fuzz: required: %.*s\n", static_cast<int>(What.size()),
               What.data());
  std::abort();
}

void fuzz::requireError(const Error &E) {
  require(!E.message().empty(), "an error says something");
  // Escaping changes control characters and bytes that are not UTF-8.
  require(escaped(E.message()) == E.message(),
          "an error is one printable line: " + escaped(E.message()));
}

MemoryFile::MemoryFile()
    : Descriptor(::memfd_create("fuzz", MFD_CLOEXEC)),
      Path("/proc/self/fd/" + std::to_string(Descriptor)) {
  require(Descriptor >= 0, "a file in memory can be made");
}

void MemoryFile::setContent(std::string_view Content) {
  bool IsWritten = ::ftruncate(Descriptor, 0) == 0 &&
                   ::pwrite(Descriptor, Content.data(), Content.size(), 0) ==
                       static_cast<ssize_t>(Content.size());
  require(IsWritten, "a file in memory can be written");
}

Directory::Directory() {
  std::string Name = std::filesystem::temp_directory_path() / "fuzz-XXXXXX";
  require(::mkdtemp(Name.data()) != nullptr, "a directory can be made");
  Path = Name;
}

Directory::~Directory() {
  std::error_code Ignored;
  std::filesystem::remove_all(Path, Ignored);
}

void Directory::write(std::string_view Name, std::string_view Content) const {
  std::filesystem::path File = std::filesystem::path(Path) / Name;
  std::filesystem::create_directories(File.parent_path());
  std::ofstream Stream(File, std::ios::binary);
  Stream << Content;
  require(static_cast<bool>(Stream.flush()), "a file can be written");
}

void Directory::clear() const {
  for (const auto &Entry : std::filesystem::directory_iterator(Path))
    std::filesystem::remove_all(Entry);
}

void Directory::writePacked(std::string_view Packed,
                            std::span<const std::string_view> Names) const {
  constexpr std::string_view Mark = "//--- ";
  while (Packed.starts_with(Mark)) {
    size_t LineEnd = std::min(Packed.find('\n'), Packed.size());
    std::string_view Name = Packed.substr(Mark.size(), LineEnd - Mark.size());
    Packed.remove_prefix(std::min(LineEnd + 1, Packed.size()));
    size_t End = Packed.starts_with(Mark) ? 0 : Packed.find("\n//--- ");
    // The last one ends in a line end too.
    std::string_view Content = Packed.substr(0, End);
    if (End == Packed.npos && Content.ends_with('\n'))
      Content.remove_suffix(1);
    if (std::find(Names.begin(), Names.end(), Name) != Names.end())
      write(Name, Content);
    Packed.remove_prefix(End == Packed.npos ? Packed.size() : End + (End != 0));
  }
}
