//===- Quantize.cpp - f32 to blocks of quantised formats ------------------===//
//
// For a group of values x and a format's numbers q, the squared error is least
// at the scale sum(w x q) / sum(w q q) and is then sum(w x x) - sum(w x q)^2 /
// sum(w q q): candidates are compared by what is subtracted.
//
//===----------------------------------------------------------------------===//

#include "runtime/Packing/Blocks.h"
#include "runtime/Packing/ErrorMetric.h"

#include "runtime/Support/Half.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <tuple>
#include <vector>

using namespace tenon;

namespace {

/// The numbers of a format and the codes nearest to what lies between them.
class Numbers {
public:
  explicit Numbers(const StorageFormatInfo &Info) {
    if (Info.Codes) {
      for (int X = -128; X < 128; ++X) {
        int Best = 0;
        for (int Code = 1; Code < 16; ++Code)
          if (std::abs((*Info.Codes)[Code] - X) <
              std::abs((*Info.Codes)[Best] - X))
            Best = Code;
        Nearest[X + 128] = static_cast<uint8_t>(Best);
        At[X + 128] = (*Info.Codes)[Best];
      }
      auto [Least, Most] = std::ranges::minmax(*Info.Codes);
      Low = Least;
      High = Most;
      return;
    }
    // -128 would make 8-bit codes lopsided.
    Low = Info.Bits == 8 ? -127 : -static_cast<int>(Info.Offset);
    High = Info.Bits == 8
               ? 127
               : (1 << Info.Bits) - 1 - static_cast<int>(Info.Offset);
    for (int X = -128; X < 128; ++X) {
      int Number = std::clamp(X, Low, High);
      Nearest[X + 128] = static_cast<uint8_t>(
          Info.Bits == 8 ? Number : Number + static_cast<int>(Info.Offset));
      At[X + 128] = static_cast<int8_t>(Number);
    }
  }

  /// The number nearest to `Value`.
  float number(float Value) const { return At[place(Value)]; }
  /// Its code.
  uint8_t code(float Value) const { return Nearest[place(Value)]; }

  int Low, High;

private:
  /// Of the nearest integer; of two as near, the higher. NaN, which feedback
  /// of overflowing errors may be, has the first place.
  static int place(float Value) {
    float InRange = Value > -128 ? std::min(Value, 127.0f) : -128.0f;
    return static_cast<int>(InRange + 128.5f);
  }
  std::array<uint8_t, 256> Nearest;
  std::array<int8_t, 256> At;
};

const Numbers &numbersOf(const StorageFormatInfo &Info) {
  static const auto All = [] {
    std::vector<Numbers> Table;
    for (const StorageFormatInfo &Each : StorageFormats)
      Table.emplace_back(Each.isQuantised() ? Each
                                            : infoOf(StorageFormat::Q8_0));
    return Table;
  }();
  return All[static_cast<size_t>(Info.Value)];
}

/// Values that share a scale.
constexpr int64_t MaxScaleValues = GroupValues;

/// What the squared errors of `Count` values count: their importance or, as
/// long as nobody knows it, sqrt(mean square + x^2), as ggml weighs values of
/// equal importance.
void weighErrors(const float *X, const float *Importance, int64_t Count,
                 float *Weights) {
  float Sum = 0, Squares = 0;
  for (int64_t I = 0; Importance && I < Count; ++I)
    Sum += Weights[I] = Importance[I];
  if (Sum != 0)
    return;
  for (int64_t I = 0; I < Count; ++I)
    Squares += X[I] * X[I];
  for (int64_t I = 0; I < Count; ++I)
    Weights[I] = std::sqrt(Squares / static_cast<float>(Count) + X[I] * X[I]);
}

/// The scale of `Count` values that have no minimum.
float searchScale(const Numbers &N, const float *X, const float *Importance,
                  int64_t Count) {
  float Extreme = 0;
  for (int64_t I = 0; I < Count; ++I)
    if (std::abs(X[I]) > std::abs(Extreme))
      Extreme = X[I];
  if (Extreme == 0)
    return 0;
  float Weights[MaxScaleValues];
  weighErrors(X, Importance, Count, Weights);
  float Best = 0, BestGain = 0;
  auto Try = [&](float Inverse) {
    // Near the denormals; no scale of f16 is that small.
    if (!std::isfinite(Inverse))
      return;
    float Cross = 0, Square = 0;
    for (int64_t I = 0; I < Count; ++I) {
      float Q = N.number(X[I] * Inverse);
      Cross += Weights[I] * X[I] * Q;
      Square += Weights[I] * Q * Q;
    }
    if (Square > 0 && Cross * Cross > BestGain * Square) {
      BestGain = Cross * Cross / Square;
      Best = Cross / Square;
    }
  };
  // The largest value becomes about the lowest or the highest number. Many
  // numbers leave nothing to search for.
  constexpr float Steps[] = {1, 0.92f, 0.96f, 1.04f, 1.08f};
  bool IsDense = N.High - N.Low > 64 && N.Low == -N.High;
  for (int End : {N.Low, N.High})
    for (float Step : std::span(Steps).first(IsDense ? 1 : std::size(Steps)))
      Try(static_cast<float>(End) * Step / Extreme);
  return Best;
}

/// The nearest power of two, halved, as E8M0: see ScaleKind::Exponent.
uint16_t exponentOf(const float *X, int64_t Count) {
  float Most = 0;
  for (int64_t I = 0; I < Count; ++I)
    Most = std::max(Most, std::abs(X[I]));
  if (Most == 0)
    return 0;
  // The largest number of E2M1 is 1.5 x 2^2.
  int Exponent = std::ilogb(Most) - 2 + 127;
  return static_cast<uint16_t>(std::clamp(Exponent, 0, 254));
}

/// Scale and minimum that span the values, as real numbers.
std::pair<float, float> spanOf(const StorageFormatInfo &Info, const float *X) {
  auto [Least, Most] = std::minmax_element(X, X + GroupValues);
  float Low = *Least;
  // Of the kind Integer the minimum is subtracted and not negative; with a zero
  // point in the range of codes, zero is among the values.
  float High = *Most;
  if (Info.Scale == ScaleKind::Integer ||
      Info.Minimum == MinimumKind::ZeroPoint)
    Low = std::min(Low, 0.0f);
  if (Info.Minimum == MinimumKind::ZeroPoint)
    High = std::max(High, 0.0f);
  return {(High - Low) / static_cast<float>((1 << Info.Bits) - 1), Low};
}

/// The values of a block while they are quantised.
struct BlockValues {
  float *X;
  const float *Importance; ///< Null if nobody knows it.
  const float *Feedback;   ///< Rows as of ErrorMetric::feedback(), or null.
  int64_t Count;           ///< Behind them nothing changes.

