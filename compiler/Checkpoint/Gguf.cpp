//===- Gguf.cpp - One .gguf file ------------------------------------------===//
//
// The format: "GGUF", version, number of tensors, number of keys; the keys with
// their values; of each tensor the name, dimensions (innermost first), type and
// offset; then, aligned, the data that the offsets count from.
//
//===----------------------------------------------------------------------===//

#include "compiler/Checkpoint/Gguf.h"

#include "runtime/Support/InputFile.h"
#include "runtime/Support/Json.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

using namespace tenon;

static_assert(std::endian::native == std::endian::little);

namespace {

/// Keys of a file that is one part of several.
constexpr const char *SplitNumber = "split.no", *SplitCount = "split.count";
/// As many as a name can count.
constexpr int64_t MaxGgufParts = 99'999;

constexpr std::string_view ValueTypes[] = {
    "uint8",   "int8",   "uint16", "int16",  "uint32", "int32",  "float32",
    "boolean", "string", "array",  "uint64", "int64",  "float64"};

/// Bytes of one number, 0 for strings and arrays.
uint64_t sizeOfValue(GgufType Type) {
  switch (Type) {
  case GgufType::UInt8:
  case GgufType::Int8:
  case GgufType::Bool:
    return 1;
  case GgufType::UInt16:
  case GgufType::Int16:
    return 2;
  case GgufType::UInt32:
  case GgufType::Int32:
  case GgufType::Float32:
    return 4;
  case GgufType::UInt64:
  case GgufType::Int64:
  case GgufType::Float64:
    return 8;
  case GgufType::String:
  case GgufType::Array:
    break;
  }
  return 0;
}

/// ggml's types by number; empty where there is none any more.
constexpr std::string_view TensorTypes[] = {
    "F32",   "F16",   "Q4_0",    "Q4_1",   "",        "",      "Q5_0",
    "Q5_1",  "Q8_0",  "Q8_1",    "Q2_K",   "Q3_K",    "Q4_K",  "Q5_K",
    "Q6_K",  "Q8_K",  "IQ2_XXS", "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL",
    "IQ3_S", "IQ2_S", "IQ4_XS",  "I8",     "I16",     "I32",   "I64",
    "F64",   "IQ1_M", "BF16",    "",       "",        "",      "TQ1_0",
    "TQ2_0", "",      "",        "",       "MXFP4",   "NVFP4"};

template <typename T> T load(const std::byte *From) {
  T Value;
  std::memcpy(&Value, From, sizeof(T));
  return Value;
}

/// A number as the widest of its kind.
using Number = std::variant<int64_t, uint64_t, double, bool>;

/// Null when the type is no number's.
std::optional<Number> numberAt(GgufType Type, const std::byte *From) {
  switch (Type) {
  case GgufType::UInt8:
    return uint64_t(load<uint8_t>(From));
  case GgufType::Int8:
    return int64_t(load<int8_t>(From));
  case GgufType::UInt16:
    return uint64_t(load<uint16_t>(From));
  case GgufType::Int16:
    return int64_t(load<int16_t>(From));
  case GgufType::UInt32:
    return uint64_t(load<uint32_t>(From));
  case GgufType::Int32:
    return int64_t(load<int32_t>(From));
  case GgufType::UInt64:
    return load<uint64_t>(From);
  case GgufType::Int64:
    return load<int64_t>(From);
  case GgufType::Bool:
    return load<uint8_t>(From) != 0;
  case GgufType::Float64:
    return load<double>(From);
  case GgufType::Float32: {
    auto Value = load<float>(From);
    if (!std::isfinite(Value))
      return double(Value);
    char Text[32];
    auto End = std::to_chars(Text, Text + sizeof(Text), Value).ptr;
    double Wide = 0;
    std::from_chars(Text, End, Wide);
    return Wide;
  }
  case GgufType::String:
  case GgufType::Array:
    break;
  }
  return std::nullopt;
}

std::string textOf(const Number &Value) {
  if (auto *Flag = std::get_if<bool>(&Value))
    return *Flag ? "true" : "false";
  char Text[32];
  char *End = std::visit(
      [&](auto V) {
        if constexpr (std::is_same_v<decltype(V), bool>)
          return Text;
        else
          return std::to_chars(Text, Text + sizeof(Text), V).ptr;
      },
      Value);
  return std::string(Text, End);
}

std::string_view viewOf(std::span<const std::byte> Bytes) {
  return {reinterpret_cast<const char *>(Bytes.data()), Bytes.size()};
}

/// What a value is, for errors.
std::string describe(const GgufValue &Value) {
  std::string Type(ValueTypes[static_cast<size_t>(Value.Type)]);
  if (Value.IsArray)
    return "an array of " + std::to_string(Value.Count) + " × " + Type;
  if (Value.Type == GgufType::String)
    return printable(viewOf(Value.Bytes.subspan(8)));
  return textOf(*numberAt(Value.Type, Value.Bytes.data()));
}

/// The whole number if it is one and in range.
std::optional<int64_t> inRange(const Number &Value, int64_t Min, int64_t Max) {
  std::optional<int64_t> Whole;
  if (auto *Signed = std::get_if<int64_t>(&Value))
    Whole = *Signed;
  else if (auto *Unsigned = std::get_if<uint64_t>(&Value);
           Unsigned && *Unsigned <= INT64_MAX)
    Whole = static_cast<int64_t>(*Unsigned);
  if (!Whole || *Whole < Min || *Whole > Max)
    return std::nullopt;
  return Whole;
}

} // namespace

