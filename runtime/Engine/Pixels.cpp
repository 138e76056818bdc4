//===- Pixels.cpp - Image files as a model's input ------------------------===//

#include "runtime/Engine/Pixels.h"

#include "runtime/Image/Image.h"
#include "runtime/Image/Preprocess.h"

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::engine;
using namespace tenon::image;

Result<std::vector<float>> engine::readPixelValues(const std::string &Path,
                                                   const ImageInfo &Info) {
  Result<Image> Picture = readImage(Path, Info.Channels);
  if (!Picture)
    return Picture.error();
  Result<std::vector<float>> Pixels = preprocess(*Picture, Info.Preprocessing);
  if (!Pixels)
    return Pixels.error().withContext(Path);
  return Pixels;
}

Result<std::vector<float>> engine::pixelValuesOf(std::string_view Bytes,
                                                 const ImageInfo &Info,
                                                 int64_t MaxPixels) {
  Result<Image> Picture = decodeImage(Bytes, Info.Channels, MaxPixels);
  if (!Picture)
    return Picture.error();
  return preprocess(*Picture, Info.Preprocessing);
}

std::vector<float> engine::patchesOf(std::span<const float> Pixels,
                                     const ImageInfo &Info) {
  return patchRows(Pixels, Info.Channels, Info.Height, Info.Width,
                   Info.PatchHeight, Info.PatchWidth);
}
