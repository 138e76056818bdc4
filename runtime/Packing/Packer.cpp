//===- Packer.cpp - Packing of weights into their layouts -----------------===//

#include "runtime/Packing/Packer.h"

#include "runtime/Packing/Blocks.h"
#include "runtime/Support/Half.h"

#include <algorithm>
#include <cstring>

using namespace tenon;

namespace {

/// How one element type is stored.
struct StoredF32 {
  using Type = float;
  static Type from(float Value) { return Value; }
};
struct StoredBF16 {
  using Type = uint16_t;
  static Type from(float Value) { return floatToBf16(Value); }
};

template <typename Stored>
void convert(int64_t Count, const float *Source, std::byte *Target) {
  auto *Out = reinterpret_cast<typename Stored::Type *>(Target);
  for (int64_t I = 0; I < Count; ++I)
    Out[I] = Stored::from(Source[I]);
}

/// Elements of one output feature that a tile holds: 16 groups of 4 bytes.
template <typename Stored>
constexpr int64_t TileDepth = 16 * (4 / sizeof(typename Stored::Type));

/// One tile of TileDepth x 64 elements is 4 KiB, so the strided writes of a
/// row stay in the first-level cache.
template <typename Stored>
void packTiles(int64_t K, int64_t Rows, const float *Source, std::byte *Panel) {
  using Element = typename Stored::Type;
  constexpr int64_t Interleave = 4 / sizeof(Element);
  constexpr int64_t Depth = TileDepth<Stored>;
  for (int64_t Begin = 0; Begin < K; Begin += Depth) {
    auto *Tile = reinterpret_cast<Element *>(Panel) + Begin * PanelWidth;
    int64_t Present = std::min(Depth, K - Begin);
    if (Rows < PanelWidth || Present < Depth)
      std::memset(Tile, 0, Depth * PanelWidth * sizeof(Element));
    for (int64_t Row = 0; Row < Rows; ++Row) {
      const float *In = Source + Row * K + Begin;
      Element Line[Depth] = {};
      if (Present == Depth)
        for (int64_t I = 0; I < Depth; ++I)
          Line[I] = Stored::from(In[I]);
      else
        for (int64_t I = 0; I < Present; ++I)
          Line[I] = Stored::from(In[I]);
      for (int64_t Group = 0; Group < 16; ++Group)
        std::memcpy(Tile + (Group * PanelWidth + Row) * Interleave,
                    Line + Group * Interleave, 4);
    }
  }
}

/// Values of a row that may make up for each other's errors, while they are
/// quantised; zeros fill up the last.
class RowPart {
public:
  /// Those from `First` on of the K values of `Row`.
  RowPart(const float *Row, int64_t First, int64_t K, const ErrorMetric *Metric)
      : Original(Row + First), First(First),
        Count(std::min(FeedbackColumns, K - First)), Metric(Metric) {
    std::copy_n(Original, Count, Values);
    if (Metric)
      std::copy_n(Metric->importance(First), Count, Importance);
  }

  /// Quantises the block at `At`; the values behind make up for its errors.
  CodeBlock quantise(StorageFormat Format, int64_t At) {
    const float *Weights = Metric ? Importance + At : nullptr;
    if (!Metric || !Metric->hasFeedback())
      return quantiseBlock(Format, Values + At, Weights);
    const float *Feedback = Metric->feedback(First + At) + At;
    CodeBlock Block =
        quantiseWithFeedback(Format, Values + At, Weights, Feedback);
    makeUpForErrors(std::span(Values).subspan(static_cast<size_t>(At)),
                    infoOf(Format).BlockValues, Feedback);
    return Block;
  }

  /// Keeps what `Block`, that at `At`, has lost.
  void measure(StorageFormat Format, const CodeBlock &Block, int64_t At) {
    if (!decodeBlock(Format, Block, Errors + At))
      std::fill_n(Errors + At, infoOf(Format).BlockValues, 0.0f);
    for (int64_t I = At; I < std::min(At + infoOf(Format).BlockValues, Count);
         ++I)
      Errors[I] = Original[I] - Errors[I];
  }

