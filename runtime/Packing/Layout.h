//===- Layout.h - Layouts of packed weights ---------------------*- C++ -*-===//
//
// A weight is packed once, at compile time, in a layout that both oneDNN's
// kernels and generated code read in place: see runtime/Abi/Types.h.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_PACKING_LAYOUT_H
#define TENON_RUNTIME_PACKING_LAYOUT_H

#include "runtime/Abi/Types.h"

#include <optional>
#include <string>
#include <string_view>

namespace tenon {

struct PackedLayout {
  LayoutKind Kind = LayoutKind::Vector;
  StorageFormat Format = StorageFormat::F32;

  bool operator==(const PackedLayout &) const = default;
};

/// Bytes that a weight of N output features and K input features takes.
constexpr int64_t packedBytes(PackedLayout Layout, int64_t N, int64_t K) {
  switch (Layout.Kind) {
  case LayoutKind::Vector:
    return storedBytes(Layout.Format, roundUp(N, PanelWidth));
  case LayoutKind::RowMajor:
    return N * storedBytes(Layout.Format, K);
  case LayoutKind::Panels:
    return panelsOf(N) * PanelWidth *
           storedBytes(Layout.Format, paddedInFeatures(Layout.Format, K));
  }
  return 0;
}

/// "vector.f32", "row_major.bf16", "panels.bf16", ...
std::string nameOf(PackedLayout Layout);
/// The inverse of nameOf.
std::optional<PackedLayout> layoutNamed(std::string_view Name);

} // namespace tenon

#endif // TENON_RUNTIME_PACKING_LAYOUT_H