namespace tenon {

/// Reads the header from front to back.
class GgufReader {
public:
  explicit GgufReader(GgufFile &Into)
      : Into(Into), Path(Into.path()), Rest(Into.Files.front()->bytes()) {}

  Status read() {
    if (Status S = readStart(); !S)
      return S;
    for (uint64_t I = 0; I < KeyCount; ++I)
      if (Status S = readKey(I); !S)
        return S;
    uint64_t Alignment = 32;
    if (Into.has("general.alignment")) {
      auto Stored =
          Into.integer("general.alignment", 1, int64_t(MaxGgufAlignment));
      if (!Stored)
        return Stored.error();
      if (!std::has_single_bit(uint64_t(*Stored)))
        return Into.expected("general.alignment", "a power of two");
      Alignment = uint64_t(*Stored);
    }
    Into.Tensors.reserve(TensorCount);
    for (uint64_t I = 0; I < TensorCount; ++I)
      if (Status S = readTensor(I, Alignment); !S)
        return S;
    uint64_t Header = Into.Files.front()->bytes().size() - Rest.size();
    uint64_t Padding = (Alignment - Header % Alignment) % Alignment;
    if (TensorCount != 0 && Padding > Rest.size())
      return Error(Path + ": ends before its data, at byte " +
                   std::to_string(Header) + ": expected data from byte " +
                   std::to_string(Header + Padding));
    return placeTensors(Rest.subspan(std::min<uint64_t>(Padding, Rest.size())));
  }

private:
  Error truncated(const std::string &Where, uint64_t Wanted) const {
    return Error(Path + ": " + Where + ": the file ends " +
                 std::to_string(Rest.size()) + " bytes further on: expected " +
                 std::to_string(Wanted));
  }

  template <typename T> Result<T> take(const std::string &Where) {
    if (Rest.size() < sizeof(T))
      return truncated(Where, sizeof(T));
    T Value = load<T>(Rest.data());
    Rest = Rest.subspan(sizeof(T));
    return Value;
  }

  Result<std::string_view> takeString(const std::string &Where) {
    auto Length = take<uint64_t>(Where + ": length");
    if (!Length)
      return Length.error();
    if (*Length > Rest.size())
      return Error(Path + ": " + Where + ": length is " +
                   std::to_string(*Length) + ": expected at most " +
                   std::to_string(Rest.size()) + ", the rest of the file");
    std::string_view Text = viewOf(Rest.subspan(0, *Length));
    Rest = Rest.subspan(*Length);
    return Text;
  }

