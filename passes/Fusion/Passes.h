//===- Passes.h - From model operations to fused ones -----------*- C++ -*-===//

#ifndef TENON_PASSES_FUSION_PASSES_H
#define TENON_PASSES_FUSION_PASSES_H

#include "dialects/Transformer/Transformer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace tenon {

#define GEN_PASS_DECL
#include "passes/Fusion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Fusion/Passes.h.inc"

} // namespace tenon

#endif // TENON_PASSES_FUSION_PASSES_H
