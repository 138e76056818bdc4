//===- RunStages.cpp - The stages, pass by pass ---------------------------===//

#include "compiler/Native/RunStages.h"

#include "compiler/Builder/Places.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace tenon;

/// Calls `Do`, whose first error is that of the answer.
static Status run(ModuleOp Module, const std::string &Name,
                  function_ref<LogicalResult()> Do) {
  std::string First;
  ScopedDiagnosticHandler Handler(Module.getContext(), [&](Diagnostic &D) {
    if (D.getSeverity() == DiagnosticSeverity::Error && First.empty())
      First = placeOf(D.getLocation()) + ": " + D.str();
    return success();
  });
  if (succeeded(Do()))
    return {};
  return Error(First.empty() ? "fails" : First.substr(0, First.find('\n')))
      .withContext(Name);
}

static Status runPass(ModuleOp Module, std::unique_ptr<Pass> ThePass) {
  std::string Name = "pass " + ThePass->getArgument().str();
  PassManager Passes(Module.getContext());
  Passes.enableVerifier(VerifiesEachPass);
  Passes.addPass(std::move(ThePass));
  return run(Module, Name, [&] { return Passes.run(Module); });
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
    if (Status Valid = run(Module, "stage " + S.Name.str(),
                           [&] { return verify(Module); });
        !Valid)
      return Valid;
  }
  return {};
}
