//===- ModelBuilder.cpp - Writing a model by hand -------------------------===//

#include "compiler/Builder/ModelBuilder.h"

#include "compiler/Builder/Places.h"
#include "runtime/Support/Json.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"

#include <charconv>

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

StringRef tenon::nameOf(Component Part) {
  switch (Part) {
  case Component::Embedding:
    return "embedding";
  case Component::Attention:
    return "attention";
  case Component::FeedForward:
    return "ffn";
  case Component::Norm:
    return "norm";
  case Component::Head:
    return "head";
  }
  return "";
}

ParameterTypes tenon::uniformTypes(ElementType Matrices) {
  return [Matrices](StringRef, ArrayRef<int64_t> Shape,
                    ParameterUse) -> Result<StorageFormat> {
    return Shape.size() == 1 ? StorageFormat::F32 : formatOf(Matrices);
  };
}

std::string tenon::parameterName(StringRef Scope, StringRef Key) {
  return Scope.empty() ? Key.str() : (Scope + "." + Key).str();
}

void tenon::loadModelDialects(MLIRContext &Context) {
  Context.loadDialect<func::FuncDialect, TransformerDialect>();
}

Status tenon::verifyModel(ModuleOp Module) {
  std::optional<Error> First;
  ScopedDiagnosticHandler Handler(Module.getContext(), [&](Diagnostic &D) {
    if (D.getSeverity() != DiagnosticSeverity::Error || First)
      return success();
    std::string Place = placeOf(D.getLocation());
    First = Error(escaped(Place + (Place.empty() ? "" : ": ") + D.str()));
    return success();
  });
  if (succeeded(verify(Module)) && succeeded(transformer::verifyModel(Module)))
    return {};
  return First ? *First : Error("the model graph is not valid");
}

//===----------------------------------------------------------------------===//
// ModelBuilder
//===----------------------------------------------------------------------===//

ModelBuilder::ModelBuilder(MLIRContext &Context, StringRef Family,
                           ParameterTypes Types)
    : Builder(&Context), Types(std::move(Types)) {
  loadModelDialects(Context);
  Module = ModuleOp::create(NameLoc::get(Builder.getStringAttr(Family)));
  (*Module)->setAttr(attr::Family, Builder.getStringAttr(Family));
}

void ModelBuilder::setCount(StringRef Name, int64_t Value) {
  (*Module)->setAttr(Name, Builder.getI64IntegerAttr(Value));
}

void ModelBuilder::setVocabulary(int64_t Count) {
  setCount(attr::Vocabulary, Count);
}
void ModelBuilder::setMaxSequence(int64_t Tokens) {
  setCount(attr::MaxSequence, Tokens);
}
void ModelBuilder::setTokenTypes(int64_t Count) {
  setCount(attr::TokenTypes, Count);
}

void ModelBuilder::setMaxSource(int64_t Tokens) {
  setCount(attr::MaxSource, Tokens);
}

RankedTensorType ModelBuilder::rows(int64_t Width) {
  return RankedTensorType::get({ShapedType::kDynamic, Width},
                               Builder.getF32Type());
}

CacheType ModelBuilder::cache(int64_t KvHeads, int64_t HeadDim,
                              ElementType Type, CacheKind Kind) {
  return CacheType::get(&context(), Kind, KvHeads, HeadDim,
                        cacheFormatOf(Type));
}

void ModelBuilder::fail(Error E) {
  if (!FirstError)
    FirstError = std::move(E);
}

Result<OwningOpRef<ModuleOp>> ModelBuilder::finish() {
  if (FirstError)
    return *FirstError;
  if (Status S = verifyModel(*Module); !S)
    return S.error();
  return std::move(Module);
}

func::FuncOp ModelBuilder::share(func::FuncOp Function, StringRef Base) {
  SymbolTable Symbols(*Module);
  std::string Name = Base.str();
  // Numbers are taken in order, so the first free one ends the search.
  for (int64_t Number = 1;; ++Number) {
    auto Other = Symbols.lookup<func::FuncOp>(Name);
    if (!Other)
      break;
    if (Other.getFunctionType() == Function.getFunctionType() &&
        OperationEquivalence::isRegionEquivalentTo(
            &Other.getBody(), &Function.getBody(),
            OperationEquivalence::IgnoreLocations)) {
      Function.erase();
      return Other;
    }
    Name = (Base + "_" + Twine(Number)).str();
  }
  Function.setName(Name);
  Module->push_back(Function);
  return Function;
}

//===----------------------------------------------------------------------===//
// FunctionBuilder
//===----------------------------------------------------------------------===//

