//===- HandleOps.cpp - Handles, calls, and names of results ---------------===//

#include "dialects/Dnn/Checks.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::dnn;

//===----------------------------------------------------------------------===//
// Names of printed results
//===----------------------------------------------------------------------===//

static SmallVector<StringRef> keysOf(WeightOp Weight) {
  return llvm::map_to_vector(Weight.getKeys().getAsRange<StringAttr>(),
                             [](StringAttr Key) { return Key.getValue(); });
}

void dnn::nameResults(Operation *Op, StringRef Names,
                      OpAsmSetValueNameFn SetName) {
  if (Names == transformer::AfterWeight && Op->getNumResults() == 1)
    for (Value Operand : Op->getOperands())
      if (auto Weight = Operand.getDefiningOp<WeightOp>();
          Weight && !Weight.getType().isVector())
        if (std::string Name = transformer::nameOfMatmul(keysOf(Weight));
            !Name.empty())
          return SetName(Op->getResult(0), Name);
  transformer::nameResults(Op, Names, SetName);
}

void CountOp::getAsmResultNames(OpAsmSetValueNameFn SetName) {
  SetName(getResult(), transformer::stringifyCountKind(getKind()));
}
void FewTokensOp::getAsmResultNames(OpAsmSetValueNameFn SetName) {
  SetName(getResult(), "few_tokens");
}
void ScopeOp::getAsmResultNames(OpAsmSetValueNameFn SetName) {
  SetName(getResult(), transformer::nameOfScope(getName(), getLayer()));
}
void WeightOp::getAsmResultNames(OpAsmSetValueNameFn SetName) {
  SetName(getResult(), transformer::nameOfWeight(keysOf(*this)));
}
void TableOp::getAsmResultNames(OpAsmSetValueNameFn SetName) {
  SetName(getResult(), "table");
}
void BufferOp::getAsmResultNames(OpAsmSetValueNameFn SetName) {
  SetName(getResult(), "buffer");
}
void ScratchOp::getAsmResultNames(OpAsmSetValueNameFn SetName) {
  SetName(getResult(), "scratch");
}
void OutputOp::getAsmResultNames(OpAsmSetValueNameFn SetName) {
  SetName(getResult(), "output");
}
void FeaturesOp::getAsmResultNames(OpAsmSetValueNameFn SetName) {
  SetName(getResult(), "features");
}
void FieldOp::getAsmResultNames(OpAsmSetValueNameFn SetName) {
  SetName(getResult(), stringifyFieldKind(getKind()));
}
void PageTableOp::getAsmResultNames(OpAsmSetValueNameFn SetName) {
  SetName(getResult(), "pages");
}
void PageOp::getAsmResultNames(OpAsmSetValueNameFn SetName) {
  SetName(getKeys(), "keys");
  SetName(getValues(), "values");
  if (getScales())
    SetName(getScales(), "scales");
}
void LatentPageOp::getAsmResultNames(OpAsmSetValueNameFn SetName) {
  SetName(getResult(), "latent");
}
void StagedPageOp::getAsmResultNames(OpAsmSetValueNameFn SetName) {
  SetName(getKeys(), "keys");
  SetName(getValues(), "values");
}
void RowBytesOp::getAsmResultNames(OpAsmSetValueNameFn SetName) {
  SetName(getResult(), "bytes");
}

void WeightViewOp::getAsmResultNames(OpAsmSetValueNameFn SetName) {
  SetName(getResult(), "weight");
}

//===----------------------------------------------------------------------===//
// Scopes and what they hold
//===----------------------------------------------------------------------===//

/// An optional number, at least 0.
static LogicalResult checkIndex(Operation *Op, const Twine &Constraint,
                                StringRef Name, std::optional<uint64_t> Index) {
  return checkAtLeast(Op, Constraint, Name, 0,
                      static_cast<int64_t>(Index.value_or(0)));
}

LogicalResult ScopeOp::verify() {
  if (failed(checkIndex(*this, "dnn_scope_c1", "number", getNumber())))
    return failure();
  return checkIndex(*this, "dnn_scope_c2", "layer", getLayer());
}

