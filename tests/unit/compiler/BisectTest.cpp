//===- BisectTest.cpp - Passes broken on purpose are named ----------------===//

#include "compiler/Bisect/Bisect.h"
#include "compiler/Evaluator/Evaluator.h"
#include "compiler/Families/Import.h"
#include "compiler/Native/NativeCode.h"
#include "passes/Packing/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "gmock/gmock.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::bisect;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

namespace {

class BisectTest : public testing::Test {
protected:
  BisectTest() {
    DialectRegistry Registry;
    registerDialects(Registry);
    registerNativeTranslations(Registry);
    Context.appendDialectRegistry(Registry);
    Context.loadAllAvailableDialects();
    Context.disableMultithreading();
    ImportOptions Import;
    Import.MatrixType = ElementType::F32;
    auto Imported = importModel(
        Context, TENON_TEST_DATA "/numerics/fixtures/llama-gqa-llama3", Import);
    EXPECT_TRUE(Imported) << Imported.error().message();
    Model = std::move(*Imported);
  }

  /// The report when `Break` changes the module after pass `Pass`. It returns
  /// whether it changed something.
  BisectReport broken(StringRef Pass,
                      const std::function<bool(ModuleOp)> &Break) {
    BisectOptions Options;
    int64_t Broken = 0;
    Options.Settings.After = [&](StringRef Ran, ModuleOp Module) {
      if (Ran == Pass)
        Broken += Break(Module);
    };
    auto Report = bisect::bisect(*Model.Module, *Model.Weights, Options);
    EXPECT_TRUE(Report) << Report.error().message();
    EXPECT_GT(Broken, 0);
    return Report ? *Report : BisectReport();
  }

