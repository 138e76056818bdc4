//===- DnnDialect.cpp - Dialect, types, effects and verifiers -------------===//

#include "dialects/Dnn/Dnn.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::dnn;

#include "dialects/Dnn/DnnDialect.cpp.inc"
#include "dialects/Dnn/DnnEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Dnn/DnnTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Dnn/DnnAttributes.cpp.inc"

void DnnDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Dnn/DnnTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Dnn/DnnAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Dnn/DnnOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type PackedType::parse(AsmParser &Parser) {
  SMLoc Location = Parser.getCurrentLocation();
  StringRef Name;
  SmallVector<int64_t> Dims;
  Type Element;
  if (Parser.parseLess() || Parser.parseKeyword(&Name) || Parser.parseComma() ||
      Parser.parseDimensionList(Dims, /*allowDynamic=*/false) ||
      Parser.parseType(Element) || Parser.parseGreater())
    return {};
  std::optional<LayoutKind> Layout = symbolizeLayoutKind(Name);
  if (!Layout || Dims.size() < 2 || Dims.size() > 3) {
    Parser.emitError(Location)
        << "expected vector, rows or panels and two or three dimensions, got "
        << Name << " and " << Dims.size();
    return {};
  }
  int64_t Count = Dims.size() == 3 ? Dims[0] : 1;
  ArrayRef<int64_t> Matrix = ArrayRef(Dims).take_back(2);
  return Parser.getChecked<PackedType>(Location, Parser.getContext(), *Layout,
                                       Count, Matrix[0], Matrix[1], Element);
}

void PackedType::print(AsmPrinter &Printer) const {
  Printer << "<" << stringifyLayoutKind(getLayout()) << ", ";
  if (getCount() != 1)
    Printer << getCount() << "x";
  Printer << getRows() << "x" << getColumns() << "x" << getElementType() << ">";
}

LogicalResult PackedType::verify(function_ref<InFlightDiagnostic()> EmitError,
                                 LayoutKind Layout, int64_t Count, int64_t Rows,
                                 int64_t Columns, Type Element) {
  if (Count < 1 || Rows < 1 || Columns < 1)
    return EmitError() << "expected positive dimensions, got " << Count << "x"
                       << Rows << "x" << Columns;
  if (Count != 1 && Layout != LayoutKind::Panels)
    return EmitError() << "expected panels of " << Count << " matrices, got "
                       << stringifyLayoutKind(Layout);
  if (!Element.isF32() && !Element.isBF16())
    return EmitError() << "expected element type f32 or bf16, got " << Element;
  if (Layout == LayoutKind::Vector && (Columns != 1 || !Element.isF32()))
    return EmitError() << "expected a vector to be Nx1xf32";
  return success();
}

MemRefType PackedType::getBufferType() const {
  auto RoundUp = [](int64_t Value, int64_t Step) {
    return (Value + Step - 1) / Step * Step;
  };
  switch (getLayout()) {
  case LayoutKind::Vector:
    return MemRefType::get({RoundUp(getRows(), 64)}, getElementType());
  case LayoutKind::Rows:
    return MemRefType::get({getRows(), getColumns()}, getElementType());
  case LayoutKind::Panels: {
    int64_t Together = getElementType().isF32() ? 1 : 2;
    return MemRefType::get({getCount() * getPanels(),
                            RoundUp(getColumns(), 16 * Together) / Together,
                            64 * Together},
                           getElementType());
  }
  }
  llvm_unreachable("all layouts are covered");
}

std::pair<MemRefType, MemRefType>
dnn::pageTypes(int64_t KvHeads, int64_t HeadDim, Type Element) {
  constexpr int64_t Block = transformer::KeyBlock;
  constexpr int64_t Tokens = transformer::PageTokens;
  int64_t PaddedDim = (HeadDim + Block - 1) / Block * Block;
  return {MemRefType::get({KvHeads, Tokens / Block, HeadDim, Block}, Element),
          MemRefType::get({KvHeads, Tokens, PaddedDim}, Element)};
}

