//===- TransformerDialect.cpp - Dialect, types and attributes -------------===//

#include "dialects/Transformer/Checks.h"
#include "dialects/Transformer/Transformer.h"
#include "runtime/Abi/Limits.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>
#include <numbers>

using namespace mlir;
using namespace tenon;
using namespace tenon::transformer;

#include "dialects/Transformer/TransformerDialect.cpp.inc"
#include "dialects/Transformer/TransformerEnums.cpp.inc"

#include "dialects/Transformer/TransformerAttrInterfaces.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Transformer/TransformerTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Transformer/TransformerAttributes.cpp.inc"

//===----------------------------------------------------------------------===//
// Attributes that describe a model
//===----------------------------------------------------------------------===//

namespace {

/// Where a discardable attribute belongs, who writes it and what it holds.
struct AttributeRule {
  enum Writer { Model, Pass };
  StringRef Name;
  Writer By;
  bool OnModule;
  bool OnFunction;
  enum { Count, Text, OneOf, Variant } Holds;
  /// Values of OneOf.
  ArrayRef<StringRef> Values = {};
};

} // namespace

static constexpr StringRef Roles[] = {"step", "encode", "embed",
                                      "encode_image"};
static constexpr auto Outputs = [] {
  std::array<StringRef, OutputKinds.size()> Names;
  for (size_t I = 0; I < Names.size(); ++I)
    Names[I] = OutputKinds[I].Name;
  return Names;
}();
static constexpr StringRef ComputeTypes[] = {"f32", "bf16"};
static constexpr StringRef ActivationModes[] = {"auto", "exact"};
static constexpr AttributeRule Rules[] = {
    {attr::Role, AttributeRule::Model, false, true, AttributeRule::OneOf,
     Roles},
    {attr::Output, AttributeRule::Model, false, true, AttributeRule::OneOf,
     Outputs},
    {attr::Variant, AttributeRule::Pass, false, true, AttributeRule::Variant},
    {attr::MaxTokens, AttributeRule::Pass, false, true, AttributeRule::Count},
    {attr::MaxOutputRows, AttributeRule::Pass, false, true,
     AttributeRule::Count},
    // An entry may have a vocabulary of its own.
    {attr::Vocabulary, AttributeRule::Model, true, true, AttributeRule::Count},
    // Images may have another number of tokens.
    {attr::MaxSequence, AttributeRule::Model, true, true, AttributeRule::Count},
    {attr::TokenTypes, AttributeRule::Model, true, false, AttributeRule::Count},
    {attr::MaxSource, AttributeRule::Model, true, false, AttributeRule::Count},
    {attr::ComputeType, AttributeRule::Model, true, false, AttributeRule::OneOf,
     ComputeTypes},
    {attr::Activations, AttributeRule::Model, true, false, AttributeRule::OneOf,
     ActivationModes},
    {attr::FewTokens, AttributeRule::Pass, true, false, AttributeRule::Count},
    {attr::Family, AttributeRule::Model, true, false, AttributeRule::Text}};

