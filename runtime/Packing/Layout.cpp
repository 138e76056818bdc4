//===- Layout.cpp - Names of packed layouts -------------------------------===//

#include "runtime/Packing/Layout.h"

using namespace tenon;

std::string tenon::nameOf(PackedLayout Layout) {
  return std::string(infoOf(Layout.Kind).Name) + "." +
         std::string(infoOf(Layout.Format).Name);
}

std::optional<PackedLayout> tenon::layoutNamed(std::string_view Name) {
  size_t Dot = Name.find('.');
  if (Dot == std::string_view::npos)
    return std::nullopt;
  auto Kind = valueNamed(LayoutKinds, Name.substr(0, Dot));
  auto Format = valueNamed(StorageFormats, Name.substr(Dot + 1));
  if (!Kind || !Format)
    return std::nullopt;
  // Blocks are laid in panels only.
  if (infoOf(*Format).isQuantised() && *Kind != LayoutKind::Panels)
    return std::nullopt;
  return PackedLayout{*Kind, *Format};
}