  /// Of all blocks, which were measured.
  QuantisationError error() {
    QuantisationError Sums;
    for (int64_t I = 0; I < Count; ++I) {
      Sums.Square += static_cast<double>(Original[I]) * Original[I];
      Sums.Error += static_cast<double>(Errors[I]) * Errors[I];
    }
    Sums.OutputSquare = Sums.Square;
    Sums.OutputError = Sums.Error;
    if (Metric) {
      auto Used = static_cast<size_t>(Count);
      std::copy_n(Original, Count, Values);
      Sums.OutputSquare =
          Metric->outputSquare(std::span(Values).first(Used), First);
      Sums.OutputError =
          Metric->outputSquare(std::span(Errors).first(Used), First);
    }
    return Sums;
  }

private:
  const float *Original;
  int64_t First, Count;
  const ErrorMetric *Metric;
  float Values[FeedbackColumns] = {};
  float Importance[FeedbackColumns] = {};
  float Errors[FeedbackColumns] = {};
};

/// Rows that a thread quantises at once, which share what feedback it loads.
constexpr int64_t RowsTogether = 8;

void quantisePanel(StorageFormat Format, int64_t K, int64_t Rows,
                   const float *Source, std::byte *Panel,
                   std::span<const ErrorMetric *const> Metrics,
                   QuantisationError *Error) {
  const StorageFormatInfo &Info = infoOf(Format);
  static_assert(FeedbackColumns % MaxBlockValues == 0);
  QuantisationError Errors[PanelWidth];
  // Lanes of different rows are different bytes.
#pragma omp parallel for schedule(dynamic, 1)
  for (int64_t FirstRow = 0; FirstRow < Rows; FirstRow += RowsTogether) {
    int64_t LastRow = std::min(FirstRow + RowsTogether, Rows);
    for (int64_t First = 0; First < K; First += FeedbackColumns) {
      std::vector<RowPart> Parts;
      Parts.reserve(RowsTogether);
      for (int64_t Row = FirstRow; Row < LastRow; ++Row)
        Parts.emplace_back(Source + Row * K, First, K,
                           Metrics.empty() ? nullptr
                                           : Metrics[static_cast<size_t>(Row)]);
      int64_t Last = std::min(First + FeedbackColumns, K);
      for (int64_t At = First; At < Last; At += Info.BlockValues)
        for (int64_t Row = FirstRow; Row < LastRow; ++Row) {
          RowPart &Part = Parts[static_cast<size_t>(Row - FirstRow)];
          CodeBlock Block = Part.quantise(Format, At - First);
          if (Error)
            Part.measure(Format, Block, At - First);
          layBlock(Format, Block, Row,
                   Panel +
                       At * PanelWidth * Info.BlockBytes / Info.BlockValues);
        }
      for (int64_t Row = FirstRow; Error && Row < LastRow; ++Row)
        Errors[Row] += Parts[static_cast<size_t>(Row - FirstRow)].error();
    }
  }
  if (Error)
    for (const QuantisationError &OfRow : Errors)
      *Error += OfRow;
}

} // namespace

QuantisationError &
QuantisationError::operator+=(const QuantisationError &Other) {
  Square += Other.Square;
  Error += Other.Error;
  OutputSquare += Other.OutputSquare;
  OutputError += Other.OutputError;
  return *this;
}

void tenon::packPanel(PackedLayout Layout, int64_t K, int64_t Rows,
                      const float *Source, std::byte *Panel,
                      std::span<const ErrorMetric *const> Metrics,
                      QuantisationError *Error) {
  if (infoOf(Layout.Format).isQuantised()) {
    std::memset(Panel, 0, panelBytes(Layout, K));
    return quantisePanel(Layout.Format, K, Rows, Source, Panel, Metrics, Error);
  }
  if (Layout.Format == StorageFormat::F32)
    return packTiles<StoredF32>(K, Rows, Source, Panel);
  packTiles<StoredBF16>(K, Rows, Source, Panel);
}

void tenon::packStoredPanel(PackedLayout Layout, int64_t K, int64_t Rows,
                            const std::byte *Source, int64_t RowBytes,
                            std::byte *Panel) {
  std::memset(Panel, 0, panelBytes(Layout, K));
  const StorageFormatInfo &Info = infoOf(Layout.Format);
  int64_t Blocks = paddedInFeatures(Layout.Format, K) / Info.BlockValues;
  int64_t BlockBytes = RowBytes / Blocks;
  for (int64_t Row = 0; Row < Rows; ++Row)
    for (int64_t I = 0; I < Blocks; ++I)
      layBlock(
          Layout.Format,
          readBlock(Layout.Format, Source + Row * RowBytes + I * BlockBytes),
          Row, Panel + I * Info.BlockBytes * PanelWidth);
}

