//===- Layout.h - Layouts of packed weights ---------------------*- C++ -*-===//
//
// A weight is packed once, at compile time, in a layout that both oneDNN's
// kernels and generated code read in place.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_PACKING_LAYOUT_H
#define TENON_RUNTIME_PACKING_LAYOUT_H

#include "runtime/Support/ElementType.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenon {

/// How the elements of a weight of N rows (output features) and K columns
/// (input features) lie in memory.
enum class LayoutKind {
  /// [N] padded with zeros to a multiple of 64.
  Vector,
  /// [N][K].
  Rows,
  /// Panels of 64 output features: [ceil(N/64)][K'/v][64][v], where v is 4
  /// bytes' worth of elements (f32 1, bf16 2) and K' is K rounded up to 16*v;
  /// padding is zero. oneDNN calls these BA16a64b and BA16a64b2a.
  Panels
};

struct PackedLayout {
  LayoutKind Kind = LayoutKind::Vector;
  ElementType Type = ElementType::F32;

  bool operator==(const PackedLayout &) const = default;
};

inline constexpr int64_t PanelColumns = 64;

/// Elements of one output feature that lie side by side in a panel.
constexpr int64_t interleaveOf(ElementType Type) {
  return Type == ElementType::F32 ? 1 : 2;
}

/// K rounded up as panels store it.
constexpr int64_t paddedDepth(ElementType Type, int64_t K) {
  int64_t Block = 16 * interleaveOf(Type);
  return (K + Block - 1) / Block * Block;
}

/// Bytes that an N x K weight takes.
constexpr int64_t packedBytes(PackedLayout Layout, int64_t N, int64_t K) {
  int64_t Size = static_cast<int64_t>(sizeOf(Layout.Type));
  int64_t PaddedN = (N + PanelColumns - 1) / PanelColumns * PanelColumns;
  switch (Layout.Kind) {
  case LayoutKind::Vector:
    return PaddedN * Size;
  case LayoutKind::Rows:
    return N * K * Size;
  case LayoutKind::Panels:
    return PaddedN * paddedDepth(Layout.Type, K) * Size;
  }
  return 0;
}

/// "vector.f32", "rows.bf16", "panels.bf16", ...
std::string nameOf(PackedLayout Layout);
/// The inverse of nameOf.
std::optional<PackedLayout> layoutNamed(std::string_view Name);

} // namespace tenon

#endif // TENON_RUNTIME_PACKING_LAYOUT_H