  Status readStart() {
    std::string_view Content = viewOf(Rest);
    if (Status Pointer = refuseGitLfsPointer(Content, Path); !Pointer)
      return Pointer;
    if (!Content.starts_with("GGUF"))
      return Error(Path + ": begins with " + printable(Content.substr(0, 4)) +
                   ": expected 'GGUF'");
    Rest = Rest.subspan(4);
    auto Version = take<uint32_t>("version");
    if (!Version)
      return Version.error();
    if (*Version != 2 && *Version != 3)
      return Error(Path + ": version is " + std::to_string(*Version) +
                   ((*Version & 0xffff) == 0 && *Version != 0
                        ? ", a big-endian file"
                        : "") +
                   ": expected 2 or 3, little-endian");
    auto Tensors = take<uint64_t>("number of tensors");
    if (!Tensors)
      return Tensors.error();
    auto Keys = take<uint64_t>("number of keys");
    if (!Keys)
      return Keys.error();
    TensorCount = *Tensors;
    KeyCount = *Keys;
    // The shortest entries: a name of one byte and its length, then type and
    // value of a key, or dimensions, type and offset of a tensor.
    if (Status S = checkCount("number of tensors", TensorCount, MaxTensors,
                              8 + 1 + 4 + 8 + 4 + 8);
        !S)
      return S;
    return checkCount("number of keys", KeyCount, MaxGgufKeys, 8 + 1 + 4 + 1);
  }

  Status checkCount(const char *What, uint64_t Count, uint64_t Max,
                    uint64_t Shortest) const {
    uint64_t Limit = std::min<uint64_t>(Max, Rest.size() / Shortest);
    if (Count <= Limit)
      return {};
    return Error(Path + ": " + What + " is " + std::to_string(Count) +
                 ": expected at most " + std::to_string(Limit) +
                 (Limit < Max ? ", for which the file has room" : ""));
  }

  Status readKey(uint64_t Index) {
    std::string Where = "key " + std::to_string(Index);
    auto Name = takeString(Where);
    if (!Name)
      return Name.error();
    if (Status S = checkName(*Name, MaxTensorName, Path + ": " + Where); !S)
      return S;
    std::string Key(*Name);
    Where = "field " + printable(Key);
    GgufValue Value;
    auto Type = takeType(Where + ": type");
    if (!Type)
      return Type.error();
    Value.Type = *Type;
    if (Value.Type == GgufType::Array) {
      auto Element = takeType(Where + ": type of elements");
      if (!Element)
        return Element.error();
      if (*Element == GgufType::Array)
        return Error(Path + ": " + Where +
                     ": is an array of arrays: expected "
                     "an array of numbers or strings");
      auto Count = take<uint64_t>(Where + ": number of elements");
      if (!Count)
        return Count.error();
      Value.IsArray = true;
      Value.Type = *Element;
      Value.Count = *Count;
    }
    if (Status S = takeValue(Key, Where, Value); !S)
      return S;
    if (!Into.Values.emplace(Key, Value).second)
      return Error(Path + ": duplicate " + Where);
    Into.Keys.push_back(std::move(Key));
    return {};
  }

  Result<GgufType> takeType(const std::string &Where) {
    auto Type = take<uint32_t>(Where);
    if (!Type)
      return Type.error();
    if (*Type >= std::size(ValueTypes))
      return Error(Path + ": " + Where + " is " + std::to_string(*Type) +
                   ": expected 0 to " +
                   std::to_string(std::size(ValueTypes) - 1));
    return static_cast<GgufType>(*Type);
  }

