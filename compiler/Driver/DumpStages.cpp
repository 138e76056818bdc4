//===- DumpStages.cpp - The IR after every pass as files ------------------===//

#include "compiler/Driver/DumpStages.h"

#include "runtime/Support/OutputFile.h"

#include "mlir/IR/AsmState.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace tenon;

struct StageDumper::Shared {
  std::string Directory;
  std::vector<std::string> Inputs;
  std::vector<std::string> Made; ///< Folders that were not there before.
  size_t Written = 0;
  Status Outcome; ///< The first error of a dump after a pass.

  Status makeDirectory(const std::string &Path) {
    if (llvm::sys::fs::is_directory(Path))
      return {};
    std::error_code Failure = llvm::sys::fs::create_directories(Path);
    // A file of that name is no failure to it.
    if (!Failure && !llvm::sys::fs::is_directory(Path))
      Failure = std::make_error_code(std::errc::not_a_directory);
    if (Failure)
      return Error(Path + ": cannot make this directory: " + Failure.message());
    Made.push_back(Path);
    return {};
  }

  /// Writes the module, with the state of the compilation if there is one.
  Status write(mlir::ModuleOp Module, const StageState *State,
               const std::string &Path) {
    std::string Text;
    llvm::raw_string_ostream Stream(Text);
    if (State) {
      printWithState(Module, *State, Stream);
    } else {
      Module.print(Stream);
      Stream << "\n";
    }
    Result<OutputFile> File = OutputFile::create(Path, Inputs);
    if (!File)
      return File.error();
    if (Status Done = File->append(Text); !Done)
      return Done;
    if (Status Done = File->finish(); !Done)
      return Done;
    ++Written;
    return {};
  }
};

namespace {
class DumpAfterPass : public mlir::PassInstrumentation {
public:
  DumpAfterPass(std::shared_ptr<StageDumper::Shared> Folder,
                std::string Directory)
      : Folder(std::move(Folder)), Directory(std::move(Directory)) {}

  void runAfterPass(mlir::Pass *Pass, mlir::Operation *Op) override {
    auto Module = llvm::dyn_cast<mlir::ModuleOp>(Op);
    if (!Module || !Folder->Outcome)
      return;
    std::string Path;
    llvm::raw_string_ostream(Path)
        << Directory << "/" << llvm::format("%02d-", ++Count)
        << Pass->getArgument() << ".mlir";
    Folder->Outcome = Folder->write(Module, nullptr, Path);
  }

private:
  std::shared_ptr<StageDumper::Shared> Folder;
  std::string Directory;
  int Count = 0;
};
} // namespace

static std::string stagePath(const std::string &Directory, int Number,
                             const std::string &Name) {
  return Directory + "/" + std::to_string(Number) + "-" + Name;
}

Result<StageDumper> StageDumper::create(const std::string &Directory,
                                        std::vector<std::string> Inputs) {
  StageDumper Dumper;
  if (Directory.empty())
    return Dumper;
  Dumper.Folder = std::make_shared<Shared>();
  Dumper.Folder->Directory = Directory;
  Dumper.Folder->Inputs = std::move(Inputs);
  if (Status Made = Dumper.Folder->makeDirectory(Directory); !Made)
    return Made.error();
  if (!llvm::sys::fs::can_write(Directory))
    return Error(Directory + ": cannot write into this directory");
  return Dumper;
}

void StageDumper::watch(mlir::PassManager &Passes, int Number,
                        const std::string &Name) {
  if (!Folder)
    return;
  std::string Path = stagePath(Folder->Directory, Number, Name);
  Folder->Outcome = Folder->makeDirectory(Path);
  Passes.addInstrumentation(std::make_unique<DumpAfterPass>(Folder, Path));
}

Status StageDumper::endStage(mlir::ModuleOp Module, const StageState &State,
                             int Number, const std::string &Name) {
  if (!Folder)
    return {};
  if (!Folder->Outcome)
    return Folder->Outcome;
  return Folder->write(Module, &State,
                       stagePath(Folder->Directory, Number, Name) + ".mlir");
}

Error StageDumper::afterFailure(const Error &Reason) const {
  if (!Folder)
    return Reason;
  if (Folder->Written != 0)
    return Error(Reason.kind(), Reason.message() +
                                    " (the IR until then is in " +
                                    Folder->Directory + ")");
  // Those in others were made after them; what is not empty stays.
  for (size_t I = Folder->Made.size(); I-- > 0;)
    (void)::rmdir(Folder->Made[I].c_str());
  return Reason;
}
