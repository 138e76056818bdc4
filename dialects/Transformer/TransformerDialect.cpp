//===- TransformerDialect.cpp - Dialect, types and attributes -------------===//

#include "dialects/Transformer/Transformer.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace tenon::transformer;

#include "dialects/Transformer/TransformerDialect.cpp.inc"
#include "dialects/Transformer/TransformerEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Transformer/TransformerTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Transformer/TransformerAttributes.cpp.inc"

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
}

LogicalResult
TransformerDialect::verifyOperationAttribute(Operation *Op,
                                             NamedAttribute Named) {
  StringRef Name = Named.getName();
  auto OneOf = [&](ArrayRef<StringRef> Allowed) -> LogicalResult {
    if (!isa<FunctionOpInterface>(Op))
      return Op->emitOpError()
             << "attribute '" << Name << "' belongs on a function";
    auto Value = dyn_cast<StringAttr>(Named.getValue());
    if (Value && llvm::is_contained(Allowed, Value.getValue()))
      return success();
    auto Diag = Op->emitOpError() << "attribute '" << Name << "' is "
                                  << Named.getValue() << ": expected one of ";
    llvm::interleaveComma(Allowed, Diag);
    return failure();
  };
  auto Count = [&](bool OnModule) -> LogicalResult {
    if (isa<ModuleOp>(Op) != OnModule)
      return Op->emitOpError() << "attribute '" << Name << "' belongs on a "
                               << (OnModule ? "module" : "function");
    auto Value = dyn_cast<IntegerAttr>(Named.getValue());
    if (Value && Value.getType().isSignlessInteger(64) && Value.getInt() > 0)
      return success();
    return Op->emitOpError()
           << "attribute '" << Name << "' is " << Named.getValue()
           << ": expected a positive 64-bit integer";
  };
  if (Name == attr::Role)
    return OneOf({"step", "encode", "embed"});
  if (Name == attr::Output)
    return OneOf({"logits", "hidden", "pooled"});
  if (Name == attr::MaxTokens || Name == attr::MaxWanted)
    return Count(/*OnModule=*/false);
  if (Name == attr::Vocabulary || Name == attr::MaxSequence ||
      Name == attr::TokenTypes || Name == attr::FewTokens)
    return Count(/*OnModule=*/true);
  if (Name == attr::Family)
    return success();
  return Op->emitOpError() << "unknown attribute '" << Name
                           << "' of the transformer dialect";
}

//===----------------------------------------------------------------------===//
// Cache type: <2x24xbf16>
//===----------------------------------------------------------------------===//

Type CacheType::parse(AsmParser &Parser) {
  SMLoc Location = Parser.getCurrentLocation();
  SmallVector<int64_t> Dims;
  Type Element;
  if (Parser.parseLess() ||
      Parser.parseDimensionList(Dims, /*allowDynamic=*/false) ||
      Parser.parseType(Element) || Parser.parseGreater())
    return {};
  if (Dims.size() != 2) {
    Parser.emitError(Location)
        << "expected kv_heads x head_dim, got " << Dims.size() << " dimensions";
    return {};
  }
  return Parser.getChecked<CacheType>(Location, Parser.getContext(), Dims[0],
                                      Dims[1], Element);
}

void CacheType::print(AsmPrinter &Printer) const {
  Printer << "<" << getKvHeads() << "x" << getHeadDim() << "x"
          << getElementType() << ">";
}

LogicalResult CacheType::verify(function_ref<InFlightDiagnostic()> EmitError,
                                int64_t KvHeads, int64_t HeadDim,
                                Type Element) {
  if (KvHeads < 1 || HeadDim < 1)
    return EmitError() << "expected positive kv_heads and head_dim, got "
                       << KvHeads << " and " << HeadDim;
  if (!Element.isF32() && !Element.isBF16())
    return EmitError() << "expected element type f32 or bf16, got " << Element;
  return success();
}

//===----------------------------------------------------------------------===//
// RoPE attribute
//===----------------------------------------------------------------------===//

/// Parses `name = number`.
static ParseResult parseNamedReal(AsmParser &Parser, StringRef Name,
                                  double &Value) {
  return failure(Parser.parseKeyword(Name) || Parser.parseEqual() ||
                 Parser.parseFloat(Value));
}

