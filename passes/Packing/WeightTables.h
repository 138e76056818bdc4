//===- WeightTables.h - The weights of every scope --------------*- C++ -*-===//
//
// What the artifact must hold, read off a placed module.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_PACKING_WEIGHTTABLES_H
#define TENON_PASSES_PACKING_WEIGHTTABLES_H

#include "dialects/Dnn/Dnn.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tenon {

/// The weights and tables of a placed module that share indices: those of one
/// scope, and of scopes that meet in one function argument. Equal ones are
/// together, in the order of what they are.
using SharedIndices =
    std::map<std::string, llvm::SmallVector<mlir::Operation *>>;
std::vector<SharedIndices> sharedIndices(mlir::ModuleOp Module);

/// One packed weight: checkpoint tensors one below another, or a table that is
/// computed.
struct PackedWeight {
  /// Full names in the checkpoint; a table has one when it is made of learned
  /// numbers, otherwise none.
  std::vector<std::string> Sources;
  std::string Component;
  /// What a table holds (see dnn.table); null for tensors.
  transformer::TableAttrInterface Table;
  dnn::PackedType Type;

  /// The name that the manifest gives it; the same weight has the same name.
  std::string name() const;
};

/// One scope of the manifest.
struct ScopeTable {
  std::string Name;
  std::optional<int64_t> Layer;
  /// By index; an index that this scope does not use is empty.
  std::vector<std::optional<PackedWeight>> Weights;
};

/// The tables of `Module`, after assign-weight-indices, in the order of scope
/// numbers.
std::vector<ScopeTable> collectWeights(mlir::ModuleOp Module);

} // namespace tenon

#endif // TENON_PASSES_PACKING_WEIGHTTABLES_H
