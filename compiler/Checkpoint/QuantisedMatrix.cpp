//===- QuantisedMatrix.cpp - Scaled integers as a tensor ------------------===//

#include "compiler/Checkpoint/QuantisedMatrix.h"

#include "compiler/Checkpoint/StoredFormat.h"
#include "runtime/Packing/Blocks.h"
#include "runtime/Support/Half.h"

#include <algorithm>
#include <cmath>

using namespace tenon;

namespace {

/// The number of an E4M3 byte (OCP 8-bit floating point, version 1.0).
float fromE4M3(int Code) {
  int Exponent = Code >> 3 & 15, Mantissa = Code & 7;
  float Size;
  if (Exponent == 15 && Mantissa == 7)
    Size = NAN;
  else if (Exponent == 0)
    Size = std::ldexp(static_cast<float>(Mantissa), -9);
  else
    Size = std::ldexp(static_cast<float>(8 + Mantissa), Exponent - 10);
  return Code & 0x80 ? -Size : Size;
}

Error notFinite() {
  return Error("a scale or a number is infinite or none: expected finite ones");
}

/// The elements of a QuantisedMatrix.
class MatrixSource final : public TensorSource {
public:
  /// The codes take `CodeBytes` in all.
  MatrixSource(QuantisedMatrix From, size_t CodeBytes)
      : M(std::move(From)), CodeBytes(CodeBytes) {
    chooseFormat();
  }

  Status readElements(int64_t First, int64_t Count, float *Out) const override {
    bool Finite = true;
    for (int64_t At = First; At < First + Count;) {
      int64_t Row = At / M.Columns, Begin = At % M.Columns;
      int64_t End = std::min(M.Columns, Begin + First + Count - At);
      int32_t Group = -1;
      float Scale = 0;
      int Zero = 0;
      for (int64_t Column = Begin; Column < End; ++Column) {
        if (M.GroupOf[static_cast<size_t>(Column)] != Group) {
          Group = M.GroupOf[static_cast<size_t>(Column)];
          Scale = M.Scales.at(Row, Group);
          Zero = M.zero(Row, Group);
        }
        int Code = M.code(Row, Column);
        float Value = Scale * (M.IsE4M3 ? fromE4M3(Code)
                                        : static_cast<float>(Code - Zero));
        Finite &= std::isfinite(Value);
        *Out++ = Value;
      }
      At += End - Begin;
    }
    return Finite ? Status() : Status(notFinite());
  }

  void dropElements(int64_t First, int64_t Count) const override {
    // Rows that lie across each other are needed until the last one.
    bool IsAcross =
        M.LinesAreColumns || M.Codes.LineStride < M.Codes.WordStride;
    int64_t Begin = First / M.Columns, End = (First + Count) / M.Columns;
    if (IsAcross && End == M.Rows)
      dropBytes({M.Codes.Bytes, CodeBytes});
    if (IsAcross)
      return;
    dropBytes({M.Codes.Bytes + Begin * M.Codes.LineStride,
               static_cast<size_t>((End - Begin) * M.Codes.LineStride)});
  }

  std::optional<StorageFormat> keptFormat() const override { return Kept; }
  std::string_view whyWidened() const override { return Reason; }

  Status readBlocks(int64_t First, int64_t Count,
                    std::byte *Out) const override {
    bool Finite = true;
    for (int64_t At = First; At < First + Count; At += GroupValues) {
      int64_t Row = At / M.Columns, Column = At % M.Columns;
      int32_t Group = M.GroupOf[static_cast<size_t>(Column)];
      float Scale = M.Scales.at(Row, Group);
      int Zero = M.zero(Row, Group);
      Finite &= std::isfinite(Scale);
      uint16_t Half = floatToHalf(Scale);
      std::memcpy(Out, &Half, sizeof(Half));
      Out += sizeof(Half);
      if (*Kept == StorageFormat::Q8_0) {
        for (int64_t I = 0; I < GroupValues; ++I)
          *Out++ = static_cast<std::byte>(M.code(Row, Column + I) - Zero);
        continue;
      }
      // Codes of Q4_0 are numbers plus 8.
      int Added = 0;
      if (*Kept == StorageFormat::Q4_0)
        Added = static_cast<int>(infoOf(*Kept).Offset) - Zero;
      else
        *Out++ = static_cast<std::byte>(Zero);
      for (int64_t I = 0; I < GroupValues / 2; ++I) {
        int Low = M.code(Row, Column + I) + Added;
        int High = M.code(Row, Column + I + GroupValues / 2) + Added;
        *Out++ = static_cast<std::byte>(Low | High << 4);
      }
    }
    return Finite ? Status() : Status(notFinite());
  }

private:
  /// Sets Kept, or Reason.
  void chooseFormat() {
    if (M.IsE4M3) {
      Reason = "of 8-bit floating-point numbers";
      return;
    }
    if (M.Columns % GroupValues != 0 || !hasWholeGroups()) {
      Reason = "whose groups of input features are not runs of multiples of "
               "32 (desc_act, actorder, or another group size)";
      return;
    }
    if (!hasHalfScales()) {
      Reason = "with scales that f16 does not hold";
      return;
    }
    auto [Least, Most] = zeroRange();
    int MostCode = (1 << M.Codes.Bits) - 1;
    if (Least == Most && MostCode - Least <= 7 && Least <= 8)
      Kept = StorageFormat::Q4_0;
    else if (M.Codes.Bits <= 4)
      Kept = StorageFormat::U4_ZP;
    else if (Least == Most && MostCode - Least <= 127 && Least <= 128)
      Kept = StorageFormat::Q8_0;
    else
      Reason = "of more than 4 bits with zero points";
  }

