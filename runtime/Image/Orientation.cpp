//===- Orientation.cpp - Which side of a picture is up --------------------===//

#include "runtime/Image/Orientation.h"

#include <algorithm>
#include <utility>

using namespace tenon;
using namespace tenon::image;

namespace {

/// A TIFF file's numbers, in its own byte order.
class TiffBytes {
public:
  TiffBytes(std::string_view Bytes, bool BigEndian)
      : Bytes(Bytes), BigEndian(BigEndian) {}

  /// The `Count` bytes (at most 4) at `Offset` as a number; nothing beyond the
  /// end.
  std::optional<uint32_t> number(uint64_t Offset, uint64_t Count) const {
    if (Offset + Count > Bytes.size())
      return std::nullopt;
    uint32_t Value = 0;
    for (uint64_t I = 0; I < Count; ++I) {
      uint64_t At = BigEndian ? I : Count - 1 - I;
      Value = Value << 8 | static_cast<uint8_t>(Bytes[Offset + At]);
    }
    return Value;
  }

private:
  std::string_view Bytes;
  bool BigEndian;
};

constexpr uint32_t OrientationTag = 0x0112;

} // namespace

std::optional<int64_t> image::exifOrientation(std::string_view Block) {
  constexpr std::string_view Prefix("Exif\0\0", 6);
  // Some writers have it twice.
  for (int I = 0; I < 2 && Block.starts_with(Prefix); ++I)
    Block.remove_prefix(Prefix.size());
  bool BigEndian = Block.starts_with(std::string_view("MM\0*", 4));
  if (!BigEndian && !Block.starts_with(std::string_view("II*\0", 4)))
    return std::nullopt;
  TiffBytes Tiff(Block, BigEndian);
  std::optional<uint32_t> Directory = Tiff.number(4, 4);
  if (!Directory)
    return std::nullopt;
  std::optional<uint32_t> Entries = Tiff.number(*Directory, 2);
  if (!Entries)
    return std::nullopt;
  std::optional<int64_t> Found;
  for (uint32_t I = 0; I < *Entries; ++I) {
    // Tag, type, count, and the value itself where it fits in four bytes.
    uint64_t Entry = uint64_t(*Directory) + 2 + uint64_t(12) * I;
    std::optional<uint32_t> Tag = Tiff.number(Entry, 2);
    std::optional<uint32_t> Type = Tiff.number(Entry + 2, 2);
    std::optional<uint32_t> Count = Tiff.number(Entry + 4, 4);
    if (!Tag || !Type || !Count)
      break;
    if (*Tag != OrientationTag || *Count != 1)
      continue;
    // Bytes, shorts and longs; the last entry of a tag counts.
    uint64_t Size = *Type == 1 ? 1 : *Type == 3 ? 2 : *Type == 4 ? 4 : 0;
    if (Size == 0)
      continue;
    if (std::optional<uint32_t> Value = Tiff.number(Entry + 8, Size))
      Found = *Value;
  }
  return Found;
}

std::optional<int64_t> image::xmpOrientation(std::string_view Packet) {
  constexpr std::string_view Name = "tiff:Orientation";
  // An attribute or an element.
  for (size_t At = Packet.find(Name); At != std::string_view::npos;
       At = Packet.find(Name, At + 1)) {
    std::string_view Rest = Packet.substr(At + Name.size());
    if (Rest.starts_with("=\""))
      Rest.remove_prefix(2);
    else if (Rest.starts_with(">"))
      Rest.remove_prefix(1);
    else
      continue;
    if (!Rest.empty() && Rest[0] >= '0' && Rest[0] <= '9')
      return Rest[0] - '0';
  }
  return std::nullopt;
}

Orientation image::orientationOf(std::string_view ExifBlock,
                                 std::string_view XmpPacket) {
  std::optional<int64_t> Number = exifOrientation(ExifBlock);
  if (!Number)
    Number = xmpOrientation(XmpPacket);
  if (!Number || *Number < 1 || *Number > 8)
    return Orientation::Upright;
  return static_cast<Orientation>(*Number);
}

Image image::turned(Image Stored, Orientation Turn) {
  if (Turn == Orientation::Upright)
    return Stored;
  auto Is = [&](std::initializer_list<Orientation> Turns) {
    return std::find(Turns.begin(), Turns.end(), Turn) != Turns.end();
  };
  // Every turn is a mirroring of either axis of the stored image, and then,
  // for some, an exchange of the axes.
  bool MirrorX = Is({Orientation::FlipHorizontally, Orientation::Rotate180,
                     Orientation::RotateLeft, Orientation::Transverse});
  bool MirrorY = Is({Orientation::FlipVertically, Orientation::Rotate180,
                     Orientation::RotateRight, Orientation::Transverse});
  bool Exchange = Is({Orientation::Transpose, Orientation::RotateRight,
                      Orientation::Transverse, Orientation::RotateLeft});
  Image Result;
  Result.Channels = Stored.Channels;
  Result.Width = Exchange ? Stored.Height : Stored.Width;
  Result.Height = Exchange ? Stored.Width : Stored.Height;
  Result.Pixels.resize(Stored.Pixels.size());
  uint8_t *To = Result.Pixels.data();
  for (int64_t Y = 0; Y < Result.Height; ++Y)
    for (int64_t X = 0; X < Result.Width; ++X, To += Result.Channels) {
      int64_t FromX = Exchange ? Y : X, FromY = Exchange ? X : Y;
      if (MirrorX)
        FromX = Stored.Width - 1 - FromX;
      if (MirrorY)
        FromY = Stored.Height - 1 - FromY;
      std::copy_n(Stored.Pixels.data() +
                      (FromY * Stored.Width + FromX) * Result.Channels,
                  Result.Channels, To);
    }
  return Result;
}
