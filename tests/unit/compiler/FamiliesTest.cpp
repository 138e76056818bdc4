//===- FamiliesTest.cpp - Importing model directories ---------------------===//

#include "compiler/Builder/ModelWalk.h"
#include "compiler/Estimate/Estimate.h"
#include "compiler/Families/Family.h"
#include "compiler/Families/Import.h"
#include "runtime/Support/InputFile.h"

#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

//===----------------------------------------------------------------------===//
// Model directories
//===----------------------------------------------------------------------===//

/// Type as safetensors spells it, and shape.
struct StoredTensor {
  std::string Type = "F32";
  std::vector<int64_t> Shape;
};
using Tensors = std::map<std::string, StoredTensor>;

int64_t bytesOf(const StoredTensor &Tensor) {
  int64_t Bytes = Tensor.Type == "I64" ? 8 : Tensor.Type == "F32" ? 4 : 2;
  for (int64_t Size : Tensor.Shape)
    Bytes *= Size;
  return Bytes;
}

/// A model directory that goes away with the test.
class ImportTest : public testing::Test {
protected:
  void SetUp() override {
    Directory = std::filesystem::temp_directory_path() /
                ("tenon-import-" + std::to_string(getpid()));
    std::filesystem::create_directories(Directory);
    loadModelDialects(Context);
  }
  void TearDown() override { std::filesystem::remove_all(Directory); }

  void write(const std::string &Name, const std::string &Text) {
    std::filesystem::path Path = Directory / Name;
    std::filesystem::create_directories(Path.parent_path());
    std::ofstream(Path, std::ios::binary) << Text;
  }

  void writeConfig(const Json &Settings) {
    write("config.json", Settings.dump());
  }

  /// Writes the tensors, of bytes that count up from `Seed`.
  void writeTensors(const Tensors &All) {
    Json Header = Json::object();
    int64_t End = 0;
    for (const auto &[Name, Tensor] : All) {
      int64_t Begin = End;
      End += bytesOf(Tensor);
      Header[Name] = {{"dtype", Tensor.Type},
                      {"shape", Tensor.Shape},
                      {"data_offsets", {Begin, End}}};
    }
    // Every tensor begins with the same bytes: equal sizes are equal contents.
    std::string Data;
    for (const auto &[Name, Tensor] : All)
      for (int64_t I = 0; I < bytesOf(Tensor); ++I)
        Data += static_cast<char>(I % 61);
    writeSafetensors(Header, Data);
  }

  void writeSafetensors(const Json &Header, const std::string &Data) {
    std::string Text = Header.dump();
    std::string Size(8, '\0');
    for (int I = 0; I < 8; ++I)
      Size[I] = static_cast<char>(Text.size() >> (8 * I));
    write("model.safetensors", Size + Text + Data);
  }

  /// The tensors that the config asks for, as `Type`.
  Tensors tensorsOf(const Json &Settings, const std::string &Type = "F32") {
    writeConfig(Settings);
    ImportOptions Options;
    Options.ConfigOnly = true;
    auto Model = importModel(Context, Directory, Options);
    EXPECT_TRUE(Model) << Model.error().message();
    Tensors All;
    if (!Model)
      return All;
    for (func::FuncOp Entry : entriesOf(*Model->Module))
      (void)!walkModel(Entry,
                       [&](Operation *Op, const CallFrame &Frame) -> Status {
                         if (auto P = dyn_cast<ParameterOp>(Op)) {
                           auto T = cast<RankedTensorType>(P.getType());
                           All[Frame.nameOf(P)] = {Type, T.getShape().vec()};
                         }
                         return {};
                       });
    return All;
  }

  Result<ImportedModel> import(const ImportOptions &Options = {}) {
    return importModel(Context, Directory, Options);
  }

  /// Imports and expects an error that contains all of `Parts`.
  void expectRefusal(const std::vector<std::string> &Parts,
                     const ImportOptions &Options = {}) {
    auto Model = import(Options);
    ASSERT_FALSE(Model) << "expected an error with " << Parts.front();
    std::string Message = Model.error().message();
    for (const std::string &Part : Parts)
      EXPECT_NE(Message.find(Part), std::string::npos)
          << "'" << Part << "' is not in: " << Message;
    EXPECT_EQ(Message.find('\n'), std::string::npos) << Message;
  }

  MLIRContext Context;
  std::filesystem::path Directory;
};

Json llamaConfig() {
  return {{"model_type", "llama"},
          {"vocab_size", 97},
          {"hidden_size", 72},
          {"intermediate_size", 264},
          {"num_hidden_layers", 2},
          {"num_attention_heads", 6},
          {"num_key_value_heads", 3},
          {"hidden_act", "silu"},
          {"max_position_embeddings", 128},
          {"rms_norm_eps", 1e-5}};
}

Json decoderConfig(const std::string &Family) {
  Json Settings = llamaConfig();
  Settings["model_type"] = Family;
  return Settings;
}

Json bertConfig() {
  return {{"model_type", "bert"},   {"vocab_size", 97},
          {"hidden_size", 72},      {"intermediate_size", 264},
          {"num_hidden_layers", 2}, {"num_attention_heads", 3},
          {"hidden_act", "gelu"},   {"max_position_embeddings", 64},
          {"type_vocab_size", 2}};
}

template <typename OpTy> std::vector<OpTy> opsOf(ModuleOp Module) {
  std::vector<OpTy> Ops;
  Module.walk([&](OpTy Op) { Ops.push_back(Op); });
  return Ops;
}

std::vector<std::string> functionsOf(ModuleOp Module) {
  std::vector<std::string> Names;
  for (func::FuncOp Function : opsOf<func::FuncOp>(Module))
    Names.push_back(Function.getName().str());
  return Names;
}

//===----------------------------------------------------------------------===//
// Real checkpoints
//===----------------------------------------------------------------------===//

TEST(FamiliesTest, EveryFixtureImportsWithAllOfItsTensors) {
  std::string Fixtures = TENON_TEST_DATA "/numerics/fixtures";
  auto Index = readJsonFile(Fixtures + "/index.json");
  ASSERT_TRUE(Index) << Index.error().message();
  std::set<std::string> Families;
  for (const Json &Fixture : *Index) {
    std::string Directory = Fixtures + "/" + std::string(Fixture["name"]);
    SCOPED_TRACE(Directory);
    MLIRContext Context;
    auto Model = importModel(Context, Directory);
    ASSERT_TRUE(Model) << Model.error().message();
    auto Family = (*Model->Module)->getAttrOfType<StringAttr>(attr::Family);
    EXPECT_EQ(Family.str(), std::string(Fixture["family"]));
    Families.insert(Family.str());
    // Every stored element is a parameter, or known not to be needed.
    int64_t Elements = 0;
    for (std::string_view Name : Model->Weights->names()) {
      bool IsUnused = llvm::is_contained(Model->UnneededTensors, Name);
      int64_t Matmul = 1;
      for (int64_t Size : Model->Weights->find(Name)->Shape)
        Matmul *= Size;
      Elements += IsUnused ? 0 : Matmul;
    }
    auto Estimate = estimateModel(*Model->Module);
    ASSERT_TRUE(Estimate) << Estimate.error().message();
    EXPECT_EQ(Estimate->Parameters, Elements);
  }
  for (const Family *Each : families())
    EXPECT_TRUE(Families.contains(std::string(Each->ModelType)))
        << Each->ModelType << " has no fixture";
}

