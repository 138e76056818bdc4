//===- Resample.h - Images in another size ----------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_IMAGE_RESAMPLE_H
#define TENON_RUNTIME_IMAGE_RESAMPLE_H

#include "runtime/Image/Image.h"

#include <optional>
#include <string_view>

namespace tenon::image {

/// How pixels between pixels are found; the numbers are Pillow's.
enum class Resampling { Nearest = 0, Lanczos = 1, Bilinear = 2, Bicubic = 3 };

/// "nearest", "lanczos", "bilinear" or "bicubic", and the inverse.
std::string_view nameOf(Resampling Kind);
std::optional<Resampling> resamplingNamed(std::string_view Name);

/// `Source` in another size, by separable filters that widen when they shrink
/// the image (antialiasing). The pixels are those of torchvision's resize of
/// uint8 images: weights of 16-bit fixed point, rows first, rounded to 8 bits
/// after each direction. An error when the result, or the image between the
/// directions, has more than MaxImagePixels.
Result<Image> resize(const Image &Source, int64_t Height, int64_t Width,
                     Resampling Kind);

} // namespace tenon::image

#endif // TENON_RUNTIME_IMAGE_RESAMPLE_H
