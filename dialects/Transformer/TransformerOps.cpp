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

/// What a result is called when it has no parameter to be called after.
static StringRef resultName(Operation *Op) {
  StringRef Mnemonic = Op->getName().stripDialect();
  return llvm::StringSwitch<StringRef>(Mnemonic)
      .Case("rope", "rotated")
      .Cases({"layer_norm", "rms_norm"}, "normed")
      .Case("residual", "sum")
      .Cases({"attention", "online_attention"}, "attended")
      .Case("cache_append", "cache")
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
    return SetName(Parameter, lastWords(Parameter.getKey(), 2));
  if (auto Linear = dyn_cast<LinearOp>(Op))
    if (auto Weight = Linear.getWeight().getDefiningOp<ParameterOp>())
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
  return checkRope(*this, "rope_c2", getRope(), Width / Heads);
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

LogicalResult LayerNormOp::verify() {
  int64_t Width = widthOf(getInput());
  if (failed(checkEqual(*this, "layer_norm_c1", "weight elements", Width,
                        sizeOf(getWeight(), 0))) ||
      failed(checkEqual(*this, "layer_norm_c2", "bias elements", Width,
                        sizeOf(getBias(), 0))))
    return failure();
  return checkEps(*this, "layer_norm_c3", getEps());
}

LogicalResult RmsNormOp::verify() {
  int64_t Width = widthOf(getInput());
  auto Groups = static_cast<int64_t>(getGroups());
  if (Groups < 1 || Width % Groups != 0)
    return emitOpError()
           << "rms_norm_c1: groups: expected a divisor of the width " << Width
           << ", got " << Groups;
  if (failed(checkEqual(*this, "rms_norm_c2", "weight elements", Width / Groups,
                        sizeOf(getWeight(), 0))))
    return failure();
  return checkEps(*this, "rms_norm_c3", getEps());
}

LogicalResult AddNormOp::verify() {
  int64_t Width = widthOf(getLhs());
  if (failed(checkEqual(*this, "add_norm_c1", "weight elements", Width,
                        sizeOf(getWeight(), 0))))
    return failure();
  if ((getKind() == NormKind::Layer) != static_cast<bool>(getBias()))
    return emitOpError() << "add_norm_c2: bias: expected "
                         << (getBias() ? "none for rms" : "one for layer");
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
    if (Op.getMask() != MaskKind::Causal)
      return Op.emitOpError()
             << P << "_c5: mask: expected causal over a cache, got "
             << stringifyMaskKind(Op.getMask());
  }
  if (std::optional<uint64_t> Window = Op.getWindow()) {
    if (static_cast<int64_t>(*Window) < 1)
      return Op.emitOpError() << P << "_c6: window: expected at least 1, got "
                              << static_cast<int64_t>(*Window);
    if (Op.getMask() != MaskKind::Causal)
      return Op.emitOpError() << P << "_c7: window: expected a causal mask";
  }
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