FunctionBuilder::FunctionBuilder(ModelBuilder &Model, StringRef Name)
    : Model(&Model), Name(Name), Builder(&Model.context()) {
  // Stays outside of the module until finish(), for an equal one may exist.
  Function = func::FuncOp::create(NameLoc::get(Builder.getStringAttr(Name)),
                                  Name, Builder.getFunctionType({}, {}));
  Function->setPrivate();
  Builder.setInsertionPointToStart(Function->addEntryBlock());
}

FunctionBuilder FunctionBuilder::entry(ModelBuilder &Model, StringRef Role,
                                       StringRef Output) {
  FunctionBuilder Result(Model, Role);
  Result.IsEntry = true;
  Result.Function->setPublic();
  (*Result.Function)->setAttr(attr::Role, Result.Builder.getStringAttr(Role));
  (*Result.Function)
      ->setAttr(attr::Output, Result.Builder.getStringAttr(Output));
  return Result;
}

void FunctionBuilder::setVocabulary(int64_t Count) {
  (*Function)->setAttr(attr::Vocabulary, Builder.getI64IntegerAttr(Count));
}

void FunctionBuilder::setMaxSequence(int64_t Tokens) {
  (*Function)->setAttr(attr::MaxSequence, Builder.getI64IntegerAttr(Tokens));
}

Location FunctionBuilder::at(StringRef What) {
  return NameLoc::get(Builder.getStringAttr(Name + "/" + What));
}

Location FunctionBuilder::atWeight(Value Weight) {
  if (auto Parameter = Weight.getDefiningOp<ParameterOp>())
    return at(Parameter.getKey().rsplit('.').first);
  return at("op");
}

template <typename OpTy, typename... ArgTys>
Value FunctionBuilder::create(Location Where, ArgTys &&...Args) {
  return OpTy::create(Builder, Where, std::forward<ArgTys>(Args)...);
}

Value FunctionBuilder::argument(Type Type) {
  return Function->getBody().addArgument(Type, at("argument"));
}

Value FunctionBuilder::scopeArgument(StringRef ScopeName) {
  Value Scope = argument(ScopeType::get(&Model->context()));
  ScopeNames[Scope] = ScopeName.str();
  return Scope;
}

Value FunctionBuilder::batchArgument() {
  return argument(BatchType::get(&Model->context()));
}

Value FunctionBuilder::scope(StringRef ScopeName,
                             std::optional<int64_t> Layer) {
  IntegerAttr LayerAttr;
  if (Layer)
    LayerAttr = Builder.getI64IntegerAttr(*Layer);
  Value Scope =
      create<ScopeOp>(at(ScopeName), ScopeType::get(&Model->context()),
                      Builder.getStringAttr(ScopeName), LayerAttr);
  ScopeNames[Scope] = ScopeName.str();
  return Scope;
}

Value FunctionBuilder::parameter(Value Scope, StringRef Key, Component Part,
                                 ArrayRef<int64_t> Shape, ParameterUse Use) {
  // Asked even when overruled: the tensor must be there.
  Result<StorageFormat> Known =
      Model->Types(parameterName(ScopeNames.lookup(Scope), Key), Shape, Use);
  if (!Known)
    Model->fail(Known.error());
  StorageFormat Format =
      Known && Use != ParameterUse::F32 ? *Known : StorageFormat::F32;
  return create<ParameterOp>(
      at(Key),
      RankedTensorType::get(Shape, storedType(&Model->context(), Format)),
      Scope, Builder.getStringAttr(Key), Builder.getStringAttr(nameOf(Part)));
}

void FunctionBuilder::keepInOneType(Value A, Value B) {
  if (getElementTypeOrSelf(A) == getElementTypeOrSelf(B))
    return;
  for (Value V : {A, B}) {
    auto Type = cast<RankedTensorType>(V.getType());
    auto Parameter = V.getDefiningOp<ParameterOp>();
    if (!Parameter || Type.getElementType().isF32())
      continue;
    V.setType(Type.clone(Builder.getF32Type()));
    Model->Widened.push_back(parameterName(
        ScopeNames.lookup(Parameter.getScope()), Parameter.getKey()));
  }
}

Value FunctionBuilder::embedding(IndexKind Index, Value Batch, Value Table,
                                 int64_t Offset) {
  return create<EmbeddingOp>(atWeight(Table),
                             IndexKindAttr::get(&Model->context(), Index),
                             Batch, Table, Builder.getI64IntegerAttr(Offset));
}

Value FunctionBuilder::sinusoid(RopeStyle Style, Value Batch, int64_t Width) {
  return create<SinusoidOp>(at("sinusoid"), Model->rows(Width), Style, Batch);
}