void tenon::packRows(PackedLayout Layout, int64_t Count, const float *Source,
                     std::byte *Packed) {
  if (Layout.Format == StorageFormat::F32)
    convert<StoredF32>(Count, Source, Packed);
  else
    convert<StoredBF16>(Count, Source, Packed);
}

void tenon::packVector(PackedLayout Layout, int64_t N, const float *Source,
                       std::byte *Packed) {
  packRows(Layout, N, Source, Packed);
  int64_t Used = storedBytes(Layout.Format, N);
  std::memset(Packed + Used, 0, packedBytes(Layout, N, 1) - Used);
}

/// Rows packed at once: a panel, or about 256 KiB of plain rows.
static int64_t groupRows(PackedLayout Layout, int64_t N, int64_t K) {
  constexpr int64_t PlainElements = 64 << 10;
  switch (Layout.Kind) {
  case LayoutKind::Vector:
    return N;
  case LayoutKind::RowMajor:
    return std::min(N, std::max<int64_t>(1, PlainElements / K));
  case LayoutKind::Panels:
    return std::min(N, PanelWidth);
  }
  return N;
}

Packer::Packer(PackedLayout Layout, int64_t N, int64_t K, Sink Emit)
    : Layout(Layout), N(N), K(K), Emit(std::move(Emit)),
      GroupRows(groupRows(Layout, N, K)) {}

Status Packer::emitGroup(int64_t Rows, const std::byte *Source) {
  const auto *Values = reinterpret_cast<const float *>(Source);
  switch (Layout.Kind) {
  case LayoutKind::Vector:
    Packed.resize(packedBytes(Layout, N, 1));
    packVector(Layout, N, Values, Packed.data());
    break;
  case LayoutKind::RowMajor:
    Packed.resize(packedBytes(Layout, Rows, K));
    packRows(Layout, Rows * K, Values, Packed.data());
    break;
  case LayoutKind::Panels:
    Packed.resize(panelBytes(Layout, K));
    if (IsStored)
      packStoredPanel(Layout, K, Rows, Source, RowBytes, Packed.data());
    else
      packPanel(Layout, K, Rows, Values, Packed.data(), Metrics, Measured);
    break;
  }
  return Emit(Packed);
}

Status Packer::append(std::span<const float> Source,
                      const ErrorMetric *Metric) {
  auto Rows = static_cast<int64_t>(Source.size()) / K;
  if (Rows * K != static_cast<int64_t>(Source.size()) || Rows > N - Taken)
    return Error("packing " + nameOf(Layout) + ": got " +
                 std::to_string(Source.size()) + " values after " +
                 std::to_string(Taken) + " rows: expected whole rows of " +
                 std::to_string(K) + ", " + std::to_string(N) + " in all");
  RowBytes = K * static_cast<int64_t>(sizeof(float));
  return appendRows(reinterpret_cast<const std::byte *>(Source.data()), Rows,
                    Metric);
}

Status Packer::appendStored(std::span<const std::byte> Source, int64_t Rows) {
  if (Rows > N - Taken)
    return Error("packing " + nameOf(Layout) + ": got " + std::to_string(Rows) +
                 " rows after " + std::to_string(Taken) + ": expected " +
                 std::to_string(N) + " in all");
  IsStored = true;
  RowBytes = Rows == 0 ? 0 : static_cast<int64_t>(Source.size()) / Rows;
  return appendRows(Source.data(), Rows, nullptr);
}

Status Packer::appendRows(const std::byte *Next, int64_t Rows,
                          const ErrorMetric *Metric) {
  while (Rows > 0) {
    auto Held = static_cast<int64_t>(Pending.size()) / RowBytes;
    // The last group may be shorter than the others.
    int64_t Group = std::min(GroupRows, N - (Taken - Held));
    int64_t Take = std::min(Rows, Group - Held);
    bool Direct = Held == 0 && Take == Group;
    if (Layout.Kind == LayoutKind::Panels)
      Metrics.insert(Metrics.end(), static_cast<size_t>(Take), Metric);
    if (!Direct)
      Pending.insert(Pending.end(), Next, Next + Take * RowBytes);
    if (Held + Take == Group) {
      if (Status S = emitGroup(Group, Direct ? Next : Pending.data()); !S)
        return S;
      Pending.clear();
      Metrics.clear();
    }
    Next += Take * RowBytes;
    Rows -= Take;
    Taken += Take;
  }
  return {};
}

Status Packer::finish() {
  if (Taken != N)
    return Error("packing " + nameOf(Layout) + ": got " +
                 std::to_string(Taken) + " rows: expected " +
                 std::to_string(N));
  return {};
}
