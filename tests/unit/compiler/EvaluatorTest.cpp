//===- EvaluatorTest.cpp - The oracle on model graphs ---------------------===//

#include "compiler/Evaluator/Evaluator.h"
#include "EvaluatorTestSupport.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <map>

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

class EvaluatorModules : public testing::Test {
protected:
  EvaluatorModules() { loadModelDialects(Context); }

  /// Parses `Text` and makes an evaluator of it with `Stored` as parameters.
  Evaluator evaluatorOf(StringRef Text) {
    Module = parseSourceString<ModuleOp>(Text, &Context, "graph.mlir");
    EXPECT_TRUE(Module);
    return Evaluator(*Module,
                     [this](StringRef Name, ArrayRef<int64_t>,
                            StorageFormat) -> Result<std::vector<float>> {
                       auto Found = Stored.find(Name.str());
                       if (Found == Stored.end())
                         return Error("no tensor '" + Name.str() + "'");
                       return Found->second;
                     });
  }

  MLIRContext Context;
  OwningOpRef<ModuleOp> Module;
  std::map<std::string, std::vector<float>> Stored;
};

TEST_F(EvaluatorModules, ScopesAndStoredTypes) {
  Stored["table"] = {1, 2, 3, 4};
  Stored["a.w"] = {1.0039062f, 0};
  Stored["b.w"] = {0, 2};
  Evaluator E = evaluatorOf(R"(
    func.func private @dot(%s: !transformer.scope, %x: tensor<?x2xf32>)
        -> tensor<?x1xf32> {
      %w = transformer.parameter %s "w" of ffn : tensor<1x2xbf16>
      %y = transformer.linear %x, %w
          : (tensor<?x2xf32>, tensor<1x2xbf16>) -> tensor<?x1xf32>
      return %y : tensor<?x1xf32>
    }
    func.func @encode(%batch: !transformer.batch) -> tensor<?x1xf32>
        attributes {transformer.role = "encode", transformer.output = "hidden"} {
      %root = transformer.scope ""
      %a = transformer.scope "a"
      %b = transformer.scope "b"
      %t = transformer.parameter %root "table" of embedding : tensor<2x2xf32>
      %x = transformer.embedding token %batch, %t
          : (!transformer.batch, tensor<2x2xf32>) -> tensor<?x2xf32>
      %p = call @dot(%a, %x)
          : (!transformer.scope, tensor<?x2xf32>) -> tensor<?x1xf32>
      %q = call @dot(%b, %x)
          : (!transformer.scope, tensor<?x2xf32>) -> tensor<?x1xf32>
      %r = transformer.residual %p, %q : tensor<?x1xf32>
      return %r : tensor<?x1xf32>
    })");
  // 1.0039 becomes 1 in bf16.
  auto Got = E.run("encode", batchOf({2}));
  ASSERT_TRUE(Got) << Got.error().message();
  expectNear(*Got, matrix({{1 + 4}, {3 + 8}}), 0);

  EXPECT_EQ(E.run("step", batchOf({2})).error().message(),
            "module: role 'step': expected a function that has it");
  EXPECT_EQ(E.run("encode", batchOf({3})).error().message(),
            "graph.mlir:15:12: 'transformer.embedding': index 2 of "
            "token 2: expected at least 0 and below 2");
  Stored.erase("b.w");
  EXPECT_EQ(E.run("encode", batchOf({2})).error().message(),
            "graph.mlir:4:12: 'transformer.parameter': no tensor "
            "'b.w'");
  Stored["b.w"] = {1};
  EXPECT_EQ(E.run("encode", batchOf({2})).error().message(),
            "graph.mlir:4:12: 'transformer.parameter': parameter "
            "'b.w' has 1 elements: expected 2");
}

