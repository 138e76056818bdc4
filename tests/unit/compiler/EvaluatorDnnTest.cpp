//===- EvaluatorDnnTest.cpp - The oracle on the dnn dialect ---------------===//
//
// Each operation computes what the function of its twin in the transformer
// dialect does, at sizes that are no multiple of anything.
//
//===----------------------------------------------------------------------===//

#include "EvaluatorDnnTestSupport.h"
#include "EvaluatorTestSupport.h"

#include "gmock/gmock.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;
using testing::ElementsAre;

namespace {

/// `Values` as an element of type bf16 holds them.
Tensor2D inBF16(Tensor2D Values) {
  for (float &X : Values.Data)
    X = roundTo(ElementType::BF16, X);
  return Values;
}

/// Three sequences, of which some tokens are output rows.
EvaluatorBatch someBatch() {
  EvaluatorBatch Batch;
  Batch.add(4, {{3, 0, 5, 8, 1}}, 0, 1);
  Batch.add(2, {{7}}, 3, 1);
  Batch.add(9, {{6, 2, 4}}, 1, 2);
  return Batch;
}

//===----------------------------------------------------------------------===//
// Rows of the batch
//===----------------------------------------------------------------------===//

TEST_F(EvaluatorDnn, Embedding) {
  EvaluatorBatch Batch = someBatch();
  Tensor2D Table = scattered(11, 5, 1);
  auto Embed = [&](StringRef Format, StringRef Index, StringRef Type) {
    std::string Table5 = ("!dnn.packed<row_major, 11x5x" + Format + ">").str();
    return runOp(", %t: " + Table5,
                 ("dnn.embedding " + Index + " %b, %t offset 2 outs(%o) : " +
                  "(!batch, " + Table5 + ", " + Type + ") -> " + Type)
                     .str(),
                 Type, Batch, {Table});
  };
  expectNear(Embed("f32", "token", "tensor<?x5xf32>"),
             *evaluate::embedding(Table, Batch.TokenIds, 2), 0);
  expectNear(Embed("bf16", "position", "tensor<?x5xf32>"),
             *evaluate::embedding(inBF16(Table), Batch.Positions, 2), 0);
  // Without types all are of type 0.
  expectNear(Embed("f32", "token_type", "tensor<?x5xbf16>"),
             *evaluate::embedding(inBF16(Table), std::vector<int64_t>(9), 2),
             0);
}

TEST_F(EvaluatorDnn, RowsOfTheBatch) {
  EvaluatorBatch Batch = someBatch();
  Batch.Features = scattered(9, 3, 1);
  expectNear(runOp("",
                   "dnn.input_features %b outs(%o) : (!batch, "
                   "tensor<?x3xf32>) -> tensor<?x3xf32>",
                   "tensor<?x3xf32>", Batch, {}),
             Batch.Features, 0);
  Tensor2D Input = scattered(9, 3, 2), Token = scattered(1, 3, 3);
  expectNear(
      runOp(", %x: tensor<?x3xf32>, %t: !dnn.packed<vector, 3x1xf32>",
            "dnn.class_token %x, %b, %t outs(%o) : (tensor<?x3xf32>, !batch, "
            "!dnn.packed<vector, 3x1xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>",
            "tensor<?x3xf32>", Batch, {Input, Token}),
      evaluate::classToken(Input, Batch, Token), 0);
  int64_t Id = Batch.TokenIds[4];
  expectNear(runOp(", %x: tensor<?x3xf32>",
                   "dnn.merge_features %x, %b token " + std::to_string(Id) +
                       " outs(%o) : (tensor<?x3xf32>, !batch, "
                       "tensor<?x3xf32>) -> tensor<?x3xf32>",
                   "tensor<?x3xf32>", Batch, {Input}),
             evaluate::mergeFeatures(Input, Batch, Id), 0);
  expectNear(runOp(", %x: tensor<?x3xf32>",
                   "dnn.select_output_rows %x, %b outs(%o) : (tensor<?x3xf32>, "
                   "!batch, tensor<?x3xf32>) -> tensor<?x3xf32>",
                   "tensor<?x3xf32>", Batch, {Input}, "output_rows"),
             evaluate::selectOutputRows(Input, Batch), 0);
  expectNear(runOp(", %x: tensor<?x3xf32>",
                   "dnn.pool mean %x, %b normalize outs(%o) : "
                   "(tensor<?x3xf32>, !batch, tensor<?x3xf32>) -> "
                   "tensor<?x3xf32>",
                   "tensor<?x3xf32>", Batch, {Input}, "sequences"),
             evaluate::pool(PoolKind::Mean, Input, Batch, true), 0);
}

//===----------------------------------------------------------------------===//
// Row by row
//===----------------------------------------------------------------------===//

TEST_F(EvaluatorDnn, Norms) {
  EvaluatorBatch Batch = someBatch();
  Tensor2D X = scattered(9, 6, 1), Y = scattered(9, 6, 2);
  Tensor2D Weight = scattered(1, 6, 3), Bias = scattered(1, 6, 4);
  Tensor2D Weight3 = evaluate::slice(Weight, 0, 3);
  Tensor2D Bias3 = evaluate::slice(Bias, 0, 3);
  expectNear(
      runOp(", %x: tensor<?x6xf32>, %w: !dnn.packed<vector, 3x1xf32>, "
            "%v: !dnn.packed<vector, 3x1xf32>",
            "dnn.layer_norm %x, %w, %v eps 0.25 groups 2 outs(%o) : "
            "(tensor<?x6xf32>, !dnn.packed<vector, 3x1xf32>, "
            "!dnn.packed<vector, 3x1xf32>, tensor<?x6xf32>) -> tensor<?x6xf32>",
            "tensor<?x6xf32>", Batch, {X, Weight3, Bias3}),
      evaluate::layerNorm(X, Weight3, &Bias3, 0.25, 2), 0);
  expectNear(
      runOp(", %x: tensor<?x6xf32>, %w: !dnn.packed<vector, 6x1xf32>",
            "dnn.rms_norm %x, %w eps 0.25 groups 3 offset 1.0 outs(%o) : "
            "(tensor<?x6xf32>, !dnn.packed<vector, 6x1xf32>, "
            "tensor<?x6xf32>) -> tensor<?x6xf32>",
            "tensor<?x6xf32>", Batch, {X, Weight}),
      evaluate::rmsNorm(X, Weight, 0.25, 3, 1), 0);
  // The sum is in full, the norm rounded.
  auto Got = run(R"(
    func.func @f(%s: !scope, %b: !batch, %x: tensor<?x6xf32>,
        %y: tensor<?x6xf32>, %w: !dnn.packed<vector, 6x1xf32>,
        %v: !dnn.packed<vector, 6x1xf32>)
        -> (tensor<?x6xf32>, tensor<?x6xbf16>) {
      %n = dnn.count tokens %b
      %o = tensor.empty(%n) : tensor<?x6xf32>
      %p = tensor.empty(%n) : tensor<?x6xbf16>
      %r:2 = dnn.add_norm layer %x, %y weight %w bias %v eps 0.25 outs(%o, %p)
          : (tensor<?x6xf32>, tensor<?x6xf32>, !dnn.packed<vector, 6x1xf32>,
             !dnn.packed<vector, 6x1xf32>, tensor<?x6xf32>, tensor<?x6xbf16>)
          -> (tensor<?x6xf32>, tensor<?x6xbf16>)
      return %r#0, %r#1 : tensor<?x6xf32>, tensor<?x6xbf16>
    })",
                 Batch, {X, Y, Weight, Bias});
  ASSERT_EQ(Got.size(), 2u);
  auto Wanted = evaluate::addNorm(NormKind::Layer, X, Y, Weight, &Bias, 0.25);
  expectNear(Got[0], Wanted.Sum, 0);
  expectNear(Got[1], inBF16(Wanted.Normed), 0);
}

