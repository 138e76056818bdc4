//===- WeightPacking.cpp - Checkpoint tensors into an artifact ------------===//

#include "compiler/Driver/WeightPacking.h"

#include "compiler/Checkpoint/TensorView.h"
#include "runtime/Packing/Packer.h"

#include <cmath>
#include <map>

using namespace tenon;
namespace tr = tenon::transformer;

static PackedLayout layoutOf(dnn::PackedType Type) {
  PackedLayout Layout;
  Layout.Type =
      Type.getElementType().isBF16() ? ElementType::BF16 : ElementType::F32;
  switch (Type.getLayout()) {
  case dnn::LayoutKind::Vector:
    Layout.Kind = LayoutKind::Vector;
    break;
  case dnn::LayoutKind::Rows:
    Layout.Kind = LayoutKind::Rows;
    break;
  case dnn::LayoutKind::Panels:
    Layout.Kind = LayoutKind::Panels;
    break;
  }
  return Layout;
}

/// Rows of cosines and sines, angles and functions rounded as Transformers
/// does: the angle is a product in f32.
static Status packAngles(tr::RopeAttr Rope, int64_t Positions, Packer &Pack) {
  llvm::SmallVector<float> Frequencies = Rope.frequencies();
  float Factor = Rope.attentionFactor();
  size_t Half = Frequencies.size();
  std::vector<float> Row(2 * Half);
  for (int64_t Position = 0; Position < Positions; ++Position) {
    for (size_t I = 0; I < Half; ++I) {
      auto Angle =
          static_cast<double>(static_cast<float>(Position) * Frequencies[I]);
      Row[I] = static_cast<float>(std::cos(Angle)) * Factor;
      Row[Half + I] = static_cast<float>(std::sin(Angle)) * Factor;
    }
    if (Status Done = Pack.append(Row); !Done)
      return Done;
  }
  return {};
}

/// Rows of sinusoids (see transformer.sinusoid).
static Status packSinusoids(tr::RopeStyle Style, const PackedWeight &Weight,
                            Packer &Pack) {
  int64_t Width = Weight.Type.getColumns();
  // A width that is odd has one sine more.
  int64_t Sines = (Width + 1) / 2;
  bool IsHalf = Style == tr::RopeStyle::Half;
  std::vector<float> Row(static_cast<size_t>(Width));
  for (int64_t Position = 0; Position < Weight.Type.getRows(); ++Position) {
    for (int64_t I = 0; I < Width; ++I) {
      int64_t Pair = IsHalf ? I % Sines : I / 2;
      bool IsSine = IsHalf ? I < Sines : I % 2 == 0;
      double Angle = static_cast<double>(Position) /
                     std::pow(10000.0, static_cast<double>(2 * Pair) /
                                           static_cast<double>(Width));
      Row[static_cast<size_t>(I)] =
          static_cast<float>(IsSine ? std::sin(Angle) : std::cos(Angle));
    }
    if (Status Done = Pack.append(Row); !Done)
      return Done;
  }
  return {};
}

/// Learned biases [buckets, heads] as a row of distances per head.
static Status packBuckets(tr::BucketsAttr Buckets, const PackedWeight &Weight,
                          const Checkpoint &Source, Packer &Pack) {
  int64_t Heads = Weight.Type.getRows();
  auto View = TensorView::resolveMatrix(Source, Weight.Sources.front(),
                                        Buckets.getCount(), Heads);
  if (!View)
    return View.error().withContext("weights");
  std::vector<float> Learned(static_cast<size_t>(Buckets.getCount() * Heads));
  if (Status Read =
          View->readRowsAsFloat(0, Buckets.getCount(), Learned.data());
      !Read)
    return Read;
  std::vector<float> Row;
  for (int64_t Head = 0; Head < Heads; ++Head) {
    Row.clear();
    for (int64_t Distance = -Buckets.getMaxDistance();
         Distance <= Buckets.getMaxDistance(); ++Distance)
      Row.push_back(Learned[static_cast<size_t>(
          Buckets.bucketOf(Distance) * Heads + Head)]);
    if (Status Done = Pack.append(Row); !Done)
      return Done;
  }
  return {};
}

/// A table that is computed; see dnn.table.
static Status packTable(const PackedWeight &Weight, const Checkpoint &Source,
                        Packer &Pack) {
  if (auto Rope = llvm::dyn_cast<tr::RopeAttr>(Weight.Table))
    return packAngles(Rope, Weight.Type.getRows(), Pack);
  if (auto Sinusoid = llvm::dyn_cast<tr::SinusoidAttr>(Weight.Table))
    return packSinusoids(Sinusoid.getStyle(), Weight, Pack);
  if (auto Buckets = llvm::dyn_cast<tr::BucketsAttr>(Weight.Table))
    return packBuckets(Buckets, Weight, Source, Pack);
  auto Slopes =
      llvm::cast<tr::AlibiAttr>(Weight.Table).slopes(Weight.Type.getRows());
  return Pack.append({Slopes.data(), Slopes.size()});
}

