//===- GroupedRows.cpp - Rows of grouped integers -------------------------===//

#include "passes/Codegen/GroupedRows.h"

using namespace mlir;
using namespace tenon;

GroupedRows::GroupedRows(KernelBuilder &B, Value Rows)
    : B(B), Type(dnn::groupedTypeOf(Rows)) {
  auto Buffer = cast<MemRefType>(Rows.getType());
  auto BytesType = MemRefType::get(
      {Buffer.getDimSize(0), dnn::rowBytesOf(Buffer)}, B.getI8Type());
  Bytes = dnn::RowBytesOp::create(B, BytesType, Rows);
}

Value GroupedRows::at(Value Group, int64_t Offset) {
  return B.add(B.mul(Group, Type.getRecordBytes()), Offset);
}

//===----------------------------------------------------------------------===//
// Quantising
//===----------------------------------------------------------------------===//

void GroupedRows::store(Value Row, Value Group, Value First, Value Second) {
  auto Words = B.vecType(B.getI32Type());
  auto Splat = [&](int32_t Number) { return B.splat(B.i32(Number)); };
  std::array<Value, 2> Halves = {First, Second};

  // Compared as integers, a NaN is the largest: it ends up in the scale.
  Value Most;
  for (Value X : Halves) {
    Value Bits = arith::AndIOp::create(
        B, vector::BitCastOp::create(B, Words, X), Splat(INT32_MAX));
    Most = Most ? Value(arith::MaxUIOp::create(B, Most, Bits)) : Bits;
  }
  Most = arith::BitcastOp::create(
      B, B.getF32Type(),
      vector::ReductionOp::create(B, vector::CombiningKind::MAXUI, Most));
  Value Largest = B.f32(static_cast<float>(Type.getLargest()));
  Value Scale = B.divf(Most, Largest);
  Value IsNormal = arith::CmpFOp::create(B, arith::CmpFPredicate::OGT, Most,
                                         B.f32(dnn::SmallestGroup));
  Value Inverse = B.splat(
      arith::SelectOp::create(B, IsNormal, B.divf(Largest, Most), B.f32(0)));

  SmallVector<Value> High, Low;
  for (auto [Half, X] : llvm::enumerate(Halves)) {
    Value Code = arith::FPToSIOp::create(
        B, Words, math::RoundEvenOp::create(B, B.mulf(X, Inverse)));
    Value Sum =
        vector::ReductionOp::create(B, vector::CombiningKind::ADD, Code);
    vector::StoreOp::create(
        B,
        vector::BitCastOp::create(
            B, B.vecType(B.getI8Type(), 4),
            vector::BroadcastOp::create(B, B.vecType(B.getI32Type(), 1), Sum)),
        Bytes,
        ValueRange{Row, at(Group, Type.getSumsOffset() +
                                      4 * static_cast<int64_t>(Half))});
    Value Top = Code;
    if (digits() == 2) {
      Top = arith::ShRSIOp::create(
          B, arith::AddIOp::create(B, Code, Splat(128)), Splat(8));
      Low.push_back(arith::SubIOp::create(
          B, Code, arith::ShLIOp::create(B, Top, Splat(8))));
    }
    High.push_back(Top);
  }
  vector::StoreOp::create(
      B,
      vector::BitCastOp::create(
          B, B.vecType(B.getI8Type(), 4),
          vector::BroadcastOp::create(B, B.vecType({}, 1), Scale)),
      Bytes, ValueRange{Row, at(Group, Type.getScaleOffset())});

  bool IsWords = dot() == DotProduct::Int16;
  SmallVector<int64_t> Order;
  for (int64_t I = 0; I < GroupValues; ++I)
    Order.push_back(Type.getFeature(I));
  auto StoreDigit = [&](ArrayRef<Value> Digits, int64_t Offset) {
    auto DigitType =
        B.vecType(B.getIntegerType(static_cast<unsigned>(Type.getDigitBits())));
    Value All = vector::ShuffleOp::create(
        B, arith::TruncIOp::create(B, DigitType, Digits[0]),
        arith::TruncIOp::create(B, DigitType, Digits[1]), Order);
    if (IsWords)
      All = vector::BitCastOp::create(
          B, B.vecType(B.getI8Type(), 2 * GroupValues), All);
    vector::StoreOp::create(B, All, Bytes, ValueRange{Row, at(Group, Offset)});
  };
  StoreDigit(High, 0);
  if (digits() == 2)
    StoreDigit(Low, GroupValues);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Four bytes from `At` on as i32.
Value GroupedRows::word(Value Row, Value At) {
  return B.loadWord(Bytes, {Row, At});
}

Value GroupedRows::step(Value Row, Value Group, Value Step, int64_t Digit) {
  Value Word = word(Row, B.add(digitAt(Group, Digit), B.mul(Step, 4)));
  auto Element = B.getIntegerType(static_cast<unsigned>(Type.getDigitBits()));
  return vector::BitCastOp::create(
      B, B.vecType(Element, 32 / Type.getDigitBits() * Lanes), B.splat(Word));
}

Value GroupedRows::scale(Value Row, Value Group) {
  Value Bits = word(Row, at(Group, Type.getScaleOffset()));
  return B.splat(arith::BitcastOp::create(B, B.getF32Type(), Bits));
}

Value GroupedRows::sumOfHalf(Value Row, Value Group, int64_t Half) {
  return B.splat(word(Row, at(Group, Type.getSumsOffset() + 4 * Half)));
}

Value GroupedRows::sum(Value Row, Value Group) {
  return arith::AddIOp::create(B, sumOfHalf(Row, Group, 0),
                               sumOfHalf(Row, Group, 1));
}

Value GroupedRows::total(Value Row, Value Group) {
  return B.mulf(B.toFloats(sum(Row, Group)), scale(Row, Group));
}

Value GroupedRows::number(ArrayRef<Value> DigitSums) {
  Value Sum = DigitSums.back();
  if (DigitSums.size() == 2)
    Sum = arith::AddIOp::create(
        B, Sum, arith::ShLIOp::create(B, DigitSums[0], B.splat(B.i32(8))));
  return B.toFloats(Sum);
}

Value GroupedRows::digitAt(Value Group, int64_t Digit) {
  return at(Group, Digit * GroupValues);
}

GroupedRows GroupedRows::roomByGroup(int64_t RowGroups, int64_t Count) const {
  GroupedRows Room = *this;
  Room.Bytes = B.scratch({RowGroups, Count * recordBytes()}, B.getI8Type());
  return Room;
}

void GroupedRows::copy(Value Row, Value Group, GroupedRows &To, Value ToRow,
                       Value ToGroup) {
  auto Record = B.vecType(B.getI8Type(), Type.getRecordBytes());
  Value All =
      vector::LoadOp::create(B, Record, Bytes, ValueRange{Row, at(Group, 0)});
  vector::StoreOp::create(B, All, To.Bytes,
                          ValueRange{ToRow, To.at(ToGroup, 0)});
}

void GroupedRows::prefetch(Value Row, Value Group, int64_t Count) {
  for (int64_t At = 0; At < Count * Type.getRecordBytes(); At += CacheLine)
    B.prefetch(Bytes, {Row, at(Group, At)}, /*Locality=*/3);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

void tenon::addScaled(
    KernelBuilder &B, const GroupBlock &Block, const GroupTerms &Terms,
    llvm::function_ref<Value &(int64_t Row, int64_t Column)> SumOf) {
  for (int64_t Part = 0; Part < GroupValues / Block.Format.ScaleValues;
       ++Part) {
    Terms.Multiply(Part);
    for (int64_t Column = 0; Column < Block.Columns; ++Column) {
      Value Scale = Terms.Scale(Column, Part);
      for (int64_t Row = 0; Row < Block.Rows; ++Row) {
        Value &Sum = SumOf(Row, Column);
        Value Factor = B.mulf(Scale, Terms.RowScale(Row));
        Sum = B.fma(Terms.Product(Row, Column), Factor, Sum);
      }
    }
  }
  if (!Block.Format.hasMinimum())
    return;
  SmallVector<Value> Totals;
  for (int64_t Row = 0; Row < Block.Rows; ++Row)
    Totals.push_back(Terms.RowTotal(Row));
  for (int64_t Column = 0; Column < Block.Columns; ++Column) {
    Value Minimum = Terms.Minimum(Column);
    for (int64_t Row = 0; Row < Block.Rows; ++Row) {
      Value &Sum = SumOf(Row, Column);
      Sum = B.fma(Minimum, Totals[Row], Sum);
    }
  }
}