TEST_F(EvaluatorDnn, ElementByElement) {
  EvaluatorBatch Batch = someBatch();
  Tensor2D X = scattered(9, 5, 1), Y = scattered(9, 5, 2);
  Tensor2D Gate = scattered(9, 1, 3);
  auto Unary = [&](const std::string &Op) {
    return runOp(", %x: tensor<?x5xf32>",
                 "dnn." + Op +
                     " outs(%o) : (tensor<?x5xf32>, tensor<?x5xf32>) "
                     "-> tensor<?x5xf32>",
                 "tensor<?x5xf32>", Batch, {X});
  };
  expectNear(Unary("activation gelu %x"),
             evaluate::activation(Activation::Gelu, X), 0);
  expectNear(Unary("scale %x by 0.75"), evaluate::scale(X, 0.75), 0);
  expectNear(Unary("soft_cap %x at 0.5"), evaluate::softCap(X, 0.5), 0);
  expectNear(Unary("clamp %x at 0.5"), evaluate::clamp(X, 0.5), 0);
  expectNear(Unary("cast %x"), X, 0);
  expectNear(runOp(", %x: tensor<?x5xf32>, %y: tensor<?x5xf32>",
                   "dnn.residual %x, %y outs(%o) : (tensor<?x5xf32>, "
                   "tensor<?x5xf32>, tensor<?x5xf32>) -> tensor<?x5xf32>",
                   "tensor<?x5xf32>", Batch, {X, Y}),
             evaluate::residual(X, Y), 0);
  expectNear(runOp(", %x: tensor<?x5xf32>, %y: tensor<?x1xf32>",
                   "dnn.sigmoid_gate %x, %y outs(%o) : (tensor<?x5xf32>, "
                   "tensor<?x1xf32>, tensor<?x5xf32>) -> tensor<?x5xf32>",
                   "tensor<?x5xf32>", Batch, {X, Gate}),
             evaluate::sigmoidGate(X, Gate), 0);
  expectNear(runOp(", %x: tensor<?x5xf32>",
                   "dnn.slice %x from 1 outs(%o) : (tensor<?x5xf32>, "
                   "tensor<?x3xf32>) -> tensor<?x3xf32>",
                   "tensor<?x3xf32>", Batch, {X}),
             evaluate::slice(X, 1, 3), 0);
}