Value FunctionBuilder::inputFeatures(Value Batch, int64_t Width) {
  return create<InputFeaturesOp>(at("input_features"), Model->rows(Width),
                                 Batch);
}

Value FunctionBuilder::mergeFeatures(Value Input, Value Batch, int64_t Token) {
  return create<MergeFeaturesOp>(at("merge_features"), Input.getType(), Input,
                                 Batch, Token);
}

Value FunctionBuilder::classToken(Value Input, Value Batch, Value Token) {
  return create<ClassTokenOp>(atWeight(Token), Input.getType(), Input, Batch,
                              Token);
}

Value FunctionBuilder::rope(Value Input, Value Batch, int64_t Heads,
                            RopeAttr Rope, int64_t From) {
  return create<RopeOp>(at("rope"), Input.getType(), Input, Batch,
                        Builder.getI64IntegerAttr(Heads),
                        Builder.getI64IntegerAttr(From), Rope);
}

Value FunctionBuilder::layerNorm(Value Input, Value Weight, Value Bias,
                                 double Eps, int64_t Groups) {
  return create<LayerNormOp>(atWeight(Weight), Input.getType(), Input, Weight,
                             Bias, Builder.getF64FloatAttr(Eps),
                             Builder.getI64IntegerAttr(Groups));
}

Value FunctionBuilder::rmsNorm(Value Input, Value Weight, double Eps,
                               int64_t Groups, double Offset) {
  return create<RmsNormOp>(atWeight(Weight), Input.getType(), Input, Weight,
                           Builder.getF64FloatAttr(Eps),
                           Builder.getI64IntegerAttr(Groups),
                           Builder.getF64FloatAttr(Offset));
}

Value FunctionBuilder::activation(transformer::Activation Kind, Value Input) {
  return create<ActivationOp>(at("activation"), Input.getType(), Kind, Input);
}

/// The shortest decimal that is `Value` in f32, which kernels compute in.
static FloatAttr shortReal(OpBuilder &Builder, double Value) {
  char Text[32];
  auto End = std::to_chars(Text, std::end(Text), static_cast<float>(Value)).ptr;
  double Short = Value;
  std::from_chars(Text, End, Short);
  return Builder.getF64FloatAttr(Short);
}

Value FunctionBuilder::scale(Value Input, double Factor) {
  return create<ScaleOp>(at("scale"), Input.getType(), Input,
                         shortReal(Builder, Factor));
}

Value FunctionBuilder::softCap(Value Input, double Bound) {
  return create<SoftCapOp>(at("soft_cap"), Input.getType(), Input,
                           Builder.getF64FloatAttr(Bound));
}

Value FunctionBuilder::clamp(Value Input, double Bound) {
  return create<ClampOp>(at("clamp"), Input.getType(), Input,
                         Builder.getF64FloatAttr(Bound));
}

Value FunctionBuilder::sigmoidGate(Value Input, Value Gate) {
  return create<SigmoidGateOp>(at("sigmoid_gate"), Input.getType(), Input,
                               Gate);
}

Value FunctionBuilder::slice(Value Input, int64_t First, int64_t Count) {
  return create<SliceOp>(at("slice"), Model->rows(Count), Input,
                         Builder.getI64IntegerAttr(First));
}

Value FunctionBuilder::linear(Value Input, Value Weight, Value Bias) {
  return create<LinearOp>(atWeight(Weight), Input, Weight, Bias);
}

Value FunctionBuilder::residual(Value Left, Value Right) {
  return create<ResidualOp>(at("residual"), Left.getType(), Left, Right);
}

Value FunctionBuilder::feedForward(transformer::Activation Act, Value Input,
                                   Value Up, Value Down, Value UpBias,
                                   Value DownBias) {
  return create<FeedForwardOp>(at("feed_forward"), Input, Up, Down, UpBias,
                               DownBias, Act);
}

Value FunctionBuilder::gatedFeedForward(transformer::Activation Act,
                                        Value Input, Value Gate, Value Up,
                                        Value Down, Value GateBias,
                                        Value UpBias, Value DownBias) {
  keepInOneType(Gate, Up);
  return create<GatedFeedForwardOp>(at("gated_feed_forward"), Input, Gate, Up,
                                    Down, GateBias, UpBias, DownBias, Act);
}

Value FunctionBuilder::cacheAppend(Value Cache, Value Scope, Value Batch,
                                   Value Keys, Value Values) {
  return create<CacheAppendOp>(at("cache_append"), Cache, Scope, Batch, Keys,
                               Values);
}

