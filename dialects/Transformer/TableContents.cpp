//===- TableContents.cpp - Tables that are computed when compiling --------===//

#include "dialects/Transformer/Transformer.h"

#include <cmath>

using namespace mlir;
using namespace tenon::transformer;

//===----------------------------------------------------------------------===//
// Rotations: cosines of the dim / 2 angles of a position, then their sines
//===----------------------------------------------------------------------===//

std::optional<int64_t> RopeAttr::getTableWidth() const { return getDim(); }
bool RopeAttr::isByPosition() const { return true; }

/// Rounded as Transformers does: the angle is a product in f32.
void RopeAttr::fillRow(int64_t Row, int64_t, ArrayRef<float>,
                       MutableArrayRef<float> Out) const {
  SmallVector<float> Frequencies = frequencies();
  float Factor = attentionFactor();
  size_t Half = Frequencies.size();
  for (size_t I = 0; I < Half; ++I) {
    auto Angle = static_cast<double>(static_cast<float>(Row) * Frequencies[I]);
    Out[I] = static_cast<float>(std::cos(Angle)) * Factor;
    Out[Half + I] = static_cast<float>(std::sin(Angle)) * Factor;
  }
}

//===----------------------------------------------------------------------===//
// Sinusoids of a position
//===----------------------------------------------------------------------===//

std::optional<int64_t> SinusoidAttr::getTableWidth() const {
  return std::nullopt;
}
bool SinusoidAttr::isByPosition() const { return true; }

void SinusoidAttr::fillRow(int64_t Row, int64_t, ArrayRef<float>,
                           MutableArrayRef<float> Out) const {
  auto Width = static_cast<int64_t>(Out.size());
  // A width that is odd has one sine more.
  int64_t Sines = (Width + 1) / 2;
  bool IsHalf = getStyle() == RopeStyle::Half;
  for (int64_t I = 0; I < Width; ++I) {
    int64_t Pair = IsHalf ? I % Sines : I / 2;
    bool IsSine = IsHalf ? I < Sines : I % 2 == 0;
    double Angle = static_cast<double>(Row) /
                   std::pow(10000.0, static_cast<double>(2 * Pair) /
                                         static_cast<double>(Width));
    Out[I] = static_cast<float>(IsSine ? std::sin(Angle) : std::cos(Angle));
  }
}

//===----------------------------------------------------------------------===//
// The slope of a head
//===----------------------------------------------------------------------===//

std::optional<int64_t> AlibiAttr::getTableWidth() const { return 1; }
bool AlibiAttr::isByPosition() const { return false; }

void AlibiAttr::fillRow(int64_t Row, int64_t Rows, ArrayRef<float>,
                        MutableArrayRef<float> Out) const {
  Out[0] = slopes(Rows)[Row];
}

//===----------------------------------------------------------------------===//
// Learned biases of a head, by distance from -max to max
//===----------------------------------------------------------------------===//

std::optional<int64_t> BucketsAttr::getTableWidth() const {
  return 2 * getMaxDistance() + 1;
}
bool BucketsAttr::isByPosition() const { return false; }
std::optional<int64_t> BucketsAttr::getLearnedRows() const {
  return getCount();
}

void BucketsAttr::fillRow(int64_t Row, int64_t Rows, ArrayRef<float> Learned,
                          MutableArrayRef<float> Out) const {
  for (int64_t I = 0; I < static_cast<int64_t>(Out.size()); ++I)
    Out[I] = Learned[bucketOf(I - getMaxDistance()) * Rows + Row];
}