TEST_F(EvaluatorModules, IndicesOfEmbeddings) {
  Stored["tokens"] = {1, 2, 3};
  Stored["positions"] = {10, 20, 30};
  Stored["types"] = {100, 200};
  Evaluator E = evaluatorOf(R"(
    func.func @encode(%b: !transformer.batch) -> tensor<?x1xf32>
        attributes {transformer.role = "encode", transformer.output = "hidden"} {
      %s = transformer.scope ""
      %w = transformer.parameter %s "tokens" of embedding : tensor<3x1xf32>
      %p = transformer.parameter %s "positions" of embedding : tensor<3x1xf32>
      %t = transformer.parameter %s "types" of embedding : tensor<2x1xf32>
      %x = transformer.embedding token %b, %w
          : (!transformer.batch, tensor<3x1xf32>) -> tensor<?x1xf32>
      %y = transformer.embedding position %b, %p
          : (!transformer.batch, tensor<3x1xf32>) -> tensor<?x1xf32>
      %z = transformer.embedding token_type %b, %t
          : (!transformer.batch, tensor<2x1xf32>) -> tensor<?x1xf32>
      %xy = transformer.residual %x, %y : tensor<?x1xf32>
      %xyz = transformer.residual %xy, %z : tensor<?x1xf32>
      return %xyz : tensor<?x1xf32>
    })");
  EvaluatorBatch Batch;
  Batch.add(0, {{2, 0, 1}}, 0, 0);
  Batch.TokenTypes = {0, 1, 0};
  expectNear(*E.run("encode", Batch), matrix({{113}, {221}, {132}}), 0);
  Batch.TokenTypes.clear();
  expectNear(*E.run("encode", Batch), matrix({{113}, {121}, {132}}), 0);
}

TEST_F(EvaluatorModules, DispatchPicksByRows) {
  Stored["table"] = {0, 0, 0};
  Stored["few"] = {1};
  Stored["many"] = {2};
  for (bool ByOutputs : {false, true}) {
    std::string Text = R"(
      module attributes {transformer.few_tokens = 2 : i64} {
      func.func private @f(%s: !transformer.scope, %x: tensor<?x1xf32>)
          -> tensor<?x1xf32> {
        %w = transformer.parameter %s "few" of norm : tensor<1xf32>
        %y = transformer.layer_norm %x, %w, %w eps 0.5
            : (tensor<?x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
        return %y : tensor<?x1xf32>
      }
      func.func private @m(%s: !transformer.scope, %x: tensor<?x1xf32>)
          -> tensor<?x1xf32> {
        %w = transformer.parameter %s "many" of norm : tensor<1xf32>
        %y = transformer.layer_norm %x, %w, %w eps 0.5
            : (tensor<?x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
        return %y : tensor<?x1xf32>
      }
      func.func @encode(%b: !transformer.batch) -> tensor<?x1xf32>
          attributes {transformer.role = "encode",
                      transformer.output = "hidden"} {
        %s = transformer.scope ""
        %t = transformer.parameter %s "table" of embedding : tensor<3x1xf32>
        %x = transformer.embedding token %b, %t
            : (!transformer.batch, tensor<3x1xf32>) -> tensor<?x1xf32>
        %y = transformer.dispatch @f or @m by )" +
                       std::string(ByOutputs ? "output_rows" : "tokens") +
                       R"( (%s, %x)
            : (!transformer.scope, tensor<?x1xf32>) -> tensor<?x1xf32>
        return %y : tensor<?x1xf32>
      } })";
    Evaluator E = evaluatorOf(Text);
    EvaluatorBatch Batch = batchOf({2});
    EXPECT_EQ(E.run("encode", Batch)->at(0, 0), 1);
    Batch = batchOf({3});
    EXPECT_EQ(E.run("encode", Batch)->at(0, 0), 2);
    Batch.OutputRows.pop_back();
    EXPECT_EQ(E.run("encode", Batch)->at(0, 0), ByOutputs ? 1 : 2);
  }
}

