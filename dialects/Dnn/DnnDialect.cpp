//===- DnnDialect.cpp - Dialect, types, attributes and effects ------------===//

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

LogicalResult DnnDialect::verifyOperationAttribute(Operation *Op,
                                                   NamedAttribute Named) {
  StringRef Name = Named.getName();
  Attribute Value = Named.getValue();
  auto Expect = [&](bool IsPlace, StringRef Place, bool IsValue,
                    StringRef Expected) -> LogicalResult {
    if (!IsPlace)
      return Op->emitOpError()
             << "attribute '" << Name << "' belongs on a " << Place;
    if (!IsValue)
      return Op->emitOpError() << "attribute '" << Name << "' is " << Value
                               << ": expected " << Expected;
    return success();
  };
  if (Name == attr::Target)
    return Expect(isa<ModuleOp>(Op), "module", isa<TargetAttr>(Value),
                  "a #dnn.target");
  if (Name == attr::Layout) {
    auto Layout = dyn_cast<LayoutKindAttr>(Value);
    auto Parameter = dyn_cast<transformer::ParameterOp>(Op);
    if (failed(Expect(Parameter != nullptr, "transformer.parameter",
                      Layout != nullptr, "a #dnn.layout")))
      return failure();
    bool IsVector = cast<ShapedType>(Parameter.getType()).getRank() == 1;
    return Expect(true, "",
                  IsVector == (Layout.getValue() == LayoutKind::Vector),
                  "vector for one dimension, row_major or panels for more");
  }
  if (Name == attr::ArenaBytes) {
    auto Bytes = dyn_cast<IntegerAttr>(Value);
    if (failed(Expect(isa<ModuleOp>(Op), "module",
                      Bytes && Bytes.getType().isSignlessInteger(64) &&
                          Bytes.getInt() >= 0,
                      "a 64-bit integer of at least 0")))
      return failure();
    WalkResult Buffers = Op->walk([&](BufferOp Buffer) -> WalkResult {
      auto Plan = Buffer.getPlanAttr();
      int64_t End = static_cast<int64_t>(Buffer.getOffset()) +
                    (Plan ? Plan.getBytes() : 0);
      if (End <= Bytes.getInt())
        return success();
      return Buffer.emitOpError()
             << "dnn_buffer_c2: end: expected at most the " << Bytes.getInt()
             << " bytes of the arena, got " << End;
    });
    return failure(Buffers.wasInterrupted());
  }
  if (Name == attr::ScratchBytes) {
    auto Bytes = dyn_cast<IntegerAttr>(Value);
    return Expect(isa<ModuleOp>(Op), "module",
                  Bytes && Bytes.getType().isSignlessInteger(64) &&
                      Bytes.getInt() >= 0,
                  "a 64-bit integer of at least 0");
  }
  return Op->emitOpError() << "unknown attribute '" << Name
                           << "' of the dnn dialect";
}

//===----------------------------------------------------------------------===//
// The target
//===----------------------------------------------------------------------===//

TargetAttr TargetAttr::get(MLIRContext *Context, const CpuLevelInfo &Info) {
  SmallVector<DotProduct> Dots;
  for (const auto &Dot : DotProducts)
    if (Info.Dots.contains(Dot.Value))
      Dots.push_back(Dot.Value);
  SmallVector<StorageFormat> Library;
  for (const StorageFormatInfo &Format : StorageFormats)
    if (Info.LibraryFormats.contains(Format.Value))
      Library.push_back(Format.Value);
  return get(Context, StringRef(Info.Name), Info.VectorBits, Info.Registers,
             Dots, Library);
}

/// ", NAME = [word, word]".
template <typename Entry, size_t Count, typename Enum>
static ParseResult parseList(AsmParser &Parser, StringRef Name,
                             const std::array<Entry, Count> &Table,
                             SmallVectorImpl<Enum> &Values) {
  return failure(
      Parser.parseComma() || Parser.parseKeyword(Name) || Parser.parseEqual() ||
      Parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        auto Value = parseNamed(Parser, Table);
        if (succeeded(Value))
          Values.push_back(*Value);
        return failure(failed(Value));
      }));
}

