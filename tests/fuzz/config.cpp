//===- config.cpp - config.json to a model's graph ------------------------===//

#include "compiler/Estimate/Estimate.h"
#include "compiler/Families/Import.h"
#include "tests/fuzz/FuzzTarget.h"
#include "tests/fuzz/ModelContext.h"

using namespace tenon;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  Result<Config> Settings =
      Config::parse(fuzz::textOf(Data, Size), "config.json");
  if (!fuzz::isGood(Settings))
    return 0;
  Result<mlir::OwningOpRef<mlir::ModuleOp>> Module =
      importConfig(fuzz::modelContext(), *Settings);
  if (!fuzz::isGood(Module))
    return 0;
  if (Result<ModelEstimate> Estimate = estimateModel(**Module);
      fuzz::isGood(Estimate))
    toText(*Estimate, storedTypeOf(**Module));
  return 0;
}
