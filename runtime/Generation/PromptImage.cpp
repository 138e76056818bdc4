//===- PromptImage.cpp - Images in prompts --------------------------------===//

#include "runtime/Generation/PromptImage.h"

#include "runtime/Engine/Pixels.h"
#include "runtime/Support/Sha256.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::generation;

PromptImage::Ptr generation::makePromptImage(std::span<const float> Pixels,
                                             const ImageInfo &Info) {
  auto Made = std::make_shared<PromptImage>();
  Made->Patches = engine::patchesOf(Pixels, Info);
  Made->Digest = sha256(std::as_bytes(std::span<const float>(Made->Patches)));
  return Made;
}

bool generation::readsImages(const engine::Model &M) {
  const std::optional<ImageInfo> &Info = M.manifest().Image;
  return Info && Info->Token;
}

Result<std::vector<int32_t>>
generation::withImageRows(const engine::Model &M, std::vector<int32_t> Prompt,
                          size_t Images) {
  if (!readsImages(M)) {
    if (Images == 0)
      return Prompt;
    return Error(M.path() + ": the prompt has " + std::to_string(Images) +
                 " images: expected none, for this model reads texts only");
  }
  const ImageInfo &Info = *M.manifest().Image;
  auto Found = static_cast<size_t>(
      std::count(Prompt.begin(), Prompt.end(), *Info.Token));
  if (Found != Images)
    return Error(M.path() + ": the prompt has the image token " +
                 std::to_string(*Info.Token) + " " + std::to_string(Found) +
                 " times: expected it once for each of " +
                 std::to_string(Images) + " images");
  if (Images == 0)
    return Prompt;
  std::vector<int32_t> Whole;
  Whole.reserve(Prompt.size() + Images * static_cast<size_t>(Info.Rows - 1));
  for (int32_t Token : Prompt)
    Whole.insert(Whole.end(),
                 Token == *Info.Token ? static_cast<size_t>(Info.Rows) : 1,
                 Token);
  return Whole;
}

std::vector<size_t> generation::imageStarts(const engine::Model &M,
                                            std::span<const int32_t> Prompt) {
  std::vector<size_t> Starts;
  if (!readsImages(M))
    return Starts;
  const ImageInfo &Info = *M.manifest().Image;
  for (size_t I = 0; I < Prompt.size();) {
    bool IsImage = Prompt[I] == *Info.Token;
    if (IsImage)
      Starts.push_back(I);
    I += IsImage ? static_cast<size_t>(Info.Rows) : 1;
  }
  return Starts;
}
