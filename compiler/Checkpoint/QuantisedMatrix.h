//===- QuantisedMatrix.h - Scaled integers as a tensor ----------*- C++ -*-===//
//
// How a checkpoint stores a quantised matrix, described by strides, and the
// sources that read it.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_CHECKPOINT_QUANTISEDMATRIX_H
#define TENON_COMPILER_CHECKPOINT_QUANTISEDMATRIX_H

#include "compiler/Checkpoint/Checkpoint.h"

#include <array>
#include <cstring>

namespace tenon {

/// Integers of 1 to 8 bits, packed along lines into little-endian words. One
/// may begin in one word and end in the next.
struct PackedIntegers {
  const std::byte *Bytes = nullptr;
  int64_t Bits = 0;
  int64_t WordBytes = 4;
  /// Bytes from a word to the next of its line, and from a line to the next.
  int64_t WordStride = 0, LineStride = 0;
  /// Of every 8 integers, where each is; null when they are in order.
  const std::array<uint8_t, 8> *Places = nullptr;
  /// Bits that are stored inverted: the highest of signed ones.
  uint32_t Inverted = 0;
  /// What is added to a word of 4 bytes before integers are taken from it; it
  /// carries from one to the next.
  uint32_t WordAddend = 0;

  int at(int64_t Line, int64_t Index) const {
    if (Places)
      Index = Index / 8 * 8 + (*Places)[static_cast<size_t>(Index % 8)];
    int64_t WordBits = 8 * WordBytes, Bit = Index * Bits;
    const std::byte *Word =
        Bytes + Line * LineStride + Bit / WordBits * WordStride;
    int64_t InWord = Bit % WordBits;
    uint64_t Value = load(Word) >> InWord;
    if (InWord + Bits > WordBits)
      Value |= load(Word + WordStride) << (WordBits - InWord);
    return static_cast<int>((static_cast<uint32_t>(Value) ^ Inverted) &
                            ((1u << Bits) - 1));
  }

private:
  uint64_t load(const std::byte *Word) const {
    uint32_t Value = 0;
    std::memcpy(&Value, Word, static_cast<size_t>(WordBytes));
    return Value + WordAddend;
  }
};

/// Scales by group of output features and group of input features.
struct ScaleTable {
  const std::byte *Bytes = nullptr;
  ElementType Type = ElementType::F32;
  /// In elements.
  int64_t RowStride = 0, GroupStride = 0;
  int64_t RowsPerScale = 1;

  float at(int64_t Row, int64_t Group) const {
    float Value;
    auto Size = static_cast<int64_t>(sizeOf(Type));
    int64_t At = Row / RowsPerScale * RowStride + Group * GroupStride;
    widenToFloat({Bytes + At * Size, static_cast<size_t>(Size)}, Type, &Value);
    return Value;
  }
};

/// A matrix [Rows, Columns] of scaled integers or E4M3 numbers.
struct QuantisedMatrix {
  int64_t Rows = 0, Columns = 0;
  PackedIntegers Codes;
  /// Whether a line of codes is a column, not a row.
  bool LinesAreColumns = false;
  bool IsE4M3 = false;
  ScaleTable Scales;
  /// The group of each column.
  std::vector<int32_t> GroupOf;
  int64_t Groups = 1;
  /// By row, or rows that share a scale, and group; without, every zero point
  /// is `Zero`. Stored ones have `Zero` added, of as many bits.
  std::optional<PackedIntegers> Zeros;
  /// Whether a line of zero points is that of a row of scales, not of a group.
  bool ZeroLinesAreRows = false;
  int Zero = 0;

  int code(int64_t Row, int64_t Column) const {
    return LinesAreColumns ? Codes.at(Column, Row) : Codes.at(Row, Column);
  }
  int zero(int64_t Row, int64_t Group) const {
    if (!Zeros)
      return Zero;
    int Stored = ZeroLinesAreRows ? Zeros->at(Row / Scales.RowsPerScale, Group)
                                  : Zeros->at(Group, Row);
    return (Stored + Zero) & ((1 << Zeros->Bits) - 1);
  }
};

/// Reads the matrix, whose codes take `CodeBytes` in all. keptFormat() is as
/// restoreQuantised() says.
std::shared_ptr<const TensorSource> makeSource(QuantisedMatrix Matrix,
                                               size_t CodeBytes);

/// Reads blocks of 32 E2M1 numbers at `Codes`, neighbours in the low and the
/// high half of a byte, each block with an exponent at `Exponents`.
std::shared_ptr<const TensorSource> makeMxfp4Source(const std::byte *Codes,
                                                    const std::byte *Exponents);

} // namespace tenon

#endif // TENON_COMPILER_CHECKPOINT_QUANTISEDMATRIX_H
