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

} // namespace tenon

#endif // TENON_PASSES_PACKING_PASSES_H
