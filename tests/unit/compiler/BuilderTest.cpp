//===- BuilderTest.cpp - Writing models by hand ---------------------------===//

#include "compiler/Builder/Blocks.h"
#include "compiler/Builder/ModelWalk.h"

#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

LayerOptions smallLayer(LayerForm Form = LayerForm::PreNorm) {
  LayerOptions Options;
  Options.Form = Form;
  Options.AttentionNorm = {NormKind::Rms, 1e-5, "n1"};
  Options.FeedForwardNorm = {NormKind::Rms, 1e-5, "n2"};
  Options.Attention.Heads = 6;
  Options.Attention.KvHeads = 3;
  Options.Attention.HeadDim = 4;
  Options.Attention.Query = {"q", false};
  Options.Attention.Key = {"k", false};
  Options.Attention.Value = {"v", false};
  Options.Attention.Output = {"o", false};
  Options.FeedForward.Inner = 20;
  Options.FeedForward.Gate = {"gate", false};
  Options.FeedForward.Up = {"up", false};
  Options.FeedForward.Down = {"down", false};
  return Options;
}

/// Rows of `Width` elements, one per token of a vocabulary of 11.
Value embedTokens(ModelBuilder &Model, FunctionBuilder &F, Value Batch,
                  int64_t Width) {
  Model.setVocabulary(11);
  Model.setMaxSequence(16);
  return F.embedding(IndexKind::Token, Batch,
                     F.parameter(F.scope(""), "embed.weight",
                                 Component::Embedding, {11, Width}));
}

/// An entry that calls `Layers` in turn over scopes l0, l1, ...
void buildStep(ModelBuilder &Model, ArrayRef<func::FuncOp> Layers,
               CacheType Cache, int64_t Width) {
  FunctionBuilder Step = FunctionBuilder::entry(Model, "step", "hidden");
  Value Batch = Step.batchArgument();
  Value Handle = Step.argument(Cache);
  Value Rows = embedTokens(Model, Step, Batch, Width);
  for (auto [I, Layer] : llvm::enumerate(Layers)) {
    auto Results = Step.call(
        Layer, {Step.scope("l" + std::to_string(I), I), Batch, Handle, Rows});
    Rows = Results[0];
    Handle = Results[1];
  }
  Step.finish({Step.selectOutputRows(Rows, Batch), Handle});
}

std::vector<std::string> functionNames(ModuleOp Module) {
  std::vector<std::string> Names;
  for (auto Function : Module.getOps<func::FuncOp>())
    Names.push_back(Function.getName().str());
  return Names;
}

TEST(BuilderTest, EqualLayersShareAFunctionAndOthersGetTheirOwn) {
  MLIRContext Context;
  ModelBuilder Model(Context, "test", uniformTypes(ElementType::F32));
  CacheType Cache = Model.cache(3, 4, ElementType::F32);
  LayerOptions Plain = smallLayer();
  LayerOptions Windowed = Plain;
  Windowed.Attention.Window = 7;
  SmallVector<func::FuncOp> Layers;
  for (const LayerOptions *Options : {&Plain, &Windowed, &Plain, &Windowed})
    Layers.push_back(layerFunction(Model, "l" + std::to_string(Layers.size()),
                                   24, {Cache, {}, {}}, *Options));
  EXPECT_EQ(Layers[0], Layers[2]);
  EXPECT_EQ(Layers[1], Layers[3]);
  EXPECT_NE(Layers[0], Layers[1]);
  buildStep(Model, Layers, Cache, 24);
  auto Module = Model.finish();
  ASSERT_TRUE(Module) << Module.error().message();
  EXPECT_EQ(functionNames(**Module),
            (std::vector<std::string>{"layer", "layer_window", "step"}));
}

TEST(BuilderTest, AnotherStorageTypeIsAnotherFunction) {
  MLIRContext Context;
  std::vector<std::string> Asked;
  ModelBuilder Model(Context, "test",
                     [&](StringRef Name, ArrayRef<int64_t> Shape,
                         ParameterUse) -> Result<StorageFormat> {
                       Asked.push_back(Name.str());
                       return Name == "l1.down.weight" ? StorageFormat::BF16
                                                       : StorageFormat::F32;
                     });
  CacheType Cache = Model.cache(3, 4, ElementType::F32);
  SmallVector<func::FuncOp> Layers;
  for (const char *Scope : {"l0", "l1", "l2"})
    Layers.push_back(
        layerFunction(Model, Scope, 24, {Cache, {}, {}}, smallLayer()));
  EXPECT_NE(Layers[0], Layers[1]);
  EXPECT_EQ(Layers[0], Layers[2]);
  // Every layer's own tensors are asked for, shared function or not.
  EXPECT_EQ(llvm::count(Asked, "l2.q.weight"), 1);
}

