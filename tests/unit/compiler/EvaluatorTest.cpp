//===- EvaluatorTest.cpp - The oracle on modules and references -----------===//

#include "compiler/Evaluator/Evaluator.h"
#include "EvaluatorTestSupport.h"
#include "compiler/Families/Import.h"
#include "passes/Pipelines/Pipelines.h"
#include "runtime/Support/Json.h"
#include "runtime/Tool/Npy.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

#include <map>

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

//===----------------------------------------------------------------------===//
// The interpreter
//===----------------------------------------------------------------------===//

class EvaluatorModules : public testing::Test {
protected:
  EvaluatorModules() { loadModelDialects(Context); }

  /// Parses `Text` and makes an evaluator of it with `Stored` as parameters.
  Evaluator evaluatorOf(StringRef Text) {
    Module = parseSourceString<ModuleOp>(Text, &Context, "graph.mlir");
    EXPECT_TRUE(Module);
    Status Verified = verifyModel(*Module);
    EXPECT_TRUE(Verified) << Verified.error().message();
    return Evaluator(*Module,
                     [this](StringRef Name,
                            ArrayRef<int64_t>) -> Result<std::vector<float>> {
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
            "'transformer.embedding' at loc(\"graph.mlir\":15:12): index 2 of "
            "token 2: expected at least 0 and below 2");
  Stored.erase("b.w");
  EXPECT_EQ(E.run("encode", batchOf({2})).error().message(),
            "'transformer.parameter' at loc(\"graph.mlir\":4:12): no tensor "
            "'b.w'");
  Stored["b.w"] = {1};
  EXPECT_EQ(E.run("encode", batchOf({2})).error().message(),
            "'transformer.parameter' at loc(\"graph.mlir\":4:12): parameter "
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
  for (bool ByWanted : {false, true}) {
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
                       std::string(ByWanted ? "wanted" : "tokens") +
                       R"( (%s, %x)
            : (!transformer.scope, tensor<?x1xf32>) -> tensor<?x1xf32>
        return %y : tensor<?x1xf32>
      } })";
    Evaluator E = evaluatorOf(Text);
    EvaluatorBatch Batch = batchOf({2});
    EXPECT_EQ(E.run("encode", Batch)->at(0, 0), 1);
    Batch = batchOf({3});
    EXPECT_EQ(E.run("encode", Batch)->at(0, 0), 2);
    Batch.Wanted.pop_back();
    EXPECT_EQ(E.run("encode", Batch)->at(0, 0), ByWanted ? 1 : 2);
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
      %y = transformer.select_rows %x, %b
          : (tensor<?x1xf32>, !transformer.batch) -> tensor<?x1xf32>
      %z = transformer.residual %x, %y : tensor<?x1xf32>
      return %z : tensor<?x1xf32>
    })");
  EvaluatorBatch Batch = batchOf({3});
  EXPECT_TRUE(E.run("encode", Batch));
  Batch.Wanted = {1};
  EXPECT_EQ(E.run("encode", Batch).error().message(),
            "'transformer.residual' at loc(\"graph.mlir\":10:12): operand has "
            "1 rows: expected 3");
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
            "'func.func' at loc(\"graph.mlir\":2:5): calls nest deeper than "
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
    Bad.Wanted = Wanted;
    ExpectRefused(Bad, "batch: field 'Wanted' has " +
                           std::to_string(Wanted.back()) +
                           ": expected ascending rows below 3");
  }
}

