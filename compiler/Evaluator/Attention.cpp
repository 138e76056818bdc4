//===- Attention.cpp - What attention and its cache compute ---------------===//

#include "compiler/Evaluator/Attention.h"

#include "compiler/Evaluator/Operations.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace tenon;
using namespace tenon::evaluate;
using namespace tenon::transformer;

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

//===----------------------------------------------------------------------===//
// Masks and scores
//===----------------------------------------------------------------------===//

bool AttentionShape::sees(int64_t Query, int64_t Key, int64_t Prefix) const {
  switch (Mask) {
  case MaskKind::Causal:
    return Key <= Query && (!Window || Query - Key < *Window);
  case MaskKind::Bidirectional:
    return !Window || std::abs(Query - Key) < *Window;
  case MaskKind::Prefix:
    // A query behind the prefix sees all of it anyway.
    return Key <= Query || Key < Prefix;
  }
  return false;
}

double AttentionShape::score(int64_t Head, double Dot, int64_t Query,
                             int64_t Key) const {
  double Score = Scale * Dot;
  if (SoftCap)
    Score = *SoftCap * std::tanh(Score / *SoftCap);
  if (Alibi) {
    float Slope = Table ? Table->at(Head, 0) : Alibi.slopes(Heads)[Head];
    if (Alibi.getRounded()) {
      float Position = roundTo(ElementType::BF16, static_cast<float>(Key));
      Score += Scale * roundTo(ElementType::BF16, Slope * Position);
    } else {
      Score += static_cast<double>(Slope) * static_cast<double>(Key);
    }
  }
  if (Buckets) {
    int64_t Distance = Key - Query, Max = Buckets.getMaxDistance();
    Score += Table ? Table->at(Head, std::clamp(Distance, -Max, Max) + Max)
                   : Bias->at(Buckets.bucketOf(Distance), Head);
  }
  return Score;
}