TEST(BuilderTest, GateAndUpAreKeptInOneType) {
  MLIRContext Context;
  ModelBuilder Model(Context, "test",
                     [&](StringRef Name, ArrayRef<int64_t> Shape,
                         ParameterUse) -> Result<StorageFormat> {
                       bool IsWide = Shape.size() == 1 ||
                                     Name == "l0.gate.weight" ||
                                     Name == "l1.up.weight";
                       return IsWide ? StorageFormat::F32 : StorageFormat::BF16;
                     });
  CacheType Cache = Model.cache(3, 4, ElementType::F32);
  SmallVector<func::FuncOp> Layers;
  for (const char *Scope : {"l0", "l1", "l2"})
    Layers.push_back(
        layerFunction(Model, Scope, 24, {Cache, {}, {}}, smallLayer()));
  EXPECT_EQ(Layers[0], Layers[1]);
  EXPECT_EQ(Model.widened(),
            (std::vector<std::string>{"l0.up.weight", "l1.gate.weight"}));
  auto TypesOf = [](func::FuncOp Layer) {
    std::string Types;
    Layer.walk([&](GatedFeedForwardOp Op) {
      for (Value Weight : {Op.getGate(), Op.getUp(), Op.getDown()})
        Types += getElementTypeOrSelf(Weight).isF32() ? "f32 " : "bf16 ";
    });
    return Types;
  };
  EXPECT_EQ(TypesOf(Layers[0]), "f32 f32 bf16 ");
  EXPECT_EQ(TypesOf(Layers[2]), "bf16 bf16 bf16 ");
}

TEST(BuilderTest, LocationsNameFunctionAndKey) {
  MLIRContext Context;
  ModelBuilder Model(Context, "test", uniformTypes(ElementType::BF16));
  func::FuncOp Layer = layerFunction(
      Model, "l0", 24, {Model.cache(3, 4, ElementType::BF16), {}, {}},
      smallLayer());
  std::vector<std::string> Linears;
  Layer.walk([&](LinearOp Op) {
    Linears.push_back(cast<NameLoc>(Op.getLoc()).getName().str());
  });
  EXPECT_EQ(Linears, (std::vector<std::string>{"layer/q", "layer/k", "layer/v",
                                               "layer/o"}));
  Layer.walk([&](ParameterOp Op) {
    auto Type = cast<RankedTensorType>(Op.getType());
    EXPECT_EQ(Type.getElementType().isBF16(), Type.getRank() == 2);
  });
}

TEST(BuilderTest, PreNormAndPostNormDiffer) {
  MLIRContext Context;
  for (LayerForm Form :
       {LayerForm::PreNorm, LayerForm::PostNorm, LayerForm::Parallel}) {
    ModelBuilder Model(Context, "test", uniformTypes(ElementType::F32));
    func::FuncOp Layer = layerFunction(
        Model, "l0", 24, {Model.cache(3, 4, ElementType::F32), {}, {}},
        smallLayer(Form));
    Operation *Return = Layer.getBody().front().getTerminator();
    Operation *Last = Return->getOperand(0).getDefiningOp();
    bool EndsInNorm = Form == LayerForm::PostNorm;
    EXPECT_EQ(isa<ResidualOp>(Last), !EndsInNorm);
    EXPECT_EQ(isa<RmsNormOp>(Last), EndsInNorm);
  }
}

TEST(BuilderTest, AMissingParameterIsTheModelsError) {
  MLIRContext Context;
  ModelBuilder Model(Context, "test",
                     [](StringRef Name, ArrayRef<int64_t>,
                        ParameterUse) -> Result<StorageFormat> {
                       if (Name == "l0.k.weight")
                         return Error("no tensor " + Name.str());
                       return StorageFormat::F32;
                     });
  CacheType Cache = Model.cache(3, 4, ElementType::F32);
  func::FuncOp Layer =
      layerFunction(Model, "l0", 24, {Cache, {}, {}}, smallLayer());
  buildStep(Model, {Layer}, Cache, 24);
  auto Module = Model.finish();
  ASSERT_FALSE(Module);
  EXPECT_EQ(Module.error().message(), "no tensor l0.k.weight");
}