TEST_F(EvaluatorModules, RowCountsAreChecked) {
  Stored["table"] = {0, 0, 0};
  Evaluator E = evaluatorOf(R"(
    func.func @encode(%b: !transformer.batch) -> tensor<?x1xf32>
        attributes {transformer.role = "encode", transformer.output = "hidden"} {
      %s = transformer.scope ""
      %t = transformer.parameter %s "table" of embedding : tensor<3x1xf32>
      %x = transformer.embedding token %b, %t
          : (!transformer.batch, tensor<3x1xf32>) -> tensor<?x1xf32>
      %y = transformer.select_output_rows %x, %b
          : (tensor<?x1xf32>, !transformer.batch) -> tensor<?x1xf32>
      %z = transformer.residual %x, %y : tensor<?x1xf32>
      return %z : tensor<?x1xf32>
    })");
  EvaluatorBatch Batch = batchOf({3});
  EXPECT_TRUE(E.run("encode", Batch));
  Batch.OutputRows = {1};
  EXPECT_EQ(E.run("encode", Batch).error().message(),
            "graph.mlir:10:12: 'transformer.residual': operand 1 "
            "has 1 rows: expected 3");
}

TEST_F(EvaluatorModules, Recursion) {
  Evaluator E = evaluatorOf(R"(
    func.func private @f(%b: !transformer.batch) -> tensor<?x1xf32> {
      %y = call @f(%b) : (!transformer.batch) -> tensor<?x1xf32>
      return %y : tensor<?x1xf32>
    }
    func.func @encode(%b: !transformer.batch) -> tensor<?x1xf32>
        attributes {transformer.role = "encode", transformer.output = "hidden"} {
      %y = call @f(%b) : (!transformer.batch) -> tensor<?x1xf32>
      return %y : tensor<?x1xf32>
    })");
  EXPECT_EQ(E.run("encode", batchOf({1})).error().message(),
            "graph.mlir:2:5: 'func.func': calls nest deeper than "
            "64");
}

TEST_F(EvaluatorModules, Batches) {
  Stored["table"] = {0, 0, 0};
  Evaluator E = evaluatorOf(R"(
    module attributes {transformer.max_sequence = 4 : i64} {
    func.func @encode(%b: !transformer.batch) -> tensor<?x1xf32>
        attributes {transformer.role = "encode", transformer.output = "hidden"} {
      %s = transformer.scope ""
      %t = transformer.parameter %s "table" of embedding : tensor<3x1xf32>
      %x = transformer.embedding token %b, %t
          : (!transformer.batch, tensor<3x1xf32>) -> tensor<?x1xf32>
      return %x : tensor<?x1xf32>
    } })");
  auto ExpectRefused = [&](const EvaluatorBatch &Batch, StringRef Message) {
    auto Got = E.run("encode", Batch);
    ASSERT_FALSE(Got) << Message.str();
    EXPECT_EQ(Got.error().message(), Message.str());
  };
  EvaluatorBatch Good = batchOf({2, 1});
  EXPECT_TRUE(E.run("encode", Good));
  ExpectRefused({}, "batch: field 'TokenIds' has 0 elements: expected at "
                    "least 1");
  EvaluatorBatch Bad = Good;
  Bad.Positions.pop_back();
  ExpectRefused(Bad, "batch: field 'Positions' has 2 elements: expected 3, one "
                     "per token");
  Bad = Good;
  Bad.Sequences.pop_back();
  ExpectRefused(Bad, "batch: field 'Sequences' has 2 elements: expected 3, one "
                     "per token");
  Bad = Good;
  Bad.TokenTypes = {0};
  ExpectRefused(Bad, "batch: field 'TokenTypes' has 1 elements: expected 3, "
                     "one per token");
  Bad = Good;
  Bad.Positions[0] = -1;
  ExpectRefused(Bad, "batch: field 'Positions' of token 0 is -1: expected at "
                     "least 0");
  Bad = Good;
  Bad.Positions[2] = 4;
  ExpectRefused(Bad, "batch: field 'Positions' of token 2 is 4: expected below "
                     "4");
  Bad = Good;
  Bad.Positions[1] = 3;
  ExpectRefused(Bad, "batch: field 'Positions' of token 1 is 3: expected 1, "
                     "the next of its sequence");
  Bad = Good;
  Bad.Sequences = {0, 1, 0};
  ExpectRefused(Bad, "batch: field 'Sequences' of token 2 is 0: expected the "
                     "tokens of a sequence side by side");
  Bad = Good;
  Bad.Prefixes = {1};
  ExpectRefused(Bad, "batch: field 'Prefixes' has 1 elements: expected 2, one "
                     "per sequence");
  Bad.Prefixes = {1, -1};
  ExpectRefused(Bad, "batch: field 'Prefixes' has -1: expected at least 0");
  for (std::vector<int64_t> Wanted :
       {std::vector<int64_t>{0, 0}, {1, 0}, {3}, {-1}}) {
    Bad = Good;
    Bad.OutputRows = Wanted;
    ExpectRefused(Bad, "batch: field 'OutputRows' has " +
                           std::to_string(Wanted.back()) +
                           ": expected ascending rows below 3");
  }
}

