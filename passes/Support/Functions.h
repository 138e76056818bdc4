//===- Functions.h - What passes ask of functions and modules ---*- C++ -*-===//

#ifndef TENON_PASSES_SUPPORT_FUNCTIONS_H
#define TENON_PASSES_SUPPORT_FUNCTIONS_H

#include "dialects/Dnn/Dnn.h"
#include "runtime/Abi/CpuLevel.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

#include <optional>

namespace tenon {

/// Names of the two variants of a function end in these.
inline constexpr llvm::StringLiteral FewSuffix = ".few";
inline constexpr llvm::StringLiteral ManySuffix = ".many";

/// On a module from placement on: the CPU level it is compiled for.
inline constexpr llvm::StringLiteral LevelAttrName = "dnn.cpu_level";

/// The function's batch; null when it has none.
inline mlir::Value batchOf(mlir::FunctionOpInterface Function) {
  for (mlir::BlockArgument Argument : Function.getArguments())
    if (llvm::isa<transformer::BatchType>(Argument.getType()))
      return Argument;
  return {};
}

/// What the level that `Module` is placed on offers; null, with an error,
/// before placement.
inline const CpuLevelInfo *levelOf(mlir::ModuleOp Module) {
  auto Name = Module->getAttrOfType<mlir::StringAttr>(LevelAttrName);
  std::optional<CpuLevel> Level =
      Name ? cpuLevelNamed(std::string_view(Name.getValue())) : std::nullopt;
  if (Level)
    return &infoOf(*Level);
  Module.emitError() << "expected a module placed on a CPU level";
  return nullptr;
}

} // namespace tenon

#endif // TENON_PASSES_SUPPORT_FUNCTIONS_H
