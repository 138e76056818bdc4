//===- Unpack.cpp - Values of storage formats as f32 ----------------------===//

#include "passes/Codegen/Unpack.h"

using namespace mlir;
using namespace tenon;

/// bf16 is the high half of f32: the even element moves up, the odd one only
/// loses its neighbour.
static SmallVector<Value> unpackBF16(KernelBuilder &B, Value Packed) {
  auto Words = B.vecType(B.getI32Type());
  Value Bits = vector::BitCastOp::create(B, Words, Packed);
  auto Splat = [&](int32_t Number) -> Value {
    return arith::ConstantOp::create(B, DenseElementsAttr::get(Words, Number));
  };
  Value Even = arith::ShLIOp::create(B, Bits, Splat(16));
  Value Odd =
      arith::AndIOp::create(B, Bits, Splat(static_cast<int32_t>(0xffff0000u)));
  return {arith::BitcastOp::create(B, B.vecType(), Even),
          arith::BitcastOp::create(B, B.vecType(), Odd)};
}

SmallVector<Value> tenon::unpack(KernelBuilder &B, StorageFormat Format,
                                 Value Packed) {
  assert(!infoOf(Format).isQuantised() && "see GroupReader");
  if (Format == StorageFormat::F32)
    return {Packed};
  return unpackBF16(B, Packed);
}
