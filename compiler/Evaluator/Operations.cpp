//===- Operations.cpp - What each transformer op computes -----------------===//

#include "compiler/Evaluator/Operations.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

using namespace tenon;
using namespace tenon::evaluate;
using namespace tenon::transformer;

void EvaluatorBatch::add(int64_t Sequence, std::span<const int64_t> Ids,
                         int64_t Position, int64_t WantedTokens) {
  for (int64_t Id : Ids) {
    TokenIds.push_back(Id);
    Positions.push_back(Position++);
    Sequences.push_back(Sequence);
  }
  for (int64_t Row = tokens() - WantedTokens; Row < tokens(); ++Row)
    Wanted.push_back(Row);
}

std::vector<int64_t> EvaluatorBatch::starts() const {
  std::vector<int64_t> Starts;
  for (int64_t Row = 0; Row < tokens(); ++Row)
    if (Row == 0 || Sequences[Row] != Sequences[Row - 1])
      Starts.push_back(Row);
  Starts.push_back(tokens());
  return Starts;
}

//===----------------------------------------------------------------------===//
// Element-wise, embeddings and norms
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
  }
  return static_cast<float>(V);
}

/// Applies `Act` to every element.
static Tensor2D activated(Activation Act, Tensor2D Input) {
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

Result<Tensor2D> evaluate::embedding(const Tensor2D &Table,
                                     const std::vector<int64_t> &Indices) {
  Tensor2D Result(static_cast<int64_t>(Indices.size()), Table.Columns);
  for (int64_t T = 0; T < Result.Rows; ++T) {
    int64_t Index = Indices[T];
    if (Index < 0 || Index >= Table.Rows)
      return Error("index " + std::to_string(Index) + " of token " +
                   std::to_string(T) + ": expected at least 0 and below " +
                   std::to_string(Table.Rows));
    std::copy_n(Table.row(Index), Table.Columns, Result.row(T));
  }
  return Result;
}

Tensor2D evaluate::rope(const Tensor2D &Input,
                        const std::vector<int64_t> &Positions, int64_t Heads,
                        RopeAttr Rope) {
  llvm::SmallVector<float> Frequencies = Rope.frequencies();
  auto Pairs = static_cast<int64_t>(Frequencies.size());
  bool IsHalf = Rope.getStyle() == RopeStyle::Half;
  int64_t HeadDim = Input.Columns / Heads;
  Tensor2D Result = Input;
  for (int64_t T = 0; T < Input.Rows; ++T)
    for (int64_t H = 0; H < Heads; ++H)
      for (int64_t I = 0; I < Pairs; ++I) {
        // The angle is rounded to f32, as models are trained with it.
        float Angle = static_cast<float>(Positions[T]) * Frequencies[I];
        double Cos = std::cos(static_cast<double>(Angle));
        double Sin = std::sin(static_cast<double>(Angle));
        int64_t First = H * HeadDim + (IsHalf ? I : 2 * I);
        int64_t Second = First + (IsHalf ? Pairs : 1);
        double A = Input.at(T, First), B = Input.at(T, Second);
        Result.at(T, First) = static_cast<float>(A * Cos - B * Sin);
        Result.at(T, Second) = static_cast<float>(B * Cos + A * Sin);
      }
  return Result;
}

Tensor2D evaluate::layerNorm(const Tensor2D &Input, const Tensor2D &Weight,
                             const Tensor2D &Bias, double Eps) {
  Tensor2D Result(Input.Rows, Input.Columns);
  auto Width = static_cast<double>(Input.Columns);
  for (int64_t T = 0; T < Input.Rows; ++T) {
    double Mean = 0, Variance = 0;
    for (int64_t I = 0; I < Input.Columns; ++I)
      Mean += Input.at(T, I) / Width;
    for (int64_t I = 0; I < Input.Columns; ++I) {
      double Centred = Input.at(T, I) - Mean;
      Variance += Centred * Centred / Width;
    }
    double Scale = 1 / std::sqrt(Variance + Eps);
    for (int64_t I = 0; I < Input.Columns; ++I)
      Result.at(T, I) = static_cast<float>(
          (Input.at(T, I) - Mean) * Scale * Weight.at(0, I) + Bias.at(0, I));
  }
  return Result;
}

Tensor2D evaluate::rmsNorm(const Tensor2D &Input, const Tensor2D &Weight,
                           double Eps, int64_t Groups) {
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
        Result.at(T, G * Width + I) =
            static_cast<float>(X[I] * Scale * Weight.at(0, I));
    }
  return Result;
}

