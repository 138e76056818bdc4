//===- Norms.cpp - What norms compute -------------------------------------===//

#include "compiler/Evaluator/Norms.h"

#include "compiler/Evaluator/Operations.h"

#include <cmath>

using namespace tenon;
using namespace tenon::evaluate;
using namespace tenon::transformer;

/// The element of a stored vector that belongs to column `I` of part `Part`.
static double elementAt(const Tensor2D &Vector, int64_t Part, int64_t Width,
                        int64_t I) {
  return Vector.at(0, Vector.Columns == Width ? I : Part * Width + I);
}

Tensor2D evaluate::layerNorm(const Tensor2D &Input, const Tensor2D &Weight,
                             const Tensor2D *Bias, double Eps, int64_t Groups) {
  Tensor2D Result(Input.Rows, Input.Columns);
  int64_t Width = Input.Columns / Groups;
  for (int64_t T = 0; T < Input.Rows; ++T)
    for (int64_t G = 0; G < Groups; ++G) {
      const float *X = Input.row(T) + G * Width;
      double Mean = 0, Variance = 0;
      for (int64_t I = 0; I < Width; ++I)
        Mean += X[I] / static_cast<double>(Width);
      for (int64_t I = 0; I < Width; ++I) {
        double Centred = X[I] - Mean;
        Variance += Centred * Centred / static_cast<double>(Width);
      }
      double Scale = 1 / std::sqrt(Variance + Eps);
      for (int64_t I = 0; I < Width; ++I) {
        double Y = (X[I] - Mean) * Scale * elementAt(Weight, G, Width, I);
        if (Bias)
          Y += elementAt(*Bias, G, Width, I);
        Result.at(T, G * Width + I) = static_cast<float>(Y);
      }
    }
  return Result;
}

Tensor2D evaluate::rmsNorm(const Tensor2D &Input, const Tensor2D &Weight,
                           double Eps, int64_t Groups, double Offset) {
  Tensor2D Result(Input.Rows, Input.Columns);
  int64_t Width = Input.Columns / Groups;
  for (int64_t T = 0; T < Input.Rows; ++T)
    for (int64_t G = 0; G < Groups; ++G) {
      const float *X = Input.row(T) + G * Width;
      double Squares = 0;
      for (int64_t I = 0; I < Width; ++I)
        Squares += static_cast<double>(X[I]) * X[I];
      double Scale = 1 / std::sqrt(Squares / static_cast<double>(Width) + Eps);
      for (int64_t I = 0; I < Width; ++I)
        Result.at(T, G * Width + I) = static_cast<float>(
            X[I] * Scale * (elementAt(Weight, G, Width, I) + Offset));
    }
  return Result;
}

AddNormResult evaluate::addNorm(NormKind Kind, const Tensor2D &Left,
                                const Tensor2D &Right, const Tensor2D &Weight,
                                const Tensor2D *Bias, double Eps,
                                double Offset) {
  Tensor2D Sum = residual(Left, Right);
  Tensor2D Normed = Kind == NormKind::Layer
                        ? layerNorm(Sum, Weight, Bias, Eps)
                        : rmsNorm(Sum, Weight, Eps, /*Groups=*/1, Offset);
  return {std::move(Sum), std::move(Normed)};
}
