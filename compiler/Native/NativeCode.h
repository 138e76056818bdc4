//===- NativeCode.h - LLVM dialect to a shared object -----------*- C++ -*-===//

#ifndef TENON_COMPILER_NATIVE_NATIVECODE_H
#define TENON_COMPILER_NATIVE_NATIVECODE_H

#include "runtime/Abi/CpuLevel.h"
#include "runtime/Support/Result.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

#include <string>

namespace tenon {

/// Registers the translations that the functions below need.
void registerNativeTranslations(mlir::DialectRegistry &Registry);

/// Optimised assembly of `Module`, which is in the LLVM dialect, for `Level`.
Result<std::string> toAssembly(mlir::ModuleOp Module, CpuLevel Level);

/// A shared object of `Module` for `Level`, linked by lld in this process. It
/// exports the entry points and needs only libc.
Result<std::string> toSharedObject(mlir::ModuleOp Module, CpuLevel Level);

} // namespace tenon

#endif // TENON_COMPILER_NATIVE_NATIVECODE_H
