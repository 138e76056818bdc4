//===- Diagnostics.h - What MLIR says, as errors and remarks ----*- C++ -*-===//

#ifndef TENON_COMPILER_DRIVER_DIAGNOSTICS_H
#define TENON_COMPILER_DRIVER_DIAGNOSTICS_H

#include "runtime/Support/Result.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"

#include <string>

namespace tenon {

/// Collects the diagnostics of a context while it lives: the first error is
/// kept, remarks are printed to stderr.
class Diagnostics {
public:
  explicit Diagnostics(mlir::MLIRContext &Context);

  /// Remembers which of `Passes` fails.
  void watch(mlir::PassManager &Passes);

  /// The first error as MLIR words it, or that `What` failed: for what a user
  /// wrote in MLIR, a dump.
  Error error(const std::string &What) const;

  /// The first error as a defect of the compiler, of kind Internal: `Where`, a
  /// stage, the pass and the operation, and what to do. A model that was
  /// imported compiles, so that whatever fails after that is one.
  Error defect(const std::string &Where) const;

private:
  std::string Place;     ///< Of the first error; empty when it is unknown.
  std::string Operation; ///< Its operation; empty when it names none.
  std::string Message;   ///< The rest of it, one line.
  std::string FailedPass;
  mlir::ScopedDiagnosticHandler Handler;
};

/// `What` went wrong after a model was imported: an error of kind Internal
/// that says so, and how to report it.
Error defectOfCompiler(const std::string &What);

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_DIAGNOSTICS_H
