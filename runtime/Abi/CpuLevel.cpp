//===- CpuLevel.cpp - The CPU level in force ------------------------------===//

#include "runtime/Abi/CpuLevel.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

using namespace tenon;

/// Linux hands out the tile registers only to processes that ask.
static bool mayUseTiles() {
  constexpr long RequestPermission = 0x1023; // ARCH_REQ_XCOMP_PERM
  constexpr long TileData = 18;              // XFEATURE_XTILEDATA
  static const bool Granted =
      ::syscall(SYS_arch_prctl, RequestPermission, TileData) == 0;
  return Granted;
}

// The features of levels, as LLVM and GCC call them.
#define TENON_FEATURES(X)                                                      \
  X("avx2")                                                                    \
  X("fma")                                                                     \
  X("f16c")                                                                    \
  X("bmi")                                                                     \
  X("bmi2")                                                                    \
  X("avxvnni")                                                                 \
  X("avx512f")                                                                 \
  X("avx512bw")                                                                \
  X("avx512dq")                                                                \
  X("avx512vl")                                                                \
  X("avx512cd")                                                                \
  X("avx512vnni")                                                              \
  X("avx512bf16")                                                              \
  X("avx512fp16")                                                              \
  X("amx-tile")                                                                \
  X("amx-int8")                                                                \
  X("amx-bf16")

/// Whether CPU and operating system have the feature `Name`.
static bool cpuHas(std::string_view Name) {
  if (Name.starts_with("amx-") && !mayUseTiles())
    return false;
#define TENON_FEATURE(FEATURE)                                                 \
  if (Name == FEATURE)                                                         \
    return __builtin_cpu_supports(FEATURE);
  TENON_FEATURES(TENON_FEATURE)
#undef TENON_FEATURE
  return false;
}

static constexpr bool isKnown(std::string_view Name) {
#define TENON_FEATURE(FEATURE) || Name == FEATURE
  return false TENON_FEATURES(TENON_FEATURE);
#undef TENON_FEATURE
}

static constexpr std::vector<std::string_view> featuresOf(CpuLevel Level) {
  std::vector<std::string_view> Features;
  std::string_view Rest = infoOf(Level).Features;
  while (!Rest.empty()) {
    size_t Comma = std::min(Rest.find(','), Rest.size());
    Features.push_back(Rest.substr(0, Comma));
    Rest.remove_prefix(std::min(Comma + 1, Rest.size()));
  }
  return Features;
}

/// The features of `Level` for which `Has` is false, comma-separated.
template <typename Predicate>
static std::string featuresWithout(CpuLevel Level, Predicate Has) {
  std::string Missing;
  for (std::string_view Feature : featuresOf(Level))
    if (!Has(Feature)) {
      if (!Missing.empty())
        Missing += ',';
      Missing += Feature;
    }
  return Missing;
}

/// What oneDNN calls the instructions of `Level`; 0 is not said yet.
static constexpr unsigned librarySet(CpuLevel Level) {
  switch (Level) {
  case CpuLevel::AVX2:
    return dnnl_cpu_isa_avx2;
  case CpuLevel::AVX2_VNNI:
    return dnnl_cpu_isa_avx2_vnni;
  case CpuLevel::AVX512:
    return dnnl_cpu_isa_avx512_core;
  case CpuLevel::AVX512_VNNI:
    return dnnl_cpu_isa_avx512_core_vnni;
  case CpuLevel::AVX512_BF16:
    return dnnl_cpu_isa_avx512_core_bf16;
  case CpuLevel::AMX:
    return dnnl_cpu_isa_avx512_core_amx;
  }
  return 0;
}

// What a new level needs beside its row of CpuLevels.
static_assert(std::ranges::all_of(CpuLevels,
                                  [](const CpuLevelInfo &Info) {
                                    return &infoOf(Info.Level) == &Info;
                                  }),
              "CpuLevels has another order than CpuLevel");
static_assert(std::ranges::all_of(CpuLevels,
                                  [](const CpuLevelInfo &Info) {
                                    return std::ranges::all_of(
                                        featuresOf(Info.Level), isKnown);
                                  }),
              "a feature of CpuLevels is not in TENON_FEATURES");
static_assert(std::ranges::all_of(CpuLevels,
                                  [](const CpuLevelInfo &Info) {
                                    return librarySet(Info.Level) != 0;
                                  }),
              "a level of CpuLevels has no librarySet");

/// Whether oneDNN uses the instructions of `Level`. Its values are sets of
/// bits, a higher instruction set containing those it extends.
static bool libraryUses(CpuLevel Level) {
  auto Used = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  unsigned Wanted = librarySet(Level);
  return (Used & Wanted) == Wanted;
}

static std::optional<CpuLevel> Assumed;

void tenon::assumeLevel(CpuLevel Level) { Assumed = Level; }

Result<CpuLevel> tenon::effectiveLevel() {
  if (Assumed)
    return *Assumed;
  static const std::optional<CpuLevel> Best = [] {
    std::optional<CpuLevel> Found;
    for (const CpuLevelInfo &Info : CpuLevels)
      if (featuresWithout(Info.Level, cpuHas).empty() &&
          libraryUses(Info.Level))
        Found = Info.Level;
    return Found;
  }();
  if (Best)
    return *Best;
  std::string Missing = featuresWithout(CpuLevel::AVX2, cpuHas);
  return Error(ErrorKind::UnsupportedCpu,
               Missing.empty()
                   ? "ONEDNN_MAX_CPU_ISA is below AVX2: expected AVX2 or more"
                   : "this CPU lacks " + Missing + ": expected AVX2 or more");
}

bool tenon::runs(CpuLevel Code, CpuLevel Machine) {
  return missingFeatures(Code, Machine).empty();
}

std::string tenon::missingFeatures(CpuLevel Code, CpuLevel Machine) {
  std::vector<std::string_view> Present = featuresOf(Machine);
  return featuresWithout(Code, [&](std::string_view Feature) {
    // Of lower levels, what the machine's does not imply (the VEX-coded dot
    // products of AVX2_VNNI) may be there; of higher ones it is not in force.
    return std::ranges::find(Present, Feature) != Present.end() ||
           (Code < Machine && cpuHas(Feature));
  });
}

std::string tenon::missingFeatures(CpuLevel Code) {
  if (Result<CpuLevel> Machine = effectiveLevel())
    return missingFeatures(Code, *Machine);
  return featuresWithout(Code, cpuHas);
}
