//===- Families.cpp - All families ----------------------------------------===//

#include "compiler/Families/Family.h"

using namespace tenon;

std::span<const Family *const> tenon::families() {
  static constexpr const Family *All[] = {&LlamaFamily, &MistralFamily,
                                          &Qwen2Family, &Qwen3Family};
  return All;
}