  /// Steps over the value's bytes, which become part of it.
  Status takeValue(const std::string &Key, const std::string &Where,
                   GgufValue &Value) {
    std::span<const std::byte> Begin = Rest;
    uint64_t Size = sizeOfValue(Value.Type);
    if (Size == 0) {
      // Each string has at least its length.
      if (Value.Count > Rest.size() / 8)
        return tooMany(Where, Value, 8);
      for (uint64_t I = 0; I < Value.Count; ++I) {
        std::span<const std::byte> Before = Rest;
        if (takeString(""))
          continue;
        // Again, for an error that names it.
        Rest = Before;
        return takeString("field " +
                          printable(Value.IsArray
                                        ? Key + "[" + std::to_string(I) + "]"
                                        : Key))
            .error();
      }
    } else {
      if (Value.Count > Rest.size() / Size)
        return tooMany(Where, Value, Size);
      Rest = Rest.subspan(Value.Count * Size);
    }
    Value.Bytes = Begin.subspan(0, Begin.size() - Rest.size());
    return {};
  }

  Error tooMany(const std::string &Where, const GgufValue &Value,
                uint64_t Size) const {
    if (!Value.IsArray)
      return truncated(Where, Size);
    return Error(Path + ": " + Where + ": number of elements is " +
                 std::to_string(Value.Count) + ": expected at most " +
                 std::to_string(Rest.size() / Size) +
                 ", for which the file has room");
  }

  Status readTensor(uint64_t Index, uint64_t Alignment) {
    std::string Where = "tensor " + std::to_string(Index);
    auto Name = takeString(Where + ": name");
    if (!Name)
      return Name.error();
    if (Status S = checkName(*Name, MaxTensorName, Path + ": " + Where); !S)
      return S;
    GgufTensor Tensor;
    Tensor.Name = *Name;
    Where = "tensor " + printable(Tensor.Name);
    auto Dims = take<uint32_t>(Where + ": number of dimensions");
    if (!Dims)
      return Dims.error();
    if (*Dims < 1 || *Dims > MaxGgufDims)
      return Error(Path + ": " + Where + ": number of dimensions is " +
                   std::to_string(*Dims) + ": expected 1 to " +
                   std::to_string(MaxGgufDims));
    int64_t Elements = 1;
    for (uint32_t I = 0; I < *Dims; ++I) {
      auto Dim = take<int64_t>(Where + ": dimensions");
      if (!Dim)
        return Dim.error();
      if (*Dim < 1 || __builtin_mul_overflow(Elements, *Dim, &Elements))
        return Error(Path + ": " + Where + ": dimension " + std::to_string(I) +
                     " is " + std::to_string(*Dim) +
                     ": expected at least 1, and a product below 2^63");
      Tensor.Shape.push_back(*Dim);
    }
    auto Type = take<uint32_t>(Where + ": type");
    if (!Type)
      return Type.error();
    std::string_view TypeName =
        *Type < std::size(TensorTypes) ? TensorTypes[*Type] : "";
    Tensor.Format = storedFormat(TypeName);
    if (!Tensor.Format) {
      std::string Read;
      for (const StoredFormat &Format : storedFormats())
        Read.append(Read.empty() ? "" : ", ").append(Format.Name);
      return Error(Path + ": " + Where + ": type is " +
                   (TypeName.empty()
                        ? std::to_string(*Type)
                        : std::string(TypeName) + ", which is not read yet") +
                   ": expected one of " + Read +
                   (TypeName.empty()
                        ? ""
                        : " (llama-quantize --allow-requantize FILE "
                          "NEW.gguf Q8_0 converts it)"));
    }
    if (Tensor.Shape[0] % Tensor.Format->Elements != 0)
      return Error(Path + ": " + Where + ": dimension 0 is " +
                   std::to_string(Tensor.Shape[0]) +
                   ": expected a multiple of " +
                   std::to_string(Tensor.Format->Elements) + ", the block of " +
                   std::string(TypeName));
    uint64_t Bytes;
    if (__builtin_mul_overflow(uint64_t(Elements) / Tensor.Format->Elements,
                               uint64_t(Tensor.Format->Bytes), &Bytes))
      return Error(Path + ": " + Where + ": shape is " +
                   shapeText(Tensor.Shape) +
                   ": expected one of less than 2^64 bytes");
    auto Offset = take<uint64_t>(Where + ": offset");
    if (!Offset)
      return Offset.error();
    if (*Offset % Alignment != 0)
      return Error(Path + ": " + Where + ": offset is " +
                   std::to_string(*Offset) + ": expected a multiple of " +
                   std::to_string(Alignment) + ", the alignment");
    std::reverse(Tensor.Shape.begin(), Tensor.Shape.end());
    if (!Into.TensorIndex.emplace(Tensor.Name, Index).second)
      return Error(Path + ": duplicate " + Where);
    Into.Tensors.push_back(std::move(Tensor));
    Places.push_back({*Offset, Bytes});
    return {};
  }

