//===- Format.h - The bytes of an artifact file -----------------*- C++ -*-===//
//
// An artifact is one file, little endian:
//
//   0      header, 64 bytes, the rest of its page zero
//   4096   sections, each starting on a page: packed weights, native code per
//          CPU level, tokenizer.json, and last the manifest (JSON)
//
// The header finds the manifest, the manifest finds every other section.
//
// The writer makes the file of pieces of 2 MiB at multiples of 2 MiB, so that
// the kernel can hold it, and map it, in huge pages (Support/HugePages.h).
// Sections need no such alignment for it, and readers rely on none: a huge page
// may hold the end of one weight and the beginning of another.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_ARTIFACT_FORMAT_H
#define TENON_RUNTIME_ARTIFACT_FORMAT_H

#include "runtime/Support/Result.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tenon::artifact {

/// Changes whenever an older runtime cannot read what is written.
inline constexpr uint32_t ArtifactVersion = 2;

/// Sections start at multiples of this.
inline constexpr uint64_t ArtifactPage = 4096;

/// Bytes of the header: all fields in the order of ArtifactHeader, 8 bytes
/// each but for two of 4 (version, header size), the checksum last.
inline constexpr size_t ArtifactHeaderBytes = 64;

/// A manifest longer than this is refused.
inline constexpr uint64_t MaxManifestBytes = 100u << 20;

/// First bytes of every artifact. As in PNG, the line ends show a transfer in
/// text mode, and the first byte that this is no text.
inline constexpr std::array<unsigned char, 8> ArtifactMagic = {
    0x8a, 'T', 'E', 'N', 'O', 'N', '\r', '\n'};

/// What the header holds between magic, version, its size and its checksum.
struct ArtifactHeader {
  uint64_t FileBytes = 0;
  uint64_t ManifestOffset = 0;
  uint64_t ManifestBytes = 0;
  uint64_t ManifestChecksum = 0; ///< XXH3-64.
};

/// `Offset` rounded up to a page.
constexpr uint64_t alignToPage(uint64_t Offset) {
  return (Offset + ArtifactPage - 1) / ArtifactPage * ArtifactPage;
}

/// XXH3-64 of `Bytes`: finds damage, does not authenticate.
uint64_t checksumOf(std::span<const std::byte> Bytes);

/// The bytes of a header of the current version.
std::array<std::byte, ArtifactHeaderBytes>
encodeHeader(const ArtifactHeader &Header);

/// Reads and checks the header of `File`, whose bytes are `Bytes`: magic,
/// version, checksum, size, and that the manifest lies within the file.
Result<ArtifactHeader> decodeHeader(std::span<const std::byte> Bytes,
                                    std::string_view File);

} // namespace tenon::artifact

#endif // TENON_RUNTIME_ARTIFACT_FORMAT_H
