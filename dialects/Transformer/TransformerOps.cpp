//===- TransformerOps.cpp - Type inference and verifiers ------------------===//
//
// Each check is a numbered constraint of SPEC.md; messages say what was
// expected and what was found.
//
//===----------------------------------------------------------------------===//

#include "dialects/Transformer/Transformer.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tenon::transformer;

//===----------------------------------------------------------------------===//
// Assembly of words and reals
//===----------------------------------------------------------------------===//

static ParseResult parseWord(OpAsmParser &Parser, StringAttr &Word) {
  StringRef Text;
  if (Parser.parseKeyword(&Text))
    return failure();
  Word = Parser.getBuilder().getStringAttr(Text);
  return success();
}

static void printWord(OpAsmPrinter &Printer, Operation *, StringAttr Word) {
  Printer << Word.getValue();
}

static ParseResult parseReal(OpAsmParser &Parser, FloatAttr &Real) {
  double Value;
  if (Parser.parseFloat(Value))
    return failure();
  Real = Parser.getBuilder().getF64FloatAttr(Value);
  return success();
}

static void printReal(OpAsmPrinter &Printer, Operation *, FloatAttr Real) {
  Printer.printFloat(Real.getValue());
}

//===----------------------------------------------------------------------===//
// Names of printed results
//===----------------------------------------------------------------------===//

/// The last `Words` words of a dotted name, joined by underscores.
static std::string lastWords(StringRef Name, unsigned Words) {
  SmallVector<StringRef> Parts;
  Name.split(Parts, '.');
  ArrayRef<StringRef> Last = ArrayRef(Parts).take_back(Words);
  return llvm::join(Last, "_");
}

/// The same of a parameter's key, without what follows a tensor's name.
static std::string nameOfKey(StringRef Key, unsigned Words) {
  std::string Name = lastWords(
      Key.take_until([](char C) { return C == '^' || C == '['; }), Words);
  llvm::erase(Name, '*');
  return Name;
}

/// What a result is called when it has no parameter to be called after.
static StringRef resultName(Operation *Op) {
  StringRef Mnemonic = Op->getName().stripDialect();
  return llvm::StringSwitch<StringRef>(Mnemonic)
      .Case("rope", "rotated")
      .Cases({"layer_norm", "rms_norm"}, "normed")
      .Case("residual", "sum")
      .Cases({"attention", "online_attention", "latent_attention"}, "attended")
      .Cases({"cache_append", "latent_append"}, "cache")
      .Case("sinusoid", "positions")
      .Case("scale", "scaled")
      .Cases({"soft_cap", "clamp"}, "capped")
      .Case("sigmoid_gate", "gated")
      .Cases({"input_rows", "class_token"}, "rows")
      .Cases({"feed_forward", "gated_feed_forward"}, "ffn")
      .Case("select_rows", "wanted")
      .Case("lm_head", "logits")
      .Case("pool", "pooled")
      .Default(Mnemonic);
}

