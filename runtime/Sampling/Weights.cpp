//===- Weights.cpp - Exponentials of scores -------------------------------===//

#include "runtime/Sampling/Weights.h"

#include <algorithm>
#include <cstring>
#include <limits>

using namespace tenon;
using namespace tenon::sampling;

namespace {

/// So many at once: compilers make of it what the machine has.
constexpr size_t PackSize = 8;
using Pack = double __attribute__((vector_size(PackSize * sizeof(double))));
using PackBits = int64_t __attribute__((vector_size(sizeof(Pack))));
using Floats = float __attribute__((vector_size(PackSize * sizeof(float))));
static_assert(BlockSize % PackSize == 0);

} // namespace

/// e^x of each x <= 0: 2^n times a Taylor series of the rest, which errs by
/// less than the last place. 0 where e^x is hardly a number.
[[gnu::always_inline]] static inline void exponentials(Pack &Values) {
  constexpr double Log2E = 0x1.71547652b82fep0;
  constexpr double Ln2High = 0x1.62e42fefa38p-1, Ln2Low = 0x1.ef35793c7673p-45;
  // Adding this rounds to a whole number, which is in the lowest bits.
  constexpr double Round = 0x1.8p52;
  constexpr double Least = -700;
  PackBits IsNumber = Values > Least;
  // Others become 0, whose exponential is left out again.
  auto X =
      reinterpret_cast<Pack>(reinterpret_cast<PackBits>(Values) & IsNumber);
  Pack Shifted = X * Log2E + Round;
  Pack N = Shifted - Round;
  Pack R = (X - N * Ln2High) - N * Ln2Low;
  Pack Sum = R * (1.0 / 479001600) + 1.0 / 39916800;
  Sum = Sum * R + 1.0 / 3628800;
  Sum = Sum * R + 1.0 / 362880;
  Sum = Sum * R + 1.0 / 40320;
  Sum = Sum * R + 1.0 / 5040;
  Sum = Sum * R + 1.0 / 720;
  Sum = Sum * R + 1.0 / 120;
  Sum = Sum * R + 1.0 / 24;
  Sum = Sum * R + 1.0 / 6;
  Sum = Sum * R + 0.5;
  Sum = Sum * R + 1;
  Sum = Sum * R + 1;
  constexpr int MantissaBits = 52;
  PackBits Scaled = reinterpret_cast<PackBits>(Sum) +
                    (reinterpret_cast<PackBits>(Shifted) << MantissaBits);
  Values = reinterpret_cast<Pack>(Scaled & IsNumber);
}

/// Of whole packs. In double, whose range holds any score at any temperature.
[[gnu::always_inline]] static inline double
weighPacks(const float *Scores, size_t Packs, Weighing By, double *Weights) {
  Pack Sums = {};
  for (size_t I = 0; I < Packs * PackSize; I += PackSize) {
    Floats Given;
    std::memcpy(&Given, Scores + I, sizeof(Given));
    Pack Values =
        (__builtin_convertvector(Given, Pack) - By.Largest) * By.Scale;
    exponentials(Values);
    Sums += Values;
    std::memcpy(Weights + I, &Values, sizeof(Values));
  }
  double Sum = 0;
  for (size_t K = 0; K < PackSize; ++K)
    Sum += Sums[K];
  return Sum;
}

// The build contracts nothing to fused operations, so that these agree.
#if defined(__x86_64__)
[[gnu::target("avx512f")]] static double
weighByAvx512(const float *Scores, size_t Packs, Weighing By, double *Weights) {
  return weighPacks(Scores, Packs, By, Weights);
}

[[gnu::target("avx2")]] static double
weighByAvx2(const float *Scores, size_t Packs, Weighing By, double *Weights) {
  return weighPacks(Scores, Packs, By, Weights);
}
#endif

static double weigh(const float *Scores, size_t Packs, Weighing By,
                    double *Weights) {
#if defined(__x86_64__)
  static const bool HasAvx512 = __builtin_cpu_supports("avx512f");
  static const bool HasAvx2 = __builtin_cpu_supports("avx2");
  if (HasAvx512)
    return weighByAvx512(Scores, Packs, By, Weights);
  if (HasAvx2)
    return weighByAvx2(Scores, Packs, By, Weights);
#endif
  return weighPacks(Scores, Packs, By, Weights);
}

Weighing Weighing::at(double Temperature, double Largest) {
  // Scores that differ do so by more than 1e-45.
  constexpr double MostScale = 1e300;
  return {Largest, std::min(1 / Temperature, MostScale)};
}

double Weighing::operator()(std::span<const float> Scores,
                            BlockWeights &Weights) const {
  if (Scores.size() == BlockSize)
    return weigh(Scores.data(), BlockSize / PackSize, *this, Weights.data());
  std::array<float, BlockSize> Padded;
  size_t Packs = (Scores.size() + PackSize - 1) / PackSize;
  std::fill(std::copy(Scores.begin(), Scores.end(), Padded.begin()),
            Padded.begin() + static_cast<ptrdiff_t>(Packs * PackSize),
            -std::numeric_limits<float>::infinity());
  return weigh(Padded.data(), Packs, *this, Weights.data());
}
