//===- Vision.h - Models that look at images --------------------*- C++ -*-===//

#ifndef TENON_COMPILER_FAMILIES_VISION_H
#define TENON_COMPILER_FAMILIES_VISION_H

#include "compiler/Families/Decoder.h"
#include "compiler/Families/Encoder.h"

namespace tenon {

/// One vision Transformer, ready to build.
struct VisionModel {
  /// The vocabulary is 1 and unused; sequences are an image's patches and its
  /// class token.
  ModelSizes Sizes;
  StackOptions Stack;
  AnswerOptions Answer;
  int64_t Channels = 0;
  int64_t Height = 0;
  int64_t Width = 0;
  int64_t PatchHeight = 0;
  int64_t PatchWidth = 0;
  /// Tensors that checkpoints may hold and that the model does not need; '*'
  /// stands for anything.
  std::vector<std::string> UnusedTensors;
};

/// A decoder that reads images in its text.
struct VisionLanguageModel {
  /// Its embedding has the token that stands for a row of an image.
  DecoderModel Text;
  /// Answers rows as wide as the decoder's.
  VisionModel Vision;
  /// So many rows of the vision model stand for an image, the last ones.
  int64_t ImageRows = 0;
  /// Those of the whole.
  std::vector<std::string> UnusedTensors;
};

/// Sides of images and patches beyond this are refused.
inline constexpr int64_t MaxInputSide = 1 << 14;

/// Reads the sizes of layers and the channels, which all configs call the same;
/// not the sides of images and patches, nor what follows from these.
void readVisionSizes(ConfigReader &Config, VisionModel &Model);

/// Builds the entry "encode_image".
void buildVision(ModelBuilder &Model, const VisionModel &Vision);

/// Builds the entries "step" and "encode_image" of one module, whose sizes are
/// the decoder's.
void buildVisionLanguage(ModelBuilder &Model, const VisionLanguageModel &Both,
                         ElementType CacheElement);

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_VISION_H
