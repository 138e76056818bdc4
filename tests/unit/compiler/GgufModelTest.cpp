//===- GgufModelTest.cpp - GGUF files as checkpoints ----------------------===//
//
// Against tests/gguf/fixtures, whose index says what Transformers' own form of
// each file's weights is.
//
//===----------------------------------------------------------------------===//

#include "compiler/Checkpoint/GgufModel.h"
#include "compiler/Checkpoint/TensorView.h"
#include "compiler/Families/Family.h"
#include "tests/unit/GgufFixture.h"

#include <cmath>
#include <set>

using namespace tenon;

namespace {

std::string fixture(const std::string &Name) {
  return std::string(TENON_TEST_DATA) + "/gguf/fixtures/" + Name;
}

Result<GgufModel> openModel(const std::string &Path) {
  return openGgufModel(Path, ggufArchitectures());
}

/// As signature() of tests/gguf/generate.py.
double signatureOf(const std::vector<float> &Values) {
  double Sum = 0;
  for (size_t I = 0; I < Values.size(); ++I)
    Sum += double(Values[I]) *
           (double(uint32_t(I * 2654435761u)) / 4294967296.0 - 0.5);
  return Sum;
}

class GgufModelTest : public TemporaryFiles {
protected:
  /// The smallest model like LLaMA: one layer, a head of two elements.
  static GgufBytes model(const std::string &Architecture) {
    GgufBytes B;
    B.text("general.architecture", Architecture)
        .size(Architecture + ".block_count", 1)
        .size(Architecture + ".context_length", 8)
        .size(Architecture + ".embedding_length", 4)
        .size(Architecture + ".feed_forward_length", 4)
        .size(Architecture + ".attention.head_count", 2)
        .real(Architecture + ".attention.layer_norm_rms_epsilon", 1e-5f);
    B.zeros("token_embd.weight", {4, 3});
    for (const char *Name : {"attn_q", "attn_k", "attn_v", "attn_output",
                             "ffn_gate", "ffn_up", "ffn_down"})
      B.zeros(std::string("blk.0.") + Name + ".weight", {4, 4});
    return B;
  }
  static GgufBytes llama() { return model("llama"); }

