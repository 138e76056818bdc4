//===- NativeCode.cpp - LLVM dialect to a shared object -------------------===//

#include "compiler/Native/NativeCode.h"

#include "lld/Common/Driver.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"

LLD_HAS_DRIVER(elf)

using namespace tenon;

/// The features of `Level` as LLVM spells them: "+avx2,+fma,...".
static std::string featuresOf(CpuLevel Level) {
  std::string Features;
  std::string_view Names = infoOf(Level).Features;
  while (!Names.empty()) {
    size_t Comma = std::min(Names.find(','), Names.size());
    if (!Features.empty())
      Features += ',';
    Features += '+';
    Features += Names.substr(0, Comma);
    Names.remove_prefix(std::min(Comma + 1, Names.size()));
  }
  return Features;
}

static std::unique_ptr<llvm::TargetMachine> machineFor(CpuLevel Level) {
  static const bool Initialized = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
    return true;
  }();
  (void)Initialized;
  llvm::Triple Triple("x86_64-unknown-linux-gnu");
  std::string Problem;
  const llvm::Target *Target =
      llvm::TargetRegistry::lookupTarget(Triple, Problem);
  if (!Target)
    return nullptr;
  return std::unique_ptr<llvm::TargetMachine>(Target->createTargetMachine(
      Triple, "x86-64", featuresOf(Level), llvm::TargetOptions(),
      llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

/// Cleans up what kernels look like after their lowering. They are vectorised,
/// unrolled and scheduled as they are meant to be: LLVM's default pipeline
/// takes twice the time of these passes, and its code spills more.
static void optimise(llvm::Module &Module, llvm::TargetMachine &Machine) {
  llvm::LoopAnalysisManager Loops;
  llvm::FunctionAnalysisManager Functions;
  llvm::CGSCCAnalysisManager Graphs;
  llvm::ModuleAnalysisManager Modules;
  llvm::PassBuilder Builder(&Machine);
  Builder.registerModuleAnalyses(Modules);
  Builder.registerCGSCCAnalyses(Graphs);
  Builder.registerFunctionAnalyses(Functions);
  Builder.registerLoopAnalyses(Loops);
  Builder.crossRegisterProxies(Loops, Functions, Graphs, Modules);

  llvm::LoopPassManager Hoist;
  Hoist.addPass(llvm::LoopRotatePass());
  Hoist.addPass(llvm::LICMPass(llvm::LICMOptions()));
  llvm::FunctionPassManager Passes;
  Passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  Passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  Passes.addPass(llvm::InstCombinePass());
  Passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(Hoist),
                                                       /*UseMemorySSA=*/true));
  Passes.addPass(
      llvm::createFunctionToLoopPassAdaptor(llvm::IndVarSimplifyPass()));
  Passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  Passes.addPass(llvm::SimplifyCFGPass());
  llvm::ModulePassManager Pipeline;
  Pipeline.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(Passes)));
  Pipeline.run(Module, Modules);
}

/// Translates, optimises and emits `Module` as `Kind`.
static Result<std::string> emit(mlir::ModuleOp Module, CpuLevel Level,
                                llvm::CodeGenFileType Kind) {
  llvm::LLVMContext Context;
  std::unique_ptr<llvm::Module> Translated =
      mlir::translateModuleToLLVMIR(Module, Context, "tenon");
  if (!Translated)
    return Error("code generation: the module has no translation to LLVM IR");
  std::unique_ptr<llvm::TargetMachine> Machine = machineFor(Level);
  if (!Machine)
    return Error("code generation: this LLVM was built without x86-64");
  Translated->setDataLayout(Machine->createDataLayout());
  Translated->setTargetTriple(Machine->getTargetTriple());
  for (llvm::Function &Function : *Translated) {
    if (Function.isDeclaration())
      continue;
    Function.addFnAttr("target-features", featuresOf(Level));
    // Vectors of 512 bits are meant; without this they may be halved.
    Function.addFnAttr("prefer-vector-width",
                       std::to_string(infoOf(Level).VectorBits));
    Function.addFnAttr(llvm::Attribute::NoUnwind);
  }

  optimise(*Translated, *Machine);

  llvm::SmallString<0> Code;
  llvm::raw_svector_ostream Stream(Code);
  llvm::legacy::PassManager Emitter;
  if (Machine->addPassesToEmitFile(Emitter, Stream, nullptr, Kind))
    return Error("code generation: LLVM cannot emit this kind of file");
  Emitter.run(*Translated);
  return std::string(Code.str());
}

void tenon::registerNativeTranslations(mlir::DialectRegistry &Registry) {
  mlir::registerBuiltinDialectTranslation(Registry);
  mlir::registerLLVMDialectTranslation(Registry);
}

Result<std::string> tenon::toAssembly(mlir::ModuleOp Module, CpuLevel Level) {
  return emit(Module, Level, llvm::CodeGenFileType::AssemblyFile);
}

namespace {
/// A file that is removed when this goes out of scope.
struct TemporaryFile {
  llvm::SmallString<128> Path;

  explicit TemporaryFile(llvm::StringRef Suffix)
      : Failure(llvm::sys::fs::createTemporaryFile("tenon", Suffix, Path)) {
    if (!Failure)
      llvm::sys::RemoveFileOnSignal(Path);
  }
  ~TemporaryFile() {
    if (Failure)
      return;
    llvm::sys::fs::remove(Path);
    llvm::sys::DontRemoveFileOnSignal(Path);
  }
  std::error_code Failure;
};
} // namespace

Result<std::string> tenon::toSharedObject(mlir::ModuleOp Module,
                                          CpuLevel Level) {
  Result<std::string> Object =
      emit(Module, Level, llvm::CodeGenFileType::ObjectFile);
  if (!Object)
    return Object;
  TemporaryFile Input("o"), Output("so");
  if (Input.Failure || Output.Failure)
    return Error("linking: cannot create a temporary file: " +
                 (Input.Failure ? Input.Failure : Output.Failure).message());
  std::error_code Failure;
  {
    llvm::raw_fd_ostream Stream(Input.Path, Failure);
    Stream << *Object;
    Stream.flush();
    if (Stream.has_error())
      Failure = Stream.error();
    Stream.clear_error();
  }
  if (Failure)
    return Error("linking: cannot write " + Input.Path.str().str() + ": " +
                 Failure.message());
  std::string Messages;
  llvm::raw_string_ostream Log(Messages);
  const char *Arguments[] = {"ld.lld", "-shared",           "--strip-all",
                             "-o",     Output.Path.c_str(), Input.Path.c_str()};
  lld::Result Linked =
      lld::lldMain(Arguments, Log, Log, {{lld::Gnu, &lld::elf::link}});
  if (Linked.retCode != 0)
    return Error("linking: " + Messages.substr(0, Messages.find('\n')));
  auto Linkage = llvm::MemoryBuffer::getFile(Output.Path, /*IsText=*/false,
                                             /*RequiresNullTerminator=*/false);
  if (!Linkage)
    return Error("linking: cannot read " + Output.Path.str().str() + ": " +
                 Linkage.getError().message());
  return (*Linkage)->getBuffer().str();
}
