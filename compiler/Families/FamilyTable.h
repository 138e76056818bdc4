//===- FamilyTable.h - Which models can be compiled -------------*- C++ -*-===//

#ifndef TENON_COMPILER_FAMILIES_FAMILYTABLE_H
#define TENON_COMPILER_FAMILIES_FAMILYTABLE_H

#include "runtime/Support/Result.h"

#include <string>
#include <vector>

namespace tenon {

/// One family: what its example model is made of.
struct FamilyRow {
  std::string ModelType;
  /// Roles of its entries: step, encode, ...
  std::vector<std::string> Entries;
  /// Operations of the transformer dialect with what is particular about them:
  /// "attention(window)".
  std::vector<std::string> Operations;
  /// Forms that checkpoints come in: "safetensors", "GGUF".
  std::vector<std::string> Formats;
  /// What its makers publish it in and is not read yet; empty for nothing.
};

/// Builds the graph of every family's example and lists what it uses. An error
/// is that of an example.
Result<std::vector<FamilyRow>> describeFamilies();

/// The table as text or JSON.
Result<std::string> familyTable(bool AsJson);

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_FAMILYTABLE_H
