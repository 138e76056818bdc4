//===- Format.cpp - The bytes of an artifact file -------------------------===//

#include "runtime/Artifact/Format.h"

#include <cstring>
#include <xxhash.h>

using namespace tenon;
using namespace tenon::artifact;

namespace {

/// Writes little-endian integers one after another.
class HeaderWriter {
public:
  explicit HeaderWriter(std::span<std::byte> Bytes) : Bytes(Bytes) {}
  template <typename T> void put(T Value) {
    for (size_t I = 0; I < sizeof(T); ++I)
      Bytes[Position++] = static_cast<std::byte>(Value >> (8 * I));
  }
  size_t position() const { return Position; }

private:
  std::span<std::byte> Bytes;
  size_t Position = 0;
};

class HeaderReader {
public:
  explicit HeaderReader(std::span<const std::byte> Bytes) : Bytes(Bytes) {}
  template <typename T> T take() {
    T Value = 0;
    for (size_t I = 0; I < sizeof(T); ++I)
      Value |= static_cast<T>(std::to_integer<T>(Bytes[Position++]) << (8 * I));
    return Value;
  }
  size_t position() const { return Position; }

private:
  std::span<const std::byte> Bytes;
  size_t Position = 0;
};

} // namespace

uint64_t artifact::checksumOf(std::span<const std::byte> Bytes) {
  return XXH3_64bits(Bytes.data(), Bytes.size());
}

std::array<std::byte, ArtifactHeaderBytes>
artifact::encodeHeader(const ArtifactHeader &Header) {
  std::array<std::byte, ArtifactHeaderBytes> Bytes = {};
  HeaderWriter Writer(Bytes);
  for (unsigned char C : ArtifactMagic)
    Writer.put(C);
  Writer.put(ArtifactVersion);
  Writer.put(static_cast<uint32_t>(ArtifactHeaderBytes));
  Writer.put(Header.FileBytes);
  Writer.put(Header.ManifestOffset);
  Writer.put(Header.ManifestBytes);
  Writer.put(Header.ManifestChecksum);
  Writer.put(uint64_t(0)); // Reserved.
  Writer.put(checksumOf(std::span(Bytes).first(Writer.position())));
  return Bytes;
}

Result<ArtifactHeader> artifact::decodeHeader(std::span<const std::byte> Bytes,
                                              std::string_view File) {
  auto Fail = [&](const std::string &Field, uint64_t Value,
                  const std::string &Expected) {
    return Error(std::string(File) + ": header field '" + Field + "' is " +
                 std::to_string(Value) + ": expected " + Expected);
  };
  size_t Compared = std::min(Bytes.size(), ArtifactMagic.size());
  if (Compared == 0 ||
      std::memcmp(Bytes.data(), ArtifactMagic.data(), Compared) != 0)
    return Error(std::string(File) +
                 ": not a Tenon artifact (wrong first bytes)");
  if (Bytes.size() < ArtifactHeaderBytes)
    return Error(
        std::string(File) + ": truncated: " + std::to_string(Bytes.size()) +
        " bytes: expected at least " + std::to_string(ArtifactHeaderBytes));

  HeaderReader Reader(Bytes);
  Reader.take<uint64_t>(); // Magic.
  auto Version = Reader.take<uint32_t>();
  auto HeaderBytes = Reader.take<uint32_t>();
  if (Version != ArtifactVersion)
    return Fail("version", Version,
                std::to_string(ArtifactVersion) +
                    " (compile the model again with this version)");
  if (HeaderBytes != ArtifactHeaderBytes)
    return Fail("header size", HeaderBytes,
                std::to_string(ArtifactHeaderBytes));
  ArtifactHeader Header;
  Header.FileBytes = Reader.take<uint64_t>();
  Header.ManifestOffset = Reader.take<uint64_t>();
  Header.ManifestBytes = Reader.take<uint64_t>();
  Header.ManifestChecksum = Reader.take<uint64_t>();
  auto Reserved = Reader.take<uint64_t>();
  uint64_t Actual = checksumOf(Bytes.first(Reader.position()));
  if (Reader.take<uint64_t>() != Actual)
    return Error(std::string(File) + ": damaged: the header's checksum does "
                                     "not match its content");

  if (Header.FileBytes != Bytes.size())
    return Error(
        std::string(File) +
        (Bytes.size() < Header.FileBytes ? ": truncated: " : ": damaged: ") +
        std::to_string(Bytes.size()) + " bytes: expected " +
        std::to_string(Header.FileBytes));
  if (Reserved != 0)
    return Fail("reserved", Reserved, "0");
  if (Header.ManifestOffset < ArtifactPage ||
      Header.ManifestOffset % ArtifactPage != 0 ||
      Header.ManifestOffset > Bytes.size())
    return Fail("manifest offset", Header.ManifestOffset,
                "a multiple of " + std::to_string(ArtifactPage) +
                    " within the file");
  if (Header.ManifestBytes == 0 || Header.ManifestBytes > MaxManifestBytes ||
      Header.ManifestBytes > Bytes.size() - Header.ManifestOffset)
    return Fail("manifest size", Header.ManifestBytes,
                "1 to " + std::to_string(MaxManifestBytes) +
                    " bytes within the file");
  return Header;
}
