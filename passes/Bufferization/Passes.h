//===- Passes.h - Tensors to planned buffers --------------------*- C++ -*-===//

#ifndef TENON_PASSES_BUFFERIZATION_PASSES_H
#define TENON_PASSES_BUFFERIZATION_PASSES_H

#include "dialects/Dnn/Dnn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Pass/Pass.h"

namespace tenon {

#define GEN_PASS_DECL
#include "passes/Bufferization/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Bufferization/Passes.h.inc"

/// Lets One-Shot Bufferize handle the compute ops of the dnn dialect.
void registerDnnBufferization(mlir::DialectRegistry &Registry);

/// On a module after plan-memory: bytes of the arena.
inline constexpr llvm::StringLiteral ArenaAttrName = "dnn.arena_bytes";
/// On a buffer after plan-memory: {bytes, first, last} of its plan.
inline constexpr llvm::StringLiteral PlanAttrName = "dnn.plan";

} // namespace tenon

#endif // TENON_PASSES_BUFFERIZATION_PASSES_H
