//===- WeightPacking.cpp - Checkpoint tensors into an artifact ------------===//

#include "compiler/Driver/WeightPacking.h"

#include "compiler/Checkpoint/TensorView.h"
#include "runtime/Packing/Packer.h"

#include <cmath>
#include <map>

using namespace tenon;

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
static Status packAngles(const PackedWeight &Weight, Packer &Pack) {
  llvm::SmallVector<float> Frequencies = Weight.Rope.frequencies();
  size_t Half = Frequencies.size();
  std::vector<float> Row(2 * Half);
  for (int64_t Position = 0; Position < Weight.Type.getRows(); ++Position) {
    for (size_t I = 0; I < Half; ++I) {
      auto Angle =
          static_cast<double>(static_cast<float>(Position) * Frequencies[I]);
      Row[I] = static_cast<float>(std::cos(Angle));
      Row[Half + I] = static_cast<float>(std::sin(Angle));
    }
    if (Status Done = Pack.append(Row); !Done)
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
  // 64 rows are a panel; small rows come in larger groups.
  int64_t Group = std::max<int64_t>(64, (int64_t(1) << 16) / K / 64 * 64);
  std::vector<float> Buffer;
  for (int64_t Row = 0; Row < View->rows(); Row += Group) {
    int64_t Count = std::min(Group, View->rows() - Row);
    Buffer.resize(static_cast<size_t>(Count * K));
    if (Status Read = View->readRowsAsFloat(Row, Count, Buffer.data()); !Read)
      return Read;
    if (Status Done = Pack.append(Buffer); !Done)
      return Done;
    View->dropRows(Row, Count);
  }
  return {};
}

static Status packWeight(const PackedWeight &Weight, const Checkpoint &Source,
                         ArtifactWriter &Writer) {
  PackedLayout Layout = layoutOf(Weight.Type);
  WeightInfo Info;
  Info.Name = Weight.name();
  Info.Layout = Layout;
  Info.Rows = Weight.Type.getRows();
  Info.Columns = Weight.Type.getColumns();
  if (Status Begun = Writer.beginWeight(Info); !Begun)
    return Begun;
  Packer Pack(
      Layout, Info.Rows, Info.Columns,
      [&](std::span<const std::byte> Bytes) { return Writer.append(Bytes); });
  if (Weight.Rope) {
    if (Status Done = packAngles(Weight, Pack); !Done)
      return Done;
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
    return packedBytes(layoutOf(Weight.Type), Weight.Type.getRows(),
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
