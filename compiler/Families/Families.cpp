//===- Families.cpp - All families ----------------------------------------===//

#include "compiler/Families/Family.h"

using namespace tenon;

std::span<const Family *const> tenon::families() {
  static constexpr const Family *All[] = {
#define TENON_FAMILY(NAME) &NAME##Family,
#include "compiler/Families/Families.def"
  };
  return All;
}

std::span<const Family *const> tenon::multimodalFamilies() {
  static constexpr const Family *All[] = {&Gemma3MultimodalFamily};
  return All;
}

std::vector<GgufModelType> tenon::ggufArchitectures() {
  std::vector<GgufModelType> Found;
  for (const Family *F : families())
    if (!F->Gguf.Name.empty())
      Found.push_back({F->ModelType, F->Gguf});
  return Found;
}
