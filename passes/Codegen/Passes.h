//===- Passes.h - Kernels for everything the library does not do *- C++ -*-===//

#ifndef TENON_PASSES_CODEGEN_PASSES_H
#define TENON_PASSES_CODEGEN_PASSES_H

#include "dialects/Dnn/Dnn.h"

#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/Pass/Pass.h"

namespace tenon {

#define GEN_PASS_DECL
#include "passes/Codegen/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Codegen/Passes.h.inc"

} // namespace tenon

#endif // TENON_PASSES_CODEGEN_PASSES_H