  Result<GgufModel> open(const GgufBytes &B) const {
    return openModel(write("m.gguf", B.file()));
  }
  void expectError(const GgufBytes &B, const std::string &Text) const {
    EXPECT_ERROR(open(B), pathOf("m.gguf") + ": ", Text);
  }
};

TEST_F(GgufModelTest, EveryFixtureHasTheCheckpointsTensors) {
  auto Index = readJsonFile(fixture("index.json"));
  ASSERT_TRUE(Index) << Index.error().message();
  ASSERT_GE(Index->size(), 29u);
  for (const Json &Entry : *Index) {
    auto Name = Entry["name"].get<std::string>();
    SCOPED_TRACE(Name);
    auto Model = openModel(fixture(Name + ".gguf"));
    ASSERT_TRUE(Model) << Model.error().message();
    const Checkpoint &Weights = Model->Weights;
    EXPECT_TRUE(Model->Notes.empty());
    EXPECT_EQ(*Model->Settings.string("model_type"),
              Entry["model_type"].get<std::string>());
    for (const auto &[Tensor, Expected] : Entry["tensors"].items()) {
      auto Shape = Expected[0].get<std::vector<int64_t>>();
      auto Found = Weights.require(Tensor, Shape);
      ASSERT_TRUE(Found) << Found.error().message();
      int64_t Elements = (*Found)->elements();
      std::vector<float> Values(static_cast<size_t>(Elements));
      auto View = TensorView::resolve(Weights, Tensor, Shape);
      ASSERT_TRUE(View) << View.error().message();
      Status Read = View->readRowsAsFloat(0, View->rows(), Values.data());
      ASSERT_TRUE(Read) << Read.error().message();
      double Signature = Expected[1].get<double>();
      EXPECT_NEAR(signatureOf(Values), Signature,
                  1e-9 * std::sqrt(double(Elements)) + 1e-12)
          << Tensor;
      // Row by row, and in ranges that cut rows, it is the same.
      std::vector<float> Again(Values.size());
      for (int64_t Row = 0; Row < View->rows(); ++Row)
        ASSERT_TRUE(View->readRowsAsFloat(
            Row, 1, Again.data() + Row * View->columns()));
      EXPECT_EQ(Again, Values) << Tensor;
      if ((*Found)->ColumnsFirst)
        continue;
      int64_t Step = Elements / 3 + 1;
      for (int64_t At = 0; At < Elements; At += Step)
        ASSERT_TRUE(Weights.readElementsAsFloat(
            **Found, At, std::min(Step, Elements - At), Again.data() + At));
      EXPECT_EQ(Again, Values) << Tensor;
      Weights.drop(**Found);
      ASSERT_TRUE(Weights.readRowsAsFloat(**Found, 0, Shape[0], Again.data()));
      EXPECT_EQ(Again, Values) << Tensor << " after drop";
    }
    EXPECT_EQ(Weights.names().size(), Entry["tensors"].size());
  }
}

TEST_F(GgufModelTest, EveryFixtureIsOfOneModelType) {
  auto Index = readJsonFile(fixture("index.json"));
  ASSERT_TRUE(Index) << Index.error().message();
  std::set<std::string_view> Covered;
  for (const Json &Entry : *Index) {
    auto Name = Entry["name"].get<std::string>();
    auto File = GgufFile::open(fixture(Name + ".gguf"));
    ASSERT_TRUE(File) << File.error().message();
    auto Architecture = File->string("general.architecture");
    std::vector<std::string_view> Matching;
    for (const auto &[ModelType, Stored] : ggufArchitectures()) {
      GgufSettings Probe(*File, *Architecture);
      if (Stored.Name == *Architecture &&
          (!Stored.Matches || Stored.Matches(Probe)))
        Matching.push_back(ModelType);
    }
    ASSERT_EQ(Matching.size(), 1u) << Name;
    EXPECT_EQ(Matching.front(), Entry["model_type"].get<std::string>());
    Covered.insert(Matching.front());
  }
  EXPECT_EQ(Covered.size(), ggufArchitectures().size());
}

TEST_F(GgufModelTest, EveryFixtureHasTheConfigsSettings) {
  auto Index = readJsonFile(fixture("index.json"));
  ASSERT_TRUE(Index) << Index.error().message();
  for (const Json &Entry : *Index) {
    auto Name = Entry["name"].get<std::string>();
    auto File = GgufFile::open(fixture(Name + ".gguf"));
    ASSERT_TRUE(File) << File.error().message();
    auto Parts = readGgufModel(*File, ggufArchitectures());
    ASSERT_TRUE(Parts) << Parts.error().message();
    size_t Compared = 0;
    for (const auto &[Key, Value] : Entry["config"].items()) {
      if (!Parts->Settings.contains(Key))
        continue;
      ++Compared;
      EXPECT_EQ(Parts->Settings[Key], Value) << Name << " " << Key;
    }
    EXPECT_GE(Compared, 5u) << Name;
  }
}

TEST_F(GgufModelTest, RotationsAndScalings) {
  auto Llama = openModel(fixture("llama-q8_0.gguf"));
  ASSERT_TRUE(Llama) << Llama.error().message();
  auto Scaling = Llama->Settings.object("rope_scaling");
  ASSERT_TRUE(Scaling) << Scaling.error().message();
  // Read back from the table that the converter makes of it.
  EXPECT_EQ(*Scaling->string("rope_type"), "llama3");
  EXPECT_EQ(*Scaling->number("factor"), 8);
  EXPECT_EQ(*Scaling->number("original_max_position_embeddings"), 8192);
  EXPECT_EQ(*Llama->Settings.number("rope_theta"), 500000);
  EXPECT_EQ(*Llama->Settings.boolean("tie_word_embeddings"), true);
  EXPECT_EQ(*Llama->Settings.boolean("attention_bias"), true);

  auto Phi = openModel(fixture("phi3-q8_0.gguf"));
  ASSERT_TRUE(Phi) << Phi.error().message();
  Scaling = Phi->Settings.object("rope_scaling");
  ASSERT_TRUE(Scaling) << Scaling.error().message();
  EXPECT_EQ(*Scaling->string("rope_type"), "longrope");
  EXPECT_EQ(*Scaling->numbers("short_factor"),
            (std::vector<double>{1, 1.25, 1.5, 2}));
  EXPECT_EQ(*Scaling->numbers("long_factor"),
            (std::vector<double>{1, 2, 4, 8}));
  EXPECT_FALSE(Scaling->has("attention_factor"));

  auto Gemma = openModel(fixture("gemma3-q8_0.gguf"));
  ASSERT_TRUE(Gemma) << Gemma.error().message();
  EXPECT_EQ(Gemma->Settings.strings("layer_types")->back(), "full_attention");
  EXPECT_EQ(Gemma->Settings.strings("layer_types")->front(),
            "sliding_attention");
}

TEST_F(GgufModelTest, ScalingsOfPositions) {
  auto Of = [&](const GgufBytes &B) {
    auto File = GgufFile::open(write("m.gguf", B.file()));
    auto Parts = readGgufModel(*File, ggufArchitectures());
    EXPECT_TRUE(Parts) << Parts.error().message();
    return Parts ? Parts->Settings : Json::object();
  };
  auto Scaling = [&](const GgufBytes &B) {
    return Of(B).value("rope_scaling", Json());
  };
  auto Linear = [](double Factor) {
    return Json{{"rope_type", "linear"}, {"factor", Factor}};
  };
  // A factor alone is linear, as in llama.cpp.
  EXPECT_EQ(Scaling(llama()), Json());
  EXPECT_EQ(Scaling(llama().real("llama.rope.scaling.factor", 4)), Linear(4));
  EXPECT_EQ(Scaling(llama().real("llama.rope.scale_linear", 2)), Linear(2));
  EXPECT_EQ(Scaling(llama()
                        .text("llama.rope.scaling.type", "linear")
                        .real("llama.rope.scale_linear", 2)),
            Linear(2));
  EXPECT_EQ(Scaling(llama()
                        .text("llama.rope.scaling.type", "none")
                        .real("llama.rope.scaling.factor", 4)),
            Json());
  EXPECT_EQ(Scaling(llama()
                        .real("llama.rope.scaling.factor", 0)
                        .real("llama.rope.scaling.attn_factor", 1)),
            Json());

  auto Factors = [](const char *Architecture = "llama") {
    return model(Architecture)
        .floats("rope_factors_short.weight", {1}, {1.5f})
        .floats("rope_factors_long.weight", {1}, {3})
        .size(std::string(Architecture) +
                  ".rope.scaling.original_context_length",
              4);
  };
  Json LongRope = {{"rope_type", "longrope"},
                   {"short_factor", {1.5}},
                   {"long_factor", {3.0}}};
  for (const char *Architecture : {"llama", "granite", "qwen2"}) {
    Json Settings =
        Of(Factors(Architecture)
               .text(std::string(Architecture) + ".rope.scaling.type",
                     "longrope"));
    EXPECT_EQ(Settings["rope_scaling"], LongRope);
    EXPECT_EQ(Settings["original_max_position_embeddings"], 4);
  }
  LongRope["attention_factor"] = 1.25;
  EXPECT_EQ(Scaling(Factors().real("llama.rope.scaling.attn_factor", 1.25f)),
            LongRope);
  // One table that is not Llama 3's.
  EXPECT_EQ(Scaling(llama().floats("rope_freqs.weight", {1}, {1})), Json());
  EXPECT_EQ(Scaling(llama().floats("rope_freqs.weight", {1}, {2})),
            (Json{{"rope_type", "longrope"},
                  {"short_factor", {2.0}},
                  {"long_factor", {2.0}},
                  {"attention_factor", 1.0}}));

  expectError(llama().text("llama.rope.scaling.type", "longrope"),
              "missing tensor 'rope_factors_short.weight'");
  expectError(llama().real("llama.rope.scaling.attn_factor", 2),
              "field 'llama.rope.scaling.attn_factor' is 2: expected 1 without "
              "the tensor rope_factors_long.weight");
  expectError(Factors().real("llama.rope.scale_linear", 2),
              "field 'llama.rope.scale_linear' is 2: expected 1 beside a table "
              "of factors");
  expectError(Factors().text("llama.rope.scaling.type", "yarn"),
              "field 'llama.rope.scaling.type' is 'yarn': expected longrope "
              "beside a table of factors");
  expectError(llama().zeros("rope_freqs.weight", {1}),
              "tensor 'rope_freqs.weight': expected finite factors above 0");
  expectError(llama().zeros("rope_freqs.weight", {2}),
              "tensor 'rope_freqs.weight': shape is [2]: expected [1]");
  // Granite's way to say that nothing is rotated.
  expectError(model("granite").flag("granite.rope.scaling.finetuned", false),
              "field 'granite.rope.scaling.finetuned' is false: expected true");
}

TEST_F(GgufModelTest, SmallestModel) {
  auto Model = open(llama());
  ASSERT_TRUE(Model) << Model.error().message();
  EXPECT_EQ(*Model->Settings.string("model_type"), "llama");
  EXPECT_EQ(*Model->Settings.integer("num_key_value_heads", 1, 9), 2);
  EXPECT_EQ(*Model->Settings.number("rms_norm_eps"), 1e-5);
  EXPECT_EQ(*Model->Settings.integer("vocab_size", 1, 9), 3);
  EXPECT_TRUE(Model->Tokenizer.empty());
  EXPECT_FALSE(Model->Settings.generation());
}

TEST_F(GgufModelTest, TiedHeadStoredTwiceIsLeftOut) {
  auto Same = open(llama().zeros("output.weight", {4, 3}));
  ASSERT_TRUE(Same) << Same.error().message();
  EXPECT_EQ(*Same->Settings.boolean("tie_word_embeddings"), true);
  EXPECT_EQ(Same->Weights.find("lm_head.weight"), nullptr);
}

/// The checkpoint of an attention is the same if its matrices are stored as
/// one.
TEST_F(GgufModelTest, QueriesKeysAndValuesInOne) {
  auto Made = [](bool IsFused) {
    std::vector<float> Weights(8 * 8), Biases(8);
    for (size_t I = 0; I < Weights.size(); ++I)
      Weights[I] = float(I);
    for (size_t I = 0; I < Biases.size(); ++I)
      Biases[I] = -float(I);
    GgufBytes B;
    B.text("general.architecture", "llama")
        .size("llama.block_count", 1)
        .size("llama.context_length", 8)
        .size("llama.embedding_length", 8)
        .size("llama.feed_forward_length", 4)
        .size("llama.attention.head_count", 2)
        .size("llama.attention.head_count_kv", 1)
        .size("llama.attention.key_length", 2)
        .size("llama.attention.value_length", 2)
        .real("llama.attention.layer_norm_rms_epsilon", 1e-5f)
        .zeros("token_embd.weight", {8, 3});
    if (IsFused)
      return B.floats("blk.0.attn_qkv.weight", {8, 8}, Weights)
          .floats("blk.0.attn_qkv.bias", {8}, Biases);
    size_t First = 0;
    for (auto [Name, Rows] :
         {std::pair("attn_q", 4), {"attn_k", 2}, {"attn_v", 2}}) {
      auto Part = [&](const std::vector<float> &Of, size_t Columns) {
        auto Begin = Of.begin() + std::ptrdiff_t(First * Columns);
        return std::vector<float>(Begin,
                                  Begin + std::ptrdiff_t(Rows * Columns));
      };
      std::string Stored = std::string("blk.0.") + Name;
      B.floats(Stored + ".weight", {8, uint64_t(Rows)}, Part(Weights, 8));
      B.floats(Stored + ".bias", {uint64_t(Rows)}, Part(Biases, 1));
      First += size_t(Rows);
    }
    return B;
  };
  auto Apart = openModel(write("apart.gguf", Made(false).file()));
  auto Fused = openModel(write("fused.gguf", Made(true).file()));
  ASSERT_TRUE(Apart) << Apart.error().message();
  ASSERT_TRUE(Fused) << Fused.error().message();
  ASSERT_EQ(Fused->Weights.names(), Apart->Weights.names());
  for (std::string_view Name : Apart->Weights.names()) {
    const TensorInfo *Of[] = {Apart->Weights.find(Name),
                              Fused->Weights.find(Name)};
    EXPECT_EQ(Of[1]->Shape, Of[0]->Shape) << Name;
    std::vector<float> Values[2];
    for (int I : {0, 1}) {
      Values[I].resize(size_t(Of[I]->elements()));
      auto &Weights = I ? Fused->Weights : Apart->Weights;
      ASSERT_TRUE(Weights.readElementsAsFloat(*Of[I], 0, Of[I]->elements(),
                                              Values[I].data()));
    }
    EXPECT_EQ(Values[1], Values[0]) << Name;
  }
  // Biases of these three alone are those of Qwen 2.
  EXPECT_EQ(*Fused->Settings.string("model_type"), "qwen2");
  expectError(llama().zeros("blk.0.attn_qkv.weight", {4, 8}),
              "tensor 'blk.0.attn_qkv.weight': shape is [8, 4]: expected a "
              "multiple of 6 rows");
}

TEST_F(GgufModelTest, SamplingBecomesGenerationDefaults) {
  auto Model = open(llama()
                        .real("general.sampling.temp", 0.6f)
                        .size("general.sampling.top_k", 20)
                        .real("general.sampling.top_p", 0.95f)
                        .text("general.sampling.sequence", "kfypmt"));
  ASSERT_TRUE(Model) << Model.error().message();
  auto Generation = Model->Settings.generation();
  ASSERT_TRUE(Generation);
  EXPECT_EQ(*Generation->boolean("do_sample"), true);
  EXPECT_EQ(*Generation->number("temperature"), 0.6);
  EXPECT_EQ(*Generation->integer("top_k", 0, 99), 20);
  EXPECT_EQ(*Generation->number("top_p"), 0.95);
  // A penalty draws nothing; what is not used keeps its name.
  Model = open(llama()
                   .real("general.sampling.penalty_repeat", 1.25f)
                   .size("general.sampling.mirostat", 2));
  ASSERT_TRUE(Model) << Model.error().message();
  Generation = Model->Settings.generation();
  ASSERT_TRUE(Generation);
  ASSERT_TRUE(Generation->has("repetition_penalty"));
  EXPECT_EQ(*Generation->number("repetition_penalty"), 1.25);
  EXPECT_FALSE(Generation->has("do_sample"));
  EXPECT_EQ(Generation->unreadKeys(),
            std::vector<std::string>{"general.sampling.mirostat"});
  expectError(llama().text("general.sampling.temp", "hot"),
              "field 'general.sampling.temp' is 'hot'");
}

TEST_F(GgufModelTest, RefusesArchitectures) {
  // Each once, though two model types share some.
  GgufBytes None;
  expectError(None.size("llama.block_count", 1),
              "missing field 'general.architecture': expected one of bloom, "
              "command-r, deepseek2, falcon, gemma, gemma2, gemma3, gpt-oss, "
              "gpt2, gptneox, granite, llama, mpt, olmo2, phi2, phi3, qwen2, "
              "qwen2moe, qwen3, qwen3moe, smollm3, stablelm, starcoder2");
  for (const char *Name : {"mamba", "gptj", "bert", "t5", "", "llama.x"}) {
    GgufBytes B;
    expectError(B.text("general.architecture", Name),
                "field 'general.architecture' is '" + std::string(Name) +
                    "': expected one of");
  }
  GgufBytes Number;
  expectError(Number.size("general.architecture", 1),
              "field 'general.architecture' is 1");
  expectError(llama().text("general.type", "adapter"),
              "field 'general.type' is 'adapter': expected 'model'");
}

TEST_F(GgufModelTest, RefusesKeysThatMayChangeTheResult) {
  expectError(llama().size("llama.unheard_of", 1),
              "field 'llama.unheard_of' is 1: expected no such key, for the "
              "architecture llama does not handle it");
  expectError(llama().size("llama.attention.sliding_window", 5),
              "field 'llama.attention.sliding_window' is 5");
  expectError(llama().real("llama.logit_scale", 2),
              "field 'llama.logit_scale' is 2");
  expectError(llama().flag("llama.attention.causal", false),
              "field 'llama.attention.causal' is false: expected true");
  expectError(llama().size("llama.pooling_type", 1), "pooling_type");
  expectError(llama().size("split.count", 3), "missing field 'split.no'");
  expectError(llama().text("adapter.type", "lora"), "field 'adapter.type'");
  expectError(llama().text("tokenizer.ggml.unheard_of", "x"),
              "field 'tokenizer.ggml.unheard_of'");
  expectError(llama().text("llama.rope.scaling.type", "spiral"),
              "expected one of none, linear, yarn, longrope");
  expectError(llama().size("llama.rope.dimension_count", 1),
              "field 'llama.rope.dimension_count' is 1: expected 2, the size "
              "of a head");
  // Keys of other programs are told and left out.
  auto Model = open(llama()
                        .text("general.name", "x")
                        .text("mradermacher.note", "x")
                        .text("tokenizer.chat_template.tool_use", "x")
                        .size("llama.vocab_size", 3)
                        .flag("llama.attention.causal", true));
  ASSERT_TRUE(Model) << Model.error().message();
  ASSERT_EQ(Model->Notes.size(), 1u);
  EXPECT_NE(Model->Notes[0].find("mradermacher.note"), std::string::npos);
}

/// Granite 4 without state space layers and experts, as it is converted.
TEST_F(GgufModelTest, DenseGranite4) {
  GgufBytes B = model("granite");
  for (const char *Key :
       {"ssm.conv_kernel", "ssm.state_size", "ssm.group_count",
        "ssm.inner_size", "ssm.time_step_rank",
        "expert_shared_feed_forward_length"})
    B.size(std::string("granite.") + Key, 4);
  B.size("granite.expert_count", 0)
      .flag("granite.rope.scaling.finetuned", true);
  auto Model = open(B);
  ASSERT_TRUE(Model) << Model.error().message();
  EXPECT_EQ(*Model->Settings.string("model_type"), "granite");
  expectError(model("granite").zeros("blk.0.ssm_conv1d.weight", {4, 4}),
              "tensor 'blk.0.ssm_conv1d.weight': expected no such tensor");
}

TEST_F(GgufModelTest, RefusesSizes) {
  struct Case {
    const char *Key;
    uint32_t Value;
    const char *Text;
  };
  for (const Case &C :
       {Case{"llama.attention.head_count_kv", 0,
             "head_count_kv' is 0: expected a whole number "
             "from 1"},
        {"llama.attention.head_count_kv", 3, "a divisor of 2"},
        {"llama.attention.head_count_kv", UINT32_MAX, "is 4294967295"},
        {"llama.vocab_size", 4, "the rows of token_embd"},
        {"llama.attention.value_length", 3, "value_length"},
        {"llama.expert_count", UINT32_MAX, "is 4294967295"}})
    expectError(llama().size(C.Key, C.Value), C.Text);
  for (auto [Key, Value] : {std::pair("block_count", 0u),
                            {"block_count", 65'537u},
                            {"block_count", UINT32_MAX},
                            {"embedding_length", 0u},
                            {"context_length", 0u},
                            {"attention.head_count", 0u},
                            {"attention.head_count", UINT32_MAX}}) {
    GgufBytes B;
    B.text("general.architecture", "llama");
    for (auto [Other, Usual] : {std::pair("block_count", 1u),
                                {"context_length", 8u},
                                {"embedding_length", 4u},
                                {"feed_forward_length", 4u},
                                {"attention.head_count", 2u}})
      B.size(std::string("llama.") + Other,
             std::string_view(Other) == Key ? Value : Usual);
    expectError(B, std::string("field 'llama.") + Key + "' is " +
                       std::to_string(Value));
  }
  GgufBytes Layers;
  Layers.text("general.architecture", "llama")
      .size("llama.block_count", 2)
      .size("llama.embedding_length", 4)
      .key("llama.attention.head_count", GgufType::Array,
           GgufBytes::array<uint32_t>(GgufType::UInt32, {2, 4}));
  expectError(Layers, "is an array of 2 × uint32: expected equal numbers");
}

TEST_F(GgufModelTest, RefusesTensors) {
  expectError(llama().zeros("blk.0.attn_frob.weight", {4}),
              "tensor 'blk.0.attn_frob.weight': expected no such tensor");
  expectError(llama().zeros("blk.1.attn_q.weight", {4, 4}),
              "tensor 'blk.1.attn_q.weight': expected a layer below 1");
  for (const char *Name : {"blk.-1.attn_q.weight", "blk..attn_q.weight",
                           "blk.99999999999999999999.attn_q.weight", "blk.0",
                           "blk.", "attn_q.weight", "blk.0.attn_q"})
    expectError(llama().zeros(Name, {4, 4}),
                std::string("tensor '") + Name + "': expected");
  GgufBytes Odd;
  Odd.text("general.architecture", "llama")
      .size("llama.block_count", 1)
      .size("llama.context_length", 8)
      .size("llama.embedding_length", 4)
      .size("llama.feed_forward_length", 4)
      .size("llama.attention.head_count", 2)
      .real("llama.attention.layer_norm_rms_epsilon", 1e-5f)
      .zeros("token_embd.weight", {4, 3})
      .zeros("blk.0.attn_q.weight", {4, 6});
  expectError(Odd, "shape is [6, 4]: expected an even number of rows");
  GgufBytes Empty;
  Empty.text("general.architecture", "llama")
      .size("llama.block_count", 1)
      .size("llama.context_length", 8)
      .size("llama.embedding_length", 4)
      .size("llama.feed_forward_length", 4)
      .size("llama.attention.head_count", 2)
      .real("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  expectError(Empty, "missing tensor 'token_embd.weight'");
}

/// An infinite scale is an error when the block is read.
TEST_F(GgufModelTest, ScalesThatAreNoNumbers) {
  for (uint16_t Scale : {0x7c00, 0xfc00, 0x7e00}) {
    GgufBytes B;
    B.text("general.architecture", "qwen2")
        .size("qwen2.block_count", 1)
        .size("qwen2.context_length", 8)
        .size("qwen2.embedding_length", 32)
        .size("qwen2.feed_forward_length", 4)
        .size("qwen2.attention.head_count", 2)
        .real("qwen2.attention.layer_norm_rms_epsilon", 1e-5f)
        .tensor("token_embd.weight", {32, 2}, 8, 0);
    std::string Block = rawBytes<uint16_t>({Scale}) + std::string(32, '\1');
    std::string Path = write("m.gguf", B.file(std::string(34, '\0') + Block));
    auto Model = openModel(Path);
    ASSERT_TRUE(Model) << Model.error().message();
    const TensorInfo *Tensor = Model->Weights.find("model.embed_tokens.weight");
    ASSERT_TRUE(Tensor);
    EXPECT_EQ(Tensor->StoredType, "Q8_0");
    float Row[32];
    EXPECT_TRUE(Model->Weights.readRowsAsFloat(*Tensor, 0, 1, Row));
    EXPECT_ERROR(Model->Weights.readRowsAsFloat(*Tensor, 1, 1, Row), Path,
                 "tensor 'model.embed_tokens.weight': a block's scale is "
                 "infinite or no number: expected finite scales");
  }
}

TEST_F(GgufModelTest, FileThatShrinksIsReported) {
  std::string Path = write("m.gguf", llama().file());
  auto Model = openModel(Path);
  ASSERT_TRUE(Model) << Model.error().message();
  std::filesystem::resize_file(Path, 64);
  const TensorInfo *Query =
      Model->Weights.find("model.layers.0.self_attn.q_proj.weight");
  float Row[4];
  EXPECT_ERROR(Model->Weights.readRowsAsFloat(*Query, 0, 1, Row), Path,
               "shrank");
}

/// No change of a byte of a header crashes or is accepted with tensors outside
/// of the file.
TEST_F(GgufModelTest, SurvivesChangedBytes) {
  std::string Path =
      std::string(TENON_TEST_DATA) + "/gguf/fixtures/cohere-q8_0.gguf";
  auto Whole = readFile(Path, 1 << 20);
  ASSERT_TRUE(Whole) << Whole.error().message();
  size_t Header = Whole->find("blk.0.");
  ASSERT_NE(Header, std::string::npos);
  Header = std::min(Whole->size(), Header + 400);
  std::string Changed = *Whole;
  for (size_t At = 0; At < Header; ++At) {
    for (unsigned char Byte : {0x00, 0xff}) {
      if (static_cast<unsigned char>((*Whole)[At]) == Byte)
        continue;
      Changed[At] = static_cast<char>(Byte);
      auto Model = openModel(write("m.gguf", Changed));
      if (!Model) {
        EXPECT_EQ(Model.error().message().find(pathOf("m.gguf")), 0u)
            << Model.error().message();
        continue;
      }
      std::vector<float> Row;
      for (std::string_view Name : Model->Weights.names()) {
        const TensorInfo *Tensor = Model->Weights.find(Name);
        Row.resize(static_cast<size_t>(Tensor->elements()));
        (void)Model->Weights.readElementsAsFloat(*Tensor, 0, Tensor->elements(),
                                                 Row.data());
      }
    }
    Changed[At] = (*Whole)[At];
  }
}

} // namespace
