//===- Vision.h - Models that look at images --------------------*- C++ -*-===//

#ifndef TENON_COMPILER_FAMILIES_VISION_H
#define TENON_COMPILER_FAMILIES_VISION_H

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

/// Builds the entry "encode_image".
void buildVision(ModelBuilder &Model, const VisionModel &Vision);

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_VISION_H
