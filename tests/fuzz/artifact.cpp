//===- artifact.cpp - Artifacts, opened and described ---------------------===//
//
// Input: a whole artifact, or the JSON of a manifest, which gets sections of
// zeros. Checksums are set right, so that damage goes further than them. None
// of an artifact's code is loaded.
//
//===----------------------------------------------------------------------===//

#include "runtime/Artifact/Artifact.h"
#include "runtime/Artifact/Format.h"
#include "runtime/Tool/Inspect.h"
#include "tests/fuzz/FuzzTarget.h"

#include <algorithm>
#include <cstring>

using namespace tenon;
using namespace tenon::artifact;

static void open(std::string_view Content) {
  static fuzz::MemoryFile Memory;
  Memory.setContent(Content);
  Result<Artifact> A = Artifact::open(Memory.path());
  if (!fuzz::isGood(A))
    return;
  const Manifest &M = A->manifest();
  for (size_t I = 0; I < M.Weights.size(); ++I)
    fuzz::require(A->weight(I).size() == M.Weights[I].Bytes,
                  "a weight is as long as the manifest says");
  for (size_t I = 0; I < M.Code.size(); ++I)
    fuzz::isGood(A->code(I));
  fuzz::isGood(A->tokenizerJson());
  fuzz::isGood(A->verifyMapped());
  for (bool AsJson : {false, true}) {
    tool::InspectOptions Options;
    Options.Json = AsJson;
    Options.MemoryPlan = Options.Matmuls = true;
    std::string Report;
    fuzz::isGood(tool::inspectArtifact(*A, Options, Report));
  }
}

/// `Content` with a header that fits its manifest.
static std::string resealed(std::string Content) {
  auto Field = [&](size_t At) {
    uint64_t Value = 0;
    std::memcpy(&Value, Content.data() + At, sizeof(Value));
    return Value;
  };
  ArtifactHeader Header;
  Header.FileBytes = Content.size();
  Header.ManifestOffset = Field(24);
  Header.ManifestBytes = Field(32);
  if (Header.ManifestOffset <= Content.size() &&
      Header.ManifestBytes <= Content.size() - Header.ManifestOffset)
    Header.ManifestChecksum =
        checksumOf(std::as_bytes(std::span(Content))
                       .subspan(Header.ManifestOffset, Header.ManifestBytes));
  auto Bytes = encodeHeader(Header);
  std::memcpy(Content.data(), Bytes.data(), Bytes.size());
  return Content;
}

/// An artifact of zeros with this manifest.
static std::string around(std::string_view Manifest) {
  constexpr size_t SectionBytes = 64 << 10;
  std::string Content(ArtifactPage + SectionBytes, '\0');
  ArtifactHeader Header;
  Header.ManifestOffset = Content.size();
  Header.ManifestBytes = Manifest.size();
  Header.ManifestChecksum = checksumOf(std::as_bytes(std::span(Manifest)));
  Content += Manifest;
  Header.FileBytes = Content.size();
  auto Bytes = encodeHeader(Header);
  std::memcpy(Content.data(), Bytes.data(), Bytes.size());
  return Content;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  std::string_view Text = fuzz::textOf(Data, Size);
  bool IsFile = Size >= ArtifactHeaderBytes &&
                std::memcmp(Data, ArtifactMagic.data(), 4) == 0;
  if (IsFile) {
    open(Text);
    open(resealed(std::string(Text)));
    return 0;
  }
  open(around(Text));
  Result<Json> Tree = parseJson(Text, "manifest");
  if (!fuzz::isGood(Tree))
    return 0;
  Result<Manifest> M = manifestFromJson(*Tree, "manifest");
  if (!fuzz::isGood(M))
    return 0;
  Json Written = toJson(*M);
  Result<Manifest> Again = manifestFromJson(Written, "manifest");
  fuzz::require(Again && toJson(*Again) == Written,
                "a manifest reads as it is written");
  // Sound sections of zeros, as far as they fit.
  for (CodeInfo &Code : M->Code)
    if (Code.Bytes <= ArtifactPage)
      Code.Checksum = checksumOf(std::vector<std::byte>(Code.Bytes));
  if (M->Tokenizer && M->Tokenizer->Bytes <= ArtifactPage)
    M->Tokenizer->Checksum =
        checksumOf(std::vector<std::byte>(M->Tokenizer->Bytes));
  open(around(toJson(*M).dump()));
  return 0;
}