MemRefType dnn::latentPageType(int64_t Width, Type Element) {
  return MemRefType::get(
      {transformer::PageTokens,
       transformer::latentPageElements(Width) / transformer::PageTokens},
      Element);
}

//===----------------------------------------------------------------------===//
// Memory effects
//===----------------------------------------------------------------------===//

using Effects =
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

/// Buffers among the inputs are read, destinations written.
static void addBufferEffects(DestinationStyleOpInterface Op, Effects &Result) {
  for (OpOperand *Input : Op.getDpsInputOperands())
    if (isa<BaseMemRefType>(Input->get().getType()))
      Result.emplace_back(MemoryEffects::Read::get(), Input);
  for (OpOperand &Init : Op.getDpsInitsMutable())
    if (isa<BaseMemRefType>(Init.get().getType()))
      Result.emplace_back(MemoryEffects::Write::get(), &Init);
}

#define TENON_BUFFER_EFFECTS(OP)                                               \
  void OP::getEffects(Effects &Result) {                                       \
    addBufferEffects(cast<DestinationStyleOpInterface>(this->getOperation()),  \
                     Result);                                                  \
  }
TENON_BUFFER_EFFECTS(EmbeddingOp)
TENON_BUFFER_EFFECTS(NormOp)
TENON_BUFFER_EFFECTS(ProductOp)
TENON_BUFFER_EFFECTS(GatedProductOp)
TENON_BUFFER_EFFECTS(SplitStageOp)
TENON_BUFFER_EFFECTS(SelectRowsOp)
TENON_BUFFER_EFFECTS(PoolOp)
TENON_BUFFER_EFFECTS(AddOp)
TENON_BUFFER_EFFECTS(CastOp)
TENON_BUFFER_EFFECTS(RopeOp)
TENON_BUFFER_EFFECTS(ClassTokenOp)
TENON_BUFFER_EFFECTS(InputRowsOp)
TENON_BUFFER_EFFECTS(ElementwiseOp)
TENON_BUFFER_EFFECTS(SigmoidGateOp)
TENON_BUFFER_EFFECTS(ColumnsOp)
TENON_BUFFER_EFFECTS(RouteOp)
TENON_BUFFER_EFFECTS(GroupOp)
TENON_BUFFER_EFFECTS(ExpertGatedOp)
TENON_BUFFER_EFFECTS(ExpertDownOp)
TENON_BUFFER_EFFECTS(CombineOp)
#undef TENON_BUFFER_EFFECTS

void SplitAppendOp::getEffects(Effects &Result) {
  addBufferEffects(cast<DestinationStyleOpInterface>(getOperation()), Result);
  Result.emplace_back(MemoryEffects::Write::get(), CachePages::get());
}

void AppendOp::getEffects(Effects &Result) {
  addBufferEffects(cast<DestinationStyleOpInterface>(getOperation()), Result);
  Result.emplace_back(MemoryEffects::Write::get(), CachePages::get());
}

void LatentAttentionOp::getEffects(Effects &Result) {
  addBufferEffects(cast<DestinationStyleOpInterface>(getOperation()), Result);
  Result.emplace_back(MemoryEffects::Read::get(), CachePages::get());
}

