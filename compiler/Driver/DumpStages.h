//===- DumpStages.h - The IR after every pass as files ----------*- C++ -*-===//

#ifndef TENON_COMPILER_DRIVER_DUMPSTAGES_H
#define TENON_COMPILER_DRIVER_DUMPSTAGES_H

#include "compiler/Driver/StageState.h"
#include "runtime/Support/Result.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

#include <memory>
#include <string>
#include <vector>

namespace tenon {

/// Numbers and writes dumps: DIR/2-fused/03-merge-qkv.mlir after a pass, and
/// DIR/2-fused.mlir when the stage has ended. Each file is whole or absent.
class StageDumper {
public:
  /// Dumps nothing.
  StageDumper() = default;
  /// Dumps into `Directory`, which is made; an empty name dumps nothing. None
  /// of `Inputs` is overwritten.
  static Result<StageDumper> create(const std::string &Directory,
                                    std::vector<std::string> Inputs);

  /// Dumps the passes of `Passes`, those of stage `Number` called `Name`.
  void watch(mlir::PassManager &Passes, int Number, const std::string &Name);
  /// Dumps the module at the end of the stage, with what --from-stage needs to
  /// go on from there. Also the first error of a dump since the last call.
  Status endStage(mlir::ModuleOp Module, const StageState &State, int Number,
                  const std::string &Name);
  /// What to answer when the compilation failed: the reason, and where the
  /// dumps are that were written before. Without any, the folders that were
  /// made for them are removed.
  Error afterFailure(const Error &Reason) const;

  /// What the instrumentations of passes share.
  struct Shared;

private:
  std::shared_ptr<Shared> Folder;
};

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_DUMPSTAGES_H
