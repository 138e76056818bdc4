//===- Orientation.h - Which side of a picture is up ------------*- C++ -*-===//
//
// The orientation of EXIF and XMP data, and turning an image by it.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_IMAGE_ORIENTATION_H
#define TENON_RUNTIME_IMAGE_ORIENTATION_H

#include "runtime/Image/Image.h"

#include <optional>
#include <string_view>

namespace tenon::image {

/// What to do to the stored pixels; the numbers are EXIF's (tag 0x0112).
enum class Orientation {
  Upright = 1,
  FlipHorizontally = 2,
  Rotate180 = 3,
  FlipVertically = 4,
  Transpose = 5,
  RotateRight = 6,
  Transverse = 7,
  RotateLeft = 8
};

/// The number in an EXIF block (a TIFF file, with or without "Exif\0\0"
/// before it); nothing when it has none or cannot be read.
std::optional<int64_t> exifOrientation(std::string_view Block);

/// The number in an XMP packet, by its first tiff:Orientation.
std::optional<int64_t> xmpOrientation(std::string_view Packet);

/// What EXIF says, else XMP, else upright; so are numbers that mean nothing.
Orientation orientationOf(std::string_view ExifBlock,
                          std::string_view XmpPacket);

/// The image turned upright.
Image turned(Image Stored, Orientation Turn);

} // namespace tenon::image

#endif // TENON_RUNTIME_IMAGE_ORIENTATION_H
