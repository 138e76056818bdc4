//===- Resample.cpp - Images in another size ------------------------------===//

#include "runtime/Image/Resample.h"

#include <algorithm>
#include <cmath>
#include <numbers>

using namespace tenon;
using namespace tenon::image;

namespace {

/// A filter by its distance from the middle, zero beyond `Radius`.
struct Filter {
  double Radius;
  double (*At)(double Distance);
};

double bilinearAt(double Distance) {
  double X = std::fabs(Distance);
  return X < 1 ? 1 - X : 0;
}

/// Keys' cubic convolution with a = -1/2.
double bicubicAt(double Distance) {
  constexpr double A = -0.5;
  double X = std::fabs(Distance);
  if (X < 1)
    return ((A + 2) * X - (A + 3)) * X * X + 1;
  return X < 2 ? (((X - 5) * X + 8) * X - 4) * A : 0;
}

double sinc(double X) {
  if (X == 0)
    return 1;
  X *= std::numbers::pi;
  return std::sin(X) / X;
}

/// The sinc windowed by its own middle lobe, stretched to three.
double lanczosAt(double Distance) {
  return Distance >= -3 && Distance < 3 ? sinc(Distance) * sinc(Distance / 3)
                                        : 0;
}

Filter filterOf(Resampling Kind) {
  if (Kind == Resampling::Lanczos)
    return {3, lanczosAt};
  if (Kind == Resampling::Bicubic)
    return {2, bicubicAt};
  return {1, bilinearAt};
}

/// The weights of every output position along one axis.
struct AxisWeights {
  unsigned Precision = 0; ///< Weights are in units of 2^-Precision.
  size_t MaxTaps = 0;
  std::vector<int64_t> First;   ///< Output -> its first input.
  std::vector<size_t> Taps;     ///< Output -> the number of inputs.
  std::vector<int32_t> Weights; ///< [output][MaxTaps].

  AxisWeights(int64_t Input, int64_t Output, const Filter &F) {
    double Scale = static_cast<double>(Input) / static_cast<double>(Output);
    double Stretch = std::max(Scale, 1.0);
    double Support = F.Radius * Stretch;
    // In single precision, as the original.
    MaxTaps =
        static_cast<size_t>(std::ceil(static_cast<float>(Support))) * 2 + 1;
    First.resize(static_cast<size_t>(Output));
    Taps.resize(First.size());
    std::vector<double> Real(First.size() * MaxTaps);
    double Largest = 0;
    for (size_t I = 0; I < First.size(); ++I) {
      double Center = Scale * (static_cast<double>(I) + 0.5);
      First[I] =
          std::max<int64_t>(static_cast<int64_t>(Center - Support + 0.5), 0);
      int64_t End = std::min<int64_t>(
          static_cast<int64_t>(Center + Support + 0.5), Input);
      Taps[I] = static_cast<size_t>(std::clamp<int64_t>(
          End - First[I], 0, static_cast<int64_t>(MaxTaps)));
      double *Row = Real.data() + I * MaxTaps;
      double Sum = 0;
      for (size_t J = 0; J < Taps[I]; ++J) {
        Row[J] = F.At((static_cast<double>(First[I] + static_cast<int64_t>(J)) -
                       Center + 0.5) /
                      Stretch);
        Sum += Row[J];
      }
      for (size_t J = 0; J < Taps[I] && Sum != 0; ++J) {
        Row[J] /= Sum;
        Largest = std::max(Largest, Row[J]);
      }
    }
    // As many bits as keep the largest weight below 2^15.
    while (Precision < 22 &&
           static_cast<int64_t>(0.5 + Largest * (1 << (Precision + 1))) <
               (1 << 15))
      ++Precision;
    Weights.resize(Real.size());
    for (size_t I = 0; I < Real.size(); ++I) {
      double Scaled = Real[I] * (1 << Precision);
      Weights[I] =
          static_cast<int32_t>(Scaled < 0 ? Scaled - 0.5 : Scaled + 0.5);
    }
  }

