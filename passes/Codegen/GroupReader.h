//===- GroupReader.h - Quantised weights as vectors -------------*- C++ -*-===//
//
// Reads one group of 32 input features for 16 output features of a quantised
// panel: runtime/Abi/Types.h says how its parts lie. The same code reads every
// format; they differ in which parts there are.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_PASSES_CODEGEN_GROUPREADER_H
#define TENON_PASSES_CODEGEN_GROUPREADER_H

#include "passes/Codegen/KernelBuilder.h"

namespace tenon {

/// A value is number x scale of its part + minimum; numbers of the codes are
/// multiplied with the input first, scales once per part. Numbers are read in
/// octets: eight features, the same code for each octet of a group.
class GroupReader {
public:
  using Value = mlir::Value;

  /// Group `Group` of all of the row, of panel `Panel` of `View`, for the
  /// output features from `Column` on, a multiple of 16.
  GroupReader(KernelBuilder &B, StorageFormat Format, Value View, Value Panel,
              Value Group, Value Column);

  /// Features of an octet.
  static constexpr int64_t OctetValues = 8;
  /// Features whose low bits share a cache line, for 16 output features.
  int64_t lineFeatures() const {
    return Info.Bits == 8 ? OctetValues / 2 : OctetValues;
  }
  /// Parts of a group that have a scale of their own, and their size.
  int64_t parts() const { return GroupValues / Info.ScaleValues; }
  int64_t partValues() const { return Info.ScaleValues; }

  /// The order that the features of an octet are cheapest read in.
  static std::array<int64_t, OctetValues> featureOrder(dnn::TargetAttr Target,
                                                       StorageFormat Format);

  /// Asks for the share that `Columns` columns from `First` on have of the
  /// bytes of the group, which lie mixed, as KernelBuilder's does.
  void prefetch(Value First, int64_t Columns, unsigned Locality = 2);
  /// Asks for part `Number` of `Count` equal ones of the cache lines of such a
  /// share, in the order that they lie in.
  void prefetchPart(Value First, int64_t Columns, int64_t Number, int64_t Count,
                    unsigned Locality = 2);
  /// The same of a quarter of such a share, that of an octet, whose number is
  /// known only at run time; into the first-level cache.
  void prefetchOctet(Value First, int64_t Columns, Value Octet, int64_t Number,
                     int64_t Count);
  /// Goes to octet `Octet` (0 to 3) of the group.
  void setOctet(Value Octet);
  /// 16 f32: the numbers of feature `Feature` of the octet, times a power of
  /// two that scale() takes back.
  Value number(int64_t Feature);
  /// Whether there is pair().
  static bool hasPairs(StorageFormat Format);
  /// 32 bf16: the numbers of the even `Feature` of the octet and of the next,
  /// side by side for each output feature; exact.
  Value pair(int64_t Feature);

  /// What gives the scaled values of a feature of an octet, or of it and the
  /// next.
  using ValueReader = llvm::function_ref<Value(int64_t Feature)>;
  using OctetBody = llvm::function_ref<void(int64_t Octet, ValueReader)>;
  /// Emits `Body` for every octet, with 16 f32 for a feature.
  void forEachOctet(OctetBody Body);
  /// Whether there is forEachOctetOfPairs().
  bool hasValuePairs() const;
  /// The same with 32 bf16 for an even feature and the next, side by side for
  /// each output feature: rounded to 11 bits, then to 8. Takes less than
  /// rounding two f32.
  void forEachOctetOfPairs(OctetBody Body);

  /// 64 u8 of half `Half` of the octet, four for each output feature: the
  /// numbers plus the bias of dnn::unsignedCodes().
  Value codes(int64_t Half);
  /// 64 s8 of half `Half`: the numbers.
  Value numbers(int64_t Half);
  /// 32 i16 of half `Half`: codes 0 and 2 of its four, or 1 and 3, or the
  /// numbers without the bias, which takes longer.
  Value codePairs(int64_t Half, bool Odd);
  Value numberPairs(int64_t Half, bool Odd);

  /// 16 f32: scales of part `Part`, for numbers or for pairs.
  Value scale(int64_t Part, bool OfPairs);
  /// 16 f32 that are added; null for formats without.
  Value minimum();

private:
  /// Scales of a part as factors of f16 from 1 up to 2, with their sign, and
  /// what they lack as bits of bf16.
  struct PairScale {
    Value Factor;
    Value Exponent;
  };

  void prefetchLines(Value From, int64_t Bytes, int64_t Number, int64_t Count,
                     unsigned Locality);
  void forEachOctetOf(llvm::function_ref<void(int64_t Part)> Begin,
                      OctetBody Body, ValueReader ValueOf);
  PairScale pairScale(int64_t Part);
  Value halfPair(int64_t Feature);
  Value nibblePair(int64_t Feature);
  Value valuePair(int64_t Feature, const PairScale &Scale);
  Value splatHalf(int16_t Bits);
  bool hasZero() const;
  bool readsByTable() const;
  Value bytes(Value Offset, int64_t BytesPerFeature);
  Value bytes(int64_t Offset, int64_t BytesPerFeature);
  Value words(Value Offset);
  Value half(int64_t Offset, bool OfBlock);
  Value highBits(int64_t Half);
  Value shift(Value Words, int64_t Right);
  Value table(mlir::Type Element, int64_t Added = 0);
  Value rawCodes(int64_t Half);
  Value highestBytes(Value Bytes, int64_t From);

  KernelBuilder &B;
  const StorageFormatInfo &Info;
  BlockParts Parts;
  Value View, Panel, Block, Column;
  /// Byte of the block that the group begins at.
  Value Begin;
  Value Octet;
  /// Of the octet: lanes of low bits, two of 8-bit codes.
  std::array<Value, 2> Low;
  std::array<Value, 2> Quads;
  std::array<Value, 2> Codes;
};

} // namespace tenon

#endif // TENON_PASSES_CODEGEN_GROUPREADER_H