void tenon::transformer::nameResults(Operation *Op,
                                     OpAsmSetValueNameFn SetName) {
  if (auto Scope = dyn_cast<ScopeOp>(Op)) {
    std::string Name = lastWords(Scope.getName(), 1);
    if (std::optional<uint64_t> Layer = Scope.getLayer())
      Name = "l" + std::to_string(*Layer);
    return SetName(Scope, Name.empty() ? "root" : Name);
  }
  if (auto Parameter = dyn_cast<ParameterOp>(Op))
    return SetName(Parameter, nameOfKey(Parameter.getKey(), 2));
  if (auto Linear = dyn_cast<LinearOp>(Op))
    if (auto Weight = Linear.getWeight().getDefiningOp<ParameterOp>();
        Weight && !Weight.getKey().contains('['))
      return SetName(Linear, lastWords(Weight.getKey().rsplit('.').first, 1));
  if (auto Append = dyn_cast<SplitAppendOp>(Op)) {
    SetName(Append.getQuery(), "query");
    return SetName(Append.getResult(), "cache");
  }
  if (auto Stage = dyn_cast<SplitStageOp>(Op)) {
    SetName(Stage.getQuery(), "query");
    return SetName(Stage.getStaged(), "staged");
  }
  if (auto AddNorm = dyn_cast<AddNormOp>(Op)) {
    SetName(AddNorm.getSum(), "sum");
    return SetName(AddNorm.getResult(), "normed");
  }
  // Calls keep numbers: their results are of any kind.
  if (!isa<DispatchOp>(Op))
    SetName(Op->getResult(0), resultName(Op));
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static int64_t widthOf(Value Rows) {
  return cast<RankedTensorType>(Rows.getType()).getDimSize(1);
}

static int64_t sizeOf(Value Tensor, unsigned Dim) {
  return cast<RankedTensorType>(Tensor.getType()).getDimSize(Dim);
}

/// tensor<?xWxf32>.
static RankedTensorType rowsType(MLIRContext *Context, int64_t Width) {
  return RankedTensorType::get({ShapedType::kDynamic, Width},
                               Float32Type::get(Context));
}

/// "CONSTRAINT: WHAT: expected EXPECTED, got GOT", unless they are equal.
static LogicalResult checkEqual(Operation *Op, StringRef Constraint,
                                const Twine &What, int64_t Expected,
                                int64_t Got) {
  if (Expected == Got)
    return success();
  return Op->emitOpError() << Constraint << ": " << What << ": expected "
                           << Expected << ", got " << Got;
}

/// An [N, K] weight takes rows of width K and an optional bias has N elements.
static LogicalResult checkWeight(Operation *Op, StringRef Prefix,
                                 const Twine &Name, Value Weight, Value Bias,
                                 int64_t Width) {
  if (failed(checkEqual(Op, (Prefix + "_c1").str(), Name + " input features",
                        Width, sizeOf(Weight, 1))))
    return failure();
  if (!Bias)
    return success();
  return checkEqual(Op, (Prefix + "_c2").str(), Name + " bias elements",
                    sizeOf(Weight, 0), sizeOf(Bias, 0));
}

/// `heads` divides the width, `kv_heads` divides `heads`.
static LogicalResult checkHeads(Operation *Op, StringRef Constraint,
                                int64_t Heads, int64_t KvHeads) {
  if (Heads < 1 || KvHeads < 1 || Heads % KvHeads != 0)
    return Op->emitOpError()
           << Constraint << ": heads: expected a positive multiple of kv_heads "
           << KvHeads << ", got " << Heads;
  return success();
}

static LogicalResult checkEps(Operation *Op, StringRef Constraint,
                              const APFloat &Eps) {
  double Value = Eps.convertToDouble();
  if (Value >= 0 && Value < 1)
    return success();
  return Op->emitOpError() << Constraint
                           << ": eps: expected a number from 0 to 1, got "
                           << Value;
}

//===----------------------------------------------------------------------===//
// Model
//===----------------------------------------------------------------------===//

LogicalResult ScopeOp::verify() {
  if (std::optional<uint64_t> Layer = getLayer();
      Layer && static_cast<int64_t>(*Layer) < 0)
    return emitOpError() << "scope_c1: layer: expected at least 0, got "
                         << static_cast<int64_t>(*Layer);
  return success();
}

LogicalResult ParameterOp::verify() {
  static constexpr StringRef Components[] = {"embedding", "attention", "ffn",
                                             "norm", "head"};
  if (!llvm::is_contained(Components, getComponent())) {
    auto Diag = emitOpError() << "parameter_c1: component: expected one of ";
    llvm::interleaveComma(Components, Diag);
    return Diag << ", got " << getComponent();
  }
  if (getKey().empty())
    return emitOpError() << "parameter_c2: key: expected a name, got none";
  return success();
}

LogicalResult DispatchOp::verifySymbolUses(SymbolTableCollection &SymbolTable) {
  for (FlatSymbolRefAttr Symbol : {getFewAttr(), getManyAttr()}) {
    auto Callee =
        SymbolTable.lookupNearestSymbolFrom<FunctionOpInterface>(*this, Symbol);
    if (!Callee)
      return emitOpError() << "dispatch_c1: " << Symbol
                           << ": expected a function of that name";
    if (!llvm::equal(Callee.getArgumentTypes(), getOperandTypes()) ||
        !llvm::equal(Callee.getResultTypes(), getResultTypes()))
      return emitOpError() << "dispatch_c2: " << Symbol << ": expected type "
                           << FunctionType::get(getContext(), getOperandTypes(),
                                                getResultTypes())
                           << ", got " << Callee.getFunctionType();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Embeddings and positions
//===----------------------------------------------------------------------===//

LogicalResult EmbeddingOp::inferReturnTypes(MLIRContext *Context,
                                            std::optional<Location>,
                                            Adaptor Operands,
                                            SmallVectorImpl<Type> &Results) {
  Results.push_back(rowsType(Context, sizeOf(Operands.getTable(), 1)));
  return success();
}

LogicalResult EmbeddingOp::verify() {
  auto Offset = static_cast<int64_t>(getOffset());
  if (Offset >= 0 && Offset < sizeOf(getTable(), 0))
    return success();
  return emitOpError()
         << "embedding_c1: offset: expected a row of the table of "
         << sizeOf(getTable(), 0) << ", got " << Offset;
}

LogicalResult SinusoidOp::verify() {
  if (widthOf(getResult()) >= 2)
    return success();
  return emitOpError() << "sinusoid_c1: width: expected at least 2, got "
                       << widthOf(getResult());
}

LogicalResult ClassTokenOp::verify() {
  return checkEqual(*this, "class_token_c1", "elements of the token",
                    widthOf(getInput()), sizeOf(getToken(), 0));
}

/// The part of a head that rotates fits into the head.
static LogicalResult checkRope(Operation *Op, StringRef Constraint,
                               RopeAttr Rope, int64_t HeadDim) {
  if (Rope.getDim() <= HeadDim)
    return success();
  return Op->emitOpError() << Constraint
                           << ": rope dim: expected at most head_dim "
                           << HeadDim << ", got " << Rope.getDim();
}

LogicalResult RopeOp::verify() {
  auto Heads = static_cast<int64_t>(getHeads());
  int64_t Width = widthOf(getInput());
  if (Heads < 1 || Width % Heads != 0)
    return emitOpError() << "rope_c1: heads: expected a divisor of the width "
                         << Width << ", got " << Heads;
  auto Offset = static_cast<int64_t>(getOffset());
  if (Offset < 0 || Offset >= Width / Heads)
    return emitOpError() << "rope_c3: from: expected an element of a head of "
                         << Width / Heads << ", got " << Offset;
  return checkRope(*this, "rope_c2", getRope(), Width / Heads - Offset);
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// Both norms: `groups` divides the width, and weight and bias are those of a
/// group or of the row.
static LogicalResult checkNorm(Operation *Op, const Twine &Prefix, Value Input,
                               uint64_t Groups, Value Weight, Value Bias,
                               const APFloat &Eps) {
  int64_t Width = widthOf(Input);
  auto Count = static_cast<int64_t>(Groups);
  if (Count < 1 || Width % Count != 0)
    return Op->emitOpError()
           << Prefix << "_c1: groups: expected a divisor of the width " << Width
           << ", got " << Count;
  int64_t Elements = sizeOf(Weight, 0);
  if (Elements != Width && Elements != Width / Count)
    return Op->emitOpError() << Prefix << "_c2: weight elements: expected "
                             << Width / Count << ", got " << Elements;
  if (Bias && failed(checkEqual(Op, (Prefix + "_c4").str(), "bias elements",
                                Elements, sizeOf(Bias, 0))))
    return failure();
  return checkEps(Op, (Prefix + "_c3").str(), Eps);
}

LogicalResult LayerNormOp::verify() {
  return checkNorm(*this, "layer_norm", getInput(), getGroups(), getWeight(),
                   getBias(), getEps());
}

LogicalResult RmsNormOp::verify() {
  return checkNorm(*this, "rms_norm", getInput(), getGroups(), getWeight(),
                   /*Bias=*/{}, getEps());
}

LogicalResult AddNormOp::verify() {
  int64_t Width = widthOf(getLhs());
  if (failed(checkEqual(*this, "add_norm_c1", "weight elements", Width,
                        sizeOf(getWeight(), 0))))
    return failure();
  if (getKind() == NormKind::Rms && getBias())
    return emitOpError() << "add_norm_c2: bias: expected none for rms";
  if (getBias() && failed(checkEqual(*this, "add_norm_c3", "bias elements",
                                     Width, sizeOf(getBias(), 0))))
    return failure();
  return checkEps(*this, "add_norm_c4", getEps());
}

//===----------------------------------------------------------------------===//
// Linear layers and feed-forwards
//===----------------------------------------------------------------------===//

LogicalResult LinearOp::inferReturnTypes(MLIRContext *Context,
                                         std::optional<Location>,
                                         Adaptor Operands,
                                         SmallVectorImpl<Type> &Results) {
  Results.push_back(rowsType(Context, sizeOf(Operands.getWeight(), 0)));
  return success();
}

LogicalResult LinearOp::verify() {
  return checkWeight(*this, "linear", "weight", getWeight(), getBias(),
                     widthOf(getInput()));
}

LogicalResult FeedForwardOp::inferReturnTypes(MLIRContext *Context,
                                              std::optional<Location>,
                                              Adaptor Operands,
                                              SmallVectorImpl<Type> &Results) {
  Results.push_back(rowsType(Context, sizeOf(Operands.getDown(), 0)));
  return success();
}

LogicalResult FeedForwardOp::verify() {
  if (failed(checkWeight(*this, "feed_forward", "up", getUp(), getUpBias(),
                         widthOf(getInput()))))
    return failure();
  return checkWeight(*this, "feed_forward", "down", getDown(), getDownBias(),
                     sizeOf(getUp(), 0));
}

LogicalResult
GatedFeedForwardOp::inferReturnTypes(MLIRContext *Context,
                                     std::optional<Location>, Adaptor Operands,
                                     SmallVectorImpl<Type> &Results) {
  Results.push_back(rowsType(Context, sizeOf(Operands.getDown(), 0)));
  return success();
}

LogicalResult GatedFeedForwardOp::verify() {
  int64_t Width = widthOf(getInput());
  if (failed(checkWeight(*this, "gated_feed_forward", "gate", getGate(),
                         getGateBias(), Width)) ||
      failed(checkWeight(*this, "gated_feed_forward", "up", getUp(),
                         getUpBias(), Width)) ||
      failed(checkEqual(*this, "gated_feed_forward_c3", "up output features",
                        sizeOf(getGate(), 0), sizeOf(getUp(), 0))))
    return failure();
  return checkWeight(*this, "gated_feed_forward", "down", getDown(),
                     getDownBias(), sizeOf(getUp(), 0));
}

LogicalResult ProductOp::inferReturnTypes(MLIRContext *Context,
                                          std::optional<Location>,
                                          Adaptor Operands,
                                          SmallVectorImpl<Type> &Results) {
  int64_t Width = 0;
  for (Value Weight : Operands.getWeights())
    Width += sizeOf(Weight, 0);
  Results.push_back(rowsType(Context, Width));
  return success();
}

LogicalResult ProductOp::verify() {
  if (getWeights().empty())
    return emitOpError() << "product_c3: weights: expected at least one";
  if (!getBiases().empty() && getBiases().size() != getWeights().size())
    return emitOpError() << "product_c4: biases: expected none or "
                         << getWeights().size() << ", got "
                         << getBiases().size();
  for (auto [Index, Weight] : llvm::enumerate(getWeights()))
    if (failed(checkWeight(*this, "product", "weight " + Twine(Index), Weight,
                           getBiases().empty() ? Value() : getBiases()[Index],
                           widthOf(getInput()))))
      return failure();
  for (Value Other : {getMultiplier(), getResidual()})
    if (Other && failed(checkEqual(*this, "product_c5",
                                   "width of multiplier and residual",
                                   widthOf(getResult()), widthOf(Other))))
      return failure();
  return success();
}

LogicalResult GatedProductOp::inferReturnTypes(MLIRContext *Context,
                                               std::optional<Location>,
                                               Adaptor Operands,
                                               SmallVectorImpl<Type> &Results) {
  Results.push_back(rowsType(Context, sizeOf(Operands.getUp(), 0)));
  return success();
}

LogicalResult GatedProductOp::verify() {
  int64_t Width = widthOf(getInput());
  if (failed(checkWeight(*this, "gated_product", "gate", getGate(),
                         getGateBias(), Width)) ||
      failed(checkWeight(*this, "gated_product", "up", getUp(), getUpBias(),
                         Width)))
    return failure();
  return checkEqual(*this, "gated_product_c3", "up output features",
                    sizeOf(getGate(), 0), sizeOf(getUp(), 0));
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

LogicalResult ScaleOp::verify() {
  if (getFactor().isFinite())
    return success();
  return emitOpError() << "scale_c1: factor: expected a finite number, got "
                       << getFactor().convertToDouble();
}

static bool isPositive(const APFloat &Number) {
  return Number.isFinite() && Number.convertToDouble() > 0;
}

LogicalResult SoftCapOp::verify() {
  if (isPositive(getBound()))
    return success();
  return emitOpError() << "soft_cap_c1: bound: expected a positive number, got "
                       << getBound().convertToDouble();
}

LogicalResult ClampOp::verify() {
  if (isPositive(getBound()))
    return success();
  return emitOpError() << "clamp_c1: bound: expected a positive number, got "
                       << getBound().convertToDouble();
}

LogicalResult SigmoidGateOp::verify() {
  return checkEqual(*this, "sigmoid_gate_c1", "width of gate", 1,
                    widthOf(getGate()));
}

LogicalResult ColumnsOp::verify() {
  auto First = static_cast<int64_t>(getFirst());
  int64_t Last = First + widthOf(getResult());
  if (First >= 0 && Last <= widthOf(getInput()))
    return success();
  return emitOpError() << "columns_c1: columns: expected some of "
                       << widthOf(getInput()) << ", got " << First << " to "
                       << Last;
}

//===----------------------------------------------------------------------===//
// Mixtures of experts
//===----------------------------------------------------------------------===//

LogicalResult MixtureOp::inferReturnTypes(MLIRContext *,
                                          std::optional<Location>,
                                          Adaptor Operands,
                                          SmallVectorImpl<Type> &Results) {
  Results.push_back(Operands.getInput().getType());
  return success();
}

LogicalResult MixtureOp::verify() {
  int64_t Experts = getExperts(), Inner = getInner();
  int64_t Width = widthOf(getInput());
  auto CheckStack = [&](StringRef Name, Value Stack, ArrayRef<int64_t> Shape) {
    ArrayRef<int64_t> Got = cast<RankedTensorType>(Stack.getType()).getShape();
    if (Got == Shape)
      return success();
    auto Diag = emitOpError() << "mixture_c1: " << Name << ": expected ";
    llvm::interleave(Shape, Diag, "x");
    Diag << ", got ";
    llvm::interleave(Got, Diag, "x");
    return LogicalResult(Diag);
  };
  if (failed(CheckStack("gate", getGate(), {Experts, Inner, Width})) ||
      failed(CheckStack("up", getUp(), {Experts, Inner, Width})) ||
      failed(CheckStack("down", getDown(), {Experts, Width, Inner})))
    return failure();
  for (auto [Name, Bias, Features] :
       {std::tuple("gate bias", getGateBias(), Inner),
        std::tuple("up bias", getUpBias(), Inner),
        std::tuple("down bias", getDownBias(), Width)})
    if (Bias && failed(CheckStack(Name, Bias, {Experts, Features})))
      return failure();
  if (failed(checkEqual(*this, "mixture_c2", "width of logits", Experts,
                        widthOf(getLogits()))))
    return failure();
  if (getCorrection() &&
      failed(checkEqual(*this, "mixture_c3", "correction elements", Experts,
                        sizeOf(getCorrection(), 0))))
    return failure();
  RouterAttr Router = getRouter();
  if (Experts % Router.getGroups() != 0)
    return emitOpError() << "mixture_c4: groups: expected a divisor of "
                         << Experts << " experts, got " << Router.getGroups();
  int64_t Choice = Experts / Router.getGroups() * Router.getKeptGroups();
  if (Router.getTop() > Choice)
    return emitOpError() << "mixture_c5: top: expected at most the " << Choice
                         << " experts to choose from, got " << Router.getTop();
  if (getLimit() && !isPositive(*getLimit()))
    return emitOpError()
           << "mixture_c6: limit: expected a positive number, got "
           << getLimit()->convertToDouble();
  return success();
}

//===----------------------------------------------------------------------===//
// Latent attention
//===----------------------------------------------------------------------===//

LogicalResult LatentAppendOp::inferReturnTypes(MLIRContext *,
                                               std::optional<Location>,
                                               Adaptor Operands,
                                               SmallVectorImpl<Type> &Results) {
  Results.push_back(Operands.getCache().getType());
  return success();
}

static LogicalResult checkLatentCache(Operation *Op, const Twine &Prefix,
                                      CacheType Cache, int64_t Width) {
  if (!Cache.isLatent())
    return Op->emitOpError() << Prefix << "_c1: cache: expected a latent one, "
                             << "got " << Cache;
  return checkEqual(Op, (Prefix + "_c2").str(), "values per token of the cache",
                    Width, Cache.getHeadDim());
}

LogicalResult LatentAppendOp::verify() {
  return checkLatentCache(*this, "latent_append", getCache().getType(),
                          widthOf(getLatent()) + widthOf(getRotated()));
}

LogicalResult LatentAttentionOp::verify() {
  auto Heads = static_cast<int64_t>(getHeads());
  auto KeyDim = static_cast<int64_t>(getKeyDim());
  auto ValueDim = static_cast<int64_t>(getValueDim());
  if (Heads < 1 || KeyDim < 1 || ValueDim < 1)
    return emitOpError()
           << "latent_attention_c3: heads, key_dim and value_dim: "
              "expected positive numbers, got "
           << Heads << ", " << KeyDim << " and " << ValueDim;
  if (widthOf(getQuery()) % Heads != 0 || getRopeDim() < 1)
    return emitOpError() << "latent_attention_c4: width of queries: expected "
                         << Heads << " heads of more than " << KeyDim
                         << ", got " << widthOf(getQuery());
  if (failed(checkEqual(*this, "latent_attention_c5", "rows of expand",
                        Heads * (KeyDim + ValueDim), sizeOf(getExpand(), 0))) ||
      failed(checkEqual(*this, "latent_attention_c6", "width of the result",
                        Heads * ValueDim, widthOf(getResult()))))
    return failure();
  return checkLatentCache(*this, "latent_attention", getCache().getType(),
                          getRank() + getRopeDim());
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

LogicalResult CacheAppendOp::inferReturnTypes(MLIRContext *,
                                              std::optional<Location>,
                                              Adaptor Operands,
                                              SmallVectorImpl<Type> &Results) {
  Results.push_back(Operands.getCache().getType());
  return success();
}

LogicalResult CacheAppendOp::verify() {
  CacheType Cache = getCache().getType();
  if (Cache.isLatent())
    return emitOpError() << "cache_append_c3: cache: expected one of keys and "
                            "values, got "
                         << Cache;
  int64_t Width = Cache.getKvHeads() * Cache.getHeadDim();
  if (failed(checkEqual(*this, "cache_append_c1", "width of keys", Width,
                        widthOf(getKeys()))))
    return failure();
  return checkEqual(*this, "cache_append_c2", "width of values", Width,
                    widthOf(getValues()));
}

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location>,
                                            Adaptor Operands,
                                            SmallVectorImpl<Type> &Results) {
  Results.push_back(Operands.getQuery().getType());
  return success();
}

/// What attention in both its forms has in common.
template <typename OpTy>
static LogicalResult checkAttention(OpTy Op, const Twine &Prefix) {
  auto Heads = static_cast<int64_t>(Op.getHeads());
  auto KvHeads = static_cast<int64_t>(Op.getKvHeads());
  std::string P = Prefix.str();
  if (failed(checkHeads(Op, P + "_c1", Heads, KvHeads)))
    return failure();
  int64_t Width = widthOf(Op.getQuery());
  if (Width % Heads != 0)
    return Op.emitOpError() << P
                            << "_c2: width of queries: expected a multiple of "
                               "heads "
                            << Heads << ", got " << Width;
  if (static_cast<bool>(Op.getCache()) != static_cast<bool>(Op.getScope()))
    return Op.emitOpError() << P << "_c3: expected a cache with its scope";
  if (CacheType Cache = Op.getCache() ? cast<CacheType>(Op.getCache().getType())
                                      : CacheType()) {
    if (failed(checkEqual(Op, P + "_c4", "kv_heads of the cache", KvHeads,
                          Cache.getKvHeads())) ||
        failed(checkEqual(Op, P + "_c4", "head_dim of the cache", Width / Heads,
                          Cache.getHeadDim())))
      return failure();
    bool IsBidirectional = Op.getMask() == MaskKind::Bidirectional;
    if (Cache.isLatent() || Cache.isMemory() != IsBidirectional)
      return Op.emitOpError()
             << P << "_c5: mask: expected bidirectional over a memory, causal "
             << "or prefix over a sequence, got "
             << stringifyMaskKind(Op.getMask()) << " over " << Cache;
  } else if (Op.getMask() == MaskKind::Prefix) {
    return Op.emitOpError() << P << "_c5: mask: expected a cache for prefix";
  }
  if (std::optional<uint64_t> Window = Op.getWindow()) {
    if (static_cast<int64_t>(*Window) < 1)
      return Op.emitOpError() << P << "_c6: window: expected at least 1, got "
                              << static_cast<int64_t>(*Window);
    if (Op.getMask() == MaskKind::Prefix ||
        (Op.getCache() && Op.getMask() == MaskKind::Bidirectional))
      return Op.emitOpError()
             << P << "_c7: window: expected a causal mask, or a bidirectional "
             << "one of this step's keys";
  }
  if (std::optional<APFloat> Cap = Op.getSoftCap(); Cap && !isPositive(*Cap))
    return Op.emitOpError() << P << "_c10: soft_cap: expected a positive "
                            << "number, got " << Cap->convertToDouble();
  if (static_cast<bool>(Op.getBias()) != static_cast<bool>(Op.getBuckets()))
    return Op.emitOpError() << P << "_c11: expected a bias with its buckets";
  if (Value Bias = Op.getBias()) {
    if (failed(checkEqual(Op, P + "_c12", "rows of bias",
                          Op.getBuckets()->getCount(), sizeOf(Bias, 0))) ||
        failed(checkEqual(Op, P + "_c12", "columns of bias", Heads,
                          sizeOf(Bias, 1))))
      return failure();
    if (Op.getAlibi())
      return Op.emitOpError()
             << P << "_c13: expected alibi or a bias, not both";
  }
  if (AlibiAttr Alibi = Op.getAlibiAttr();
      Alibi && Alibi.getRounded() && !Op.getCache())
    return Op.emitOpError() << P << "_c15: alibi: expected keys of a cache for "
                            << "rounded biases, which go by position";
  if (Value Sinks = Op.getSinks())
    return checkEqual(Op, P + "_c14", "elements of sinks", Heads,
                      sizeOf(Sinks, 0));
  return success();
}

LogicalResult AttentionOp::verify() {
  if (failed(checkAttention(*this, "attention")))
    return failure();
  if (static_cast<bool>(getKeys()) != static_cast<bool>(getValues()) ||
      static_cast<bool>(getKeys()) == static_cast<bool>(getCache()))
    return emitOpError()
           << "attention_c8: expected keys and values, or a cache";
  if (!getKeys())
    return success();
  int64_t Width = widthOf(getQuery()) / static_cast<int64_t>(getHeads()) *
                  static_cast<int64_t>(getKvHeads());
  if (failed(checkEqual(*this, "attention_c9", "width of keys", Width,
                        widthOf(getKeys()))))
    return failure();
  return checkEqual(*this, "attention_c9", "width of values", Width,
                    widthOf(getValues()));
}

LogicalResult OnlineAttentionOp::verify() {
  if (failed(checkAttention(*this, "online_attention")))
    return failure();
  if (static_cast<bool>(getStaged()) == static_cast<bool>(getCache()))
    return emitOpError()
           << "online_attention_c8: expected staged keys and values, or a "
              "cache";
  if (!getStaged())
    return success();
  int64_t HeadDim = widthOf(getQuery()) / static_cast<int64_t>(getHeads());
  return checkEqual(*this, "online_attention_c9", "width of staged",
                    pageElements(static_cast<int64_t>(getKvHeads()), HeadDim),
                    widthOf(getStaged()));
}

/// What the two splits of queries, keys and values have in common.
template <typename OpTy>
static LogicalResult checkSplit(OpTy Op, const Twine &Prefix) {
  auto Heads = static_cast<int64_t>(Op.getHeads());
  auto KvHeads = static_cast<int64_t>(Op.getKvHeads());
  std::string P = Prefix.str();
  if (failed(checkHeads(Op, P + "_c1", Heads, KvHeads)))
    return failure();
  int64_t QueryWidth = widthOf(Op.getQuery());
  if (QueryWidth % Heads != 0)
    return Op.emitOpError() << P
                            << "_c2: width of queries: expected a multiple of "
                               "heads "
                            << Heads << ", got " << QueryWidth;
  int64_t HeadDim = QueryWidth / Heads;
  int64_t KvWidth = KvHeads * HeadDim;
  SmallVector<int64_t> Expected = {QueryWidth + 2 * KvWidth};
  if (Op.getQkv().size() == 3)
    Expected = {QueryWidth, KvWidth, KvWidth};
  else if (Op.getQkv().size() != 1)
    return Op.emitOpError()
           << P << "_c3: qkv: expected one tensor or three, got "
           << Op.getQkv().size();
  for (auto [Wanted, Part] : llvm::zip(Expected, Op.getQkv()))
    if (failed(
            checkEqual(Op, P + "_c4", "width of qkv", Wanted, widthOf(Part))))
      return failure();
  for (Value Norm : {Op.getQueryNorm(), Op.getKeyNorm()}) {
    if (Norm && failed(checkEqual(Op, P + "_c5", "norm elements", HeadDim,
                                  sizeOf(Norm, 0))))
      return failure();
    if (Norm && !Op.getEps())
      return Op.emitOpError() << P << "_c6: expected eps with a norm";
  }
  if (RopeAttr Rope = Op.getRopeAttr())
    return checkRope(Op, P + "_c7", Rope, HeadDim);
  return success();
}

LogicalResult SplitAppendOp::verify() {
  if (failed(checkSplit(*this, "split_append")))
    return failure();
  CacheType Cache = getCache().getType();
  if (Cache.getKind() != CacheKind::Sequence)
    return emitOpError() << "split_append_c10: cache: expected one that grows "
                            "with the sequence, got "
                         << Cache;
  if (failed(checkEqual(*this, "split_append_c8", "kv_heads of the cache",
                        static_cast<int64_t>(getKvHeads()),
                        Cache.getKvHeads())) ||
      failed(checkEqual(*this, "split_append_c8", "head_dim of the cache",
                        widthOf(getQuery()) / static_cast<int64_t>(getHeads()),
                        Cache.getHeadDim())))
    return failure();
  if (getResult().getType() != Cache)
    return emitOpError() << "split_append_c9: result: expected " << Cache
                         << ", got " << getResult().getType();
  return success();
}

LogicalResult SplitStageOp::verify() {
  if (failed(checkSplit(*this, "split_stage")))
    return failure();
  int64_t HeadDim = widthOf(getQuery()) / static_cast<int64_t>(getHeads());
  return checkEqual(*this, "split_stage_c8", "width of staged",
                    pageElements(static_cast<int64_t>(getKvHeads()), HeadDim),
                    widthOf(getStaged()));
}

//===----------------------------------------------------------------------===//
// Heads
//===----------------------------------------------------------------------===//

LogicalResult SelectRowsOp::inferReturnTypes(MLIRContext *,
                                             std::optional<Location>,
                                             Adaptor Operands,
                                             SmallVectorImpl<Type> &Results) {
  Results.push_back(Operands.getInput().getType());
  return success();
}

LogicalResult LmHeadOp::inferReturnTypes(MLIRContext *Context,
                                         std::optional<Location>,
                                         Adaptor Operands,
                                         SmallVectorImpl<Type> &Results) {
  Results.push_back(rowsType(Context, sizeOf(Operands.getWeight(), 0)));
  return success();
}

LogicalResult LmHeadOp::verify() {
  return checkWeight(*this, "lm_head", "weight", getWeight(), getBias(),
                     widthOf(getInput()));
}

LogicalResult PoolOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                       Adaptor Operands,
                                       SmallVectorImpl<Type> &Results) {
  Results.push_back(Operands.getInput().getType());
  return success();
}

#define GET_OP_CLASSES
#include "dialects/Transformer/TransformerOps.cpp.inc"