//===----------------------------------------------------------------------===//
// Products
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
  return linear(activated(Act, linear(Input, Up, UpBias)), Down, DownBias);
}

Tensor2D evaluate::gatedFeedForward(Activation Act, const Tensor2D &Input,
                                    const Tensor2D &Gate,
                                    const Tensor2D *GateBias,
                                    const Tensor2D &Up, const Tensor2D *UpBias,
                                    const Tensor2D &Down,
                                    const Tensor2D *DownBias) {
  Tensor2D Hidden = multiply(activated(Act, linear(Input, Gate, GateBias)),
                             linear(Input, Up, UpBias));
  return linear(Hidden, Down, DownBias);
}

Tensor2D evaluate::product(const Tensor2D &Input,
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
  Result = activated(Act, std::move(Result));
  if (Multiplier)
    Result = multiply(Result, *Multiplier);
  if (Residual)
    Result = residual(Result, *Residual);
  return Result;
}

Tensor2D evaluate::gatedProduct(Activation Act, const Tensor2D &Input,
                                const Tensor2D &Gate, const Tensor2D *GateBias,
                                const Tensor2D &Up, const Tensor2D *UpBias) {
  return multiply(activated(Act, linear(Input, Gate, GateBias)),
                  linear(Input, Up, UpBias));
}

