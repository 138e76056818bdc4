//===- ImageSettings.cpp - How a checkpoint prepares images ---------------===//

#include "compiler/Families/ImageSettings.h"

#include "compiler/Checkpoint/Config.h"

#include <algorithm>
#include <filesystem>

using namespace tenon;

namespace {

constexpr int64_t DefaultSide = 224;

/// Processors under their names over time; those of one kind have the same
/// defaults.
struct ProcessorName {
  std::string_view Name;
  ImageProcessor Kind;
};
constexpr ProcessorName Processors[] = {
    {"ViTImageProcessor", ImageProcessor::Vit},
    {"ViTImageProcessorFast", ImageProcessor::Vit},
    {"ViTImageProcessorPil", ImageProcessor::Vit},
    {"ViTFeatureExtractor", ImageProcessor::Vit},
    {"CLIPImageProcessor", ImageProcessor::Clip},
    {"CLIPImageProcessorFast", ImageProcessor::Clip},
    {"CLIPImageProcessorPil", ImageProcessor::Clip},
    {"CLIPFeatureExtractor", ImageProcessor::Clip},
    // CLIP's with padding, which is off unless asked for.
    {"LlavaImageProcessor", ImageProcessor::Clip},
    {"LlavaImageProcessorFast", ImageProcessor::Clip},
    {"LlavaImageProcessorPil", ImageProcessor::Clip}};

/// For messages.
std::string_view processorName(ImageProcessor Kind) {
  return Kind == ImageProcessor::Vit ? "ViTImageProcessor"
                                     : "CLIPImageProcessor";
}

/// The names of Python classes and of keys that Python checks, and how it
/// groups batches: nothing that changes pixels. Colours are always converted
/// to what the model has.
constexpr std::string_view InertStrings[] = {"processor_class"};
constexpr std::string_view InertBooleans[] = {"do_convert_rgb",
                                              "disable_grouping"};
constexpr std::string_view InertLists[] = {"_valid_processor_keys"};

Status readInertKeys(const Config &C) {
  for (std::string_view Key : InertStrings)
    if (auto Value = C.optionalString(Key); !Value)
      return Value.error();
  for (std::string_view Key : InertBooleans)
    if (auto Value = C.optionalBoolean(Key); !Value)
      return Value.error();
  for (std::string_view Key : InertLists)
    if (auto Value = C.optionalStrings(Key); !Value)
      return Value.error();
  return {};
}

/// The file may name its processor under two keys; the first one counts.
Result<ImageProcessor> readProcessor(const Config &C, ImageProcessor Usual) {
  std::optional<ImageProcessor> Kind;
  for (std::string_view Key :
       {"image_processor_type", "feature_extractor_type"}) {
    auto Name = C.optionalString(Key);
    if (!Name)
      return Name.error();
    if (!*Name || Kind)
      continue;
    for (const ProcessorName &Known : Processors)
      if (Known.Name == **Name)
        Kind = Known.Kind;
    if (!Kind)
      return C.expected(Key, "ViTImageProcessor or CLIPImageProcessor");
  }
  return Kind.value_or(Usual);
}

struct Size {
  int64_t Height = 0, Width = 0;
  std::optional<int64_t> ShortestEdge;
};

/// A size as a number, a pair or an object. A number is a square, or, where
/// `IsSquare` is false, the shortest edge.
Result<Size> readSize(const Config &C, std::string_view Key, bool IsSquare,
                      Size Default) {
  if (!C.has(Key)) {
    C.isNull(Key); // Null is read, too.
    return Default;
  }
  Size S;
  // Of the three forms, the one that parses.
  if (auto Object = C.object(Key)) {
    if (Object->has("shortest_edge")) {
      auto Edge = Object->integer("shortest_edge", 1, MaxImageSide);
      if (!Edge)
        return Edge.error();
      S.ShortestEdge = *Edge;
      return S;
    }
    auto Height = Object->integer("height", 1, MaxImageSide);
    if (!Height)
      return Height.error();
    auto Width = Object->integer("width", 1, MaxImageSide);
    if (!Width)
      return Width.error();
    S.Height = *Height, S.Width = *Width;
    return S;
  }
  auto Sides = C.optionalIntegers(Key, 1, MaxImageSide);
  if (!Sides || Sides->empty() || Sides->size() > 2)
    return C.expected(Key, "one or two whole numbers from 1 to " +
                               std::to_string(MaxImageSide) +
                               ", or an object with height and width, or with "
                               "shortest_edge");
  if (Sides->size() == 1 && !IsSquare)
    S.ShortestEdge = Sides->front();
  else
    S.Height = Sides->front(), S.Width = Sides->back();
  return S;
}

/// A number per channel, or one for all; `Default` when absent.
Result<std::vector<double>> readPerChannel(const Config &C,
                                           std::string_view Key,
                                           const std::vector<double> &Default,
                                           int64_t Channels, double Min) {
  auto Count = static_cast<size_t>(Channels);
  if (!C.has(Key)) {
    C.isNull(Key);
    if (Default.size() != Count)
      return Error(C.file() + ": missing field '" + std::string(Key) +
                   "', which means " + std::to_string(Default.size()) +
                   " numbers: expected " + std::to_string(Count) +
                   ", one per channel");
    return Default;
  }
  auto InRange = [&](double Value) {
    return Value >= Min && Value <= MaxPixelScale;
  };
  std::vector<double> Values;
  if (auto One = C.number(Key))
    Values.assign(Count, *One);
  else if (auto List = C.numbers(Key))
    Values = *List;
  if (Values.size() != Count ||
      !std::all_of(Values.begin(), Values.end(), InRange)) {
    char Text[96];
    std::snprintf(Text, sizeof(Text),
                  "%zu numbers from %g to %g, one per channel", Count, Min,
                  MaxPixelScale);
    return C.expected(Key, Text);
  }
  return Values;
}

std::string sizeText(int64_t Height, int64_t Width) {
  return "height " + std::to_string(Height) + " and width " +
         std::to_string(Width);
}

/// Whether the steps before cropping and the crop give the model's size.
Status checkResult(const Config &C, const ImagePreprocessing &P,
                   const Size &Crop) {
  std::string Model = "the model's " + sizeText(P.Height, P.Width);
  if (P.DoCenterCrop) {
    if (Crop.ShortestEdge || Crop.Height != P.Height || Crop.Width != P.Width)
      return C.expected("crop_size", Model);
    return {};
  }
  // Without either, every image is checked when it is read.
  if (!P.DoResize)
    return {};
  if (P.ShortestEdge)
    return C.expected("size", Model + ", or do_center_crop");
  if (P.ResizeHeight == P.Height && P.ResizeWidth == P.Width)
    return {};
  if (C.has("size"))
    return C.expected("size", Model);
  return Error(C.file() + ": missing field 'size', which means " +
               sizeText(P.ResizeHeight, P.ResizeWidth) + ": expected " + Model);
}

/// Reads what is on or off and the numbers that go with it.
Status readSteps(const Config &C, ImagePreprocessing &P) {
  struct Step {
    std::string_view Key;
    bool &Target;
  };
  for (Step S :
       {Step{"do_resize", P.DoResize}, Step{"do_center_crop", P.DoCenterCrop},
        Step{"do_rescale", P.DoRescale}, Step{"do_normalize", P.DoNormalize}}) {
    auto On = C.booleanOr(S.Key, S.Target);
    if (!On)
      return On.error();
    S.Target = *On;
  }
  auto Order = C.stringOr("data_format", "channels_first");
  if (!Order)
    return Order.error();
  if (*Order != "channels_first")
    return C.expected("data_format", "channels_first");
  auto Pads = C.booleanOr("do_pad", false);
  if (!Pads)
    return Pads.error();
  if (*Pads)
    return C.expected("do_pad", "false: padding is not handled");

  auto Kind = C.integerOr("resample", static_cast<int64_t>(P.Resample), 0, 5);
  if (!Kind)
    return Kind.error();
  if (*Kind > 3)
    return C.expected("resample", "0 (nearest), 1 (lanczos), 2 (bilinear) or "
                                  "3 (bicubic)");
  P.Resample = static_cast<Resampling>(*Kind);

  auto Factor = C.numberOr("rescale_factor", P.RescaleFactor, MinPixelScale,
                           MaxPixelScale);
  if (!Factor)
    return Factor.error();
  P.RescaleFactor = *Factor;

  auto Mean =
      readPerChannel(C, "image_mean", P.Mean, P.Channels, -MaxPixelScale);
  if (!Mean)
    return Mean.error();
  auto Std = readPerChannel(C, "image_std", P.Std, P.Channels, MinPixelScale);
  if (!Std)
    return Std.error();
  P.Mean.clear(), P.Std.clear();
  if (P.DoNormalize)
    P.Mean = *Mean, P.Std = *Std;
  return {};
}

} // namespace