/// Neighbours of bf16 are 2^-7 apart above 1: ties go to the even one.
TEST_F(EvaluatorDnn, StoresRoundToEven) {
  Tensor2D X = matrix({{1 + 0x1p-8f, 1 + 0x3p-8f, -1 - 0x1p-8f},
                       {1 + 0x1.02p-8f, 1 + 0x0.fep-8f, 3.4e38f}});
  Tensor2D Wanted =
      matrix({{1, 1 + 0x1p-6f, -1},
              {1 + 0x1p-7f, 1, std::numeric_limits<float>::infinity()}});
  Tensor2D Got =
      runOp(", %x: tensor<?x3xf32>",
            "dnn.cast %x outs(%o) : (tensor<?x3xf32>, tensor<?x3xbf16>) -> "
            "tensor<?x3xbf16>",
            "tensor<?x3xbf16>", batchOf({2}), {X});
  EXPECT_EQ(Got.Data, Wanted.Data);
}

//===----------------------------------------------------------------------===//
// Matmuls
//===----------------------------------------------------------------------===//

TEST_F(EvaluatorDnn, Matmul) {
  EvaluatorBatch Batch = someBatch();
  Tensor2D X = scattered(9, 5, 1), M = scattered(9, 7, 2),
           R = scattered(9, 7, 3);
  Tensor2D A = scattered(3, 5, 4), B = scattered(4, 5, 5);
  Tensor2D V = scattered(1, 3, 6), W = scattered(1, 4, 7);
  Stored = {{"s.a", A}, {"s.b", B}, {"s.v", V}, {"s.w", W}};
  // Weights are those of both keys, one below another, rounded; the bias is
  // not, the input is exact in bf16.
  Evaluator E = evaluatorOf(R"(
    func.func @f(%s: !scope, %b: !batch, %x: tensor<?x5xbf16>,
        %m: tensor<?x7xf32>, %r: tensor<?x7xf32>) -> tensor<?x7xbf16> {
      %w = dnn.weight %s ["a", "b"] of ffn : <panels, 7x5xbf16>
      %v = dnn.weight %s ["v", "w"] of ffn : <vector, 7x1xf32>
      %n = dnn.count tokens %b
      %o = tensor.empty(%n) : tensor<?x7xbf16>
      %y = dnn.matmul %x weight %w bias %v activation silu multiplier %m
          residual %r outs(%o)
          : (tensor<?x5xbf16>, !dnn.packed<panels, 7x5xbf16>,
             !dnn.packed<vector, 7x1xf32>, tensor<?x7xf32>, tensor<?x7xf32>,
             tensor<?x7xbf16>) -> tensor<?x7xbf16>
      return %y : tensor<?x7xbf16>
    })");
  EvaluatorInputs Inputs = {{X, M, R}, {{"s", 0}}};
  A = inBF16(A);
  B = inBF16(B);
  const Tensor2D *Weights[] = {&A, &B}, *Biases[] = {&V, &W};
  Tensor2D Wanted = inBF16(
      evaluate::matmul(inBF16(X), Weights, Biases, Activation::Silu, &M, &R));
  auto Got = E.call(function(), Batch, Inputs);
  ASSERT_TRUE(Got) << Got.error().message();
  ASSERT_EQ(Got->size(), 1u);
  expectNear(Got->front(), Wanted, 0);
  Got = E.evaluate(*function().getOps<dnn::MatmulOp>().begin(), Batch, Inputs);
  ASSERT_TRUE(Got) << Got.error().message();
  expectNear(Got->front(), Wanted, 0);
}

