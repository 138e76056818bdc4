//===- CpuLevel.h - CPU levels that code is generated for -------*- C++ -*-===//
//
// A level is a set of CPU features together with what it computes products
// in. The compiler generates code per level; the loader picks the best one.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_ABI_CPULEVEL_H
#define TENON_RUNTIME_ABI_CPULEVEL_H

#include "runtime/Abi/Types.h"
#include "runtime/Support/Result.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tenon {

/// In ascending order: each level implies those before it, except that
/// AVX2_VNNI's VEX-coded dot products are not part of the AVX-512 levels.
enum class CpuLevel { AVX2, AVX2_VNNI, AVX512, AVX512_VNNI, AVX512_BF16, AMX };

/// What one level needs and offers.
struct CpuLevelInfo {
  CpuLevel Level;
  std::string_view Name;
  /// Comma-separated LLVM feature names, all of which the CPU must have.
  std::string_view Features;
  /// Bits of a vector register, and how many of them there are.
  int64_t VectorBits;
  int64_t Registers;
  EnumSet<DotProduct> Dots;
  /// Formats of weights in panels that the library has fast matmuls for, with
  /// activations of that type: oneDNN 3.2, as measured (docs/rationale.md). In
  /// tiles it multiplies a row differently with other numbers of rows.
  EnumSet<StorageFormat> LibraryFormats;
};

/// All levels, ascending.
inline constexpr std::array<CpuLevelInfo, 6> CpuLevels = {{
    {CpuLevel::AVX2,
     "avx2",
     "avx2,fma,f16c,bmi,bmi2",
     256,
     16,
     {DotProduct::Int16},
     {}},
    {CpuLevel::AVX2_VNNI,
     "avx2_vnni",
     "avx2,fma,f16c,bmi,bmi2,avxvnni",
     256,
     16,
     {DotProduct::Int8, DotProduct::Int16},
     {}},
    {CpuLevel::AVX512,
     "avx512",
     "avx2,fma,f16c,bmi,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512cd",
     512,
     32,
     {DotProduct::Int16},
     {StorageFormat::F32}},
    {CpuLevel::AVX512_VNNI,
     "avx512_vnni",
     "avx2,fma,f16c,bmi,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512cd,"
     "avx512vnni",
     512,
     32,
     {DotProduct::Int8, DotProduct::Int16},
     {StorageFormat::F32}},
    {CpuLevel::AVX512_BF16,
     "avx512_bf16",
     "avx2,fma,f16c,bmi,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512cd,"
     "avx512vnni,avx512bf16",
     512,
     32,
     {DotProduct::BF16, DotProduct::Int8, DotProduct::Int16},
     {StorageFormat::F32, StorageFormat::BF16}},
    {CpuLevel::AMX,
     "amx",
     "avx2,fma,f16c,bmi,bmi2,avx512f,avx512bw,avx512dq,avx512vl,avx512cd,"
     "avx512vnni,avx512bf16,avx512fp16,amx-tile,amx-int8,amx-bf16",
     512,
     32,
     {DotProduct::BF16, DotProduct::Int8, DotProduct::Int16,
      DotProduct::BF16Tile, DotProduct::Int8Tile},
     {StorageFormat::F32}},
}};

constexpr const CpuLevelInfo &infoOf(CpuLevel Level) {
  return CpuLevels[static_cast<size_t>(Level)];
}

/// The level called `Name`, such as "avx512_bf16".
constexpr std::optional<CpuLevel> cpuLevelNamed(std::string_view Name) {
  for (const CpuLevelInfo &Info : CpuLevels)
    if (Info.Name == Name)
      return Info.Level;
  return std::nullopt;
}

/// The level in force in this process: the highest one all of whose features
/// the CPU and the operating system offer and oneDNN uses, so that
/// ONEDNN_MAX_CPU_ISA lowers it. An error when even AVX2 is missing.
Result<CpuLevel> effectiveLevel();

/// Puts `Level` in force whatever the CPU offers, in a process that emulates
/// what the CPU lacks. Comes before everything that asks for the level.
void assumeLevel(CpuLevel Level);

/// Whether code generated for level `Code` runs where `Machine` is in force.
bool runs(CpuLevel Code, CpuLevel Machine);

/// The features, comma-separated, that code of level `Code` needs and that a
/// machine of level `Machine` lacks; empty when it runs there.
std::string missingFeatures(CpuLevel Code, CpuLevel Machine);

/// The same for the level in force in this process.
std::string missingFeatures(CpuLevel Code);

} // namespace tenon

#endif // TENON_RUNTIME_ABI_CPULEVEL_H
