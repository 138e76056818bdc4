//===- EvaluatorPlacedTest.cpp - The oracle on placed modules -------------===//

#include "EvaluatorDnnTestSupport.h"

#include "gmock/gmock.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;
using testing::ElementsAre;

namespace {

/// A layer function of two variants, called for two layers.
constexpr StringLiteral Placed = R"(
  !cache = !transformer.cache<1x4xf32>
  !x = tensor<?x4xf32>
  module attributes {transformer.few_tokens = 2 : i64} {
  func.func private @layer.few(%s: !scope, %b: !batch, %c: !cache, %x: !x)
      -> !x
      attributes {transformer.variant = #transformer.variant<few>} {
    %w = dnn.weight %s ["q", "k", "v"] of attention : <panels, 12x4xf32>
    %t = dnn.count tokens %b
    %o = tensor.empty(%t) : tensor<?x12xf32>
    %qkv = dnn.matmul %x weight %w outs(%o)
        : (!x, !dnn.packed<panels, 12x4xf32>, tensor<?x12xf32>)
        -> tensor<?x12xf32> loc("qkv")
    %p = tensor.empty(%t) : !x
    %q = dnn.split_append %qkv to %c[%s], %b heads 1 kv_heads 1 outs(%p)
        : (tensor<?x12xf32>, !cache, !scope, !batch, !x) -> !x loc("split")
    %a = dnn.attention causal %q, %b cache %c[%s] heads 1 kv_heads 1 scale 0.5
        outs(%p) : (!x, !batch, !cache, !scope, !x) -> !x loc("attention")
    return %a : !x
  }
  func.func private @layer.many(%s: !scope, %b: !batch, %c: !cache, %x: !x)
      -> !x
      attributes {transformer.variant = #transformer.variant<many>} {
    %w = dnn.weight %s ["q", "k", "v"] of attention : <panels, 12x4xf32>
    %t = dnn.count tokens %b
    %o = tensor.empty(%t) : tensor<?x12xf32>
    %qkv = dnn.matmul %x weight %w primitive 0 outs(%o)
        : (!x, !dnn.packed<panels, 12x4xf32>, tensor<?x12xf32>)
        -> tensor<?x12xf32> loc("qkv")
    %p = tensor.empty(%t) : !x
    %q = dnn.split_append %qkv to %c[%s], %b heads 1 kv_heads 1 outs(%p)
        : (tensor<?x12xf32>, !cache, !scope, !batch, !x) -> !x loc("split")
    %a = dnn.attention causal %q, %b cache %c[%s] heads 1 kv_heads 1 scale 0.5
        outs(%p) : (!x, !batch, !cache, !scope, !x) -> !x loc("attention")
    return %a : !x
  }
  func.func @step(%b: !batch, %c: !cache) -> !x
      attributes {transformer.role = "step", transformer.output = "hidden"} {
    %root = dnn.scope %b "" number 0
    %l0 = dnn.scope %b "l.0" number 1 layer 0
    %l1 = dnn.scope %b "l.1" number 2 layer 1
    %e = dnn.weight %root ["table"] of embedding : <row_major, 9x4xf32>
    %t = dnn.count tokens %b
    %r = dnn.count output_rows %b
    %o = tensor.empty(%t) : !x
    %x = dnn.embedding token %b, %e outs(%o)
        : (!batch, !dnn.packed<row_major, 9x4xf32>, !x) -> !x loc("embedding")
    %y = dnn.dispatch @layer.few or @layer.many by tokens of %b
        (%l0, %b, %c, %x) outs(%o) : (!batch, !scope, !batch, !cache, !x, !x)
        -> !x
    %z = dnn.dispatch @layer.few or @layer.many by tokens of %b
        (%l1, %b, %c, %y) outs(%o) : (!batch, !scope, !batch, !cache, !x, !x)
        -> !x
    %p = tensor.empty(%r) : !x
    %h = dnn.select_output_rows %z, %b outs(%p) : (!x, !batch, !x) -> !x
        loc("select")
    return %h : !x
  } })";