//===----------------------------------------------------------------------===//
// What families build
//===----------------------------------------------------------------------===//

TEST_F(ImportTest, FunctionsDoNotGrowWithDepth) {
  for (int64_t Layers : {2, 64}) {
    Json Settings = llamaConfig();
    Settings["num_hidden_layers"] = Layers;
    writeConfig(Settings);
    auto Model = import({.ConfigOnly = true});
    ASSERT_TRUE(Model) << Model.error().message();
    EXPECT_EQ(functionsOf(*Model->Module),
              (std::vector<std::string>{"embed", "layer", "head", "step"}));
    EXPECT_EQ(opsOf<func::CallOp>(*Model->Module).size(), Layers + 2u);
    EXPECT_EQ(opsOf<ParameterOp>(*Model->Module).size(), 12u);
  }
}

TEST_F(ImportTest, LlamaSwitchesItsBiasesByTheConfig) {
  for (bool Attention : {false, true})
    for (bool FeedForward : {false, true}) {
      Json Settings = llamaConfig();
      Settings["attention_bias"] = Attention;
      Settings["mlp_bias"] = FeedForward;
      writeConfig(Settings);
      auto Model = import({.ConfigOnly = true});
      ASSERT_TRUE(Model) << Model.error().message();
      for (LinearOp Linear : opsOf<LinearOp>(*Model->Module))
        EXPECT_EQ(static_cast<bool>(Linear.getBias()), Attention);
      for (auto Gated : opsOf<GatedFeedForwardOp>(*Model->Module)) {
        EXPECT_EQ(static_cast<bool>(Gated.getGateBias()), FeedForward);
        EXPECT_EQ(static_cast<bool>(Gated.getUpBias()), FeedForward);
        EXPECT_EQ(static_cast<bool>(Gated.getDownBias()), FeedForward);
      }
    }
}

TEST_F(ImportTest, HeadDimMayDifferFromTheWidth) {
  Json Settings = llamaConfig();
  Settings["head_dim"] = 24;
  writeConfig(Settings);
  auto Model = import({.ConfigOnly = true});
  ASSERT_TRUE(Model) << Model.error().message();
  AttentionOp Attention = opsOf<AttentionOp>(*Model->Module).front();
  EXPECT_EQ(
      Attention.getCache().getType(),
      CacheType::get(&Context, CacheKind::Sequence, 3, 24, CacheFormat::F32));
  EXPECT_EQ(static_cast<float>(Attention.getScale().convertToDouble()),
            static_cast<float>(1 / std::sqrt(24.0)));
}

TEST_F(ImportTest, Qwen2HasBiasesBeforeTheHeadsOnly) {
  writeConfig(decoderConfig("qwen2"));
  auto Model = import({.ConfigOnly = true});
  ASSERT_TRUE(Model) << Model.error().message();
  std::vector<bool> Biases;
  for (LinearOp Linear : opsOf<LinearOp>(*Model->Module))
    Biases.push_back(static_cast<bool>(Linear.getBias()));
  EXPECT_EQ(Biases, (std::vector<bool>{true, true, true, false}));
}

TEST_F(ImportTest, Qwen3NormsItsHeads) {
  writeConfig(decoderConfig("qwen3"));
  auto Model = import({.ConfigOnly = true});
  ASSERT_TRUE(Model) << Model.error().message();
  std::vector<uint64_t> Groups;
  for (RmsNormOp Norm : opsOf<RmsNormOp>(*Model->Module))
    Groups.push_back(Norm.getGroups());
  EXPECT_EQ(Groups, (std::vector<uint64_t>{1, 6, 3, 1, 1}));
  // head_dim is 128 where the config says nothing.
  EXPECT_EQ(opsOf<AttentionOp>(*Model->Module)
                .front()
                .getCache()
                .getType()
                .getHeadDim(),
            128);
}

/// The windows of the layers in order, 0 for none.
std::vector<uint64_t> windowsOf(ModuleOp Module) {
  std::vector<uint64_t> Windows;
  EXPECT_TRUE(walkModel(entriesOf(Module).front(),
                        [&](Operation *Op, const CallFrame &) -> Status {
                          if (auto Attention = dyn_cast<AttentionOp>(Op))
                            Windows.push_back(
                                Attention.getWindow().value_or(0));
                          return {};
                        }));
  return Windows;
}

TEST_F(ImportTest, MistralWindowIsInEveryLayerOrNone) {
  for (auto [Window, Expected] : {std::pair(Json(16), 16),
                                  {Json(nullptr), 0},
                                  {Json(127), 127},
                                  {Json(128), 0}}) {
    Json Settings = decoderConfig("mistral");
    Settings["sliding_window"] = Window;
    writeConfig(Settings);
    auto Model = import({.ConfigOnly = true});
    ASSERT_TRUE(Model) << Model.error().message();
    EXPECT_EQ(windowsOf(*Model->Module), std::vector<uint64_t>(2, Expected));
  }
  // Transformers takes 4096 for an absent key.
  Json Settings = decoderConfig("mistral");
  Settings["max_position_embeddings"] = 8192;
  writeConfig(Settings);
  auto Model = import({.ConfigOnly = true});
  ASSERT_TRUE(Model) << Model.error().message();
  EXPECT_EQ(windowsOf(*Model->Module), (std::vector<uint64_t>{4096, 4096}));
}

TEST_F(ImportTest, QwenWindowsGoByLayer) {
  Json Settings = decoderConfig("qwen2");
  Settings["num_hidden_layers"] = 3;
  Settings["sliding_window"] = 16;
  Settings["max_window_layers"] = 1;
  auto Windows = [&]() {
    writeConfig(Settings);
    auto Model = import({.ConfigOnly = true});
    EXPECT_TRUE(Model) << Model.error().message();
    return Model ? windowsOf(*Model->Module) : std::vector<uint64_t>();
  };
  EXPECT_EQ(Windows(), (std::vector<uint64_t>{0, 0, 0}));
  Settings["use_sliding_window"] = true;
  EXPECT_EQ(Windows(), (std::vector<uint64_t>{0, 16, 16}));
  Settings["layer_types"] = {"sliding_attention", "full_attention",
                             "sliding_attention"};
  EXPECT_EQ(Windows(), (std::vector<uint64_t>{16, 0, 16}));
  writeConfig(Settings);
  auto Model = import({.ConfigOnly = true});
  ASSERT_TRUE(Model) << Model.error().message();
  EXPECT_EQ(functionsOf(*Model->Module),
            (std::vector<std::string>{"embed", "layer_window", "layer", "head",
                                      "step"}));
}

