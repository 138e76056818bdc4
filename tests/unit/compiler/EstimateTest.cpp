//===- EstimateTest.cpp - Parameters, operations, cache bytes -------------===//

#include "compiler/Estimate/Estimate.h"
#include "compiler/Builder/Blocks.h"
#include "compiler/Families/Import.h"

#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <filesystem>
#include <fstream>

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

/// Imports `Text` as a bare config.json.
Result<ImportedModel> importConfig(MLIRContext &Context,
                                   const std::string &Text) {
  std::string Path = (std::filesystem::temp_directory_path() /
                      ("tenon-estimate-" + std::to_string(getpid()) + ".json"))
                         .string();
  std::ofstream(Path) << Text;
  ImportOptions Options;
  Options.ConfigOnly = true;
  auto Model = importModel(Context, Path, Options);
  std::filesystem::remove(Path);
  return Model;
}

/// LLaMA-2-7B.
constexpr char Llama2[] = R"({
  "model_type": "llama", "architectures": ["LlamaForCausalLM"],
  "vocab_size": 32000, "hidden_size": 4096, "intermediate_size": 11008,
  "num_hidden_layers": 32, "num_attention_heads": 32,
  "num_key_value_heads": 32, "hidden_act": "silu",
  "max_position_embeddings": 4096, "rms_norm_eps": 1e-5,
  "rope_scaling": null, "tie_word_embeddings": false, "pretraining_tp": 1,
  "torch_dtype": "float16", "bos_token_id": 1, "eos_token_id": 2,
  "use_cache": true, "initializer_range": 0.02,
  "transformers_version": "4.31.0"})";

TEST(EstimateTest, Llama2Of7B) {
  MLIRContext Context;
  auto Model = importConfig(Context, Llama2);
  ASSERT_TRUE(Model) << Model.error().message();
  auto E = estimateModel(*Model->Module);
  ASSERT_TRUE(E) << E.error().message();
  EXPECT_EQ(E->Parameters, 6738415616);
  EXPECT_EQ(E->cacheBytesPerToken(), 524288);
  // All but the embedding and the 65 norms of 4096.
  EXPECT_EQ(E->MatmulParameters, 6738415616 - 32000 * 4096 - 65 * 4096);
  EXPECT_EQ(E->HeadParameters, 32000 * 4096);
  Json J = toJson(*E);
  EXPECT_EQ(J["parameters"]["total"], 6738415616);
  EXPECT_EQ(J["parameters"]["attention"], 32 * 4 * 4096 * 4096ll);
  EXPECT_EQ(J["parameters"]["ffn"], 32 * 3 * 4096 * 11008ll);
  EXPECT_EQ(J["parameters"]["norm"], 65 * 4096);
  EXPECT_EQ(J["kv_cache"]["type"], "bf16");
  EXPECT_EQ(J["kv_cache"]["bytes_per_token"], 524288);
  EXPECT_EQ(J["kv_cache"]["bytes_full_context"], 524288ll * 4096);
  EXPECT_EQ(J["flops_per_token"]["decode"],
            2 * E->MatmulParameters + 32 * 4 * 4096 * 4096ll);
  EXPECT_EQ(J["flops_per_token"]["training"], 6 * E->MatmulParameters);
  // 16 bits of matrices, 32 of norms.
  EXPECT_EQ(E->WeightBytes, 2 * 6738415616 + 2 * 65 * 4096);
  EXPECT_NE(toText(*E).find("6,738,415,616"), std::string::npos);
  EXPECT_NE(toText(*E).find("524,288 bytes per token"), std::string::npos);
}

TEST(EstimateTest, PrefillAveragesOverTheContext) {
  MLIRContext Context;
  auto Model = importConfig(Context, Llama2);
  ASSERT_TRUE(Model) << Model.error().message();
  auto E = estimateModel(*Model->Module, 100);
  ASSERT_TRUE(E) << E.error().message();
  int64_t Body = E->MatmulParameters - E->HeadParameters;
  // Token t sees t keys: on average 101 / 2 of 100 tokens.
  EXPECT_EQ(E->PrefillFlops,
            2 * Body + 2 * E->HeadParameters / 100 + 32 * 4 * 4096ll * 101 / 2);
  EXPECT_EQ(*E->DecodeFlops, 2 * E->MatmulParameters + 32 * 4 * 4096ll * 100);
}

