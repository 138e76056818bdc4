//===- ImageSettings.h - How a checkpoint prepares images -------*- C++ -*-===//

#ifndef TENON_COMPILER_FAMILIES_IMAGESETTINGS_H
#define TENON_COMPILER_FAMILIES_IMAGESETTINGS_H

#include "runtime/Image/Preprocess.h"

#include <string>

namespace tenon {

using namespace image;

/// The Transformers library's image processors, by what they do where they are
/// not told.
enum class ImageProcessor {
  Vit, ///< Bilinear to 224 x 224, 1/255, mean and deviation 0.5.
  /// Bicubic to a shortest edge of 224, of which the middle 224 x 224 are cut
  /// out, 1/255, the means and deviations of CLIP's training.
  Clip
};

/// Whether `Directory` says how images are prepared: in
/// preprocessor_config.json, or in processor_config.json, where newer files
/// have it.
bool hasImageSettings(const std::string &Directory);

/// Reads these settings for a model whose input is [Channels, Height, Width].
/// Where the file names no processor it is `Usual`. Errors: no such file,
/// another processor, a key that is not handled, and settings whose result is
/// not of the model's size.
Result<ImagePreprocessing> readImageSettings(const std::string &Directory,
                                             int64_t Channels, int64_t Height,
                                             int64_t Width,
                                             ImageProcessor Usual);

/// What `Usual` does when it is told nothing but the size; of CLIP's, 3
/// channels.
ImagePreprocessing usualImageSettings(int64_t Channels, int64_t Height,
                                      int64_t Width, ImageProcessor Usual);

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_IMAGESETTINGS_H
