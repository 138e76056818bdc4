//===- Types.h - What IR, generated code and runtime agree on ---*- C++ -*-===//
//
// Storage formats, layouts of packed weights, geometry of cache pages and
// activations: each said once, constexpr, without dependencies. The dialects
// parse and print these names, passes and generated code follow the sizes, the
// packer and the cache lay memory out by them, manifests record the names.
//
// A new storage format is an entry of StorageFormats, a reader of its blocks
// (runtime/Packing/Blocks.cpp), tests.
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

/// How the values of a packed weight are stored: plain numbers, or quantised,
/// in one of ggml's formats (Q6_0: of ik_llama.cpp's ggml) or in 4 bits with a
/// zero point, as GPTQ, AWQ and compressed-tensors have it.
enum class StorageFormat : uint32_t {
  F32,
  BF16,
  Q8_0,
  Q4_0,
  Q4_1,
  Q5_0,
  Q5_1,
  Q6_0,
  Q4_K,
  Q5_K,
  Q6_K,
  IQ4_NL,
  IQ4_XS,
  MXFP4,
  U4_ZP
};

/// Consecutive input features of one output feature whose integers are unpacked
/// together.
inline constexpr int64_t GroupValues = 32;

/// What the numbers are that multiply, and are added to, the integers of a
/// quantised format.
enum class ScaleKind : uint8_t {
  /// None: plain numbers.
  None,
  /// f16, one per group.
  Half,
  /// A power of two: its exponent plus 127 in a byte, one per group (E8M0).
  Exponent,
  /// An integer of a byte, times one f16 of the block.
  Integer
};

/// What a quantised format adds to scaled integers.
enum class MinimumKind : uint8_t {
  None,
  /// A number of the scale's kind per group; of the kind Integer it is
  /// subtracted.
  Number,
  /// Minus the scale times an integer, a signed byte per group.
  ZeroPoint
};

/// The numbers that the codes of a 4-bit format stand for.
using CodeBook = std::array<int8_t, 16>;

