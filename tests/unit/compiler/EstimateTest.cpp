//===- EstimateTest.cpp - Parameters, operations, cache bytes -------------===//

#include "compiler/Estimate/Estimate.h"
#include "compiler/Builder/Blocks.h"
#include "compiler/Families/Import.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
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
  // Without the embedding and the head.
  EXPECT_EQ(J["parameters"]["without_embeddings"],
            6738415616 - 2 * 32000 * 4096);
  EXPECT_EQ(J["parameters_active_without_embeddings"],
            J["parameters"]["without_embeddings"]);
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
  EXPECT_NE(toText(*E, "bf16").find("6,738,415,616"), std::string::npos);
  EXPECT_NE(toText(*E, "bf16").find("524,288 bytes per token"),
            std::string::npos);
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
  Model.setVocabulary(3);
  Model.setMaxSequence(16);
  FunctionBuilder F = FunctionBuilder::entry(Model, "encode", "hidden");
  Value Batch = F.batchArgument();
  Value Scope = F.scope("");
  int64_t Huge = int64_t(1) << 28;
  Value Rows =
      F.embedding(IndexKind::Token, Batch,
                  F.parameter(Scope, "t", Component::Embedding, {3, Huge}));
  for (const char *Key : {"a", "b", "c", "d", "e", "f", "g", "h"})
    Rows = F.linear(
        Rows, F.parameter(Scope, Key, Component::Attention, {Huge, Huge}));
  F.finish(F.selectOutputRows(Rows, Batch));
  auto Module = Model.finish();
  ASSERT_TRUE(Module) << Module.error().message();
  auto E = estimateModel(**Module);
  ASSERT_FALSE(E);
  EXPECT_NE(E.error().message().find("a count exceeds"), std::string::npos);
}

/// Estimates the module `Text`.
Result<ModelEstimate> estimateText(MLIRContext &Context, StringRef Text,
                                   std::optional<int64_t> Tokens = {}) {
  loadModelDialects(Context);
  auto Module = parseSourceString<ModuleOp>(Text, &Context, "graph.mlir");
  EXPECT_TRUE(Module);
  Status Verified = tenon::verifyModel(*Module);
  EXPECT_TRUE(Verified) << Verified.error().message();
  return estimateModel(*Module, Tokens);
}