/// Encodes a source text into a cache of cross-attention, then decodes with
/// attention to it and to what was decoded. The entries have their caches in
/// different order.
TEST_F(EvaluatorModules, SourceTextsOutliveEncoding) {
  Stored["table"] = {1, 2, 4, 8};
  Stored["zero"] = {0, 0, 0, 0};
  Evaluator E = evaluatorOf(R"(
    module attributes {transformer.max_sequence = 3 : i64,
                       transformer.max_source = 5 : i64} {
    func.func @step(%b: !transformer.batch, %m: !transformer.cache<cross 1x1xf32>,
        %c: !transformer.cache<1x1xf32>)
        -> (tensor<?x1xf32>, !transformer.cache<cross 1x1xf32>,
            !transformer.cache<1x1xf32>)
        attributes {transformer.role = "step", transformer.output = "hidden"} {
      %s = transformer.scope "" layer 3
      %t = transformer.parameter %s "table" of embedding : tensor<4x1xf32>
      %z = transformer.parameter %s "zero" of embedding : tensor<4x1xf32>
      %x = transformer.embedding token %b, %t
          : (!transformer.batch, tensor<4x1xf32>) -> tensor<?x1xf32>
      %q = transformer.embedding token %b, %z
          : (!transformer.batch, tensor<4x1xf32>) -> tensor<?x1xf32>
      %n = transformer.cache_append %c[%s], %b keys %q values %x
          : (!transformer.cache<1x1xf32>, !transformer.scope,
             !transformer.batch, tensor<?x1xf32>, tensor<?x1xf32>)
          -> !transformer.cache<1x1xf32>
      %own = transformer.attention causal %q, %b cache %n[%s] heads 1 kv_heads 1
          scale 1.0 : (tensor<?x1xf32>, !transformer.batch,
             !transformer.cache<1x1xf32>, !transformer.scope)
          -> tensor<?x1xf32>
      %far = transformer.attention bidirectional %q, %b cache %m[%s] heads 1
          kv_heads 1 scale 1.0 : (tensor<?x1xf32>, !transformer.batch,
             !transformer.cache<cross 1x1xf32>, !transformer.scope)
          -> tensor<?x1xf32>
      %y = transformer.residual %own, %far : tensor<?x1xf32>
      return %y, %m, %n : tensor<?x1xf32>, !transformer.cache<cross 1x1xf32>,
          !transformer.cache<1x1xf32>
    }
    func.func @encode(%b: !transformer.batch,
        %m: !transformer.cache<cross 1x1xf32>)
        -> (tensor<?x1xf32>, !transformer.cache<cross 1x1xf32>)
        attributes {transformer.role = "encode",
                    transformer.output = "hidden"} {
      %s = transformer.scope "" layer 3
      %t = transformer.parameter %s "table" of embedding : tensor<4x1xf32>
      %z = transformer.parameter %s "zero" of embedding : tensor<4x1xf32>
      %x = transformer.embedding token %b, %t
          : (!transformer.batch, tensor<4x1xf32>) -> tensor<?x1xf32>
      %q = transformer.embedding token %b, %z
          : (!transformer.batch, tensor<4x1xf32>) -> tensor<?x1xf32>
      %n = transformer.cache_append %m[%s], %b keys %q values %x
          : (!transformer.cache<cross 1x1xf32>, !transformer.scope,
             !transformer.batch, tensor<?x1xf32>, tensor<?x1xf32>)
          -> !transformer.cache<cross 1x1xf32>
      return %x, %n : tensor<?x1xf32>, !transformer.cache<cross 1x1xf32>
    } })");
  EvaluatorBatch Target;
  Target.add(7, {{0, 1}}, 0, 2);
  EXPECT_NE(E.run("step", Target)
                .error()
                .message()
                .find("sequence 7 in layer 3: expected a source text"),
            std::string::npos);
  // Texts of means 3.75 and 2, the first as long as it may be.
  EvaluatorBatch Source;
  Source.add(7, {{3, 0, 1, 3, 0}}, 0, 0);
  Source.add(2, {{1}}, 0, 0);
  Source.TokenIds = {3, 1, 2, 0, 0, 1};
  auto Encoded = E.run("encode", Source);
  ASSERT_TRUE(Encoded) << Encoded.error().message();
  E.forget(0);
  // Own means of 1 and 3 / 2, then of 3.
  float Mean = (8 + 2 + 4 + 1 + 1) / 5.0f;
  expectNear(*E.run("step", Target), matrix({{1 + Mean}, {1.5f + Mean}}));
  EvaluatorBatch Next;
  Next.add(2, {{2}}, 0, 1);
  Next.add(7, {{3}}, 2, 1);
  expectNear(*E.run("step", Next), matrix({{4 + 2}, {11 / 3.0f + Mean}}));
  // Each entry has its own bound.
  Source = {};
  Source.add(4, {{0, 0, 0, 0, 0, 0}}, 0, 0);
  EXPECT_EQ(E.run("encode", Source).error().message(),
            "batch: field 'Positions' of token 5 is 5: expected below 5");
  Target = {};
  Target.add(4, {{0, 0, 0, 0}}, 0, 0);
  EXPECT_EQ(E.run("step", Target).error().message(),
            "batch: field 'Positions' of token 3 is 3: expected below 3");
  // With a sequence its source text goes.
  E.forget(2);
  Next = {};
  Next.add(2, {{2}}, 0, 1);
  EXPECT_FALSE(E.run("step", Next));
}