/// The same before placement.
constexpr StringLiteral Graph = R"(
  !cache = !transformer.cache<1x4xf32>
  !x = tensor<?x4xf32>
  !w = tensor<4x4xf32>
  module {
  func.func private @layer(%s: !scope, %b: !batch, %c: !cache, %x: !x)
      -> (!x, !cache) {
    %wq = transformer.parameter %s "q" of attention : !w
    %wk = transformer.parameter %s "k" of attention : !w
    %wv = transformer.parameter %s "v" of attention : !w
    %q = transformer.linear %x, %wq : (!x, !w) -> !x
    %k = transformer.linear %x, %wk : (!x, !w) -> !x
    %v = transformer.linear %x, %wv : (!x, !w) -> !x
    %n = transformer.cache_append %c[%s], %b keys %k values %v
        : (!cache, !scope, !batch, !x, !x) -> !cache
    %a = transformer.attention causal %q, %b cache %n[%s] heads 1 kv_heads 1
        scale 0.5 : (!x, !batch, !cache, !scope) -> !x
    return %a, %n : !x, !cache
  }
  func.func @step(%b: !batch, %c: !cache) -> (!x, !cache)
      attributes {transformer.role = "step", transformer.output = "hidden"} {
    %root = transformer.scope ""
    %l0 = transformer.scope "l.0" layer 0
    %l1 = transformer.scope "l.1" layer 1
    %e = transformer.parameter %root "table" of embedding : tensor<9x4xf32>
    %x = transformer.embedding token %b, %e : (!batch, tensor<9x4xf32>) -> !x
    %y, %c1 = call @layer(%l0, %b, %c, %x)
        : (!scope, !batch, !cache, !x) -> (!x, !cache)
    %z, %c2 = call @layer(%l1, %b, %c1, %y)
        : (!scope, !batch, !cache, !x) -> (!x, !cache)
    %h = transformer.select_output_rows %z, %b : (!x, !batch) -> !x
    return %h, %c2 : !x, !cache
  } })";

class EvaluatorPlaced : public EvaluatorDnn {
protected:
  EvaluatorPlaced() {
    Stored["table"] = scattered(9, 4, 1);
    uint32_t Seed = 2;
    for (const char *Name :
         {"l.0.q", "l.0.k", "l.0.v", "l.1.q", "l.1.k", "l.1.v"})
      Stored[Name] = scattered(4, 4, Seed++);
  }

  static EvaluatorBatch prompt() {
    EvaluatorBatch Batch;
    Batch.add(3, {{1, 5, 2, 8}}, 0, 1);
    return Batch;
  }
  static EvaluatorBatch next() {
    EvaluatorBatch Batch;
    Batch.add(3, {{7}}, 4, 1);
    return Batch;
  }
};

TEST_F(EvaluatorPlaced, EqualsTheGraph) {
  std::vector<Tensor2D> Got[2];
  for (int I : {0, 1}) {
    Evaluator E = evaluatorOf(I == 0 ? Graph : Placed);
    for (const EvaluatorBatch &Batch : {prompt(), next()}) {
      auto Rows = E.run("step", Batch);
      ASSERT_TRUE(Rows) << Rows.error().message();
      ASSERT_EQ(Rows->Rows, 1);
      Got[I].push_back(*Rows);
    }
  }
  expectNear(Got[1][0], Got[0][0]);
  expectNear(Got[1][1], Got[0][1]);
}

