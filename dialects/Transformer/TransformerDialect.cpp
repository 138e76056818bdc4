//===- TransformerDialect.cpp - Dialect, types and attributes -------------===//

#include "dialects/Transformer/Transformer.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

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
    return OneOf({"step", "encode", "embed", "encode_image"});
  if (Name == attr::Output)
    return OneOf({"logits", "hidden", "pooled", "classes"});
  if (Name == attr::MaxTokens || Name == attr::MaxWanted)
    return Count(/*OnModule=*/false);
  // An entry may have a vocabulary of its own.
  if (Name == attr::Vocabulary && isa<FunctionOpInterface>(Op))
    return Count(/*OnModule=*/false);
  if (Name == attr::Vocabulary || Name == attr::MaxSequence ||
      Name == attr::TokenTypes || Name == attr::FewTokens ||
      Name == attr::MaxSource)
    return Count(/*OnModule=*/true);
  if (Name == attr::Family)
    return success();
  return Op->emitOpError() << "unknown attribute '" << Name
                           << "' of the transformer dialect";
}

//===----------------------------------------------------------------------===//
// Cache type: <2x24xbf16>, <memory 2x24xbf16>
//===----------------------------------------------------------------------===//

Type CacheType::parse(AsmParser &Parser) {
  SMLoc Location = Parser.getCurrentLocation();
  StringRef KindName;
  SmallVector<int64_t> Dims;
  Type Element;
  if (Parser.parseLess())
    return {};
  CacheKind Kind = CacheKind::Sequence;
  if (succeeded(Parser.parseOptionalKeyword(&KindName))) {
    std::optional<CacheKind> Named = symbolizeCacheKind(KindName);
    if (!Named) {
      Parser.emitError(Location)
          << "expected sequence, memory or latent, got " << KindName;
      return {};
    }
    Kind = *Named;
  }
  if (Parser.parseDimensionList(Dims, /*allowDynamic=*/false) ||
      Parser.parseType(Element) || Parser.parseGreater())
    return {};
  if (Dims.size() != 2) {
    Parser.emitError(Location)
        << "expected kv_heads x head_dim, got " << Dims.size() << " dimensions";
    return {};
  }
  return Parser.getChecked<CacheType>(Location, Parser.getContext(), Kind,
                                      Dims[0], Dims[1], Element);
}

void CacheType::print(AsmPrinter &Printer) const {
  Printer << "<";
  if (getKind() != CacheKind::Sequence)
    Printer << stringifyCacheKind(getKind()) << " ";
  Printer << getKvHeads() << "x" << getHeadDim() << "x" << getElementType()
          << ">";
}

LogicalResult CacheType::verify(function_ref<InFlightDiagnostic()> EmitError,
                                CacheKind Kind, int64_t KvHeads,
                                int64_t HeadDim, Type Element) {
  if (KvHeads < 1 || HeadDim < 1)
    return EmitError() << "expected positive kv_heads and head_dim, got "
                       << KvHeads << " and " << HeadDim;
  if (Kind == CacheKind::Latent && KvHeads != 1)
    return EmitError() << "expected one head of latent vectors, got "
                       << KvHeads;
  if (!Element.isF32() && !Element.isBF16())
    return EmitError() << "expected element type f32 or bf16, got " << Element;
  return success();
}

int64_t CacheType::getPageElements() const {
  return isLatent() ? latentPageElements(getHeadDim())
                    : pageElements(getKvHeads(), getHeadDim());
}
