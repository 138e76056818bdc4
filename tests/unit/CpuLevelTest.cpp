//===- CpuLevelTest.cpp - The CPU level in force --------------------------===//

#include "runtime/Abi/CpuLevel.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

using namespace tenon;

namespace {

/// The level by what the kernel says the CPU has.
std::optional<CpuLevel> levelByKernel() {
  std::ifstream File("/proc/cpuinfo");
  std::set<std::string> Flags;
  for (std::string Line; std::getline(File, Line);)
    if (Line.starts_with("flags")) {
      std::istringstream Words(Line);
      for (std::string Word; Words >> Word;)
        Flags.insert(Word);
      break;
    }
  auto KernelName = [](std::string Feature) -> std::string {
    if (Feature == "bmi")
      return "bmi1";
    if (Feature == "avxvnni")
      return "avx_vnni";
    if (Feature == "avx512vnni" || Feature == "avx512bf16" ||
        Feature == "avx512fp16")
      return Feature.insert(6, 1, '_');
    if (Feature.starts_with("amx-"))
      Feature[3] = '_';
    return Feature;
  };
  std::optional<CpuLevel> Best;
  for (const CpuLevelInfo &Info : CpuLevels) {
    std::istringstream Features{std::string(Info.Features)};
    bool All = true;
    for (std::string Feature; std::getline(Features, Feature, ',');)
      All &= Flags.count(KernelName(Feature)) != 0;
    if (All)
      Best = Info.Level;
  }
  return Best;
}

/// What a fresh process answers under ONEDNN_MAX_CPU_ISA; the library reads
/// it only once.
std::string levelUnder(const std::string &Limit) {
  std::string Command = "ONEDNN_MAX_CPU_ISA=" + Limit + " /proc/" +
                        std::to_string(::getpid()) +
                        "/exe --gtest_filter=CpuLevel.RunsItsOwnCode";
  FILE *Pipe = ::popen(Command.c_str(), "r");
  EXPECT_NE(Pipe, nullptr);
  std::string Output;
  char Buffer[4096];
  while (size_t Got = std::fread(Buffer, 1, sizeof(Buffer), Pipe))
    Output.append(Buffer, Got);
  EXPECT_EQ(::pclose(Pipe), 0) << Output;
  size_t Begin = Output.find("level=[");
  size_t End = Output.find(']', Begin);
  if (Begin == std::string::npos || End == std::string::npos)
    return "no answer: " + Output;
  return Output.substr(Begin + 7, End - Begin - 7);
}

} // namespace

/// Also run by levelUnder, which reads what it prints.
TEST(CpuLevel, RunsItsOwnCode) {
  Result<CpuLevel> Level = effectiveLevel();
  std::printf("level=[%s]\n", Level ? std::string(infoOf(*Level).Name).c_str()
                                    : Level.error().message().c_str());
  if (Level)
    EXPECT_EQ(missingFeatures(*Level), "");
  else
    EXPECT_NE(Level.error().message(), "");
}

TEST(CpuLevel, AgreesWithTheKernel) {
  std::optional<CpuLevel> Expected = levelByKernel();
  ASSERT_TRUE(Expected) << "this machine lacks AVX2";
  // Permission for tiles may be refused.
  std::string Level = levelUnder("");
  if (*Expected == CpuLevel::AMX && Level != "amx")
    Expected = CpuLevel::AVX512_BF16;
  EXPECT_EQ(Level, infoOf(*Expected).Name);
}

TEST(CpuLevel, TheLibraryLimitLowersIt) {
  std::optional<CpuLevel> Best = levelByKernel();
  ASSERT_TRUE(Best);
  struct Case {
    const char *Limit;
    CpuLevel Level;
  };
  for (Case C : {Case{"AVX2", CpuLevel::AVX2},
                 {"AVX512_CORE", CpuLevel::AVX512},
                 {"AVX512_CORE_VNNI", CpuLevel::AVX512_VNNI},
                 {"AVX512_CORE_BF16", CpuLevel::AVX512_BF16}}) {
    if (C.Level > *Best)
      continue;
    EXPECT_EQ(levelUnder(C.Limit), infoOf(C.Level).Name) << C.Limit;
  }
  EXPECT_EQ(levelUnder("AVX"),
            "ONEDNN_MAX_CPU_ISA is below AVX2: expected AVX2 or more");
}

TEST(CpuLevel, LowerCodeRunsOnHigherMachines) {
  for (const CpuLevelInfo &Code : CpuLevels)
    for (const CpuLevelInfo &Machine : CpuLevels) {
      if (Code.Level == CpuLevel::AVX2_VNNI && Machine.Level > Code.Level)
        continue; // Depends on the CPU.
      bool Runs = runs(Code.Level, Machine.Level);
      EXPECT_EQ(Runs, Code.Level <= Machine.Level)
          << Code.Name << " on " << Machine.Name;
      EXPECT_EQ(missingFeatures(Code.Level, Machine.Level).empty(), Runs)
          << Code.Name << " on " << Machine.Name;
    }
}

TEST(CpuLevel, VnniOfAvx2NeedsTheCpusOwn) {
  std::ifstream File("/proc/cpuinfo");
  std::string Text((std::istreambuf_iterator<char>(File)), {});
  bool Has = Text.find(" avx_vnni ") != std::string::npos;
  EXPECT_EQ(runs(CpuLevel::AVX2_VNNI, CpuLevel::AVX512_BF16), Has);
  EXPECT_EQ(missingFeatures(CpuLevel::AVX2_VNNI, CpuLevel::AVX512_BF16),
            Has ? "" : "avxvnni");
}

TEST(CpuLevel, MissingFeaturesAreThoseBeyondTheMachine) {
  EXPECT_EQ(missingFeatures(CpuLevel::AVX512_BF16, CpuLevel::AVX512_VNNI),
            "avx512bf16");
  EXPECT_EQ(missingFeatures(CpuLevel::AMX, CpuLevel::AVX512_BF16),
            "avx512fp16,amx-tile,amx-int8,amx-bf16");
  EXPECT_EQ(missingFeatures(CpuLevel::AVX512, CpuLevel::AVX2),
            "avx512f,avx512bw,avx512dq,avx512vl,avx512cd");
  EXPECT_EQ(missingFeatures(CpuLevel::AVX2), "");
}
