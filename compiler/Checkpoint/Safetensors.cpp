//===- Safetensors.cpp - One .safetensors file ----------------------------===//
//
// The format: the header's length as 8 bytes little-endian, a JSON object
// {name: {"dtype", "shape", "data_offsets": [begin, end]}, "__metadata__"?},
// then the data that the offsets count from.
//
//===----------------------------------------------------------------------===//

#include "compiler/Checkpoint/Safetensors.h"

#include "compiler/Checkpoint/JsonEvents.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <set>

using namespace tenon;

Status TensorSource::readBlocks(int64_t, int64_t, std::byte *) const {
  return Error("the elements are not stored in blocks");
}

namespace {

/// The types of the format and their sizes; some take less than a byte.
struct StoredTypeBits {
  std::string_view Name;
  unsigned Bits;
};
constexpr StoredTypeBits KnownTypes[] = {
    {"F32", 32},    {"F16", 16},    {"BF16", 16},   {"F64", 64},
    {"I64", 64},    {"I32", 32},    {"I16", 16},    {"I8", 8},
    {"U64", 64},    {"U32", 32},    {"U16", 16},    {"U8", 8},
    {"BOOL", 8},    {"C64", 64},    {"F8_E4M3", 8}, {"F8_E5M2", 8},
    {"F8_E8M0", 8}, {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F4", 4}};

std::optional<unsigned> bitsOf(std::string_view StoredType) {
  for (const StoredTypeBits &Known : KnownTypes)
    if (Known.Name == StoredType)
      return Known.Bits;
  return std::nullopt;
}

/// A tensor as the header describes it.
struct Entry {
  std::string Name;
  std::string StoredType;
  std::vector<int64_t> Shape;
  uint64_t Begin = 0, End = 0;
};

/// Collects the header's entries, checking each by itself.
class HeaderReader final : public JsonEvents {
public:
  HeaderReader(std::string Path, uint64_t DataSize)
      : Path(std::move(Path)), DataSize(DataSize) {}

  Status open(char Bracket) override {
    if (Where == Place::Before) {
      Where = Place::Top;
      return {};
    }
    if (Where == Place::Top && Bracket == '{') {
      Where = Key == "__metadata__" ? Place::Metadata : Place::Tensor;
      return Where == Place::Tensor ? beginTensor() : Status();
    }
    if (Where == Place::Tensor && Bracket == '[' && Key != "dtype") {
      Where = Place::List;
      List.clear();
      return {};
    }
    return unexpected(Bracket == '{' ? "an object" : "an array");
  }

  Status close() override {
    if (Where == Place::List) {
      Where = Place::Tensor;
      return takeList();
    }
    if (Where == Place::Tensor) {
      Where = Place::Top;
      return finishTensor();
    }
    if (Where == Place::Metadata)
      Where = Place::Top;
    return {};
  }

  Status key(std::string &NewKey) override {
    Key = std::move(NewKey);
    if (Where == Place::Metadata) {
      if (!MetadataKeys.insert(Key).second)
        return Error(Path + ": duplicate metadata key " + printable(Key));
      return {};
    }
    if (Where == Place::Tensor) {
      bool *Seen = Key == "dtype"          ? &HasType
                   : Key == "shape"        ? &HasShape
                   : Key == "data_offsets" ? &HasOffsets
                                           : nullptr;
      if (!Seen)
        return Error(context() + ": unknown field " + printable(Key) +
                     ": expected dtype, shape and data_offsets");
      if (*Seen)
        return Error(context() + ": duplicate field " + printable(Key));
      *Seen = true;
      return {};
    }
    if (Key != "__metadata__")
      return checkName(Key, MaxTensorName,
                       Path + ": tensor " + std::to_string(Entries.size()));
    if (HasMetadata)
      return Error(Path + ": duplicate field '__metadata__'");
    HasMetadata = true;
    return {};
  }

  Status scalar(const Json &Value) override {
    if (Where == Place::Metadata && Value.is_string())
      return {};
    if (Where == Place::Tensor && Key == "dtype" && Value.is_string()) {
      Entry &Tensor = Entries.back();
      Tensor.StoredType = Value.get_ref<const std::string &>();
      if (!bitsOf(Tensor.StoredType))
        return JsonField(Value, context(), Key)
            .expected("a type of the safetensors format");
      return {};
    }
    if (Where == Place::List) {
      bool IsShape = Key == "shape";
      if (List.size() == (IsShape ? MaxTensorDims : 2))
        return Error(context() + ": field '" + Key + "' has more than " +
                     std::to_string(List.size()) +
                     (IsShape ? " dimensions" : " values"));
      JsonField Field(Value, context(),
                      Key + "[" + std::to_string(List.size()) + "]");
      Result<int64_t> Number = Field.asInteger(IsShape ? 1 : 0, INT64_MAX);
      if (!Number)
        return Number.error();
      List.push_back(*Number);
      return {};
    }
    return unexpected(Value.is_string() ? "a string" : Value.dump());
  }

  std::vector<Entry> Entries;

private:
  enum class Place { Before, Top, Metadata, Tensor, List };

  std::string context() const {
    return Path + ": tensor " + printable(Entries.back().Name);
  }

  /// The error of a value of the wrong kind.
  Error unexpected(const std::string &Found) const {
    if (Where == Place::Before)
      return Error(Path + ": header is " + Found + ": expected an object");
    if (Where == Place::Metadata)
      return Error(Path + ": metadata field " + printable(Key) + " is " +
                   Found + ": expected a string");
    if (Where == Place::Top)
      return Error(Path + ": field " + printable(Key) + " is " + Found +
                   ": expected an object");
    return Error(context() + ": field '" + Key + "' is " + Found +
                 ": expected " +
                 (Key == "dtype" ? "a string" : "an array of whole numbers"));
  }

  Status beginTensor() {
    if (Entries.size() == MaxTensors)
      return Error(Path + ": has more than " + std::to_string(MaxTensors) +
                   " tensors");
    HasType = HasShape = HasOffsets = false;
    Entries.emplace_back().Name = Key;
    return {};
  }

  Status takeList() {
    Entry &Tensor = Entries.back();
    if (Key == "shape") {
      Tensor.Shape = List;
      return {};
    }
    if (List.size() != 2 || List[0] > List[1] ||
        static_cast<uint64_t>(List[1]) > DataSize)
      return Error(context() + ": field 'data_offsets' is " + shapeText(List) +
                   ": expected [begin, end] with begin <= end <= " +
                   std::to_string(DataSize) + ", the size of the data");
    Tensor.Begin = static_cast<uint64_t>(List[0]);
    Tensor.End = static_cast<uint64_t>(List[1]);
    return {};
  }

  Status finishTensor() {
    const Entry &Tensor = Entries.back();
    for (auto [Has, Name] : {std::pair(HasType, "dtype"),
                             {HasShape, "shape"},
                             {HasOffsets, "data_offsets"}})
      if (!Has)
        return Error(context() + ": missing field '" + Name + "'");
    uint64_t Bits = *bitsOf(Tensor.StoredType);
    bool Overflows = false;
    for (int64_t Dim : Tensor.Shape)
      Overflows |=
          __builtin_mul_overflow(Bits, static_cast<uint64_t>(Dim), &Bits);
    if (Overflows)
      return Error(context() + ": field 'shape' is " + shapeText(Tensor.Shape) +
                   ": expected a product of dimensions below 2^64 bits");
    std::string Layout =
        "shape " + shapeText(Tensor.Shape) + " of " + Tensor.StoredType;
    if (Bits % 8 != 0)
      return Error(context() + ": " + Layout + " is " + std::to_string(Bits) +
                   " bits: expected whole bytes");
    if (Tensor.End - Tensor.Begin != Bits / 8)
      return Error(context() + ": field 'data_offsets' spans " +
                   std::to_string(Tensor.End - Tensor.Begin) +
                   " bytes: expected " + std::to_string(Bits / 8) + " for " +
                   Layout);
    return {};
  }

  std::string Path;
  uint64_t DataSize;
  Place Where = Place::Before;
  std::string Key;
  std::vector<int64_t> List;
  std::set<std::string> MetadataKeys;
  bool HasMetadata = false;
  bool HasType = false, HasShape = false, HasOffsets = false;
};

/// Checks that the tensors, in the order of their data, touch each other and
/// fill `DataSize` bytes.
Status checkLayout(const std::vector<Entry> &Entries, uint64_t DataSize,
                   const std::string &Path) {
  std::vector<const Entry *> ByOffset;
  ByOffset.reserve(Entries.size());
  for (const Entry &Tensor : Entries)
    ByOffset.push_back(&Tensor);
  std::sort(ByOffset.begin(), ByOffset.end(),
            [](const Entry *A, const Entry *B) { return A->Begin < B->Begin; });
  uint64_t Filled = 0;
  for (const Entry *Tensor : ByOffset) {
    if (Tensor->Begin != Filled)
      return Error(Path + ": tensor " + printable(Tensor->Name) +
                   ": data begins at " + std::to_string(Tensor->Begin) +
                   (Tensor->Begin < Filled ? " and overlaps the tensor before"
                                           : " and leaves a gap") +
                   ": expected " + std::to_string(Filled));
    Filled = Tensor->End;
  }
  if (Filled != DataSize)
    return Error(Path + ": has " + std::to_string(DataSize) +
                 " bytes of data: expected the " + std::to_string(Filled) +
                 " that its tensors take");
  return {};
}

} // namespace

std::string tenon::shapeText(std::span<const int64_t> Shape) {
  std::string Text = "[";
  for (size_t I = 0; I < Shape.size(); ++I)
    Text += (I ? ", " : "") + std::to_string(Shape[I]);
  return Text + "]";
}

Status tenon::checkName(std::string_view Name, size_t MaxBytes,
                        const std::string &Where) {
  if (Name.empty() || Name.size() > MaxBytes)
    return Error(Where + ": name has " + std::to_string(Name.size()) +
                 " bytes: expected 1 to " + std::to_string(MaxBytes));
  for (size_t I = 0; I < Name.size(); ++I) {
    auto Byte = static_cast<unsigned char>(Name[I]);
    unsigned Control = Byte;
    // U+0080 to U+009F, which terminals obey too, are C2 80 to C2 9F.
    if (Byte == 0xc2 && I + 1 < Name.size() &&
        static_cast<unsigned char>(Name[I + 1]) < 0xa0)
      Control = static_cast<unsigned char>(Name[I + 1]);
    else if (Byte >= 0x20 && Byte != 0x7f)
      continue;
    char Code[16];
    std::snprintf(Code, sizeof(Code), "U+%04X", Control);
    return Error(Where + ": name has the control character " + Code +
                 " at byte " + std::to_string(I));
  }
  return {};
}

Status tenon::refuseGitLfsPointer(std::string_view Content,
                                  const std::string &Path) {
  if (Content.starts_with("version https://git-lfs.github.com/spec/"))
    return Error(Path + ": is a Git LFS pointer, not the file itself: expected "
                        "the downloaded file (git lfs pull)");
  return {};
}

Result<SafetensorsFile> SafetensorsFile::open(const std::string &Path) {
  Result<MappedFile> Mapped = MappedFile::open(Path);
  if (!Mapped)
    return Mapped.error();
  SafetensorsFile Opened(std::make_unique<MappedFile>(std::move(*Mapped)));
  std::span<const std::byte> Bytes = Opened.File->bytes();
  std::string_view Content(reinterpret_cast<const char *>(Bytes.data()),
                           Bytes.size());
  if (Status Pointer = refuseGitLfsPointer(Content, Path); !Pointer)
    return Pointer.error();
  if (Bytes.size() < 8)
    return Error(Path + ": is " + std::to_string(Bytes.size()) +
                 " bytes long: expected a safetensors file of at least 8");
  uint64_t HeaderSize = 0;
  for (int I = 7; I >= 0; --I)
    HeaderSize = HeaderSize << 8 | static_cast<uint8_t>(Bytes[I]);
  uint64_t Limit = std::min<uint64_t>(MaxSafetensorsHeader, Bytes.size() - 8);
  if (HeaderSize > Limit)
    return Error(
        Path + ": header length is " + std::to_string(HeaderSize) +
        ": expected at most " + std::to_string(Limit) +
        (Limit < MaxSafetensorsHeader ? ", the rest of the file" : ""));
  // The format asks for the brace, so that no byte order mark or blank hides.
  std::string_view Header = Content.substr(8, HeaderSize);
  if (!Header.starts_with('{'))
    return Error(Path + ": header does not begin with '{': expected a JSON "
                        "object");

  uint64_t DataSize = Bytes.size() - 8 - HeaderSize;
  HeaderReader Reader(Path, DataSize);
  if (Status Read = readJsonEvents(Header, Path, Reader); !Read)
    return Read.error();
  std::vector<Entry> &Entries = Reader.Entries;
  std::sort(Entries.begin(), Entries.end(),
            [](const Entry &A, const Entry &B) { return A.Name < B.Name; });
  for (size_t I = 1; I < Entries.size(); ++I)
    if (Entries[I].Name == Entries[I - 1].Name)
      return Error(Path + ": duplicate tensor " + printable(Entries[I].Name));
  if (Status Layout = checkLayout(Entries, DataSize, Path); !Layout)
    return Layout.error();

  std::span<const std::byte> Data = Bytes.subspan(8 + HeaderSize);
  Opened.Tensors.reserve(Entries.size());
  for (Entry &From : Entries) {
    TensorInfo &To = Opened.Tensors.emplace_back();
    To.Name = std::move(From.Name);
    To.StoredType = std::move(From.StoredType);
    To.Shape = std::move(From.Shape);
    To.File = Opened.File.get();
    To.Stored = Data.subspan(From.Begin, From.End - From.Begin);
    if (!To.isFloat())
      continue;
    To.Type = To.StoredType == "F32"   ? ElementType::F32
              : To.StoredType == "F16" ? ElementType::F16
                                       : ElementType::BF16;
    To.Bytes = To.Stored;
  }
  return Opened;
}
