//===- ModelContext.h - MLIR for the fuzz targets ---------------*- C++ -*-===//

#ifndef TENON_TESTS_FUZZ_MODELCONTEXT_H
#define TENON_TESTS_FUZZ_MODELCONTEXT_H

#include "passes/Pipelines/Pipelines.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"

#include <memory>

namespace tenon::fuzz {

/// A context on one thread with all dialects, whose diagnostics nobody sees. A
/// new one from time to time, as a context keeps all types and attributes that
/// it has seen.
inline mlir::MLIRContext &modelContext() {
  struct Quiet {
    mlir::MLIRContext Context{mlir::MLIRContext::Threading::DISABLED};
    mlir::ScopedDiagnosticHandler Handler{
        &Context, [](mlir::Diagnostic &) { return mlir::success(); }};
  };
  static std::unique_ptr<Quiet> Current;
  static int Uses = 0;
  constexpr int MostUses = 256;
  if (Uses++ % MostUses == 0) {
    Current = std::make_unique<Quiet>();
    mlir::DialectRegistry Registry;
    registerDialects(Registry);
    Current->Context.appendDialectRegistry(Registry);
    Current->Context.loadAllAvailableDialects();
  }
  return Current->Context;
}

} // namespace tenon::fuzz

#endif // TENON_TESTS_FUZZ_MODELCONTEXT_H
