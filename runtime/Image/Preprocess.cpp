//===- Preprocess.cpp - From an image to a model's input ------------------===//

#include "runtime/Image/Preprocess.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace tenon;
using namespace tenon::image;

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

Json image::toJson(const ImagePreprocessing &P) {
  return {{"channels", P.Channels},
          {"height", P.Height},
          {"width", P.Width},
          {"do_resize", P.DoResize},
          {"resize_height", P.ResizeHeight},
          {"resize_width", P.ResizeWidth},
          {"shortest_edge", P.ShortestEdge ? Json(*P.ShortestEdge) : Json()},
          {"resample", nameOf(P.Resample)},
          {"do_center_crop", P.DoCenterCrop},
          {"do_rescale", P.DoRescale},
          {"rescale_factor", P.RescaleFactor},
          {"do_normalize", P.DoNormalize},
          {"mean", P.Mean},
          {"std", P.Std}};
}

namespace {

/// Reads members of one object and keeps the first error, after which every
/// further read leaves its target alone.
class SettingsReader {
public:
  explicit SettingsReader(const JsonField &Object) : Object(Object) {}

  void integer(std::string_view Key, int64_t &Target, int64_t Min,
               int64_t Max) {
    if (auto Field = member(Key))
      assign(Target, Field->asInteger(Min, Max));
  }

  void optionalInteger(std::string_view Key, std::optional<int64_t> &Target,
                       int64_t Min, int64_t Max) {
    auto Field = member(Key);
    if (!Field || Field->json().is_null())
      return;
    assign(Target, Field->asInteger(Min, Max));
  }

  void boolean(std::string_view Key, bool &Target) {
    if (auto Field = member(Key))
      assign(Target, Field->asBool());
  }

  void resampling(std::string_view Key, Resampling &Target) {
    auto Field = member(Key);
    if (!Field)
      return;
    std::string Name;
    assign(Name, Field->asString());
    std::optional<Resampling> Kind = resamplingNamed(Name);
    if (Kind)
      Target = *Kind;
    else
      fail(Field->expected("nearest, lanczos, bilinear or bicubic"));
  }

  void number(std::string_view Key, double &Target, double Min, double Max) {
    if (auto Field = member(Key))
      number(*Field, Target, Min, Max);
  }

  /// `Count` numbers.
  void numbers(std::string_view Key, std::vector<double> &Target, int64_t Count,
               double Min, double Max) {
    auto Field = member(Key);
    if (!Field)
      return;
    size_t Size = 0;
    assign(Size, Field->arraySize());
    if (Failure)
      return;
    if (Size != static_cast<size_t>(Count))
      return fail(
          Field->expected(std::to_string(Count) + " numbers, one per channel"));
    for (size_t I = 0; I < Size && !Failure; ++I)
      if (auto Element = Field->element(I))
        number(*Element, Target.emplace_back(), Min, Max);
  }

  std::optional<Error> Failure;

private:
  void fail(Error E) {
    if (!Failure)
      Failure = std::move(E);
  }

  std::optional<JsonField> member(std::string_view Key) {
    if (Failure)
      return std::nullopt;
    Result<JsonField> Field = Object.member(Key);
    if (Field)
      return *Field;
    fail(Field.error());
    return std::nullopt;
  }

  template <typename T, typename U> void assign(T &Target, Result<U> Value) {
    if (Value)
      Target = std::move(*Value);
    else
      fail(Value.error());
  }

  void number(const JsonField &Field, double &Target, double Min, double Max) {
    assign(Target, Field.asNumber());
    if (!Failure && !(Target >= Min && Target <= Max))
      fail(Field.expected("a number from " + Json(Min).dump() + " to " +
                          Json(Max).dump()));
  }

  JsonField Object;
};

} // namespace

