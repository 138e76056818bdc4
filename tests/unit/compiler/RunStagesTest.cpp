//===- RunStagesTest.cpp - The stages, pass by pass -----------------------===//

#include "compiler/Native/RunStages.h"
#include "compiler/Families/Import.h"
#include "tests/unit/CheckpointFixture.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace tenon;

// Whether after each pass or not: what a stage leaves is verified.
TEST(RunStages, RefusesWhatAPassLeavesInvalid) {
  DialectRegistry Registry;
  registerDialects(Registry);
  MLIRContext Context(Registry);
  auto Model =
      importModel(Context, TENON_TEST_DATA "/numerics/fixtures/llama-mha", {});
  ASSERT_TRUE(Model) << Model.error().message();
  StageSettings Settings;
  Settings.After = [](llvm::StringRef Pass, ModuleOp Module) {
    if (Pass == "verify-fused")
      SymbolTable::setSymbolName(Module.lookupSymbol("layer.few"), "lost");
  };
  EXPECT_ERROR(
      runStages(*Model->Module, Settings, StageId::Transformer, StageId::Fused),
      "stage fused", "layer.few");
}
