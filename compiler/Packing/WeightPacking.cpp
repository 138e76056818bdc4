//===- WeightPacking.cpp - Checkpoint tensors into an artifact ------------===//

#include "compiler/Packing/WeightPacking.h"

#include "compiler/Checkpoint/TensorView.h"
#include "runtime/Packing/Blocks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cassert>
#include <cmath>
#include <deque>
#include <map>

using namespace tenon;

static PackedLayout layoutOf(dnn::PackedType Type) {
  return {Type.getLayout(), Type.getFormat()};
}

/// A table that is computed; see dnn.table.
static Status packTable(const PackedWeight &Weight, const Checkpoint &Source,
                        Packer &Pack) {
  int64_t Rows = Weight.Type.getOutFeatures();
  std::vector<float> Learned;
  if (std::optional<int64_t> Count = Weight.Table.getLearnedRows()) {
    auto View =
        TensorView::resolveMatrix(Source, Weight.Sources.front(), *Count, Rows);
    if (!View)
      return View.error().withContext("weights");
    Learned.resize(static_cast<size_t>(*Count * Rows));
    if (Status Read = View->readRowsAsFloat(0, *Count, Learned.data()); !Read)
      return Read;
  }
  std::vector<float> Row(static_cast<size_t>(Weight.Type.getInFeatures()));
  for (int64_t R = 0; R < Rows; ++R) {
    Weight.Table.fillRow(R, Rows, Learned, Row);
    if (Status Done = Pack.append(Row); !Done)
      return Done;
  }
  return {};
}

/// Whether rows are packed as the blocks that are stored.
static bool isKept(const TensorView &View, StorageFormat Format) {
  return View.keptFormat() == Format;
}

namespace {
/// What errors of matrices cost while a weight is packed, which keeps pointers
/// to it.
class Metrics {
public:
  explicit Metrics(const InputStatistics *Inputs) : Inputs(Inputs) {}

  /// Of matrix `Matrix` of `Tensor`; null without any.
  Result<const ErrorMetric *> of(const std::string &Tensor, int64_t Matrix) {
    if (!Inputs || !Inputs->contains(Tensor))
      return nullptr;
    std::vector<double> Means = Inputs->meanMoments(Tensor);
    bool IsStack = Means.empty();
    if (IsStack)
      Means = Inputs->meanSquares(Tensor, Matrix);
    if (!llvm::all_of(Means, [](double X) { return std::isfinite(X); }))
      return Error("calibration: the inputs of tensor " + printable(Tensor) +
                   " become infinite or none: expected finite numbers");
    if (llvm::all_of(Means, [](double X) { return X == 0; }))
      return nullptr;
    return &Kept.emplace_back(
        IsStack ? ErrorMetric::ofSquares(Means)
                : ErrorMetric::ofMoments(Means, Inputs->rows(Tensor, 0)));
  }

  bool areThere() const { return !Kept.empty(); }

private:
  const InputStatistics *Inputs;
  std::deque<ErrorMetric> Kept;
};
} // namespace

/// Rows [First, Last) of `View`, of K columns.
static Status packRows(const TensorView &View, StorageFormat Format,
                       int64_t First, int64_t Last, int64_t K, Packer &Pack,
                       const ErrorMetric *Metric) {
  // 64 rows are a panel; small rows come in larger groups.
  int64_t Group = std::max<int64_t>(64, (int64_t(1) << 16) / K / 64 * 64);
  std::vector<float> Buffer;
  std::vector<std::byte> Stored;
  bool IsQuantised = infoOf(Format).isQuantised();
  for (int64_t Row = First; Row < Last; Row += Group) {
    int64_t Count = std::min(Group, Last - Row);
    if (isKept(View, Format)) {
      Stored.resize(static_cast<size_t>(Count * View.storedRowBytes()));
      if (Status Read = View.readStoredRows(Row, Count, Stored.data()); !Read)
        return Read;
      if (Status Done = Pack.appendStored(Stored, Count); !Done)
        return Done;
      View.dropRows(Row, Count);
      continue;
    }
    Buffer.resize(static_cast<size_t>(Count * K));
    if (Status Read = View.readRowsAsFloat(Row, Count, Buffer.data()); !Read)
      return Read;
    if (IsQuantised &&
        !llvm::all_of(Buffer, [](float X) { return std::isfinite(X); }))
      return Error("weights: tensor " + printable(View.tensors().front()) +
                   " has a number that is infinite or none: expected finite "
                   "numbers to quantise");
    if (float Most = largestQuantised(Format);
        IsQuantised &&
        llvm::any_of(Buffer, [&](float X) { return std::abs(X) > Most; }))
      return Error(
          "weights: tensor " + printable(View.tensors().front()) +
          " has a number beyond " + llvm::formatv("{0:e2}", Most).str() +
          ": expected smaller ones for " + std::string(infoOf(Format).Name) +
          ", whose scales are f16 (--quantize-exclude leaves it as "
          "it is)");
    if (Status Done = Pack.append(Buffer, Metric); !Done)
      return Done;
    View.dropRows(Row, Count);
  }
  return {};
}

/// Rows that a weight has in the artifact: each matrix of a stack begins a
/// panel of its own.
static int64_t storedRows(dnn::PackedType Type) {
  if (Type.getCount() == 1)
    return Type.getOutFeatures();
  return Type.getCount() * Type.getPanels() * PanelWidth;
}