  uint8_t rounded(int32_t Sum) const {
    int32_t Value = (Sum + (1 << (Precision - 1))) >> Precision;
    return static_cast<uint8_t>(std::clamp(Value, 0, 255));
  }
};

Image emptyLike(const Image &Source, int64_t Height, int64_t Width) {
  Image Empty{Width, Height, Source.Channels, {}};
  Empty.Pixels.resize(static_cast<size_t>(Width * Height * Source.Channels));
  return Empty;
}

/// `Channels` samples of output X from the row that begins at `Row`.
template <size_t Channels>
void filterPixels(const AxisWeights &Axis, const uint8_t *Row, uint8_t *To) {
  for (size_t X = 0; X < Axis.First.size(); ++X, To += Channels) {
    const uint8_t *From = Row + static_cast<size_t>(Axis.First[X]) * Channels;
    const int32_t *Weight = Axis.Weights.data() + X * Axis.MaxTaps;
    int32_t Sums[Channels] = {};
    for (size_t J = 0; J < Axis.Taps[X]; ++J, From += Channels)
      for (size_t C = 0; C < Channels; ++C)
        Sums[C] += Weight[J] * From[C];
    for (size_t C = 0; C < Channels; ++C)
      To[C] = Axis.rounded(Sums[C]);
  }
}

Image filterRows(const Image &Source, int64_t Width, const Filter &F) {
  Image Result = emptyLike(Source, Source.Height, Width);
  AxisWeights Axis(Source.Width, Width, F);
  size_t FromStride = static_cast<size_t>(Source.Width * Source.Channels);
  size_t ToStride = static_cast<size_t>(Width * Source.Channels);
  auto *Convert = Source.Channels == 3 ? filterPixels<3> : filterPixels<1>;
  for (size_t Y = 0; Y < static_cast<size_t>(Source.Height); ++Y)
    Convert(Axis, Source.Pixels.data() + Y * FromStride,
            Result.Pixels.data() + Y * ToStride);
  return Result;
}

Image filterColumns(const Image &Source, int64_t Height, const Filter &F) {
  Image Result = emptyLike(Source, Height, Source.Width);
  AxisWeights Axis(Source.Height, Height, F);
  size_t Stride = static_cast<size_t>(Source.Width * Source.Channels);
  std::vector<int32_t> Sums(Stride);
  for (size_t Y = 0; Y < static_cast<size_t>(Height); ++Y) {
    std::fill(Sums.begin(), Sums.end(), 0);
    for (size_t J = 0; J < Axis.Taps[Y]; ++J) {
      int32_t Weight = Axis.Weights[Y * Axis.MaxTaps + J];
      const uint8_t *From = Source.Pixels.data() +
                            (static_cast<size_t>(Axis.First[Y]) + J) * Stride;
      for (size_t X = 0; X < Stride; ++X)
        Sums[X] += Weight * From[X];
    }
    uint8_t *To = Result.Pixels.data() + Y * Stride;
    for (size_t X = 0; X < Stride; ++X)
      To[X] = Axis.rounded(Sums[X]);
  }
  return Result;
}

/// The input nearest to each output position, in single precision as the
/// original.
std::vector<size_t> nearestInputs(int64_t Input, int64_t Output) {
  float Scale = static_cast<float>(Input) / static_cast<float>(Output);
  std::vector<size_t> Inputs(static_cast<size_t>(Output));
  for (size_t I = 0; I < Inputs.size(); ++I) {
    float At = Scale * (static_cast<float>(I) + 0.5f) - 0.5f;
    auto Nearest = static_cast<int64_t>(std::floor(std::max(At, 0.0f) + 0.5f));
    Inputs[I] = static_cast<size_t>(std::min(Nearest, Input - 1));
  }
  return Inputs;
}

Image pickNearest(const Image &Source, int64_t Height, int64_t Width) {
  Image Result = emptyLike(Source, Height, Width);
  std::vector<size_t> Columns = nearestInputs(Source.Width, Width);
  uint8_t *To = Result.Pixels.data();
  for (size_t Row : nearestInputs(Source.Height, Height))
    for (size_t Column : Columns)
      To = std::copy_n(Source.Pixels.data() +
                           (Row * static_cast<size_t>(Source.Width) + Column) *
                               static_cast<size_t>(Source.Channels),
                       Source.Channels, To);
  return Result;
}

} // namespace

std::string_view image::nameOf(Resampling Kind) {
  switch (Kind) {
  case Resampling::Nearest:
    return "nearest";
  case Resampling::Lanczos:
    return "lanczos";
  case Resampling::Bilinear:
    return "bilinear";
  case Resampling::Bicubic:
    return "bicubic";
  }
  return "";
}

std::optional<Resampling> image::resamplingNamed(std::string_view Name) {
  for (Resampling Kind : {Resampling::Nearest, Resampling::Lanczos,
                          Resampling::Bilinear, Resampling::Bicubic})
    if (nameOf(Kind) == Name)
      return Kind;
  return std::nullopt;
}

Result<Image> image::resize(const Image &Source, int64_t Height, int64_t Width,
                            Resampling Kind) {
  // Products of sides: no multiplication that could overflow.
  if (Height < 1 || Width < 1 || Width > MaxImagePixels / Height ||
      Width > MaxImagePixels / Source.Height)
    return Error("resizing an image of " + std::to_string(Source.Width) +
                 " x " + std::to_string(Source.Height) + " to " +
                 std::to_string(Width) + " x " + std::to_string(Height) +
                 ": expected at most " + std::to_string(MaxImagePixels) +
                 " pixels, also between the two directions");
  if (Kind == Resampling::Nearest)
    return pickNearest(Source, Height, Width);
  Filter F = filterOf(Kind);
  // An unchanged axis would be copied pixel by pixel: each weight is one.
  Image Rows = Width == Source.Width ? Source : filterRows(Source, Width, F);
  return Height == Source.Height ? Rows : filterColumns(Rows, Height, F);
}
