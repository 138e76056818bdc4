//===- ArtifactCodeTest.cpp - Loading native code from artifacts ----------===//

#include "ArtifactTestSupport.h"

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::test;

namespace {

using Code = std::vector<std::pair<CpuLevel, std::vector<std::byte>>>;

/// A manifest whose only entry is `Role`.
Manifest manifestWithEntry(const std::string &Role) {
  Manifest M = sampleManifest();
  M.Entries = {{Role, OutputKind::Logits, 1, false}};
  return M;
}

/// An opened artifact of this code with the entry point `Role`.
Artifact artifactOf(const TemporaryDirectory &Directory, const Code &Sections,
                    const std::string &Role = "step") {
  std::string Path = Directory / ("a" + std::to_string(Directory.files()));
  writeSample(Path, Sections, manifestWithEntry(Role));
  Result<Artifact> A = Artifact::open(Path);
  EXPECT_TRUE(A) << messageOf(A);
  return std::move(*A);
}

/// What the entry point makes of token 21.
float answerOf(const LoadedCode &Loaded) {
  int32_t Token = 21, Row = 0;
  tenon_rt_batch Batch = {};
  Batch.tokens = Batch.sequences = Batch.output_row_count = 1;
  Batch.token_ids = &Token;
  Batch.output_rows = &Row;
  float Output = 0;
  tenon_rt_step Step = {};
  Step.batch = &Batch;
  Step.output = &Output;
  tenon_rt_entry Entry = Loaded.entry("step");
  EXPECT_NE(Entry, nullptr);
  if (Entry)
    Entry(&Step);
  return Output;
}

} // namespace

TEST(ArtifactCode, RunsTheEntryPoint) {
  TemporaryDirectory Directory;
  Artifact A = artifactOf(Directory, {{CpuLevel::AVX2, testCode(2)}});
  Result<LoadedCode> Loaded = loadCode(A, CpuLevel::AVX2);
  ASSERT_TRUE(Loaded) << messageOf(Loaded);
  EXPECT_EQ(Loaded->level(), CpuLevel::AVX2);
  EXPECT_EQ(Loaded->index(), 0u);
  EXPECT_EQ(answerOf(*Loaded), 42.0f);
  EXPECT_EQ(Loaded->entry("encode"), nullptr);
  LoadedCode Moved = std::move(*Loaded);
  EXPECT_EQ(answerOf(Moved), 42.0f);
}

TEST(ArtifactCode, OutlivesTheArtifact) {
  TemporaryDirectory Directory;
  std::optional<LoadedCode> Loaded;
  {
    Artifact A = artifactOf(Directory, {{CpuLevel::AVX2, testCode(1)}});
    Result<LoadedCode> Result = loadCode(A, CpuLevel::AVX2);
    ASSERT_TRUE(Result) << messageOf(Result);
    Loaded.emplace(std::move(*Result));
  }
  EXPECT_EQ(answerOf(*Loaded), 21.0f);
}

TEST(ArtifactCode, SeveralModelsDoNotMixUp) {
  TemporaryDirectory Directory;
  Artifact One = artifactOf(Directory, {{CpuLevel::AVX2, testCode(1)}});
  Artifact Two = artifactOf(Directory, {{CpuLevel::AVX2, testCode(2)}});
  // One after the other: the second gets the first one's file descriptor.
  {
    Result<LoadedCode> Loaded = loadCode(One, CpuLevel::AVX2);
    ASSERT_TRUE(Loaded);
    EXPECT_EQ(answerOf(*Loaded), 21.0f);
  }
  Result<LoadedCode> Second = loadCode(Two, CpuLevel::AVX2);
  ASSERT_TRUE(Second);
  EXPECT_EQ(answerOf(*Second), 42.0f);
  // And both at once, in either order.
  Result<LoadedCode> First = loadCode(One, CpuLevel::AVX2);
  ASSERT_TRUE(First);
  EXPECT_EQ(answerOf(*First), 21.0f);
  EXPECT_EQ(answerOf(*Second), 42.0f);
  // A loaded one can be replaced.
  *First = std::move(*Second);
  EXPECT_EQ(answerOf(*First), 42.0f);
}