/// A number that may be absent.
static FloatAttr realAttr(OpBuilder &Builder, std::optional<double> Number) {
  return Number ? Builder.getF64FloatAttr(*Number) : FloatAttr();
}

/// Attention over keys and values, or over a cache.
static Value createAttention(OpBuilder &Builder, Location Where, Value Query,
                             Value Batch, Value Keys, Value Values, Value Cache,
                             Value Scope, const AttentionShape &Shape) {
  return AttentionOp::create(
      Builder, Where, Query, Batch, Keys, Values, Cache, Scope, Shape.Bias,
      Shape.Sinks, MaskKindAttr::get(Builder.getContext(), Shape.Mask),
      Builder.getI64IntegerAttr(Shape.Heads),
      Builder.getI64IntegerAttr(Shape.KvHeads), shortReal(Builder, Shape.Scale),
      Shape.Window ? Builder.getI64IntegerAttr(*Shape.Window) : IntegerAttr(),
      realAttr(Builder, Shape.SoftCap), Shape.Alibi, Shape.Buckets);
}

Value FunctionBuilder::attention(Value Query, Value Keys, Value Values,
                                 Value Batch, const AttentionShape &Shape) {
  return createAttention(Builder, at("attention"), Query, Batch, Keys, Values,
                         /*Cache=*/{}, /*Scope=*/{}, Shape);
}

Value FunctionBuilder::cachedAttention(Value Query, Value Cache, Value Scope,
                                       Value Batch,
                                       const AttentionShape &Shape) {
  return createAttention(Builder, at("attention"), Query, Batch, /*Keys=*/{},
                         /*Values=*/{}, Cache, Scope, Shape);
}

Value FunctionBuilder::latentAppend(Value Cache, Value Scope, Value Batch,
                                    Value Latent, Value Rotated) {
  return create<LatentAppendOp>(at("latent_append"), Cache, Scope, Batch,
                                Latent, Rotated);
}

Value FunctionBuilder::latentAttention(Value Query, Value Cache, Value Scope,
                                       Value Batch, Value Expand, int64_t Heads,
                                       int64_t KeyDim, int64_t ValueDim,
                                       double Scale) {
  return create<LatentAttentionOp>(
      at("latent_attention"), Model->rows(Heads * ValueDim), Query, Batch,
      Cache, Scope, Expand, Builder.getI64IntegerAttr(Heads),
      Builder.getI64IntegerAttr(KeyDim), Builder.getI64IntegerAttr(ValueDim),
      shortReal(Builder, Scale));
}

Value FunctionBuilder::moe(const MoeOperands &M) {
  keepInOneType(M.Gate, M.Up);
  return create<MoeOp>(at("moe"), ActivationAttr::get(&Model->context(), M.Act),
                       M.Input, M.Logits, M.Correction, M.Gate, M.Up, M.Down,
                       M.GateBias, M.UpBias, M.DownBias, M.Router,
                       realAttr(Builder, M.Limit),
                       realAttr(Builder, M.UpOffset));
}

Value FunctionBuilder::selectOutputRows(Value Input, Value Batch) {
  return create<SelectOutputRowsOp>(at("select_output_rows"), Input, Batch);
}

Value FunctionBuilder::lmHead(Value Input, Value Batch, Value Weight,
                              Value Bias) {
  return create<LmHeadOp>(at("lm_head"), Input, Batch, Weight, Bias);
}

Value FunctionBuilder::pool(PoolKind Kind, Value Input, Value Batch,
                            bool Normalize) {
  return create<PoolOp>(at("pool"), Kind, Input, Batch, Normalize);
}

SmallVector<Value> FunctionBuilder::call(func::FuncOp Callee,
                                         ValueRange Arguments) {
  std::string Where = Callee.getName().str();
  // The scope is what tells the calls of one function apart.
  for (Value Argument : Arguments)
    if (auto Scope = Argument.getDefiningOp<ScopeOp>()) {
      Where = Scope.getName().str();
      break;
    }
  auto Call = func::CallOp::create(Builder, at(Where), Callee, Arguments);
  return SmallVector<Value>(Call.getResults());
}

func::FuncOp FunctionBuilder::finish(ValueRange Results) {
  func::ReturnOp::create(Builder, at("return"), Results);
  Function->setFunctionType(Builder.getFunctionType(
      Function->getBody().getArgumentTypes(), Results.getTypes()));
  func::FuncOp Finished = Function.release();
  if (!IsEntry)
    return Model->share(Finished, Name);
  Model->module().push_back(Finished);
  return Finished;
}
