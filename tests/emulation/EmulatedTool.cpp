//===- EmulatedTool.cpp - The tool at a level that the CPU lacks ----------===//
//
// tenon-emulated is tenon, with the level that TENON_EMULATED_LEVEL names in
// force.
//
//===----------------------------------------------------------------------===//

#include "tests/emulation/CpuEmulator.h"

#include <cstdio>
#include <cstdlib>

using namespace tenon;

static void refuse(const char *Name, const char *Expected) {
  std::fprintf(stderr,
               "tenon: error: TENON_EMULATED_LEVEL: '%s': expected %s\n", Name,
               Expected);
  std::exit(EXIT_FAILURE);
}

/// Before main, which is the tool's.
__attribute__((constructor)) static void emulate() {
  const char *Name = std::getenv("TENON_EMULATED_LEVEL");
  if (!Name)
    return;
  std::optional<CpuLevel> Level = cpuLevelNamed(Name);
  if (!Level)
    return refuse(Name, "the name of a CPU level");
  if (!emulation::canRun(*Level))
    return refuse(Name, "avx2_vnni, or amx on a CPU with avx512_bf16");
  emulation::install();
  assumeLevel(*Level);
}
