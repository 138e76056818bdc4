//===- DnnConverter.cpp - One function onto the dnn dialect ---------------===//

#include "passes/Placement/DnnConverter.h"

#include "passes/Support/Functions.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

LogicalResult DnnConverter::run() {
  if (Function.isExternal())
    return Function.emitOpError() << "expected a body";
  FailureOr<Value> Found = batchOf(Function);
  if (failed(Found))
    return failure();
  Batch = *Found;
  // Counts of rows are known of the original ops, which are erased last.
  SmallVector<Operation *> Ops = llvm::map_to_vector(
      Function.getBody().front(), [](Operation &Op) { return &Op; });
  for (Operation *Op : Ops) {
    Builder.setInsertionPoint(Op);
    if (failed(convertOp(Op)))
      return failure();
  }
  for (Operation *Op : llvm::reverse(Ops))
    if (!isa<func::ReturnOp>(Op))
      Op->erase();
  Operation *Return = Function.getBody().front().getTerminator();
  Function.setFunctionType(Builder.getFunctionType(Function.getArgumentTypes(),
                                                   Return->getOperandTypes()));
  return success();
}

/// Checks that the weights that `Op` reads can be packed: parameters, each with
/// a layout, and of a type that is packed as it is.
static LogicalResult verifyWeights(Operation *Op) {
  for (Value Operand : Op->getOperands()) {
    if (!isWeight(Operand.getType()))
      continue;
    auto Parameter = Operand.getDefiningOp<ParameterOp>();
    if (!Parameter)
      return Op->emitOpError() << "expected weights that are parameters";
    if (!Parameter->getAttrOfType<dnn::LayoutKindAttr>(dnn::attr::Layout))
      return Parameter.emitOpError()
             << "expected the attribute " << dnn::attr::Layout;
    Type Element = getElementTypeOrSelf(Parameter.getType());
    if (!Element.isF32() && !Element.isBF16() && !isa<QuantType>(Element))
      return Parameter.emitOpError()
             << "expected f32, bf16 or a quantised format, got " << Element;
  }
  return success();
}

LogicalResult DnnConverter::convertOp(Operation *Op) {
  if (Op->hasTrait<trait::Fused>() && failed(verifyWeights(Op)))
    return failure();
  return llvm::TypeSwitch<Operation *, LogicalResult>(Op)
      // Weights are packed where they are used.
      .Case<ParameterOp>([](auto) { return success(); })
      .Case<ScopeOp, DispatchOp, SinusoidOp, RopeOp, transformer::MatmulOp,
            GatedMatmulOp, MoeOp, SplitAppendOp, SplitStageOp,
            OnlineAttentionOp, LatentAttentionOp, func::ReturnOp>(
          [&](auto Typed) { return convert(Typed); })
      .Default([&](Operation *Other) { return convertTwin(Other); });
}

LogicalResult DnnConverter::convertTwin(Operation *Op) {
  OperationName Twin(("dnn." + Op->getName().stripDialect()).str(),
                     Op->getContext());
  if (!Op->hasTrait<trait::Fused>() || !Twin.isRegistered())
    return Op->emitOpError() << "expected a fused operation, got this one; "
                                "remarks say why it was "
                                "not fused";
  OperationState New(Op->getLoc(), Twin);
  for (Value Operand : Op->getOperands())
    New.operands.push_back(isWeight(Operand.getType()) ? packed(Operand)
                                                       : mapped(Operand));
  for (Value Result : Op->getResults())
    if (isActivations(Result.getType())) {
      Value Out = emptyLike(Result);
      New.operands.push_back(Out);
      New.types.push_back(Out.getType());
    }
  New.propertiesAttr = Op->getPropertiesAsAttribute();
  Operation *Made = Builder.create(New);
  unsigned Next = 0;
  for (Value Result : Op->getResults())
    map(Result, isActivations(Result.getType())
                    ? Value(Made->getResult(Next++))
                    : mapped(cacheOperandOf(Op)->get()));
  return success();
}

SmallVector<Value> DnnConverter::mapped(ValueRange Old) const {
  return llvm::map_to_vector(Old, [&](Value V) { return mapped(V); });
}

//===----------------------------------------------------------------------===//
// Destinations
//===----------------------------------------------------------------------===//

Value DnnConverter::emptyLike(Value Like, Type Element) {
  auto Type = cast<RankedTensorType>(Like.getType());
  return emptyRows(Like.getLoc(), Module.Rows.of(Like), Type.getDimSize(1),
                   Element ? Element : Type.getElementType());
}

Value DnnConverter::emptyRows(Location Loc, CountKind Kind, int64_t Width,
                              Type Element) {
  Value &Count = Counts[Kind];
  if (!Count) {
    OpBuilder::InsertionGuard Guard(Builder);
    Builder.setInsertionPointToStart(&Function.getBody().front());
    Count = dnn::CountOp::create(Builder, Function.getLoc(),
                                 Builder.getIndexType(), Kind, Batch);
  }
  return tensor::EmptyOp::create(Builder, Loc,
                                 ArrayRef<int64_t>{ShapedType::kDynamic, Width},
                                 Element, Count);
}

//===----------------------------------------------------------------------===//
// Weights and tables
//===----------------------------------------------------------------------===//