  Status placeTensors(std::span<const std::byte> Data) {
    std::vector<size_t> Order(Places.size());
    for (size_t I = 0; I < Order.size(); ++I) {
      Order[I] = I;
      auto [Offset, Bytes] = Places[I];
      if (Offset > Data.size() || Bytes > Data.size() - Offset)
        return Error(Path + ": tensor " + printable(Into.Tensors[I].Name) +
                     ": has " + std::to_string(Bytes) + " bytes at offset " +
                     std::to_string(Offset) + ": expected them within " +
                     std::to_string(Data.size()) + " bytes of data");
      Into.Tensors[I].Bytes = Data.subspan(Offset, Bytes);
      Into.Tensors[I].File = Into.Files.front().get();
    }
    std::sort(Order.begin(), Order.end(), [&](size_t A, size_t B) {
      return Places[A].Offset < Places[B].Offset;
    });
    for (size_t I = 1; I < Order.size(); ++I) {
      const Place &Before = Places[Order[I - 1]], &This = Places[Order[I]];
      if (This.Offset < Before.Offset + Before.Bytes)
        return Error(Path + ": tensor " +
                     printable(Into.Tensors[Order[I]].Name) + ": offset is " +
                     std::to_string(This.Offset) + ": expected at least " +
                     std::to_string(Before.Offset + Before.Bytes) +
                     ", the end of tensor " +
                     printable(Into.Tensors[Order[I - 1]].Name));
    }
    return {};
  }

  struct Place {
    uint64_t Offset, Bytes;
  };

  GgufFile &Into;
  std::string Path;
  std::span<const std::byte> Rest;
  uint64_t TensorCount = 0, KeyCount = 0;
  std::vector<Place> Places;
};

} // namespace tenon

Result<GgufFile> GgufFile::openPart(const std::string &Path) {
  auto Mapped = MappedFile::open(Path);
  if (!Mapped)
    return Mapped.error();
  GgufFile Opened(std::make_unique<MappedFile>(std::move(*Mapped)));
  if (Status S = GgufReader(Opened).read(); !S)
    return S.error();
  return Opened;
}

Result<GgufFile> GgufFile::open(const std::string &Path) {
  auto Opened = openPart(Path);
  if (Opened && Opened->has(SplitCount))
    if (Status Added = Opened->addParts(); !Added)
      return Added.error();
  return Opened;
}

/// "-00002-of-00003.gguf".
static std::string partSuffix(int64_t Number, int64_t Count) {
  char Text[64];
  std::snprintf(Text, sizeof(Text), "-%05d-of-%05d.gguf",
                static_cast<int>(Number), static_cast<int>(Count));
  return Text;
}

std::vector<std::string> tenon::ggufPartsOf(const std::string &Path) {
  size_t Length = partSuffix(1, 1).size();
  int Number = 0, Count = 0;
  if (Path.size() <= Length ||
      std::sscanf(Path.c_str() + Path.size() - Length, "-%5d-of-%5d", &Number,
                  &Count) != 2 ||
      Number < 1 || Number > Count ||
      !Path.ends_with(partSuffix(Number, Count)))
    return {Path};
  std::string Stem = Path.substr(0, Path.size() - Length);
  std::vector<std::string> Parts;
  for (int I = 1; I <= Count; ++I)
    Parts.push_back(Stem + partSuffix(I, Count));
  return Parts;
}