/// Encodes a source text into a memory, then decodes with attention to it and
/// to what was decoded. The entries have their caches in different order.
TEST_F(EvaluatorModules, MemoriesOutliveEncoding) {
  Stored["table"] = {1, 2, 4, 8};
  Stored["zero"] = {0, 0, 0, 0};
  Evaluator E = evaluatorOf(R"(
    module attributes {transformer.max_sequence = 3 : i64,
                       transformer.max_source = 5 : i64} {
    func.func @step(%b: !transformer.batch, %m: !transformer.cache<memory 1x1xf32>,
        %c: !transformer.cache<1x1xf32>)
        -> (tensor<?x1xf32>, !transformer.cache<memory 1x1xf32>,
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
             !transformer.cache<memory 1x1xf32>, !transformer.scope)
          -> tensor<?x1xf32>
      %y = transformer.residual %own, %far : tensor<?x1xf32>
      return %y, %m, %n : tensor<?x1xf32>, !transformer.cache<memory 1x1xf32>,
          !transformer.cache<1x1xf32>
    }
    func.func @encode(%b: !transformer.batch,
        %m: !transformer.cache<memory 1x1xf32>)
        -> (tensor<?x1xf32>, !transformer.cache<memory 1x1xf32>)
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
          : (!transformer.cache<memory 1x1xf32>, !transformer.scope,
             !transformer.batch, tensor<?x1xf32>, tensor<?x1xf32>)
          -> !transformer.cache<memory 1x1xf32>
      return %x, %n : tensor<?x1xf32>, !transformer.cache<memory 1x1xf32>
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
TEST_F(EvaluatorModules, InputRows) {
  Stored["class"] = {9, 9};
  Stored["gate"] = {0, 1};
  Evaluator E = evaluatorOf(R"(
    func.func @encode_image(%b: !transformer.batch) -> tensor<?x1xf32>
        attributes {transformer.role = "encode_image",
                    transformer.output = "hidden"} {
      %s = transformer.scope ""
      %t = transformer.parameter %s "class" of embedding : tensor<2xf32>
      %g = transformer.parameter %s "gate" of ffn : tensor<1x2xf32>
      %x = transformer.input_rows %b : tensor<?x2xf32>
      %y = transformer.class_token %x, %b, %t
          : (tensor<?x2xf32>, !transformer.batch, tensor<2xf32>)
          -> tensor<?x2xf32>
      %c = transformer.columns %y from 1 : (tensor<?x2xf32>) -> tensor<?x1xf32>
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
            "'transformer.input_rows' at loc(\"graph.mlir\":8:12): batch: "
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
      %m = transformer.mixture none %x, %l <softmax, top = 1> gate %g up %u
          down %d : (tensor<?x2xf32>, tensor<?x2xf32>, tensor<2x1x2xf32>,
             tensor<2x1x2xf32>, tensor<2x2x1xf32>) -> tensor<?x2xf32>
      %lat = transformer.columns %m from 0
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

//===----------------------------------------------------------------------===//
// Stored references
//===----------------------------------------------------------------------===//

struct Fixture {
  std::string Name, Kind, Reference;
  std::optional<int64_t> MaxSequence;
};

std::string fixturePath(const std::string &Name) {
  return std::string(TENON_TEST_DATA) + "/numerics/fixtures/" + Name;
}

/// What index.json lists; empty, which a test notices, when it cannot be read.
std::vector<Fixture> fixtures() {
  std::vector<Fixture> All;
  auto Index = readJsonFile(fixturePath("index.json"));
  if (!Index)
    return All;
  for (const Json &Entry : *Index) {
    Fixture F = {Entry.at("name"), Entry.at("kind"), Entry.at("reference"), {}};
    if (Entry.contains("max_seq_len"))
      F.MaxSequence = Entry["max_seq_len"];
    All.push_back(F);
  }
  return All;
}

NpyArray arrayOf(const std::string &Path) {
  auto Array = readNpy(Path);
  EXPECT_TRUE(Array) << Path << ": " << Array.error().message();
  return Array ? *Array : NpyArray();
}

void PrintTo(const Fixture &F, std::ostream *Out) { *Out << F.Name; }

class EvaluatorReferences : public testing::TestWithParam<Fixture> {
protected:
  EvaluatorReferences() {
    DialectRegistry Registry;
    registerDialects(Registry);
    Context.appendDialectRegistry(Registry);
    loadModelDialects(Context);
    Context.disableMultithreading();
  }

  void SetUp() override {
    Directory = fixturePath(GetParam().Name);
    ImportOptions Options;
    Options.MatrixType = ElementType::F32; // What the references computed in.
    Options.MaxSequence = GetParam().MaxSequence;
    auto Imported = importModel(Context, Directory, Options);
    ASSERT_TRUE(Imported) << Imported.error().message();
    Model.emplace(std::move(*Imported));
    Wanted = arrayOf(Directory + "/" + GetParam().Reference);
    if (isImage())
      return;
    Ids = integers("input_ids");
    ASSERT_GE(Ids.size(), 14u);
    Types = integers("token_type_ids");
    Target = integers("decoder_input_ids");
    Greedy = integers("greedy");
  }

  bool isDecoder() const { return GetParam().Kind == "logits"; }
  bool isTranslation() const { return GetParam().Kind == "seq2seq"; }
  bool isImage() const { return GetParam().Kind == "image"; }
  /// Whether the output has a row per sequence.
  bool isPooled() const { return GetParam().Kind == "classes"; }
  const char *role() const {
    return isDecoder() || isTranslation() ? "step"
           : isImage()                    ? "encode_image"
                                          : "encode";
  }

  /// What the directory has under a name; empty without the file.
  std::vector<int64_t> integers(const char *Name) {
    std::string Path = Directory + "/" + Name + ".npy";
    return llvm::sys::fs::exists(Path) ? arrayOf(Path).Integers
                                       : std::vector<int64_t>();
  }

  /// Runs the fused stage; batches of at most `FewTokens` run `.few` code.
  void fuse(int64_t FewTokens) {
    PassManager Passes(&Context);
    PipelineOptions Options;
    Options.FewTokens = FewTokens;
    for (const Stage &S : stages()) {
      S.Populate(Passes, Options);
      if (S.Name == "fused")
        break;
    }
    ASSERT_TRUE(succeeded(Passes.run(*Model->Module)));
    int64_t Fused = 0;
    Model->Module->walk([&](Operation *Op) {
      EXPECT_FALSE((isa<LinearOp, AttentionOp, LmHeadOp, FeedForwardOp,
                        GatedFeedForwardOp>(Op)));
      Fused += isa<OnlineAttentionOp, LatentAttentionOp>(Op);
    });
    EXPECT_GT(Fused, 0);
  }

  /// Appends tokens [From, From + Length) of the fixture as a sequence.
  void add(EvaluatorBatch &Batch, int64_t Sequence, int64_t From,
           int64_t Length) {
    Batch.add(Sequence, std::span(Ids).subspan(From, Length), 0, Length);
    if (!Types.empty())
      Batch.TokenTypes.insert(Batch.TokenTypes.end(), Types.begin() + From,
                              Types.begin() + From + Length);
  }

  /// Appends an image [channels, height, width] as a class token and patches,
  /// row by row, each in the order of a convolution's kernel.
  void addImage(EvaluatorBatch &Batch, int64_t Sequence,
                const std::vector<float> &Pixels) {
    const ImageInfo &Info = *Model->Image;
    ASSERT_EQ(static_cast<int64_t>(Pixels.size()),
              Info.Channels * Info.Height * Info.Width);
    std::vector<int64_t> Zeros(static_cast<size_t>(Info.patches() + 1));
    Batch.add(Sequence, Zeros, 0, Info.patches() + 1);
    Tensor2D &Rows = Batch.Features;
    Rows.Columns = Info.patchValues();
    Rows.Data.resize(Rows.Data.size() + static_cast<size_t>(Rows.Columns));
    for (int64_t Top = 0; Top + Info.PatchHeight <= Info.Height;
         Top += Info.PatchHeight)
      for (int64_t Left = 0; Left + Info.PatchWidth <= Info.Width;
           Left += Info.PatchWidth)
        for (int64_t C = 0; C < Info.Channels; ++C)
          for (int64_t Y = Top; Y < Top + Info.PatchHeight; ++Y)
            for (int64_t X = Left; X < Left + Info.PatchWidth; ++X)
              Rows.Data.push_back(
                  Pixels[(C * Info.Height + Y) * Info.Width + X]);
    Rows.Rows = static_cast<int64_t>(Rows.Data.size()) / Rows.Columns;
  }

  Tensor2D run(Evaluator &E, const char *Role, const EvaluatorBatch &Batch) {
    auto Got = E.run(Role, Batch);
    EXPECT_TRUE(Got) << Got.error().message();
    return Got ? *Got : Tensor2D();
  }
  Tensor2D step(Evaluator &E, const EvaluatorBatch &Batch) {
    return run(E, "step", Batch);
  }

  /// The output for every token, from a single step.
  Tensor2D whole(Evaluator &E, int64_t Sequence = 0) {
    EvaluatorBatch Batch;
    if (isImage()) {
      std::vector<std::string> Files = {"pixel_values"};
      if (llvm::sys::fs::exists(Directory + "/png_values.npy"))
        Files = {"png_values", "jpeg_values"};
      for (const std::string &File : Files)
        addImage(Batch, Sequence++,
                 arrayOf(Directory + "/" + File + ".npy").Floats);
      return run(E, role(), Batch);
    }
    add(Batch, Sequence, 0, static_cast<int64_t>(Ids.size()));
    if (!isTranslation())
      return run(E, role(), Batch);
    run(E, "encode", Batch);
    Batch = {};
    Batch.add(Sequence, Target, 0, static_cast<int64_t>(Target.size()));
    return step(E, Batch);
  }

  Evaluator evaluator() {
    return Evaluator(*Model->Module, checkpointParameters(*Model->Weights));
  }

  /// The last rows of one step are those that are stored.
  void checkOutput() {
    Evaluator E = evaluator();
    Tensor2D Got = whole(E);
    ASSERT_EQ(Wanted.Shape.size(), 2u);
    ASSERT_EQ(Got.Columns, Wanted.Shape[1]);
    ASSERT_GE(Got.Rows, Wanted.Shape[0]);
    if (isPooled() || isImage())
      ASSERT_EQ(Got.Rows, Wanted.Shape[0]);
    else
      ASSERT_EQ(Got.Rows,
                static_cast<int64_t>((isTranslation() ? Target : Ids).size()));
    double Error = difference(Got.row(Got.Rows - Wanted.Shape[0]),
                              Wanted.Floats.data(), Wanted.Floats.size());
    RecordProperty("error", std::to_string(Error));
    EXPECT_LE(Error, 1e-4);
  }

  /// Nine tokens of prompt, or a source text and the token that begins a
  /// target, then token by token through the cache.
  void checkGreedy() {
    if (Greedy.empty())
      return;
    Evaluator E = evaluator();
    std::vector<int64_t> Next(Ids.begin(), Ids.begin() + 9), Chosen;
    if (isTranslation()) {
      EvaluatorBatch Source;
      add(Source, 0, 0, static_cast<int64_t>(Ids.size()));
      run(E, "encode", Source);
      Next = {Target.front()};
    }
    int64_t Position = 0;
    while (Chosen.size() < Greedy.size()) {
      EvaluatorBatch Batch;
      Batch.add(0, Next, Position, 1);
      Tensor2D Logits = step(E, Batch);
      ASSERT_EQ(Logits.Rows, 1);
      Position += static_cast<int64_t>(Next.size());
      Next = {std::max_element(Logits.Data.begin(), Logits.Data.end()) -
              Logits.Data.begin()};
      Chosen.push_back(Next.front());
    }
    EXPECT_EQ(Chosen, Greedy);
  }

  /// Chunks, single tokens, and sequences side by side give what a single step
  /// of one sequence gives.
  void checkBatching() {
    if (isImage())
      return; // Two images at once are among the outputs.
    Evaluator E = evaluator();
    auto Count = static_cast<int64_t>(std::min<size_t>(Ids.size(), 37));
    Ids.resize(static_cast<size_t>(Count));
    if (!Types.empty())
      Types.resize(static_cast<size_t>(Count));
    if (isTranslation())
      return checkTranslations(E);
    if (!isDecoder())
      return checkEncoderBatching(E);
    Tensor2D Wanted = whole(E, /*Sequence=*/0);
    // Sequence 1 in chunks, among them single tokens, while sequence 2 runs
    // beside it some tokens behind.
    Tensor2D First(0, Wanted.Columns), Second(0, Wanted.Columns);
    int64_t Done = 0, Behind = 0;
    for (int64_t Chunk : {int64_t(5), int64_t(1), int64_t(1), int64_t(12),
                          int64_t(1), int64_t(9), int64_t(8), int64_t(0)}) {
      EvaluatorBatch Batch;
      int64_t Other = Chunk == 0 ? Count - Behind : std::min<int64_t>(Done, 4);
      Other = std::min(Other, Count - Behind);
      if (Other > 0)
        Batch.add(2, std::span(Ids).subspan(Behind, Other), Behind, Other);
      Chunk = std::min(Chunk, Count - Done);
      if (Chunk > 0)
        Batch.add(1, std::span(Ids).subspan(Done, Chunk), Done, Chunk);
      Tensor2D Got = step(E, Batch);
      ASSERT_EQ(Got.Rows, Chunk + Other);
      auto Split = Got.Data.begin() + Other * Got.Columns;
      Second.Data.insert(Second.Data.end(), Got.Data.begin(), Split);
      First.Data.insert(First.Data.end(), Split, Got.Data.end());
      Done += Chunk;
      Behind += Other;
    }
    First.Rows = Done;
    Second.Rows = Behind;
    ASSERT_EQ(Done, Count);
    ASSERT_EQ(Behind, Count);
    expectNear(First, Wanted, 1e-6);
    expectNear(Second, Wanted, 1e-6);

    // A sequence that ended may begin again, and only wanted rows come out.
    E.forget(1);
    EvaluatorBatch Last;
    Last.add(1, Ids, 0, 2);
    Tensor2D Got = step(E, Last);
    ASSERT_EQ(Got.Rows, 2);
    EXPECT_LE(difference(Got.row(0), Wanted.row(Count - 2), Got.Data.size()),
              1e-6);
    // Past the cache's end is an error.
    E.forget(1);
    Last = {};
    Last.add(1, {{0}}, 3, 1);
    auto Refused = E.run("step", Last);
    ASSERT_FALSE(Refused);
    EXPECT_NE(Refused.error().message().find(
                  "position 3 of sequence 1 in layer 0: expected at most 0"),
              std::string::npos)
        << Refused.error().message();
  }

  void checkEncoderBatching(Evaluator &E) {
    auto Count = static_cast<int64_t>(Ids.size());
    auto Run = [&](std::initializer_list<std::pair<int64_t, int64_t>> Parts) {
      EvaluatorBatch Batch;
      int64_t Sequence = 0;
      for (auto [From, Length] : Parts)
        add(Batch, Sequence++, From, Length);
      return run(E, "encode", Batch);
    };
    Tensor2D Long = Run({{0, Count}}), Short = Run({{3, 11}});
    Tensor2D Both = Run({{3, 11}, {0, Count}});
    ASSERT_EQ(Both.Rows, Long.Rows + Short.Rows);
    EXPECT_EQ(Short.Rows, isPooled() ? 1 : 11);
    EXPECT_LE(difference(Both.row(0), Short.row(0), Short.Data.size()), 1e-6);
    EXPECT_LE(difference(Both.row(Short.Rows), Long.row(0), Long.Data.size()),
              1e-6);
  }

  /// Two source texts encoded at once, then decoded side by side in chunks.
  void checkTranslations(Evaluator &E) {
    auto Count = static_cast<int64_t>(Target.size());
    auto Alone = [&](int64_t Sequence, int64_t From, int64_t Length) {
      EvaluatorBatch Source, Batch;
      add(Source, Sequence, From, Length);
      run(E, "encode", Source);
      Batch.add(Sequence, Target, 0, Count);
      return step(E, Batch);
    };
    auto Tokens = static_cast<int64_t>(Ids.size());
    Tensor2D Long = Alone(0, 0, Tokens), Short = Alone(1, 3, 11);
    EvaluatorBatch Source;
    add(Source, 2, 3, 11);
    add(Source, 3, 0, Tokens);
    run(E, "encode", Source);
    for (int64_t Done = 0; Done < Count; Done += 5) {
      int64_t Chunk = std::min<int64_t>(5, Count - Done);
      EvaluatorBatch Batch;
      for (int64_t Sequence : {3, 2})
        Batch.add(Sequence, std::span(Target).subspan(Done, Chunk), Done,
                  Chunk);
      Tensor2D Got = step(E, Batch);
      ASSERT_EQ(Got.Rows, 2 * Chunk);
      auto Elements = static_cast<size_t>(Chunk * Got.Columns);
      EXPECT_LE(difference(Got.row(0), Long.row(Done), Elements), 1e-6);
      EXPECT_LE(difference(Got.row(Chunk), Short.row(Done), Elements), 1e-6);
    }
  }

  MLIRContext Context;
  std::string Directory;
  std::optional<ImportedModel> Model;
  /// Tokens, their types, those of a target text, and what follows greedily;
  /// empty where a fixture has none.
  std::vector<int64_t> Ids, Types, Target, Greedy;
  NpyArray Wanted;
};

TEST_P(EvaluatorReferences, Model) {
  checkOutput();
  checkGreedy();
  checkBatching();
}

TEST_P(EvaluatorReferences, Fused) {
  // Steps of the cases run both `.few` and `.many`.
  fuse(/*FewTokens=*/8);
  checkOutput();
  checkGreedy();
  checkBatching();
}

INSTANTIATE_TEST_SUITE_P(Fixtures, EvaluatorReferences,
                         testing::ValuesIn(fixtures()),
                         [](const testing::TestParamInfo<Fixture> &Info) {
                           std::string Name = Info.param.Name;
                           std::replace(Name.begin(), Name.end(), '-', '_');
                           return Name;
                         });

TEST(EvaluatorFixtures, AreThere) { EXPECT_GE(fixtures().size(), 145u); }

/// In bf16, weights as they are stored and keys and values rounded: within the
/// tolerance of that type, yet not what f32 gives.
TEST(EvaluatorBf16, CacheIsRounded) {
  MLIRContext Context;
  std::string Directory = fixturePath("llama-gqa-llama3");
  auto Model = importModel(Context, Directory);
  ASSERT_TRUE(Model) << Model.error().message();
  auto Ids = arrayOf(Directory + "/input_ids.npy").Integers;
  auto Wanted = arrayOf(Directory + "/logits.npy").Floats;
  Evaluator E(*Model->Module, checkpointParameters(*Model->Weights));
  EvaluatorBatch Batch;
  Batch.add(0, Ids, 0, static_cast<int64_t>(Ids.size()));
  auto Got = E.run("step", Batch);
  ASSERT_TRUE(Got) << Got.error().message();
  ASSERT_EQ(Got->Data.size(), Wanted.size());
  double Error = 0, Length = 0;
  for (size_t I = 0; I < Wanted.size(); ++I) {
    Error += std::pow(static_cast<double>(Got->Data[I]) - Wanted[I], 2);
    Length += std::pow(static_cast<double>(Wanted[I]), 2);
  }
  EXPECT_LE(std::sqrt(Error / Length), 3e-2);
  EXPECT_GE(std::sqrt(Error / Length), 1e-4);
}

} // namespace
