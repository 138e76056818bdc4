//===- RunStages.cpp - The stages, pass by pass ---------------------------===//

#include "compiler/Native/RunStages.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace tenon;

static Status runPass(ModuleOp Module, std::unique_ptr<Pass> ThePass) {
  std::string Name = ThePass->getArgument().str(), First;
  ScopedDiagnosticHandler Handler(Module.getContext(), [&](Diagnostic &D) {
    if (D.getSeverity() == DiagnosticSeverity::Error && First.empty())
      llvm::raw_string_ostream(First) << D.getLocation() << ": " << D;
    return success();
  });
  PassManager Passes(Module.getContext());
  Passes.addPass(std::move(ThePass));
  if (succeeded(Passes.run(Module)))
    return {};
  return Error(First.empty() ? "fails" : First.substr(0, First.find('\n')))
      .withContext("pass " + Name);
}

Status tenon::runStages(
    ModuleOp Module, const StageSettings &Settings, StageId First, StageId Last,
    const std::function<Result<bool>(const Stage &, StringRef)> &Ran) {
  PipelineOptions Options;
  Options.Level = std::string(infoOf(Settings.Level).Name);
  Options.FewTokens = Settings.FewTokens;
  Options.MaxTokens = Settings.MaxTokens;
  for (const Stage &S : stages()) {
    if (S.Id < First || S.Id > Last)
      continue;
    for (const StagePass &Entry : S.Passes) {
      std::unique_ptr<Pass> New = Entry.Create(Options);
      std::string Name = New->getArgument().str();
      if (Entry.Role == PassRole::Optional && Settings.disables(Name))
        continue;
      if (Status Done = runPass(Module, std::move(New)); !Done)
        return Done;
      if (Settings.After)
        Settings.After(Name, Module);
      if (!Ran)
        continue;
      Result<bool> GoOn = Ran(S, Name);
      if (!GoOn)
        return GoOn.error();
      if (!*GoOn)
        return {};
    }
  }
  return {};
}
