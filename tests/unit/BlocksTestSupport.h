//===- BlocksTestSupport.h - Values of quantised panels ---------*- C++ -*-===//

#ifndef TENON_TESTS_UNIT_BLOCKSTESTSUPPORT_H
#define TENON_TESTS_UNIT_BLOCKSTESTSUPPORT_H

#include "runtime/Packing/Blocks.h"
#include "runtime/Support/Half.h"

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

namespace tenon {

inline std::vector<float> normalValues(int64_t Count, uint32_t Seed) {
  std::mt19937 Random(Seed);
  std::normal_distribution<float> Normal;
  std::vector<float> Values(static_cast<size_t>(Count));
  for (float &X : Values)
    X = Normal(Random);
  return Values;
}

/// Value (n, k) of one panel, as runtime/Abi/Types.h says that it lies.
inline float valueAt(StorageFormat Format, const std::byte *Panel, int64_t N,
                     int64_t K) {
  const StorageFormatInfo &Info = infoOf(Format);
  BlockParts Parts = partsOf(Info);
  const std::byte *Block =
      Panel + K / Info.BlockValues * Info.BlockBytes * PanelWidth;
  int64_t InGroup = K % GroupValues;
  const std::byte *Group =
      Block + PanelWidth * (Parts.Header +
                            K % Info.BlockValues / GroupValues * Parts.group());
  auto Half = [](const std::byte *From) {
    uint16_t Bits;
    std::memcpy(&Bits, From, 2);
    return halfToFloat(Bits);
  };
  auto Lane = [&](const std::byte *Lanes, int64_t Number) {
    uint32_t Bits;
    std::memcpy(&Bits, Lanes + (Number * PanelWidth + N) * 4, 4);
    return Bits;
  };
  float Scale = 0, Minimum = 0;
  const std::byte *AfterScales = Group + PanelWidth * Parts.Scales;
  if (Info.Scale == ScaleKind::Half) {
    Scale = Half(Group + 2 * N);
    if (Info.Minimum == MinimumKind::Number)
      Minimum = Half(AfterScales + 2 * N);
    else if (Info.Minimum == MinimumKind::ZeroPoint)
      Minimum =
          -Scale * static_cast<float>(static_cast<int8_t>(AfterScales[N]));
  } else if (Info.Scale == ScaleKind::Exponent) {
    Scale = std::ldexp(0.5f, static_cast<int>(Group[N]) - 127);
  } else {
    Scale = Half(Block + 2 * N) *
            static_cast<float>(static_cast<int8_t>(
                Group[InGroup / Info.ScaleValues * PanelWidth + N]));
    if (Info.hasMinimum())
      Minimum = -Half(Block + 2 * PanelWidth + 2 * N) *
                static_cast<float>(AfterScales[N]);
  }
  const std::byte *High = AfterScales + PanelWidth * Parts.Minimum;
  const std::byte *Low = High + PanelWidth * Parts.HighBits;
  int64_t Quad = 0, Byte = 0;
  while (quadFeature(Quad, Byte) != InGroup)
    if (++Byte == 4) {
      Byte = 0;
      ++Quad;
    }
  if (Info.Bits == 8)
    return Scale *
           static_cast<float>(static_cast<int8_t>(Lane(Low, Quad) >> 8 * Byte));
  int Code = Lane(Low, InGroup / 8) >> 4 * nibbleOf(InGroup % 8) & 15;
  if (int64_t HighBits = Info.Bits - 4)
    Code |= (Lane(High, highLane(HighBits, Quad)) >>
                 (8 * Byte + highShift(HighBits, Quad)) &
             ((1 << HighBits) - 1))
            << 4;
  int Number = Info.Codes ? (*Info.Codes)[static_cast<size_t>(Code)]
                          : Code - static_cast<int>(Info.Offset);
  return Scale * static_cast<float>(Number) + Minimum;
}

} // namespace tenon

#endif // TENON_TESTS_UNIT_BLOCKSTESTSUPPORT_H