/// Rows that the caller gives, a class token, columns, numbers.
TEST_F(EvaluatorModules, InputFeatures) {
  Stored["class"] = {9, 9};
  Stored["gate"] = {0, 1};
  Evaluator E = evaluatorOf(R"(
    func.func @encode_image(%b: !transformer.batch) -> tensor<?x1xf32>
        attributes {transformer.role = "encode_image",
                    transformer.output = "hidden"} {
      %s = transformer.scope ""
      %t = transformer.parameter %s "class" of embedding : tensor<2xf32>
      %g = transformer.parameter %s "gate" of ffn : tensor<1x2xf32>
      %x = transformer.input_features %b : tensor<?x2xf32>
      %y = transformer.class_token %x, %b, %t
          : (tensor<?x2xf32>, !transformer.batch, tensor<2xf32>)
          -> tensor<?x2xf32>
      %c = transformer.slice %y from 1 : (tensor<?x2xf32>) -> tensor<?x1xf32>
      %l = transformer.linear %y, %g
          : (tensor<?x2xf32>, tensor<1x2xf32>) -> tensor<?x1xf32>
      %d = transformer.scale %c by 2.0 : tensor<?x1xf32>
      %e = transformer.clamp %d at 12.0 : tensor<?x1xf32>
      %f = transformer.sigmoid_gate %e, %l
          : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %a = transformer.activation relu %f : tensor<?x1xf32>
      %h = transformer.soft_cap %a at 100.0 : tensor<?x1xf32>
      return %h : tensor<?x1xf32>
    })");
  EvaluatorBatch Batch = batchOf({3});
  Batch.Features = matrix({{0, 0}, {1, 2}, {3, -4}});
  auto Wanted = [](double X, double Gate) {
    return static_cast<float>(100 * std::tanh(X / (1 + std::exp(-Gate)) / 100));
  };
  expectNear(*E.run("encode_image", Batch),
             matrix({{Wanted(12, 9)}, {Wanted(4, 2)}, {0}}));
  Batch.Features = matrix({{0, 0}, {1, 2}});
  EXPECT_EQ(E.run("encode_image", Batch).error().message(),
            "graph.mlir:8:12: 'transformer.input_features': batch: "
            "field 'Features' is 2 x 2: expected 3 x 2");
}

