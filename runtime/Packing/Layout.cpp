//===- Layout.cpp - Names of packed layouts -------------------------------===//

#include "runtime/Packing/Layout.h"

using namespace tenon;

static constexpr LayoutKind Kinds[] = {LayoutKind::Vector, LayoutKind::Rows,
                                       LayoutKind::Panels};

static constexpr std::string_view nameOfKind(LayoutKind Kind) {
  switch (Kind) {
  case LayoutKind::Vector:
    return "vector";
  case LayoutKind::Rows:
    return "rows";
  case LayoutKind::Panels:
    return "panels";
  }
  return "";
}

std::string tenon::nameOf(PackedLayout Layout) {
  return std::string(nameOfKind(Layout.Kind)) + "." +
         std::string(nameOf(Layout.Type));
}

std::optional<PackedLayout> tenon::layoutNamed(std::string_view Name) {
  size_t Dot = Name.find('.');
  if (Dot == std::string_view::npos)
    return std::nullopt;
  std::optional<ElementType> Type = elementTypeNamed(Name.substr(Dot + 1));
  if (!Type)
    return std::nullopt;
  for (LayoutKind Kind : Kinds)
    if (nameOfKind(Kind) == Name.substr(0, Dot))
      return PackedLayout{Kind, *Type};
  return std::nullopt;
}
