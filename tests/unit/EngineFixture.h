//===- EngineFixture.h - Artifacts for engine tests -------------*- C++ -*-===//
//
// Wraps the code of EngineTestCode.c into artifacts and computes what
// it must answer.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TESTS_UNIT_ENGINEFIXTURE_H
#define TENON_TESTS_UNIT_ENGINEFIXTURE_H

#include "TemporaryDirectory.h"

#include "compiler/Artifact/ArtifactWriter.h"
#include "runtime/Abi/TenonRt.h"
#include "runtime/Support/MappedFile.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <span>
#include <string>
#include <unistd.h>
#include <vector>

#ifndef TENON_ENGINE_TEST_CODE
#define TENON_ENGINE_TEST_CODE TENON_BIN "/tenon-engine-test-code.so"
#endif

namespace tenon::test {

using namespace artifact;

inline constexpr int64_t Depth = 20, Width = 50, Vocabulary = 50,
                         FixturePageTokens = 16, MaxSequence = 90,
                         MaxTokens = 20;

/// Weight [n, k] of the model; whole numbers of 1/16, so that sums are exact,
/// and so mixed that the likeliest token changes with what came before.
inline float weightOf(int64_t N, int64_t K) {
  return static_cast<float>((N * 7 + K * 3 + N * K * K) % 11 - 5) / 16;
}

/// Of the model that makeEncoderDecoder makes.
inline constexpr int64_t MaxSource = 18;

/// The logits after the last of `Tokens`, of a sequence with a source text or
/// a prefix.
inline std::vector<float>
expectedLogits(const std::vector<int32_t> &Tokens,
               const std::vector<int32_t> &Source = {}, int64_t Prefix = 0) {
  float H = 0;
  for (size_t I = 0; I < Source.size(); ++I)
    H += 3 * static_cast<float>(I + 1) * static_cast<float>(Source[I] + 1);
  for (size_t I = 0; I < Tokens.size(); ++I)
    H += static_cast<float>(I + 1) * static_cast<float>(Tokens[I] + 1);
  std::vector<float> Logits;
  for (int64_t N = 0; N < Width; ++N) {
    float Sum =
        weightOf(N, 0) * static_cast<float>(static_cast<int>(H) % 97 - 48) +
        weightOf(N, 1) * static_cast<float>(Tokens.size() - 1) +
        weightOf(N, 2) * static_cast<float>(1 + Prefix);
    for (int64_t K = 3; K < Depth; ++K)
      Sum += weightOf(N, K);
    Logits.push_back(Sum);
  }
  return Logits;
}

/// Writes the test model to `Path`; `Change` may alter manifest and code.
inline Status
writeModel(const std::string &Path,
           const std::function<void(Manifest &, CodeInfo &)> &Change = nullptr,
           std::string_view TokenizerText = "") {
  Result<CpuLevel> Level = effectiveLevel();
  if (!Level)
    return Level.error();
  bool Wide = infoOf(*Level).LibraryFormats.contains(StorageFormat::F32);
  PackedLayout Layout{Wide ? LayoutKind::Panels : LayoutKind::RowMajor,
                      StorageFormat::F32};
  std::vector<float> Packed(
      static_cast<size_t>(packedBytes(Layout, Width, Depth)) / sizeof(float));
  for (int64_t N = 0; N < Width; ++N)
    for (int64_t K = 0; K < Depth; ++K)
      Packed[static_cast<size_t>(Wide ? K * PanelWidth + N : N * Depth + K)] =
          weightOf(N, K);

  Result<ArtifactWriter> Writer = ArtifactWriter::create(Path);
  if (!Writer)
    return Writer.error();
  WeightInfo Weight;
  Weight.Name = "head";
  Weight.Layout = Layout;
  Weight.Rows = Width;
  Weight.Columns = Depth;
  if (Status S = Writer->beginWeight(Weight); !S)
    return S;
  if (Status S = Writer->append(std::as_bytes(std::span<const float>(Packed)));
      !S)
    return S;
  if (Result<size_t> Index = Writer->endWeight(); !Index)
    return Index.error();

  Manifest M;
  M.ProducedBy = "test";
  M.AbiMajor = TENON_RT_ABI_MAJOR;
  M.AbiMinor = TENON_RT_ABI_MINOR;
  M.Family = "test";
  M.WeightType = "f32";
  M.Vocabulary = Vocabulary;
  M.MaxSequence = MaxSequence;
  M.MaxTokensPerStep = MaxTokens;
  M.FewTokens = 2;
  M.TokenTypes = 2;
  M.HasPrefixMask = true;
  M.Entries = {{"step", OutputKind::Logits, Width, false},
               {"encode", OutputKind::Hidden, Width, true},
               {"embed", OutputKind::Pooled, Width, true}};
  CacheInfo Cache;
  Cache.Layers = 2;
  Cache.KvHeads = 1;
  Cache.HeadDim = 1;
  Cache.PageTokens = FixturePageTokens;
  Cache.PageBytes = 272 * 4;
  M.Caches = {Cache};
  M.Scopes = {{"layer0", {0}, {0}}, {"layer1", {1}, {}}};
  M.Estimates = Json::object();
  M.Compiled = Json::object();
  CodeInfo Code;
  Code.Level = *Level;
  Code.ArenaBytes = 1 << 16;
  PrimitiveInfo Head;
  Head.K = Depth;
  Head.N = Width;
  Head.Layout = Layout;
  Code.Primitives = {Head};
  // 10 bytes a row and 4 a key; the keys and values of the cache.
  KernelCost Append, Sum, Matmul;
  Append.RowBytes = 10;
  Sum.KeyBytes = 4;
  Sum.KeyFlops = 2;
  Sum.Keys = KeysSeen::Causal;
  Matmul.WeightBytes = static_cast<int64_t>(Packed.size() * sizeof(float));
  Matmul.RowFlops = 2 * Depth * Width;
  Code.Kernels = {{"append", "step", std::nullopt, "", Append},
                  {"sum<a&b> %x outs(%y)", "step", std::nullopt, "", Sum},
                  {"matmul %y", "step", 0, "large", Matmul}};
  if (Change)
    Change(M, Code);

  Result<MappedFile> Object = MappedFile::open(TENON_ENGINE_TEST_CODE);
  if (!Object)
    return Object.error();
  if (Result<size_t> Index = Writer->addCode(Code, Object->bytes()); !Index)
    return Index.error();
  if (!TokenizerText.empty())
    if (Status S = Writer->setTokenizer(TokenizerText); !S)
      return S;
  return Writer->finish(M);
}

/// Makes the model an encoder-decoder: a second cache, of source texts.
inline void makeEncoderDecoder(Manifest &M, CodeInfo &) {
  CacheInfo Cross = M.Caches[0];
  Cross.Layers = 1;
  Cross.Content = CacheContent::Cross;
  M.Caches.push_back(Cross);
  M.Scopes[0].CacheLayers = {0, -1};
  M.Scopes[1].CacheLayers = {1, 0};
  M.MaxSource = MaxSource;
  M.Entries.pop_back(); // embeds whole texts
  M.Generation.DecoderStart = 0;
}

/// Makes it a model of grey images of 4 x 6 in patches of 2 x 2.
inline void makeImageModel(Manifest &M, CodeInfo &) {
  M.Entries = {{"encode_image", OutputKind::Hidden, Width, false, 4}};
  M.Image.emplace();
  M.Image->Channels = 1;
  M.Image->Height = 4;
  M.Image->Width = 6;
  M.Image->PatchHeight = M.Image->PatchWidth = 2;
  image::ImagePreprocessing &Steps = M.Image->Preprocessing;
  Steps.Channels = 1;
  Steps.Height = 4;
  Steps.Width = 6;
  Steps.DoResize = Steps.DoNormalize = false;
}

/// The image token of the model that makeImageChatModel makes.
inline constexpr int32_t ImageToken = 47;

/// Makes it a model of text with such images, of whose 7 rows the last 6 stand
/// for one: of the token's rows, those of its patches.
inline void makeImageChatModel(Manifest &M, CodeInfo &Code) {
  EntryInfo Step = M.Entries[0];
  Step.Features = Width;
  makeImageModel(M, Code);
  M.Entries.insert(M.Entries.begin(), Step);
  M.Image->Token = ImageToken;
  M.Image->Rows = 6;
}

/// What an image token counts as whose row of input is `Row`.
inline int32_t imageTokenValue(std::span<const float> Row) {
  return static_cast<int32_t>(Row.front() + 2 * Row.back()) % 97;
}

} // namespace tenon::test

#endif // TENON_TESTS_UNIT_ENGINEFIXTURE_H