/// Rows [First, Last) of `View`, of K columns.
static Status packRows(const TensorView &View, int64_t First, int64_t Last,
                       int64_t K, Packer &Pack) {
  // 64 rows are a panel; small rows come in larger groups.
  int64_t Group = std::max<int64_t>(64, (int64_t(1) << 16) / K / 64 * 64);
  std::vector<float> Buffer;
  for (int64_t Row = First; Row < Last; Row += Group) {
    int64_t Count = std::min(Group, Last - Row);
    Buffer.resize(static_cast<size_t>(Count * K));
    if (Status Read = View.readRowsAsFloat(Row, Count, Buffer.data()); !Read)
      return Read;
    if (Status Done = Pack.append(Buffer); !Done)
      return Done;
    View.dropRows(Row, Count);
  }
  return {};
}

/// Rows that a weight has in the artifact: each matrix of a stack begins a
/// panel of its own.
static int64_t storedRows(dnn::PackedType Type) {
  if (Type.getCount() == 1)
    return Type.getRows();
  return Type.getCount() * Type.getPanels() * dnn::PackedType::PanelWidth;
}

/// The matrices of a stack, each filled up to whole panels with zeros.
static Status packStack(const PackedWeight &Weight, const Checkpoint &Source,
                        Packer &Pack) {
  dnn::PackedType Type = Weight.Type;
  int64_t N = Type.getRows(), K = Type.getColumns();
  auto View = TensorView::resolveMatrix(Source, Weight.Sources.front(),
                                        Type.getCount() * N, K);
  if (!View)
    return View.error().withContext("weights");
  int64_t Missing = Type.getPanels() * dnn::PackedType::PanelWidth - N;
  std::vector<float> Zeros(static_cast<size_t>(Missing * K));
  for (int64_t I = 0; I < Type.getCount(); ++I) {
    if (Status Done = packRows(*View, I * N, (I + 1) * N, K, Pack); !Done)
      return Done;
    if (Status Done = Pack.append(Zeros); !Done)
      return Done;
  }
  return {};
}

/// Streams one parameter of K columns and, if known, so many rows.
static Status packTensor(const std::string &Name, std::optional<int64_t> Rows,
                         int64_t K, const Checkpoint &Source, Packer &Pack) {
  auto View = TensorView::resolveMatrix(Source, Name, Rows, K);
  if (!View)
    return View.error().withContext("weights");
  return packRows(*View, 0, View->rows(), K, Pack);
}

static Status packWeight(const PackedWeight &Weight, const Checkpoint &Source,
                         ArtifactWriter &Writer) {
  PackedLayout Layout = layoutOf(Weight.Type);
  WeightInfo Info;
  Info.Name = Weight.name();
  Info.Layout = Layout;
  Info.Rows = storedRows(Weight.Type);
  Info.Columns = Weight.Type.getColumns();
  if (Status Begun = Writer.beginWeight(Info); !Begun)
    return Begun;
  Packer Pack(
      Layout, Info.Rows, Info.Columns,
      [&](std::span<const std::byte> Bytes) { return Writer.append(Bytes); });
  if (Weight.Table || Weight.Type.getCount() > 1) {
    Status Done = Weight.Table ? packTable(Weight, Source, Pack)
                               : packStack(Weight, Source, Pack);
    return Done ? Pack.finish() : Done;
  }
  // Of several, one below another, only the sum of rows is known.
  std::optional<int64_t> Rows;
  if (Weight.Sources.size() == 1)
    Rows = Info.Rows;
  for (const std::string &Name : Weight.Sources)
    if (Status Done = packTensor(Name, Rows, Info.Columns, Source, Pack); !Done)
      return Done;
  return Pack.finish();
}

Result<std::vector<ScopeInfo>>
tenon::packWeights(const std::vector<ScopeTable> &Tables, size_t CacheKinds,
                   const Checkpoint &Source, ArtifactWriter &Writer,
                   const std::function<void(double)> &Report) {
  int64_t Total = 0, Done = 0;
  auto SizeOf = [](const PackedWeight &Weight) {
    return packedBytes(layoutOf(Weight.Type), storedRows(Weight.Type),
                       Weight.Type.getColumns());
  };
  for (const ScopeTable &Table : Tables)
    for (const std::optional<PackedWeight> &Weight : Table.Weights)
      Total += Weight ? SizeOf(*Weight) : 0;

  std::map<std::string, int64_t> Indices;
  std::vector<ScopeInfo> Scopes;
  for (const ScopeTable &Table : Tables) {
    ScopeInfo Scope;
    // The checkpoint's root has no name of its own.
    Scope.Name = Table.Name.empty() ? "." : Table.Name;
    Scope.CacheLayers.assign(CacheKinds, Table.Layer.value_or(-1));
    for (const std::optional<PackedWeight> &Weight : Table.Weights) {
      if (!Weight) {
        Scope.Weights.push_back(-1);
        continue;
      }
      // The same tensors in the same layout are stored once, whoever uses
      // them.
      std::string Key = Weight->name() + " " + nameOf(layoutOf(Weight->Type));
      auto [Found, IsNew] = Indices.try_emplace(Key, -1);
      if (IsNew) {
        if (Status Packed = packWeight(*Weight, Source, Writer); !Packed)
          return Packed.error();
        Result<size_t> Index = Writer.endWeight();
        if (!Index)
          return Index.error();
        Found->second = static_cast<int64_t>(*Index);
      }
      Done += SizeOf(*Weight);
      Report(static_cast<double>(Done) / static_cast<double>(Total));
      Scope.Weights.push_back(Found->second);
    }
    Scopes.push_back(std::move(Scope));
  }
  return Scopes;
}