  const float *importance(int64_t First) const {
    return Importance ? Importance + First : nullptr;
  }
};

/// Nearest codes of values [First, First + Count) under a scale. With feedback
/// the values become errors, and those behind them make up for each.
void setCodes(const Numbers &N, const BlockValues &Block, int64_t First,
              int64_t Count, float Scale, float Minimum, uint8_t *Codes) {
  // Under a scale that small every value is nothing.
  float Inverse = 1 / Scale;
  if (!std::isfinite(Inverse))
    Inverse = 0;
  for (int64_t I = 0; I < Count; ++I) {
    float *X = Block.X + First + I;
    float Scaled = (*X - Minimum) * Inverse;
    Codes[I] = N.code(Scaled);
    if (!Block.Feedback)
      continue;
    *X -= N.number(Scaled) * Scale + Minimum;
    makeUpForErrors({X, static_cast<size_t>(Block.Count - First - I)}, 1,
                    Block.Feedback + (First + I) * (FeedbackColumns + 1));
  }
}

constexpr float MostHalf = 65504;

uint16_t halfOf(float Value) {
  return floatToHalf(std::clamp(Value, -MostHalf, MostHalf));
}

/// A scale as f16. Subnormal ones are rounded away from zero: their steps are
/// so large that the nearest may be half of what the largest value needs.
uint16_t scaleHalfOf(float Scale) {
  constexpr float LeastNormal = 0x1p-14f;
  uint16_t Half = halfOf(Scale);
  if (std::abs(Scale) < LeastNormal &&
      std::abs(halfToFloat(Half)) < std::abs(Scale))
    ++Half;
  return Half;
}

/// Groups of one block of ScaleKind::Integer: real scales and minima first,
/// then as multiples of the block's.
void quantiseIntegerScales(const StorageFormatInfo &Info,
                           const BlockValues &Values, CodeBlock &Block) {
  const Numbers &N = numbersOf(Info);
  int64_t Count = Info.BlockValues / Info.ScaleValues;
  std::array<float, MaxBlockValues / 16> Scales = {};
  std::array<float, MaxBlockValues / 16> Minima = {};
  float Extreme = 0, Deepest = 0;
  for (int64_t I = 0; I < Count; ++I) {
    const float *Part = Values.X + I * Info.ScaleValues;
    if (Info.hasMinimum())
      std::tie(Scales[I], Minima[I]) = spanOf(Info, Part);
    else
      Scales[I] = searchScale(N, Part, Values.importance(I * Info.ScaleValues),
                              Info.ScaleValues);
    if (std::abs(Scales[I]) > std::abs(Extreme))
      Extreme = Scales[I];
    Deepest = std::min(Deepest, Minima[I]);
  }
  // With a minimum, six bits without sign; IQ4_XS six with, Q6_K eight.
  int Least = Info.hasMinimum() ? 0 : Info.ScaleValues == 16 ? -128 : -32;
  int Most = Info.hasMinimum() ? 63 : -Least - 1;
  Block.Scale =
      halfOf(Extreme / static_cast<float>(Info.hasMinimum() ? Most : Least));
  Block.MinimumScale = halfOf(-Deepest / 63);
  float Common = halfToFloat(Block.Scale);
  float CommonMinimum = halfToFloat(Block.MinimumScale);
  auto Multiple = [](float Value, float Unit, int Low, int High) {
    return Unit == 0 ? 0
                     : static_cast<int>(std::nearbyint(
                           std::clamp(Value / Unit, static_cast<float>(Low),
                                      static_cast<float>(High))));
  };
  for (int64_t I = 0; I < Count; ++I) {
    CodeGroup &Group = Block.Groups[I * Info.ScaleValues / GroupValues];
    int64_t First = I * Info.ScaleValues % GroupValues;
    int Factor = Multiple(Scales[I], Common, Least, Most);
    Group.Scales[First / Info.ScaleValues] = static_cast<uint8_t>(Factor);
    float Minimum = 0;
    if (Info.hasMinimum()) {
      int Depth = Multiple(-Minima[I], CommonMinimum, 0, 63);
      Group.Minimum = static_cast<uint16_t>(Depth);
      Minimum = -(CommonMinimum * static_cast<float>(Depth));
    }
    setCodes(N, Values, I * Info.ScaleValues, Info.ScaleValues,
             Common * static_cast<float>(Factor), Minimum,
             Group.Codes.data() + First);
  }
}

CodeBlock quantise(StorageFormat Format, const BlockValues &Values) {
  const StorageFormatInfo &Info = infoOf(Format);
  const Numbers &N = numbersOf(Info);
  CodeBlock Block;
  CodeGroup &Group = Block.Groups[0];
  float Scale = 0, Minimum = 0;
  switch (Info.Scale) {
  case ScaleKind::None:
    return Block;
  case ScaleKind::Integer:
    quantiseIntegerScales(Info, Values, Block);
    return Block;
  case ScaleKind::Half:
    if (Info.hasMinimum())
      std::tie(Scale, Minimum) = spanOf(Info, Values.X);
    else
      Scale = searchScale(N, Values.X, Values.Importance, GroupValues);
    Group.Scales[0] = scaleHalfOf(Scale);
    Scale = halfToFloat(Group.Scales[0]);
    if (Info.Minimum == MinimumKind::ZeroPoint) {
      int Zero = Scale == 0 ? 0
                            : static_cast<int>(std::nearbyint(std::clamp(
                                  -Minimum / Scale, -128.0f, 127.0f)));
      Group.Minimum = static_cast<uint8_t>(Zero);
      Minimum = -Scale * static_cast<float>(Zero);
      break;
    }
    Group.Minimum = halfOf(Minimum);
    Minimum = halfToFloat(Group.Minimum);
    break;
  case ScaleKind::Exponent:
    Group.Scales[0] = exponentOf(Values.X, GroupValues);
    Scale = std::ldexp(1.0f, Group.Scales[0] - 128);
    break;
  }
  setCodes(N, Values, 0, GroupValues, Scale, Minimum, Group.Codes.data());
  return Block;
}

} // namespace

float tenon::largestQuantised(StorageFormat Format) {
  const StorageFormatInfo &Info = infoOf(Format);
  if (Info.Scale != ScaleKind::Half || Info.hasMinimum())
    return std::numeric_limits<float>::infinity();
  const Numbers &N = numbersOf(Info);
  return MostHalf * static_cast<float>(std::min(-N.Low, N.High));
}

CodeBlock tenon::quantiseBlock(StorageFormat Format, const float *Values,
                               const float *Importance) {
  float Copy[MaxBlockValues];
  int64_t Count = infoOf(Format).BlockValues;
  std::copy_n(Values, Count, Copy);
  return quantise(Format, {Copy, Importance, nullptr, Count});
}

CodeBlock tenon::quantiseWithFeedback(StorageFormat Format, float *Values,
                                      const float *Importance,
                                      const float *Feedback) {
  return quantise(Format,
                  {Values, Importance, Feedback, infoOf(Format).BlockValues});
}