/// Experts' matrices one below another, and latent vectors, through the graph.
TEST_F(EvaluatorModules, ExpertsAndLatentVectors) {
  Stored["x"] = {1, 2, 3, 4};
  Stored["r"] = {100, 0, 0, 100};
  Stored["g"] = {1, 0, 0, 1}; // Expert 0 has the first column, 1 the second.
  Stored["u"] = {1, 1, 2, 2};
  Stored["d"] = {1, 0, 0, 1};
  Stored["e"] = {1, 1};
  Evaluator E = evaluatorOf(R"(
    func.func @step(%b: !transformer.batch,
        %c: !transformer.cache<latent 1x2xf32>)
        -> (tensor<?x2xf32>, !transformer.cache<latent 1x2xf32>)
        attributes {transformer.role = "step", transformer.output = "hidden"} {
      %s = transformer.scope "" layer 0
      %t = transformer.parameter %s "x" of embedding : tensor<2x2xf32>
      %r = transformer.parameter %s "r" of embedding : tensor<2x2xf32>
      %g = transformer.parameter %s "g" of ffn : tensor<2x1x2xf32>
      %u = transformer.parameter %s "u" of ffn : tensor<2x1x2xf32>
      %d = transformer.parameter %s "d" of ffn : tensor<2x2x1xf32>
      %e = transformer.parameter %s "e" of attention : tensor<2x1xf32>
      %x = transformer.embedding token %b, %t
          : (!transformer.batch, tensor<2x2xf32>) -> tensor<?x2xf32>
      %l = transformer.embedding token %b, %r
          : (!transformer.batch, tensor<2x2xf32>) -> tensor<?x2xf32>
      %m = transformer.moe none %x, %l <softmax, top = 1> gate %g up %u
          down %d : (tensor<?x2xf32>, tensor<?x2xf32>, tensor<2x1x2xf32>,
             tensor<2x1x2xf32>, tensor<2x2x1xf32>) -> tensor<?x2xf32>
      %lat = transformer.slice %m from 0
          : (tensor<?x2xf32>) -> tensor<?x1xf32>
      %rot = transformer.scale %lat by 0.0 : tensor<?x1xf32>
      %n = transformer.latent_append %c[%s], %b latent %lat rotated %rot
          : (!transformer.cache<latent 1x2xf32>, !transformer.scope,
             !transformer.batch, tensor<?x1xf32>, tensor<?x1xf32>)
          -> !transformer.cache<latent 1x2xf32>
      %q = transformer.scale %m by 0.0 : tensor<?x2xf32>
      %a = transformer.latent_attention %q, %b cache %n[%s] expand %e heads 1
          key_dim 1 value_dim 1 scale 1.0
          : (tensor<?x2xf32>, !transformer.batch,
             !transformer.cache<latent 1x2xf32>, !transformer.scope,
             tensor<2x1xf32>) -> tensor<?x1xf32>
      %y = transformer.sigmoid_gate %m, %a
          : (tensor<?x2xf32>, tensor<?x1xf32>) -> tensor<?x2xf32>
      return %y, %n : tensor<?x2xf32>, !transformer.cache<latent 1x2xf32>
    })");
  // Token 0: expert 0 gives 1 * (1 + 2) in the first column; token 1: expert 1
  // 4 * 2 (3 + 4) in the second. The latent vectors are 3 and 0, so the gates
  // are 3 and their mean.
  auto Gate = [](double X) {
    return static_cast<float>(1 / (1 + std::exp(-X)));
  };
  auto Got = E.run("step", batchOf({2}));
  ASSERT_TRUE(Got) << Got.error().message();
  expectNear(*Got, matrix({{3 * Gate(3), 0}, {0, 56 * Gate(1.5)}}));
}

} // namespace
