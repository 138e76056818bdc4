//===- Half.h - Conversions of 16-bit floats --------------------*- C++ -*-===//
//
// Bit-exact conversions between f32, bf16 and f16, round to nearest even.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_SUPPORT_HALF_H
#define TENON_RUNTIME_SUPPORT_HALF_H

#include <bit>
#include <cstdint>

namespace tenon {

/// bf16 bits to f32: exact.
inline float bf16ToFloat(uint16_t Bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(Bits) << 16);
}

/// f32 to bf16 bits, ties to even; a NaN stays a quiet NaN.
inline uint16_t floatToBf16(float Value) {
  uint32_t Bits = std::bit_cast<uint32_t>(Value);
  if ((Bits & 0x7fffffffu) > 0x7f800000u)
    return static_cast<uint16_t>((Bits >> 16) | 0x40u);
  return static_cast<uint16_t>((Bits + 0x7fffu + ((Bits >> 16) & 1u)) >> 16);
}

/// f16 bits to f32: exact, subnormals included.
inline float halfToFloat(uint16_t Bits) {
  uint32_t Sign = static_cast<uint32_t>(Bits & 0x8000u) << 16;
  uint32_t Exponent = (Bits >> 10) & 0x1fu;
  uint32_t Mantissa = Bits & 0x3ffu;
  if (Exponent == 0x1f)
    return std::bit_cast<float>(Sign | 0x7f800000u | (Mantissa << 13));
  if (Exponent != 0)
    return std::bit_cast<float>(Sign | ((Exponent + 112) << 23) |
                                (Mantissa << 13));
  // A subnormal is Mantissa × 2^-24, which f32 holds exactly.
  float Magnitude = static_cast<float>(Mantissa) * 0x1p-24f;
  return std::bit_cast<float>(Sign | std::bit_cast<uint32_t>(Magnitude));
}

/// f32 to f16 bits, ties to even, infinite beyond the largest; a NaN stays a
/// quiet NaN.
inline uint16_t floatToHalf(float Value) {
  uint32_t Bits = std::bit_cast<uint32_t>(Value);
  auto Sign = static_cast<uint16_t>((Bits >> 16) & 0x8000u);
  uint32_t Magnitude = Bits & 0x7fffffffu;
  if (Magnitude > 0x7f800000u)
    return Sign | 0x7e00u | static_cast<uint16_t>((Magnitude >> 13) & 0x3ffu);
  if (Magnitude >= 0x47800000u) // 2^16, beyond anything that rounds down.
    return Sign | 0x7c00u;
  if (Magnitude < 0x38800000u) {
    // Below 2^-14 an f16 is a multiple of 2^-24, which is what an f32 sum of
    // 0.5 and less is rounded to.
    float Sum = std::bit_cast<float>(Magnitude) + 0.5f;
    return Sign | static_cast<uint16_t>(std::bit_cast<uint32_t>(Sum) -
                                        std::bit_cast<uint32_t>(0.5f));
  }
  Magnitude -= 112u << 23;
  return Sign | static_cast<uint16_t>(
                    (Magnitude + 0xfffu + ((Magnitude >> 13) & 1u)) >> 13);
}

} // namespace tenon

#endif // TENON_RUNTIME_SUPPORT_HALF_H