LogicalResult WeightOp::verify() {
  if (failed(checkComponent(*this, "dnn_weight_c1", getComponent())))
    return failure();
  if (getKeys().empty() || llvm::is_contained(keysOf(*this), ""))
    return emitOpError() << "dnn_weight_c2: keys: expected names, got "
                         << getKeys();
  return checkIndex(*this, "dnn_weight_c3", "index", getIndex());
}

LogicalResult TableOp::verify() {
  transformer::TableAttrInterface Content = getContent();
  PackedType Table = getType();
  if (failed(checkEqual(*this, "dnn_table_c1", "columns",
                        Content.getTableWidth().value_or(Table.getInFeatures()),
                        Table.getInFeatures())))
    return failure();
  bool IsLearned = Content.getLearnedRows().has_value();
  if (IsLearned != getKey().has_value() || getKey() == "")
    return emitOpError() << "dnn_table_c2: key: expected "
                         << (IsLearned ? "the parameter" : "none")
                         << " of contents " << Content;
  return checkIndex(*this, "dnn_table_c3", "index", getIndex());
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// "NUMBER: @NAME: expected a function of that name"; null then.
static FunctionOpInterface lookUp(Operation *Op, const Twine &Constraint,
                                  FlatSymbolRefAttr Name,
                                  SymbolTableCollection &SymbolTable) {
  auto Callee =
      SymbolTable.lookupNearestSymbolFrom<FunctionOpInterface>(Op, Name);
  if (!Callee)
    Op->emitOpError() << Constraint << ": " << Name
                      << ": expected a function of that name";
  return Callee;
}

static LogicalResult checkSignature(Operation *Op, const Twine &Constraint,
                                    FunctionOpInterface Callee,
                                    TypeRange Arguments, TypeRange Results) {
  if (llvm::equal(Callee.getArgumentTypes(), Arguments) &&
      llvm::equal(Callee.getResultTypes(), Results))
    return success();
  return Op->emitOpError() << Constraint << ": @" << Callee.getName()
                           << ": expected type "
                           << FunctionType::get(Op->getContext(), Arguments,
                                                Results)
                           << ", got " << Callee.getFunctionType();
}

LogicalResult DispatchOp::verifySymbolUses(SymbolTableCollection &SymbolTable) {
  // A function on tensors returns what one on buffers writes to its last
  // arguments.
  SmallVector<Type> Arguments(getInputs().getTypes());
  if (getResults().empty())
    llvm::append_range(Arguments, getOuts().getTypes());
  using transformer::Variant;
  for (auto [Symbol, Expected] : {std::pair(getFewAttr(), Variant::Few),
                                  std::pair(getManyAttr(), Variant::Many)}) {
    FunctionOpInterface Callee =
        lookUp(*this, "dnn_dispatch_c1", Symbol, SymbolTable);
    if (!Callee || failed(checkSignature(*this, "dnn_dispatch_c2", Callee,
                                         Arguments, getResultTypes())))
      return failure();
    if (transformer::variantOf(Callee) != Expected)
      return emitOpError() << "dnn_dispatch_c3: " << Symbol
                           << ": expected the variant for "
                           << transformer::stringifyVariant(Expected)
                           << " rows";
  }
  return success();
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &SymbolTable) {
  FunctionOpInterface Callee =
      lookUp(*this, "dnn_launch_c1", getCalleeAttr(), SymbolTable);
  if (!Callee)
    return failure();
  Type Index = IndexType::get(getContext());
  SmallVector<Type> Arguments = {Index, Index};
  llvm::append_range(Arguments, getInputs().getTypes());
  return checkSignature(*this, "dnn_launch_c2", Callee, Arguments, {});
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
  Block &Body = getBody().front();
  if (Body.getNumArguments() == 2 &&
      llvm::all_of(Body.getArgumentTypes(), llvm::IsaPred<IndexType>))
    return success();
  return emitOpError() << "dnn_parallel_c1: expected two block arguments of "
                          "type index, got "
                       << TypeRange(Body.getArgumentTypes());
}
