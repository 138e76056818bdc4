//===- llama-block.cpp - A LLaMA model written by hand --------------------===//
//
// Writes a small LLaMA model op by op with the builder API and prints it in
// the transformer dialect: what the importers make of a checkpoint's config.
//
//===----------------------------------------------------------------------===//

#include "compiler/Builder/ModelBuilder.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <string>

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

namespace {

// Odd sizes on purpose: nothing rests on powers of two.
constexpr int64_t Vocabulary = 97, Width = 72, Inner = 264, NumLayers = 2;
constexpr int64_t Heads = 6, KvHeads = 3, HeadDim = 24, MaxSequence = 128;
constexpr double Eps = 1e-5;

/// Token ids to rows.
func::FuncOp buildEmbedding(ModelBuilder &Model) {
  FunctionBuilder F(Model, "embed");
  Value Scope = F.scopeArgument("model");
  Value Batch = F.batchArgument();
  Value Table = F.parameter(Scope, "embed_tokens.weight", Component::Embedding,
                            {Vocabulary, Width});
  return F.finish(F.embedding(IndexKind::Token, Batch, Table));
}

/// One layer: attention over the cache, then a gated feed-forward, each after
/// a norm and within a residual.
func::FuncOp buildLayer(ModelBuilder &Model, CacheType Cache,
                        const std::string &ScopeName) {
  FunctionBuilder F(Model, "layer");
  Value Scope = F.scopeArgument(ScopeName);
  Value Batch = F.batchArgument();
  Value OldCache = F.argument(Cache);
  Value Input = F.argument(Model.rows(Width));
  auto Matrix = [&](const char *Key, Component Part, int64_t Outputs,
                    int64_t Inputs) {
    return F.parameter(Scope, Key, Part, {Outputs, Inputs});
  };
  auto Norm = [&](const char *Key, Value Rows) {
    return F.rmsNorm(Rows, F.parameter(Scope, Key, Component::Norm, {Width}),
                     Eps);
  };

  Value Normed = Norm("input_layernorm.weight", Input);
  Value ToQuery = Matrix("self_attn.q_proj.weight", Component::Attention,
                         Heads * HeadDim, Width);
  Value ToKey = Matrix("self_attn.k_proj.weight", Component::Attention,
                       KvHeads * HeadDim, Width);
  Value ToValue = Matrix("self_attn.v_proj.weight", Component::Attention,
                         KvHeads * HeadDim, Width);
  Value Query = F.linear(Normed, ToQuery);
  Value Keys = F.linear(Normed, ToKey);
  Value Values = F.linear(Normed, ToValue);
  auto Rotation =
      RopeAttr::get(&Model.context(), RopeStyle::Half, HeadDim,
                    /*base=*/10000.0, RopeScaling::Default, /*numbers=*/{});
  Query = F.rope(Query, Batch, Heads, Rotation);
  Keys = F.rope(Keys, Batch, KvHeads, Rotation);
  Value NewCache = F.cacheAppend(OldCache, Scope, Batch, Keys, Values);
  AttentionShape Shape;
  Shape.Heads = Heads;
  Shape.KvHeads = KvHeads;
  Shape.Scale = 1 / std::sqrt(static_cast<double>(HeadDim));
  Value Attended = F.cachedAttention(Query, NewCache, Scope, Batch, Shape);
  Value ToOutput = Matrix("self_attn.o_proj.weight", Component::Attention,
                          Width, Heads * HeadDim);
  Value Middle = F.residual(Input, F.linear(Attended, ToOutput));

  Value NormedMiddle = Norm("post_attention_layernorm.weight", Middle);
  Value Gate =
      Matrix("mlp.gate_proj.weight", Component::FeedForward, Inner, Width);
  Value Up = Matrix("mlp.up_proj.weight", Component::FeedForward, Inner, Width);
  Value Down =
      Matrix("mlp.down_proj.weight", Component::FeedForward, Width, Inner);
  Value FeedForward = F.gatedFeedForward(transformer::Activation::Silu,
                                         NormedMiddle, Gate, Up, Down);
  return F.finish({F.residual(Middle, FeedForward), NewCache});
}

/// Final norm, and logits of the rows asked for.
func::FuncOp buildHead(ModelBuilder &Model) {
  FunctionBuilder F(Model, "head");
  Value Scope = F.scopeArgument("model");
  Value Root = F.scopeArgument("");
  Value Batch = F.batchArgument();
  Value Input = F.argument(Model.rows(Width));
  Value Normed = F.rmsNorm(
      Input, F.parameter(Scope, "norm.weight", Component::Norm, {Width}), Eps);
  Value Weight =
      F.parameter(Root, "lm_head.weight", Component::Head, {Vocabulary, Width});
  return F.finish(F.lmHead(Normed, Batch, Weight));
}

/// The entry point: a straight line of calls, one per layer.
void buildStep(ModelBuilder &Model) {
  CacheType Cache = Model.cache(KvHeads, HeadDim, ElementType::F32);
  auto ScopeOf = [](int64_t Layer) {
    return "model.layers." + std::to_string(Layer);
  };
  func::FuncOp Embed = buildEmbedding(Model);
  // Equal layers share a function: the second one built is the first.
  SmallVector<func::FuncOp> Layers;
  for (int64_t I = 0; I < NumLayers; ++I)
    Layers.push_back(buildLayer(Model, Cache, ScopeOf(I)));
  func::FuncOp Head = buildHead(Model);

  FunctionBuilder F = FunctionBuilder::entry(Model, "step", "logits");
  Value Batch = F.batchArgument();
  Value Handle = F.argument(Cache);
  Value Root = F.scope("");
  Value Scope = F.scope("model");
  Value Rows = F.call(Embed, {Scope, Batch}).front();
  for (int64_t I = 0; I < NumLayers; ++I) {
    auto Results =
        F.call(Layers[I], {F.scope(ScopeOf(I), I), Batch, Handle, Rows});
    Rows = Results[0];
    Handle = Results[1];
  }
  Value Logits = F.call(Head, {Scope, Root, Batch, Rows}).front();
  F.finish({Logits, Handle});
}

} // namespace

int main() {
  MLIRContext Context;
  ModelBuilder Model(Context, "llama", uniformTypes(ElementType::F32));
  Model.setVocabulary(Vocabulary);
  Model.setMaxSequence(MaxSequence);
  buildStep(Model);
  auto Module = Model.finish();
  if (!Module) {
    llvm::errs() << "llama-block: error: " << Module.error().message() << "\n";
    return 1;
  }
  (*Module)->print(llvm::outs());
  return 0;
}