  /// Whether every block of a row has one scale.
  bool hasWholeGroups() const {
    for (size_t I = 0; I < M.GroupOf.size(); ++I)
      if (M.GroupOf[I] != M.GroupOf[I - I % GroupValues])
        return false;
    return true;
  }

  bool hasHalfScales() const {
    if (M.Scales.Type == ElementType::F16)
      return true;
    for (int64_t Row = 0; Row < M.Rows; Row += M.Scales.RowsPerScale)
      for (int64_t Group = 0; Group < M.Groups; ++Group) {
        float Scale = M.Scales.at(Row, Group);
        if (halfToFloat(floatToHalf(Scale)) != Scale)
          return false;
      }
    return true;
  }

  std::pair<int, int> zeroRange() const {
    if (!M.Zeros)
      return {M.Zero, M.Zero};
    int Least = INT32_MAX, Most = INT32_MIN;
    for (int64_t Row = 0; Row < M.Rows; ++Row)
      for (int64_t Group = 0; Group < M.Groups; ++Group) {
        int Zero = M.zero(Row, Group);
        Least = std::min(Least, Zero);
        Most = std::max(Most, Zero);
      }
    return {Least, Most};
  }

  QuantisedMatrix M;
  size_t CodeBytes;
  std::optional<StorageFormat> Kept;
  std::string_view Reason;
};

/// Blocks of 32 E2M1 numbers, two neighbours a byte, and their exponents.
class Mxfp4Source final : public TensorSource {
public:
  Mxfp4Source(const std::byte *Codes, const std::byte *Exponents)
      : Codes(Codes), Exponents(Exponents) {}

  Status readElements(int64_t First, int64_t Count, float *Out) const override {
    bool Finite = true;
    while (Count > 0) {
      std::byte Block[storedBlockBytes(StorageFormat::MXFP4)];
      float Values[GroupValues];
      lay(First / GroupValues, Block);
      Finite &= decodeBlock(StorageFormat::MXFP4,
                            readBlock(StorageFormat::MXFP4, Block), Values);
      int64_t Begin = First % GroupValues;
      int64_t Size = std::min(GroupValues - Begin, Count);
      Out = std::copy_n(Values + Begin, Size, Out);
      First += Size;
      Count -= Size;
    }
    return Finite ? Status() : Status(notFinite());
  }

  void dropElements(int64_t First, int64_t Count) const override {
    dropBytes({Codes + First / 2, static_cast<size_t>(Count / 2)});
  }

  std::optional<StorageFormat> keptFormat() const override {
    return StorageFormat::MXFP4;
  }

  Status readBlocks(int64_t First, int64_t Count,
                    std::byte *Out) const override {
    constexpr std::byte None{255}; // E8M0's NaN.
    bool Finite = true;
    for (int64_t I = 0; I < Count / GroupValues; ++I) {
      Finite &= Exponents[First / GroupValues + I] != None;
      lay(First / GroupValues + I,
          Out + I * storedBlockBytes(StorageFormat::MXFP4));
    }
    return Finite ? Status() : Status(notFinite());
  }

private:
  /// Writes a block as ggml lays it out: the exponent, then bytes of the first
  /// 16 codes in their low halves and the others in their high ones.
  void lay(int64_t Block, std::byte *Out) const {
    const std::byte *From = Codes + Block * (GroupValues / 2);
    auto Code = [&](int64_t I) {
      return static_cast<int>(From[I / 2]) >> (I % 2 * 4) & 15;
    };
    *Out++ = Exponents[Block];
    for (int64_t I = 0; I < GroupValues / 2; ++I)
      *Out++ = static_cast<std::byte>(Code(I) | Code(I + GroupValues / 2) << 4);
  }

  const std::byte *Codes, *Exponents;
};

} // namespace

std::shared_ptr<const TensorSource> tenon::makeSource(QuantisedMatrix Matrix,
                                                      size_t CodeBytes) {
  return std::make_shared<MatrixSource>(std::move(Matrix), CodeBytes);
}

std::shared_ptr<const TensorSource>
tenon::makeMxfp4Source(const std::byte *Codes, const std::byte *Exponents) {
  return std::make_shared<Mxfp4Source>(Codes, Exponents);
}