Type TargetAttr::getInputType(StorageFormat Format, StorageFormat Compute,
                              bool IsExact, bool IsDecodeSized) const {
  MLIRContext *Context = getContext();
  const StorageFormatInfo &Info = infoOf(Format);
  bool IsBF16 = Format == StorageFormat::BF16;
  if (Info.isQuantised()) {
    bool HasTiles = Compute == StorageFormat::BF16 && !IsDecodeSized &&
                    hasDot(DotProduct::BF16Tile);
    IsExact |= HasTiles;
    if (!IsExact && hasDot(DotProduct::Int8))
      return GroupedType::get(Context, IsDecodeSized ? 16 : 8);
    if (!IsExact && hasDot(DotProduct::Int16))
      return !IsDecodeSized && quadsInWords(Format) > 0
                 ? GroupedType::get(Context, 8)
                 : GroupedType::get(Context, 16, DotProduct::Int16);
    IsBF16 =
        Compute == StorageFormat::BF16 && (!IsDecodeSized || Info.Bits == 4);
  }
  return elementTypeOf(Context, IsBF16 && hasDot(DotProduct::BF16)
                                    ? StorageFormat::BF16
                                    : StorageFormat::F32);
}

Type TargetAttr::getQueryType(CacheFormat Format, bool IsExact,
                              bool IsDecodeSized) const {
  bool IsBF16 = false;
  switch (Format) {
  case CacheFormat::F32:
    break;
  case CacheFormat::BF16:
    IsBF16 = true;
    break;
  case CacheFormat::I8:
    IsBF16 = !IsExact;
    break;
  }
  bool HasProducts =
      IsDecodeSized ? Format == CacheFormat::I8 && multipliesCachedIntegers()
                    : hasDot(DotProduct::BF16);
  return elementTypeOf(getContext(), IsBF16 && HasProducts
                                         ? StorageFormat::BF16
                                         : StorageFormat::F32);
}

Attribute TargetAttr::parse(AsmParser &Parser, Type) {
  SMLoc Location = Parser.getCurrentLocation();
  StringRef Level;
  int64_t VectorBits = 0, Registers = 0;
  SmallVector<DotProduct> Dots;
  SmallVector<StorageFormat> Library;
  if (Parser.parseLess() || Parser.parseKeyword(&Level) ||
      Parser.parseComma() || Parser.parseKeyword("vector") ||
      Parser.parseEqual() || Parser.parseInteger(VectorBits) ||
      Parser.parseComma() || Parser.parseKeyword("registers") ||
      Parser.parseEqual() || Parser.parseInteger(Registers) ||
      parseList(Parser, "dot", DotProducts, Dots) ||
      parseList(Parser, "library", StorageFormats, Library) ||
      Parser.parseGreater())
    return {};
  return Parser.getChecked<TargetAttr>(Location, Parser.getContext(), Level,
                                       VectorBits, Registers, Dots, Library);
}

void TargetAttr::print(AsmPrinter &Printer) const {
  Printer << "<" << getLevel() << ", vector = " << getVectorBits()
          << ", registers = " << getRegisters() << ", dot = [";
  llvm::interleaveComma(getDots(), Printer,
                        [&](DotProduct Dot) { Printer << infoOf(Dot).Name; });
  Printer << "], library = [";
  llvm::interleaveComma(getLibrary(), Printer, [&](StorageFormat Format) {
    Printer << infoOf(Format).Name;
  });
  Printer << "]>";
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> EmitError,
                                 StringRef Level, int64_t VectorBits,
                                 int64_t Registers, ArrayRef<DotProduct> Dots,
                                 ArrayRef<StorageFormat>) {
  std::optional<CpuLevel> Known = cpuLevelNamed(std::string_view(Level));
  if (!Known) {
    auto Diag = EmitError() << "expected a CPU level, one of ";
    llvm::interleaveComma(CpuLevels, Diag,
                          [&](const CpuLevelInfo &Info) { Diag << Info.Name; });
    return Diag << ", got '" << Level << "'";
  }
  if ((VectorBits != 256 && VectorBits != 512) || Registers < 16 ||
      Registers > 32)
    return EmitError() << "expected 256 or 512 bits and 16 to 32 registers, "
                          "got "
                       << VectorBits << " and " << Registers;
  const CpuLevelInfo &Info = infoOf(*Known);
  if (VectorBits > Info.VectorBits || Registers > Info.Registers)
    return EmitError() << "expected at most the " << Info.VectorBits
                       << " bits and " << Info.Registers << " registers of "
                       << Level << ", got " << VectorBits << " and "
                       << Registers;
  for (DotProduct Dot : Dots)
    if (!Info.Dots.contains(Dot))
      return EmitError() << "expected dot products of " << Level << ", got "
                         << infoOf(Dot).Name;
  return success();
}