/// What ran, in order: location, scope, variant and shape.
TEST_F(EvaluatorPlaced, ObserversSeeEveryResult) {
  Evaluator E = evaluatorOf(Placed);
  std::vector<std::string> Seen;
  E.observe([&](const EvaluatorEvent &Event, Tensor2D &Value) {
    std::string Text;
    llvm::raw_string_ostream Stream(Text);
    Stream << cast<NameLoc>(Event.Op->getLoc()).getName().getValue() << " "
           << Event.Result << " '" << Event.Scope.Name << "' "
           << Event.Scope.Layer.value_or(-1) << " "
           << Event.Op->getParentOfType<func::FuncOp>().getName() << " "
           << Value.Rows << "x" << Value.Columns;
    Seen.push_back(Text);
  });
  ASSERT_TRUE(E.run("step", prompt()));
  EXPECT_THAT(Seen, ElementsAre("embedding 0 '' -1 step 4x4",
                                "qkv 0 'l.0' 0 layer.many 4x12",
                                "split 0 'l.0' 0 layer.many 4x4",
                                "attention 0 'l.0' 0 layer.many 4x4",
                                "qkv 0 'l.1' 1 layer.many 4x12",
                                "split 0 'l.1' 1 layer.many 4x4",
                                "attention 0 'l.1' 1 layer.many 4x4",
                                "select 0 '' -1 step 1x4"));
  Seen.clear();
  ASSERT_TRUE(E.run("step", next()));
  ASSERT_EQ(Seen.size(), 8u);
  EXPECT_EQ(Seen[1], "qkv 0 'l.0' 0 layer.few 1x12");
  E.observe(nullptr);
  ASSERT_TRUE(E.run("step", next()));
  EXPECT_EQ(Seen.size(), 8u);
}

/// What an observer leaves is what goes on.
TEST_F(EvaluatorPlaced, ObserversMayChangeResults) {
  Evaluator E = evaluatorOf(Placed);
  Tensor2D Other = scattered(4, 4, 99);
  E.observe([&](const EvaluatorEvent &Event, Tensor2D &Value) {
    if (isa<dnn::AttentionOp>(Event.Op) && Event.Scope.Layer == 1)
      Value = Other;
  });
  auto Got = E.run("step", prompt());
  ASSERT_TRUE(Got) << Got.error().message();
  expectNear(*Got, evaluate::selectOutputRows(Other, prompt()), 0);
}

/// Any operation alone gives what it gave in the whole.
TEST_F(EvaluatorPlaced, SingleOperations) {
  for (StringRef Text : {Placed, Graph}) {
    Evaluator E = evaluatorOf(Text);
    struct Run {
      Operation *Op;
      EvaluatorScope Scope;
      Tensor2D Value;
    };
    std::vector<Run> Runs;
    std::map<std::pair<void *, std::string>, Tensor2D> Values;
    E.observe([&](const EvaluatorEvent &Event, Tensor2D &Value) {
      Runs.push_back({Event.Op, Event.Scope, Value});
      Values[{Event.Op->getResult(Event.Result).getAsOpaquePointer(),
              Event.Scope.Name}] = Value;
    });
    ASSERT_TRUE(E.run("step", prompt()));
    E.observe(nullptr);
    int64_t Checked = 0;
    for (const Run &R : Runs) {
      EvaluatorInputs Inputs;
      Inputs.Scopes = {R.Scope};
      auto Dps = dyn_cast<DestinationStyleOpInterface>(R.Op);
      for (OpOperand &Operand : R.Op->getOpOperands()) {
        Value V = Operand.get();
        if (!isa<RankedTensorType>(V.getType()) ||
            V.getDefiningOp<ParameterOp>() || (Dps && Dps.isDpsInit(&Operand)))
          continue;
        auto Known = Values.find({V.getAsOpaquePointer(), R.Scope.Name});
        if (Known != Values.end()) {
          Inputs.Tensors.push_back(Known->second);
          continue;
        }
        // Of the function, or of a call: what the first layer, or the last,
        // made.
        bool IsArgument = isa<BlockArgument>(V);
        Inputs.Tensors.push_back(
            IsArgument && R.Scope.Layer == 0
                ? Runs.front().Value
                : llvm::find_if(llvm::reverse(Runs), [&](const Run &Other) {
                    return Other.Scope.Layer == (IsArgument ? 0 : 1);
                  })->Value);
      }
      auto Got = E.evaluate(R.Op, prompt(), Inputs);
      ASSERT_TRUE(Got) << Got.error().message();
      expectNear(Got->front(), R.Value, 0);
      ++Checked;
    }
    EXPECT_GE(Checked, 8);
  }
}