TEST_F(EvaluatorDnn, GatedMatmul) {
  EvaluatorBatch Batch = someBatch();
  Tensor2D X = scattered(9, 5, 1), Gate = scattered(3, 5, 2),
           Up = scattered(3, 5, 3);
  Tensor2D GateBias = scattered(1, 3, 4), UpBias = scattered(1, 3, 5);
  expectNear(
      runOp(", %x: tensor<?x5xf32>, %g: !dnn.packed<panels, 3x5xf32>, "
            "%u: !dnn.packed<panels, 3x5xf32>, "
            "%v: !dnn.packed<vector, 3x1xf32>, "
            "%w: !dnn.packed<vector, 3x1xf32>",
            "dnn.gated_matmul gelu_tanh %x gate %g bias %v up %u bias %w "
            "outs(%o) : (tensor<?x5xf32>, !dnn.packed<panels, 3x5xf32>, "
            "!dnn.packed<panels, 3x5xf32>, !dnn.packed<vector, 3x1xf32>, "
            "!dnn.packed<vector, 3x1xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>",
            "tensor<?x3xf32>", Batch, {X, Gate, Up, GateBias, UpBias}),
      evaluate::gatedMatmul(Activation::GeluTanh, X, Gate, &GateBias, Up,
                            &UpBias),
      0);
}

//===----------------------------------------------------------------------===//
// Attention and its cache
//===----------------------------------------------------------------------===//

TEST_F(EvaluatorDnn, RopeByTable) {
  EvaluatorBatch Batch = someBatch();
  Tensor2D X = scattered(9, 14, 1);
  StringRef Arguments = ", %x: tensor<?x14xf32>", Type = "tensor<?x14xf32>";
  for (RopeStyle Style : {RopeStyle::Half, RopeStyle::Interleaved}) {
    std::string Rope = ("<" + stringifyRopeStyle(Style) +
                        ", dim = 4, base = 100.0, yarn(factor = 4.0, fast = "
                        "32.0, slow = 1.0, original = 8.0, truncate = 1.0, "
                        "attention = 1.5)>")
                           .str();
    auto Op = [&](int64_t Rows) {
      std::string Table = ("<row_major, " + std::to_string(Rows) + "x4xf32>\n");
      return "dnn.rope %x, %b heads 2 from 3 " + Rope +
             " table %t outs(%o) : (tensor<?x14xf32>, !batch, !dnn.packed" +
             Table + ", tensor<?x14xf32>) -> tensor<?x14xf32>";
    };
    auto Table = [&](int64_t Rows) {
      return "dnn.table #transformer.rope" + Rope + " in %s : <row_major, " +
             std::to_string(Rows) + "x4xf32>\n";
    };
    // The table stands before what reads it.
    std::string Text = "func.func @f(%s: !scope, %b: !batch" + Arguments.str() +
                       ") -> " + Type.str() + " {\n";
    auto Whole = [&](int64_t Rows) {
      return Text + "%t = " + Table(Rows) +
             "%n = dnn.count tokens %b\n%o = tensor.empty(%n) : " + Type.str() +
             "\n%r = " + Op(Rows) + "\nreturn %r : " + Type.str() + "\n}";
    };
    auto Got = run(Whole(5), Batch, {X});
    ASSERT_EQ(Got.size(), 1u);
    RopeAttr Wanted =
        rope(Style, 4, 100, RopeScaling::Yarn, {4.0, 32.0, 1.0, 8.0, 1.0, 1.5});
    // The table is rounded to f32.
    expectNear(Got[0], evaluate::rope(X, Batch.Positions, 2, 3, Wanted), 3e-7);
    auto Refused =
        evaluatorOf(Whole(4)).call(function(), Batch, {{X}, {{"s", 0}}});
    ASSERT_FALSE(Refused);
    EXPECT_NE(Refused.error().message().find(
                  "position 4: expected one below 4, the rows of the table"),
              std::string::npos)
        << Refused.error().message();
  }
}