/// Two layers that share a function, each with 2 of 5 experts of 4 x 3, an
/// expert that all tokens go through, and a router.
TEST(EstimateTest, OnlyChosenExpertsAreActive) {
  MLIRContext Context;
  auto E = estimateText(Context, R"(
    module attributes {transformer.max_sequence = 10 : i64,
                       transformer.vocabulary = 7 : i64} {
    func.func private @layer(%s: !transformer.scope, %b: !transformer.batch,
        %x: tensor<?x4xf32>) -> tensor<?x4xf32> {
      %r = transformer.parameter %s "router" of ffn : tensor<5x4xf32>
      %g = transformer.parameter %s "experts.*.gate" of ffn : tensor<5x3x4xbf16>
      %u = transformer.parameter %s "experts.*.up" of ffn : tensor<5x3x4xbf16>
      %d = transformer.parameter %s "experts.*.down" of ffn : tensor<5x4x3xbf16>
      %e = transformer.parameter %s "experts.*.bias" of ffn : tensor<5x4xf32>
      %su = transformer.parameter %s "shared.up" of ffn : tensor<6x4xbf16>
      %sd = transformer.parameter %s "shared.down" of ffn : tensor<4x6xbf16>
      %l = transformer.linear %x, %r
          : (tensor<?x4xf32>, tensor<5x4xf32>) -> tensor<?x5xf32>
      %m = transformer.moe silu %x, %l <softmax, top = 2>
          gate %g up %u down %d bias %e
          : (tensor<?x4xf32>, tensor<?x5xf32>, tensor<5x3x4xbf16>,
             tensor<5x3x4xbf16>, tensor<5x4x3xbf16>, tensor<5x4xf32>)
          -> tensor<?x4xf32>
      %f = transformer.feed_forward relu %x up %su down %sd
          : (tensor<?x4xf32>, tensor<6x4xbf16>, tensor<4x6xbf16>)
          -> tensor<?x4xf32>
      %y = transformer.residual %m, %f : tensor<?x4xf32>
      return %y : tensor<?x4xf32>
    }
    func.func @step(%b: !transformer.batch) -> tensor<?x7xf32>
        attributes {transformer.role = "step", transformer.output = "logits"} {
      %root = transformer.scope ""
      %l0 = transformer.scope "l.0" layer 0
      %l1 = transformer.scope "l.1" layer 1
      %t = transformer.parameter %root "table" of embedding : tensor<7x4xbf16>
      %x = transformer.embedding token %b, %t
          : (!transformer.batch, tensor<7x4xbf16>) -> tensor<?x4xf32>
      %y = call @layer(%l0, %b, %x) : (!transformer.scope, !transformer.batch,
          tensor<?x4xf32>) -> tensor<?x4xf32>
      %z = call @layer(%l1, %b, %y) : (!transformer.scope, !transformer.batch,
          tensor<?x4xf32>) -> tensor<?x4xf32>
      %o = transformer.lm_head %z, %b, %t : (tensor<?x4xf32>,
          !transformer.batch, tensor<7x4xbf16>) -> tensor<?x7xf32>
      return %o : tensor<?x7xf32>
    } })");
  ASSERT_TRUE(E) << E.error().message();
  // Per expert 3 matrices of 12 and a bias of 4.
  const int64_t Layer = 20 + 5 * (36 + 4) + 48, Idle = 3 * (36 + 4);
  EXPECT_EQ(E->Parameters, 2 * Layer + 28);
  EXPECT_EQ(E->ActiveParameters, 2 * (Layer - Idle) + 28);
  EXPECT_EQ(E->MatmulParameters, 2 * (20 + 2 * 36 + 48) + 28);
  EXPECT_EQ(E->MatmulBytes, 2 * (4 * 20 + 2 * (2 * 36 + 48)) + 2 * 28);
  EXPECT_EQ(*E->DecodeFlops, 2 * E->MatmulParameters);
  Json J = toJson(*E);
  EXPECT_EQ(J["parameters"]["total"], 2 * Layer + 28);
  EXPECT_EQ(J["parameters"]["ffn"], 2 * Layer);
  EXPECT_EQ(J["parameters_active"], 2 * (Layer - Idle) + 28);
  EXPECT_NE(toText(*E, "bf16").find("active per token"), std::string::npos);
}

/// Three heads of 16 (and 8 rotated) elements, values of 12, rank 32.
TEST(EstimateTest, LatentCachesAreSmallAndAbsorbed) {
  MLIRContext Context;
  auto E = estimateText(Context, R"(
    module attributes {transformer.max_sequence = 100 : i64,
                       transformer.vocabulary = 9 : i64} {
    func.func @step(%b: !transformer.batch,
        %c: !transformer.cache<latent 1x40xbf16>)
        -> (tensor<?x36xf32>, !transformer.cache<latent 1x40xbf16>)
        attributes {transformer.role = "step", transformer.output = "hidden"} {
      %s = transformer.scope "l" layer 0
      %t = transformer.parameter %s "q" of embedding : tensor<9x72xf32>
      %l = transformer.parameter %s "l" of embedding : tensor<9x40xf32>
      %e = transformer.parameter %s "kv" of attention : tensor<84x32xbf16>
      %q = transformer.embedding token %b, %t
          : (!transformer.batch, tensor<9x72xf32>) -> tensor<?x72xf32>
      %lr = transformer.embedding token %b, %l
          : (!transformer.batch, tensor<9x40xf32>) -> tensor<?x40xf32>
      %lat = transformer.slice %lr from 0
          : (tensor<?x40xf32>) -> tensor<?x32xf32>
      %rot = transformer.slice %lr from 32
          : (tensor<?x40xf32>) -> tensor<?x8xf32>
      %n = transformer.latent_append %c[%s], %b latent %lat rotated %rot
          : (!transformer.cache<latent 1x40xbf16>, !transformer.scope,
             !transformer.batch, tensor<?x32xf32>, tensor<?x8xf32>)
          -> !transformer.cache<latent 1x40xbf16>
      %y = transformer.latent_attention %q, %b cache %n[%s] expand %e
          heads 3 key_dim 16 value_dim 12 scale 0.25
          : (tensor<?x72xf32>, !transformer.batch,
             !transformer.cache<latent 1x40xbf16>, !transformer.scope,
             tensor<84x32xbf16>) -> tensor<?x36xf32>
      %h = transformer.select_output_rows %y, %b
          : (tensor<?x36xf32>, !transformer.batch) -> tensor<?x36xf32>
      return %h, %n : tensor<?x36xf32>, !transformer.cache<latent 1x40xbf16>
    } })");
  ASSERT_TRUE(E) << E.error().message();
  EXPECT_EQ(E->MatmulParameters, 84 * 32);
  EXPECT_EQ(E->ActiveParameters, E->Parameters);
  EXPECT_EQ(E->CacheElements, 40);
  EXPECT_EQ(E->cacheBytesPerToken(), 80);
  // Per key scores over 40 values and sums over 32; expanded, scores over 24
  // elements and sums over 12.
  EXPECT_EQ(*E->DecodeFlops, 2 * 84 * 32 + 100 * 3 * 2 * (40 + 32));
  EXPECT_EQ(E->PrefillFlops, 2 * 84 * 32 + 101 * 3 * (24 + 12));
  Json J = toJson(*E);
  EXPECT_EQ(J["kv_cache"]["kind"], "latent");
  EXPECT_EQ(J["kv_cache"]["bytes_per_token"], 80);
  EXPECT_NE(toText(*E, "bf16").find("latent cache, bf16"), std::string::npos);
}

