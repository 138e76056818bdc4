//===- Operations.cpp - What each operation computes -----------------===//

#include "compiler/Evaluator/Operations.h"

#include <algorithm>
#include <cmath>
#include <numbers>

using namespace tenon;
using namespace tenon::evaluate;
using namespace tenon::transformer;

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

float evaluate::activate(Activation Act, float X) {
  double V = X;
  switch (Act) {
  case Activation::None:
    break;
  case Activation::Relu:
    V = V < 0 ? 0 : V; // NaN stays NaN.
    break;
  case Activation::Gelu:
    V = 0.5 * V * (1 + std::erf(V / std::numbers::sqrt2));
    break;
  case Activation::GeluTanh:
    V = 0.5 * V *
        (1 + std::tanh(std::sqrt(2 / std::numbers::pi) *
                       (V + 0.044715 * V * V * V)));
    break;
  case Activation::Silu:
    V = V / (1 + std::exp(-V));
    break;
  case Activation::QuickGelu:
    V = V / (1 + std::exp(-1.702 * V));
    break;
  case Activation::Tanh:
    V = std::tanh(V);
    break;
  case Activation::Sigmoid:
    V = 1 / (1 + std::exp(-V));
    break;
  }
  return static_cast<float>(V);
}

Tensor2D evaluate::activation(Activation Act, Tensor2D Input) {
  for (float &X : Input.Data)
    X = activate(Act, X);
  return Input;
}

/// a . b
static Tensor2D multiply(const Tensor2D &Left, const Tensor2D &Right) {
  Tensor2D Result = Left;
  for (size_t I = 0; I < Result.Data.size(); ++I)
    Result.Data[I] *= Right.Data[I];
  return Result;
}

Tensor2D evaluate::residual(const Tensor2D &Left, const Tensor2D &Right) {
  Tensor2D Result = Left;
  for (size_t I = 0; I < Result.Data.size(); ++I)
    Result.Data[I] += Right.Data[I];
  return Result;
}

Tensor2D evaluate::scale(Tensor2D Input, double Factor) {
  for (float &X : Input.Data)
    X = static_cast<float>(X * Factor);
  return Input;
}

Tensor2D evaluate::softCap(Tensor2D Input, double Bound) {
  for (float &X : Input.Data)
    X = static_cast<float>(Bound * std::tanh(X / Bound));
  return Input;
}

Tensor2D evaluate::clamp(Tensor2D Input, double Bound) {
  auto Limit = static_cast<float>(Bound);
  for (float &X : Input.Data)
    X = X < -Limit ? -Limit : (X > Limit ? Limit : X); // NaN stays NaN.
  return Input;
}

Tensor2D evaluate::sigmoidGate(const Tensor2D &Input, const Tensor2D &Gate) {
  Tensor2D Result = Input;
  for (int64_t T = 0; T < Input.Rows; ++T)
    for (int64_t I = 0; I < Input.Columns; ++I)
      Result.at(T, I) *= activate(Activation::Sigmoid, Gate.at(T, 0));
  return Result;
}

Tensor2D evaluate::slice(const Tensor2D &Input, int64_t First, int64_t Count) {
  Tensor2D Result(Input.Rows, Count);
  for (int64_t T = 0; T < Input.Rows; ++T)
    std::copy_n(Input.row(T) + First, Count, Result.row(T));
  return Result;
}

//===----------------------------------------------------------------------===//
// Embeddings and positions
//===----------------------------------------------------------------------===//

Result<Tensor2D> evaluate::embedding(const Tensor2D &Table,
                                     const std::vector<int64_t> &Indices,
                                     int64_t Offset) {
  Tensor2D Result(static_cast<int64_t>(Indices.size()), Table.Columns);
  for (int64_t T = 0; T < Result.Rows; ++T) {
    int64_t Index = Indices[T] + Offset;
    if (Index < 0 || Index >= Table.Rows)
      return Error("index " + std::to_string(Index) + " of token " +
                   std::to_string(T) + ": expected at least 0 and below " +
                   std::to_string(Table.Rows));
    std::copy_n(Table.row(Index), Table.Columns, Result.row(T));
  }
  return Result;
}

Tensor2D evaluate::sinusoid(const std::vector<int64_t> &Positions,
                            int64_t Width, RopeStyle Style) {
  Tensor2D Result(static_cast<int64_t>(Positions.size()), Width);
  int64_t Sines = (Width + 1) / 2;
  bool IsHalf = Style == RopeStyle::Half;
  for (int64_t T = 0; T < Result.Rows; ++T)
    for (int64_t I = 0; I < Sines; ++I) {
      double Exponent = static_cast<double>(2 * I) / static_cast<double>(Width);
      double Angle =
          static_cast<double>(Positions[T]) / std::pow(10000.0, Exponent);
      int64_t Sine = IsHalf ? I : 2 * I;
      int64_t Cosine = Sine + (IsHalf ? Sines : 1);
      Result.at(T, Sine) = static_cast<float>(std::sin(Angle));
      if (Cosine < Width)
        Result.at(T, Cosine) = static_cast<float>(std::cos(Angle));
    }
  return Result;
}

Tensor2D evaluate::mergeFeatures(const Tensor2D &Input,
                                 const EvaluatorBatch &Batch, int64_t Token) {
  Tensor2D Result = Input;
  for (int64_t T = 0; T < Input.Rows; ++T)
    if (Batch.TokenIds[T] == Token)
      std::copy_n(Batch.Features.row(T), Input.Columns, Result.row(T));
  return Result;
}