/// The format that a parameter of `Type` is packed in: vectors are always f32.
static StorageFormat packedFormat(RankedTensorType Type, LayoutKind Layout) {
  return Layout == LayoutKind::Vector ? StorageFormat::F32
                                      : storageFormatOf(Type);
}

Value DnnConverter::packed(ValueRange Sources) {
  auto First = Sources.front().getDefiningOp<ParameterOp>();
  auto Type = cast<RankedTensorType>(First.getType());
  // The matrices of experts are stacked, and never concatenated.
  bool IsStack = Type.getRank() == 3;
  SmallVector<StringRef> Keys;
  int64_t OutFeatures = 0;
  for (Value Source : Sources) {
    auto Parameter = Source.getDefiningOp<ParameterOp>();
    Keys.push_back(Parameter.getKey());
    OutFeatures +=
        cast<ShapedType>(Parameter.getType()).getDimSize(IsStack ? 1 : 0);
  }
  LayoutKind Layout =
      First->getAttrOfType<dnn::LayoutKindAttr>(dnn::attr::Layout).getValue();
  return dnn::WeightOp::create(
      Builder, First.getLoc(),
      dnn::PackedType::get(
          Builder.getContext(), Layout, IsStack ? Type.getDimSize(0) : 1,
          OutFeatures,
          Layout == LayoutKind::Vector ? 1 : Type.getShape().back(),
          packedFormat(Type, Layout)),
      mapped(First.getScope()), Builder.getStrArrayAttr(Keys),
      First.getComponentAttr(), /*index=*/IntegerAttr());
}

Value DnnConverter::table(Location Loc, Value Scope, TableAttrInterface Content,
                          int64_t Rows, int64_t Columns, StringAttr Key) {
  auto Type = dnn::PackedType::get(Builder.getContext(), LayoutKind::RowMajor,
                                   1, Rows, Columns, StorageFormat::F32);
  return dnn::TableOp::create(Builder, Loc, Type, Scope, Content, Key,
                              /*index=*/IntegerAttr());
}

Value DnnConverter::ropeTable(Location Loc, RopeAttr Rope) {
  return Rope ? table(Loc, anyScope(), Rope, Module.Positions, Rope.getDim())
              : Value();
}

Value DnnConverter::anyScope() {
  for (BlockArgument Argument : Function.getArguments())
    if (isa<ScopeType>(Argument.getType()))
      return Argument;
  if (!OwnScope) {
    OpBuilder::InsertionGuard Guard(Builder);
    Builder.setInsertionPointToStart(&Function.getBody().front());
    OwnScope = createScope(Function.getLoc(), Builder.getStringAttr(""),
                           Module.RootLayer);
  }
  return OwnScope;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace tenon {
#define GEN_PASS_DEF_CONVERTTRANSFORMERTODNN
#include "passes/Placement/Passes.h.inc"
} // namespace tenon

namespace {

struct ConvertTransformerToDnn
    : public tenon::impl::ConvertTransformerToDnnBase<ConvertTransformerToDnn> {
  using ConvertTransformerToDnnBase::ConvertTransformerToDnnBase;

  void runOnOperation() override {
    ModuleOp Module = getOperation();
    std::optional<CpuLevel> Chosen = cpuLevelNamed(std::string_view(Level));
    if (!Chosen) {
      auto Names = llvm::map_range(
          CpuLevels, [](const CpuLevelInfo &Info) { return Info.Name; });
      emitError(Module.getLoc())
          << "level: expected one of " << llvm::join(Names, ", ") << ", got '"
          << Level << "'";
      return signalPassFailure();
    }
    FailureOr<RowCounts> Rows = RowCounts::compute(Module);
    if (failed(Rows))
      return signalPassFailure();
    DnnConversion Shared{std::move(*Rows),
                         dnn::TargetAttr::get(&getContext(), infoOf(*Chosen)),
                         StorageFormat::BF16,
                         isExact(Module),
                         1,
                         {},
                         {}};
    if (auto Type = Module->getAttrOfType<StringAttr>(attr::ComputeType))
      Shared.Compute = *valueNamed(StorageFormats, Type.getValue());
    Module->setAttr(dnn::attr::Target, Shared.Target);
    Module.walk([&](ScopeOp Scope) {
      if (Scope.getName().empty())
        Shared.RootLayer = Scope.getLayerAttr();
    });
    // Positions are those of a sequence or of a source text.
    for (StringRef Name : {attr::MaxSequence, attr::MaxSource})
      if (auto Size = Module->getAttrOfType<IntegerAttr>(Name))
        Shared.Positions = std::max(Shared.Positions, Size.getInt());
    for (auto Function : Module.getOps<func::FuncOp>())
      if (auto Size = Function->getAttrOfType<IntegerAttr>(attr::MaxSequence))
        Shared.Positions = std::max(Shared.Positions, Size.getInt());
    // Entries first: scopes are numbered in the order that entries name them.
    SmallVector<func::FuncOp> Functions;
    for (bool IsEntry : {true, false})
      for (auto Function : Module.getOps<func::FuncOp>())
        if (Function->hasAttr(attr::Role) == IsEntry)
          Functions.push_back(Function);
    for (func::FuncOp Function : Functions)
      if (failed(DnnConverter(Function, Shared).run()))
        return signalPassFailure();
  }
};

} // namespace