/// Encodes with one matmul and attention, and fills the memory of two layers;
/// decodes with cross-attention in both and a head.
constexpr char EncoderDecoder[] = R"(
    module attributes {transformer.max_sequence = 10 : i64,
                       transformer.max_source = 50 : i64,
                       transformer.vocabulary = 9 : i64} {
    func.func private @fill(%s: !transformer.scope, %b: !transformer.batch,
        %m: !transformer.cache<cross 2x3xbf16>, %x: tensor<?x6xf32>)
        -> !transformer.cache<cross 2x3xbf16> {
      %w = transformer.parameter %s "kv" of attention : tensor<6x6xf32>
      %k = transformer.linear %x, %w
          : (tensor<?x6xf32>, tensor<6x6xf32>) -> tensor<?x6xf32>
      %n = transformer.cache_append %m[%s], %b keys %k values %k
          : (!transformer.cache<cross 2x3xbf16>, !transformer.scope,
             !transformer.batch, tensor<?x6xf32>, tensor<?x6xf32>)
          -> !transformer.cache<cross 2x3xbf16>
      return %n : !transformer.cache<cross 2x3xbf16>
    }
    func.func private @layer(%s: !transformer.scope, %b: !transformer.batch,
        %c: !transformer.cache<2x3xf32>,
        %m: !transformer.cache<cross 2x3xbf16>, %x: tensor<?x6xf32>)
        -> (!transformer.cache<2x3xf32>, tensor<?x6xf32>) {
      %w = transformer.parameter %s "q" of attention : tensor<6x6xf32>
      %q = transformer.linear %x, %w
          : (tensor<?x6xf32>, tensor<6x6xf32>) -> tensor<?x6xf32>
      %n = transformer.cache_append %c[%s], %b keys %q values %q
          : (!transformer.cache<2x3xf32>, !transformer.scope,
             !transformer.batch, tensor<?x6xf32>, tensor<?x6xf32>)
          -> !transformer.cache<2x3xf32>
      %a = transformer.attention causal %q, %b cache %n[%s] heads 2 kv_heads 2
          scale 1.0 : (tensor<?x6xf32>, !transformer.batch,
             !transformer.cache<2x3xf32>, !transformer.scope)
          -> tensor<?x6xf32>
      %y = transformer.attention bidirectional %a, %b cache %m[%s] heads 2
          kv_heads 2 scale 1.0 : (tensor<?x6xf32>, !transformer.batch,
             !transformer.cache<cross 2x3xbf16>, !transformer.scope)
          -> tensor<?x6xf32>
      return %n, %y : !transformer.cache<2x3xf32>, tensor<?x6xf32>
    }
    func.func @encode(%b: !transformer.batch,
        %m: !transformer.cache<cross 2x3xbf16>)
        -> (tensor<?x6xf32>, !transformer.cache<cross 2x3xbf16>)
        attributes {transformer.role = "encode",
                    transformer.output = "hidden"} {
      %s = transformer.scope "e"
      %d0 = transformer.scope "d.0" layer 0
      %d1 = transformer.scope "d.1" layer 1
      %root = transformer.scope ""
      %t = transformer.parameter %root "table" of embedding : tensor<9x6xf32>
      %w = transformer.parameter %s "w" of attention : tensor<6x6xf32>
      %x = transformer.embedding token %b, %t
          : (!transformer.batch, tensor<9x6xf32>) -> tensor<?x6xf32>
      %q = transformer.linear %x, %w
          : (tensor<?x6xf32>, tensor<6x6xf32>) -> tensor<?x6xf32>
      %y = transformer.attention bidirectional %q, %b keys %q values %q heads 2
          kv_heads 2 scale 1.0 window 4 : (tensor<?x6xf32>, !transformer.batch,
             tensor<?x6xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>
      %m0 = call @fill(%d0, %b, %m, %y)
          : (!transformer.scope, !transformer.batch,
             !transformer.cache<cross 2x3xbf16>, tensor<?x6xf32>)
          -> !transformer.cache<cross 2x3xbf16>
      %m1 = call @fill(%d1, %b, %m0, %y)
          : (!transformer.scope, !transformer.batch,
             !transformer.cache<cross 2x3xbf16>, tensor<?x6xf32>)
          -> !transformer.cache<cross 2x3xbf16>
      %h = transformer.select_output_rows %y, %b
          : (tensor<?x6xf32>, !transformer.batch) -> tensor<?x6xf32>
      return %h, %m1 : tensor<?x6xf32>, !transformer.cache<cross 2x3xbf16>
    }
    func.func @step(%b: !transformer.batch, %c: !transformer.cache<2x3xf32>,
        %m: !transformer.cache<cross 2x3xbf16>)
        -> (tensor<?x9xf32>, !transformer.cache<2x3xf32>)
        attributes {transformer.role = "step", transformer.output = "logits"} {
      %d0 = transformer.scope "d.0" layer 0
      %d1 = transformer.scope "d.1" layer 1
      %root = transformer.scope ""
      %t = transformer.parameter %root "table" of embedding : tensor<9x6xf32>
      %x = transformer.embedding token %b, %t
          : (!transformer.batch, tensor<9x6xf32>) -> tensor<?x6xf32>
      %c0, %y = call @layer(%d0, %b, %c, %m, %x)
          : (!transformer.scope, !transformer.batch,
             !transformer.cache<2x3xf32>, !transformer.cache<cross 2x3xbf16>,
             tensor<?x6xf32>) -> (!transformer.cache<2x3xf32>, tensor<?x6xf32>)
      %c1, %z = call @layer(%d1, %b, %c0, %m, %y)
          : (!transformer.scope, !transformer.batch,
             !transformer.cache<2x3xf32>, !transformer.cache<cross 2x3xbf16>,
             tensor<?x6xf32>) -> (!transformer.cache<2x3xf32>, tensor<?x6xf32>)
      %o = transformer.lm_head %z, %b, %t : (tensor<?x6xf32>,
          !transformer.batch, tensor<9x6xf32>) -> tensor<?x9xf32>
      return %o, %c1 : tensor<?x9xf32>, !transformer.cache<2x3xf32>
    } })";

