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

} // namespace tenon

#endif // TENON_RUNTIME_SUPPORT_HALF_H
