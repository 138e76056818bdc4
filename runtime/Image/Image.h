//===- Image.h - Pictures from PNG and JPEG files ---------------*- C++ -*-===//
//
// An 8-bit image in memory, and reading one from a file that cannot be
// trusted.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_IMAGE_IMAGE_H
#define TENON_RUNTIME_IMAGE_IMAGE_H

#include "runtime/Support/Result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::image {

/// Pixels as [Height][Width][Channels], 8 bits each.
struct Image {
  int64_t Width = 0;
  int64_t Height = 0;
  int64_t Channels = 0;
  std::vector<uint8_t> Pixels;
};

/// What can be read: bytes of the file, and pixels of the image.
inline constexpr uint64_t MaxImageBytes = 256u << 20;
inline constexpr int64_t MaxImageSide = 65535;
inline constexpr int64_t MaxImagePixels = 64 << 20;

/// Reads the PNG or JPEG file at `Path`, whichever its content is, as grey
/// (`Channels` 1) or RGB (3), upright as its EXIF or XMP orientation says. The
/// pixels are those of Pillow's `exif_transpose(open(Path)).convert("L")` or
/// `("RGB")`: alpha is dropped, 16-bit colour keeps its upper byte, 16-bit
/// grey is cut off at 255. Errors: another format, CMYK, a damaged or
/// truncated file, or one beyond the limits above.
Result<Image> readImage(const std::string &Path, int64_t Channels);

/// The same of a file's content, `Bytes`, of at most `MaxPixels` pixels. Errors
/// name no file.
Result<Image> decodeImage(std::string_view Bytes, int64_t Channels,
                          int64_t MaxPixels = MaxImagePixels);

} // namespace tenon::image

#endif // TENON_RUNTIME_IMAGE_IMAGE_H
