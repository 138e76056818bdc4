//===- BufferOps.cpp - Verifiers of BufferOps.td --------------------------===//

#include "dialects/Dnn/Checks.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::dnn;

LogicalResult BufferOp::verify() {
  auto Offset = static_cast<int64_t>(getOffset());
  if (Offset >= 0 && Offset % BufferAlignment == 0)
    return success();
  return emitOpError() << "dnn_buffer_c1: offset: expected a multiple of "
                       << BufferAlignment << ", got " << Offset;
}

LogicalResult ScratchOp::verify() {
  auto Offset = static_cast<int64_t>(getOffset());
  if (Offset < 0 || Offset % BufferAlignment != 0)
    return emitOpError() << "dnn_scratch_c1: offset: expected a multiple of "
                         << BufferAlignment << ", got " << Offset;
  auto Module = (*this)->getParentOfType<ModuleOp>();
  auto Bytes = Module ? Module->getAttrOfType<IntegerAttr>(attr::ScratchBytes)
                      : IntegerAttr();
  MemRefType Type = getResult().getType();
  int64_t End =
      Offset + Type.getNumElements() * Type.getElementTypeBitWidth() / 8;
  if (Bytes && End > Bytes.getInt())
    return emitOpError() << "dnn_scratch_c2: end: expected at most the "
                         << Bytes.getInt()
                         << " bytes of a thread's scratch, got " << End;
  return success();
}

/// `Constraint`: the buffers of a page.
static LogicalResult checkPage(Operation *Op, const Twine &Constraint,
                               const PageLayout &Layout, Value Keys,
                               Value Values) {
  PageTypes Types = pageTypes(Op->getContext(), Layout);
  if (failed(checkType(Op, Constraint, "keys", Types.Keys, Keys.getType())))
    return failure();
  return checkType(Op, Constraint, "values", Types.Values, Values.getType());
}

LogicalResult PageOp::verify() {
  transformer::CacheType Cache = getCache().getType();
  if (Cache.isLatent())
    return emitOpError() << "dnn_page_c1: cache: expected one of keys and "
                            "values, got "
                         << Cache;
  PageLayout Layout = Cache.getPageLayout();
  if (failed(checkPage(*this, "dnn_page_c2", Layout, getKeys(), getValues())))
    return failure();
  MemRefType Scales = pageTypes(getContext(), Layout).Scales;
  if (static_cast<bool>(Scales) != static_cast<bool>(getScales()))
    return emitOpError() << "dnn_page_c3: expected scales with integers, and "
                            "with nothing else";
  return Scales ? checkType(*this, "dnn_page_c3", "scales", Scales,
                            getScales().getType())
                : success();
}

LogicalResult LatentPageOp::verify() {
  transformer::CacheType Cache = getCache().getType();
  if (!Cache.isLatent())
    return emitOpError() << "dnn_latent_page_c1: cache: expected a latent one, "
                            "got "
                         << Cache;
  return checkType(
      *this, "dnn_latent_page_c2", "vectors",
      latentPageType(Cache.getHeadDim(),
                     elementTypeOf(getContext(), Cache.getFormat())),
      getResult().getType());
}

LogicalResult StagedPageOp::verify() {
  auto Keys = cast<MemRefType>(getKeys().getType());
  if (Keys.getRank() != 4)
    return emitOpError() << "dnn_staged_page_c1: keys: expected four "
                            "dimensions, got "
                         << Keys.getRank();
  // How many heads there are, the row alone does not say; nor is it known
  // whether the last word of a head is whole, which changes nothing.
  PageLayout Layout{Keys.getDimSize(0), 1, stagedFormat(getStaged())};
  Layout.HeadDim = Keys.getDimSize(2) * Layout.wordValues();
  if (failed(checkPage(*this, "dnn_staged_page_c1", Layout, getKeys(),
                       getValues())))
    return failure();
  return checkWidths(*this, "dnn_staged_page_c2", Layout.elements(),
                     {{"staged", getStaged()}});
}

LogicalResult LookupOp::verify() {
  VectorType Codes = getCodes().getType(), Table = getTable().getType(),
             Result = getResult().getType();
  if (Table.getDimSize(0) != 16)
    return emitOpError() << "dnn_lookup_c1: table: expected 16 elements, got "
                         << Table.getDimSize(0);
  if (Codes.getElementTypeBitWidth() != Table.getElementTypeBitWidth())
    return emitOpError() << "dnn_lookup_c2: expected codes of "
                         << Table.getElementTypeBitWidth()
                         << " bits, as the table's elements are, got "
                         << Codes.getElementTypeBitWidth();
  if (Result != VectorType::get(Codes.getShape(), Table.getElementType()))
    return emitOpError() << "dnn_lookup_c3: result: expected an element of the "
                            "table for each code, got "
                         << Result;
  return success();
}

LogicalResult DotOp::verify() {
  VectorType Codes = getCodes().getType(), Sums = getSums().getType();
  if (Codes.getElementTypeBitWidth() >= Sums.getElementTypeBitWidth())
    return emitOpError() << "dnn_dot_c2: codes: expected fewer bits than the "
                            "sums have, got "
                         << Codes.getElementType();
  return checkEqual(*this, "dnn_dot_c1", "codes",
                    Sums.getDimSize(0) * Sums.getElementTypeBitWidth() /
                        Codes.getElementTypeBitWidth(),
                    Codes.getDimSize(0));
}

LogicalResult RowBytesOp::verify() {
  auto Rows = cast<MemRefType>(getRows().getType());
  return checkType(*this, "dnn_row_bytes_c1", "buffer",
                   MemRefType::get({Rows.getDimSize(0), rowBytesOf(Rows)},
                                   IntegerType::get(getContext(), 8)),
                   getResult().getType());
}

LogicalResult WeightViewOp::verify() {
  return checkType(*this, "dnn_weight_view_c1", "buffer",
                   getWeight().getType().getBufferType(),
                   getResult().getType());
}

LogicalResult CallMatmulOp::verify() {
  return checkMatmul(*this, "dnn_call_matmul", getOutput(), getPrimitive());
}

LogicalResult KernelOp::verify() {
  auto Number = static_cast<int64_t>(getNumber());
  if (Number < 0 || Number >= MaxKernels)
    return emitOpError() << "dnn_kernel_c1: number: expected 0 to "
                         << MaxKernels - 1 << ", got " << Number;
  if (!getPrimitive())
    return success();
  return checkAtLeast(*this, "dnn_kernel_c2", "primitive", 0,
                      static_cast<int64_t>(*getPrimitive()));
}