/// Keys and values are appended by one function and attended to by another:
/// both know the cache of that type.
TEST_F(EvaluatorDnn, SplitAppendAndAttention) {
  constexpr int64_t Heads = 4, KvHeads = 2, HeadDim = 6;
  Evaluator E = evaluatorOf(R"(
    !cache = !transformer.cache<2x6xbf16>
    !norm = !dnn.packed<vector, 6x1xf32>
    !sinks = !dnn.packed<vector, 4x1xf32>
    !table = !dnn.packed<row_major, 80x4xf32>
    func.func @append(%s: !scope, %b: !batch, %c: !cache, %x: tensor<?x48xf32>,
        %p: !norm, %q: !norm) -> tensor<?x24xf32> {
      %n = dnn.count tokens %b
      %o = tensor.empty(%n) : tensor<?x24xf32>
      %t = dnn.table #transformer.rope<half, dim = 4, base = 100.0> in %s
          : <row_major, 80x4xf32>
      %r = dnn.split_append %x to %c[%s], %b heads 4 kv_heads 2 query_norm %p
          key_norm %q eps 0.25 norm_offset 1.0
          rope <half, dim = 4, base = 100.0> table %t outs(%o)
          : (tensor<?x48xf32>, !cache, !scope, !batch, !norm, !norm, !table,
             tensor<?x24xf32>) -> tensor<?x24xf32>
      return %r : tensor<?x24xf32>
    }
    func.func @attend(%s: !scope, %b: !batch, %c: !cache, %q: tensor<?x24xf32>,
        %k: !sinks) -> tensor<?x24xbf16> {
      %n = dnn.count tokens %b
      %o = tensor.empty(%n) : tensor<?x24xbf16>
      %r = dnn.attention causal %q, %b cache %c[%s] heads 4 kv_heads 2
          scale 0.5 window 3 soft_cap 2.0 sinks %k outs(%o)
          : (tensor<?x24xf32>, !batch, !cache, !scope, !sinks,
             tensor<?x24xbf16>) -> tensor<?x24xbf16>
      return %r : tensor<?x24xbf16>
    })");
  Tensor2D QueryNorm = scattered(1, HeadDim, 1),
           KeyNorm = scattered(1, HeadDim, 2);
  Tensor2D Sinks = scattered(1, Heads, 3);
  evaluate::SplitShape Split;
  Split.Heads = Heads;
  Split.KvHeads = KvHeads;
  Split.QueryNorm = &QueryNorm;
  Split.KeyNorm = &KeyNorm;
  Split.Eps = 0.25;
  Split.NormOffset = 1;
  Split.Rope = rope(RopeStyle::Half, 4, 100);
  evaluate::AttentionShape Shape;
  Shape.Heads = Heads;
  Shape.KvHeads = KvHeads;
  Shape.Scale = 0.5;
  Shape.Window = 3;
  Shape.SoftCap = 2;
  Shape.Sinks = &Sinks;
  KeyValueCache Cache(KvHeads * HeadDim, KvHeads * HeadDim, CacheFormat::BF16);
  for (auto [Position, Count] : {std::pair(0, 70), std::pair(70, 3)}) {
    EvaluatorBatch Batch;
    Batch.add(7, std::vector<int64_t>(Count), Position, 0);
    Tensor2D Qkv = scattered(Count, 48, 4 + Position);
    const Tensor2D *One[] = {&Qkv};
    auto Query = E.call(function("append"), Batch,
                        {{Qkv, QueryNorm, KeyNorm}, {{"l", 5}}});
    ASSERT_TRUE(Query) << Query.error().message();
    Tensor2D Wanted = *evaluate::splitAppend(One, Cache, 5, Batch, Split);
    expectNear(Query->front(), Wanted);
    auto Got = E.call(function("attend"), Batch, {{Wanted, Sinks}, {{"l", 5}}});
    ASSERT_TRUE(Got) << Got.error().message();
    // Keys may be rounded the other way.
    expectNear(Got->front(),
               inBF16(*evaluate::cachedOnlineAttention(Wanted, Batch, Cache, 5,
                                                       Shape)),
               8e-3);
  }
  KeyValueCache &Kept = E.cache(function("append"), 2);
  ASSERT_EQ(Kept.length(5, 7), 73);
  EXPECT_LE(difference(Kept.key(5, 7, 71), Cache.key(5, 7, 71), 12), 8e-3);
  EXPECT_LE(difference(Kept.value(5, 7, 72), Cache.value(5, 7, 72), 12), 0);
  EXPECT_EQ(Kept.length(0, 7), 0);
  E.forget(7);
  EXPECT_EQ(Kept.length(5, 7), 0);
}

TEST_F(EvaluatorDnn, StagedAttention) {
  // More than one page; keys and values of two sequences.
  EvaluatorBatch Batch = batchOf({61, 9});
  Tensor2D Q = scattered(70, 6, 1), K = scattered(70, 3, 2),
           V = scattered(70, 3, 3);
  auto Got = run(R"(
    func.func @f(%s: !scope, %b: !batch, %q: tensor<?x6xf32>,
        %k: tensor<?x3xf32>, %v: tensor<?x3xf32>)
        -> (tensor<?x6xf32>, tensor<?x1216xf32>) {
      %n = dnn.count tokens %b
      %c = dnn.count staged_pages %b
      %o = tensor.empty(%n) : tensor<?x6xf32>
      %p = tensor.empty(%c) : tensor<?x1216xf32>
      %r:2 = dnn.split_stage %q, %k, %v of %b heads 2 kv_heads 1 outs(%o, %p)
          : (tensor<?x6xf32>, tensor<?x3xf32>, tensor<?x3xf32>, !batch,
             tensor<?x6xf32>, tensor<?x1216xf32>)
          -> (tensor<?x6xf32>, tensor<?x1216xf32>)
      %a = dnn.attention bidirectional %r#0, %b staged %r#1 heads 2 kv_heads 1
          scale 0.5 outs(%o)
          : (tensor<?x6xf32>, !batch, tensor<?x1216xf32>, tensor<?x6xf32>)
          -> tensor<?x6xf32>
      return %a, %r#1 : tensor<?x6xf32>, tensor<?x1216xf32>
    })",
                 Batch, {Q, K, V});
  ASSERT_EQ(Got.size(), 2u);
  evaluate::AttentionShape Shape;
  Shape.Heads = 2;
  Shape.Scale = 0.5;
  Shape.Mask = MaskKind::Bidirectional;
  expectNear(Got[0], evaluate::attention(Q, Batch, K, V, Shape));
  const Tensor2D *Qkv[] = {&Q, &K, &V};
  evaluate::SplitShape Split;
  Split.Heads = 2;
  expectNear(Got[1], evaluate::splitStage(Qkv, Batch, Split).Staged, 0);
}