TEST_F(ImportTest, BothSpellingsOfRotationsAreTheSame) {
  auto RopeOf = [&](const std::function<void(Json &)> &Change) {
    Json Settings = llamaConfig();
    Change(Settings);
    writeConfig(Settings);
    auto Model = import({.ConfigOnly = true});
    EXPECT_TRUE(Model) << Model.error().message();
    return Model ? opsOf<RopeOp>(*Model->Module).front().getRope() : RopeAttr();
  };
  Json Llama3 = {{"rope_type", "llama3"},
                 {"factor", 8.0},
                 {"low_freq_factor", 1.0},
                 {"high_freq_factor", 4.0},
                 {"original_max_position_embeddings", 64}};
  auto Expected = RopeAttr::get(&Context, RopeStyle::Half, 12, 5e5,
                                RopeScaling::Llama3, {8.0, 1.0, 4.0, 64.0});
  EXPECT_EQ(RopeOf([&](Json &S) {
              S["rope_parameters"] = Llama3;
              S["rope_parameters"]["rope_theta"] = 5e5;
            }),
            Expected);
  EXPECT_EQ(RopeOf([&](Json &S) {
              S["rope_scaling"] = Llama3;
              S["rope_theta"] = 500000;
            }),
            Expected);
  auto Linear = RopeAttr::get(&Context, RopeStyle::Half, 12, 1e4,
                              RopeScaling::Linear, {2.0});
  EXPECT_EQ(RopeOf([&](Json &S) {
              S["rope_scaling"] = {{"type", "linear"}, {"factor", 2.0}};
            }),
            Linear);
  auto Default = RopeAttr::get(&Context, RopeStyle::Half, 12, 1e4,
                               RopeScaling::Default, {});
  EXPECT_EQ(RopeOf([](Json &) {}), Default);
  EXPECT_EQ(RopeOf([](Json &S) { S["rope_scaling"] = nullptr; }), Default);
}

