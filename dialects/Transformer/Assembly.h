//===- Assembly.h - Words and numbers in assembly ---------------*- C++ -*-===//
//
// How both dialects write the enumerations that they share with the runtime,
// and reals: short, and so that they read back to the last bit.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TRANSFORMER_ASSEMBLY_H
#define TENON_DIALECTS_TRANSFORMER_ASSEMBLY_H

#include "runtime/Abi/Types.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpImplementation.h"

#include <string>

namespace tenon {

/// Parses the name of an entry of `Table` (see runtime/Abi/Types.h).
template <typename Entry, size_t Count>
auto parseNamed(mlir::AsmParser &Parser, const std::array<Entry, Count> &Table)
    -> mlir::FailureOr<decltype(Entry::Value)> {
  llvm::SMLoc Location = Parser.getCurrentLocation();
  llvm::StringRef Name;
  if (Parser.parseKeyword(&Name))
    return mlir::failure();
  if (auto Value = valueNamed(Table, std::string_view(Name)))
    return *Value;
  auto Diag = Parser.emitError(Location) << "expected one of ";
  llvm::interleaveComma(Table, Diag, [&](const Entry &E) { Diag << E.Name; });
  Diag << ", got " << Name;
  return mlir::failure();
}

/// The shortest decimal that reads back as `Value`: 0.125, 10000.0, 1e-06.
std::string shortest(double Value);

/// Parses what `shortest` writes, and every float literal of MLIR.
mlir::ParseResult parseShortReal(mlir::AsmParser &Parser, double &Value);

/// The directive custom<Real>: an f64 attribute as `shortest` writes it.
mlir::ParseResult parseReal(mlir::OpAsmParser &Parser, mlir::FloatAttr &Real);
void printReal(mlir::OpAsmPrinter &Printer, mlir::Operation *,
               mlir::FloatAttr Real);

/// The directive custom<Word>: a string attribute as a keyword.
mlir::ParseResult parseWord(mlir::OpAsmParser &Parser, mlir::StringAttr &Word);
void printWord(mlir::OpAsmPrinter &Printer, mlir::Operation *,
               mlir::StringAttr Word);

/// As those that ODS generates of other enumerations.
inline llvm::StringRef stringifyEnum(Activation Value) {
  return infoOf(Value).Name;
}

/// The directive custom<Enum>: an enumeration's attribute as its bare word.
template <typename EnumAttr>
mlir::ParseResult parseEnum(mlir::OpAsmParser &Parser, EnumAttr &Attr) {
  auto Value =
      mlir::FieldParser<decltype(std::declval<EnumAttr>().getValue())>::parse(
          Parser);
  if (failed(Value))
    return mlir::failure();
  Attr = EnumAttr::get(Parser.getContext(), *Value);
  return mlir::success();
}
template <typename EnumAttr>
void printEnum(mlir::OpAsmPrinter &Printer, mlir::Operation *, EnumAttr Attr) {
  Printer << stringifyEnum(Attr.getValue());
}

/// "6x8xbf16>": dimensions, the name of a format, and the end of a type.
mlir::ParseResult parseDimsAndFormat(mlir::AsmParser &Parser,
                                     llvm::SmallVectorImpl<int64_t> &Dims,
                                     StorageFormat &Format);
mlir::ParseResult parseDimsAndFormat(mlir::AsmParser &Parser,
                                     llvm::SmallVectorImpl<int64_t> &Dims,
                                     CacheFormat &Format);

} // namespace tenon

template <> struct mlir::FieldParser<tenon::Activation> {
  static mlir::FailureOr<tenon::Activation> parse(mlir::AsmParser &Parser) {
    return tenon::parseNamed(Parser, tenon::Activations);
  }
};

#endif // TENON_DIALECTS_TRANSFORMER_ASSEMBLY_H