LogicalResult
TransformerDialect::verifyOperationAttribute(Operation *Op,
                                             NamedAttribute Named) {
  StringRef Name = Named.getName();
  const auto *Rule = llvm::find_if(
      Rules, [&](const AttributeRule &R) { return R.Name == Name; });
  if (Rule == std::end(Rules))
    return Op->emitOpError()
           << "unknown attribute '" << Name << "' of the transformer dialect";
  if (!(Rule->OnModule && isa<ModuleOp>(Op)) &&
      !(Rule->OnFunction && isa<FunctionOpInterface>(Op)))
    return Op->emitOpError() << "attribute '" << Name << "' belongs on a "
                             << (Rule->OnModule ? "module" : "function");
  auto Fail = [&](const Twine &Expected) {
    return Op->emitOpError() << "attribute '" << Name << "' is "
                             << Named.getValue() << ": expected " << Expected;
  };
  auto Text = dyn_cast<StringAttr>(Named.getValue());
  switch (Rule->Holds) {
  case AttributeRule::Count: {
    auto Value = dyn_cast<IntegerAttr>(Named.getValue());
    if (Value && Value.getType().isSignlessInteger(64) && Value.getInt() > 0)
      return success();
    return Fail("a positive 64-bit integer");
  }
  case AttributeRule::Text:
    return Text ? LogicalResult(success()) : Fail("a string");
  case AttributeRule::OneOf:
    if (Text && llvm::is_contained(Rule->Values, Text.getValue()))
      return success();
    return Fail("one of " + llvm::join(Rule->Values, ", "));
  case AttributeRule::Variant:
    return isa<VariantAttr>(Named.getValue()) ? LogicalResult(success())
                                              : Fail("few or many");
  }
  llvm_unreachable("all kinds of rules are covered");
}

bool transformer::isModelAttribute(StringRef Name) {
  return llvm::any_of(Rules, [&](const AttributeRule &R) {
    return R.Name == Name && R.By == AttributeRule::Model;
  });
}

