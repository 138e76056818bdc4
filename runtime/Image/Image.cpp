//===- Image.cpp - Pictures from PNG and JPEG files -----------------------===//

#include "runtime/Image/Image.h"

#include "runtime/Image/Codecs.h"
#include "runtime/Support/InputFile.h"

#include <cstdio>
#include <string_view>

using namespace tenon;
using namespace tenon::image;

namespace {

struct Format {
  std::string_view Start;
  std::string_view Name;
};
/// Files that are often taken for pictures that can be read here.
constexpr Format OtherFormats[] = {
    {"GIF8", "GIF"},
    {"RIFF", "RIFF (WebP)"},
    {"BM", "BMP"},
    {"II*", "TIFF"},
    {"MM", "TIFF"},
    {"<svg", "SVG"},
    {"<?xml", "XML"},
    {"\x93NUMPY", "NumPy"},
    {"version https://git-lfs", "Git-LFS pointer"}};

/// What `Bytes` seem to be, for an error.
std::string describe(std::string_view Bytes) {
  if (Bytes.empty())
    return "is empty";
  for (const Format &Other : OtherFormats)
    if (Bytes.starts_with(Other.Start))
      return "is a " + std::string(Other.Name) + " file";
  std::string Text = "begins with bytes";
  for (char Byte : Bytes.substr(0, 4)) {
    char Hex[8];
    std::snprintf(Hex, sizeof(Hex), " %02x", static_cast<unsigned char>(Byte));
    Text += Hex;
  }
  return Text;
}

} // namespace

Status image::checkImageSize(int64_t Width, int64_t Height, int64_t MaxPixels) {
  auto IsSide = [](int64_t Side) { return Side >= 1 && Side <= MaxImageSide; };
  if (IsSide(Width) && IsSide(Height) && Width * Height <= MaxPixels)
    return {};
  return Error("image is " + std::to_string(Width) + " x " +
               std::to_string(Height) + " pixels: expected sides from 1 to " +
               std::to_string(MaxImageSide) + " and at most " +
               std::to_string(MaxPixels) + " pixels");
}

Image image::allocateImage(int64_t Width, int64_t Height, int64_t Channels) {
  Image Empty{Width, Height, Channels, {}};
  Empty.Pixels.resize(static_cast<size_t>(Width * Height * Channels));
  return Empty;
}

Result<Image> image::decodeImage(std::string_view Bytes, int64_t Channels,
                                 int64_t MaxPixels) {
  if (Channels != 1 && Channels != 3)
    return Error(std::to_string(Channels) +
                 " channels are asked for: expected 1 or 3");
  if (Bytes.size() > MaxImageBytes)
    return Error(ErrorKind::DamagedFile, "has " + std::to_string(Bytes.size()) +
                                             " bytes: expected at most " +
                                             std::to_string(MaxImageBytes));
  bool IsPng = Bytes.starts_with("\x89PNG\r\n\x1a\n");
  if (!IsPng && !Bytes.starts_with("\xff\xd8\xff"))
    return Error(ErrorKind::DamagedFile,
                 describe(Bytes) + ": expected a PNG or JPEG file");
  Result<StoredImage> Stored = IsPng ? decodePng(Bytes, Channels, MaxPixels)
                                     : decodeJpeg(Bytes, Channels, MaxPixels);
  if (!Stored)
    return Stored.error().ofContent();
  return turned(std::move(Stored->Pixels), Stored->Turn);
}

Result<Image> image::readImage(const std::string &Path, int64_t Channels) {
  Result<std::string> Bytes = readFile(Path, MaxImageBytes);
  if (!Bytes)
    return Bytes.error();
  Result<Image> Decoded = decodeImage(*Bytes, Channels);
  if (!Decoded)
    return Decoded.error().withContext(Path);
  return Decoded;
}