/// The object that says how images are prepared. Newer files have it inside of
/// processor_config.json, which then goes before the other.
static Result<Config> openSettings(const std::string &Directory) {
  std::string Outer = Directory + "/processor_config.json";
  std::error_code Ignored;
  if (std::filesystem::exists(Outer, Ignored)) {
    auto Whole = Config::openFile(Outer);
    if (!Whole)
      return Whole.error();
    auto Nested = Whole->optionalObject("image_processor");
    if (!Nested)
      return Nested.error();
    if (*Nested)
      return **Nested;
  }
  return Config::openFile(Directory + "/preprocessor_config.json");
}

bool tenon::hasImageSettings(const std::string &Directory) {
  std::error_code Ignored;
  if (std::filesystem::exists(Directory + "/preprocessor_config.json", Ignored))
    return true;
  // A file that cannot be read is there, too.
  auto Whole = Config::openFile(Directory + "/processor_config.json");
  return Whole ? Whole->has("image_processor")
               : std::filesystem::exists(Directory + "/processor_config.json",
                                         Ignored);
}

ImagePreprocessing tenon::usualImageSettings(int64_t Channels, int64_t Height,
                                             int64_t Width,
                                             ImageProcessor Usual) {
  ImagePreprocessing P;
  P.Channels = Channels;
  P.Height = P.ResizeHeight = Height;
  P.Width = P.ResizeWidth = Width;
  if (Usual == ImageProcessor::Vit) {
    P.Mean.assign(static_cast<size_t>(Channels), 0.5);
    P.Std = P.Mean;
    return P;
  }
  P.ResizeHeight = P.ResizeWidth = 0;
  P.ShortestEdge = std::min(Height, Width);
  P.Resample = Resampling::Bicubic;
  P.DoCenterCrop = true;
  P.Mean = {0.48145466, 0.4578275, 0.40821073};
  P.Std = {0.26862954, 0.26130258, 0.27577711};
  return P;
}

