//===- Partitions.cpp - One row's pages, divided among threads ------------===//

#include "passes/Codegen/Partitions.h"

using namespace mlir;
using namespace tenon;

/// Of unsigned indices.
static Value ceilDiv(KernelBuilder &B, Value A, Value Divisor) {
  return arith::DivUIOp::create(B, B.add(A, B.sub(Divisor, B.index(1))),
                                Divisor);
}

std::pair<Value, Value> Partitions::rangeOf(KernelBuilder &B,
                                            Value Part) const {
  Value From = B.add(First, B.mul(Part, Pages));
  return {From, B.min(B.add(From, Pages), End)};
}

Value Partitions::firstOfNext(KernelBuilder &B, Value Item,
                              int64_t Items) const {
  Value Next = B.div(B.add(Item, B.Threads), Items);
  return rangeOf(B, B.min(Next, B.sub(Count, B.index(1)))).first;
}

Partitions tenon::emitPartitions(KernelBuilder &B, Value First, Value End,
                                 int64_t PartitionPages, int64_t Most) {
  // A row that sees nothing has one partition, of no pages.
  Value One = B.index(1);
  Value All = B.max(B.sub(End, First), One);
  Value Wanted = B.min(B.ceilDiv(All, PartitionPages), B.index(Most));
  Value Pages = ceilDiv(B, All, Wanted);
  return {ceilDiv(B, All, Pages), Pages, First, End};
}

void tenon::emitMergeFactors(KernelBuilder &B, Value Count, OfPartition Maximum,
                             OfPartition Total, Value Factors) {
  Value Largest =
      B.loop(B.index(1), Count, 1, Maximum(B.index(0)),
             [&](Value Part, ValueRange Carried) {
               return SmallVector<Value>{B.maxf(Carried[0], Maximum(Part))};
             })[0];
  Value Sum = B.loop(
      B.index(0), Count, 1, B.f32(0), [&](Value Part, ValueRange Carried) {
        Value Factor = vector::ExtractOp::create(
            B, B.exp2OfNonPositive(B.splat(B.subf(Maximum(Part), Largest))), 0);
        B.storeScalar(Factor, Factors, {Part});
        return SmallVector<Value>{
            B.addf(Carried[0], B.mulf(Factor, Total(Part)))};
      })[0];
  Value Inverse = B.divf(B.f32(1), Sum);
  B.loop(B.index(0), Count, 1, [&](Value Part) {
    B.storeScalar(B.mulf(B.loadScalar(Factors, {Part}), Inverse), Factors,
                  {Part});
  });
}

Value tenon::emitMerged(KernelBuilder &B, Value Count, Value Factors,
                        OfPartition Sums) {
  return B.loop(
      B.index(0), Count, 1, B.vecConst(0), [&](Value Part, ValueRange Carried) {
        Value Factor = B.splat(B.loadScalar(Factors, {Part}));
        return SmallVector<Value>{B.fma(Factor, Sums(Part), Carried[0])};
      })[0];
}
