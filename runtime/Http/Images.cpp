//===- Images.cpp - Images that clients send ------------------------------===//

#include "runtime/Http/Images.h"

#include "runtime/Engine/Pixels.h"
#include "runtime/Support/Base64.h"

#include <algorithm>
#include <cctype>

using namespace tenon;
using namespace tenon::http;
using generation::PromptImage;

/// A text of a client's in a message, which stays short.
static std::string shown(std::string_view Text) {
  constexpr size_t Most = 60;
  return printable(std::string(Text.substr(0, Most))) +
         (Text.size() > Most ? "..." : "");
}

static std::string lower(std::string_view Text) {
  std::string Small(Text);
  std::transform(Small.begin(), Small.end(), Small.begin(),
                 [](unsigned char C) { return std::tolower(C); });
  return Small;
}

/// What errors are said of: the first part of a place, such as "messages".
static ApiError wrong(const std::string &Place, const std::string &What) {
  size_t End = Place.find_first_of(".[");
  return {400, "'" + Place + "' " + What, Place.substr(0, End)};
}

Json MessageContent::json() const {
  if (HasImage)
    return Parts;
  std::string Text;
  for (const Json &Part : Parts)
    Text += Part.at("text").get_ref<const std::string &>();
  return Text;
}

/// A member of an object, which is not copied; null where there is none.
static const Json &memberOf(const Json &Object, const char *Key) {
  static const Json None;
  auto At = Object.find(Key);
  return At == Object.end() ? None : *At;
}

/// "detail" of OpenAI's images.
static void readDetail(Fields &F) {
  const Json *J = F.get("detail");
  if (J && *J != "auto" && *J != "low" && *J != "high")
    F.expected("detail", "\"auto\", \"low\" or \"high\"");
}

/// The string that the member `Key` must be, for errors in `F`.
static const std::string *needString(Fields &F, const char *Key,
                                     const char *Expected) {
  const Json *J = F.need(Key, Expected);
  if (J && !J->is_string())
    F.expected(Key, Expected);
  return J && J->is_string() ? &J->get_ref<const std::string &>() : nullptr;
}

Json ImageReader::ofImageUrl(const Json &Part, const std::string &Place,
                             Fields &F) {
  bool IsFlat = memberOf(Part, "type") == "input_image";
  std::string Path = Place + (IsFlat ? "." : ".image_url.");
  const char *Key = IsFlat ? "image_url" : "url";
  Fields Inner(IsFlat ? Part : memberOf(Part, "image_url"), Path);
  if (IsFlat) {
    Inner.get("type");
    Inner.accept("file_id", nullptr);
  }
  const std::string *Text = needString(Inner, Key, "a data URL");
  readDetail(Inner);
  if (std::optional<ApiError> Wrong = Inner.finish()) {
    F.refuse(*Wrong);
    return nullptr;
  }
  return ofUrl(*Text, Path + Key, F);
}

Json ImageReader::ofSource(const Json &Block, const std::string &Place,
                           Fields &F) {
  Fields Inner(memberOf(Block, "source"), Place + ".source.");
  const std::string *Type = needString(Inner, "type", "\"base64\"");
  if (Type && *Type != "base64")
    Inner.expected("type", "\"base64\", for nothing is fetched for a client");
  const std::string *MediaType =
      needString(Inner, "media_type", "\"image/png\" or \"image/jpeg\"");
  const std::string *Data = needString(Inner, "data", "an image in base64");
  if (std::optional<ApiError> Wrong = Inner.finish()) {
    F.refuse(*Wrong);
    return nullptr;
  }
  return ofBase64(*MediaType, *Data, Place + ".source", F);
}

Json ImageReader::ofUrl(std::string_view Url, const std::string &Place,
                        Fields &F) {
  size_t Comma = Url.find(',');
  std::string Head = lower(Url.substr(0, std::min(Comma, size_t(100))));
  constexpr std::string_view Scheme = "data:", Coding = ";base64";
  if (Comma == std::string_view::npos || !Head.starts_with(Scheme) ||
      !Head.ends_with(Coding)) {
    F.refuse(wrong(Place, "is " + shown(Url) +
                              ": expected data:image/png;base64,DATA or "
                              "data:image/jpeg;base64,DATA, for nothing is "
                              "fetched for a client"));
    return nullptr;
  }
  std::string Type =
      Head.substr(Scheme.size(), Head.find(';', Scheme.size()) - Scheme.size());
  return add(Type, Url.substr(Comma + 1), Place, F);
}

Json ImageReader::ofBase64(std::string_view MediaType, std::string_view Data,
                           const std::string &Place, Fields &F) {
  return add(lower(MediaType), Data, Place, F);
}

Json ImageReader::add(std::string_view MediaType, std::string_view Data,
                      const std::string &Place, Fields &F) {
  if (MediaType != "image/png" && MediaType != "image/jpeg" &&
      MediaType != "image/jpg") {
    F.refuse(wrong(Place, "is of the media type " + shown(MediaType) +
                              ": expected image/png or image/jpeg"));
    return nullptr;
  }
  if (Images.size() == Bounds.Images) {
    F.refuse(wrong(Place,
                   "is the image number " + std::to_string(Images.size() + 1) +
                       ": expected at most " + std::to_string(Bounds.Images)));
    return nullptr;
  }
  Result<std::string> Bytes = decodeBase64(Data);
  if (!Bytes) {
    F.refuse(wrong(Place, Bytes.error().message()));
    return nullptr;
  }
  if (!isPossible())
    return nullptr;
  const artifact::ImageInfo &Info = *M->manifest().Image;
  auto Size =
      static_cast<size_t>(Info.patches() * Info.patchValues()) * sizeof(float);
  if (Held->fetch_add(Size) + Size > Bounds.AllImageBytes) {
    Held->fetch_sub(Size);
    F.refuse({503,
              "images of other requests wait: expected at most " +
                  std::to_string(Bounds.AllImageBytes) + " bytes of all",
              "", 1.0});
    return nullptr;
  }
  // Counted until the last who has it lets it go.
  auto GiveBack = [Held = Held, Size](const void *) { Held->fetch_sub(Size); };
  std::shared_ptr<const void> Counted(&Images, GiveBack);
  Result<std::vector<float>> Pixels = engine::pixelValuesOf(
      *Bytes, Info, static_cast<int64_t>(Bounds.ImagePixels));
  if (!Pixels) {
    F.refuse(wrong(Place, "cannot be read: " + Pixels.error().message()));
    return nullptr;
  }
  struct CountedImage {
    PromptImage::Ptr Image;
    std::shared_ptr<const void> Counted;
  };
  auto Both = std::make_shared<CountedImage>(
      generation::makePromptImage(*Pixels, Info), std::move(Counted));
  Images.emplace_back(Both, Both->Image.get());
  return {{"type", "image"}, {"number", Images.size() - 1}};
}

std::vector<PromptImage::Ptr> ImageReader::takeFor(chat::Conversation &Talk) {
  std::vector<PromptImage::Ptr> Ordered;
  for (Json &Message : Talk.Messages) {
    auto At = Message.find("content");
    if (At == Message.end() || !At->is_array())
      continue;
    for (Json &Part : *At)
      if (auto Number = Part.find("number"); Number != Part.end()) {
        Ordered.push_back(Images[Number->get<size_t>()]);
        Part.erase(Number);
      }
  }
  return Ordered;
}