TEST_F(EvaluatorDnn, BiasesByTable) {
  EvaluatorBatch Batch = batchOf({21, 4});
  Tensor2D Q = scattered(25, 6, 1), K = scattered(25, 6, 2),
           V = scattered(25, 6, 3);
  Stored["s.biases"] = scattered(8, 3, 4);
  auto Attend = [&](const std::string &Content, const std::string &Of,
                    int64_t Width) {
    std::string Table = "<row_major, 3x" + std::to_string(Width) + "xf32>";
    auto Got =
        run("func.func @f(%s: !scope, %b: !batch, %q: tensor<?x6xf32>, "
            "%k: tensor<?x6xf32>, %v: tensor<?x6xf32>) -> "
            "tensor<?x6xf32> {\n"
            "%n = dnn.count tokens %b\n"
            "%c = dnn.count staged_pages %b\n"
            "%o = tensor.empty(%n) : tensor<?x6xf32>\n"
            "%p = tensor.empty(%c) : tensor<?x3456xf32>\n"
            "%r:2 = dnn.split_stage %q, %k, %v of %b heads 3 kv_heads 3 "
            "outs(%o, %p) : (tensor<?x6xf32>, tensor<?x6xf32>, "
            "tensor<?x6xf32>, !batch, tensor<?x6xf32>, "
            "tensor<?x3456xf32>) -> (tensor<?x6xf32>, "
            "tensor<?x3456xf32>)\n"
            "%t = dnn.table " +
                Content + " in %s" + Of + " : " + Table +
                "\n"
                "%a = dnn.attention bidirectional %r#0, %b staged %r#1 "
                "heads 3 kv_heads 3 scale 0.5 bias %t content " +
                Content +
                " outs(%o) : (tensor<?x6xf32>, !batch, tensor<?x3456xf32>, "
                "!dnn.packed" +
                Table +
                ", tensor<?x6xf32>) -> "
                "tensor<?x6xf32>\nreturn %a : tensor<?x6xf32>\n}",
            Batch, {Q, K, V});
    return Got.empty() ? Tensor2D() : Got.front();
  };
  evaluate::AttentionShape Shape;
  Shape.Heads = Shape.KvHeads = 3;
  Shape.Scale = 0.5;
  Shape.Mask = MaskKind::Bidirectional;
  Shape.Buckets = BucketsAttr::get(&Context, 8, 12, true);
  Shape.Bias = &Stored["s.biases"];
  expectNear(Attend("#transformer.buckets<8, max = 12, bidirectional>",
                    " of \"biases\"", 25),
             evaluate::attention(Q, Batch, K, V, Shape));
  Shape.Buckets = {};
  Shape.Alibi = AlibiAttr::get(&Context, 8.0, false);
  expectNear(Attend("#transformer.alibi<max = 8.0>", "", 1),
             evaluate::attention(Q, Batch, K, V, Shape));
}

