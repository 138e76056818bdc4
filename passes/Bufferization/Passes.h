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

} // namespace tenon

#endif // TENON_PASSES_BUFFERIZATION_PASSES_H
