//===- DumpStages.cpp - The IR after every pass as files ------------------===//

#include "compiler/Driver/DumpStages.h"

#include "mlir/IR/AsmState.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace tenon;

/// Writes the module, with the state of the compilation if there is one.
static Status writeModule(mlir::ModuleOp Module, const StageState *State,
                          const std::string &Path) {
  std::error_code Failure;
  llvm::raw_fd_ostream Stream(Path, Failure);
  if (!Failure) {
    if (State) {
      printWithState(Module, *State, Stream);
    } else {
      Module.print(Stream);
      Stream << "\n";
    }
    Stream.flush();
    Failure = Stream.error();
    Stream.clear_error();
  }
  if (Failure)
    return Error(Path + ": cannot write: " + Failure.message());
  return {};
}

namespace {
class DumpAfterPass : public mlir::PassInstrumentation {
public:
  explicit DumpAfterPass(std::string Directory)
      : Directory(std::move(Directory)) {}

  void runAfterPass(mlir::Pass *Pass, mlir::Operation *Op) override {
    auto Module = llvm::dyn_cast<mlir::ModuleOp>(Op);
    if (!Module)
      return;
    std::string Path;
    llvm::raw_string_ostream(Path)
        << Directory << "/" << llvm::format("%02d-", ++Count)
        << Pass->getArgument() << ".mlir";
    // The end of the stage reports a directory that cannot be written.
    (void)static_cast<bool>(writeModule(Module, nullptr, Path));
  }

private:
  std::string Directory;
  int Count = 0;
};
} // namespace

static std::string stagePath(const std::string &Directory, int Number,
                             const std::string &Name) {
  return Directory + "/" + std::to_string(Number) + "-" + Name;
}

static Status makeDirectory(const std::string &Path) {
  if (std::error_code Failure = llvm::sys::fs::create_directories(Path))
    return Error(Path + ": cannot make this directory: " + Failure.message());
  return {};
}

Result<StageDumper> StageDumper::create(const std::string &Directory) {
  StageDumper Dumper;
  Dumper.Directory = Directory;
  if (!Directory.empty())
    if (Status Made = makeDirectory(Directory); !Made)
      return Made.error();
  return Dumper;
}

void StageDumper::watch(mlir::PassManager &Passes, int Number,
                        const std::string &Name) {
  if (Directory.empty())
    return;
  std::string Path = stagePath(Directory, Number, Name);
  if (makeDirectory(Path))
    Passes.addInstrumentation(std::make_unique<DumpAfterPass>(Path));
}

Status StageDumper::endStage(mlir::ModuleOp Module, const StageState &State,
                             int Number, const std::string &Name) {
  if (Directory.empty())
    return {};
  return writeModule(Module, &State,
                     stagePath(Directory, Number, Name) + ".mlir");
}