Status evaluate::checkStored(const EvaluatorBatch &Batch,
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

/// The same for any mask: a prefix is whole, a source text is encoded.
static Status checkSeen(const EvaluatorBatch &Batch, const KeyValueCache &Cache,
                        int64_t Layer, MaskKind Mask) {
  if (Mask != MaskKind::Bidirectional)
    if (Status S = checkStored(Batch, Cache, Layer); !S)
      return S;
  std::vector<int64_t> Prefixes = Batch.prefixes();
  for (int64_t T = 0; T < Batch.tokens(); ++T) {
    int64_t Sequence = Batch.Sequences[T];
    int64_t Length = Cache.length(Layer, Sequence);
    std::string Where = "sequence " + std::to_string(Sequence) + " in layer " +
                        std::to_string(Layer);
    if (Mask == MaskKind::Bidirectional && Length == 0)
      return Error(Where + ": expected a source text in the cross-attention "
                           "cache, which holds none");
    if (Mask == MaskKind::Prefix && Batch.Positions[T] < Prefixes[T] &&
        Prefixes[T] > Length)
      return Error(
          Where + ": expected a prefix of " + std::to_string(Prefixes[T]) +
          " in one step, of which the cache holds " + std::to_string(Length));
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Whole softmax
//===----------------------------------------------------------------------===//

namespace {
/// Rows of keys and values that one query sees.
struct VisibleRows {
  std::vector<const float *> Keys, Values;
  std::vector<int64_t> Positions;

  void add(const float *Key, const float *Value, int64_t Position) {
    Keys.push_back(Key);
    Values.push_back(Value);
    Positions.push_back(Position);
  }
};
} // namespace

static double dot(const float *Left, const float *Right, int64_t Count) {
  double Sum = 0;
  for (int64_t I = 0; I < Count; ++I)
    Sum += static_cast<double>(Left[I]) * Right[I];
  return Sum;
}

/// All heads of one query row at `Position`.
static void attendRow(const float *Query, int64_t Position,
                      const VisibleRows &Visible, int64_t HeadDim,
                      const AttentionShape &Shape, float *Out) {
  for (int64_t H = 0; H < Shape.Heads; ++H) {
    int64_t KvColumn = H / (Shape.Heads / Shape.KvHeads) * HeadDim;
    std::vector<double> Weights;
    double Sink = -std::numeric_limits<double>::infinity();
    if (Shape.Sinks)
      Sink = Shape.Sinks->at(0, H);
    double Maximum = Sink;
    for (size_t J = 0; J < Visible.Keys.size(); ++J) {
      double Dot =
          dot(Query + H * HeadDim, Visible.Keys[J] + KvColumn, HeadDim);
      Weights.push_back(Shape.score(H, Dot, Position, Visible.Positions[J]));
      Maximum = std::max(Maximum, Weights.back());
    }
    double Sum = std::exp(Sink - Maximum);
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
          Shape.sees(Batch.Positions[T], Batch.Positions[J]))
        Visible.add(Keys.row(J), Values.row(J), Batch.Positions[J]);
    attendRow(Query.row(T), Batch.Positions[T], Visible,
              Query.Columns / Shape.Heads, Shape, Result.row(T));
  }
  return Result;
}

/// What the query of token `T` sees of positions [From, To) of a cache.
static VisibleRows visibleRows(const EvaluatorBatch &Batch, int64_t T,
                               int64_t Prefix, const KeyValueCache &Cache,
                               int64_t Layer, const AttentionShape &Shape,
                               int64_t From, int64_t To) {
  int64_t Sequence = Batch.Sequences[T];
  VisibleRows Visible;
  for (int64_t P = From; P < To; ++P)
    if (Shape.sees(Batch.Positions[T], P, Prefix))
      Visible.add(Cache.key(Layer, Sequence, P),
                  Cache.value(Layer, Sequence, P), P);
  return Visible;
}

Result<Tensor2D> evaluate::cachedAttention(const Tensor2D &Query,
                                           const EvaluatorBatch &Batch,
                                           const KeyValueCache &Cache,
                                           int64_t Layer,
                                           const AttentionShape &Shape) {
  if (Status S = checkSeen(Batch, Cache, Layer, Shape.Mask); !S)
    return S.error();
  Tensor2D Result(Query.Rows, Query.Columns);
  std::vector<int64_t> Prefixes = Batch.prefixes();
  for (int64_t T = 0; T < Query.Rows; ++T)
    attendRow(Query.row(T), Batch.Positions[T],
              visibleRows(Batch, T, Prefixes[T], Cache, Layer, Shape, 0,
                          Cache.length(Layer, Batch.Sequences[T])),
              Query.Columns / Shape.Heads, Shape, Result.row(T));
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
    int64_t HeadDim = Qkv[0]->Columns / (Shape.Heads + 2 * Shape.KvHeads);
    int64_t QueryWidth = Shape.Heads * HeadDim;
    int64_t KeyWidth = Shape.KvHeads * HeadDim;
    Parts.Query = slice(*Qkv[0], 0, QueryWidth);
    Parts.Keys = slice(*Qkv[0], QueryWidth, KeyWidth);
    Parts.Values = slice(*Qkv[0], QueryWidth + KeyWidth, KeyWidth);
  }
  if (Shape.QueryNorm)
    Parts.Query = rmsNorm(Parts.Query, *Shape.QueryNorm, Shape.Eps, Shape.Heads,
                          Shape.NormOffset);
  if (Shape.KeyNorm)
    Parts.Keys = rmsNorm(Parts.Keys, *Shape.KeyNorm, Shape.Eps, Shape.KvHeads,
                         Shape.NormOffset);
  if (Shape.Rope.Attr) {
    Parts.Query =
        rope(Parts.Query, Batch.Positions, Shape.Heads, /*From=*/0, Shape.Rope);
    Parts.Keys = rope(Parts.Keys, Batch.Positions, Shape.KvHeads, /*From=*/0,
                      Shape.Rope);
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

SplitStageResult evaluate::splitStage(std::span<const Tensor2D *const> Qkv,
                                      const EvaluatorBatch &Batch,
                                      const SplitShape &Shape,
                                      CacheFormat Format) {
  SplitParts Parts = split(Qkv, Batch, Shape);
  PageLayout Layout = {Shape.KvHeads, Parts.Keys.Columns / Shape.KvHeads,
                       Format};
  Tensor2D Staged(Batch.count(CountKind::StagedPages), Layout.elements());
  std::vector<int64_t> Slots = Batch.stagedSlots();
  for (int64_t T = 0; T < Parts.Keys.Rows; ++T)
    for (int64_t H = 0; H < Layout.KvHeads; ++H)
      for (int64_t D = 0; D < Layout.HeadDim; ++D) {
        int64_t Page = Slots[T] / PageTokens, Slot = Slots[T] % PageTokens;
        int64_t Column = H * Layout.HeadDim + D;
        Staged.at(Page, Layout.key(H, Slot, D)) = Parts.Keys.at(T, Column);
        Staged.at(Page, Layout.value(H, Slot, D)) = Parts.Values.at(T, Column);
      }
  return {std::move(Parts.Query), std::move(Staged)};
}

//===----------------------------------------------------------------------===//
// Online softmax
//===----------------------------------------------------------------------===//

namespace {

/// The softmax of one query head and what it weights, page by page.
class OnlineSoftmax {
public:
  OnlineSoftmax(int64_t HeadDim, const AttentionShape &Shape, int64_t Head)
      : RoundsWeights(Shape.RoundsWeights), Output(HeadDim) {
    if (!Shape.Sinks)
      return;
    Maximum = Shape.Sinks->at(0, Head);
    Sum = 1;
  }

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
      if (RoundsWeights)
        Weight = roundTo(ElementType::BF16, static_cast<float>(Weight));
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
  bool RoundsWeights;
  double Maximum = -std::numeric_limits<double>::infinity();
  double Sum = 0;
  std::vector<double> Output;
};

} // namespace

Tensor2D evaluate::onlineAttention(const Tensor2D &Query,
                                   const EvaluatorBatch &Batch,
                                   const Tensor2D &Staged,
                                   const AttentionShape &Shape) {
  Tensor2D Result(Query.Rows, Query.Columns);
  int64_t HeadDim = Query.Columns / Shape.Heads;
  PageLayout Layout = {Shape.KvHeads, HeadDim, Shape.StagedAs};
  std::vector<int64_t> Slots = Batch.stagedSlots();
  for (int64_t T = 0; T < Query.Rows; ++T)
    for (int64_t H = 0; H < Shape.Heads; ++H) {
      int64_t KvHead = H / (Shape.Heads / Shape.KvHeads);
      OnlineSoftmax Softmax(HeadDim, Shape, H);
      for (int64_t Number = 0; Number < Staged.Rows; ++Number) {
        std::vector<double> Scores;
        std::vector<std::vector<float>> Rows;
        const float *Page = Staged.row(Number);
        for (int64_t J = 0; J < Query.Rows; ++J) {
          if (Slots[J] / PageTokens != Number ||
              Batch.Sequences[J] != Batch.Sequences[T] ||
              !Shape.sees(Batch.Positions[T], Batch.Positions[J]))
            continue;
          int64_t Slot = Slots[J] % PageTokens;
          double Dot = 0;
          for (int64_t D = 0; D < HeadDim; ++D)
            Dot += static_cast<double>(Query.at(T, H * HeadDim + D)) *
                   Page[Layout.key(KvHead, Slot, D)];
          Scores.push_back(
              Shape.score(H, Dot, Batch.Positions[T], Batch.Positions[J]));
          std::vector<float> &Row = Rows.emplace_back();
          for (int64_t D = 0; D < HeadDim; ++D)
            Row.push_back(Page[Layout.value(KvHead, Slot, D)]);
        }
        std::vector<const float *> Values;
        for (const std::vector<float> &Row : Rows)
          Values.push_back(Row.data());
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
  if (Status S = checkSeen(Batch, Cache, Layer, Shape.Mask); !S)
    return S.error();
  Tensor2D Result(Query.Rows, Query.Columns);
  std::vector<int64_t> Prefixes = Batch.prefixes();
  int64_t HeadDim = Query.Columns / Shape.Heads;
  for (int64_t T = 0; T < Query.Rows; ++T)
    for (int64_t H = 0; H < Shape.Heads; ++H) {
      int64_t KvColumn = H / (Shape.Heads / Shape.KvHeads) * HeadDim;
      int64_t Length = Cache.length(Layer, Batch.Sequences[T]);
      OnlineSoftmax Softmax(HeadDim, Shape, H);
      for (int64_t Page = 0; Page < Length; Page += PageTokens) {
        VisibleRows Visible =
            visibleRows(Batch, T, Prefixes[T], Cache, Layer, Shape, Page,
                        std::min(Page + PageTokens, Length));
        std::vector<double> Scores;
        for (size_t J = 0; J < Visible.Keys.size(); ++J) {
          double Dot = dot(Query.row(T) + H * HeadDim,
                           Visible.Keys[J] + KvColumn, HeadDim);
          Scores.push_back(
              Shape.score(H, Dot, Batch.Positions[T], Visible.Positions[J]));
          Visible.Values[J] += KvColumn;
        }
        Softmax.addPage(Scores, Visible.Values);
      }
      Softmax.write(Result.row(T) + H * HeadDim);
    }
  return Result;
}
