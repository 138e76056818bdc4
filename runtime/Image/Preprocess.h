//===- Preprocess.h - From an image to a model's input ----------*- C++ -*-===//
//
// What a vision model's image processor does before the model, and its
// settings in an artifact's manifest.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_IMAGE_PREPROCESS_H
#define TENON_RUNTIME_IMAGE_PREPROCESS_H

#include "runtime/Image/Image.h"
#include "runtime/Image/Resample.h"
#include "runtime/Support/Json.h"

#include <optional>
#include <span>
#include <vector>

namespace tenon::image {

/// The steps, in their order, and the size that they must result in.
struct ImagePreprocessing {
  int64_t Channels = 3; ///< 1 (grey) or 3 (RGB).
  int64_t Height = 0;
  int64_t Width = 0;

  bool DoResize = true;
  /// The size to resize to, unless there is a ShortestEdge.
  int64_t ResizeHeight = 0;
  int64_t ResizeWidth = 0;
  /// The shorter side after resizing; the ratio of the sides stays.
  std::optional<int64_t> ShortestEdge;
  Resampling Resample = Resampling::Bilinear;

  /// Cuts Height x Width out of the middle, with zeros where there is less.
  bool DoCenterCrop = false;

  /// pixel * RescaleFactor
  bool DoRescale = true;
  double RescaleFactor = 1.0 / 255;

  /// (pixel - Mean[channel]) / Std[channel]
  bool DoNormalize = true;
  std::vector<double> Mean, Std;
};

/// Bounds of the factor and of Std, and of the magnitude of Mean.
inline constexpr double MinPixelScale = 1e-6;
inline constexpr double MaxPixelScale = 1e6;

/// Both directions of the form in a manifest. Reading checks every field.
Json toJson(const ImagePreprocessing &P);
Result<ImagePreprocessing> imagePreprocessingFromJson(const JsonField &Field);

/// `Source` as `pixel_values` of the Transformers library's ViT image
/// processor: [Channels, Height, Width] in f32, bit for bit. Errors name the
/// sizes that do not fit.
Result<std::vector<float>> preprocess(const Image &Source,
                                      const ImagePreprocessing &P);

/// Pixels [Channels, Height, Width] as patches [N, Channels * PatchHeight *
/// PatchWidth]: row-major over the grid of patches, each in the order of a
/// convolution's weight [out][Channels][PatchHeight][PatchWidth]. Rows and
/// columns that fill no whole patch are left out, as a convolution with the
/// patch as stride does.
std::vector<float> patchRows(std::span<const float> Pixels, int64_t Channels,
                             int64_t Height, int64_t Width, int64_t PatchHeight,
                             int64_t PatchWidth);

} // namespace tenon::image

#endif // TENON_RUNTIME_IMAGE_PREPROCESS_H