  MLIRContext Context;
  ImportedModel Model;
};

/// The first operation of a type in functions that are no entries, and are
/// called with more than a few tokens.
template <typename OpTy> OpTy firstOfLayer(ModuleOp Module) {
  OpTy First;
  Module.walk([&](OpTy Op) {
    auto Function = Op->template getParentOfType<func::FuncOp>();
    if (!First && !Function->hasAttr(transformer::attr::Role) &&
        !Function.getName().contains("few"))
      First = Op;
  });
  return First;
}

TEST_F(BisectTest, NothingDiffers) {
  BisectReport Report =
      broken("verify-transformer", [](ModuleOp) { return true; });
  EXPECT_FALSE(Report.First) << toText(Report);
  EXPECT_GT(Report.Passes, 10);
  EXPECT_GT(Report.Operations, 20);
}

/// A fusion that loses what it fuses.
TEST_F(BisectTest, NamesAFusion) {
  BisectReport Report = broken("fuse-residual", [](ModuleOp Module) {
    bool Changed = false;
    Module.walk([&](transformer::MatmulOp Op) {
      Changed |= static_cast<bool>(Op.getResidual());
      Op.getResidualMutable().clear();
    });
    return Changed;
  });
  ASSERT_TRUE(Report.First);
  EXPECT_EQ(Report.First->Pass, "fuse-residual");
  EXPECT_EQ(Report.First->Stage, "fused");
  EXPECT_EQ(Report.First->Layer, "model.layers.0");
  EXPECT_EQ(Report.First->Operation, "transformer.matmul");
  EXPECT_THAT(Report.First->Location, HasSubstr("o_proj"));
  // A place as other messages have it, not as MLIR prints it.
  EXPECT_THAT(Report.First->Location, Not(HasSubstr("\"")));
  EXPECT_THAT(Report.First->RightWithout, Contains("fuse-residual"));
  EXPECT_THAT(toText(Report), HasSubstr("pass: fuse-residual (stage fused)"));
}

/// Placement that loses a scale.
TEST_F(BisectTest, NamesPlacement) {
  BisectReport Report =
      broken("convert-transformer-to-dnn", [](ModuleOp Module) {
        auto Norm = firstOfLayer<dnn::RmsNormOp>(Module);
        if (Norm)
          Norm.setEpsAttr(Builder(Norm).getF64FloatAttr(1.0));
        return static_cast<bool>(Norm);
      });
  ASSERT_TRUE(Report.First);
  EXPECT_EQ(Report.First->Pass, "convert-transformer-to-dnn");
  EXPECT_EQ(Report.First->Stage, "placed");
  EXPECT_EQ(Report.First->Layer, "model.layers.0");
  EXPECT_EQ(Report.First->Operation, "dnn.rms_norm");
}

/// Placement may quantise rows; what follows must match what it made of them.
TEST_F(BisectTest, RowsMayBeQuantised) {
  PassManager Quantise(&Context);
  QuantizeWeightsOptions Int8;
  Int8.Format = "int8";
  Quantise.addPass(createQuantizeWeights(Int8));
  ASSERT_TRUE(succeeded(Quantise.run(*Model.Module)));
  bool HasGroups = false;
  BisectReport Report = broken("fold-casts", [&](ModuleOp Module) {
    Module.walk([&](dnn::MatmulOp Op) {
      HasGroups |= static_cast<bool>(dnn::groupedTypeOf(Op.getInput()));
    });
    return true;
  });
  EXPECT_TRUE(HasGroups);
  EXPECT_FALSE(Report.First) << toText(Report);
  Report = broken("assign-weight-indices", [](ModuleOp Module) {
    auto Norm = firstOfLayer<dnn::RmsNormOp>(Module);
    Norm.setEpsAttr(
        Builder(Norm).getF64FloatAttr(Norm.getEps().convertToDouble() + 1e-3));
    return true;
  });
  ASSERT_TRUE(Report.First);
  EXPECT_EQ(Report.First->Pass, "assign-weight-indices") << toText(Report);
}

/// A memory plan that puts the operand of an operation where its result is.
TEST_F(BisectTest, NamesTheMemoryPlan) {
  BisectReport Report = broken("plan-memory", [](ModuleOp Module) {
    bool Changed = false;
    Module.walk([&](dnn::MatmulOp Op) {
      auto From = Op.getInput().getDefiningOp<dnn::BufferOp>();
      auto To = Op.getOuts().getDefiningOp<dnn::BufferOp>();
      if (Changed || !From || !To)
        return;
      To.setOffset(From.getOffset());
      Changed = true;
    });
    return Changed;
  });
  ASSERT_TRUE(Report.First);
  EXPECT_EQ(Report.First->Pass, "plan-memory") << toText(Report);
  EXPECT_EQ(Report.First->Layer, "model.layers.0");
  EXPECT_THAT(Report.First->Detail, HasSubstr("share bytes"));
}

/// A kernel that adds where it must multiply.
TEST_F(BisectTest, NamesAKernel) {
  std::string Location;
  BisectReport Report = broken("generate-kernels", [](ModuleOp Module) {
    // The product of the row with the norm's weight comes last.
    arith::MulFOp Last;
    Module.walk([&](arith::MulFOp Op) {
      auto Function = Op->getParentOfType<func::FuncOp>();
      std::string Where;
      llvm::raw_string_ostream(Where) << Op.getLoc();
      if (!Function->hasAttr(transformer::attr::Role) &&
          StringRef(Where).contains("post_attention_layernorm"))
        Last = Op;
    });
    if (!Last)
      return false;
    OpBuilder B(Last);
    Value Sum =
        arith::AddFOp::create(B, Last.getLoc(), Last.getLhs(), Last.getRhs());
    Last.replaceAllUsesWith(Sum);
    Last.erase();
    return true;
  });
  ASSERT_TRUE(Report.First);
  EXPECT_EQ(Report.First->Pass, "generate-kernels") << toText(Report);
  EXPECT_EQ(Report.First->Layer, "model.layers.0");
  EXPECT_EQ(Report.First->Stage, "buffers");
}

TEST_F(BisectTest, NamesTheImport) {
  BisectOptions Options;
  Options.TokenIds = {1, 2, 3};
  auto Runs = runsFor(*Model.Module, Options.TokenIds, 8);
  ASSERT_TRUE(Runs) << Runs.error().message();
  Evaluator E(*Model.Module, checkpointParameters(*Model.Weights));
  auto Logits = E.run("step", Runs->front().Batch);
  ASSERT_TRUE(Logits) << Logits.error().message();
  Options.Against = *Logits;
  auto Same = bisect::bisect(*Model.Module, *Model.Weights, Options);
  ASSERT_TRUE(Same) << Same.error().message();
  EXPECT_FALSE(Same->First);
  Options.Against->Data[5] += 1;
  auto Other = bisect::bisect(*Model.Module, *Model.Weights, Options);
  ASSERT_TRUE(Other && Other->First);
  EXPECT_EQ(Other->First->Pass, "import");
  Options.Against = Tensor2D(2, Logits->Columns);
  auto Refused = bisect::bisect(*Model.Module, *Model.Weights, Options);
  ASSERT_FALSE(Refused);
  EXPECT_THAT(Refused.error().message(), HasSubstr("expected 3 x"));
  Options.Against.reset();
  Options.TokenIds = {1, 1 << 20};
  Refused = bisect::bisect(*Model.Module, *Model.Weights, Options);
  ASSERT_FALSE(Refused);
  EXPECT_THAT(Refused.error().message(), HasSubstr("token id 1048576"));
}

} // namespace
