//===- ArtifactTestSupport.h - Small artifacts for tests --------*- C++ -*-===//
//
// A temporary directory, and artifacts written into it, whole or damaged.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TESTS_UNIT_ARTIFACTTESTSUPPORT_H
#define TENON_TESTS_UNIT_ARTIFACTTESTSUPPORT_H

#include "TemporaryDirectory.h"

#include "compiler/Artifact/ArtifactWriter.h"
#include "runtime/Artifact/Artifact.h"
#include "runtime/Artifact/Format.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

namespace tenon::test {

using namespace artifact;

inline std::vector<std::byte> readBytes(const std::string &Path) {
  std::ifstream In(Path, std::ios::binary);
  EXPECT_TRUE(In) << Path;
  std::string Text((std::istreambuf_iterator<char>(In)), {});
  auto Bytes = std::as_bytes(std::span(Text));
  return {Bytes.begin(), Bytes.end()};
}

inline void writeBytes(const std::string &Path,
                       std::span<const std::byte> Bytes) {
  std::ofstream Out(Path, std::ios::binary | std::ios::trunc);
  Out.write(reinterpret_cast<const char *>(Bytes.data()),
            static_cast<std::streamsize>(Bytes.size()));
  ASSERT_TRUE(Out.flush());
}

/// The error message of `R`, "" when it succeeded.
template <typename T> std::string messageOf(const Result<T> &R) {
  return R ? "" : R.error().message();
}

/// A shared object of the build that has the entry point `step`.
inline std::vector<std::byte> testCode(int Variant) {
  return readBytes(std::string(TENON_BIN) + "/tenon-test-code" +
                   std::to_string(Variant) + ".so");
}

inline const char TokenizerText[] = "{\"version\": \"1.0\"}";

/// A manifest with something in every field but those that the writer fills.
inline Manifest sampleManifest() {
  Manifest M;
  M.ProducedBy = "tenon test";
  M.Family = "llama";
  M.WeightType = "bf16";
  M.Vocabulary = 97;
  M.MaxSequence = 128;
  M.MaxTokensPerStep = 64;
  M.FewTokens = 8;
  M.TokenTypes = 2;
  M.HasPrefixMask = true;
  M.MaxTextTokens = 32;
  M.Entries = {{"step", OutputKind::Logits, 97, false, 0, 90},
               {"embed", OutputKind::Pooled, 24, true},
               {"encode_image", OutputKind::Classes, 3, false, 4 * 2, 0}};
  M.Caches = {{2, 3, 24, CacheFormat::BF16, 16, 3 * 16 * (24 + 32) * 2},
              {1, 1, 40, CacheFormat::F32, 32, 32 * 40 * 4, CacheContent::Cross,
               std::string(LatentForm)}};
  M.MaxSource = 77;
  M.Scopes = {{"model", {-1, -1}, {0}}, {"layer.0", {0, 0}, {1, 2}}};
  M.Image = {1, 12, 6, 4, 2, {}};
  M.Image->Preprocessing.Channels = 1;
  M.Image->Preprocessing.Height = M.Image->Preprocessing.ResizeHeight = 12;
  M.Image->Preprocessing.Width = M.Image->Preprocessing.ResizeWidth = 6;
  M.Image->Preprocessing.Mean = {0.25};
  M.Image->Preprocessing.Std = {0.5};
  M.Chat = ChatInfo{{{"default", "{{ bos_token }}\n"}, {"tools", ""}},
                    {{"bos_token", "<s>"}},
                    "hermes"};
  M.Labels = {"cat", "a \"dog\"", ""};
  M.Generation.EndOfSequence = {2, 3};
  M.Generation.Temperature = 0.7;
  M.Generation.TopK = 40;
  M.Generation.TopP = 0.95;
  M.Generation.Sample = true;
  M.Generation.DecoderStart = 11;
  M.Generation.ForcedFirst = 12;
  M.Generation.ForcedLast = 13;
  M.Generation.Suppressed = {5, 6};
  M.Generation.Beams = 4;
  M.Generation.LengthPenalty = 2.5;
  M.Generation.Stops = sampling::EarlyStopping::Never;
  M.Generation.NoRepeatNgram = 3;
  M.Generation.RepetitionPenalty = 1.25;
  M.Generation.MinLength = 7;
  M.Generation.MinNewTokens = 8;
  M.Generation.MinP = 0.125;
  M.Generation.TypicalP = 0.75;
  M.Generation.BadWords = {{1, 2}, {3}};
  M.Generation.StopStrings = {"\n\n", "###"};
  M.Generation.MaxLength = 60;
  M.Generation.MaxNewTokens = 59;
  M.Generation.Renormalize = true;
  M.Estimates = {{"parameters", {{"embedding", 2328}, {"total", 6738415616}}},
                 {"flops_per_token", 1.5}};
  M.Compiled = {{"target_cpu", "avx2"}};
  return M;
}

inline std::vector<WeightInfo> sampleWeights() {
  WeightInfo Table{"embed", {LayoutKind::RowMajor, StorageFormat::F32}, 97, 24};
  WeightInfo Product{"q+k", {LayoutKind::Panels, StorageFormat::BF16}, 97, 33};
  WeightInfo Norm{"norm", {LayoutKind::Vector, StorageFormat::F32}, 24, 1};
  return {Table, Product, Norm};
}

/// One code section's description, with a primitive and a plan.
inline CodeInfo sampleCode(CpuLevel Level) {
  CodeInfo C;
  C.Level = Level;
  C.ArenaBytes = 4096;
  C.ScratchBytes = 8192;
  PrimitiveInfo Plain;
  Plain.K = 33;
  Plain.N = 97;
  Plain.Source = StorageFormat::BF16;
  Plain.Layout = {LayoutKind::Panels, StorageFormat::BF16};
  PrimitiveInfo Full = Plain;
  Full.HasBias = true;
  Full.Act = Activation::GeluTanh;
  Full.Multiplier = StorageFormat::BF16;
  Full.Residual = StorageFormat::F32;
  C.Primitives = {Plain, Full};
  C.Plan = {{"layer.few", "%q", 0, 1024, 0, 3},
            {"layer.few", "%k", 1024, 512, 1, 2}};
  KernelCost Cost;
  Cost.WeightBytes = 6656;
  Cost.RowBytes = 454;
  Cost.RowFlops = 6402;
  Cost.Numbers = Arithmetic::BF16;
  KernelCost Attention;
  Attention.KeyBytes = 80;
  Attention.KeyFlops = 32;
  Attention.Window = 16;
  Attention.UsedParts = 2;
  Attention.Parts = 8;
  Attention.Keys = KeysSeen::Sequence;
  C.Kernels = {
      {"matmul %x weight %w outs(%y)", "layer.many", 1, "many rows", Cost},
      {"attention causal %q", "layer.few", std::nullopt, "", Attention}};
  return C;
}

/// Bytes that differ from weight to weight and from place to place.
inline std::vector<std::byte> weightBytes(const WeightInfo &W, unsigned Seed) {
  std::vector<std::byte> Bytes(packedBytes(W.Layout, W.Rows, W.Columns));
  for (size_t I = 0; I < Bytes.size(); ++I)
    Bytes[I] = static_cast<std::byte>((I * 31 + I / 251 + Seed * 17) & 0xff);
  return Bytes;
}

/// Streams `Bytes` through the writer in pieces of `Piece` bytes.
inline Status putWeight(ArtifactWriter &Writer, const WeightInfo &Info,
                        std::span<const std::byte> Bytes, size_t Piece) {
  if (Status S = Writer.beginWeight(Info); !S)
    return S;
  for (size_t I = 0; I < Bytes.size(); I += Piece)
    if (Status S =
            Writer.append(Bytes.subspan(I, std::min(Piece, Bytes.size() - I)));
        !S)
      return S;
  Result<size_t> Index = Writer.endWeight();
  return Index ? Status() : Status(Index.error());
}

/// Writes the sample artifact with the given code sections.
inline void writeSample(
    const std::string &Path,
    const std::vector<std::pair<CpuLevel, std::vector<std::byte>>> &Code,
    Manifest M = sampleManifest()) {
  Result<ArtifactWriter> Writer = ArtifactWriter::create(Path);
  ASSERT_TRUE(Writer) << messageOf(Writer);
  std::vector<WeightInfo> Weights = sampleWeights();
  for (size_t I = 0; I < Weights.size(); ++I) {
    Status S = putWeight(*Writer, Weights[I],
                         weightBytes(Weights[I], unsigned(I)), 1000);
    ASSERT_TRUE(S) << messageOf(S);
  }
  for (const auto &[Level, Object] : Code) {
    Result<size_t> Index = Writer->addCode(sampleCode(Level), Object);
    ASSERT_TRUE(Index) << messageOf(Index);
  }
  Status Tokenizer = Writer->setTokenizer(TokenizerText);
  ASSERT_TRUE(Tokenizer) << messageOf(Tokenizer);
  Status Finished = Writer->finish(std::move(M));
  ASSERT_TRUE(Finished) << messageOf(Finished);
}

/// `Bytes` with `Edit` applied to header and manifest text, and all checksums
/// of both made right again: damage that only the checks of content find.
inline std::vector<std::byte>
resealed(std::vector<std::byte> Bytes,
         const std::function<void(ArtifactHeader &, std::string &)> &Edit) {
  Result<ArtifactHeader> Header = decodeHeader(Bytes, "sample");
  EXPECT_TRUE(Header) << messageOf(Header);
  std::string Text(reinterpret_cast<const char *>(Bytes.data()) +
                       Header->ManifestOffset,
                   Header->ManifestBytes);
  ArtifactHeader Edited = *Header;
  uint64_t Start = Edited.ManifestOffset;
  std::string Before = Text;
  Edit(Edited, Text);
  if (Text != Before) {
    Bytes.resize(Start + Text.size());
    std::memcpy(Bytes.data() + Start, Text.data(), Text.size());
    Edited.ManifestBytes = Text.size();
    Edited.FileBytes = Bytes.size();
    Edited.ManifestChecksum = checksumOf(std::as_bytes(std::span(Text)));
  }
  auto Encoded = encodeHeader(Edited);
  std::copy(Encoded.begin(), Encoded.end(), Bytes.begin());
  return Bytes;
}

} // namespace tenon::test

#endif // TENON_TESTS_UNIT_ARTIFACTTESTSUPPORT_H