TEST_F(EvaluatorDnn, AppendsAndLatentAttention) {
  EvaluatorBatch Batch = batchOf({5, 2});
  Tensor2D Q = scattered(7, 15, 1), C = scattered(7, 4, 2),
           R = scattered(7, 2, 3), Expand = scattered(15, 4, 4);
  Evaluator E = evaluatorOf(R"(
    !cache = !transformer.cache<latent 1x6xf32>
    func.func @f(%s: !scope, %b: !batch, %c: !cache, %q: tensor<?x15xf32>,
        %l: tensor<?x4xf32>, %r: tensor<?x2xf32>,
        %e: !dnn.packed<row_major, 15x4xf32>)
        -> (tensor<?x6xf32>, tensor<?x12xf32>) {
      dnn.latent_append %c[%s], %b latent %l rotated %r
          : !cache, !scope, !batch, tensor<?x4xf32>, tensor<?x2xf32>
      %n = dnn.count tokens %b
      %o = tensor.empty(%n) : tensor<?x6xf32>
      %p = tensor.empty(%n) : tensor<?x12xf32>
      %a:2 = dnn.latent_attention %q, %b cache %c[%s] expand %e heads 3
          key_dim 3 value_dim 2 scale 0.5 outs(%o, %p)
          : (tensor<?x15xf32>, !batch, !cache, !scope,
             !dnn.packed<row_major, 15x4xf32>, tensor<?x6xf32>,
             tensor<?x12xf32>) -> (tensor<?x6xf32>, tensor<?x12xf32>)
      return %a#0, %a#1 : tensor<?x6xf32>, tensor<?x12xf32>
    }
    func.func @append(%s: !scope, %b: !batch,
        %c: !transformer.cache<1x4xf32>, %l: tensor<?x4xf32>) {
      dnn.cache_append %c[%s], %b keys %l values %l
          : !transformer.cache<1x4xf32>, !scope, !batch, tensor<?x4xf32>,
            tensor<?x4xf32>
      return
    })");
  auto Got = E.call(function(), Batch, {{Q, C, R, Expand}, {{"s", 1}}});
  ASSERT_TRUE(Got) << Got.error().message();
  KeyValueCache Cache(6, 0, CacheFormat::F32);
  ASSERT_TRUE(evaluate::latentAppend(Cache, 1, Batch, C, R));
  expectNear(
      (*Got)[0],
      *evaluate::latentAttention(Q, Batch, Cache, 1, Expand, {3, 3, 2, 0.5}),
      0);
  // State is scratch.
  ASSERT_EQ((*Got)[1].Data.size(), 7u * 12u);
  for (float X : (*Got)[1].Data)
    EXPECT_TRUE(std::isnan(X));

  auto Appended = E.call(function("append"), Batch, {{C}, {{"s", 1}}});
  ASSERT_TRUE(Appended) << Appended.error().message();
  EXPECT_TRUE(Appended->empty());
  KeyValueCache &Kept = E.cache(function("append"), 2);
  EXPECT_EQ(difference(Kept.value(1, 1, 1), C.row(6), 4), 0);
}

//===----------------------------------------------------------------------===//
// Mixtures of experts
//===----------------------------------------------------------------------===//