TEST(EstimateTest, EncoderDecodersCountBoth) {
  MLIRContext Context;
  auto E = estimateText(Context, EncoderDecoder);
  ASSERT_TRUE(E) << E.error().message();
  EXPECT_EQ(E->Role, "step");
  EXPECT_EQ(E->Parameters, 54 + 36 + 2 * 36 + 2 * 36);
  EXPECT_EQ(E->MatmulParameters, 2 * 36 + 54);
  EXPECT_EQ(E->CacheElements, 2 * 2 * 6);
  EXPECT_EQ(E->cacheBytesPerToken(), 4 * 24);
  ASSERT_TRUE(E->SourceText);
  EXPECT_EQ(E->SourceText->Tokens, 50);
  EXPECT_EQ(E->SourceText->MatmulParameters, 36 + 2 * 36);
  // A window of 4 on both sides: 7 keys.
  EXPECT_EQ(E->SourceText->EncodeFlops, 2 * 108 + 4 * 6 * 7);
  EXPECT_EQ(E->SourceText->CrossFlops, 2 * 4 * 6);
  EXPECT_EQ(E->SourceText->CacheElements, 2 * 2 * 6);
  EXPECT_EQ(E->SourceText->cacheBytesPerToken(), 2 * 24);
  EXPECT_EQ(*E->DecodeFlops, 2 * (72 + 54) + 2 * 24 * 10 + 50 * 48);
  EXPECT_EQ(E->PrefillFlops, 2 * 72 + 2 * 54 / 10 + 2 * 12 * 11 + 50 * 48);
  Json J = toJson(*E);
  EXPECT_EQ(J["encoder_matmul_parameters"], 108);
  EXPECT_EQ(J["cross_cache"]["bytes_per_source_token"], 48);
  EXPECT_EQ(J["cross_cache"]["bytes_full_source"], 48 * 50);
  EXPECT_EQ(J["flops_per_token"]["source_context"], 50);
  EXPECT_EQ(J["flops_per_token"]["encode"], E->SourceText->EncodeFlops);
  EXPECT_EQ(J["flops_per_token"]["cross_attention_per_source_token"], 48);
  EXPECT_EQ(J["kv_cache"]["kind"], "keys and values");
  EXPECT_NE(toText(*E, "bf16").find("48 bytes per source token"),
            std::string::npos);
}