TEST(ArtifactCode, TheHighestLevelThatRunsIsChosen) {
  TemporaryDirectory Directory;
  Artifact A = artifactOf(Directory, {{CpuLevel::AVX512_BF16, testCode(2)},
                                      {CpuLevel::AVX2, testCode(1)},
                                      {CpuLevel::AVX512, testCode(1)}});
  auto Chosen = [&](CpuLevel Machine) {
    Result<size_t> Index = chooseCode(A, Machine);
    return Index ? static_cast<int>(*Index) : -1;
  };
  EXPECT_EQ(Chosen(CpuLevel::AVX2), 1);
  EXPECT_EQ(Chosen(CpuLevel::AVX2_VNNI), 1);
  EXPECT_EQ(Chosen(CpuLevel::AVX512), 2);
  EXPECT_EQ(Chosen(CpuLevel::AVX512_VNNI), 2);
  EXPECT_EQ(Chosen(CpuLevel::AVX512_BF16), 0);
  EXPECT_EQ(Chosen(CpuLevel::AMX), 0);
  Result<LoadedCode> Loaded = loadCode(A, CpuLevel::AMX);
  ASSERT_TRUE(Loaded) << messageOf(Loaded);
  EXPECT_EQ(Loaded->level(), CpuLevel::AVX512_BF16);
  EXPECT_EQ(answerOf(*Loaded), 42.0f);
}

TEST(ArtifactCode, MissingFeaturesAreNamed) {
  TemporaryDirectory Directory;
  Artifact A = artifactOf(Directory, {{CpuLevel::AMX, testCode(1)},
                                      {CpuLevel::AVX512_BF16, testCode(1)}});
  EXPECT_EQ(messageOf(loadCode(A, CpuLevel::AVX512_VNNI)),
            A.path() + ": compiled for amx, avx512_bf16: this CPU (or "
                       "ONEDNN_MAX_CPU_ISA) lacks avx512bf16; compile with "
                       "--target-cpu avx512_vnni");
  std::string Message = messageOf(loadCode(A, CpuLevel::AVX2));
  EXPECT_NE(Message.find("avx512f"), std::string::npos) << Message;
  EXPECT_NE(Message.find("avx512bf16; compile with --target-cpu avx2"),
            std::string::npos)
      << Message;
  Artifact None = artifactOf(Directory, {});
  EXPECT_EQ(messageOf(loadCode(None, CpuLevel::AMX)),
            None.path() + ": holds no native code: expected at least one CPU "
                          "level");
}

TEST(ArtifactCode, WhatIsNoCodeIsRefused) {
  TemporaryDirectory Directory;
  std::vector<std::byte> Good = testCode(1);
  std::vector<std::byte> NoElf(1000, std::byte('x'));
  std::vector<std::byte> Short(Good.begin(), Good.begin() + 20);
  std::vector<std::byte> OtherMachine = Good;
  OtherMachine[18] = std::byte(183); // e_machine: AArch64
  for (const auto &Bad : {NoElf, Short, OtherMachine}) {
    Artifact A = artifactOf(Directory, {{CpuLevel::AVX2, Bad}});
    EXPECT_EQ(messageOf(loadCode(A, CpuLevel::AVX2)),
              A.path() + ": code for avx2: not an x86-64 shared object");
  }
  // The dynamic linker's own refusal is passed on.
  Good.resize(100);
  Artifact A = artifactOf(Directory, {{CpuLevel::AVX2, Good}});
  std::string Message = messageOf(loadCode(A, CpuLevel::AVX2));
  EXPECT_NE(Message.find("code for avx2: cannot load it: "), std::string::npos)
      << Message;
}

TEST(ArtifactCode, MissingEntryPointsAreNamed) {
  TemporaryDirectory Directory;
  Artifact A = artifactOf(Directory, {{CpuLevel::AVX2, testCode(1)}}, "encode");
  EXPECT_EQ(messageOf(loadCode(A, CpuLevel::AVX2)),
            A.path() + ": code for avx2: lacks the symbol "
                       "'tenon_entry_encode' of entry 'encode'");
}
