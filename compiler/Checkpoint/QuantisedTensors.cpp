//===- QuantisedTensors.cpp - Quantised Hugging Face tensors --------------===//
//
// Layouts: GPTQ as GPTQModel writes it (formats gptq and gptq_v2), AWQ as
// AutoAWQ does (version gemm), compressed-tensors (pack-quantized,
// int-quantized, naive-quantized, float-quantized), fp8 and mxfp4 as
// Transformers reads them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Checkpoint/QuantisedTensors.h"

#include "compiler/Checkpoint/StoredFormat.h"
#include "runtime/Packing/Blocks.h"
#include "runtime/Support/Half.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

using namespace tenon;

namespace {

using Method = QuantisationForm::Method;

int64_t ceilDiv(int64_t Value, int64_t By) { return (Value + By - 1) / By; }

//===----------------------------------------------------------------------===//
// Parts of a matrix
//===----------------------------------------------------------------------===//

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
    return Value;
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
  /// By row and group; without, every zero point is `Zero`. Stored ones have
  /// `Zero` added, of as many bits.
  std::optional<PackedIntegers> Zeros;
  bool ZeroLinesAreRows = false;
  int Zero = 0;

  int code(int64_t Row, int64_t Column) const {
    return LinesAreColumns ? Codes.at(Column, Row) : Codes.at(Row, Column);
  }
  int zero(int64_t Row, int64_t Group) const {
    if (!Zeros)
      return Zero;
    int Stored =
        ZeroLinesAreRows ? Zeros->at(Row, Group) : Zeros->at(Group, Row);
    return (Stored + Zero) & ((1 << Zeros->Bits) - 1);
  }
};

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
               "32 (desc_act, actorder)";
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
    while (Count > 0) {
      std::byte Block[storedBlockBytes(StorageFormat::MXFP4)];
      float Values[GroupValues];
      lay(First / GroupValues, Block);
      decodeBlock(StorageFormat::MXFP4, readBlock(StorageFormat::MXFP4, Block),
                  Values);
      int64_t Begin = First % GroupValues;
      int64_t Size = std::min(GroupValues - Begin, Count);
      Out = std::copy_n(Values + Begin, Size, Out);
      First += Size;
      Count -= Size;
    }
    return {};
  }

  void dropElements(int64_t First, int64_t Count) const override {
    dropBytes({Codes + First / 2, static_cast<size_t>(Count / 2)});
  }

  std::optional<StorageFormat> keptFormat() const override {
    return StorageFormat::MXFP4;
  }

  Status readBlocks(int64_t First, int64_t Count,
                    std::byte *Out) const override {
    for (int64_t I = 0; I < Count / GroupValues; ++I)
      lay(First / GroupValues + I,
          Out + I * storedBlockBytes(StorageFormat::MXFP4));
    return {};
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

//===----------------------------------------------------------------------===//
// Tensors of a checkpoint
//===----------------------------------------------------------------------===//

/// AutoAWQ packs 8 columns into a word in another order: where each is.
constexpr std::array<uint8_t, 8> AwqPlaces = {0, 4, 1, 5, 2, 6, 3, 7};

/// Makes matrices of stored tensors. The first error sticks.
class Restorer {
public:
  Restorer(const QuantisationForm &Form, const Checkpoint &Weights)
      : Form(Form), Weights(Weights) {}

  Status run() {
    for (std::string_view Name : Weights.names()) {
      take(*Weights.find(Name));
      if (Failure)
        return *Failure;
    }
    if (Made.empty())
      return Error(Weights.path() +
                   ": has no quantised matrix: expected those that "
                   "quantization_config promises");
    return {};
  }

  std::vector<TensorInfo> Made;
  std::set<std::string_view> Taken;
  /// The first of the scales of activations, which are not used.
  std::string_view ActivationScale;

private:
  void take(const TensorInfo &Tensor) {
    std::string_view Name = Tensor.Name;
    auto ModuleOf = [&](std::string_view Suffix) -> std::optional<std::string> {
      if (!Name.ends_with(Suffix))
        return std::nullopt;
      return std::string(Name.substr(0, Name.size() - Suffix.size()));
    };
    switch (Form.Kind) {
    case Method::GPTQ:
      if (auto Module = ModuleOf(".qweight"))
        addGptq(*Module, Tensor);
      return;
    case Method::AWQ:
      if (auto Module = ModuleOf(".qweight"))
        addAwq(*Module, Tensor);
      return;
    case Method::CompressedTensors:
    case Method::FP8:
      if (auto Module = ModuleOf(".weight_packed"))
        addPacked(*Module, Tensor);
      else if (auto Module = ModuleOf(".weight");
               Module &&
               (Tensor.StoredType == "I8" || Tensor.StoredType == "F8_E4M3"))
        addPlain(*Module, Tensor);
      return;
    case Method::MXFP4:
      if (auto Module = ModuleOf("_blocks"))
        addMxfp4(*Module, Tensor);
      return;
    }
  }

  //===--- Checks ---------------------------------------------------------===//

  void fail(const TensorInfo &Tensor, const std::string &What) {
    if (!Failure)
      Failure = Error(Tensor.File->path() + ": tensor " +
                      printable(Tensor.Name) + What);
  }

  bool expectShape(const TensorInfo &Tensor,
                   const std::vector<int64_t> &Shape) {
    if (Tensor.Shape == Shape)
      return true;
    fail(Tensor, " has shape " + shapeText(Tensor.Shape) + ": expected " +
                     shapeText(Shape));
    return false;
  }

  bool expectType(const TensorInfo &Tensor,
                  const std::vector<std::string_view> &Types) {
    std::string Expected;
    for (std::string_view Type : Types) {
      if (Tensor.StoredType == Type)
        return true;
      Expected += (Expected.empty() ? "" : " or ") + std::string(Type);
    }
    fail(Tensor, " has type " + Tensor.StoredType + ": expected " + Expected);
    return false;
  }

  bool expectMatrix(const TensorInfo &Tensor) {
    if (Tensor.Shape.size() == 2)
      return true;
    fail(Tensor,
         " has shape " + shapeText(Tensor.Shape) + ": expected 2 dimensions");
    return false;
  }

  /// The tensor of that name, which is taken; null without.
  const TensorInfo *part(const std::string &Name) {
    const TensorInfo *Found = Weights.find(Name);
    if (Found)
      Taken.insert(Found->Name);
    return Found;
  }

  const TensorInfo *need(const TensorInfo &Main, const std::string &Name,
                         const std::vector<std::string_view> &Types) {
    const TensorInfo *Found = part(Name);
    if (!Found)
      fail(Main, " has no " + printable(Name) + " beside it");
    else if (!expectType(*Found, Types))
      Found = nullptr;
    return Found;
  }

  static std::vector<std::string_view> floats() {
    return {"F16", "BF16", "F32"};
  }

  //===--- Parts ----------------------------------------------------------===//

  static PackedIntegers words(const TensorInfo &Tensor, int64_t Bits,
                              int64_t WordStride, int64_t LineStride) {
    PackedIntegers Packed;
    Packed.Bytes = Tensor.Stored.data();
    Packed.Bits = Bits;
    Packed.WordStride = 4 * WordStride;
    Packed.LineStride = 4 * LineStride;
    return Packed;
  }

  static ScaleTable scales(const TensorInfo &Tensor, int64_t RowStride,
                           int64_t GroupStride) {
    return {Tensor.Stored.data(), Tensor.Type, RowStride, GroupStride};
  }

  /// Groups of `Size` columns; false when there are not as many as scales.
  bool setGroups(QuantisedMatrix &M, const TensorInfo &Scales, int64_t Size) {
    if (ceilDiv(M.Columns, Size) != M.Groups) {
      fail(Scales, " has scales of " + std::to_string(M.Groups) +
                       " groups: expected " +
                       std::to_string(ceilDiv(M.Columns, Size)) +
                       ", for groups of " + std::to_string(Size) + " of the " +
                       std::to_string(M.Columns) + " input features");
      return false;
    }
    for (int64_t Column = 0; Column < M.Columns; ++Column)
      M.GroupOf.push_back(static_cast<int32_t>(Column / Size));
    return true;
  }

  /// Equal groups of columns, as many as there are scales.
  bool setEqualGroups(QuantisedMatrix &M, const TensorInfo &Scales) {
    if (M.Groups < 1 || M.Columns % M.Groups != 0) {
      fail(Scales, " has shape " + shapeText(Scales.Shape) +
                       ": expected scales of equal groups of the " +
                       std::to_string(M.Columns) + " input features");
      return false;
    }
    return setGroups(M, Scales, M.Columns / M.Groups);
  }

  /// Groups that a tensor lists by column.
  bool setListedGroups(QuantisedMatrix &M, const TensorInfo &Index) {
    if (!expectType(Index, {"I32"}) || !expectShape(Index, {M.Columns}))
      return false;
    M.GroupOf.resize(static_cast<size_t>(M.Columns));
    std::memcpy(M.GroupOf.data(), Index.Stored.data(), Index.Stored.size());
    for (int32_t Group : M.GroupOf)
      if (Group < 0 || Group >= M.Groups) {
        fail(Index, " has group " + std::to_string(Group) + ": expected 0 to " +
                        std::to_string(M.Groups - 1));
        return false;
      }
    return true;
  }

  void add(const TensorInfo &Main, std::string Name, QuantisedMatrix M,
           std::string Type) {
    TensorInfo To;
    To.Name = std::move(Name);
    To.Shape = {M.Rows, M.Columns};
    To.File = Main.File;
    To.StoredType = std::move(Type);
    To.Source =
        std::make_shared<MatrixSource>(std::move(M), Main.Stored.size());
    Made.push_back(std::move(To));
  }

  //===--- Methods --------------------------------------------------------===//

  /// qweight I32 [K x bits / 32, N], qzeros I32 [G, N x bits / 32], scales
  /// [G, N], g_idx I32 [K].
  void addGptq(const std::string &Module, const TensorInfo &Main) {
    Taken.insert(Main.Name);
    int64_t Bits = Form.Bits.front();
    const TensorInfo *Scales = need(Main, Module + ".scales", floats());
    const TensorInfo *Zeros = need(Main, Module + ".qzeros", {"I32"});
    const TensorInfo *Index = part(Module + ".g_idx");
    if (!Scales || !Zeros || !expectType(Main, {"I32"}) ||
        !expectMatrix(Main) || !expectMatrix(*Scales))
      return;
    QuantisedMatrix M;
    M.Rows = Main.Shape[1];
    M.Columns = Main.Shape[0] * 32 / Bits;
    M.Groups = Scales->Shape[0];
    int64_t ZeroWords = ceilDiv(M.Rows * Bits, 32);
    if (!expectShape(Main, {ceilDiv(M.Columns * Bits, 32), M.Rows}) ||
        !expectShape(*Scales, {M.Groups, M.Rows}) ||
        !expectShape(*Zeros, {M.Groups, ZeroWords}))
      return;
    M.Codes = words(Main, Bits, M.Rows, 1);
    M.Zeros = words(*Zeros, Bits, 1, ZeroWords);
    M.Zero = Form.ZerosLessOne ? 1 : 0;
    M.Scales = scales(*Scales, 1, M.Rows);
    if (Index ? setListedGroups(M, *Index)
              : setGroups(M, *Scales, Form.GroupSize.value_or(M.Columns)))
      add(Main, Module + ".weight", std::move(M),
          "GPTQ, " + std::to_string(Bits) + " bits");
  }

  /// qweight I32 [K, N / 8], qzeros I32 [G, N / 8], scales [G, N].
  void addAwq(const std::string &Module, const TensorInfo &Main) {
    Taken.insert(Main.Name);
    const TensorInfo *Scales = need(Main, Module + ".scales", floats());
    const TensorInfo *Zeros = need(Main, Module + ".qzeros", {"I32"});
    if (!Scales || !Zeros || !expectType(Main, {"I32"}) ||
        !expectMatrix(Main) || !expectMatrix(*Scales))
      return;
    QuantisedMatrix M;
    int64_t Words = Main.Shape[1];
    M.Rows = Words * 8;
    M.Columns = Main.Shape[0];
    M.Groups = Scales->Shape[0];
    if (!expectShape(*Scales, {M.Groups, M.Rows}) ||
        !expectShape(*Zeros, {M.Groups, Words}))
      return;
    M.Codes = words(Main, 4, 1, Words);
    M.LinesAreColumns = true;
    M.Zeros = words(*Zeros, 4, 1, Words);
    M.Codes.Places = M.Zeros->Places = &AwqPlaces;
    M.Scales = scales(*Scales, 1, M.Rows);
    if (setEqualGroups(M, *Scales))
      add(Main, Module + ".weight", std::move(M), "AWQ, 4 bits");
  }

  /// What compressed-tensors and fp8 store of activations.
  void takeActivations(const std::string &Module) {
    for (const char *Suffix : {".input_scale", ".input_zero_point"})
      if (const TensorInfo *Found = part(Module + Suffix);
          Found && ActivationScale.empty())
        ActivationScale = Found->Name;
  }

  /// Sets the scales, of one number, or [N] or [N, G].
  bool setScales(QuantisedMatrix &M, const TensorInfo &Scales) {
    const std::vector<int64_t> &Shape = Scales.Shape;
    bool IsRow = !Shape.empty() && Shape[0] == M.Rows;
    if (IsRow && Shape.size() <= 2) {
      M.Groups = Shape.size() == 2 ? Shape[1] : 1;
      M.Scales = scales(Scales, M.Groups, 1);
      return setEqualGroups(M, Scales);
    }
    M.Groups = 1;
    M.Scales = scales(Scales, 0, 0);
    M.Scales.RowsPerScale = M.Rows;
    if (Shape.empty() || expectShape(Scales, {1}))
      return setEqualGroups(M, Scales);
    return false;
  }

  /// weight_packed I32 [N, K x bits / 32] of integers plus 2^(bits-1),
  /// weight_shape [2], weight_scale [N, G], weight_zero_point I32
  /// [N x bits / 32, G] likewise, weight_g_idx I32 [K].
  void addPacked(const std::string &Module, const TensorInfo &Main) {
    Taken.insert(Main.Name);
    const TensorInfo *Scales = need(Main, Module + ".weight_scale", floats());
    const TensorInfo *Shape =
        need(Main, Module + ".weight_shape", {"I64", "I32"});
    const TensorInfo *Zeros = part(Module + ".weight_zero_point");
    const TensorInfo *Index = part(Module + ".weight_g_idx");
    takeActivations(Module);
    if (!Scales || !Shape || !expectType(Main, {"I32"}) ||
        !expectMatrix(Main) || !expectShape(*Shape, {2}))
      return;
    QuantisedMatrix M;
    M.Rows = Main.Shape[0];
    int64_t Sizes[2];
    for (size_t I = 0; I < 2; ++I)
      Sizes[I] = readInteger(*Shape, I);
    // Any number of columns that the words can hold.
    M.Columns = Sizes[1];
    constexpr int64_t MaxColumns = int64_t(1) << 40;
    auto Fits = [&](int64_t Bits) {
      return M.Columns >= 1 && M.Columns <= MaxColumns &&
             ceilDiv(M.Columns * Bits, 32) == Main.Shape[1];
    };
    auto Bits = std::find_if(Form.Bits.begin(), Form.Bits.end(), Fits);
    if (Sizes[0] != M.Rows || Bits == Form.Bits.end())
      return fail(Main, " has shape " + shapeText(Main.Shape) +
                            ": expected the packed integers of shape " +
                            shapeText(Sizes) + ", as weight_shape says");
    M.Codes = words(Main, *Bits, 1, Main.Shape[1]);
    M.Zero = 1 << (*Bits - 1);
    if (Index) {
      if (!expectMatrix(*Scales))
        return;
      M.Groups = Scales->Shape[1];
      if (!expectShape(*Scales, {M.Rows, M.Groups}) ||
          !setListedGroups(M, *Index))
        return;
      M.Scales = scales(*Scales, M.Groups, 1);
    } else if (!setScales(M, *Scales)) {
      return;
    }
    if (Zeros) {
      if (!expectType(*Zeros, {"I32"}) ||
          !expectShape(*Zeros, {ceilDiv(M.Rows * *Bits, 32), M.Groups}))
        return;
      M.Zeros = words(*Zeros, *Bits, M.Groups, 1);
      M.Zero = 0;
    }
    add(Main, Module + ".weight", std::move(M),
        "compressed-tensors, " + std::to_string(*Bits) + " bits");
  }

  /// weight I8 or F8_E4M3 [N, K], weight_scale of one number, [N] or [N, G], or
  /// weight_scale_inv of tiles; weight_zero_point I8 as the scale.
  void addPlain(const std::string &Module, const TensorInfo &Main) {
    Taken.insert(Main.Name);
    takeActivations(Module);
    bool IsFloat = Main.StoredType == "F8_E4M3";
    const TensorInfo *Tiles = part(Module + ".weight_scale_inv");
    const TensorInfo *Scales =
        Tiles ? Tiles : need(Main, Module + ".weight_scale", floats());
    if (!Scales || !expectType(*Scales, floats()) || !expectMatrix(Main))
      return;
    QuantisedMatrix M;
    M.Rows = Main.Shape[0];
    M.Columns = Main.Shape[1];
    M.IsE4M3 = IsFloat;
    M.Codes.Bytes = Main.Stored.data();
    M.Codes.Bits = 8;
    M.Codes.WordBytes = M.Codes.WordStride = 1;
    M.Codes.LineStride = M.Columns;
    if (!IsFloat) {
      M.Codes.Inverted = 0x80;
      M.Zero = 0x80;
    }
    bool IsTiled = Form.Tile.size() == 2 && Scales->Shape.size() == 2;
    if (IsTiled) {
      M.Groups = ceilDiv(M.Columns, Form.Tile[1]);
      M.Scales = scales(*Scales, M.Groups, 1);
      M.Scales.RowsPerScale = Form.Tile[0];
      if (!expectShape(*Scales, {ceilDiv(M.Rows, Form.Tile[0]), M.Groups}) ||
          !setGroups(M, *Scales, Form.Tile[1]))
        return;
    } else if (!setScales(M, *Scales)) {
      return;
    }
    if (const TensorInfo *Zeros = part(Module + ".weight_zero_point");
        Zeros && !IsFloat) {
      if (!expectType(*Zeros, {"I8"}) || !expectShape(*Zeros, Scales->Shape))
        return;
      M.Zeros = M.Codes;
      M.Zeros->Bytes = Zeros->Stored.data();
      M.Zeros->LineStride = M.Scales.RowStride;
      M.ZeroLinesAreRows = true;
      M.Zero = 0;
    }
    add(Main, Module + ".weight", std::move(M), Main.StoredType);
  }

  /// X_blocks U8 [E, N, G, 16], X_scales U8 [E, N, G]: of X [E, 32 G, N].
  void addMxfp4(const std::string &Module, const TensorInfo &Main) {
    Taken.insert(Main.Name);
    const TensorInfo *Scales = need(Main, Module + "_scales", {"U8"});
    if (!Scales || !expectType(Main, {"U8"}))
      return;
    if (Main.Shape.size() != 4 || Main.Shape[3] != GroupValues / 2)
      return fail(Main, " has shape " + shapeText(Main.Shape) +
                            ": expected [experts, output features, groups, "
                            "16]");
    const std::vector<int64_t> &Shape = Main.Shape;
    if (!expectShape(*Scales, {Shape[0], Shape[1], Shape[2]}))
      return;
    TensorInfo To;
    To.Name = Module;
    To.Shape = {Shape[0], GroupValues * Shape[2], Shape[1]};
    To.ColumnsFirst = true;
    To.File = Main.File;
    To.StoredType = "MXFP4";
    To.Source = std::make_shared<Mxfp4Source>(Main.Stored.data(),
                                              Scales->Stored.data());
    Made.push_back(std::move(To));
  }

  static int64_t readInteger(const TensorInfo &Tensor, size_t At) {
    if (Tensor.StoredType == "I64") {
      int64_t Value;
      std::memcpy(&Value, Tensor.Stored.data() + 8 * At, 8);
      return Value;
    }
    int32_t Value;
    std::memcpy(&Value, Tensor.Stored.data() + 4 * At, 4);
    return Value;
  }

  const QuantisationForm &Form;
  const Checkpoint &Weights;
  std::optional<Error> Failure;
};

} // namespace

