//===- ImageSettings.h - How a checkpoint prepares images -------*- C++ -*-===//

#ifndef TENON_COMPILER_FAMILIES_IMAGESETTINGS_H
#define TENON_COMPILER_FAMILIES_IMAGESETTINGS_H

#include "runtime/Image/Preprocess.h"

#include <string>

namespace tenon {

using namespace image;

/// Reads preprocessor_config.json in `Directory` for a model whose input is
/// [Channels, Height, Width]. What the file leaves out is as in the
/// Transformers library's ViTImageProcessor: bilinear to 224 x 224, 1/255, mean
/// and deviation 0.5. Errors: no such file, another processor, a key that is
/// not handled, and settings whose result is not of the model's size.
Result<ImagePreprocessing> readImageSettings(const std::string &Directory,
                                             int64_t Channels, int64_t Height,
                                             int64_t Width);

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_IMAGESETTINGS_H
