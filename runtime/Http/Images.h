//===- Images.h - Images that clients send ----------------------*- C++ -*-===//
//
// Nothing is fetched: an image is in the request, in base64.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_HTTP_IMAGES_H
#define TENON_RUNTIME_HTTP_IMAGES_H

#include "runtime/Chat/Conversation.h"
#include "runtime/Generation/PromptImage.h"
#include "runtime/Http/Fields.h"
#include "runtime/Http/Limits.h"

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::http {

/// The content of a message: a text, or where there is an image, an array of
/// {"type": "text", "text": TEXT} and of images.
class MessageContent {
public:
  void addText(const std::string &Text) {
    Parts.push_back({{"type", "text"}, {"text", Text}});
  }
  /// What an ImageReader made, which may be null.
  void addImage(Json Image) {
    HasImage = true;
    Parts.push_back(std::move(Image));
  }
  Json json() const;

private:
  Json Parts = Json::array();
  bool HasImage = false;
};

/// Bytes of images that wait for their prompts to run.
using ImageBytes = std::shared_ptr<std::atomic<size_t>>;

/// Reads the images of one conversation for a model. Errors are in the `Fields`
/// that a function is given, for the member `Place`.
class ImageReader {
public:
  /// `M` is null after an error, and nothing is decoded then. `Held` counts the
  /// images that there are.
  ImageReader(const engine::Model *M, const Limits &Bounds, ImageBytes Held)
      : M(M), Bounds(Bounds), Held(std::move(Held)) {}

  /// Whether the model reads images.
  bool isPossible() const { return M && generation::readsImages(*M); }

  /// The parts of content that stand for these images: a data URL, or base64 of
  /// a file of `MediaType`. Null after an error.
  Json ofUrl(std::string_view Url, const std::string &Place, Fields &F);
  Json ofBase64(std::string_view MediaType, std::string_view Data,
                const std::string &Place, Fields &F);

  /// The same of the member "image_url" of OpenAI's parts, of "input_image" a
  /// data URL, of "image_url" an object with one as "url"; and of the member
  /// "source" of Anthropic's blocks. "detail" changes nothing, for models have
  /// one size of images.
  Json ofImageUrl(const Json &Part, const std::string &Place, Fields &F);
  Json ofSource(const Json &Block, const std::string &Place, Fields &F);

  /// The images in the order in which the conversation has their parts, which
  /// become {"type": "image"}.
  std::vector<generation::PromptImage::Ptr> takeFor(chat::Conversation &Talk);

private:
  Json add(std::string_view MediaType, std::string_view Data,
           const std::string &Place, Fields &F);

  const engine::Model *M;
  const Limits &Bounds;
  ImageBytes Held;
  std::vector<generation::PromptImage::Ptr> Images;
};

} // namespace tenon::http

#endif // TENON_RUNTIME_HTTP_IMAGES_H