//===----------------------------------------------------------------------===//
// quantization_config
//===----------------------------------------------------------------------===//

std::optional<Method> tenon::quantMethodNamed(std::string_view Name) {
  static constexpr std::pair<std::string_view, Method> Methods[] = {
      {"gptq", Method::GPTQ},
      {"awq", Method::AWQ},
      {"compressed-tensors", Method::CompressedTensors},
      {"fp8", Method::FP8},
      {"mxfp4", Method::MXFP4}};
  for (auto [Known, Value] : Methods)
    if (Known == Name)
      return Value;
  return std::nullopt;
}

static Status readGptq(const Config &Settings, QuantisationForm &Form) {
  auto Bits = Settings.integer("bits", 2, 8);
  if (!Bits)
    return Bits.error();
  Form.Bits = {*Bits};
  auto Size = Settings.integerOr("group_size", -1, -1, INT32_MAX);
  if (!Size)
    return Size.error();
  if (*Size == 0)
    return Settings.expected("group_size", "-1 or at least 1");
  if (*Size > 0)
    Form.GroupSize = *Size;
  auto Format = Settings.stringOr("checkpoint_format", "gptq");
  if (!Format)
    return Format.error();
  if (*Format != "gptq" && *Format != "gptq_v2")
    return Settings.expected("checkpoint_format", "gptq or gptq_v2");
  Form.ZerosLessOne = *Format == "gptq";
  // Modules with bits or groups of their own.
  if (Settings.has("dynamic"))
    return Settings.expected("dynamic", "no settings of single modules");
  return {};
}

