//===- ArtifactInspectTest.cpp - Reports on artifacts ---------------------===//

#include "ArtifactTestSupport.h"

#include "runtime/Tool/Inspect.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::tool;
using namespace tenon::test;

namespace {

/// Code that no dynamic linker would take: inspection must not need it.
const std::vector<std::byte> NoCode(2000, std::byte('x'));

/// The report on the sample artifact, or the error.
std::string reportOf(const std::string &Path, InspectOptions Options) {
  Result<Artifact> A = Artifact::open(Path);
  if (!A)
    return "error: " + messageOf(A);
  std::string Out;
  Status S = inspectArtifact(*A, Options, Out);
  return S ? Out : "error: " + messageOf(S);
}

} // namespace

TEST(ArtifactInspect, JsonHoldsEverything) {
  TemporaryDirectory Directory;
  std::string Path = Directory / "a";
  writeSample(Path, {{CpuLevel::AVX2, NoCode}});
  Result<Json> Parsed = parseJson(reportOf(Path, {true, true}), "report");
  ASSERT_TRUE(Parsed) << messageOf(Parsed);
  const Json &R = *Parsed;
  EXPECT_EQ(R["model"]["family"], "llama");
  EXPECT_EQ(R["model"]["max_sequence"], 128);
  EXPECT_EQ(R["entries"][1]["output"], "pooled");
  EXPECT_EQ(R["estimates"]["parameters"]["total"], 6738415616);
  EXPECT_EQ(R["compiled"]["target_cpu"], "avx2");
  EXPECT_EQ(R["caches"][0]["bytes_per_token"], 5376 / 16 * 2);
  EXPECT_EQ(R["caches"][0]["bytes_full_context"], 5376 * 2 * 8);
  EXPECT_EQ(R["code"][0]["level"], "avx2");
  EXPECT_EQ(R["code"][0]["bytes"], 2000);
  EXPECT_EQ(R["code"][0]["arena_bytes"], 4096);
  EXPECT_EQ(R["code"][0]["primitives"].size(), 2u);
  EXPECT_EQ(R["code"][0]["plan"][1]["value"], "%k");
  EXPECT_EQ(R["weights"]["count"], 3);
  // 97 x 24 f32; 128 x 64 bf16; 64 f32.
  EXPECT_EQ(R["weights"]["bytes"], 9312 + 16384 + 256);
  EXPECT_EQ(R["weights"]["by_layout"]["panels.bf16"]["bytes"], 16384);
  EXPECT_EQ(R["weights"]["by_layout"]["panels.bf16"]["count"], 1);
  EXPECT_EQ(R["weights"]["list"][1]["name"], "q+k");
  EXPECT_EQ(R["tokenizer_bytes"], sizeof(TokenizerText) - 1);
  EXPECT_EQ(R["generation"]["top_k"], 40);
  EXPECT_EQ(R["weights_verified"], true);
}

TEST(ArtifactInspect, TextIsReadable) {
  TemporaryDirectory Directory;
  std::string Path = Directory / "a";
  Manifest M = sampleManifest();
  M.Labels = {"Käse \u4f60\x1b[31mb\nc\x7f\u009b"};
  writeSample(Path, {{CpuLevel::AVX2, NoCode}}, M);
  std::string Text = reportOf(Path, {});
  for (const char *Line :
       {"\nparameters        6,738,415,616\n",
        "\nweights           3, 25,952 bytes (", "1 panels.bf16",
        "\ncode              avx2: 2,000 bytes, arena 4,096 bytes, 2 library "
        "matmuls\n",
        "\nlabels            Käse \u4f60\\u001b[31mb\\nc\\x7f\\xc2\\x9b\n"})
    EXPECT_NE(Text.find(Line), std::string::npos) << Line << "\nin\n" << Text;
  EXPECT_EQ(Text.find('\x1b'), std::string::npos);
  EXPECT_EQ(Text.find("layer.few"), std::string::npos);
  EXPECT_LE(std::count(Text.begin(), Text.end(), '\n'), 25);

  InspectOptions Everything;
  Everything.MemoryPlan = Everything.Matmuls = true;
  std::string More = reportOf(Path, Everything);
  EXPECT_TRUE(More.starts_with(Text));
  for (const char *Line :
       {"\nMemory plan, avx2: 4,096 bytes\n",
        "\n  layer.few  %k      1,024    512          1         2\n",
        "\nLibrary matmuls, avx2\n"})
    EXPECT_NE(More.find(Line), std::string::npos) << Line << "\nin\n" << More;
}

TEST(ArtifactInspect, VerificationNamesTheDamagedWeight) {
  TemporaryDirectory Directory;
  std::string Path = Directory / "a";
  writeSample(Path, {{CpuLevel::AVX2, NoCode}});
  std::vector<std::byte> Bytes = readBytes(Path);
  Result<Artifact> A = Artifact::open(Path);
  ASSERT_TRUE(A);
  Bytes[A->manifest().Weights[1].Offset + 77] ^= std::byte(1);
  writeBytes(Path, Bytes);
  EXPECT_EQ(reportOf(Path, {true, false}).rfind("{", 0), 0u);
  std::string Message = reportOf(Path, {true, true});
  EXPECT_NE(Message.find("damaged: the checksum of weight 'q+k'"),
            std::string::npos)
      << Message;
}
