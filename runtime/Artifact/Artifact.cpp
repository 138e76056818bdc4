//===- Artifact.cpp - Opening compiled models -----------------------------===//

#include "runtime/Artifact/Artifact.h"

#include "runtime/Artifact/Format.h"

#include <cstring>

using namespace tenon;
using namespace tenon::artifact;

static Error damaged(const std::string &Path, const ArtifactSection &Section) {
  return Error(ErrorKind::DamagedFile, Path + ": damaged: the checksum of " +
                                           Section.Name + " at offset " +
                                           std::to_string(Section.Offset) +
                                           " does not match its content");
}

/// A copy of the section, which nobody changes after its checksum is taken.
static Result<std::string> checkedCopy(const MappedFile &File,
                                       const ArtifactSection &Section) {
  std::span<const std::byte> Bytes =
      File.bytes().subspan(Section.Offset, Section.Bytes);
  std::string Copy(reinterpret_cast<const char *>(Bytes.data()), Bytes.size());
  if (checksumOf(std::as_bytes(std::span(Copy))) == Section.Checksum)
    return Copy;
  // What changed under our hands was not damaged before.
  if (Status Same = File.checkUnchanged(); !Same)
    return Same.error();
  return damaged(File.path(), Section);
}

Result<bool> artifact::isArtifact(const std::string &Path) {
  Result<std::string> Start = readStart(Path, ArtifactMagic.size());
  if (!Start)
    return Start.error();
  return Start->size() == ArtifactMagic.size() &&
         std::memcmp(Start->data(), ArtifactMagic.data(), Start->size()) == 0;
}

Result<Artifact> Artifact::open(const std::string &Path,
                                const std::string &Name) {
  Result<MappedFile> File = MappedFile::open(Path, MappedPages::Huge, Name);
  if (!File)
    return File.error();
  const std::string &Shown = File->path();
  std::span<const std::byte> Bytes = File->bytes();
  Result<ArtifactHeader> Header = decodeHeader(Bytes, Shown);
  if (!Header)
    return Header.error().ofContent();
  Result<std::string> ManifestText =
      checkedCopy(*File, {"the manifest", Header->ManifestOffset,
                          Header->ManifestBytes, Header->ManifestChecksum});
  if (!ManifestText)
    return ManifestText.error();
  Result<Json> Parsed = parseJson(*ManifestText, Shown);
  if (!Parsed)
    return Parsed.error().ofContent();
  Result<Manifest> Contents = manifestFromJson(*Parsed, Shown);
  if (!Contents)
    return Contents.error().ofContent();

  // The writer puts the manifest last, so everything else ends before it.
  std::vector<ArtifactSection> Sections = sectionsOf(*Contents);
  for (const ArtifactSection &Section : Sections)
    if (Section.Offset > Header->ManifestOffset ||
        Section.Bytes > Header->ManifestOffset - Section.Offset)
      return Error(ErrorKind::DamagedFile,
                   Shown + ": " + Section.Name + " is at offset " +
                       std::to_string(Section.Offset) + ", " +
                       std::to_string(Section.Bytes) +
                       " bytes long: expected it before the manifest at " +
                       std::to_string(Header->ManifestOffset));
  for (const ArtifactSection &Section : Sections)
    if (!Section.IsMapped)
      if (Result<std::string> Sound = checkedCopy(*File, Section); !Sound)
        return Sound.error();
  if (Status Same = File->checkUnchanged(); !Same)
    return Same.error();
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

Result<std::string> Artifact::code(size_t Index) const {
  return checkedCopy(File,
                     sectionsOf(Contents)[Contents.Weights.size() + Index]);
}

Result<std::string> Artifact::tokenizerJson() const {
  if (!Contents.Tokenizer)
    return std::string();
  const TokenizerInfo &T = *Contents.Tokenizer;
  return checkedCopy(File, {"tokenizer", T.Offset, T.Bytes, T.Checksum});
}

std::span<const std::byte> Artifact::prefixes() const {
  if (!Contents.Prefixes)
    return {};
  return section(Contents.Prefixes->Offset, Contents.Prefixes->Bytes);
}

Status Artifact::verifyMapped() const {
  for (const ArtifactSection &Section : sectionsOf(Contents)) {
    if (!Section.IsMapped)
      continue;
    bool IsSound =
        checksumOf(section(Section.Offset, Section.Bytes)) == Section.Checksum;
    if (Status Same = File.checkUnchanged(); !Same)
      return Same;
    if (!IsSound)
      return damaged(path(), Section);
  }
  return {};
}
