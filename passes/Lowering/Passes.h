//===- Passes.h - Buffers and kernels to LLVM -------------------*- C++ -*-===//

#ifndef TENON_PASSES_LOWERING_PASSES_H
#define TENON_PASSES_LOWERING_PASSES_H

#include "dialects/Dnn/Dnn.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

namespace tenon {

#define GEN_PASS_DECL
#include "passes/Lowering/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Lowering/Passes.h.inc"

} // namespace tenon

#endif // TENON_PASSES_LOWERING_PASSES_H
