//===- Types.h - What IR, generated code and runtime agree on ---*- C++ -*-===//
//
// Storage formats, layouts of packed weights, geometry of cache pages and
// activations: each said once, constexpr, without dependencies. The dialects
// parse and print these names, passes and generated code follow the sizes, the
// packer and the cache lay memory out by them, manifests record the names.
//
// A new storage format is an entry of StorageFormats, a function that widens a
// vector of it (passes/Codegen/Unpack.cpp), a packer (runtime/Packing), tests.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_ABI_TYPES_H
#define TENON_RUNTIME_ABI_TYPES_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace tenon {

constexpr int64_t roundUp(int64_t Value, int64_t Step) {
  return (Value + Step - 1) / Step * Step;
}

//===----------------------------------------------------------------------===//
// Named values
//===----------------------------------------------------------------------===//

/// The entry of `Table` with `Name`, as its first member; the enumerations
/// below are all written and read through their tables.
template <typename Entry, size_t Count>
constexpr auto valueNamed(const std::array<Entry, Count> &Table,
                          std::string_view Name)
    -> std::optional<decltype(Table[0].Value)> {
  for (const Entry &E : Table)
    if (E.Name == Name)
      return E.Value;
  return std::nullopt;
}

/// A value of an enumeration and its name.
template <typename Enum> struct NamedValue {
  Enum Value;
  std::string_view Name;
};

/// Whether entry i of `Table` describes value i.
template <typename Entry, size_t Count>
constexpr bool isIndexedByValue(const std::array<Entry, Count> &Table) {
  for (size_t I = 0; I < Count; ++I)
    if (static_cast<size_t>(Table[I].Value) != I)
      return false;
  return true;
}

/// A set of values of an enumeration with fewer than 32.
template <typename Enum> struct EnumSet {
  uint32_t Bits = 0;
  constexpr EnumSet(std::initializer_list<Enum> Values = {}) {
    for (Enum Value : Values)
      Bits |= 1u << static_cast<uint32_t>(Value);
  }
  constexpr bool contains(Enum Value) const {
    return (Bits >> static_cast<uint32_t>(Value)) & 1;
  }
};

//===----------------------------------------------------------------------===//
// Storage formats
//===----------------------------------------------------------------------===//

/// How the values of a packed weight or of a cache are stored.
enum class StorageFormat : uint32_t { F32, BF16 };

/// What reading and laying out a format takes. Values come in blocks:
/// consecutive input features of one output feature that share scales.
struct StorageFormatInfo {
  StorageFormat Value;
  std::string_view Name;
  /// Values of a block; 1 for plain numbers.
  int64_t BlockValues;
  /// Bytes of a block, scales included.
  int64_t BlockBytes;
  /// Bytes of a block's scales and minima; 0 for plain numbers.
  int64_t ScaleBytes;
  /// Input features of one output feature that lie side by side in a panel:
  /// what one lane of a dot product takes, four bytes.
  int64_t Interleave;
};

inline constexpr std::array<StorageFormatInfo, 2> StorageFormats = {{
    {StorageFormat::F32, "f32", 1, 4, 0, 1},
    {StorageFormat::BF16, "bf16", 1, 2, 0, 2},
}};
static_assert(isIndexedByValue(StorageFormats));

constexpr const StorageFormatInfo &infoOf(StorageFormat Format) {
  return StorageFormats[static_cast<size_t>(Format)];
}

/// Bytes of `Count` values, whole blocks.
constexpr int64_t storedBytes(StorageFormat Format, int64_t Count) {
  const StorageFormatInfo &Info = infoOf(Format);
  return (Count + Info.BlockValues - 1) / Info.BlockValues * Info.BlockBytes;
}

//===----------------------------------------------------------------------===//
// Dot products
//===----------------------------------------------------------------------===//

/// Instructions that add products of several neighbours to one lane.
enum class DotProduct : uint32_t {
  /// Two bf16 products per f32 lane.
  BF16,
  /// Four products of u8 and s8 per s32 lane.
  Int8
};

inline constexpr std::array<NamedValue<DotProduct>, 2> DotProducts = {{
    {DotProduct::BF16, "bf16"},
    {DotProduct::Int8, "int8"},
}};
static_assert(isIndexedByValue(DotProducts));

constexpr const NamedValue<DotProduct> &infoOf(DotProduct Dot) {
  return DotProducts[static_cast<size_t>(Dot)];
}

//===----------------------------------------------------------------------===//
// Layouts of packed weights
//===----------------------------------------------------------------------===//