/// `Text` with the first `From` replaced by `To`.
std::string replaced(std::string Text, const std::string &From,
                     const std::string &To) {
  size_t At = Text.find(From);
  EXPECT_NE(At, std::string::npos) << From;
  return Text.replace(At, From.size(), To);
}

TEST(EstimateTest, ATiedHeadCountsOnceAndMultipliesOnce) {
  MLIRContext Context;
  auto Model =
      importConfig(Context, replaced(Llama2, "\"tie_word_embeddings\": false",
                                     "\"tie_word_embeddings\": true"));
  ASSERT_TRUE(Model) << Model.error().message();
  auto E = estimateModel(*Model->Module);
  ASSERT_TRUE(E) << E.error().message();
  EXPECT_EQ(E->Parameters, 6738415616 - 32000 * 4096);
  EXPECT_EQ(E->MatmulParameters, 6738415616 - 32000 * 4096 - 65 * 4096);
}

TEST(EstimateTest, AWindowBoundsTheKeysSeen) {
  MLIRContext Context;
  std::string Mistral = replaced(Llama2, "\"model_type\": \"llama\"",
                                 "\"model_type\": \"mistral\", "
                                 "\"sliding_window\": 1000");
  Mistral = replaced(Mistral, "\"pretraining_tp\": 1,", "");
  auto Model = importConfig(Context, Mistral);
  ASSERT_TRUE(Model) << Model.error().message();
  auto E = estimateModel(*Model->Module);
  ASSERT_TRUE(E) << E.error().message();
  EXPECT_EQ(*E->DecodeFlops, 2 * E->MatmulParameters + 32 * 4 * 4096ll * 1000);
  // 1 + ... + 1000 keys, then 3096 times 1000.
  int64_t Seen = 1000 * 1001 / 2 + 3096 * 1000;
  EXPECT_EQ(E->PrefillFlops, 2 * (E->MatmulParameters - E->HeadParameters) +
                                 2 * E->HeadParameters / 4096 +
                                 32 * (2 * 4096ll * (2 * Seen / 4096)));
}

TEST(EstimateTest, EncodersHaveNeitherCacheNorDecoding) {
  MLIRContext Context;
  auto Model = importConfig(Context, R"({
    "model_type": "bert", "vocab_size": 30522, "hidden_size": 768,
    "num_hidden_layers": 12, "num_attention_heads": 12,
    "intermediate_size": 3072, "hidden_act": "gelu",
    "max_position_embeddings": 512, "type_vocab_size": 2})");
  ASSERT_TRUE(Model) << Model.error().message();
  auto E = estimateModel(*Model->Module);
  ASSERT_TRUE(E) << E.error().message();
  // BERT base without its pooler of 768 x 769.
  EXPECT_EQ(E->Parameters, 109482240 - 768 * 769);
  EXPECT_FALSE(E->DecodeFlops);
  EXPECT_FALSE(toJson(*E).contains("kv_cache"));
  EXPECT_EQ(E->PrefillFlops, 2 * E->MatmulParameters + 12 * 4 * 768ll * 512);
}

TEST(EstimateTest, AContextBeyondTheModelIsRefused) {
  MLIRContext Context;
  auto Model = importConfig(Context, Llama2);
  ASSERT_TRUE(Model) << Model.error().message();
  for (int64_t Tokens : {int64_t(-1), int64_t(0), int64_t(4097)}) {
    auto E = estimateModel(*Model->Module, Tokens);
    ASSERT_FALSE(E);
    EXPECT_NE(E.error().message().find("expected 1 to 4096"),
              std::string::npos);
  }
}

TEST(EstimateTest, CountsBeyond64BitsAreRefused) {
  MLIRContext Context;
  ModelBuilder Model(Context, "test", uniformTypes(ElementType::F32));
  Model.setMaxSequence(16);
  FunctionBuilder F = FunctionBuilder::entry(Model, "encode", "hidden");
  Value Scope = F.scope("");
  int64_t Huge = int64_t(1) << 40;
  Value Rows = F.argument(Model.rows(Huge));
  F.finish(F.linear(
      Rows, F.parameter(Scope, "w", Component::Attention, {Huge, Huge})));
  auto Module = Model.finish();
  ASSERT_TRUE(Module) << Module.error().message();
  auto E = estimateModel(**Module);
  ASSERT_FALSE(E);
  EXPECT_NE(E.error().message().find("a count exceeds"), std::string::npos);
}

} // namespace