Status GgufFile::addParts() {
  auto Count = integer(SplitCount, 0, MaxGgufParts);
  if (!Count)
    return Count.error();
  if (*Count <= 1)
    return {};
  auto Number = integer(SplitNumber, 0, *Count - 1);
  if (!Number)
    return Number.error();
  std::vector<std::string> Names = ggufPartsOf(Path);
  std::string Place = Path + ": is part " + std::to_string(*Number + 1) +
                      " of " + std::to_string(*Count) + ": expected ";
  if (Names.size() != static_cast<size_t>(*Count) ||
      Names[static_cast<size_t>(*Number)] != Path)
    return Error(Place + "a name that ends in " +
                 partSuffix(*Number + 1, *Count));
  if (*Number != 0)
    return Error(Place + "the first, " + Names.front());
  for (int64_t I = 1; I < *Count; ++I) {
    auto Part = openPart(Names[static_cast<size_t>(I)]);
    if (!Part)
      return Part.error();
    auto PartNumber = Part->integer(SplitNumber, I, I);
    if (!PartNumber)
      return PartNumber.error();
    if (auto Parts = Part->integer(SplitCount, *Count, *Count); !Parts)
      return Parts.error();
    if (Tensors.size() + Part->Tensors.size() > MaxTensors)
      return Error(Part->Path + ": has more tensors than " +
                   std::to_string(MaxTensors) + " with the parts before it");
    for (GgufTensor &Tensor : Part->Tensors) {
      if (!TensorIndex.try_emplace(Tensor.Name, Tensors.size()).second)
        return Error(Part->Path + ": tensor " + printable(Tensor.Name) +
                     " is in a part before it too: expected it once");
      Tensors.push_back(std::move(Tensor));
    }
    Files.push_back(std::move(Part->Files.front()));
  }
  constexpr const char *TensorTotal = "split.tensors.count";
  auto Total = static_cast<int64_t>(Tensors.size());
  if (has(TensorTotal))
    if (auto Same = integer(TensorTotal, Total, Total); !Same)
      return Same.error();
  return {};
}

Status GgufFile::checkUnchanged() const {
  for (const auto &File : Files)
    if (Status Same = File->checkUnchanged(); !Same)
      return Same;
  return {};
}

const GgufValue *GgufFile::find(const std::string &Key) const {
  auto Found = Values.find(Key);
  return Found == Values.end() ? nullptr : &Found->second;
}

const GgufTensor *GgufFile::findTensor(const std::string &Name) const {
  auto Found = TensorIndex.find(Name);
  return Found == TensorIndex.end() ? nullptr : &Tensors[Found->second];
}

Error GgufFile::expected(const std::string &Key,
                         std::string_view Expected) const {
  const GgufValue *Value = find(Key);
  return Error(Path +
               (Value ? ": field " + printable(Key) + " is " + describe(*Value)
                      : ": missing field " + printable(Key)) +
               ": expected " + std::string(Expected));
}

const GgufValue *GgufFile::single(const std::string &Key) const {
  const GgufValue *Value = find(Key);
  return Value && !Value->IsArray ? Value : nullptr;
}

Result<int64_t> GgufFile::integer(const std::string &Key, int64_t Min,
                                  int64_t Max) const {
  const GgufValue *Value = single(Key);
  auto Stored = Value ? numberAt(Value->Type, Value->Bytes.data())
                      : std::optional<Number>();
  if (auto Whole = Stored ? inRange(*Stored, Min, Max) : std::nullopt)
    return *Whole;
  return expected(Key, wholeNumber(Min, Max));
}

