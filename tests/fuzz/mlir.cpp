//===- mlir.cpp - Modules through the stages ------------------------------===//
//
// Input: a module. It is verified and, if it is a model, compiled to the LLVM
// dialect, in which nothing may fail: a valid model compiles. A module of a
// later level goes through the stages behind it, which may refuse it.
//
//===----------------------------------------------------------------------===//

#include "compiler/Builder/ModelBuilder.h"
#include "tests/fuzz/FuzzTarget.h"
#include "tests/fuzz/ModelContext.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace tenon;

/// The first stage that reads modules like this one.
static StageId stageOf(ModuleOp Module) {
  bool HasModel = false, HasTensors = false;
  Module.walk([&](Operation *Op) {
    StringRef Dialect = Op->getName().getDialectNamespace();
    HasModel |= Dialect == "transformer";
    HasTensors |= llvm::any_of(Op->getResultTypes(), llvm::IsaPred<TensorType>);
  });
  if (HasModel)
    return StageId::Fused;
  return HasTensors ? StageId::Buffers : StageId::Llvm;
}

/// Whether stage `Id` accepts the module.
static bool run(ModuleOp Module, StageId Id, StringRef Level) {
  PipelineOptions Options;
  Options.Level = Level.str();
  Options.MaxTokens = 64;
  PassManager Passes(Module.getContext());
  stages()[static_cast<size_t>(Id)].populate(Passes, Options);
  return succeeded(Passes.run(Module));
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  MLIRContext &Context = fuzz::modelContext();
  ParserConfig Settings(&Context);
  std::string_view Text = fuzz::textOf(Data, Size);
  OwningOpRef<ModuleOp> Module =
      parseSourceString<ModuleOp>(StringRef(Text), Settings, "input");
  if (!Module)
    return 0;
  // Every input is compiled for one level, the same each time.
  static constexpr StringLiteral Levels[] = {"avx2", "avx512", "avx512_bf16",
                                             "amx"};
  StringRef Level = Levels[Size % std::size(Levels)];
  bool IsModel = fuzz::isGood(verifyModel(*Module)) &&
                 run(*Module, StageId::Transformer, Level);
  for (StageId Id = stageOf(*Module); static_cast<size_t>(Id) < StageCount;
       Id = static_cast<StageId>(static_cast<size_t>(Id) + 1)) {
    bool IsDone = run(*Module, Id, Level);
    fuzz::require(IsDone || !IsModel, "a valid model compiles");
    if (!IsDone)
      break;
  }
  return 0;
}