TEST_F(ImportTest, ActivationsByTheirNames) {
  for (auto [Name, Expected] :
       {std::pair("gelu", transformer::Activation::Gelu),
        {"gelu_new", transformer::Activation::GeluTanh},
        {"gelu_pytorch_tanh", transformer::Activation::GeluTanh},
        {"relu", transformer::Activation::Relu},
        {"silu", transformer::Activation::Silu},
        {"swish", transformer::Activation::Silu}}) {
    Json Settings = bertConfig();
    Settings["hidden_act"] = Name;
    writeConfig(Settings);
    auto Model = import({.ConfigOnly = true});
    ASSERT_TRUE(Model) << Model.error().message();
    EXPECT_EQ(opsOf<FeedForwardOp>(*Model->Module).front().getActivation(),
              Expected);
  }
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

TEST_F(ImportTest, StoredTypesDecideHowMatricesAreKept) {
  struct Case {
    const char *Stored;
    std::optional<ElementType> Asked;
    const char *Kept;
  };
  for (const Case &C :
       {Case{"F32", std::nullopt, "f32"}, Case{"BF16", std::nullopt, "bf16"},
        Case{"F16", std::nullopt, "f32"},
        Case{"F32", ElementType::BF16, "bf16"},
        Case{"BF16", ElementType::F32, "f32"}}) {
    writeTensors(tensorsOf(llamaConfig(), C.Stored));
    auto Model = import({.MatrixType = C.Asked});
    ASSERT_TRUE(Model) << Model.error().message();
    EXPECT_EQ(Model->StoredType, C.Kept) << C.Stored;
    bool IsBf16 = StringRef(C.Kept) == "bf16";
    for (ParameterOp Parameter : opsOf<ParameterOp>(*Model->Module)) {
      auto Type = cast<RankedTensorType>(Parameter.getType());
      EXPECT_EQ(Type.getElementType().isBF16(), IsBf16 && Type.getRank() == 2);
    }
    EXPECT_EQ(opsOf<CacheAppendOp>(*Model->Module)
                      .front()
                      .getCache()
                      .getType()
                      .getFormat() == CacheFormat::BF16,
              IsBf16);
  }
}

TEST_F(ImportTest, ALayerOfAnotherStorageTypeGetsItsOwnFunction) {
  Tensors All = tensorsOf(llamaConfig(), "BF16");
  All["model.layers.1.mlp.down_proj.weight"].Type = "F32";
  writeTensors(All);
  auto Model = import();
  ASSERT_TRUE(Model) << Model.error().message();
  EXPECT_EQ(
      functionsOf(*Model->Module),
      (std::vector<std::string>{"embed", "layer", "layer_1", "head", "step"}));
}

TEST_F(ImportTest, F16IsNoTypeToKeepWeightsIn) {
  writeTensors(tensorsOf(llamaConfig()));
  expectRefusal({"f16", "expected f32 or bf16"},
                {.MatrixType = ElementType::F16});
}

TEST_F(ImportTest, TheSequenceCanBeShortenedNotLengthened) {
  writeConfig(llamaConfig());
  auto Model = import({.MaxSequence = 100, .ConfigOnly = true});
  ASSERT_TRUE(Model) << Model.error().message();
  EXPECT_EQ(
      (*Model->Module)->getAttrOfType<IntegerAttr>(attr::MaxSequence).getInt(),
      100);
  for (int64_t Tokens : {int64_t(0), int64_t(129)})
    expectRefusal({std::to_string(Tokens), "max_position_embeddings 128"},
                  {.MaxSequence = Tokens, .ConfigOnly = true});
}

TEST_F(ImportTest, ScaledRotationsReachFurther) {
  const std::pair<Json, int64_t> Reaches[] = {
      {{{"type", "linear"}, {"factor", 2.5}}, 320},
      {{{"type", "yarn"},
        {"factor", 4},
        {"original_max_position_embeddings", 96}},
       384},
      // What the config says anyway.
      {{{"type", "yarn"},
        {"factor", 4},
        {"original_max_position_embeddings", 32}},
       128},
      {{{"type", "dynamic"}, {"factor", 4}}, 128}};
  for (const auto &[Scaling, Reach] : Reaches) {
    SCOPED_TRACE(Scaling.dump());
    Json Settings = llamaConfig();
    Settings["rope_scaling"] = Scaling;
    writeConfig(Settings);
    for (auto [Asked, Length] :
         {std::pair(std::optional<int64_t>(), int64_t(128)), {Reach, Reach}}) {
      auto Model = import({.MaxSequence = Asked, .ConfigOnly = true});
      ASSERT_TRUE(Model) << Model.error().message();
      EXPECT_EQ((*Model->Module)
                    ->getAttrOfType<IntegerAttr>(attr::MaxSequence)
                    .getInt(),
                Length);
    }
    expectRefusal({"128", std::to_string(Reach)},
                  {.MaxSequence = Reach + 1, .ConfigOnly = true});
  }
}

//===----------------------------------------------------------------------===//
// Refused configs
//===----------------------------------------------------------------------===//

struct RefusedSetting {
  const char *Family;
  const char *Key;
  Json Value;
  /// Parts of the error besides the key.
  std::vector<std::string> Parts;
};

TEST_F(ImportTest, RefusesWhatItCannotDo) {
  const RefusedSetting Cases[] = {
      {"llama",
       "model_type",
       "gpt5",
       {"'gpt5'", "one of bart, bert, bloom, cohere, ", ", xlm-roberta"}},
      {"llama", "model_type", 3, {"string"}},
      {"llama", "hidden_size", 0, {"0"}},
      {"llama", "hidden_size", -72, {"-72"}},
      {"llama", "hidden_size", int64_t(1) << 40, {"1048576"}},
      {"llama", "hidden_size", "72", {"'72'"}},
      {"llama", "hidden_size", 71, {"multiple of the 6 attention heads"}},
      {"llama", "hidden_size", 78, {"even number of elements per head"}},
      {"llama", "num_hidden_layers", 0, {"0"}},
      {"llama", "num_hidden_layers", 4097, {"4096"}},
      {"llama", "vocab_size", 5000000, {"4194304"}},
      {"llama", "max_position_embeddings", 20000000, {"16777216"}},
      {"llama", "intermediate_size", 0, {"0"}},
      {"llama", "num_attention_heads", 0, {"0"}},
      {"llama", "num_key_value_heads", 4, {"4", "divisor", "6"}},
      {"llama", "num_key_value_heads", 12, {"12"}},
      {"llama", "head_dim", 23, {"23", "even"}},
      {"llama", "head_dim", 0, {"0"}},
      {"llama", "hidden_act", "mish", {"'mish'", "silu"}},
      {"llama", "rms_norm_eps", -1.0, {"-1"}},
      {"llama", "attention_bias", "yes", {"'yes'"}},
      {"llama", "logit_scale", 2.0, {"2.0", "llama"}},
      {"llama", "sliding_window", 16, {"16", "llama"}},
      {"llama", "rope_theta", 0, {"0"}},
      {"llama",
       "rope_scaling",
       {{"type", "cubic"}, {"factor", 2}},
       {"type", "'cubic'",
        "default, linear, dynamic, llama3, yarn, longrope, su"}},
      {"llama",
       "rope_scaling",
       {{"factor", 2.0}},
       {"missing field 'rope_scaling.rope_type'", "one of default"}},
      {"llama", "rope_scaling", {{"type", "linear"}}, {"factor"}},
      {"llama",
       "rope_scaling",
       {{"type", "linear"}, {"factor", 0}},
       {"factor"}},
      {"llama",
       "rope_scaling",
       {{"type", "linear"}, {"rope_type", "llama3"}, {"factor", 2}},
       {"type", "the same as rope_type"}},
      {"llama",
       "rope_scaling",
       {{"type", "linear"}, {"factor", 2}, {"attention_factor", 3}},
       {"attention_factor", "3"}},
      {"llama",
       "rope_parameters",
       {{"rope_type", "llama3"},
        {"factor", 8},
        {"low_freq_factor", 4},
        {"high_freq_factor", 4},
        {"original_max_position_embeddings", 64}},
       {"high_freq_factor", "more than low_freq_factor"}},
      {"llama",
       "rope_parameters",
       {{"rope_type", "default"}, {"partial_rotary_factor", 0.5}},
       {"partial_rotary_factor", "0.5"}},
      {"llama",
       "rope_parameters",
       {{"full_attention", {{"factor", 8}}}},
       {"full_attention"}},
      {"mistral", "sliding_window", -1, {"-1"}},
      {"mistral",
       "layer_types",
       {"full_attention", "full_attention"},
       {"mistral"}},
      {"qwen2", "layer_types", {"full_attention"}, {"2 entries"}},
      {"qwen2",
       "layer_types",
       {"full_attention", "linear_attention"},
       {"layer_types[1]", "'linear_attention'"}},
      {"qwen2",
       "layer_types",
       {"full_attention", "sliding_attention"},
       {"full_attention without a sliding window"}},
      {"qwen3", "max_window_layers", -1, {"-1"}},
      {"bert", "is_decoder", true, {"true", "false"}},
      {"bert", "add_cross_attention", true, {"true"}},
      {"bert",
       "position_embedding_type",
       "relative_key",
       {"'relative_key'", "absolute"}},
      {"bert", "hidden_size", 71, {"71", "multiple"}},
      {"bert", "type_vocab_size", 0, {"0"}},
      {"bert", "layer_norm_eps", 1.0, {"1"}},
      {"bert", "rope_theta", 10000.0, {"bert"}},
  };
  for (const RefusedSetting &Case : Cases) {
    SCOPED_TRACE(std::string(Case.Family) + " " + Case.Key + " " +
                 Case.Value.dump());
    Json Settings = std::string_view(Case.Family) == "bert"
                        ? bertConfig()
                        : decoderConfig(Case.Family);
    Settings[Case.Key] = Case.Value;
    writeConfig(Settings);
    std::vector<std::string> Parts = Case.Parts;
    Parts.push_back("config.json");
    Parts.push_back(Case.Key);
    expectRefusal(Parts, {.ConfigOnly = true});
  }
}

TEST_F(ImportTest, KeysThatAreReadCannotBeIgnored) {
  Json Settings = llamaConfig();
  Settings["pretraining_tp"] = 2;
  Settings["hidden_act"] = "mish";
  writeConfig(Settings);
  for (const char *Key : {"hidden_act", "absent"})
    expectRefusal({"'hidden_act' is 'mish'",
                   std::string("--ignore-config-key ") + Key +
                       " is for a key of this file that the family llama does "
                       "not read"},
                  {.ConfigOnly = true, .IgnoredKeys = {Key}});
  auto Model = import({.ConfigOnly = true, .IgnoredKeys = {"pretraining_tp"}});
  ASSERT_FALSE(Model);
  EXPECT_EQ(Model.error().message().find("--ignore"), std::string::npos)
      << Model.error().message();
}

TEST_F(ImportTest, LeavesOutWhatTransformersDoes) {
  Json Settings = decoderConfig("qwen3");
  Settings["pretraining_tp"] = 2;
  Settings["rope_scaling"] = {{"rope_type", "yarn"},
                              {"factor", 4},
                              {"original_max_position_embeddings", 32},
                              {"finetuned", true},
                              {"attn_factor", 0.878}};
  Settings["dual_chunk_attention_config"] = {{"chunk_size", 100},
                                             {"local_size", 8}};
  writeConfig(Settings);
  auto Model = import({.ConfigOnly = true});
  ASSERT_TRUE(Model) << Model.error().message();
  ASSERT_EQ(Model->Notes.size(), 2u);
  EXPECT_NE(
      Model->Notes[0].find("field 'rope_scaling.attn_factor' is left out"),
      std::string::npos)
      << Model->Notes[0];
  EXPECT_NE(Model->Notes[1].find("beyond 100 tokens"), std::string::npos)
      << Model->Notes[1];
  Model = import({.MaxSequence = 100, .ConfigOnly = true});
  ASSERT_TRUE(Model) << Model.error().message();
  EXPECT_EQ(Model->Notes.size(), 1u);
}

TEST_F(ImportTest, RefusesContradictingRotations) {
  Json Settings = llamaConfig();
  Settings["rope_parameters"] = {{"rope_theta", 1e4}};
  Settings["rope_scaling"] = {{"type", "linear"}, {"factor", 2}};
  writeConfig(Settings);
  expectRefusal({"rope_scaling", "rope_parameters"}, {.ConfigOnly = true});
  Settings.erase("rope_scaling");
  Settings["rope_theta"] = 2e4;
  writeConfig(Settings);
  expectRefusal({"rope_theta", "20000"}, {.ConfigOnly = true});
}

TEST_F(ImportTest, RefusesHeadsThatAreTooWideTogether) {
  Json Settings = llamaConfig();
  Settings["head_dim"] = 1 << 20;
  writeConfig(Settings);
  expectRefusal({"head_dim", "1048576"}, {.ConfigOnly = true});
}

TEST_F(ImportTest, RefusesAConfigWithoutTypeOrSizes) {
  for (const char *Key :
       {"model_type", "hidden_size", "vocab_size", "num_hidden_layers",
        "num_attention_heads", "intermediate_size", "hidden_act",
        "max_position_embeddings"}) {
    Json Settings = llamaConfig();
    Settings.erase(Key);
    writeConfig(Settings);
    expectRefusal({Key, "missing"}, {.ConfigOnly = true});
  }
}

TEST_F(ImportTest, RefusesAnUnknownDtypeOfABareConfig) {
  Json Settings = llamaConfig();
  Settings["torch_dtype"] = "float8_e4m3fn";
  writeConfig(Settings);
  expectRefusal({"torch_dtype", "float8_e4m3fn", "bfloat16"},
                {.ConfigOnly = true});
}

//===----------------------------------------------------------------------===//
// Refused tensors
//===----------------------------------------------------------------------===//

TEST_F(ImportTest, RefusesAMissingTensor) {
  Tensors All = tensorsOf(llamaConfig());
  All.erase("model.layers.1.mlp.up_proj.weight");
  writeTensors(All);
  expectRefusal({"model.safetensors", "model.layers.1.mlp.up_proj.weight"});
}

TEST_F(ImportTest, RefusesAMissingHead) {
  Json Settings = llamaConfig();
  Tensors All = tensorsOf(Settings);
  All.erase("lm_head.weight");
  writeTensors(All);
  const std::string Expected =
      "expected true, as the checkpoint has no tensor 'lm_head.weight'";
  Settings["tie_word_embeddings"] = false;
  writeConfig(Settings);
  expectRefusal(
      {"config.json: field 'tie_word_embeddings' is false: " + Expected});
  Settings.erase("tie_word_embeddings");
  writeConfig(Settings);
  expectRefusal(
      {"config.json: missing field 'tie_word_embeddings': " + Expected});
}

TEST_F(ImportTest, RefusesOtherHeads) {
  Json Settings = llamaConfig();
  Tensors All = tensorsOf(Settings);
  All.erase("lm_head.weight");
  writeTensors(All);
  auto Refused = [&](const std::string &Architecture) {
    Settings["architectures"] = {Architecture};
    writeConfig(Settings);
    expectRefusal({"config.json: field 'architectures' is '" + Architecture +
                   "': expected one with a language head"});
  };
  Refused("LlamaModel");
  Refused("LlamaForTokenClassification");
  Settings["tie_word_embeddings"] = true;
  Refused("LlamaForSequenceClassification");
  // A head is the embedding's table.
  Settings["architectures"] = {"LlamaModel"};
  writeConfig(Settings);
  auto Model = import();
  EXPECT_TRUE(Model) << Model.error().message();
}

TEST_F(ImportTest, RefusesAnUnknownTensor) {
  for (const char *Name :
       {"model.layers.2.mlp.up_proj.weight", "model.layers.0.mlp.up_proj.bias",
        "extra", "pooler.dense.weight"}) {
    Tensors All = tensorsOf(llamaConfig());
    All[Name] = {"F32", {4}};
    writeTensors(All);
    expectRefusal({"model.safetensors", Name, "unknown", "llama"});
  }
}

TEST_F(ImportTest, RefusesAWrongShapeOrType) {
  Tensors All = tensorsOf(llamaConfig());
  All["model.norm.weight"].Shape = {73};
  writeTensors(All);
  expectRefusal({"model.norm.weight", "[73]", "[72]"});
  All["model.norm.weight"] = {"I64", {72}};
  writeTensors(All);
  expectRefusal({"model.norm.weight", "I64"});
}

TEST_F(ImportTest, ATiedHeadMayBeStoredTwice) {
  Json Settings = llamaConfig();
  Settings["tie_word_embeddings"] = true;
  Tensors All = tensorsOf(Settings);
  EXPECT_FALSE(All.contains("lm_head.weight"));
  All["lm_head.weight"] = All["model.embed_tokens.weight"];
  writeTensors(All);
  auto Model = import();
  ASSERT_TRUE(Model) << Model.error().message();
  auto HeadKey = [&] {
    LmHeadOp Head = opsOf<LmHeadOp>(*Model->Module).front();
    return Head.getWeight().getDefiningOp<ParameterOp>().getKey();
  };
  EXPECT_EQ(HeadKey(), "model.embed_tokens.weight");
  // One that differs is in use, as in Transformers.
  All["lm_head.weight"].Type = "BF16";
  writeTensors(All);
  Model = import();
  ASSERT_TRUE(Model) << Model.error().message();
  EXPECT_EQ(HeadKey(), "lm_head.weight");
}

TEST_F(ImportTest, QuantisedConfigsAreForEstimatesOnly) {
  Json Settings = llamaConfig();
  Settings["quantization_config"] = {{"quant_method", "awq"}, {"bits", 4}};
  writeConfig(Settings);
  auto Model = import({.ConfigOnly = true});
  ASSERT_TRUE(Model) << Model.error().message();
  ASSERT_EQ(Model->Notes.size(), 1u);
  EXPECT_NE(Model->Notes[0].find("quantised (awq, 4 bits): sizes are those of "
                                 "plain weights"),
            std::string::npos)
      << Model->Notes[0];
  Settings["quantization_config"] = 4;
  writeConfig(Settings);
  expectRefusal({"'quantization_config' is 4", "an object"},
                {.ConfigOnly = true});
}

TEST_F(ImportTest, BodiesHaveShorterNames) {
  for (auto [Fixture, Scope] : {std::pair("llama-mha", "model."),
                                {"gpt_neox-parallel", "gpt_neox."},
                                {"gpt2-tied", "transformer."},
                                {"falcon-new", "transformer."},
                                {"mpt-tied", "transformer."},
                                {"phi-gqa", "model."},
                                {"starcoder2-tied", "model."},
                                {"opt-before", "model."},
                                {"bart-published", "model."}}) {
    SCOPED_TRACE(Fixture);
    std::string From =
        std::string(TENON_TEST_DATA "/numerics/fixtures/") + Fixture + "/";
    auto Settings = readJsonFile(From + "config.json");
    auto File = readFile(From + "model.safetensors", 1 << 20);
    ASSERT_TRUE(Settings && File);
    writeConfig(*Settings);
    // A header of less than 64 kB.
    size_t Bytes = static_cast<unsigned char>((*File)[0]) +
                   256 * static_cast<unsigned char>((*File)[1]);
    Json Header = Json::parse(File->substr(8, Bytes)), Bare;
    for (const auto &[Name, Tensor] : Header.items()) {
      StringRef Short = Name;
      Short.consume_front(Scope);
      Bare[Short.str()] = Tensor;
    }
    writeSafetensors(Bare, File->substr(8 + Bytes));
    auto Model = import();
    ASSERT_TRUE(Model) << Model.error().message();
  }
}

TEST_F(ImportTest, StoredFrequenciesAreNotNeeded) {
  Json Phi = decoderConfig("phi");
  Phi.erase("rms_norm_eps");
  for (const Json &Settings : {llamaConfig(), Phi}) {
    Tensors All = tensorsOf(Settings);
    All["model.layers.1.self_attn.rotary_emb.inv_freq"] = {"F32", {6}};
    writeTensors(All);
    auto Model = import();
    ASSERT_TRUE(Model) << Model.error().message();
    ASSERT_EQ(Model->Notes.size(), 1u);
    EXPECT_NE(Model->Notes[0].find("inv_freq"), std::string::npos);
  }
}

//===----------------------------------------------------------------------===//
// BERT checkpoints
//===----------------------------------------------------------------------===//

/// The tensors with "bert." before each name, and a classification head.
Tensors withHead(const Tensors &Bare) {
  Tensors All;
  for (const auto &[Name, Tensor] : Bare)
    All["bert." + Name] = Tensor;
  All["bert.pooler.dense.weight"] = {"F32", {72, 72}};
  All["bert.pooler.dense.bias"] = {"F32", {72}};
  All["classifier.weight"] = {"F32", {3, 72}};
  All["classifier.bias"] = {"F32", {3}};
  return All;
}

TEST_F(ImportTest, BertWithAndWithoutItsPrefix) {
  Tensors Bare = tensorsOf(bertConfig());
  for (const Tensors &All : {Bare, withHead(Bare)}) {
    writeTensors(All);
    auto Model = import();
    ASSERT_TRUE(Model) << Model.error().message();
    EXPECT_EQ(functionsOf(*Model->Module),
              (std::vector<std::string>{"embed", "layer", "answer", "encode"}));
    EXPECT_EQ(Model->UnneededTensors.size(), All.size() - Bare.size());
    // One note for all of them.
    EXPECT_EQ(Model->Notes.size(), All.size() == Bare.size() ? 0u : 1u);
    if (!Model->Notes.empty()) {
      EXPECT_NE(Model->Notes[0].find("'bert.pooler.dense.bias', "
                                     "'bert.pooler.dense.weight', "
                                     "'classifier.bias' and 1 more are not "
                                     "needed"),
                std::string::npos)
          << Model->Notes[0];
    }
  }
  Bare["extra.weight"] = {"F32", {3, 72}};
  writeTensors(Bare);
  expectRefusal({"extra.weight", "unknown"});
}

TEST_F(ImportTest, BertAnswersAsItsCheckpointCan) {
  Tensors Bare = tensorsOf(bertConfig());
  Json Settings = bertConfig();
  Settings["architectures"] = {"BertForSequenceClassification"};
  Settings["num_labels"] = 3;
  writeConfig(Settings);
  auto OutputOf = [](ImportedModel &Model) {
    return entriesOf(*Model.Module)
        .front()
        ->getAttrOfType<StringAttr>(attr::Output)
        .str();
  };
  writeTensors(withHead(Bare));
  auto Model = import();
  ASSERT_TRUE(Model) << Model.error().message();
  EXPECT_EQ(OutputOf(*Model), "classes");
  EXPECT_TRUE(Model->Notes.empty());
  writeTensors(Bare);
  Model = import();
  ASSERT_TRUE(Model) << Model.error().message();
  EXPECT_EQ(OutputOf(*Model), "hidden");
  ASSERT_EQ(Model->Notes.size(), 1u);
  EXPECT_NE(Model->Notes[0].find("config.json: names "
                                 "'BertForSequenceClassification', of which "
                                 "the checkpoint has no head"),
            std::string::npos)
      << Model->Notes[0];
  // Another number of labels than the head has.
  Settings["num_labels"] = 4;
  writeConfig(Settings);
  writeTensors(withHead(Bare));
  expectRefusal({"classifier.weight", "[3, 72]", "[4, 72]"});
}

TEST_F(ImportTest, SequencesOfRobertaEndWhereItsPositionsDo) {
  Json Settings = bertConfig();
  Settings["model_type"] = "roberta";
  writeConfig(Settings);
  auto Model = import({.MaxSequence = 62, .ConfigOnly = true});
  ASSERT_TRUE(Model) << Model.error().message();
  expectRefusal({"a sequence length of 63", "1 to 62"},
                {.MaxSequence = 63, .ConfigOnly = true});
}

TEST_F(ImportTest, OldNamesOfBertNorms) {
  Tensors All;
  for (auto &[Name, Tensor] : tensorsOf(bertConfig())) {
    std::string Old = Name;
    if (size_t At = Old.find("LayerNorm."); At != std::string::npos)
      Old = Old.substr(0, At + 10) +
            (StringRef(Old).ends_with("weight") ? "gamma" : "beta");
    All[Old] = Tensor;
  }
  writeTensors(All);
  auto Model = import();
  ASSERT_TRUE(Model) << Model.error().message();
}

TEST_F(ImportTest, SmallTablesOfBertAreWidened) {
  writeTensors(tensorsOf(bertConfig(), "BF16"));
  auto Model = import();
  ASSERT_TRUE(Model) << Model.error().message();
  for (EmbeddingOp Embedding : opsOf<EmbeddingOp>(*Model->Module))
    EXPECT_EQ(cast<RankedTensorType>(Embedding.getTable().getType())
                  .getElementType()
                  .isBF16(),
              Embedding.getIndex() == IndexKind::Token);
}

//===----------------------------------------------------------------------===//
// Sentence-transformers
//===----------------------------------------------------------------------===//

class SentenceTest : public ImportTest {
protected:
  void SetUp() override {
    ImportTest::SetUp();
    writeTensors(tensorsOf(bertConfig()));
    Modules = {{{"idx", 0},
                {"path", ""},
                {"type", "sentence_transformers.models.Transformer"}},
               {{"idx", 1},
                {"path", "1_Pooling"},
                {"type", "sentence_transformers.models.Pooling"}},
               {{"idx", 2},
                {"path", "2_Normalize"},
                {"type", "sentence_transformers.models.Normalize"}}};
    Pooling = {{"word_embedding_dimension", 72},
               {"pooling_mode_cls_token", false},
               {"pooling_mode_mean_tokens", true},
               {"pooling_mode_max_tokens", false}};
    writeAll();
  }
  void writeAll() {
    write("modules.json", Modules.dump());
    write("1_Pooling/config.json", Pooling.dump());
  }
  /// The pool op that is imported.
  PoolOp importedPool(ImportedModel &Model) {
    auto Pools = opsOf<PoolOp>(*Model.Module);
    EXPECT_EQ(Pools.size(), 1u);
    return Pools.front();
  }

  Json Modules, Pooling;
};

TEST_F(SentenceTest, AddsAnEntryThatSharesTheFunctions) {
  write("sentence_bert_config.json",
        R"({"max_seq_length": 32, "do_lower_case": false})");
  auto Model = import();
  ASSERT_TRUE(Model) << Model.error().message();
  EXPECT_EQ(functionsOf(*Model->Module),
            (std::vector<std::string>{"embeddings", "layer", "answer", "encode",
                                      "pool", "embed"}));
  EXPECT_EQ(Model->MaxTextTokens, 32);
  PoolOp Pool = importedPool(*Model);
  EXPECT_EQ(Pool.getKind(), PoolKind::Mean);
  EXPECT_TRUE(Pool.getNormalize());
}

TEST_F(SentenceTest, DecodersEmbedTooAndNeedNoHead) {
  Json Settings = decoderConfig("qwen3");
  Settings["architectures"] = {"Qwen3Model"};
  Tensors All;
  for (const auto &[Name, Tensor] : tensorsOf(Settings))
    if (StringRef(Name).consume_front("model."))
      All[Name.substr(StringRef("model.").size())] = Tensor;
  for (bool HasHead : {false, true}) {
    if (HasHead)
      All["lm_head.weight"] = {"F32", {97, 72}};
    writeTensors(All);
    auto Model = import();
    ASSERT_TRUE(Model) << Model.error().message();
    EXPECT_EQ(functionsOf(*Model->Module),
              (std::vector<std::string>{"embeddings", "layer", "answer",
                                        "encode", "pool", "embed"}));
    EXPECT_EQ(Model->UnneededTensors.size(), HasHead ? 1u : 0u);
    EXPECT_EQ(Model->MaxTextTokens, 128);
    for (AttentionOp Attention : opsOf<AttentionOp>(*Model->Module)) {
      EXPECT_EQ(Attention.getMask(), MaskKind::Causal);
      EXPECT_FALSE(Attention.getCache());
    }
    ASSERT_FALSE(Model->Notes.empty());
    EXPECT_NE(Model->Notes[0].find("modules.json: the model embeds texts"),
              std::string::npos)
        << Model->Notes[0];
  }
}

TEST_F(SentenceTest, RefusesOtherKindsOfModels) {
  writeConfig({{"model_type", "t5"},
               {"vocab_size", 97},
               {"d_model", 72},
               {"d_kv", 12},
               {"d_ff", 264},
               {"num_layers", 2},
               {"num_heads", 6}});
  expectRefusal({"modules.json", "t5", "expected an encoder, or a decoder"},
                {.ConfigOnly = true});
}

TEST_F(SentenceTest, TextsAreNeverLongerThanTheModel) {
  auto Model = import();
  ASSERT_TRUE(Model) << Model.error().message();
  EXPECT_EQ(Model->MaxTextTokens, 64);
  write("sentence_bert_config.json", R"({"max_seq_length": 512})");
  Model = import({.MaxSequence = 20});
  ASSERT_TRUE(Model) << Model.error().message();
  EXPECT_EQ(Model->MaxTextTokens, 20);
}

TEST_F(SentenceTest, OldAndNewPoolingModes) {
  Modules.erase(2);
  for (auto [Old, New, Kind] :
       {std::tuple("pooling_mode_cls_token", "cls", PoolKind::Cls),
        {"pooling_mode_mean_tokens", "mean", PoolKind::Mean},
        {"pooling_mode_lasttoken", "lasttoken", PoolKind::Last}}) {
    for (bool IsNew : {false, true}) {
      if (IsNew)
        Pooling = {{"embedding_dimension", 72}, {"pooling_mode", New}};
      else
        Pooling = {{"word_embedding_dimension", 72}, {Old, true}};
      writeAll();
      auto Model = import();
      ASSERT_TRUE(Model) << Model.error().message();
      PoolOp Pool = importedPool(*Model);
      EXPECT_EQ(Pool.getKind(), Kind);
      EXPECT_FALSE(Pool.getNormalize());
    }
  }
}

TEST_F(SentenceTest, RefusesOtherPoolings) {
  auto Refused = [&](const Json &Settings,
                     const std::vector<std::string> &Parts) {
    Pooling = Settings;
    writeAll();
    expectRefusal(Parts);
  };
  Refused({{"pooling_mode_max_tokens", true}},
          {"1_Pooling/config.json", "pooling_mode_max_tokens", "mean"});
  Refused(
      {{"pooling_mode_mean_tokens", true}, {"pooling_mode_cls_token", true}},
      {"pooling_mode_mean_tokens", "only pooling"});
  Refused({{"pooling_mode", "weightedmean"}}, {"pooling_mode", "weightedmean"});
  Refused({{"pooling_mode", "median"}}, {"pooling_mode", "median"});
  Refused({{"word_embedding_dimension", 73}}, {"73", "72"});
  Refused({{"pooling_of_the_future", 1}}, {"pooling_of_the_future"});
}

TEST_F(SentenceTest, RefusesOtherModules) {
  Json Good = Modules;
  auto Refused = [&](const std::vector<std::string> &Parts) {
    writeAll();
    expectRefusal(Parts);
    Modules = Good;
  };
  Modules[2]["type"] = "sentence_transformers.models.Dense";
  Refused({"modules.json", "models.Dense", "Normalize"});
  Modules[1]["path"] = "../secret";
  Refused({"../secret", "name of a folder"});
  Modules[0]["path"] = "0_Transformer";
  Refused({"0_Transformer", "directory itself"});
  Modules.erase(2);
  Modules.erase(1);
  Refused({"1 modules"});
}

TEST_F(SentenceTest, RefusesLoweringAndPrompts) {
  write("sentence_bert_config.json", R"({"do_lower_case": true})");
  expectRefusal({"sentence_bert_config.json", "do_lower_case", "true"});
  write("sentence_bert_config.json", "{}");
  write("config_sentence_transformers.json",
        R"({"prompts": {"query": "q: "}, "default_prompt_name": "query"})");
  expectRefusal({"default_prompt_name", "'query'"});
}

//===----------------------------------------------------------------------===//
// Generation
//===----------------------------------------------------------------------===//

TEST_F(ImportTest, ReadsGenerationDefaults) {
  Json Settings = llamaConfig();
  Settings["eos_token_id"] = 2;
  writeTensors(tensorsOf(Settings));
  auto Model = import();
  ASSERT_TRUE(Model) << Model.error().message();
  EXPECT_EQ(Model->Generation.EndOfSequence, std::vector<int32_t>{2});
  EXPECT_TRUE(Model->TokenizerPath.empty());

  write("tokenizer.json", "{}");
  write("generation_config.json",
        R"({"eos_token_id": [5, 96, 97], "do_sample": true, "top_k": 20,
            "temperature": 0.6, "top_p": 0.9, "bos_token_id": 1,
            "repetition_penalty": 1.05, "length_penalty": 1.0,
            "diversity_penalty": 0.5})");
  Model = import();
  ASSERT_TRUE(Model) << Model.error().message();
  EXPECT_EQ(Model->Generation.EndOfSequence, (std::vector<int32_t>{5, 96}));
  EXPECT_TRUE(Model->Generation.Sample);
  EXPECT_EQ(Model->Generation.TopK, 20);
  EXPECT_EQ(Model->Generation.Temperature, 0.6);
  EXPECT_EQ(Model->Generation.TopP, 0.9);
  EXPECT_EQ(Model->TokenizerPath, Directory.string() + "/tokenizer.json");
  EXPECT_EQ(Model->Generation.RepetitionPenalty, 1.05);
  // What is left out is said: an id that no token has, and a penalty.
  ASSERT_EQ(Model->Notes.size(), 2u);
  EXPECT_NE(Model->Notes[0].find("97"), std::string::npos);
  EXPECT_NE(Model->Notes[1].find("diversity_penalty"), std::string::npos);
}

