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

/// Whether CPU and operating system have the LLVM feature `Name`; a name that
/// no level uses is not had.
static bool cpuHas(std::string_view Name) {
#define TENON_FEATURE(FEATURE)                                                 \
  if (Name == FEATURE)                                                         \
    return __builtin_cpu_supports(FEATURE);
  TENON_FEATURE("avx2")
  TENON_FEATURE("fma")
  TENON_FEATURE("f16c")
  TENON_FEATURE("bmi")
  TENON_FEATURE("bmi2")
  TENON_FEATURE("avxvnni")
  TENON_FEATURE("avx512f")
  TENON_FEATURE("avx512bw")
  TENON_FEATURE("avx512dq")
  TENON_FEATURE("avx512vl")
  TENON_FEATURE("avx512cd")
  TENON_FEATURE("avx512vnni")
  TENON_FEATURE("avx512bf16")
#undef TENON_FEATURE
#define TENON_TILE_FEATURE(FEATURE)                                            \
  if (Name == FEATURE)                                                         \
    return __builtin_cpu_supports(FEATURE) && mayUseTiles();
  TENON_TILE_FEATURE("amx-tile")
  TENON_TILE_FEATURE("amx-int8")
  TENON_TILE_FEATURE("amx-bf16")
#undef TENON_TILE_FEATURE
  return false;
}

static std::vector<std::string_view> featuresOf(CpuLevel Level) {
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

/// Whether oneDNN uses the instructions of `Level`. Its values are sets of
/// bits, a higher instruction set containing those it extends.
static bool libraryUses(CpuLevel Level) {
  static constexpr dnnl_cpu_isa_t Sets[] = {dnnl_cpu_isa_avx2,
                                            dnnl_cpu_isa_avx2_vnni,
                                            dnnl_cpu_isa_avx512_core,
                                            dnnl_cpu_isa_avx512_core_vnni,
                                            dnnl_cpu_isa_avx512_core_bf16,
                                            dnnl_cpu_isa_avx512_core_amx};
  auto Used = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
  auto Wanted = static_cast<unsigned>(Sets[static_cast<size_t>(Level)]);
  return (Used & Wanted) == Wanted;
}

Result<CpuLevel> tenon::effectiveLevel() {
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
  if (Code > Machine)
    return false;
  // The one level that those above it do not imply.
  return Code != CpuLevel::AVX2_VNNI || Machine == Code || cpuHas("avxvnni");
}

std::string tenon::missingFeatures(CpuLevel Code, CpuLevel Machine) {
  if (runs(Code, Machine))
    return "";
  std::vector<std::string_view> Present = featuresOf(Machine);
  return featuresWithout(Code, [&](std::string_view Feature) {
    return std::find(Present.begin(), Present.end(), Feature) != Present.end();
  });
}

std::string tenon::missingFeatures(CpuLevel Code) {
  if (Result<CpuLevel> Machine = effectiveLevel())
    return missingFeatures(Code, *Machine);
  return featuresWithout(Code, cpuHas);
}