TEST_F(EvaluatorDnn, MoeStepByStep) {
  constexpr int64_t Tokens = 5, Width = 3, Inner = 5, Count = 4;
  Tensor2D X = scattered(Tokens, Width, 1);
  // Experts 2 3, 0 2, 2 0, 3 0, 2 3; nobody chooses expert 1.
  Tensor2D Logits = matrix({{0, -9, 2, 1},
                            {2, -9, 1, 0},
                            {1, -9, 2, 0},
                            {1, -9, 0, 2},
                            {0, -9, 2, 1}});
  Tensor2D Correction = matrix({{0, 0, 0, 0.01f}});
  Tensor2D Gate = scattered(Count * Inner, Width, 2),
           Up = scattered(Count * Inner, Width, 3),
           Down = scattered(Count * Width, Inner, 4);
  Tensor2D GateBias = scattered(Count, Inner, 5),
           UpBias = scattered(Count, Inner, 6),
           DownBias = scattered(Count, Width, 7);
  auto Got =
      run(R"(
    !x = tensor<?x3xf32>
    !k = tensor<?x2xi32>
    !offsets = tensor<1x5xi32>
    !up = !dnn.packed<panels, 4x5x3xf32>
    !down = !dnn.packed<panels, 4x3x5xf32>
    !ub = !dnn.packed<row_major, 4x5xf32>
    !db = !dnn.packed<row_major, 4x3xf32>
    func.func @f(%s: !scope, %b: !batch, %x: !x, %l: tensor<?x4xf32>,
        %c: !dnn.packed<vector, 4x1xf32>, %g: !up, %u: !up, %d: !down,
        %gb: !ub, %ub: !ub, %db: !db)
        -> (!k, tensor<?x2xf32>, !k, !offsets, tensor<?x10xf32>,
            tensor<?x6xf32>, !x) {
      %n = dnn.count tokens %b
      %o0 = tensor.empty(%n) : !k
      %o1 = tensor.empty(%n) : tensor<?x2xf32>
      %r:2 = dnn.moe_route %l correction %c <sigmoid, top = 2, normalize>
          outs(%o0, %o1)
          : (tensor<?x4xf32>, !dnn.packed<vector, 4x1xf32>, !k,
             tensor<?x2xf32>) -> (!k, tensor<?x2xf32>)
      %o2 = tensor.empty() : !offsets
      %o:2 = dnn.moe_group %r#0 outs(%o0, %o2) : (!k, !k, !offsets)
          -> (!k, !offsets)
      %o3 = tensor.empty(%n) : tensor<?x10xf32>
      %h = dnn.moe_gate_up silu %x by %o#0, %o#1 gate %g bias %gb up %u
          bias %ub limit 0.25 up_offset 1.0 outs(%o3)
          : (!x, !k, !offsets, !up, !up, !ub, !ub, tensor<?x10xf32>)
          -> tensor<?x10xf32>
      %o4 = tensor.empty(%n) : tensor<?x6xf32>
      %p = dnn.moe_down %h by %o#0, %o#1 down %d bias %db outs(%o4)
          : (tensor<?x10xf32>, !k, !offsets, !down, !db, tensor<?x6xf32>)
          -> tensor<?x6xf32>
      %o5 = tensor.empty(%n) : !x
      %y = dnn.moe_combine %p by %r#1 outs(%o5)
          : (tensor<?x6xf32>, tensor<?x2xf32>, !x) -> !x
      return %r#0, %r#1, %o#0, %o#1, %h, %p, %y
          : !k, tensor<?x2xf32>, !k, !offsets, tensor<?x10xf32>,
            tensor<?x6xf32>, !x
    })",
          batchOf({Tokens}),
          {X, Logits, Correction, Gate, Up, Down, GateBias, UpBias, DownBias});
  ASSERT_EQ(Got.size(), 7u);
  EXPECT_THAT(Got[0].Data, ElementsAre(2, 3, 0, 2, 2, 0, 3, 0, 2, 3));
  EXPECT_THAT(Got[2].Data, ElementsAre(2, 5, 7, 0, 3, 4, 8, 1, 6, 9));
  EXPECT_THAT(Got[3].Data, ElementsAre(0, 3, 3, 7, 10));
  RouterAttr Router = RouterAttr::get(&Context, RouterScore::Sigmoid, 2, true,
                                      1.0, 1, 1, false);
  for (int64_t T = 0; T < Tokens; ++T) {
    evaluate::Choice Chosen =
        evaluate::route({Logits.row(T), Count}, &Correction, Router);
    for (int64_t J = 0; J < 2; ++J) {
      EXPECT_FLOAT_EQ(Got[1].at(T, J), static_cast<float>(Chosen.Weights[J]));
      // One expert alone, weighted 1.
      int64_t E = Chosen.Experts[J];
      auto Part = [&](const Tensor2D &Stack) {
        Tensor2D Matrix(Stack.Rows / Count, Stack.Columns);
        std::copy_n(Stack.row(E * Matrix.Rows), Matrix.Data.size(),
                    Matrix.Data.data());
        return Matrix;
      };
      Tensor2D Row = matrix({{X.at(T, 0), X.at(T, 1), X.at(T, 2)}});
      Tensor2D OwnGate = Part(GateBias), OwnUp = Part(UpBias);
      Tensor2D G = evaluate::linear(Row, Part(Gate), &OwnGate),
               U = evaluate::linear(Row, Part(Up), &OwnUp);
      for (int64_t I = 0; I < Inner; ++I)
        EXPECT_NEAR(
            Got[4].at(T, J * Inner + I),
            evaluate::activate(Activation::Silu, std::min(G.at(0, I), 0.25f)) *
                (std::clamp(U.at(0, I), -0.25f, 0.25f) + 1),
            1e-6);
      Tensor2D Hidden(1, Inner);
      std::copy_n(Got[4].row(T) + J * Inner, Inner, Hidden.row(0));
      Tensor2D OwnDown = Part(DownBias);
      Tensor2D Out = evaluate::linear(Hidden, Part(Down), &OwnDown);
      EXPECT_LE(difference(Got[5].row(T) + J * Width, Out.row(0), Width), 1e-6);
    }
  }
  evaluate::Experts Experts = {&Gate,   &Up,       &Down, &GateBias,
                               &UpBias, &DownBias, 0.25,  1};
  expectNear(Got[6], evaluate::moe(Activation::Silu, X, Logits, &Correction,
                                   Experts, Router));
}

TEST_F(EvaluatorDnn, MoeDataIsChecked) {
  auto Experts = evaluate::moeGroup(matrix({{0, 4}}), 4);
  ASSERT_FALSE(Experts);
  EXPECT_EQ(Experts.error().message(),
            "choice 1 is 4: expected an expert below 4");
  Tensor2D Down = scattered(4, 2, 1);
  evaluate::Experts Stored;
  Stored.Down = &Down;
  auto ExpectRefused = [&](const Tensor2D &Order, const Tensor2D &Offsets,
                           StringRef Message) {
    auto Got =
        evaluate::moeDown(matrix({{1, 2, 3, 4}}), {Order, Offsets}, Stored);
    ASSERT_FALSE(Got) << Message.str();
    EXPECT_EQ(Got.error().message(), Message.str());
  };
  ExpectRefused(matrix({{0, 2}}), matrix({{0, 1, 2}}),
                "order has 2: expected choices below 2");
  ExpectRefused(matrix({{0, 1}}), matrix({{0, 1, 1}}),
                "offsets end at 1: expected 2");
  ExpectRefused(matrix({{0, 1}}), matrix({{0, 1, 3}}),
                "offsets of expert 1 are 1 and 3: expected to go on from 1 and "
                "to end at 2 at most");
}

} // namespace
