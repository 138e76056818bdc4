//===- Rope.cpp - What rotary position embeddings compute -----------------===//

#include "compiler/Evaluator/Rope.h"

#include <cmath>

using namespace tenon;
using namespace tenon::evaluate;
using namespace tenon::transformer;

Tensor2D evaluate::rope(const Tensor2D &Input,
                        const std::vector<int64_t> &Positions, int64_t Heads,
                        int64_t From, const Rotation &Rope) {
  llvm::SmallVector<float> Frequencies = Rope.Attr.frequencies();
  double Factor = Rope.Attr.attentionFactor();
  auto Pairs = static_cast<int64_t>(Frequencies.size());
  bool IsHalf = Rope.Attr.getStyle() == RopeStyle::Half;
  int64_t HeadDim = Input.Columns / Heads;
  Tensor2D Result = Input;
  for (int64_t T = 0; T < Input.Rows; ++T)
    for (int64_t I = 0; I < Pairs; ++I) {
      // The angle is rounded to f32, as models are trained with it.
      float Angle = static_cast<float>(Positions[T]) * Frequencies[I];
      double Cos = Factor * std::cos(static_cast<double>(Angle));
      double Sin = Factor * std::sin(static_cast<double>(Angle));
      if (Rope.Table) {
        Cos = Rope.Table->at(Positions[T], I);
        Sin = Rope.Table->at(Positions[T], Pairs + I);
      }
      for (int64_t H = 0; H < Heads; ++H) {
        int64_t First = H * HeadDim + From + (IsHalf ? I : 2 * I);
        int64_t Second = First + (IsHalf ? Pairs : 1);
        double A = Input.at(T, First), B = Input.at(T, Second);
        Result.at(T, First) = static_cast<float>(A * Cos - B * Sin);
        Result.at(T, Second) = static_cast<float>(B * Cos + A * Sin);
      }
    }
  return Result;
}