/// The matrices of a stack, each filled up to whole panels with zeros.
static Status packStack(const PackedWeight &Weight, const Checkpoint &Source,
                        Packer &Pack, Metrics &Known) {
  dnn::PackedType Type = Weight.Type;
  int64_t N = Type.getOutFeatures(), K = Type.getInFeatures();
  auto View = TensorView::resolveMatrix(Source, Weight.Sources.front(),
                                        Type.getCount() * N, K);
  if (!View)
    return View.error().withContext("weights");
  int64_t Missing = Type.getPanels() * PanelWidth - N;
  std::vector<float> Zeros(static_cast<size_t>(Missing * K));
  // Of all formats, blocks without a bit are zeros.
  std::vector<std::byte> ZeroBlocks;
  if (isKept(*View, Type.getFormat()))
    ZeroBlocks.resize(static_cast<size_t>(Missing * View->storedRowBytes()));
  for (int64_t I = 0; I < Type.getCount(); ++I) {
    Result<const ErrorMetric *> Metric = Known.of(Weight.Sources.front(), I);
    if (!Metric)
      return Metric.error();
    if (Status Done = packRows(*View, Type.getFormat(), I * N, (I + 1) * N, K,
                               Pack, *Metric);
        !Done)
      return Done;
    Status Done = isKept(*View, Type.getFormat())
                      ? Pack.appendStored(ZeroBlocks, Missing)
                      : Pack.append(Zeros);
    if (!Done)
      return Done;
  }
  return {};
}

/// Streams one parameter of K columns and, if known, so many rows.
static Status packTensor(const std::string &Name, StorageFormat Format,
                         std::optional<int64_t> Rows, int64_t K,
                         const Checkpoint &Source, Packer &Pack,
                         Metrics &Known) {
  auto View = TensorView::resolveMatrix(Source, Name, Rows, K);
  if (!View)
    return View.error().withContext("weights");
  Result<const ErrorMetric *> Metric = Known.of(Name, 0);
  if (!Metric)
    return Metric.error();
  return packRows(*View, Format, 0, View->rows(), K, Pack, *Metric);
}

WeightInfo tenon::infoOf(const PackedWeight &Weight) {
  WeightInfo Info;
  Info.Name = Weight.name();
  Info.Layout = layoutOf(Weight.Type);
  Info.Rows = storedRows(Weight.Type);
  Info.Columns = Weight.Type.getInFeatures();
  return Info;
}

/// The parts of `Weight`, in order.
static Status packParts(const PackedWeight &Weight, const WeightInfo &Info,
                        const Checkpoint &Source, Packer &Pack,
                        Metrics &Known) {
  if (Weight.Table)
    return packTable(Weight, Source, Pack);
  if (Weight.Type.getCount() > 1)
    return packStack(Weight, Source, Pack, Known);
  // Of several, one below another, only the sum of rows is known.
  std::optional<int64_t> Rows;
  if (Weight.Sources.size() == 1)
    Rows = Info.Rows;
  for (const std::string &Name : Weight.Sources)
    if (Status Done = packTensor(Name, Info.Layout.Format, Rows, Info.Columns,
                                 Source, Pack, Known);
        !Done)
      return Done;
  return {};
}

Status tenon::packWeight(const PackedWeight &Weight, const Checkpoint &Source,
                         Packer::Sink Emit,
                         const QuantisationSettings &Settings) {
  WeightInfo Info = infoOf(Weight);
  Packer Pack(Info.Layout, Info.Rows, Info.Columns, std::move(Emit));
  bool IsQuantised = infoOf(Info.Layout.Format).isQuantised();
  QuantisationOutcome Outcome;
  if (IsQuantised && Settings.Measure)
    Pack.measure(Outcome.Error);
  Metrics Known(IsQuantised ? Settings.Inputs : nullptr);
  if (Status Done = packParts(Weight, Info, Source, Pack, Known); !Done)
    return Done;
  if (Status Done = Pack.finish(); !Done)
    return Done;
  Outcome.IsKept = Pack.isStored();
  Outcome.IsCalibrated = Known.areThere();
  if (IsQuantised && Settings.Done)
    Settings.Done(Weight, Outcome);
  return {};
}

Result<std::vector<ScopeInfo>>
tenon::packWeights(const std::vector<ScopeTable> &Tables, size_t CacheKinds,
                   const Checkpoint &Source, ArtifactWriter &Writer,
                   const QuantisationSettings &Settings,
                   const std::function<void(double)> &Report) {
  int64_t Total = 0, Done = 0;
  auto SizeOf = [](const PackedWeight &Weight) {
    return packedBytes(layoutOf(Weight.Type), storedRows(Weight.Type),
                       Weight.Type.getInFeatures());
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
        if (Status Begun = Writer.beginWeight(infoOf(*Weight)); !Begun)
          return Begun.error();
        Status Packed = packWeight(
            *Weight, Source,
            [&](std::span<const std::byte> Bytes) {
              return Writer.append(Bytes);
            },
            Settings);
        if (!Packed)
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
  // What was read from a file that changed meanwhile is not the model.
  if (Status Same = Source.checkUnchanged(); !Same)
    return Same.error();
  return Scopes;
}