std::optional<OutputKind> transformer::outputOf(Operation *Entry) {
  auto Output = Entry->getAttrOfType<StringAttr>(attr::Output);
  return Output ? valueNamed(OutputKinds, Output.getValue()) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Names of function arguments
//===----------------------------------------------------------------------===//

void BatchType::getAsmName(OpAsmSetNameFn SetName) const { SetName("batch"); }
void ScopeType::getAsmName(OpAsmSetNameFn SetName) const { SetName("scope"); }
void CacheType::getAsmName(OpAsmSetNameFn SetName) const { SetName("cache"); }

namespace {
/// Tensors and buffers that are arguments print as %x.
template <typename TypeTy>
struct ArgumentName
    : public OpAsmTypeInterface::ExternalModel<ArgumentName<TypeTy>, TypeTy> {
  void getAsmName(Type, OpAsmSetNameFn SetName) const { SetName("x"); }
};
} // namespace

//===----------------------------------------------------------------------===//
// Cache type: <2x24xbf16>, <cross 2x24xbf16>
//===----------------------------------------------------------------------===//

Type CacheType::parse(AsmParser &Parser) {
  SMLoc Location = Parser.getCurrentLocation();
  StringRef KindName;
  SmallVector<int64_t> Dims;
  CacheFormat Format = CacheFormat::F32;
  if (Parser.parseLess())
    return {};
  CacheKind Kind = CacheKind::Sequence;
  if (succeeded(Parser.parseOptionalKeyword(&KindName))) {
    std::optional<CacheKind> Named = symbolizeCacheKind(KindName);
    if (!Named) {
      Parser.emitError(Location)
          << "expected sequence, cross or latent, got " << KindName;
      return {};
    }
    Kind = *Named;
  }
  if (parseDimsAndFormat(Parser, Dims, Format))
    return {};
  if (Dims.size() != 2) {
    Parser.emitError(Location)
        << "expected kv_heads x head_dim, got " << Dims.size() << " dimensions";
    return {};
  }
  return Parser.getChecked<CacheType>(Location, Parser.getContext(), Kind,
                                      Dims[0], Dims[1], Format);
}

void CacheType::print(AsmPrinter &Printer) const {
  Printer << "<";
  if (getKind() != CacheKind::Sequence)
    Printer << stringifyCacheKind(getKind()) << " ";
  Printer << getKvHeads() << "x" << getHeadDim() << "x"
          << infoOf(getFormat()).Name << ">";
}

LogicalResult CacheType::verify(function_ref<InFlightDiagnostic()> EmitError,
                                CacheKind Kind, int64_t KvHeads,
                                int64_t HeadDim, CacheFormat Format) {
  if (Kind == CacheKind::Latent && infoOf(Format).HasScales)
    return EmitError() << "expected latent vectors of f32 or bf16, got "
                       << infoOf(Format).Name;
  if (KvHeads < 1 || HeadDim < 1)
    return EmitError() << "expected positive kv_heads and head_dim, got "
                       << KvHeads << " and " << HeadDim;
  if (Kind == CacheKind::Latent && KvHeads != 1)
    return EmitError() << "expected one head of latent vectors, got "
                       << KvHeads;
  return success();
}

int64_t CacheType::getPageBytes() const {
  return isLatent()
             ? latentPageElements(getHeadDim()) * infoOf(getFormat()).Bytes
             : getPageLayout().bytes();
}

//===----------------------------------------------------------------------===//
// Types of stored numbers
//===----------------------------------------------------------------------===//

Type QuantType::parse(AsmParser &Parser) {
  SMLoc Location = Parser.getCurrentLocation();
  if (Parser.parseLess())
    return {};
  FailureOr<StorageFormat> Format = parseNamed(Parser, StorageFormats);
  if (failed(Format) || Parser.parseGreater())
    return {};
  return Parser.getChecked<QuantType>(Location, Parser.getContext(), *Format);
}

void QuantType::print(AsmPrinter &Printer) const {
  Printer << "<" << infoOf(getFormat()).Name << ">";
}

LogicalResult QuantType::verify(function_ref<InFlightDiagnostic()> EmitError,
                                StorageFormat Format) {
  if (!infoOf(Format).isQuantised())
    return EmitError() << "expected a quantised format, got "
                       << infoOf(Format).Name;
  return success();
}

bool transformer::isExact(ModuleOp Module) {
  auto Mode = Module->getAttrOfType<StringAttr>(attr::Activations);
  return Mode && Mode.getValue() == "exact";
}

Type transformer::storedType(MLIRContext *Context, StorageFormat Format) {
  if (infoOf(Format).isQuantised())
    return QuantType::get(Context, Format);
  return Format == StorageFormat::F32 ? Type(Float32Type::get(Context))
                                      : Type(BFloat16Type::get(Context));
}

StorageFormat transformer::storageFormatOf(Type Stored) {
  Type Element = getElementTypeOrSelf(Stored);
  if (auto Quant = dyn_cast<QuantType>(Element))
    return Quant.getFormat();
  assert((Element.isF32() || Element.isBF16()) && "no stored type");
  return Element.isF32() ? StorageFormat::F32 : StorageFormat::BF16;
}

//===----------------------------------------------------------------------===//
// Numbers in attributes
//===----------------------------------------------------------------------===//

/// Parses `name = number`.
static ParseResult parseNamedReal(AsmParser &Parser, StringRef Name,
                                  double &Value) {
  return failure(Parser.parseKeyword(Name) || Parser.parseEqual() ||
                 parseShortReal(Parser, Value));
}

//===----------------------------------------------------------------------===//
// RoPE attribute
//===----------------------------------------------------------------------===//

/// What the numbers of a scaling are called, in their order. longrope's factors
/// follow without names.
static ArrayRef<StringRef> namesOf(RopeScaling Scaling) {
  static constexpr StringRef Linear[] = {"factor"};
  static constexpr StringRef Llama3[] = {"factor", "low", "high", "original"};
  static constexpr StringRef Yarn[] = {"factor",   "fast",     "slow",
                                       "original", "truncate", "attention"};
  static constexpr StringRef LongRope[] = {"attention"};
  switch (Scaling) {
  case RopeScaling::Default:
    return {};
  case RopeScaling::Linear:
    return Linear;
  case RopeScaling::Llama3:
    return Llama3;
  case RopeScaling::Yarn:
    return Yarn;
  case RopeScaling::LongRope:
    return LongRope;
  }
  llvm_unreachable("all scalings are covered");
}

/// Parses what follows the comma after the base.
static ParseResult parseScaling(AsmParser &Parser, RopeScaling &Scaling,
                                SmallVectorImpl<Real> &Numbers) {
  SMLoc Location = Parser.getCurrentLocation();
  StringRef Name;
  if (Parser.parseKeyword(&Name))
    return failure();
  std::optional<RopeScaling> Named = symbolizeRopeScaling(Name);
  if (!Named || *Named == RopeScaling::Default)
    return Parser.emitError(Location)
           << "expected linear, llama3, yarn or longrope, got " << Name;
  Scaling = *Named;
  if (Parser.parseLParen())
    return failure();
  for (StringRef Number : namesOf(Scaling)) {
    double Value = 0;
    if (!Numbers.empty() && Parser.parseComma())
      return failure();
    if (parseNamedReal(Parser, Number, Value))
      return failure();
    Numbers.push_back(Value);
  }
  while (Scaling == RopeScaling::LongRope &&
         succeeded(Parser.parseOptionalComma())) {
    double Factor = 0;
    if (parseShortReal(Parser, Factor))
      return failure();
    Numbers.push_back(Factor);
  }
  return Parser.parseRParen();
}

Attribute RopeAttr::parse(AsmParser &Parser, Type) {
  SMLoc Location = Parser.getCurrentLocation();
  StringRef StyleName;
  int64_t Dim = 0;
  double Base = 0;
  if (Parser.parseLess() || Parser.parseKeyword(&StyleName))
    return {};
  std::optional<RopeStyle> Style = symbolizeRopeStyle(StyleName);
  if (!Style) {
    Parser.emitError(Location)
        << "expected half or interleaved, got " << StyleName;
    return {};
  }
  if (Parser.parseComma() || Parser.parseKeyword("dim") ||
      Parser.parseEqual() || Parser.parseInteger(Dim) || Parser.parseComma() ||
      parseNamedReal(Parser, "base", Base))
    return {};
  RopeScaling Scaling = RopeScaling::Default;
  SmallVector<Real> Numbers;
  if (succeeded(Parser.parseOptionalComma()) &&
      parseScaling(Parser, Scaling, Numbers))
    return {};
  if (Parser.parseGreater())
    return {};
  return Parser.getChecked<RopeAttr>(Location, Parser.getContext(), *Style, Dim,
                                     Base, Scaling, Numbers);
}

void RopeAttr::print(AsmPrinter &Printer) const {
  Printer << "<" << stringifyRopeStyle(getStyle()) << ", dim = " << getDim()
          << ", base = " << shortest(getBase());
  if (getScaling() != RopeScaling::Default) {
    Printer << ", " << stringifyRopeScaling(getScaling()) << "(";
    ArrayRef<StringRef> Names = namesOf(getScaling());
    for (auto [I, Number] : llvm::enumerate(getNumbers())) {
      if (I != 0)
        Printer << ", ";
      if (I < Names.size())
        Printer << Names[I] << " = ";
      Printer << shortest(Number);
    }
    Printer << ")";
  }
  Printer << ">";
}

LogicalResult RopeAttr::verify(function_ref<InFlightDiagnostic()> EmitError,
                               RopeStyle, int64_t Dim, Real Base,
                               RopeScaling Scaling, ArrayRef<Real> Numbers) {
  if (Dim < 2 || Dim % 2 != 0 || Dim > MaxSide)
    return EmitError() << "expected an even dim of 2 to " << MaxSide << ", got "
                       << Dim;
  if (!isPositive(Base))
    return EmitError() << "expected a positive base, got " << Base.Value;
  ArrayRef<StringRef> Names = namesOf(Scaling);
  size_t Count = Names.size();
  if (Scaling == RopeScaling::LongRope)
    Count += static_cast<size_t>(Dim / 2);
  if (Numbers.size() != Count)
    return EmitError() << "expected " << Count
                       << " numbers of the scaling, got " << Numbers.size();
  for (auto [I, Number] : llvm::enumerate(Numbers)) {
    StringRef Name = I < Names.size() ? Names[I] : "factor";
    bool MayBeZero = Name == "truncate";
    if (!isPositive(Number) && !(MayBeZero && Number.Value == 0))
      return EmitError() << "expected a positive " << Name << ", got "
                         << Number.Value;
  }
  if (Scaling == RopeScaling::Llama3 && !(Numbers[2] > Numbers[1]))
    return EmitError() << "expected low < high, got low = " << Numbers[1].Value
                       << ", high = " << Numbers[2].Value;
  return success();
}

/// YaRN's mix of stretched and original frequencies, by pair.
static float yarnFrequency(const RopeAttr &Rope, int64_t Pair, float Power) {
  ArrayRef<Real> Numbers = Rope.getNumbers();
  double Dim = static_cast<double>(Rope.getDim());
  // The pair that turns so many times within the original context.
  auto PairOf = [&](double Turns) {
    return Dim * std::log(Numbers[3] / (Turns * 2 * std::numbers::pi)) /
           (2 * std::log(static_cast<double>(Rope.getBase())));
  };
  double Low = PairOf(Numbers[1]), High = PairOf(Numbers[2]);
  if (Numbers[4].Value != 0) {
    Low = std::floor(Low);
    High = std::ceil(High);
  }
  Low = std::max(Low, 0.0);
  High = std::min(High, Dim - 1);
  if (Low == High)
    High += 0.001; // A ramp needs a length.
  float Ramp = (static_cast<float>(Pair) - static_cast<float>(Low)) /
               static_cast<float>(High - Low);
  float Kept = 1 - std::clamp(Ramp, 0.0f, 1.0f);
  float Stretched = 1.0f / (static_cast<float>(Numbers[0]) * Power);
  return Stretched * (1 - Kept) + 1.0f / Power * Kept;
}

SmallVector<float> RopeAttr::frequencies() const {
  ArrayRef<Real> Numbers = getNumbers();
  SmallVector<float> Result;
  for (int64_t I = 0; I < getDim() / 2; ++I) {
    // Every step in f32: frequencies then equal those of Transformers.
    float Exponent = static_cast<float>(2 * I) / static_cast<float>(getDim());
    float Power = std::pow(static_cast<float>(getBase()), Exponent);
    float Frequency = 1.0f / Power;
    switch (getScaling()) {
    case RopeScaling::Default:
      break;
    case RopeScaling::Linear:
      Frequency /= static_cast<float>(Numbers[0]);
      break;
    case RopeScaling::Llama3: {
      auto Factor = static_cast<float>(Numbers[0]);
      auto Low = static_cast<float>(Numbers[1]);
      auto High = static_cast<float>(Numbers[2]);
      auto Original = static_cast<float>(Numbers[3]);
      float Wavelength = 2.0f * std::numbers::pi_v<float> / Frequency;
      if (Wavelength > Original / Low) {
        Frequency /= Factor;
      } else if (Wavelength >= Original / High) {
        float Smooth = (Original / Wavelength - Low) / (High - Low);
        Frequency = (1 - Smooth) * Frequency / Factor + Smooth * Frequency;
      }
      break;
    }
    case RopeScaling::Yarn:
      Frequency = yarnFrequency(*this, I, Power);
      break;
    case RopeScaling::LongRope:
      Frequency = 1.0f / (static_cast<float>(Numbers[1 + I]) * Power);
      break;
    }
    Result.push_back(Frequency);
  }
  return Result;
}

float RopeAttr::attentionFactor() const {
  if (getScaling() == RopeScaling::Yarn)
    return static_cast<float>(getNumbers().back());
  if (getScaling() == RopeScaling::LongRope)
    return static_cast<float>(getNumbers().front());
  return 1;
}

//===----------------------------------------------------------------------===//
// Biases of attention
//===----------------------------------------------------------------------===//

Attribute AlibiAttr::parse(AsmParser &Parser, Type) {
  SMLoc Location = Parser.getCurrentLocation();
  double MaxBias = 0;
  bool Rounded = false;
  if (Parser.parseLess() || parseNamedReal(Parser, "max", MaxBias))
    return {};
  if (succeeded(Parser.parseOptionalComma())) {
    if (Parser.parseKeyword("rounded"))
      return {};
    Rounded = true;
  }
  if (Parser.parseGreater())
    return {};
  return Parser.getChecked<AlibiAttr>(Location, Parser.getContext(), MaxBias,
                                      Rounded);
}

void AlibiAttr::print(AsmPrinter &Printer) const {
  Printer << "<max = " << shortest(getMaxBias())
          << (getRounded() ? ", rounded>" : ">");
}

LogicalResult AlibiAttr::verify(function_ref<InFlightDiagnostic()> EmitError,
                                Real MaxBias, bool) {
  if (isPositive(MaxBias))
    return success();
  return EmitError() << "expected a positive max, got " << MaxBias.Value;
}

SmallVector<float> AlibiAttr::slopes(int64_t Heads) const {
  auto Whole =
      static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(Heads)));
  SmallVector<float> Slopes;
  for (int64_t H = 0; H < Heads; ++H) {
    double Step = H < Whole ? static_cast<double>(H + 1)
                            : static_cast<double>(2 * (H - Whole) + 1) / 2;
    double Slope = std::exp2(-getMaxBias() * Step / static_cast<double>(Whole));
    auto Rounded = static_cast<float>(Slope);
    if (getRounded()) {
      APFloat Narrow(Rounded);
      bool Lost = false;
      Narrow.convert(APFloat::BFloat(), APFloat::rmNearestTiesToEven, &Lost);
      Rounded = static_cast<float>(Narrow.convertToDouble());
    }
    Slopes.push_back(Rounded);
  }
  return Slopes;
}

