//===- DiagnosticsTest.cpp - Failures after a model was imported ----------===//

#include "compiler/Driver/Diagnostics.h"

#include "dialects/Transformer/Transformer.h"
#include "passes/Verify/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tenon;

namespace {

/// What `verify-llvm` and `Report` make of a module that is not LLVM, of an
/// operation at `Place`, in MLIR's syntax.
std::string messageOf(llvm::function_ref<Error(const Diagnostics &)> Report,
                      const std::string &Place = "\"layer/residual\"") {
  MLIRContext Context;
  Context.loadDialect<func::FuncDialect>();
  auto Module = parseSourceString<ModuleOp>(
      "module { func.func @f() { return loc(" + Place + ") } }", &Context);
  Diagnostics Caught(Context);
  PassManager Passes(&Context);
  Passes.addPass(createVerifyLlvm());
  Caught.watch(Passes);
  EXPECT_TRUE(failed(Passes.run(*Module)));
  return Report(Caught).message();
}

TEST(DiagnosticsTest, ADefectNamesStagePassOperationAndWhatToDo) {
  EXPECT_EQ(
      messageOf([](const Diagnostics &D) { return D.defect("stage 'llvm'"); }),
      "a defect of the compiler, not of the model: stage 'llvm', pass "
      "'verify-llvm', operation 'func.return' in layer/residual: is not "
      "allowed "
      "after stage 'llvm': expected an operation of the llvm dialect; please "
      "report this line with the command, the model's config.json and what "
      "`tenon --version` prints");
}

TEST(DiagnosticsTest, AnErrorOfADumpIsMlirs) {
  EXPECT_EQ(
      messageOf([](const Diagnostics &D) { return D.error("stage llvm"); }),
      "layer/residual: 'func.return' op is not allowed after stage 'llvm': "
      "expected an operation of the llvm dialect");
}

TEST(DiagnosticsTest, AnErrorIsPrintable) {
  EXPECT_EQ(
      messageOf([](const Diagnostics &D) { return D.error("stage llvm"); },
                R"("\1B[2J\D4")"),
      "\\x1b[2J\\xd4: 'func.return' op is not allowed after stage 'llvm': "
      "expected an operation of the llvm dialect");
}

TEST(DiagnosticsTest, PlacesAreNamesOrLinesOfFiles) {
  auto PlaceOf = [](const std::string &Place) {
    std::string Text = messageOf(
        [](const Diagnostics &D) { return D.error("stage llvm"); }, Place);
    return Text.substr(0, Text.find("'func.return'"));
  };
  EXPECT_EQ(PlaceOf("\"a.mlir\":3:14"), "a.mlir:3:14: ");
  EXPECT_EQ(PlaceOf("\"q_proj\"(\"a.mlir\":3:14)"), "q_proj: ");
  EXPECT_EQ(PlaceOf("fused[unknown, \"a.mlir\":3:14, \"q_proj\"]"),
            "a.mlir:3:14: ");
  EXPECT_EQ(PlaceOf("callsite(\"a.mlir\":3:14 at \"layer\")"), "a.mlir:3:14: ");
  EXPECT_EQ(PlaceOf("unknown"), "");
}

} // namespace