Tensor2D evaluate::classToken(const Tensor2D &Input,
                              const EvaluatorBatch &Batch,
                              const Tensor2D &Token) {
  Tensor2D Result = Input;
  for (int64_t T = 0; T < Input.Rows; ++T)
    if (Batch.Positions[T] == 0)
      std::copy_n(Token.row(0), Token.Columns, Result.row(T));
  return Result;
}

//===----------------------------------------------------------------------===//
// Matmuls
//===----------------------------------------------------------------------===//

Tensor2D evaluate::linear(const Tensor2D &Input, const Tensor2D &Weight,
                          const Tensor2D *Bias) {
  Tensor2D Result(Input.Rows, Weight.Rows);
  for (int64_t T = 0; T < Input.Rows; ++T)
    for (int64_t N = 0; N < Weight.Rows; ++N) {
      const float *X = Input.row(T), *W = Weight.row(N);
      double Sum = Bias ? Bias->at(0, N) : 0;
      for (int64_t K = 0; K < Input.Columns; ++K)
        Sum += static_cast<double>(X[K]) * W[K];
      Result.at(T, N) = static_cast<float>(Sum);
    }
  return Result;
}

Tensor2D evaluate::feedForward(Activation Act, const Tensor2D &Input,
                               const Tensor2D &Up, const Tensor2D *UpBias,
                               const Tensor2D &Down, const Tensor2D *DownBias) {
  return linear(activation(Act, linear(Input, Up, UpBias)), Down, DownBias);
}

Tensor2D evaluate::gatedFeedForward(Activation Act, const Tensor2D &Input,
                                    const Tensor2D &Gate,
                                    const Tensor2D *GateBias,
                                    const Tensor2D &Up, const Tensor2D *UpBias,
                                    const Tensor2D &Down,
                                    const Tensor2D *DownBias) {
  Tensor2D Hidden = multiply(activation(Act, linear(Input, Gate, GateBias)),
                             linear(Input, Up, UpBias));
  return linear(Hidden, Down, DownBias);
}

Tensor2D evaluate::matmul(const Tensor2D &Input,
                          std::span<const Tensor2D *const> Weights,
                          std::span<const Tensor2D *const> Biases,
                          Activation Act, const Tensor2D *Multiplier,
                          const Tensor2D *Residual) {
  int64_t Width = 0;
  for (const Tensor2D *Weight : Weights)
    Width += Weight->Rows;
  Tensor2D Result(Input.Rows, Width);
  int64_t Column = 0;
  for (size_t I = 0; I < Weights.size(); ++I) {
    Tensor2D Part =
        linear(Input, *Weights[I], Biases.empty() ? nullptr : Biases[I]);
    for (int64_t T = 0; T < Input.Rows; ++T)
      std::copy_n(Part.row(T), Part.Columns, Result.row(T) + Column);
    Column += Part.Columns;
  }
  Result = activation(Act, std::move(Result));
  if (Multiplier)
    Result = multiply(Result, *Multiplier);
  if (Residual)
    Result = residual(Result, *Residual);
  return Result;
}

Tensor2D evaluate::gatedMatmul(Activation Act, const Tensor2D &Input,
                               const Tensor2D &Gate, const Tensor2D *GateBias,
                               const Tensor2D &Up, const Tensor2D *UpBias) {
  return multiply(activation(Act, linear(Input, Gate, GateBias)),
                  linear(Input, Up, UpBias));
}

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

Tensor2D evaluate::selectOutputRows(const Tensor2D &Input,
                                    const EvaluatorBatch &Batch) {
  Tensor2D Result(static_cast<int64_t>(Batch.OutputRows.size()), Input.Columns);
  for (int64_t R = 0; R < Result.Rows; ++R)
    std::copy_n(Input.row(Batch.OutputRows[R]), Input.Columns, Result.row(R));
  return Result;
}

Tensor2D evaluate::lmHead(const Tensor2D &Input, const EvaluatorBatch &Batch,
                          const Tensor2D &Weight, const Tensor2D *Bias) {
  return linear(selectOutputRows(Input, Batch), Weight, Bias);
}

Tensor2D evaluate::pool(PoolKind Kind, const Tensor2D &Input,
                        const EvaluatorBatch &Batch, bool Normalize) {
  std::vector<int64_t> Starts = Batch.starts();
  auto Sequences = static_cast<int64_t>(Starts.size()) - 1;
  Tensor2D Result(Sequences, Input.Columns);
  for (int64_t S = 0; S < Sequences; ++S) {
    int64_t First = Starts[S], Last = Starts[S + 1] - 1;
    if (Kind == PoolKind::Cls)
      Last = First;
    if (Kind == PoolKind::Last)
      First = Last;
    double Squares = 0;
    for (int64_t I = 0; I < Input.Columns; ++I) {
      double Sum = 0;
      for (int64_t T = First; T <= Last; ++T)
        Sum += Input.at(T, I);
      double Element = Sum / static_cast<double>(Last - First + 1);
      Result.at(S, I) = static_cast<float>(Element);
      Squares += Element * Element;
    }
    if (!Normalize)
      continue;
    double Length = std::max(std::sqrt(Squares), 1e-12);
    for (int64_t I = 0; I < Input.Columns; ++I)
      Result.at(S, I) = static_cast<float>(Result.at(S, I) / Length);
  }
  return Result;
}
