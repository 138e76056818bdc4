//===- LoadedCode.cpp - Loading an artifact's native code -----------------===//

#include "runtime/Artifact/Artifact.h"
#include "runtime/Support/Console.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace tenon;
using namespace tenon::artifact;

LoadedCode::LoadedCode(LoadedCode &&Other) noexcept
    : Index(Other.Index), Level(Other.Level),
      Handle(std::exchange(Other.Handle, nullptr)),
      Descriptor(std::exchange(Other.Descriptor, -1)),
      Entries(std::move(Other.Entries)) {}

LoadedCode &LoadedCode::operator=(LoadedCode &&Other) noexcept {
  if (this != &Other) {
    release();
    Index = Other.Index;
    Level = Other.Level;
    Handle = std::exchange(Other.Handle, nullptr);
    Descriptor = std::exchange(Other.Descriptor, -1);
    Entries = std::move(Other.Entries);
  }
  return *this;
}

LoadedCode::~LoadedCode() { release(); }

void LoadedCode::release() {
  if (Handle)
    ::dlclose(Handle);
  if (Descriptor >= 0)
    ::close(Descriptor);
}

tenon_rt_entry LoadedCode::entry(std::string_view Role) const {
  for (const auto &[Name, Entry] : Entries)
    if (Name == Role)
      return Entry;
  return nullptr;
}

Result<size_t> artifact::chooseCode(const Artifact &A, CpuLevel Machine) {
  const std::vector<CodeInfo> &Code = A.manifest().Code;
  std::optional<size_t> Best;
  // The level that asks least, to say what is missing for it.
  std::optional<size_t> Lowest;
  for (size_t I = 0; I < Code.size(); ++I) {
    if (runs(Code[I].Level, Machine) &&
        (!Best || Code[I].Level > Code[*Best].Level))
      Best = I;
    if (!Lowest || Code[I].Level < Code[*Lowest].Level)
      Lowest = I;
  }
  if (Best)
    return *Best;
  if (!Lowest)
    return Error(ErrorKind::DamagedFile,
                 A.path() + ": holds no native code: expected at least one "
                            "CPU level");
  std::string Levels;
  for (const CodeInfo &C : Code)
    Levels += (Levels.empty() ? "" : ", ") + std::string(infoOf(C.Level).Name);
  return Error(ErrorKind::UnsupportedCpu,
               A.path() + ": compiled for " + Levels +
                   ": this CPU (or ONEDNN_MAX_CPU_ISA) lacks " +
                   missingFeatures(Code[*Lowest].Level, Machine) +
                   "; compile with --target-cpu " +
                   std::string(infoOf(Machine).Name));
}

/// The dynamic linker trusts what it maps; refuse what is plainly no shared
/// object of this machine.
static bool looksLoadable(std::span<const std::byte> Code) {
  Elf64_Ehdr Header;
  if (Code.size() < sizeof(Header))
    return false;
  std::memcpy(&Header, Code.data(), sizeof(Header));
  return std::memcmp(Header.e_ident, ELFMAG, SELFMAG) == 0 &&
         Header.e_ident[EI_CLASS] == ELFCLASS64 &&
         Header.e_ident[EI_DATA] == ELFDATA2LSB && Header.e_type == ET_DYN &&
         Header.e_machine == EM_X86_64;
}

Result<LoadedCode> artifact::loadObject(std::span<const std::byte> Object,
                                        CpuLevel Level,
                                        std::span<const std::string> Roles) {
  auto Fail = [](const std::string &Why) {
    return Error(ErrorKind::DamagedFile, Why);
  };
  if (!looksLoadable(Object))
    return Fail("not an x86-64 shared object");
  LoadedCode Loaded(0, Level);
  Loaded.Descriptor = ::memfd_create("tenon-code", MFD_CLOEXEC);
  if (Loaded.Descriptor < 0 ||
      !writeAll(Loaded.Descriptor,
                {reinterpret_cast<const char *>(Object.data()), Object.size()}))
    return Fail(std::string("cannot copy it to memory: ") +
                std::strerror(errno));
  std::string Path = "/proc/self/fd/" + std::to_string(Loaded.Descriptor);
  Loaded.Handle = ::dlopen(Path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!Loaded.Handle) {
    const char *Why = ::dlerror();
    return Fail(std::string("cannot load it: ") + (Why ? Why : "no reason"));
  }
  for (const std::string &Role : Roles) {
    std::string Symbol = TENON_RT_ENTRY_PREFIX + Role;
    void *Address = ::dlsym(Loaded.Handle, Symbol.c_str());
    if (!Address)
      return Fail("lacks the symbol '" + Symbol + "' of entry '" + Role + "'");
    Loaded.Entries.emplace_back(Role,
                                reinterpret_cast<tenon_rt_entry>(Address));
  }
  return Loaded;
}

Result<LoadedCode> artifact::loadCode(const Artifact &A, CpuLevel Machine) {
  Result<size_t> Chosen = chooseCode(A, Machine);
  if (!Chosen)
    return Chosen.error();
  CpuLevel Level = A.manifest().Code[*Chosen].Level;
  Result<std::string> Object = A.code(*Chosen);
  if (!Object)
    return Object.error();
  std::vector<std::string> Roles;
  for (const EntryInfo &E : A.manifest().Entries)
    Roles.push_back(E.Role);
  Result<LoadedCode> Loaded =
      loadObject(std::as_bytes(std::span(*Object)), Level, Roles);
  if (!Loaded)
    return Loaded.error().withContext(A.path() + ": code for " +
                                      std::string(infoOf(Level).Name));
  Loaded->Index = *Chosen;
  return Loaded;
}
