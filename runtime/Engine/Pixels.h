//===- Pixels.h - Image files as a model's input ----------------*- C++ -*-===//
//
// Reads an image file the way a model's own preprocessing says, and cuts
// pixel values into the patches that the entry "encode_image" takes.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_ENGINE_PIXELS_H
#define TENON_RUNTIME_ENGINE_PIXELS_H

#include "runtime/Artifact/Manifest.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::engine {

/// The pixel values [channels, height, width] of the PNG or JPEG file at
/// `Path` after the preprocessing of `Info`.
Result<std::vector<float>> readPixelValues(const std::string &Path,
                                           const artifact::ImageInfo &Info);

/// The same of a file's content, `Bytes`, of at most `MaxPixels` pixels. Errors
/// name no file.
Result<std::vector<float>>
pixelValuesOf(std::string_view Bytes, const artifact::ImageInfo &Info,
              int64_t MaxPixels = image::MaxImagePixels);

/// Pixel values [channels, height, width], which must be as many as `Info`
/// says, as patches for an ImageItem.
std::vector<float> patchesOf(std::span<const float> Pixels,
                             const artifact::ImageInfo &Info);

} // namespace tenon::engine

#endif // TENON_RUNTIME_ENGINE_PIXELS_H
