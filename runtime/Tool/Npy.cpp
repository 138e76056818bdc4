//===- Npy.cpp - NumPy's array files --------------------------------------===//

#include "runtime/Tool/Npy.h"

#include "runtime/Support/InputFile.h"
#include "runtime/Support/Json.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

using namespace tenon;
using namespace tenon::tool;

static_assert(std::endian::native == std::endian::little,
              "arrays are copied byte for byte");

static constexpr std::string_view Magic = "\x93NUMPY";
static constexpr uint64_t MaxFileBytes = uint64_t(1) << 32;
static constexpr size_t MaxDimensions = 8;

namespace {

/// Reads the header, a Python dictionary such as
/// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
class HeaderReader {
public:
  explicit HeaderReader(std::string_view Text) : Text(Text) {}

  std::string Descr;
  bool HasDescr = false, HasOrder = false, HasShape = false;
  bool Fortran = false;
  std::vector<int64_t> Shape;

  /// An empty string, or what is wrong.
  std::string read() {
    if (!take('{'))
      return "is no dictionary";
    while (!take('}')) {
      std::string Key;
      if (!quoted(Key) || !take(':'))
        return "has no 'key': value pair where one is expected";
      bool Good = Key == "descr" && !HasDescr ? (HasDescr = quoted(Descr))
                  : Key == "fortran_order" && !HasOrder ? (HasOrder = boolean())
                  : Key == "shape" && !HasShape         ? (HasShape = tuple())
                                                        : false;
      if (!Good)
        return "has key " + printable(Key) +
               ", unknown, repeated or with a bad value";
      if (!take(',') && peek() != '}')
        return "lacks a comma or '}'";
    }
    if (!HasDescr || !HasOrder || !HasShape)
      return "lacks one of descr, fortran_order, shape";
    peek();
    return Text.empty() ? "" : "goes on after its end";
  }

private:
  char peek() {
    size_t Skip = Text.find_first_not_of(" \t\n\r");
    Text.remove_prefix(Skip == Text.npos ? Text.size() : Skip);
    return Text.empty() ? '\0' : Text.front();
  }
  bool take(char C) {
    if (peek() != C || Text.empty())
      return false;
    Text.remove_prefix(1);
    return true;
  }
  bool quoted(std::string &Out) {
    char Quote = peek();
    if (Quote != '\'' && Quote != '"')
      return false;
    size_t End = Text.find(Quote, 1);
    if (End == Text.npos)
      return false;
    Out = Text.substr(1, End - 1);
    Text.remove_prefix(End + 1);
    return true;
  }
  bool boolean() {
    peek();
    for (bool Value : {false, true}) {
      std::string_view Word = Value ? "True" : "False";
      if (Text.starts_with(Word)) {
        Text.remove_prefix(Word.size());
        Fortran = Value;
        return true;
      }
    }
    return false;
  }
  bool tuple() {
    if (!take('('))
      return false;
    while (!take(')')) {
      int64_t Value = 0;
      size_t Digits = 0;
      peek();
      for (; Digits < Text.size() && Text[Digits] >= '0' && Text[Digits] <= '9';
           ++Digits)
        if (__builtin_mul_overflow(Value, 10, &Value) ||
            __builtin_add_overflow(Value, Text[Digits] - '0', &Value))
          return false;
      if (Digits == 0 || Shape.size() == MaxDimensions)
        return false;
      Text.remove_prefix(Digits);
      Shape.push_back(Value);
      if (!take(',') && peek() != ')')
        return false;
    }
    return true;
  }

  std::string_view Text;
};

} // namespace

template <typename T>
static void copyElements(std::string_view Data, auto &Out) {
  Out.resize(Data.size() / sizeof(T));
  for (size_t I = 0; I < Out.size(); ++I) {
    T Value;
    std::memcpy(&Value, Data.data() + I * sizeof(T), sizeof(T));
    Out[I] = Value;
  }
}

