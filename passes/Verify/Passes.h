//===- Passes.h - What holds after each stage -------------------*- C++ -*-===//

#ifndef TENON_PASSES_VERIFY_PASSES_H
#define TENON_PASSES_VERIFY_PASSES_H

#include "dialects/Dnn/Dnn.h"

#include "mlir/Pass/Pass.h"

namespace tenon {

#define GEN_PASS_DECL
#include "passes/Verify/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Verify/Passes.h.inc"

} // namespace tenon

#endif // TENON_PASSES_VERIFY_PASSES_H
