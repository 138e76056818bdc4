//===- Assembly.cpp - Words and numbers in assembly -----------------------===//

#include "dialects/Transformer/Assembly.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/bit.h"

#include <cmath>

using namespace mlir;

std::string tenon::shortest(double Value) {
  char Text[40];
  for (int Digits = 1; Digits <= 17; ++Digits) {
    snprintf(Text, sizeof(Text), "%.*g", Digits, Value);
    if (strtod(Text, nullptr) == Value)
      break;
  }
  std::string Result = Text;
  size_t Exponent = Result.find('e');
  if (Result.find('.') != std::string::npos || !std::isfinite(Value))
    return Result;
  if (Exponent == std::string::npos)
    return Result + ".0";
  // A small number needs no point (see parseShortReal); large ones are written
  // out or get one.
  if (Result.compare(Exponent, 2, "e-") == 0)
    return Result;
  if (std::abs(Value) < 1e7) {
    snprintf(Text, sizeof(Text), "%.1f", Value);
    return Text;
  }
  return Result.insert(Exponent, ".0");
}

/// What follows the digits of a number without a point, which MLIR's lexer
/// takes apart: `e`, `-` and `06` of 1e-06, the word `e10` of 1e10.
static ParseResult parseExponent(AsmParser &Parser, int64_t &Exponent) {
  StringRef Word;
  if (Parser.parseOptionalKeyword(&Word) || !Word.consume_front("e"))
    return failure();
  if (!Word.empty())
    return failure(Word.getAsInteger(10, Exponent));
  (void)Parser.parseOptionalPlus();
  return Parser.parseInteger(Exponent);
}

ParseResult tenon::parseShortReal(AsmParser &Parser, double &Value) {
  SMLoc Location = Parser.getCurrentLocation();
  bool IsNegative = succeeded(Parser.parseOptionalMinus());
  APInt Digits;
  OptionalParseResult Whole = Parser.parseOptionalInteger(Digits);
  if (!Whole.has_value()) {
    if (Parser.parseFloat(Value))
      return failure();
  } else if (*Whole) {
    return failure();
  } else if (Value = llvm::bit_cast<double>(Digits.getLimitedValue());
             std::isfinite(Value)) {
    // Bits stand for infinity and NaN only.
    int64_t Exponent = 0;
    if (parseExponent(Parser, Exponent))
      return Parser.emitError(Location)
             << "expected a real number such as 0.5 or 1e-06";
    SmallString<24> Text;
    Digits.toStringUnsigned(Text);
    Value = strtod((Text + "e" + Twine(Exponent)).str().c_str(), nullptr);
  }
  if (IsNegative)
    Value = -Value;
  return success();
}

ParseResult tenon::parseReal(OpAsmParser &Parser, FloatAttr &Real) {
  double Value = 0;
  if (parseShortReal(Parser, Value))
    return failure();
  Real = Parser.getBuilder().getF64FloatAttr(Value);
  return success();
}

void tenon::printReal(OpAsmPrinter &Printer, Operation *, FloatAttr Real) {
  // Infinity and NaN have no decimal.
  if (Real.getValue().isFinite())
    Printer << shortest(Real.getValueAsDouble());
  else
    Printer.printFloat(Real.getValue());
}

ParseResult tenon::parseWord(OpAsmParser &Parser, StringAttr &Word) {
  StringRef Text;
  if (Parser.parseKeyword(&Text))
    return failure();
  Word = Parser.getBuilder().getStringAttr(Text);
  return success();
}

void tenon::printWord(OpAsmPrinter &Printer, Operation *, StringAttr Word) {
  Printer.printKeywordOrString(Word.getValue());
}

template <typename Formats, typename Enum>
static ParseResult parseDimsAndNamed(AsmParser &Parser,
                                     SmallVectorImpl<int64_t> &Dims,
                                     const Formats &Table, Enum &Format) {
  if (Parser.parseDimensionList(Dims, /*allowDynamic=*/false))
    return failure();
  FailureOr<Enum> Named = parseNamed(Parser, Table);
  if (failed(Named))
    return failure();
  Format = *Named;
  return Parser.parseGreater();
}

ParseResult tenon::parseDimsAndFormat(AsmParser &Parser,
                                      SmallVectorImpl<int64_t> &Dims,
                                      StorageFormat &Format) {
  return parseDimsAndNamed(Parser, Dims, StorageFormats, Format);
}

ParseResult tenon::parseDimsAndFormat(AsmParser &Parser,
                                      SmallVectorImpl<int64_t> &Dims,
                                      CacheFormat &Format) {
  return parseDimsAndNamed(Parser, Dims, CacheFormats, Format);
}