AddNormResult evaluate::addNorm(NormKind Kind, const Tensor2D &Left,
                                const Tensor2D &Right, const Tensor2D &Weight,
                                const Tensor2D *Bias, double Eps) {
  Tensor2D Sum = residual(Left, Right);
  Tensor2D Normed = Kind == NormKind::Layer ? layerNorm(Sum, Weight, *Bias, Eps)
                                            : rmsNorm(Sum, Weight, Eps);
  return {std::move(Sum), std::move(Normed)};
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

bool AttentionShape::sees(int64_t Query, int64_t Key) const {
  if (Mask == MaskKind::Bidirectional)
    return true;
  return Key <= Query && (!Window || Query - Key < *Window);
}

Status evaluate::cacheAppend(KeyValueCache &Cache, int64_t Layer,
                             const EvaluatorBatch &Batch, const Tensor2D &Keys,
                             const Tensor2D &Values) {
  for (int64_t T = 0; T < Keys.Rows; ++T)
    if (Status S = Cache.store(Layer, Batch.Sequences[T], Batch.Positions[T],
                               Keys.row(T), Values.row(T));
        !S)
      return S;
  return {};
}

/// Rows of keys and values that one query sees.
struct VisibleRows {
  std::vector<const float *> Keys, Values;
};

static double dot(const float *Left, const float *Right, int64_t Count) {
  double Sum = 0;
  for (int64_t I = 0; I < Count; ++I)
    Sum += static_cast<double>(Left[I]) * Right[I];
  return Sum;
}

/// All heads of one query row.
static void attendRow(const float *Query, const VisibleRows &Visible,
                      int64_t HeadDim, const AttentionShape &Shape,
                      float *Out) {
  for (int64_t H = 0; H < Shape.Heads; ++H) {
    int64_t KvColumn = H / (Shape.Heads / Shape.KvHeads) * HeadDim;
    std::vector<double> Weights;
    double Maximum = -std::numeric_limits<double>::infinity();
    for (const float *Key : Visible.Keys) {
      Weights.push_back(Shape.Scale *
                        dot(Query + H * HeadDim, Key + KvColumn, HeadDim));
      Maximum = std::max(Maximum, Weights.back());
    }
    double Sum = 0;
    for (double &Weight : Weights)
      Sum += Weight = std::exp(Weight - Maximum);
    for (int64_t D = 0; D < HeadDim; ++D) {
      double Value = 0;
      for (size_t J = 0; J < Weights.size(); ++J)
        Value += Weights[J] * Visible.Values[J][KvColumn + D];
      Out[H * HeadDim + D] = static_cast<float>(Value / Sum);
    }
  }
}

Tensor2D evaluate::attention(const Tensor2D &Query, const EvaluatorBatch &Batch,
                             const Tensor2D &Keys, const Tensor2D &Values,
                             const AttentionShape &Shape) {
  Tensor2D Result(Query.Rows, Query.Columns);
  for (int64_t T = 0; T < Query.Rows; ++T) {
    VisibleRows Visible;
    for (int64_t J = 0; J < Keys.Rows; ++J)
      if (Batch.Sequences[J] == Batch.Sequences[T] &&
          Shape.sees(Batch.Positions[T], Batch.Positions[J])) {
        Visible.Keys.push_back(Keys.row(J));
        Visible.Values.push_back(Values.row(J));
      }
    attendRow(Query.row(T), Visible, Query.Columns / Shape.Heads, Shape,
              Result.row(T));
  }
  return Result;
}

/// Checks that the cache holds what the queries of `Batch` see.
static Status checkStored(const EvaluatorBatch &Batch,
                          const KeyValueCache &Cache, int64_t Layer) {
  for (int64_t T = 0; T < Batch.tokens(); ++T)
    if (int64_t Length = Cache.length(Layer, Batch.Sequences[T]);
        Batch.Positions[T] >= Length)
      return Error("position " + std::to_string(Batch.Positions[T]) +
                   " of sequence " + std::to_string(Batch.Sequences[T]) +
                   " in layer " + std::to_string(Layer) +
                   ": expected one that the cache holds, which are " +
                   std::to_string(Length));
  return {};
}

Result<Tensor2D> evaluate::cachedAttention(const Tensor2D &Query,
                                           const EvaluatorBatch &Batch,
                                           const KeyValueCache &Cache,
                                           int64_t Layer,
                                           const AttentionShape &Shape) {
  if (Status S = checkStored(Batch, Cache, Layer); !S)
    return S.error();
  Tensor2D Result(Query.Rows, Query.Columns);
  for (int64_t T = 0; T < Query.Rows; ++T) {
    int64_t Sequence = Batch.Sequences[T];
    VisibleRows Visible;
    for (int64_t P = 0; P < Cache.length(Layer, Sequence); ++P)
      if (Shape.sees(Batch.Positions[T], P)) {
        Visible.Keys.push_back(Cache.key(Layer, Sequence, P));
        Visible.Values.push_back(Cache.value(Layer, Sequence, P));
      }
    attendRow(Query.row(T), Visible, Query.Columns / Shape.Heads, Shape,
              Result.row(T));
  }
  return Result;
}

//===----------------------------------------------------------------------===//
// Splits
//===----------------------------------------------------------------------===//

SplitParts evaluate::split(std::span<const Tensor2D *const> Qkv,
                           const EvaluatorBatch &Batch,
                           const SplitShape &Shape) {
  SplitParts Parts;
  if (Qkv.size() == 3) {
    Parts = {*Qkv[0], *Qkv[1], *Qkv[2]};
  } else {
    const Tensor2D &All = *Qkv[0];
    int64_t HeadDim = All.Columns / (Shape.Heads + 2 * Shape.KvHeads);
    int64_t Column = 0;
    auto Take = [&](int64_t Heads) {
      Tensor2D Part(All.Rows, Heads * HeadDim);
      for (int64_t T = 0; T < All.Rows; ++T)
        std::copy_n(All.row(T) + Column, Part.Columns, Part.row(T));
      Column += Part.Columns;
      return Part;
    };
    Parts.Query = Take(Shape.Heads);
    Parts.Keys = Take(Shape.KvHeads);
    Parts.Values = Take(Shape.KvHeads);
  }
  if (Shape.QueryNorm)
    Parts.Query =
        rmsNorm(Parts.Query, *Shape.QueryNorm, Shape.Eps, Shape.Heads);
  if (Shape.KeyNorm)
    Parts.Keys = rmsNorm(Parts.Keys, *Shape.KeyNorm, Shape.Eps, Shape.KvHeads);
  if (Shape.Rope) {
    Parts.Query = rope(Parts.Query, Batch.Positions, Shape.Heads, Shape.Rope);
    Parts.Keys = rope(Parts.Keys, Batch.Positions, Shape.KvHeads, Shape.Rope);
  }
  return Parts;
}

Result<Tensor2D> evaluate::splitAppend(std::span<const Tensor2D *const> Qkv,
                                       KeyValueCache &Cache, int64_t Layer,
                                       const EvaluatorBatch &Batch,
                                       const SplitShape &Shape) {
  SplitParts Parts = split(Qkv, Batch, Shape);
  if (Status S = cacheAppend(Cache, Layer, Batch, Parts.Keys, Parts.Values); !S)
    return S.error();
  return std::move(Parts.Query);
}

namespace {

/// Where a row of staged keys and values keeps its elements.
struct PageLayout {
  int64_t KvHeads, HeadDim;

  int64_t key(int64_t KvHead, int64_t Token, int64_t D) const {
    int64_t Block = KvHead * (PageTokens / KeyBlock) + Token / KeyBlock;
    return (Block * HeadDim + D) * KeyBlock + Token % KeyBlock;
  }
  int64_t value(int64_t KvHead, int64_t Token, int64_t D) const {
    int64_t Padded = (HeadDim + KeyBlock - 1) / KeyBlock * KeyBlock;
    return KvHeads * PageTokens * HeadDim +
           (KvHead * PageTokens + Token) * Padded + D;
  }
};

/// The softmax of one query head and what it weights, page by page.
class OnlineSoftmax {
public:
  explicit OnlineSoftmax(int64_t HeadDim) : Output(HeadDim) {}

  /// Takes in a page: a score for every value row.
  void addPage(const std::vector<double> &Scores,
               const std::vector<const float *> &Values) {
    if (Scores.empty())
      return;
    double NewMaximum =
        std::max(Maximum, *std::max_element(Scores.begin(), Scores.end()));
    double Shrink = std::exp(Maximum - NewMaximum);
    Sum *= Shrink;
    for (double &Element : Output)
      Element *= Shrink;
    for (size_t J = 0; J < Scores.size(); ++J) {
      double Weight = std::exp(Scores[J] - NewMaximum);
      Sum += Weight;
      for (size_t D = 0; D < Output.size(); ++D)
        Output[D] += Weight * Values[J][D];
    }
    Maximum = NewMaximum;
  }

  void write(float *Out) const {
    for (size_t D = 0; D < Output.size(); ++D)
      Out[D] = static_cast<float>(Output[D] / Sum);
  }

private:
  double Maximum = -std::numeric_limits<double>::infinity();
  double Sum = 0;
  std::vector<double> Output;
};

} // namespace

SplitStageResult evaluate::splitStage(std::span<const Tensor2D *const> Qkv,
                                      const EvaluatorBatch &Batch,
                                      const SplitShape &Shape) {
  SplitParts Parts = split(Qkv, Batch, Shape);
  PageLayout Layout = {Shape.KvHeads, Parts.Keys.Columns / Shape.KvHeads};
  int64_t Tokens = Parts.Keys.Rows;
  Tensor2D Staged((Tokens + PageTokens - 1) / PageTokens,
                  pageElements(Layout.KvHeads, Layout.HeadDim));
  for (int64_t T = 0; T < Tokens; ++T)
    for (int64_t H = 0; H < Layout.KvHeads; ++H)
      for (int64_t D = 0; D < Layout.HeadDim; ++D) {
        int64_t Chunk = T / PageTokens, Slot = T % PageTokens;
        int64_t Column = H * Layout.HeadDim + D;
        Staged.at(Chunk, Layout.key(H, Slot, D)) = Parts.Keys.at(T, Column);
        Staged.at(Chunk, Layout.value(H, Slot, D)) = Parts.Values.at(T, Column);
      }
  return {std::move(Parts.Query), std::move(Staged)};
}

Tensor2D evaluate::onlineAttention(const Tensor2D &Query,
                                   const EvaluatorBatch &Batch,
                                   const Tensor2D &Staged,
                                   const AttentionShape &Shape) {
  Tensor2D Result(Query.Rows, Query.Columns);
  int64_t HeadDim = Query.Columns / Shape.Heads;
  PageLayout Layout = {Shape.KvHeads, HeadDim};
  for (int64_t T = 0; T < Query.Rows; ++T)
    for (int64_t H = 0; H < Shape.Heads; ++H) {
      int64_t KvHead = H / (Shape.Heads / Shape.KvHeads);
      OnlineSoftmax Softmax(HeadDim);
      for (int64_t Chunk = 0; Chunk < Staged.Rows; ++Chunk) {
        std::vector<double> Scores;
        std::vector<const float *> Values;
        const float *Page = Staged.row(Chunk);
        for (int64_t Slot = 0; Slot < PageTokens; ++Slot) {
          int64_t J = Chunk * PageTokens + Slot;
          if (J >= Query.Rows || Batch.Sequences[J] != Batch.Sequences[T] ||
              !Shape.sees(Batch.Positions[T], Batch.Positions[J]))
            continue;
          double Score = 0;
          for (int64_t D = 0; D < HeadDim; ++D)
            Score += static_cast<double>(Query.at(T, H * HeadDim + D)) *
                     Page[Layout.key(KvHead, Slot, D)];
          Scores.push_back(Shape.Scale * Score);
          Values.push_back(Page + Layout.value(KvHead, Slot, 0));
        }
        Softmax.addPage(Scores, Values);
      }
      Softmax.write(Result.row(T) + H * HeadDim);
    }
  return Result;
}

Result<Tensor2D> evaluate::cachedOnlineAttention(const Tensor2D &Query,
                                                 const EvaluatorBatch &Batch,
                                                 const KeyValueCache &Cache,
                                                 int64_t Layer,
                                                 const AttentionShape &Shape) {
  if (Status S = checkStored(Batch, Cache, Layer); !S)
    return S.error();
  Tensor2D Result(Query.Rows, Query.Columns);
  int64_t HeadDim = Query.Columns / Shape.Heads;
  for (int64_t T = 0; T < Query.Rows; ++T)
    for (int64_t H = 0; H < Shape.Heads; ++H) {
      int64_t KvColumn = H / (Shape.Heads / Shape.KvHeads) * HeadDim;
      int64_t Sequence = Batch.Sequences[T];
      int64_t Length = Cache.length(Layer, Sequence);
      OnlineSoftmax Softmax(HeadDim);
      for (int64_t Page = 0; Page < Length; Page += PageTokens) {
        std::vector<double> Scores;
        std::vector<const float *> Values;
        for (int64_t P = Page; P < std::min(Page + PageTokens, Length); ++P) {
          if (!Shape.sees(Batch.Positions[T], P))
            continue;
          Scores.push_back(Shape.Scale *
                           dot(Query.row(T) + H * HeadDim,
                               Cache.key(Layer, Sequence, P) + KvColumn,
                               HeadDim));
          Values.push_back(Cache.value(Layer, Sequence, P) + KvColumn);
        }
        Softmax.addPage(Scores, Values);
      }
      Softmax.write(Result.row(T) + H * HeadDim);
    }
  return Result;
}

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

Tensor2D evaluate::selectRows(const Tensor2D &Input,
                              const EvaluatorBatch &Batch) {
  Tensor2D Result(static_cast<int64_t>(Batch.Wanted.size()), Input.Columns);
  for (int64_t R = 0; R < Result.Rows; ++R)
    std::copy_n(Input.row(Batch.Wanted[R]), Input.Columns, Result.row(R));
  return Result;
}

Tensor2D evaluate::lmHead(const Tensor2D &Input, const EvaluatorBatch &Batch,
                          const Tensor2D &Weight, const Tensor2D *Bias) {
  return linear(selectRows(Input, Batch), Weight, Bias);
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
