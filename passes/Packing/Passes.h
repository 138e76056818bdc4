//===- Passes.h - Layouts of weights and their tables -----------*- C++ -*-===//

#ifndef TENON_PASSES_PACKING_PASSES_H
#define TENON_PASSES_PACKING_PASSES_H

#include "dialects/Dnn/Dnn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace tenon {

#define GEN_PASS_DECL
#include "passes/Packing/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Packing/Passes.h.inc"

/// Whether `quantize-weights` may give the parameter `Name` of `Shape` another
/// format: it is a matrix that is not too small, and that none of the patterns
/// `Exclude`, which are valid, names.
bool mayQuantize(llvm::ArrayRef<std::string> Exclude, llvm::StringRef Name,
                 llvm::ArrayRef<int64_t> Shape);

/// A pattern of names that no matrix of a model has, and the name of one that
/// there is.
struct UnusedPattern {
  std::string Pattern;
  std::string Matrix;
};

/// The first of `Patterns`, which are valid, that `exclude` of
/// `quantize-weights` would make nothing of.
std::optional<UnusedPattern>
findUnusedPattern(mlir::ModuleOp Module, llvm::ArrayRef<std::string> Patterns);

} // namespace tenon

#endif // TENON_PASSES_PACKING_PASSES_H