LogicalResult PlanAttr::verify(function_ref<InFlightDiagnostic()> EmitError,
                               int64_t Bytes, int64_t First, int64_t Last) {
  if (Bytes >= 0 && First >= 0 && First <= Last)
    return success();
  return EmitError() << "expected bytes >= 0 and 0 <= first <= last, got "
                     << Bytes << ", " << First << " and " << Last;
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

llvm::hash_code tenon::hash_value(const KernelCost &Cost) {
  llvm::hash_code Code = llvm::hash_combine(
      static_cast<uint32_t>(Cost.Keys), static_cast<uint32_t>(Cost.Numbers));
  for (const KernelCostField &Field : KernelCostFields)
    Code = llvm::hash_combine(Code, Cost.*Field.Member);
  return Code;
}

Attribute CostAttr::parse(AsmParser &Parser, Type) {
  SMLoc Location = Parser.getCurrentLocation();
  KernelCost Cost;
  auto ParseField = [&]() -> ParseResult {
    SMLoc At = Parser.getCurrentLocation();
    StringRef Name;
    if (Parser.parseKeyword(&Name) || Parser.parseEqual())
      return failure();
    auto ParseNamed = [&](auto &Target, const auto &Table) -> ParseResult {
      auto Value = parseNamed(Parser, Table);
      if (succeeded(Value))
        Target = *Value;
      return failure(failed(Value));
    };
    if (Name == "keys")
      return ParseNamed(Cost.Keys, KeysSeenKinds);
    if (Name == "numbers")
      return ParseNamed(Cost.Numbers, Arithmetics);
    for (const KernelCostField &Field : KernelCostFields)
      if (Name == StringRef(Field.Name))
        return Parser.parseInteger(Cost.*Field.Member);
    return Parser.emitError(At) << "unknown cost " << Name;
  };
  if (Parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     ParseField))
    return {};
  return Parser.getChecked<CostAttr>(Location, Parser.getContext(), Cost);
}

void CostAttr::print(AsmPrinter &Printer) const {
  const KernelCost Cost = getCost();
  StringRef Separator;
  auto Print = [&](std::string_view Name, const auto &Value) {
    Printer << Separator << StringRef(Name) << " = " << Value;
    Separator = ", ";
  };
  Printer << "<";
  for (const KernelCostField &Field : KernelCostFields)
    if (Cost.*Field.Member != Field.Default)
      Print(Field.Name, Cost.*Field.Member);
  if (Cost.Keys != KeysSeen::None)
    Print("keys", infoOf(Cost.Keys).Name);
  // Always, so that there is something between the brackets.
  Print("numbers", infoOf(Cost.Numbers).Name);
  Printer << ">";
}

LogicalResult CostAttr::verify(function_ref<InFlightDiagnostic()> EmitError,
                               KernelCost Cost) {
  for (const KernelCostField &Field : KernelCostFields)
    if (int64_t Value = Cost.*Field.Member;
        Value < Field.Default || Value > MaxKernelCost)
      return EmitError() << StringRef(Field.Name) << ": expected "
                         << Field.Default << " to " << MaxKernelCost << ", got "
                         << Value;
  if (Cost.UsedParts > Cost.Parts)
    return EmitError() << "used_parts: expected at most the " << Cost.Parts
                       << " parts, got " << Cost.UsedParts;
  return success();
}