Attribute RopeAttr::parse(AsmParser &Parser, Type) {
  SMLoc Location = Parser.getCurrentLocation();
  StringRef StyleName;
  int64_t Dim = 0;
  double Base = 0, Factor = 1, Low = 0, High = 0, Original = 0;
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
  if (succeeded(Parser.parseOptionalComma())) {
    SMLoc ScalingLocation = Parser.getCurrentLocation();
    StringRef ScalingName;
    if (Parser.parseKeyword(&ScalingName))
      return {};
    if (ScalingName == "linear") {
      Scaling = RopeScaling::Linear;
      if (Parser.parseLParen() || parseNamedReal(Parser, "factor", Factor) ||
          Parser.parseRParen())
        return {};
    } else if (ScalingName == "llama3") {
      Scaling = RopeScaling::Llama3;
      if (Parser.parseLParen() || parseNamedReal(Parser, "factor", Factor) ||
          Parser.parseComma() || parseNamedReal(Parser, "low", Low) ||
          Parser.parseComma() || parseNamedReal(Parser, "high", High) ||
          Parser.parseComma() || parseNamedReal(Parser, "original", Original) ||
          Parser.parseRParen())
        return {};
    } else {
      Parser.emitError(ScalingLocation)
          << "expected linear or llama3, got " << ScalingName;
      return {};
    }
  }
  if (Parser.parseGreater())
    return {};
  return Parser.getChecked<RopeAttr>(Location, Parser.getContext(), *Style, Dim,
                                     Base, Scaling, Factor, Low, High,
                                     Original);
}

/// The shortest decimal that reads back as `Value`, always with a point.
static std::string shortest(double Value) {
  char Text[40];
  for (int Digits = 1; Digits <= 17; ++Digits) {
    snprintf(Text, sizeof(Text), "%.*g", Digits, Value);
    if (strtod(Text, nullptr) == Value)
      break;
  }
  std::string Result = Text;
  size_t Exponent = Result.find('e');
  if (Result.find('.') == std::string::npos)
    Result.insert(Exponent == std::string::npos ? Result.size() : Exponent,
                  ".0");
  return Result;
}

void RopeAttr::print(AsmPrinter &Printer) const {
  Printer << "<" << stringifyRopeStyle(getStyle()) << ", dim = " << getDim()
          << ", base = " << shortest(getBase());
  if (getScaling() == RopeScaling::Linear)
    Printer << ", linear(factor = " << shortest(getFactor()) << ")";
  if (getScaling() == RopeScaling::Llama3)
    Printer << ", llama3(factor = " << shortest(getFactor())
            << ", low = " << shortest(getLowFrequency())
            << ", high = " << shortest(getHighFrequency())
            << ", original = " << shortest(getOriginal()) << ")";
  Printer << ">";
}

LogicalResult RopeAttr::verify(function_ref<InFlightDiagnostic()> EmitError,
                               RopeStyle, int64_t Dim, Real Base,
                               RopeScaling Scaling, Real Factor, Real Low,
                               Real High, Real Original) {
  if (Dim < 2 || Dim % 2 != 0)
    return EmitError() << "expected an even positive dim, got " << Dim;
  if (!(Base > 0) || !std::isfinite(Base))
    return EmitError() << "expected a positive base, got " << Base.Value;
  if (Scaling != RopeScaling::Default &&
      (!(Factor > 0) || !std::isfinite(Factor)))
    return EmitError() << "expected a positive factor, got " << Factor.Value;
  if (Scaling == RopeScaling::Llama3 &&
      !(Low > 0 && High > Low && Original > 0))
    return EmitError()
           << "expected 0 < low < high and a positive original, got low = "
           << Low.Value << ", high = " << High.Value
           << ", original = " << Original.Value;
  return success();
}

SmallVector<float> RopeAttr::frequencies() const {
  SmallVector<float> Result;
  for (int64_t I = 0; I < getDim() / 2; ++I) {
    // Every step in f32: frequencies then equal those of Transformers.
    float Exponent = static_cast<float>(2 * I) / static_cast<float>(getDim());
    float Frequency = 1.0f / std::pow(static_cast<float>(getBase()), Exponent);
    auto Factor = static_cast<float>(getFactor());
    if (getScaling() == RopeScaling::Linear)
      Frequency /= Factor;
    if (getScaling() == RopeScaling::Llama3) {
      float Wavelength = 2.0f * std::numbers::pi_v<float> / Frequency;
      auto Original = static_cast<float>(getOriginal());
      auto Low = static_cast<float>(getLowFrequency());
      auto High = static_cast<float>(getHighFrequency());
      if (Wavelength > Original / Low) {
        Frequency /= Factor;
      } else if (Wavelength >= Original / High) {
        float Smooth = (Original / Wavelength - Low) / (High - Low);
        Frequency = (1 - Smooth) * Frequency / Factor + Smooth * Frequency;
      }
    }
    Result.push_back(Frequency);
  }
  return Result;
}