Attribute BucketsAttr::parse(AsmParser &Parser, Type) {
  SMLoc Location = Parser.getCurrentLocation();
  int64_t Count = 0, MaxDistance = 0;
  bool Bidirectional = false;
  if (Parser.parseLess() || Parser.parseInteger(Count) || Parser.parseComma() ||
      Parser.parseKeyword("max") || Parser.parseEqual() ||
      Parser.parseInteger(MaxDistance))
    return {};
  if (succeeded(Parser.parseOptionalComma())) {
    if (Parser.parseKeyword("bidirectional"))
      return {};
    Bidirectional = true;
  }
  if (Parser.parseGreater())
    return {};
  return Parser.getChecked<BucketsAttr>(Location, Parser.getContext(), Count,
                                        MaxDistance, Bidirectional);
}

void BucketsAttr::print(AsmPrinter &Printer) const {
  Printer << "<" << getCount() << ", max = " << getMaxDistance()
          << (getBidirectional() ? ", bidirectional>" : ">");
}

LogicalResult BucketsAttr::verify(function_ref<InFlightDiagnostic()> EmitError,
                                  int64_t Count, int64_t MaxDistance,
                                  bool Bidirectional) {
  // Half of a direction's buckets have a distance of their own.
  int64_t Exact = (Bidirectional ? Count / 2 : Count) / 2;
  if (Count < 2 || Count % 2 != 0 || Exact < 1 || MaxDistance <= Exact ||
      Count > (1 << 16) || MaxDistance > (1 << 20))
    return EmitError() << "expected an even count of buckets and a max above "
                          "a quarter or a half of it, got "
                       << Count << " and " << MaxDistance;
  return success();
}