Result<double> GgufFile::number(const std::string &Key) const {
  const GgufValue *Value = single(Key);
  auto Stored = Value ? numberAt(Value->Type, Value->Bytes.data())
                      : std::optional<Number>();
  if (Stored && !std::holds_alternative<bool>(*Stored)) {
    double Wide = std::visit([](auto V) { return double(V); }, *Stored);
    if (std::isfinite(Wide))
      return Wide;
  }
  return expected(Key, "a finite number");
}

Result<bool> GgufFile::boolean(const std::string &Key) const {
  const GgufValue *Value = single(Key);
  if (Value && Value->Type == GgufType::Bool)
    return load<uint8_t>(Value->Bytes.data()) != 0;
  return expected(Key, "true or false");
}

Result<std::string> GgufFile::string(const std::string &Key) const {
  const GgufValue *Value = single(Key);
  if (Value && Value->Type == GgufType::String)
    return std::string(viewOf(Value->Bytes.subspan(8)));
  return expected(Key, "a string");
}

Result<uint64_t> GgufFile::arraySize(const std::string &Key,
                                     bool OfStrings) const {
  const GgufValue *Value = find(Key);
  if (Value && Value->IsArray && (Value->Type == GgufType::String) == OfStrings)
    return Value->Count;
  return expected(Key,
                  OfStrings ? "an array of strings" : "an array of numbers");
}

/// The numbers of an array, each by `Convert`, which may refuse one.
template <typename T, typename Function>
static Result<std::vector<T>>
convertNumbers(const GgufFile &File, const std::string &Key,
               std::string_view Expected, Function Convert) {
  auto Size = File.arraySize(Key, /*OfStrings=*/false);
  if (!Size)
    return Size.error();
  const GgufValue &Value = *File.find(Key);
  std::vector<T> Numbers;
  Numbers.reserve(*Size);
  uint64_t Stride = sizeOfValue(Value.Type);
  for (uint64_t I = 0; I < *Size; ++I) {
    Number Stored = *numberAt(Value.Type, Value.Bytes.data() + I * Stride);
    std::optional<T> Converted = Convert(Stored);
    if (!Converted)
      return Error(File.path() + ": field '" + Key + "[" + std::to_string(I) +
                   "]' is " + textOf(Stored) + ": expected " +
                   std::string(Expected));
    Numbers.push_back(*Converted);
  }
  return Numbers;
}

Result<std::vector<int64_t>> GgufFile::integers(const std::string &Key) const {
  return convertNumbers<int64_t>(
      *this, Key, "a whole number of 63 bits",
      [](const Number &N) { return inRange(N, INT64_MIN, INT64_MAX); });
}

Result<std::vector<double>> GgufFile::numbers(const std::string &Key) const {
  return convertNumbers<double>(
      *this, Key, "a finite number", [](const Number &N) {
        double Wide = std::visit([](auto V) { return double(V); }, N);
        return std::isfinite(Wide) ? std::optional(Wide) : std::nullopt;
      });
}

Result<std::vector<bool>> GgufFile::booleans(const std::string &Key) const {
  return convertNumbers<bool>(*this, Key, "true or false", [](const Number &N) {
    auto *Flag = std::get_if<bool>(&N);
    return Flag ? std::optional(*Flag) : std::nullopt;
  });
}

Result<std::vector<std::string_view>>
GgufFile::strings(const std::string &Key) const {
  auto Size = arraySize(Key, /*OfStrings=*/true);
  if (!Size)
    return Size.error();
  std::vector<std::string_view> Views;
  Views.reserve(*Size);
  std::span<const std::byte> Rest = find(Key)->Bytes;
  // The reader has checked that all of them are there, unless the file has
  // changed since.
  for (uint64_t I = 0; I < *Size; ++I) {
    uint64_t Length = Rest.size() < 8 ? 0 : load<uint64_t>(Rest.data());
    if (Rest.size() < 8 || Length > Rest.size() - 8)
      return Error(path() + ": key " + printable(Key) +
                   ": changed while it was read");
    Views.push_back(viewOf(Rest.subspan(8, Length)));
    Rest = Rest.subspan(8 + Length);
  }
  return Views;
}
