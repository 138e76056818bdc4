//===- stage-dump.cpp - What --from-stage reads ---------------------------===//
//
// Input: a dump of --dump-stages, of any stage.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/StageState.h"
#include "tests/fuzz/FuzzTarget.h"
#include "tests/fuzz/ModelContext.h"

using namespace tenon;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  static fuzz::MemoryFile Memory;
  Memory.setContent(fuzz::textOf(Data, Size));
  for (const Stage &S : stages()) {
    Result<LoadedStage> Loaded =
        readStage(fuzz::modelContext(), Memory.path(), S.Name);
    if (!fuzz::isGood(Loaded))
      continue;
    std::string Text;
    llvm::raw_string_ostream Stream(Text);
    printWithState(*Loaded->Module, Loaded->State, Stream);
    Memory.setContent(Text);
    fuzz::require(static_cast<bool>(
                      readStage(fuzz::modelContext(), Memory.path(), S.Name)),
                  "a dump reads as it is written");
    break;
  }
  return 0;
}
