//===- ElementType.h - Element types of checkpoints -------------*- C++ -*-===//

#ifndef TENON_COMPILER_CHECKPOINT_ELEMENTTYPE_H
#define TENON_COMPILER_CHECKPOINT_ELEMENTTYPE_H

#include "runtime/Abi/Types.h"

#include <cstddef>
#include <optional>
#include <string_view>

namespace tenon {

/// Element types of checkpoints and of parameters at the model level. What is
/// packed has a StorageFormat.
enum class ElementType { F32, F16, BF16 };

/// Bytes of one element.
constexpr size_t sizeOf(ElementType Type) {
  switch (Type) {
  case ElementType::F32:
    return 4;
  case ElementType::F16:
  case ElementType::BF16:
    return 2;
  }
  return 0;
}

/// The format that packed weights of `Type` have: f16 is widened.
constexpr StorageFormat formatOf(ElementType Type) {
  switch (Type) {
  case ElementType::F32:
  case ElementType::F16:
    return StorageFormat::F32;
  case ElementType::BF16:
    return StorageFormat::BF16;
  }
  return StorageFormat::F32;
}

/// The same of caches.
constexpr CacheFormat cacheFormatOf(ElementType Type) {
  return Type == ElementType::BF16 ? CacheFormat::BF16 : CacheFormat::F32;
}

/// "f32", "f16" or "bf16".
constexpr std::string_view nameOf(ElementType Type) {
  switch (Type) {
  case ElementType::F32:
    return "f32";
  case ElementType::F16:
    return "f16";
  case ElementType::BF16:
    return "bf16";
  }
  return "";
}

/// The inverse of nameOf.
constexpr std::optional<ElementType> elementTypeNamed(std::string_view Name) {
  for (ElementType Type :
       {ElementType::F32, ElementType::F16, ElementType::BF16})
    if (nameOf(Type) == Name)
      return Type;
  return std::nullopt;
}

} // namespace tenon

#endif // TENON_COMPILER_CHECKPOINT_ELEMENTTYPE_H
