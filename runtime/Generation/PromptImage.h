//===- PromptImage.h - Images in prompts ------------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_GENERATION_PROMPTIMAGE_H
#define TENON_RUNTIME_GENERATION_PROMPTIMAGE_H

#include "runtime/Engine/Model.h"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tenon::generation {

/// An image as the model's encoder takes it.
struct PromptImage {
  using Ptr = std::shared_ptr<const PromptImage>;

  /// [patches, values of a patch]: engine::ImageItem.
  std::vector<float> Patches;
  /// SHA-256 of the patches' bytes: equal for equal images alone.
  std::array<uint32_t, 8> Digest = {};
};

/// The image of the pixel values [channels, height, width], which must be as
/// many as `Info` says (engine/Pixels.h).
PromptImage::Ptr makePromptImage(std::span<const float> Pixels,
                                 const artifact::ImageInfo &Info);

/// Whether prompts of the model can have images.
bool readsImages(const engine::Model &M);

/// `Prompt`, which has one image token for each of `Images` images, with as
/// many of them as an image has rows. Errors: another number of them; a model
/// whose prompts have no images.
Result<std::vector<int32_t>> withImageRows(const engine::Model &M,
                                           std::vector<int32_t> Prompt,
                                           size_t Images);

/// Where the images of such a prompt begin.
std::vector<size_t> imageStarts(const engine::Model &M,
                                std::span<const int32_t> Prompt);

} // namespace tenon::generation

#endif // TENON_RUNTIME_GENERATION_PROMPTIMAGE_H