TEST(BuilderTest, AWrongShapeIsTheVerifiersMessage) {
  MLIRContext Context;
  ModelBuilder Model(Context, "test", uniformTypes(ElementType::F32));
  FunctionBuilder Encode = FunctionBuilder::entry(Model, "encode", "hidden");
  Value Scope = Encode.scopeArgument("");
  Value Rows = Encode.argument(Model.rows(24));
  Value Weight =
      Encode.parameter(Scope, "proj.weight", Component::Attention, {8, 25});
  Encode.finish(Encode.linear(Rows, Weight));
  auto Module = Model.finish();
  ASSERT_FALSE(Module);
  EXPECT_NE(Module.error().message().find("encode/proj"), std::string::npos)
      << Module.error().message();
  EXPECT_NE(Module.error().message().find("expected 24, got 25"),
            std::string::npos)
      << Module.error().message();
}

TEST(BuilderTest, AModelNeedsAnEntry) {
  MLIRContext Context;
  ModelBuilder Model(Context, "test", uniformTypes(ElementType::F32));
  Model.setVocabulary(11);
  Model.setMaxSequence(16);
  auto Module = Model.finish();
  ASSERT_FALSE(Module);
  EXPECT_NE(Module.error().message().find("module_c6"), std::string::npos)
      << Module.error().message();
}

TEST(BuilderTest, AHandleTakenTwiceIsRefused) {
  MLIRContext Context;
  ModelBuilder Model(Context, "test", uniformTypes(ElementType::F32));
  CacheType Cache = Model.cache(3, 4, ElementType::F32);
  func::FuncOp Layer =
      layerFunction(Model, "l0", 24, {Cache, {}, {}}, smallLayer());
  FunctionBuilder Step = FunctionBuilder::entry(Model, "step", "hidden");
  Value Batch = Step.batchArgument();
  Value Handle = Step.argument(Cache);
  Value Rows = embedTokens(Model, Step, Batch, 24);
  Value Scope = Step.scope("l0", 0);
  Rows = Step.call(Layer, {Scope, Batch, Handle, Rows})[0];
  auto Results = Step.call(Layer, {Scope, Batch, Handle, Rows});
  Step.finish({Step.selectOutputRows(Results[0], Batch), Results[1]});
  auto Module = Model.finish();
  ASSERT_FALSE(Module);
  EXPECT_NE(Module.error().message().find("cache_c1"), std::string::npos)
      << Module.error().message();
}

TEST(BuilderTest, WalkingNamesParametersByTheCallersScope) {
  MLIRContext Context;
  ModelBuilder Model(Context, "test", uniformTypes(ElementType::F32));
  CacheType Cache = Model.cache(3, 4, ElementType::F32);
  SmallVector<func::FuncOp> Layers(
      2, layerFunction(Model, "l0", 24, {Cache, {}, {}}, smallLayer()));
  buildStep(Model, Layers, Cache, 24);
  auto Module = Model.finish();
  ASSERT_TRUE(Module) << Module.error().message();
  std::vector<std::string> Names;
  Status S = walkModel(entriesOf(**Module).front(),
                       [&](Operation *Op, const CallFrame &Frame) -> Status {
                         if (auto Parameter = dyn_cast<ParameterOp>(Op))
                           Names.push_back(Frame.nameOf(Parameter));
                         return {};
                       });
  ASSERT_TRUE(S) << S.error().message();
  ASSERT_EQ(Names.size(), 19u);
  EXPECT_EQ(Names[0], "embed.weight");
  EXPECT_EQ(Names[1], "l0.n1.weight");
  EXPECT_EQ(Names.back(), "l1.down.weight");
}

TEST(BuilderTest, RecursionIsAnErrorOfTheWalk) {
  MLIRContext Context;
  ModelBuilder Model(Context, "test", uniformTypes(ElementType::F32));
  FunctionBuilder F = FunctionBuilder::entry(Model, "encode", "hidden");
  Value Rows = F.argument(Model.rows(24));
  func::FuncOp Function = F.finish(Rows);
  OpBuilder Builder(Function.getBody().front().getTerminator());
  func::CallOp::create(Builder, Function.getLoc(), Function,
                       ValueRange{Function.getArgument(0)});
  Status S = walkModel(Function,
                       [](Operation *, const CallFrame &) { return Status(); });
  ASSERT_FALSE(S);
  EXPECT_NE(S.error().message().find("calls itself"), std::string::npos);
}

} // namespace
