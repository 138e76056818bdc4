//===- Codecs.h - What the PNG and JPEG readers share -----------*- C++ -*-===//
//
// Internal to this folder: decoding of whole files in memory to grey or RGB.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_IMAGE_CODECS_H
#define TENON_RUNTIME_IMAGE_CODECS_H

#include "runtime/Image/Image.h"
#include "runtime/Image/Orientation.h"

#include <string_view>

namespace tenon::image {

/// An image as its file stores it, and how it is to be turned.
struct StoredImage {
  Image Pixels;
  Orientation Turn = Orientation::Upright;
};

/// Both read a whole file's `Bytes` as `Channels` (1 or 3); errors do not name
/// the file.
Result<StoredImage> decodePng(std::string_view Bytes, int64_t Channels,
                              int64_t MaxPixels = MaxImagePixels);
Result<StoredImage> decodeJpeg(std::string_view Bytes, int64_t Channels,
                               int64_t MaxPixels = MaxImagePixels);

/// An error that names the size when it is beyond the limits.
Status checkImageSize(int64_t Width, int64_t Height, int64_t MaxPixels);

/// An image of a size that has been checked, with zeroed pixels.
Image allocateImage(int64_t Width, int64_t Height, int64_t Channels);

/// The luma of ITU-R 601 in 16-bit fixed point, as Pillow rounds it.
constexpr uint8_t lumaOf(uint8_t Red, uint8_t Green, uint8_t Blue) {
  return static_cast<uint8_t>(
      (Red * 19595u + Green * 38470u + Blue * 7471u + 32768u) >> 16);
}

} // namespace tenon::image

#endif // TENON_RUNTIME_IMAGE_CODECS_H