TEST_F(ImportTest, RefusesWrongGenerationDefaults) {
  writeTensors(tensorsOf(llamaConfig()));
  for (auto [Text, Key] : {std::pair(R"({"eos_token_id": -1})", "eos_token_id"),
                           {R"({"eos_token_id": "end"})", "eos_token_id"},
                           {R"({"temperature": -0.5})", "temperature"},
                           {R"({"top_k": 1.5})", "top_k"},
                           {R"({"top_p": 2})", "top_p"},
                           {R"({"do_sample": 1})", "do_sample"}}) {
    write("generation_config.json", Text);
    expectRefusal({"generation_config.json", Key});
  }
}

//===----------------------------------------------------------------------===//
// Files in the dialect
//===----------------------------------------------------------------------===//

class ImportMlirTest : public ImportTest {
protected:
  void expectMlirRefusal(const std::string &Text,
                         const std::vector<std::string> &Parts) {
    write("model.mlir", Text);
    auto Model = importMlir(Context, Directory / "model.mlir");
    ASSERT_FALSE(Model);
    for (const std::string &Part : Parts)
      EXPECT_NE(Model.error().message().find(Part), std::string::npos)
          << Model.error().message();
  }
  /// The imported module of `Settings` as text.
  std::string textOf(const Json &Settings) {
    writeConfig(Settings);
    auto Model = import({.ConfigOnly = true});
    EXPECT_TRUE(Model);
    std::string Text;
    llvm::raw_string_ostream Stream(Text);
    Model->Module->print(Stream);
    return Text;
  }
};

