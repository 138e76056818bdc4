//===- CpuEmulator.cpp - Instructions that the CPU lacks ------------------===//

#include "tests/emulation/CpuEmulator.h"

#include "tests/emulation/Emulation.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

using namespace tenon;
using namespace tenon::emulation;

namespace {

/// An instruction that was met before, with the bytes that it had: other code
/// may be loaded to its address.
struct Known {
  Instruction What;
  Emulation Does;
  std::string Bytes;
};

} // namespace

static std::string bytesAt(uint64_t Address, unsigned Length) {
  return {reinterpret_cast<const char *>(Address), Length};
}

[[noreturn]] static void refuse(const std::string &What) {
  std::fprintf(stderr, "tenon: illegal instruction: %s is not emulated\n",
               What.c_str());
  std::abort();
}

static const Known &find(uint64_t Address) {
  static thread_local std::unordered_map<uint64_t, Known> Cache;
  auto Found = Cache.find(Address);
  if (Found != Cache.end() &&
      bytesAt(Address, Found->second.What.Length) == Found->second.Bytes)
    return Found->second;
  std::optional<Instruction> What = Instruction::decode(Address);
  if (!What)
    refuse("what cannot be decoded");
  Emulation Does = tileEmulation(*What);
  if (!Does)
    Does = vectorEmulation(*What);
  if (!Does)
    refuse(What->Name);
  std::string Bytes = bytesAt(Address, What->Length);
  return Cache
      .insert_or_assign(Address,
                        Known{std::move(*What), Does, std::move(Bytes)})
      .first->second;
}

/// The exception is the instruction's own, so that everything may be called
/// here that may be called in its place.
static void handle(int, siginfo_t *, void *Context) {
  Registers State(*static_cast<ucontext_t *>(Context));
  const Known &Next = find(State.instruction());
  Next.Does(Next.What, State);
  State.setInstruction(State.instruction() + Next.What.Length);
}

bool emulation::canRun(CpuLevel Level) {
  Result<CpuLevel> Machine = effectiveLevel();
  if (!Machine)
    return false;
  switch (Level) {
  case CpuLevel::AVX2_VNNI:
    return true;
  case CpuLevel::AMX:
    return *Machine >= CpuLevel::AVX512_BF16;
  case CpuLevel::AVX2:
  case CpuLevel::AVX512:
  case CpuLevel::AVX512_VNNI:
  case CpuLevel::AVX512_BF16:
    return runs(Level, *Machine);
  }
  return false;
}

void emulation::install() {
  struct sigaction Action = {};
  Action.sa_sigaction = handle;
  Action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGILL, &Action, nullptr);
}
