//===- Passes.h - Operations onto a CPU level -------------------*- C++ -*-===//

#ifndef TENON_PASSES_PLACEMENT_PASSES_H
#define TENON_PASSES_PLACEMENT_PASSES_H

#include "dialects/Dnn/Dnn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

namespace tenon {

#define GEN_PASS_DECL
#include "passes/Placement/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Placement/Passes.h.inc"

} // namespace tenon

#endif // TENON_PASSES_PLACEMENT_PASSES_H
