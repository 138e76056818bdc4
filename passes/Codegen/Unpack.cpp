//===- Unpack.cpp - Stored values as f32 ----------------------===//

#include "passes/Codegen/Unpack.h"

using namespace mlir;
using namespace tenon;

/// bf16 is the high half of f32: the even element moves up, the odd one only
/// loses its neighbour.
static SmallVector<Value> unpackBF16(KernelBuilder &B, Value Packed) {
  auto Words = B.vecType(B.getI32Type());
  Value Bits = vector::BitCastOp::create(B, Words, Packed);
  Value Even = arith::ShLIOp::create(B, Bits, B.splatWord(16));
  Value Odd = arith::AndIOp::create(
      B, Bits, B.splatWord(static_cast<int32_t>(0xffff0000u)));
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

/// Each of four integers goes to the top of its word and back, with its sign.
static SmallVector<Value> unpackI8(KernelBuilder &B, Value Packed) {
  Value Bits = vector::BitCastOp::create(B, B.vecType(B.getI32Type()), Packed);
  SmallVector<Value> Parts;
  for (int32_t Byte = 0; Byte < 4; ++Byte) {
    Value Top =
        Byte == 3
            ? Bits
            : Value(arith::ShLIOp::create(B, Bits, B.splatWord(24 - 8 * Byte)));
    Parts.push_back(
        B.toFloats(arith::ShRSIOp::create(B, Top, B.splatWord(24))));
  }
  return Parts;
}

SmallVector<Value> tenon::unpackWords(KernelBuilder &B, Value Words) {
  Type Element = cast<VectorType>(Words.getType()).getElementType();
  if (Element.isF32())
    return {Words};
  return Element.isBF16() ? unpackBF16(B, Words) : unpackI8(B, Words);
}

SmallVector<Value> tenon::unpackToPairs(KernelBuilder &B, Value Words) {
  auto Ints = B.vecType(B.getI32Type());
  SmallVector<Value> Parts = unpackI8(B, Words), Pairs;
  for (size_t Even = 0; Even < Parts.size(); Even += 2) {
    // The low halves of their f32 are zero.
    Value Low = arith::ShRUIOp::create(
        B, arith::BitcastOp::create(B, Ints, Parts[Even]), B.splatWord(16));
    Value High = arith::BitcastOp::create(B, Ints, Parts[Even + 1]);
    Pairs.push_back(
        vector::BitCastOp::create(B, B.vecType(B.getBF16Type(), 2 * Lanes),
                                  arith::OrIOp::create(B, Low, High)));
  }
  return Pairs;
}