int64_t BucketsAttr::bucketOf(int64_t Distance) const {
  int64_t Count = getCount();
  int64_t First = 0;
  if (getBidirectional()) {
    Count /= 2;
    First = Distance > 0 ? Count : 0;
    Distance = std::abs(Distance);
  } else {
    Distance = std::max<int64_t>(-Distance, 0);
  }
  int64_t Exact = Count / 2;
  if (Distance < Exact)
    return First + Distance;
  float Share =
      std::log(static_cast<float>(Distance) / static_cast<float>(Exact)) /
      static_cast<float>(std::log(static_cast<double>(getMaxDistance()) /
                                  static_cast<double>(Exact))) *
      static_cast<float>(Count - Exact);
  return First + std::min(Exact + static_cast<int64_t>(Share), Count - 1);
}

//===----------------------------------------------------------------------===//
// Router attribute
//===----------------------------------------------------------------------===//

Attribute RouterAttr::parse(AsmParser &Parser, Type) {
  SMLoc Location = Parser.getCurrentLocation();
  StringRef ScoreName;
  int64_t Top = 0, Groups = 1, Kept = 1;
  double Scale = 1;
  bool Normalize = false, Pairs = false;
  if (Parser.parseLess() || Parser.parseKeyword(&ScoreName))
    return {};
  std::optional<RouterScore> Score = symbolizeRouterScore(ScoreName);
  if (!Score) {
    Parser.emitError(Location)
        << "expected softmax or sigmoid, got " << ScoreName;
    return {};
  }
  if (Parser.parseComma() || Parser.parseKeyword("top") ||
      Parser.parseEqual() || Parser.parseInteger(Top))
    return {};
  while (succeeded(Parser.parseOptionalComma())) {
    SMLoc WordLocation = Parser.getCurrentLocation();
    StringRef Word;
    if (Parser.parseKeyword(&Word))
      return {};
    if (Word == "normalize") {
      Normalize = true;
    } else if (Word == "scale") {
      if (Parser.parseEqual() || parseShortReal(Parser, Scale))
        return {};
    } else if (Word == "groups") {
      if (Parser.parseEqual() || Parser.parseInteger(Groups) ||
          Parser.parseKeyword("keep") || Parser.parseInteger(Kept))
        return {};
      Pairs = succeeded(Parser.parseOptionalKeyword("pairs"));
    } else {
      Parser.emitError(WordLocation)
          << "expected normalize, scale or groups, got " << Word;
      return {};
    }
  }
  if (Parser.parseGreater())
    return {};
  return Parser.getChecked<RouterAttr>(Location, Parser.getContext(), *Score,
                                       Top, Normalize, Scale, Groups, Kept,
                                       Pairs);
}