Result<ImagePreprocessing>
tenon::readImageSettings(const std::string &Directory, int64_t Channels,
                         int64_t Height, int64_t Width, ImageProcessor Usual) {
  auto C = openSettings(Directory);
  if (!C)
    return C.error();
  if (Channels != 1 && Channels != 3)
    return Error(C->file() + ": is for a model with " +
                 std::to_string(Channels) +
                 " channels: expected 1 (grey) or 3 (RGB)");
  auto Kind = readProcessor(*C, Usual);
  if (!Kind)
    return Kind.error();
  if (Status S = readInertKeys(*C); !S)
    return S.error();
  bool IsClip = *Kind == ImageProcessor::Clip;
  ImagePreprocessing P = usualImageSettings(Channels, Height, Width, *Kind);
  if (Status S = readSteps(*C, P); !S)
    return S.error();

  auto IsSquare = C->booleanOr("default_to_square", !IsClip);
  if (!IsSquare)
    return IsSquare.error();
  Size Square = {DefaultSide, DefaultSide, std::nullopt};
  auto Resize = readSize(*C, "size", *IsSquare,
                         IsClip ? Size{0, 0, DefaultSide} : Square);
  if (!Resize)
    return Resize.error();
  P.ResizeHeight = Resize->Height, P.ResizeWidth = Resize->Width;
  P.ShortestEdge = Resize->ShortestEdge;
  auto Crop = readSize(*C, "crop_size", true, IsClip ? Square : Size{});
  if (!Crop)
    return Crop.error();
  if (Status S = checkResult(*C, P, *Crop); !S)
    return S.error();
  if (Status S = C->refuseUnreadKeys(processorName(*Kind)); !S)
    return S.error();
  return P;
}