Result<ImagePreprocessing>
image::imagePreprocessingFromJson(const JsonField &Field) {
  SettingsReader R(Field);
  ImagePreprocessing P;
  R.integer("channels", P.Channels, 1, 3);
  if (P.Channels == 2)
    return Field.member("channels")->expected("1 or 3");
  R.integer("height", P.Height, 1, MaxImageSide);
  R.integer("width", P.Width, 1, MaxImageSide);
  R.boolean("do_resize", P.DoResize);
  R.optionalInteger("shortest_edge", P.ShortestEdge, 1, MaxImageSide);
  int64_t MinSide = P.DoResize && !P.ShortestEdge ? 1 : 0;
  R.integer("resize_height", P.ResizeHeight, MinSide, MaxImageSide);
  R.integer("resize_width", P.ResizeWidth, MinSide, MaxImageSide);
  R.resampling("resample", P.Resample);
  R.boolean("do_center_crop", P.DoCenterCrop);
  R.boolean("do_rescale", P.DoRescale);
  R.number("rescale_factor", P.RescaleFactor, MinPixelScale, MaxPixelScale);
  R.boolean("do_normalize", P.DoNormalize);
  int64_t Count = P.DoNormalize ? P.Channels : 0;
  R.numbers("mean", P.Mean, Count, -MaxPixelScale, MaxPixelScale);
  R.numbers("std", P.Std, Count, MinPixelScale, MaxPixelScale);
  if (R.Failure)
    return *R.Failure;
  return P;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

static Result<Image> resized(const Image &Source, const ImagePreprocessing &P) {
  if (!P.ShortestEdge)
    return resize(Source, P.ResizeHeight, P.ResizeWidth, P.Resample);
  int64_t Short = std::min(Source.Width, Source.Height);
  int64_t Long = std::max(Source.Width, Source.Height);
  // Cut off, not rounded, as the original does.
  auto NewLong = static_cast<int64_t>(
      static_cast<double>(*P.ShortestEdge * Long) / static_cast<double>(Short));
  return Source.Width <= Source.Height
             ? resize(Source, NewLong, *P.ShortestEdge, P.Resample)
             : resize(Source, *P.ShortestEdge, NewLong, P.Resample);
}

/// `Height` x `Width` out of the middle; of an odd remainder, the larger part
/// is cut at the end, and filled up there.
static Image centerCropped(const Image &Source, int64_t Height, int64_t Width) {
  Image Result{Width, Height, Source.Channels, {}};
  Result.Pixels.resize(static_cast<size_t>(Width * Height * Source.Channels));
  // Where the source begins in the result, and the result in the source.
  int64_t ToY = std::max<int64_t>(Height - Source.Height, 0) / 2;
  int64_t ToX = std::max<int64_t>(Width - Source.Width, 0) / 2;
  int64_t FromY = std::max<int64_t>(Source.Height - Height, 0) / 2;
  int64_t FromX = std::max<int64_t>(Source.Width - Width, 0) / 2;
  int64_t Rows = std::min(Height, Source.Height);
  int64_t Columns = std::min(Width, Source.Width);
  for (int64_t Y = 0; Y < Rows; ++Y)
    std::copy_n(Source.Pixels.data() +
                    ((FromY + Y) * Source.Width + FromX) * Source.Channels,
                Columns * Source.Channels,
                Result.Pixels.data() +
                    ((ToY + Y) * Width + ToX) * Source.Channels);
  return Result;
}

/// What a channel's 256 values become. Rescaling and normalising are fused in
/// single precision, as the original does.
static std::array<float, 256> channelValues(const ImagePreprocessing &P,
                                            size_t Channel) {
  std::array<float, 256> Values;
  for (size_t I = 0; I < Values.size(); ++I)
    Values[I] = static_cast<float>(I);
  if (P.DoNormalize) {
    auto Mean = static_cast<float>(P.Mean[Channel]);
    auto Std = static_cast<float>(P.Std[Channel]);
    if (P.DoRescale) {
      auto Scale = static_cast<float>(1.0 / P.RescaleFactor);
      Mean *= Scale;
      Std *= Scale;
    }
    for (float &Value : Values)
      Value = (Value - Mean) / Std;
  } else if (P.DoRescale) {
    for (float &Value : Values)
      Value *= static_cast<float>(P.RescaleFactor);
  }
  return Values;
}

Result<std::vector<float>> image::preprocess(const Image &Source,
                                             const ImagePreprocessing &P) {
  auto Channels = static_cast<size_t>(P.Channels);
  if (Source.Channels != P.Channels || Source.Width < 1 || Source.Height < 1 ||
      Source.Pixels.size() !=
          static_cast<size_t>(Source.Width * Source.Height * Source.Channels))
    return Error("image has " + std::to_string(Source.Pixels.size()) +
                 " bytes for " + std::to_string(Source.Width) + " x " +
                 std::to_string(Source.Height) + " pixels of " +
                 std::to_string(Source.Channels) + " channels: expected " +
                 std::to_string(P.Channels) + " bytes per pixel");
  if (P.DoNormalize && (P.Mean.size() != Channels || P.Std.size() != Channels))
    return Error("image settings have " + std::to_string(P.Mean.size()) +
                 " means and " + std::to_string(P.Std.size()) +
                 " deviations: expected " + std::to_string(P.Channels));
  const Image *Current = &Source;
  Image Resized, Cropped;
  if (P.DoResize) {
    Result<Image> R = resized(Source, P);
    if (!R)
      return R.error();
    Resized = std::move(*R);
    Current = &Resized;
  }
  if (P.DoCenterCrop) {
    Cropped = centerCropped(*Current, P.Height, P.Width);
    Current = &Cropped;
  }
  if (Current->Height != P.Height || Current->Width != P.Width)
    return Error("image is " + std::to_string(Current->Width) + " x " +
                 std::to_string(Current->Height) +
                 " pixels after preprocessing: expected the model's " +
                 std::to_string(P.Width) + " x " + std::to_string(P.Height));
  size_t Plane = static_cast<size_t>(P.Height * P.Width);
  std::vector<float> Values(Plane * Channels);
  for (size_t C = 0; C < Channels; ++C) {
    std::array<float, 256> Table = channelValues(P, C);
    for (size_t I = 0; I < Plane; ++I)
      Values[C * Plane + I] = Table[Current->Pixels[I * Channels + C]];
  }
  return Values;
}

std::vector<float> image::patchRows(std::span<const float> Pixels,
                                    int64_t Channels, int64_t Height,
                                    int64_t Width, int64_t PatchHeight,
                                    int64_t PatchWidth) {
  int64_t GridHeight = Height / PatchHeight, GridWidth = Width / PatchWidth;
  std::vector<float> Rows(static_cast<size_t>(
      GridHeight * GridWidth * Channels * PatchHeight * PatchWidth));
  float *To = Rows.data();
  for (int64_t GridY = 0; GridY < GridHeight; ++GridY)
    for (int64_t GridX = 0; GridX < GridWidth; ++GridX)
      for (int64_t C = 0; C < Channels; ++C)
        for (int64_t Y = 0; Y < PatchHeight; ++Y)
          To = std::copy_n(Pixels.data() +
                               (C * Height + GridY * PatchHeight + Y) * Width +
                               GridX * PatchWidth,
                           PatchWidth, To);
  return Rows;
}