/// How a weight of N output features and K input features lies in memory.
enum class LayoutKind : uint32_t {
  /// [N] padded with zeros to whole panels.
  Vector,
  /// [N][K].
  RowMajor,
  /// Panels of 64 output features: [ceil(N/64)][K'/v][64][v] with v the
  /// format's interleave and K' = paddedInFeatures; padding is zero. oneDNN
  /// calls those of f32 BA16a64b and those of bf16 BA16a64b2a.
  Panels
};

struct LayoutKindInfo {
  LayoutKind Value;
  std::string_view Name;
};

inline constexpr std::array<LayoutKindInfo, 3> LayoutKinds = {{
    {LayoutKind::Vector, "vector"},
    {LayoutKind::RowMajor, "row_major"},
    {LayoutKind::Panels, "panels"},
}};
static_assert(isIndexedByValue(LayoutKinds));

constexpr const LayoutKindInfo &infoOf(LayoutKind Kind) {
  return LayoutKinds[static_cast<size_t>(Kind)];
}

/// Output features of a panel.
inline constexpr int64_t PanelWidth = 64;
/// Interleaved groups of input features that panels are padded to.
inline constexpr int64_t PanelDepthGroups = 16;

/// Panels of one matrix of `OutFeatures`.
constexpr int64_t panelsOf(int64_t OutFeatures) {
  return (OutFeatures + PanelWidth - 1) / PanelWidth;
}

/// `InFeatures` rounded up as panels store it.
constexpr int64_t paddedInFeatures(StorageFormat Format, int64_t InFeatures) {
  const StorageFormatInfo &Info = infoOf(Format);
  int64_t Group = PanelDepthGroups * Info.Interleave;
  return roundUp(InFeatures,
                 Group < Info.BlockValues ? Info.BlockValues : Group);
}

//===----------------------------------------------------------------------===//
// Cache pages
//===----------------------------------------------------------------------===//

/// Tokens of one cache page, and of one row of staged keys and values.
inline constexpr int64_t PageTokens = 64;
/// Keys lie transposed in blocks of this many tokens.
inline constexpr int64_t KeyBlock = 16;

/// Values of one page of one layer: keys [kv_heads][64/16][head_dim][16], then
/// values [kv_heads][64][head_dim rounded up to 16].
constexpr int64_t pageElements(int64_t KvHeads, int64_t HeadDim) {
  return KvHeads * PageTokens * (HeadDim + roundUp(HeadDim, KeyBlock));
}

/// Values of one page of one layer of latent vectors: [64][width rounded up to
/// 16].
constexpr int64_t latentPageElements(int64_t Width) {
  return PageTokens * roundUp(Width, KeyBlock);
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// Element-wise functions that a matmul may apply to its result; SPEC.md of the
/// transformer dialect has the formulas.
enum class Activation : uint32_t {
  None,
  Relu,
  Gelu,
  GeluTanh,
  Silu,
  QuickGelu,
  Tanh,
  Sigmoid
};

inline constexpr std::array<NamedValue<Activation>, 8> Activations = {{
    {Activation::None, "none"},
    {Activation::Relu, "relu"},
    {Activation::Gelu, "gelu"},
    {Activation::GeluTanh, "gelu_tanh"},
    {Activation::Silu, "silu"},
    {Activation::QuickGelu, "quick_gelu"},
    {Activation::Tanh, "tanh"},
    {Activation::Sigmoid, "sigmoid"},
}};
static_assert(isIndexedByValue(Activations));

constexpr const NamedValue<Activation> &infoOf(Activation Act) {
  return Activations[static_cast<size_t>(Act)];
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

/// What one entry computes.
enum class OutputKind : uint32_t {
  /// [R, Width], one row per output row of the batch.
  Logits,
  /// [R, Width], one row per output row of the batch.
  Hidden,
  /// [S, Width], one row per sequence.
  Pooled,
  /// [S, Width], one row of class scores per sequence.
  Classes
};

inline constexpr std::array<NamedValue<OutputKind>, 4> OutputKinds = {{
    {OutputKind::Logits, "logits"},
    {OutputKind::Hidden, "hidden"},
    {OutputKind::Pooled, "pooled"},
    {OutputKind::Classes, "classes"},
}};
static_assert(isIndexedByValue(OutputKinds));

constexpr const NamedValue<OutputKind> &infoOf(OutputKind Kind) {
  return OutputKinds[static_cast<size_t>(Kind)];
}

/// Whether an entry answers one row per sequence, whichever output rows are
/// asked for.
constexpr bool isPerSequence(OutputKind Kind) {
  return Kind == OutputKind::Pooled || Kind == OutputKind::Classes;
}

} // namespace tenon

#endif // TENON_RUNTIME_ABI_TYPES_H
