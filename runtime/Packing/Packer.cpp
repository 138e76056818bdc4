//===- Packer.cpp - Packing of weights into their layouts -----------------===//

#include "runtime/Packing/Packer.h"

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

/// The functions that serve one storage format.
struct FormatPacker {
  StorageFormat Format;
  void (*Convert)(int64_t, const float *, std::byte *);
  void (*Panel)(int64_t, int64_t, const float *, std::byte *);
};

constexpr FormatPacker FormatPackers[] = {
    {StorageFormat::F32, convert<StoredF32>, packTiles<StoredF32>},
    {StorageFormat::BF16, convert<StoredBF16>, packTiles<StoredBF16>},
};

static_assert(std::size(FormatPackers) == StorageFormats.size());

const FormatPacker &packerOf(StorageFormat Format) {
  return FormatPackers[static_cast<size_t>(Format)];
}

} // namespace

void tenon::packPanel(PackedLayout Layout, int64_t K, int64_t Rows,
                      const float *Source, std::byte *Panel) {
  packerOf(Layout.Format).Panel(K, Rows, Source, Panel);
}

void tenon::packRows(PackedLayout Layout, int64_t Count, const float *Source,
                     std::byte *Packed) {
  packerOf(Layout.Format).Convert(Count, Source, Packed);
}

void tenon::packVector(PackedLayout Layout, int64_t N, const float *Source,
                       std::byte *Packed) {
  packerOf(Layout.Format).Convert(N, Source, Packed);
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

Status Packer::emitGroup(int64_t Rows, const float *Source) {
  switch (Layout.Kind) {
  case LayoutKind::Vector:
    Packed.resize(packedBytes(Layout, N, 1));
    packVector(Layout, N, Source, Packed.data());
    break;
  case LayoutKind::RowMajor:
    Packed.resize(packedBytes(Layout, Rows, K));
    packRows(Layout, Rows * K, Source, Packed.data());
    break;
  case LayoutKind::Panels:
    Packed.resize(panelBytes(Layout, K));
    packPanel(Layout, K, Rows, Source, Packed.data());
    break;
  }
  return Emit(Packed);
}

Status Packer::append(std::span<const float> Source) {
  auto Rows = static_cast<int64_t>(Source.size()) / K;
  if (Rows * K != static_cast<int64_t>(Source.size()) || Rows > N - Taken)
    return Error("packing " + nameOf(Layout) + ": got " +
                 std::to_string(Source.size()) + " values after " +
                 std::to_string(Taken) + " rows: expected whole rows of " +
                 std::to_string(K) + ", " + std::to_string(N) + " in all");
  const float *Next = Source.data();
  while (Rows > 0) {
    auto Held = static_cast<int64_t>(Pending.size()) / K;
    // The last group may be shorter than the others.
    int64_t Group = std::min(GroupRows, N - (Taken - Held));
    int64_t Take = std::min(Rows, Group - Held);
    bool Direct = Held == 0 && Take == Group;
    if (!Direct)
      Pending.insert(Pending.end(), Next, Next + Take * K);
    if (Held + Take == Group) {
      if (Status S = emitGroup(Group, Direct ? Next : Pending.data()); !S)
        return S;
      Pending.clear();
    }
    Next += Take * K;
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
