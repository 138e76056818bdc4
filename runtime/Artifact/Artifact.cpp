//===- Artifact.cpp - Opening compiled models -----------------------------===//

#include "runtime/Artifact/Artifact.h"

#include "runtime/Artifact/Format.h"

using namespace tenon;
using namespace tenon::artifact;

static Error damaged(const std::string &Path, const ArtifactSection &Section) {
  return Error(ErrorKind::DamagedFile, Path + ": damaged: the checksum of " +
                                           Section.Name + " at offset " +
                                           std::to_string(Section.Offset) +
                                           " does not match its content");
}

Result<Artifact> Artifact::open(const std::string &Path) {
  Result<MappedFile> File = MappedFile::open(Path);
  if (!File)
    return File.error();
  std::span<const std::byte> Bytes = File->bytes();
  Result<ArtifactHeader> Header = decodeHeader(Bytes, Path);
  if (!Header)
    return Header.error().ofContent();
  if (Status S = File->checkNotShrunk(); !S)
    return S.error();

  std::span<const std::byte> ManifestBytes =
      Bytes.subspan(Header->ManifestOffset, Header->ManifestBytes);
  if (checksumOf(ManifestBytes) != Header->ManifestChecksum)
    return damaged(Path, {"the manifest", Header->ManifestOffset, 0, 0});
  Result<Json> Parsed =
      parseJson({reinterpret_cast<const char *>(ManifestBytes.data()),
                 ManifestBytes.size()},
                Path);
  if (!Parsed)
    return Parsed.error().ofContent();
  Result<Manifest> Contents = manifestFromJson(*Parsed, Path);
  if (!Contents)
    return Contents.error().ofContent();

  // The writer puts the manifest last, so everything else ends before it.
  std::vector<ArtifactSection> Sections = sectionsOf(*Contents);
  for (const ArtifactSection &Section : Sections)
    if (Section.Offset > Header->ManifestOffset ||
        Section.Bytes > Header->ManifestOffset - Section.Offset)
      return Error(ErrorKind::DamagedFile,
                   Path + ": " + Section.Name + " is at offset " +
                       std::to_string(Section.Offset) + ", " +
                       std::to_string(Section.Bytes) +
                       " bytes long: expected it before the manifest at " +
                       std::to_string(Header->ManifestOffset));
  for (const ArtifactSection &Section :
       std::span(Sections).subspan(Contents->Weights.size()))
    if (checksumOf(Bytes.subspan(Section.Offset, Section.Bytes)) !=
        Section.Checksum)
      return damaged(Path, Section);
  return Artifact(std::move(*File), std::move(*Contents));
}

std::span<const std::byte> Artifact::section(uint64_t Offset,
                                             uint64_t Bytes) const {
  return File.bytes().subspan(Offset, Bytes);
}

std::span<const std::byte> Artifact::weight(size_t Index) const {
  const WeightInfo &W = Contents.Weights[Index];
  return section(W.Offset, W.Bytes);
}

std::span<const std::byte> Artifact::code(size_t Index) const {
  const CodeInfo &C = Contents.Code[Index];
  return section(C.Offset, C.Bytes);
}

std::string_view Artifact::tokenizerJson() const {
  if (!Contents.Tokenizer)
    return {};
  std::span<const std::byte> Bytes =
      section(Contents.Tokenizer->Offset, Contents.Tokenizer->Bytes);
  return {reinterpret_cast<const char *>(Bytes.data()), Bytes.size()};
}

Status Artifact::verifyWeights() const {
  std::vector<ArtifactSection> Sections = sectionsOf(Contents);
  for (const ArtifactSection &Section :
       std::span(Sections).first(Contents.Weights.size())) {
    if (Status S = File.checkNotShrunk(); !S)
      return S;
    if (checksumOf(section(Section.Offset, Section.Bytes)) != Section.Checksum)
      return damaged(path(), Section);
  }
  return {};
}