static Status readAwq(const Config &Settings) {
  auto Bits = Settings.integer("bits", 4, 4);
  if (!Bits)
    return Bits.error();
  auto Version = Settings.stringOr("version", "gemm");
  if (!Version)
    return Version.error();
  if (*Version != "gemm" && *Version != "GEMM")
    return Settings.expected("version", "gemm");
  return {};
}

static Status readCompressedTensors(const Config &Settings,
                                    QuantisationForm &Form) {
  auto Format = Settings.string("format");
  if (!Format)
    return Format.error();
  constexpr std::string_view Read[] = {"pack-quantized", "int-quantized",
                                       "naive-quantized", "float-quantized"};
  if (std::ranges::find(Read, *Format) == std::end(Read))
    return Settings.expected("format",
                             "pack-quantized, int-quantized, naive-quantized "
                             "or float-quantized");
  if (auto Sparsity = Settings.optionalObject("sparsity_config"); !Sparsity)
    return Sparsity.error();
  else if (*Sparsity) {
    auto Kind = (*Sparsity)->stringOr("format", "dense");
    if (!Kind)
      return Kind.error();
    if (*Kind != "dense")
      return (*Sparsity)->expected("format", "dense");
  }
  if (auto Transform = Settings.optionalObject("transform_config"); !Transform)
    return Transform.error();
  else if (*Transform && (*Transform)->has("config_groups"))
    return Settings.expected("transform_config", "no rotations");
  auto Groups = Settings.object("config_groups");
  if (!Groups)
    return Groups.error();
  for (const std::string &Path : Groups->unreadKeys()) {
    std::string Name = Path.substr(Path.rfind('.') + 1);
    auto Group = Groups->object(Name);
    if (!Group)
      return Group.error();
    auto Scheme = Group->optionalObject("weights");
    if (!Scheme)
      return Scheme.error();
    if (!*Scheme)
      continue;
    auto Bits = (*Scheme)->integer("num_bits", 2, 8);
    if (!Bits)
      return Bits.error();
    if (std::ranges::find(Form.Bits, *Bits) == Form.Bits.end())
      Form.Bits.push_back(*Bits);
    auto Tile = (*Scheme)->optionalIntegers("block_structure", 1, INT32_MAX);
    if (!Tile)
      return Tile.error();
    if (Tile->size() == 2)
      Form.Tile = *Tile;
  }
  return {};
}