void RouterAttr::print(AsmPrinter &Printer) const {
  Printer << "<" << stringifyRouterScore(getScore()) << ", top = " << getTop();
  if (getNormalize())
    Printer << ", normalize";
  if (getScale().Value != 1)
    Printer << ", scale = " << shortest(getScale());
  if (getGroups() != 1)
    Printer << ", groups = " << getGroups() << " keep " << getKeptGroups()
            << (getPairs() ? " pairs" : "");
  Printer << ">";
}

LogicalResult RouterAttr::verify(function_ref<InFlightDiagnostic()> EmitError,
                                 RouterScore, int64_t Top, bool, Real Scale,
                                 int64_t Groups, int64_t Kept, bool) {
  if (Top < 1)
    return EmitError() << "expected a positive top, got " << Top;
  if (!isPositive(Scale))
    return EmitError() << "expected a positive scale, got " << Scale.Value;
  if (Kept < 1 || Groups < Kept)
    return EmitError() << "expected groups >= kept groups >= 1, got " << Groups
                       << " and " << Kept;
  return success();
}

void TransformerDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Transformer/TransformerTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Transformer/TransformerAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/Transformer/TransformerOps.cpp.inc"
      >();
  RankedTensorType::attachInterface<ArgumentName<RankedTensorType>>(
      *getContext());
  MemRefType::attachInterface<ArgumentName<MemRefType>>(*getContext());
}