TEST_F(EvaluatorPlaced, Errors) {
  auto ExpectRefused = [&](const Result<std::vector<Tensor2D>> &Got,
                           StringRef Message) {
    ASSERT_FALSE(Got) << Message.str();
    EXPECT_NE(Got.error().message().find(Message.str()), std::string::npos)
        << Got.error().message();
  };
  Evaluator E = evaluatorOf(Placed);
  func::FuncOp Layer = function("layer.few");
  Tensor2D X = scattered(1, 4, 1);
  ExpectRefused(E.call(Layer, next(), {{X}, {}}),
                "argument 0: expected a scope among the inputs");
  ExpectRefused(E.call(Layer, next(), {{}, {{"l.0", 0}}}),
                "argument 3: expected a tensor among the inputs");
  ExpectRefused(E.call(Layer, next(), {{X, X}, {{"l.0", 0}}}),
                "argument 4: expected no more, got further inputs");
  ExpectRefused(E.call(Layer, next(), {{scattered(1, 5, 1)}, {{"l.0", 0}}}),
                "argument 3 is 1 x 5: expected 1 x 4");
  ExpectRefused(E.call(Layer, prompt(), {{X}, {{"l.0", 0}}}),
                "qkv: 'dnn.matmul': result 0 is 1 x 12: expected 4 "
                "x 12");
  ExpectRefused(E.call(Layer, next(), {{X}, {{"l.2", 0}}}),
                "no tensor 'l.2.q'");
  Stored["l.0.k"] = scattered(3, 4, 1);
  ExpectRefused(E.call(Layer, next(), {{X}, {{"l.0", 0}}}),
                "parameters have 44 elements: expected 48");
  Stored["l.0.k"] = scattered(4, 4, 1);

  auto Matmul = *Layer.getOps<dnn::MatmulOp>().begin();
  ExpectRefused(E.evaluate(Matmul, next(), {{}, {{"l.0", 0}}}),
                "qkv: 'dnn.matmul': operand 0: expected a tensor "
                "among the inputs");
  ExpectRefused(E.evaluate(Matmul, next(), {{X, X}, {{"l.0", 0}}}),
                "expected 1 inputs, got 2");
  ExpectRefused(E.evaluate(Matmul, next(), {{X}, {}}),
                "operand 1: operand: expected a handle, or an input for it");
  ExpectRefused(
      E.evaluate(Matmul, next(), {{scattered(1, 3, 1)}, {{"l.0", 0}}}),
      "operand 0: is 1 x 3: expected 1 x 4");
}

/// A function of buffers is refused at its first operation on them.
TEST_F(EvaluatorPlaced, BuffersAreRefused) {
  Evaluator E = evaluatorOf(R"(
    func.func @f(%b: !batch) {
      %n = dnn.count tokens %b
      %x = dnn.buffer %b[%n] at 0 : memref<?x4xf32>
      return
    }
    func.func @g(%b: !batch) {
      dnn.barrier %b
      return
    })");
  for (auto [Name, Op] :
       {std::pair("f", "'dnn.buffer'"), std::pair("g", "'dnn.barrier'")}) {
    auto Got = E.call(function(Name), prompt());
    ASSERT_FALSE(Got);
    EXPECT_TRUE(
        StringRef(Got.error().message())
            .ends_with(std::string(": ") + Op +
                       ": operation on buffers: expected one on tensors"))
        << Got.error().message();
  }
}

} // namespace