/// Of IQ4_NL and IQ4_XS.
inline constexpr CodeBook NonLinearCodes = {
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
/// Twice the numbers of E2M1 (OCP Microscaling Formats, version 1.0): MXFP4's
/// scales are halved.
inline constexpr CodeBook DoubledE2M1Codes = {0, 1,  2,  3,  4,  6,  8,  12,
                                              0, -1, -2, -3, -4, -6, -8, -12};

/// What reading and laying out a format takes. A quantised value is
/// scale x (code - Offset), or scale x Codes[code], plus a minimum.
struct StorageFormatInfo {
  StorageFormat Value;
  std::string_view Name;
  /// Values of a block, which share scales; 1 for plain numbers.
  int64_t BlockValues;
  /// Bytes of a block in a panel, scales included.
  int64_t BlockBytes;
  /// Input features of one output feature that lie side by side in a panel, in
  /// one lane of four bytes.
  int64_t Interleave;
  /// Bits of a code; 0 for plain numbers.
  int64_t Bits = 0;
  int64_t Offset = 0;
  /// Null where codes are integers.
  const CodeBook *Codes = nullptr;
  ScaleKind Scale = ScaleKind::None;
  /// Values that share a scale.
  int64_t ScaleValues = 0;
  MinimumKind Minimum = MinimumKind::None;

  constexpr bool isQuantised() const { return Bits != 0; }
  constexpr bool hasMinimum() const { return Minimum != MinimumKind::None; }
};

inline constexpr std::array<StorageFormatInfo, 15> StorageFormats = {{
    {StorageFormat::F32, "f32", 1, 4, 1},
    {StorageFormat::BF16, "bf16", 1, 2, 2},
    {StorageFormat::Q8_0, "q8_0", 32, 34, 4, 8, 0, nullptr, ScaleKind::Half,
     32},
    {StorageFormat::Q4_0, "q4_0", 32, 18, 8, 4, 8, nullptr, ScaleKind::Half,
     32},
    {StorageFormat::Q4_1, "q4_1", 32, 20, 8, 4, 0, nullptr, ScaleKind::Half, 32,
     MinimumKind::Number},
    {StorageFormat::Q5_0, "q5_0", 32, 22, 8, 5, 16, nullptr, ScaleKind::Half,
     32},
    {StorageFormat::Q5_1, "q5_1", 32, 24, 8, 5, 0, nullptr, ScaleKind::Half, 32,
     MinimumKind::Number},
    {StorageFormat::Q6_0, "q6_0", 32, 26, 8, 6, 32, nullptr, ScaleKind::Half,
     32},
    {StorageFormat::Q4_K, "q4_k", 256, 148, 8, 4, 0, nullptr,
     ScaleKind::Integer, 32, MinimumKind::Number},
    {StorageFormat::Q5_K, "q5_k", 256, 180, 8, 5, 0, nullptr,
     ScaleKind::Integer, 32, MinimumKind::Number},
    {StorageFormat::Q6_K, "q6_k", 256, 210, 8, 6, 32, nullptr,
     ScaleKind::Integer, 16},
    {StorageFormat::IQ4_NL, "iq4_nl", 32, 18, 8, 4, 0, &NonLinearCodes,
     ScaleKind::Half, 32},
    {StorageFormat::IQ4_XS, "iq4_xs", 256, 138, 8, 4, 0, &NonLinearCodes,
     ScaleKind::Integer, 32},
    {StorageFormat::MXFP4, "mxfp4", 32, 17, 8, 4, 0, &DoubledE2M1Codes,
     ScaleKind::Exponent, 32},
    {StorageFormat::U4_ZP, "u4_zp", 32, 19, 8, 4, 0, nullptr, ScaleKind::Half,
     32, MinimumKind::ZeroPoint},
}};
static_assert(isIndexedByValue(StorageFormats));

/// Those of plain numbers, which activations have.
inline constexpr std::array<NamedValue<StorageFormat>, 2> PlainFormats = {{
    {StorageFormat::F32, "f32"},
    {StorageFormat::BF16, "bf16"},
}};

constexpr const StorageFormatInfo &infoOf(StorageFormat Format) {
  return StorageFormats[static_cast<size_t>(Format)];
}

/// Bytes of `Count` values, whole blocks.
constexpr int64_t storedBytes(StorageFormat Format, int64_t Count) {
  const StorageFormatInfo &Info = infoOf(Format);
  return (Count + Info.BlockValues - 1) / Info.BlockValues * Info.BlockBytes;
}

//===----------------------------------------------------------------------===//
// Blocks of quantised formats in panels
//===----------------------------------------------------------------------===//

/// Bytes that one output feature takes of each part of a block in a panel. The
/// block is a header, the f16 that scales (and that minima) are multiplied
/// with, then its groups: scales, minima, high bits, low bits. Each part is
/// stored for all 64 output features of the panel, one behind another.
struct BlockParts {
  int64_t Header; ///< Of the block.
  int64_t Scales; ///< Of a group, as all that follow.
  int64_t Minimum;
  int64_t HighBits;
  int64_t LowBits;

  constexpr int64_t group() const {
    return Scales + Minimum + HighBits + LowBits;
  }
};

constexpr BlockParts partsOf(const StorageFormatInfo &Info) {
  bool IsInteger = Info.Scale == ScaleKind::Integer;
  int64_t One = Info.Scale == ScaleKind::Half ? 2 : 1;
  int64_t Low = Info.Bits == 8 ? 8 : 4;
  int64_t Minimum = Info.Minimum == MinimumKind::Number      ? One
                    : Info.Minimum == MinimumKind::ZeroPoint ? 1
                                                             : 0;
  return {IsInteger ? (Info.hasMinimum() ? 4 : 2) : 0,
          One * (GroupValues / Info.ScaleValues), Minimum,
          (Info.Bits - Low) * GroupValues / 8, Low * GroupValues / 8};
}

/// Groups of a block.
constexpr int64_t groupsOf(const StorageFormatInfo &Info) {
  return Info.BlockValues / GroupValues;
}

namespace detail {
constexpr bool partsFillBlocks() {
  for (const StorageFormatInfo &Info : StorageFormats)
    if (Info.isQuantised() &&
        partsOf(Info).Header + partsOf(Info).group() * groupsOf(Info) !=
            Info.BlockBytes)
      return false;
  return true;
}
} // namespace detail
static_assert(detail::partsFillBlocks());

/// The codes of a group lie in lanes of 4 bytes, one lane per output feature.
/// Of 4 to 6 bits, lane w of the low bits holds those of input features 8w to
/// 8w+7; feature 8w+k is its nibble nibbleOf(k). So two neighbours are 16 bits
/// apart, and a mask leaves four nibbles in four bytes.
constexpr int64_t nibbleOf(int64_t Feature) {
  return Feature % 2 * 4 + Feature / 2;
}

/// Codes are unpacked in quads, one code in each byte of a lane: a group has 8.
/// The feature of the group in byte `Byte` of quad `Quad`; of 8 bits, the quads
/// are what is stored.
constexpr int64_t quadFeature(int64_t Quad, int64_t Byte) {
  return Quad / 2 * 8 + Quad % 2 * 2 + Byte % 2 * 4 + Byte / 2;
}

/// High bits h of a quad (1 or 2 of them) lie in lane highLane at bit highShift
/// of each byte.
constexpr int64_t highLane(int64_t HighBits, int64_t Quad) {
  return HighBits * Quad / 8;
}
constexpr int64_t highShift(int64_t HighBits, int64_t Quad) {
  return HighBits * Quad % 8;
}

//===----------------------------------------------------------------------===//
// Dot products
//===----------------------------------------------------------------------===//

/// Instructions that add products of several neighbours to one lane.
enum class DotProduct : uint32_t {
  /// Two bf16 products per f32 lane.
  BF16,
  /// Four products of u8 and s8 per s32 lane.
  Int8,
  /// Two products of s16 per s32 lane.
  Int16,
  /// 32 bf16 products per f32 lane, of 16 rows with 16 columns at once.
  BF16Tile,
  /// 64 products of s8 or u8 per s32 lane, of 16 rows with 16 columns at once.
  Int8Tile
};

inline constexpr std::array<NamedValue<DotProduct>, 5> DotProducts = {{
    {DotProduct::BF16, "bf16"},
    {DotProduct::Int8, "int8"},
    {DotProduct::Int16, "int16"},
    {DotProduct::BF16Tile, "bf16_tile"},
    {DotProduct::Int8Tile, "int8_tile"},
}};
static_assert(isIndexedByValue(DotProducts));

constexpr const NamedValue<DotProduct> &infoOf(DotProduct Dot) {
  return DotProducts[static_cast<size_t>(Dot)];
}

//===----------------------------------------------------------------------===//
// What a kernel costs
//===----------------------------------------------------------------------===//

/// The numbers that a kernel multiplies, which bound its rate.
enum class Arithmetic : uint32_t { F32, BF16, Int8 };

inline constexpr std::array<NamedValue<Arithmetic>, 3> Arithmetics = {{
    {Arithmetic::F32, "f32"},
    {Arithmetic::BF16, "bf16"},
    {Arithmetic::Int8, "int8"},
}};
static_assert(isIndexedByValue(Arithmetics));

constexpr const NamedValue<Arithmetic> &infoOf(Arithmetic Numbers) {
  return Arithmetics[static_cast<size_t>(Numbers)];
}

/// Which keys a token sees.
enum class KeysSeen : uint32_t {
  /// The kernel reads no keys.
  None,
  /// Those of its sequence up to its own, and of the prefix.
  Causal,
  /// All of its sequence in the step.
  Sequence,
  /// All of its source text.
  Source
};

inline constexpr std::array<NamedValue<KeysSeen>, 4> KeysSeenKinds = {{
    {KeysSeen::None, "none"},
    {KeysSeen::Causal, "causal"},
    {KeysSeen::Sequence, "sequence"},
    {KeysSeen::Source, "source"},
}};
static_assert(isIndexedByValue(KeysSeenKinds));

constexpr const NamedValue<KeysSeen> &infoOf(KeysSeen Keys) {
  return KeysSeenKinds[static_cast<size_t>(Keys)];
}

/// What one call of a kernel moves and computes, every operand being read or
/// written once:
///   bytes = WeightBytes + rows RowBytes + keys KeyBytes
///   FLOPs = rows RowFlops + pairs KeyFlops
/// over `keys` different keys and `pairs` of a row and a key that it sees. A
/// multiplication and an addition are two operations, and four for a number of
/// two digits, or of 16 bits, among integers: Int8 counts what is done with 8
/// bits. Norms, activations and softmax are left out.
struct KernelCost {
  /// Of packed weights and tables that are read whole.
  int64_t WeightBytes = 0;
  /// Rows read and written, and what is looked up for each.
  int64_t RowBytes = 0;
  int64_t RowFlops = 0;
  /// Keys and values, or the latent vectors that stand for them.
  int64_t KeyBytes = 0;
  int64_t KeyFlops = 0;
  /// A row sees this many keys at most; 0: no limit. Of KeysSeen::Sequence on
  /// either side.
  int64_t Window = 0;
  /// A row takes `UsedParts` of `Parts` equal parts of the weights: chosen
  /// experts of all. Fewer rows than use all parts read fewer bytes.
  int64_t UsedParts = 1;
  int64_t Parts = 1;
  KeysSeen Keys = KeysSeen::None;
  Arithmetic Numbers = Arithmetic::F32;

  bool operator==(const KernelCost &) const = default;
};

/// A number of KernelCost, its name in text, and what it is if that says
/// nothing.
struct KernelCostField {
  std::string_view Name;
  int64_t KernelCost::*Member;
  int64_t Default = 0;
};

inline constexpr std::array<KernelCostField, 8> KernelCostFields = {{
    {"weight_bytes", &KernelCost::WeightBytes},
    {"row_bytes", &KernelCost::RowBytes},
    {"row_flops", &KernelCost::RowFlops},
    {"key_bytes", &KernelCost::KeyBytes},
    {"key_flops", &KernelCost::KeyFlops},
    {"window", &KernelCost::Window},
    {"used_parts", &KernelCost::UsedParts, 1},
    {"parts", &KernelCost::Parts, 1},
}};

/// The largest number of KernelCost, and of kernels of a program: products of
/// two fit a double.
inline constexpr int64_t MaxKernelCost = int64_t(1) << 62;
inline constexpr int64_t MaxKernels = 1 << 16;

//===----------------------------------------------------------------------===//
// Layouts of packed weights
//===----------------------------------------------------------------------===//

/// How a weight of N output features and K input features lies in memory.
enum class LayoutKind : uint32_t {
  /// [N] padded with zeros to whole panels.
  Vector,
  /// [N][K].
  RowMajor,
  /// Panels of 64 output features; padding is zero. Of plain numbers
  /// [ceil(N/64)][K'/v][64][v] with v the format's interleave and K' =
  /// paddedInFeatures, what oneDNN calls BA16a64b (f32) and BA16a64b2a (bf16);
  /// of quantised ones [ceil(N/64)][K'/B] blocks as BlockParts says.
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
  return roundUp(InFeatures, Info.isQuantised()
                                 ? Info.BlockValues
                                 : PanelDepthGroups * Info.Interleave);
}

//===----------------------------------------------------------------------===//
// Cache pages
//===----------------------------------------------------------------------===//

/// Tokens of one cache page, and of one row of staged keys and values.
inline constexpr int64_t PageTokens = 64;
/// Keys lie transposed in blocks of this many tokens.
inline constexpr int64_t KeyBlock = 16;

/// How the values of a cache are stored.
enum class CacheFormat : uint32_t {
  F32,
  BF16,
  /// Signed integers of a byte, -127 to 127, times an f32 per token and head:
  /// the largest magnitude / 127.
  I8
};

struct CacheFormatInfo {
  CacheFormat Value;
  std::string_view Name;
  int64_t Bytes; ///< Of a value.
  /// Whether a page holds scales beside its values.
  bool HasScales;

  /// Values of a word of four bytes.
  constexpr int64_t wordValues() const { return 4 / Bytes; }
};

inline constexpr std::array<CacheFormatInfo, 3> CacheFormats = {{
    {CacheFormat::F32, "f32", 4, false},
    {CacheFormat::BF16, "bf16", 2, false},
    {CacheFormat::I8, "i8", 1, true},
}};
static_assert(isIndexedByValue(CacheFormats));

/// A head of i8 whose largest magnitude is below this has integers of 0: the
/// reciprocal of its scale would overflow.
inline constexpr float SmallestCachedHead = 1e-30f;

constexpr const CacheFormatInfo &infoOf(CacheFormat Format) {
  return CacheFormats[static_cast<size_t>(Format)];
}

/// Where a page of keys and values of one layer, and a row of staged ones, has
/// them. Words of four bytes hold P values that are multiplied together, P = 1
/// of f32, 2 of bf16, 4 of i8: neighbours of a head for keys, neighbouring
/// tokens for values. Keys [kv_heads][64/16][head_dim/P, rounded up][16][P],
/// then values [kv_heads][64/P][head_dim rounded up to 16][P], then of i8 the
/// scales of the keys and those of the values, [2][kv_heads][64] f32.
struct PageLayout {
  int64_t KvHeads = 1;
  int64_t HeadDim = 1;
  CacheFormat Format = CacheFormat::F32;
  /// Of a page; only tests have fewer.
  int64_t Tokens = PageTokens;

  constexpr int64_t wordValues() const { return infoOf(Format).wordValues(); }
  /// Tokens of a block of keys.
  constexpr int64_t block() const {
    return Tokens < KeyBlock ? Tokens : KeyBlock;
  }
  /// Words of one token's key.
  constexpr int64_t keyWords() const {
    return (HeadDim + wordValues() - 1) / wordValues();
  }
  /// Words of the values of `wordValues()` tokens.
  constexpr int64_t valueWords() const { return roundUp(HeadDim, block()); }
  constexpr int64_t keyElements() const {
    return KvHeads * Tokens * keyWords() * wordValues();
  }
  /// Of keys and values, with padding.
  constexpr int64_t elements() const {
    return keyElements() + KvHeads * Tokens * valueWords();
  }
  /// Which element of the page is number `D` of a token's key.
  constexpr int64_t key(int64_t KvHead, int64_t Token, int64_t D) const {
    int64_t P = wordValues();
    int64_t Row = (KvHead * Tokens / block() + Token / block()) * keyWords();
    return ((Row + D / P) * block() + Token % block()) * P + D % P;
  }
  /// The same of its value.
  constexpr int64_t value(int64_t KvHead, int64_t Token, int64_t D) const {
    int64_t P = wordValues();
    int64_t Row = KvHead * Tokens / P + Token / P;
    return keyElements() + (Row * valueWords() + D) * P + Token % P;
  }
  /// Where the scale of a token's key, and that of its value, begins, in bytes.
  constexpr int64_t scale(bool OfValue, int64_t KvHead, int64_t Token) const {
    int64_t Index = ((OfValue ? KvHeads : 0) + KvHead) * Tokens + Token;
    return elements() * infoOf(Format).Bytes + Index * 4;
  }
  constexpr int64_t bytes() const {
    return infoOf(Format).HasScales ? scale(true, KvHeads, 0)
                                    : elements() * infoOf(Format).Bytes;
  }
};

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