TEST_F(ImportMlirTest, PrintingAndParsingIsTheSameModel) {
  std::string Text = textOf(llamaConfig());
  writeTensors(tensorsOf(llamaConfig()));
  write("model.mlir", Text);
  auto Model = importMlir(Context, Directory / "model.mlir", Directory);
  ASSERT_TRUE(Model) << Model.error().message();
  EXPECT_TRUE(Model->Weights.has_value());
  EXPECT_EQ(Model->StoredType, "f32");
  std::string Again;
  llvm::raw_string_ostream Stream(Again);
  Model->Module->print(Stream);
  EXPECT_EQ(Again, Text);
}

TEST_F(ImportMlirTest, RefusesWhatIsNoModel) {
  expectMlirRefusal("module {", {"model.mlir:1:"});
  // What a terminal would take for a command is shown as a number.
  expectMlirRefusal("module attributes {a = #b.c<\xd4\x1b>} {}",
                    {"model.mlir:1:", "<\\xd4\\x1b>"});
  expectMlirRefusal("module { func.func private @f() }",
                    {"model.mlir", "module_c1", "transformer.vocabulary"});
  expectMlirRefusal(R"(module attributes {transformer.vocabulary = 5 : i64,
                                          transformer.max_sequence = 5 : i64} {
    })",
                    {"model.mlir", "module_c6", "transformer.role"});
  auto Model = importMlir(Context, Directory / "absent.mlir");
  ASSERT_FALSE(Model);
  EXPECT_NE(Model.error().message().find("absent.mlir"), std::string::npos);
}

TEST_F(ImportMlirTest, RefusesWeightsThatDoNotFit) {
  write("model.mlir", textOf(llamaConfig()));
  Tensors All = tensorsOf(llamaConfig());
  All["model.norm.weight"].Shape = {73};
  writeTensors(All);
  auto Model = importMlir(Context, Directory / "model.mlir", Directory);
  ASSERT_FALSE(Model);
  EXPECT_NE(Model.error().message().find("model.norm.weight"),
            std::string::npos);
}

} // namespace