void AttentionOp::getEffects(Effects &Result) {
  addBufferEffects(cast<DestinationStyleOpInterface>(getOperation()), Result);
  if (getCache())
    Result.emplace_back(MemoryEffects::Read::get(), CachePages::get());
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

static int64_t widthOf(Value Rows) {
  return cast<ShapedType>(Rows.getType()).getDimSize(1);
}

static LogicalResult checkEqual(Operation *Op, const Twine &What,
                                int64_t Expected, int64_t Got) {
  if (Expected == Got)
    return success();
  return Op->emitOpError() << What << ": expected " << Expected << ", got "
                           << Got;
}

static LogicalResult checkPanels(Operation *Op, Value Weight, Value Input,
                                 Value Output) {
  auto Type = cast<PackedType>(Weight.getType());
  if (Type.getLayout() != LayoutKind::Panels)
    return Op->emitOpError() << "weight: expected panels, got "
                             << stringifyLayoutKind(Type.getLayout());
  if (failed(
          checkEqual(Op, "input features", Type.getColumns(), widthOf(Input))))
    return failure();
  return checkEqual(Op, "output features", Type.getRows(), widthOf(Output));
}

LogicalResult NormOp::verify() {
  if (failed(checkEqual(*this, "destinations", getResidual() ? 2 : 1,
                        static_cast<int64_t>(getOuts().size()))))
    return failure();
  int64_t Width = widthOf(getInput());
  auto Groups = static_cast<int64_t>(getGroups());
  if (Groups < 1 || Width % Groups != 0)
    return emitOpError() << "groups: expected a divisor of " << Width
                         << ", got " << Groups;
  if (getWeight().getType().getRows() == Width)
    return success();
  return checkEqual(*this, "weight elements", Width / Groups,
                    getWeight().getType().getRows());
}

LogicalResult ProductOp::verify() {
  if (failed(checkPanels(*this, getWeight(), getInput(), getOuts())))
    return failure();
  if (getSite() && getElementTypeOrSelf(getInput().getType()) !=
                       getWeight().getType().getElementType())
    return emitOpError() << "library product: expected input and weight of one "
                            "type, got "
                         << getElementTypeOrSelf(getInput().getType())
                         << " and " << getWeight().getType().getElementType();
  return success();
}

LogicalResult GatedProductOp::verify() {
  if (failed(checkPanels(*this, getGate(), getInput(), getOuts())))
    return failure();
  return checkPanels(*this, getUp(), getInput(), getOuts());
}

LogicalResult DispatchOp::verifySymbolUses(SymbolTableCollection &SymbolTable) {
  for (FlatSymbolRefAttr Symbol : {getFewAttr(), getManyAttr()})
    if (!SymbolTable.lookupNearestSymbolFrom<FunctionOpInterface>(*this,
                                                                  Symbol))
      return emitOpError() << Symbol << ": expected a function of that name";
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &SymbolTable) {
  auto Callee = SymbolTable.lookupNearestSymbolFrom<FunctionOpInterface>(
      *this, getCalleeAttr());
  if (!Callee)
    return emitOpError() << getCalleeAttr()
                         << ": expected a function of that name";
  return checkEqual(*this, "operands",
                    static_cast<int64_t>(Callee.getNumArguments()),
                    static_cast<int64_t>(getInputs().size()) + 2);
}

//===----------------------------------------------------------------------===//
// Parallel regions
//===----------------------------------------------------------------------===//

void ParallelOp::build(OpBuilder &Builder, OperationState &State) {
  OpBuilder::InsertionGuard Guard(Builder);
  Region *Body = State.addRegion();
  Type Index = Builder.getIndexType();
  Builder.createBlock(Body, {}, {Index, Index},
                      {State.location, State.location});
}

ParseResult ParallelOp::parse(OpAsmParser &Parser, OperationState &Result) {
  OpAsmParser::Argument Thread, Threads;
  Type Index = Parser.getBuilder().getIndexType();
  if (Parser.parseArgument(Thread) || Parser.parseKeyword("of") ||
      Parser.parseArgument(Threads))
    return failure();
  Thread.type = Threads.type = Index;
  return failure(Parser.parseRegion(*Result.addRegion(), {Thread, Threads}) ||
                 Parser.parseOptionalAttrDict(Result.attributes));
}

void ParallelOp::print(OpAsmPrinter &Printer) {
  Printer << " ";
  Printer.printRegionArgument(getBody().getArgument(0), {}, /*omitType=*/true);
  Printer << " of ";
  Printer.printRegionArgument(getBody().getArgument(1), {}, /*omitType=*/true);
  Printer << " ";
  Printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  Printer.printOptionalAttrDict((*this)->getAttrs());
}

LogicalResult ParallelOp::verify() {
  if (getBody().getNumArguments() != 2)
    return emitOpError() << "expected two block arguments, got "
                         << getBody().getNumArguments();
  return success();
}

#define GET_OP_CLASSES
#include "dialects/Dnn/DnnOps.cpp.inc"