TargetAttr dnn::targetOf(ModuleOp Module) {
  auto Target = Module->getAttrOfType<TargetAttr>(attr::Target);
  if (!Target)
    Module.emitError() << "expected the module attribute " << attr::Target
                       << ", which placement sets";
  return Target;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type PackedType::parse(AsmParser &Parser) {
  SMLoc Location = Parser.getCurrentLocation();
  SmallVector<int64_t> Dims;
  StorageFormat Format = StorageFormat::F32;
  if (Parser.parseLess())
    return {};
  FailureOr<LayoutKind> Layout = parseNamed(Parser, LayoutKinds);
  if (failed(Layout) || Parser.parseComma() ||
      parseDimsAndFormat(Parser, Dims, Format))
    return {};
  if (Dims.size() < 2 || Dims.size() > 3) {
    Parser.emitError(Location)
        << "expected two or three dimensions, got " << Dims.size();
    return {};
  }
  int64_t Count = Dims.size() == 3 ? Dims[0] : 1;
  ArrayRef<int64_t> Matrix = ArrayRef(Dims).take_back(2);
  return Parser.getChecked<PackedType>(Location, Parser.getContext(), *Layout,
                                       Count, Matrix[0], Matrix[1], Format);
}

void PackedType::print(AsmPrinter &Printer) const {
  Printer << "<" << infoOf(getLayout()).Name << ", ";
  if (getCount() != 1)
    Printer << getCount() << "x";
  Printer << getOutFeatures() << "x" << getInFeatures() << "x"
          << infoOf(getFormat()).Name << ">";
}

LogicalResult PackedType::verify(function_ref<InFlightDiagnostic()> EmitError,
                                 LayoutKind Layout, int64_t Count,
                                 int64_t OutFeatures, int64_t InFeatures,
                                 StorageFormat Format) {
  if (Count < 1 || OutFeatures < 1 || InFeatures < 1)
    return EmitError() << "expected positive dimensions, got " << Count << "x"
                       << OutFeatures << "x" << InFeatures;
  if (Count != 1 && Layout != LayoutKind::Panels)
    return EmitError() << "expected panels of " << Count << " matrices, got "
                       << infoOf(Layout).Name;
  if (Layout == LayoutKind::Vector &&
      (InFeatures != 1 || Format != StorageFormat::F32))
    return EmitError() << "expected a vector to be Nx1xf32";
  if (infoOf(Format).isQuantised() && Layout != LayoutKind::Panels)
    return EmitError() << "expected panels of " << infoOf(Format).Name
                       << ", got " << infoOf(Layout).Name;
  return success();
}

GroupedType GroupedType::get(MLIRContext *Context, int64_t Bits) {
  return get(Context, Bits, DotProduct::Int8);
}

Type GroupedType::parse(AsmParser &Parser) {
  SMLoc Location = Parser.getCurrentLocation();
  int64_t Bits = 0;
  DotProduct Dot = DotProduct::Int8;
  if (Parser.parseLess() || Parser.parseInteger(Bits))
    return {};
  if (succeeded(Parser.parseOptionalComma())) {
    auto Named = parseNamed(Parser, DotProducts);
    if (failed(Named))
      return {};
    Dot = *Named;
  }
  if (Parser.parseGreater())
    return {};
  return Parser.getChecked<GroupedType>(Location, Parser.getContext(), Bits,
                                        Dot);
}

void GroupedType::print(AsmPrinter &Printer) const {
  Printer << '<' << getBits();
  if (getDot() != DotProduct::Int8)
    Printer << ", " << infoOf(getDot()).Name;
  Printer << '>';
}

LogicalResult GroupedType::verify(function_ref<InFlightDiagnostic()> EmitError,
                                  int64_t Bits, DotProduct Dot) {
  switch (Dot) {
  case DotProduct::Int8:
    if (Bits == 8 || Bits == 16)
      return success();
    return EmitError() << "expected codes of 8 or 16 bits, got " << Bits;
  case DotProduct::Int16:
    if (Bits == 16)
      return success();
    return EmitError() << "expected codes of 16 bits for int16, got " << Bits;
  case DotProduct::BF16:
  case DotProduct::BF16Tile:
  case DotProduct::Int8Tile:
    return EmitError() << "expected a dot product of integers, got "
                       << infoOf(Dot).Name;
  }
  llvm_unreachable("all dot products are covered");
}

void PackedType::getAsmName(OpAsmSetNameFn SetName) const { SetName("weight"); }

MemRefType PackedType::getBufferType() const {
  Type Element = elementTypeOf(getContext(), getFormat());
  switch (getLayout()) {
  case LayoutKind::Vector:
    return MemRefType::get({roundUp(getOutFeatures(), PanelWidth)}, Element);
  case LayoutKind::RowMajor:
    return MemRefType::get({getOutFeatures(), getInFeatures()}, Element);
  case LayoutKind::Panels: {
    const StorageFormatInfo &Info = infoOf(getFormat());
    int64_t Panels = getCount() * getPanels();
    int64_t Depth = paddedInFeatures(getFormat(), getInFeatures());
    if (Info.isQuantised())
      return MemRefType::get(
          {Panels, Depth / Info.BlockValues, PanelWidth * Info.BlockBytes},
          Element);
    return MemRefType::get(
        {Panels, Depth / Info.Interleave, PanelWidth * Info.Interleave},
        Element);
  }
  }
  llvm_unreachable("all layouts are covered");
}

Type dnn::elementTypeOf(MLIRContext *Context, StorageFormat Format) {
  if (infoOf(Format).isQuantised())
    return IntegerType::get(Context, 8);
  return transformer::storedType(Context, Format);
}

StorageFormat dnn::formatOf(Type Element) {
  for (const StorageFormatInfo &Info : StorageFormats)
    if (Info.BlockValues == 1 &&
        elementTypeOf(Element.getContext(), Info.Value) == Element)
      return Info.Value;
  llvm_unreachable("no plain format");
}

int64_t dnn::rowBytesOf(ShapedType Rows) {
  int64_t Width = Rows.getDimSize(1);
  if (auto Grouped = dyn_cast<GroupedType>(Rows.getElementType()))
    return Grouped.getRecordBytes() * llvm::divideCeil(Width, GroupValues);
  return Width * Rows.getElementTypeBitWidth() / 8;
}

Type dnn::elementTypeOf(MLIRContext *Context, CacheFormat Format) {
  switch (Format) {
  case CacheFormat::F32:
    return Float32Type::get(Context);
  case CacheFormat::BF16:
    return BFloat16Type::get(Context);
  case CacheFormat::I8:
    return IntegerType::get(Context, 8);
  }
  llvm_unreachable("all formats are covered");
}

dnn::PageTypes dnn::pageTypes(MLIRContext *Context, const PageLayout &Layout) {
  Type Element = elementTypeOf(Context, Layout.Format);
  int64_t P = Layout.wordValues();
  PageTypes Types;
  Types.Keys = MemRefType::get(
      {Layout.KvHeads, PageTokens / KeyBlock, Layout.keyWords(), KeyBlock * P},
      Element);
  Types.Values = MemRefType::get(
      {Layout.KvHeads, PageTokens / P, Layout.valueWords() * P}, Element);
  if (infoOf(Layout.Format).HasScales)
    Types.Scales = MemRefType::get({2, Layout.KvHeads, PageTokens},
                                   Float32Type::get(Context));
  return Types;
}

CacheFormat dnn::stagedFormat(Value Staged) {
  return getElementTypeOrSelf(Staged).isBF16() ? CacheFormat::BF16
                                               : CacheFormat::F32;
}

MemRefType dnn::latentPageType(int64_t Width, Type Element) {
  return MemRefType::get({PageTokens, roundUp(Width, KeyBlock)}, Element);
}

//===----------------------------------------------------------------------===//
// Memory effects
//===----------------------------------------------------------------------===//

void dnn::addComputeEffects(
    Operation *Op,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &Effects) {
  auto Compute = cast<DestinationStyleOpInterface>(Op);
  for (OpOperand *Input : Compute.getDpsInputOperands())
    if (isa<BaseMemRefType>(Input->get().getType()))
      Effects.emplace_back(MemoryEffects::Read::get(), Input);
  for (OpOperand &Init : Compute.getDpsInitsMutable())
    if (isa<BaseMemRefType>(Init.get().getType()))
      Effects.emplace_back(MemoryEffects::Write::get(), &Init);
  if (Op->hasTrait<trait::AppendsToCache>())
    Effects.emplace_back(MemoryEffects::Write::get(), CachePages::get());
  if (Op->hasTrait<trait::ReadsCache>() && cacheOperandOf(Op))
    Effects.emplace_back(MemoryEffects::Read::get(), CachePages::get());
}