/// The published DeepSeek-V3 without its quantisation, which is how weights are
/// stored and not how many there are. "671B total parameters with 37B
/// activated" (DeepSeek-AI 2024).
TEST(EstimateTest, DeepSeekV3) {
  MLIRContext Context;
  auto Model = importConfig(Context, R"({
    "architectures": ["DeepseekV3ForCausalLM"], "attention_bias": false,
    "attention_dropout": 0.0, "aux_loss_alpha": 0.001, "bos_token_id": 0,
    "eos_token_id": 1, "ep_size": 1, "first_k_dense_replace": 3,
    "hidden_act": "silu", "hidden_size": 7168, "initializer_range": 0.02,
    "intermediate_size": 18432, "kv_lora_rank": 512,
    "max_position_embeddings": 163840, "model_type": "deepseek_v3",
    "moe_intermediate_size": 2048, "moe_layer_freq": 1, "n_group": 8,
    "n_routed_experts": 256, "n_shared_experts": 1, "norm_topk_prob": true,
    "num_attention_heads": 128, "num_experts_per_tok": 8,
    "num_hidden_layers": 61, "num_key_value_heads": 128,
    "num_nextn_predict_layers": 1, "pretraining_tp": 1, "q_lora_rank": 1536,
    "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "rms_norm_eps": 1e-6,
    "rope_scaling": {"beta_fast": 32, "beta_slow": 1, "factor": 40,
      "mscale": 1.0, "mscale_all_dim": 1.0,
      "original_max_position_embeddings": 4096, "type": "yarn"},
    "rope_theta": 10000, "routed_scaling_factor": 2.5,
    "scoring_func": "sigmoid", "seq_aux": true, "tie_word_embeddings": false,
    "topk_group": 4, "topk_method": "noaux_tc", "torch_dtype": "bfloat16",
    "transformers_version": "4.33.1", "use_cache": true, "v_head_dim": 128,
    "vocab_size": 129280})");
  ASSERT_TRUE(Model) << Model.error().message();
  auto E = estimateModel(*Model->Module, 4096);
  ASSERT_TRUE(E) << E.error().message();
  const int64_t Expert = 3ll * 7168 * 2048;
  const int64_t Attention =
      1536ll * 7168 + 1536 + 24576ll * 1536 + // Queries.
      576ll * 7168 + 512 + 32768ll * 512 +    // Latent vectors, expanded.
      7168ll * 16384 + 2 * 7168;              // Output and layer norms.
  const int64_t Router = 256ll * 7168 + 256;
  const int64_t Total = 2 * 129280ll * 7168 + 7168 + 61 * Attention +
                        3 * (3ll * 7168 * 18432) +
                        58 * (Router + (256 + 1) * Expert);
  EXPECT_EQ(Total, 671026419200);
  EXPECT_EQ(E->Parameters, Total);
  EXPECT_EQ(E->ActiveParameters, Total - 58 * (256 - 8) * Expert);
  EXPECT_EQ(E->ActiveParameters, 37552297472);
  // 576 values of 16 bits in each layer.
  EXPECT_TRUE(E->IsLatent);
  EXPECT_EQ(E->cacheBytesPerToken(), 61 * 576 * 2);
  // Tables, norms and the correction are not multiplied with.
  const int64_t Norms = 61 * (1536 + 512 + 2 * 7168) + 7168;
  EXPECT_EQ(E->MatmulParameters,
            E->ActiveParameters - 129280ll * 7168 - Norms - 58 * 256);
  EXPECT_EQ(*E->DecodeFlops,
            2 * E->MatmulParameters + 61 * 128 * 2 * (2 * 512 + 64) * 4096ll);
}

} // namespace