Result<NpyArray> tool::parseNpy(std::string_view Bytes,
                                const std::string &File) {
  auto Fail = [&](const std::string &What) {
    return Error(File + ": not a readable .npy file: " + What);
  };
  if (!Bytes.starts_with(Magic) || Bytes.size() < 10)
    return Fail("expected it to begin with \\x93NUMPY");
  auto Byte = [&](size_t I) {
    return static_cast<size_t>(static_cast<unsigned char>(Bytes[I]));
  };
  size_t Version = Byte(6), Start = Version == 1 ? 10 : 12;
  if (Version < 1 || Version > 3)
    return Fail("version is " + std::to_string(Version) + ": expected 1 to 3");
  if (Bytes.size() < Start)
    return Fail("header is truncated");
  size_t Length = Byte(8) | Byte(9) << 8;
  if (Version != 1)
    Length |= Byte(10) << 16 | Byte(11) << 24;
  if (Length > Bytes.size() - Start)
    return Fail("header length is " + std::to_string(Length) +
                ": expected at most " + std::to_string(Bytes.size() - Start));
  HeaderReader Header(Bytes.substr(Start, Length));
  if (std::string Problem = Header.read(); !Problem.empty())
    return Fail("header " + Problem);
  if (Header.Fortran)
    return Fail("fortran_order is True: expected False");
  size_t Size = Header.Descr == "<i8"                            ? 8
                : Header.Descr == "<i4" || Header.Descr == "<f4" ? 4
                                                                 : 0;
  if (Size == 0)
    return Fail("descr is " + printable(Header.Descr) +
                ": expected '<f4', '<i4' or '<i8'");
  uint64_t Expected = Size;
  for (int64_t Dimension : Header.Shape)
    if (__builtin_mul_overflow(Expected, static_cast<uint64_t>(Dimension),
                               &Expected))
      return Fail("shape overflows");
  std::string_view Data = Bytes.substr(Start + Length);
  if (Data.size() != Expected)
    return Fail("data is " + std::to_string(Data.size()) +
                " bytes long: expected " + std::to_string(Expected));
  NpyArray Array;
  Array.Shape = Header.Shape;
  if (Header.Descr == "<i8")
    copyElements<int64_t>(Data, Array.Integers);
  else if (Header.Descr == "<i4")
    copyElements<int32_t>(Data, Array.Integers);
  else
    copyElements<float>(Data, Array.Floats);
  return Array;
}

Result<NpyArray> tool::readNpy(const std::string &Path) {
  Result<std::string> Bytes = readFile(Path, MaxFileBytes);
  if (!Bytes)
    return Bytes.error();
  return parseNpy(*Bytes, Path);
}

/// All before the data of a [Rows, Columns] array. It is as long as that of an
/// array of `Room` rows, if there is less to say.
static std::string headerOf(int64_t Rows, int64_t Columns, int64_t Room = 0) {
  auto TextOf = [&](int64_t Count) {
    return "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
           std::to_string(Count) + ", " + std::to_string(Columns) + "), }";
  };
  std::string Header = TextOf(Rows);
  // The data begins at a multiple of 64 bytes; the header ends in a newline.
  constexpr size_t Preamble = 10;
  size_t Longest = std::max(Header.size(), TextOf(Room).size());
  size_t Whole = (Preamble + Longest + 1 + 63) / 64 * 64;
  Header.resize(Whole - Preamble - 1, ' ');
  Header += '\n';
  std::string Start(Magic);
  Start += '\1';
  Start += '\0';
  Start += static_cast<char>(Header.size() & 0xff);
  Start += static_cast<char>(Header.size() >> 8);
  Start += Header;
  return Start;
}

Result<NpyWriter> NpyWriter::create(OutputFile File, int64_t Rows,
                                    int64_t Columns) {
  uint64_t Count = 0;
  if (Rows < 0 || Columns < 0 ||
      __builtin_mul_overflow(static_cast<uint64_t>(Rows),
                             static_cast<uint64_t>(Columns), &Count))
    return Error(File.path() + ": shape is [" + std::to_string(Rows) + "," +
                 std::to_string(Columns) +
                 "]: expected sizes whose product fits 64 bits");
  if (Status Written = File.append(headerOf(Rows, Columns)); !Written)
    return Written.error();
  return NpyWriter(std::move(File), Count);
}

// What a growing array has room for.
static constexpr int64_t MostRows = std::numeric_limits<int64_t>::max();
static constexpr uint64_t MostValues = std::numeric_limits<uint64_t>::max();

Result<NpyWriter> NpyWriter::createGrowing(OutputFile File, int64_t Columns) {
  if (Status Written = File.append(headerOf(0, Columns, MostRows)); !Written)
    return Written.error();
  NpyWriter Writer(std::move(File), MostValues);
  Writer.Columns = Columns;
  return Writer;
}

Status NpyWriter::append(std::span<const float> Values) {
  if (Values.size() > Missing)
    return Error(File.path() + ": " + std::to_string(Values.size()) +
                 " more values: expected at most " + std::to_string(Missing));
  Missing -= Values.size();
  return File.append(std::as_bytes(Values));
}

Status NpyWriter::finish() {
  if (Columns) {
    auto Width = static_cast<uint64_t>(*Columns);
    uint64_t Appended = MostValues - Missing;
    if (Appended % Width != 0)
      return Error(File.path() + ": " + std::to_string(Appended) +
                   " values: expected rows of " + std::to_string(Width));
    std::string Header =
        headerOf(static_cast<int64_t>(Appended / Width), *Columns, MostRows);
    if (Status Written = File.overwrite(0, std::as_bytes(std::span(Header)));
        !Written)
      return Written;
    return File.finish();
  }
  if (Missing != 0)
    return Error(File.path() + ": " + std::to_string(Missing) +
                 " values missing");
  return File.finish();
}