static Status readFp8(const Config &Settings, QuantisationForm &Form) {
  auto Kind = Settings.stringOr("fmt", "e4m3");
  if (!Kind)
    return Kind.error();
  if (*Kind != "e4m3")
    return Settings.expected("fmt", "e4m3");
  auto Tile = Settings.optionalIntegers("weight_block_size", 1, INT32_MAX);
  if (!Tile)
    return Tile.error();
  if (!Tile->empty() && Tile->size() != 2)
    return Settings.expected("weight_block_size", "two sizes");
  Form.Tile = *Tile;
  return {};
}

Result<QuantisationForm> tenon::readQuantisationForm(Method Method,
                                                     const Config &Settings) {
  QuantisationForm Form{Method};
  auto Read = [&]() -> Status {
    switch (Method) {
    case Method::GPTQ:
      return readGptq(Settings, Form);
    case Method::AWQ:
      return readAwq(Settings);
    case Method::CompressedTensors:
      return readCompressedTensors(Settings, Form);
    case Method::FP8:
      return readFp8(Settings, Form);
    case Method::MXFP4:
      return {};
    }
    return {};
  };
  if (Status Done = Read(); !Done)
    return Done.error();
  return Form;
}

Status tenon::restoreQuantised(const QuantisationForm &Form,
                               Checkpoint &Weights,
                               std::vector<std::string> &Notes) {
  if (Status Same = Weights.checkUnchanged(); !Same)
    return Same;
  Restorer Work(Form, Weights);
  if (Status Done = Work.run(); !Done)
    return Done;
  if (!Work.ActivationScale.empty())
    Notes.push_back(Weights.find(Work.ActivationScale)->File->path() +
                    ": scales of activations, such as " +
                    printable(Work.ActivationScale) +
                    ", are not used: activations are quantised by groups, or "
                    "not at all (--activations)");
  return Weights.replace(Work.Taken, std::move(Work.Made));
}
