//===- GgufTest.cpp - Reading .gguf files ---------------------------------===//

#include "GgufFixture.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

using namespace tenon;

namespace {

class GgufTest : public TemporaryFiles {
protected:
  Result<GgufFile> open(const std::string &Bytes) const {
    return GgufFile::open(write("m.gguf", Bytes));
  }
  void expectError(const std::string &Bytes, const std::string &Text) const {
    EXPECT_ERROR(open(Bytes), pathOf("m.gguf") + ": ", Text);
  }
};

/// Two tensors and a key of every type.
GgufBytes sample() {
  GgufBytes B;
  B.text("text", "a\tb")
      .size("u32", 4000000000u)
      .real("f32", 1e-5f)
      .flag("yes", true)
      .key("i8", GgufType::Int8, GgufBytes::number<int8_t>(-3))
      .key("u8", GgufType::UInt8, GgufBytes::number<uint8_t>(200))
      .key("i16", GgufType::Int16, GgufBytes::number<int16_t>(-300))
      .key("u16", GgufType::UInt16, GgufBytes::number<uint16_t>(60000))
      .key("i32", GgufType::Int32, GgufBytes::number<int32_t>(-7))
      .key("u64", GgufType::UInt64, GgufBytes::number<uint64_t>(UINT64_MAX))
      .key("i64", GgufType::Int64, GgufBytes::number<int64_t>(-1))
      .key("f64", GgufType::Float64, GgufBytes::number(0.1))
      .key("inf", GgufType::Float32,
           GgufBytes::number(std::numeric_limits<float>::infinity()))
      .key("ids", GgufType::Array,
           GgufBytes::array<int32_t>(GgufType::Int32, {3, -4}))
      .key("names", GgufType::Array,
           GgufBytes::array<std::string>(GgufType::String, {"x", "", "yz"}))
      .key("flags", GgufType::Array,
           GgufBytes::array<uint8_t>(GgufType::Bool, {1, 0}))
      .key("none", GgufType::Array,
           GgufBytes::array<uint8_t>(GgufType::UInt8, {}));
  B.tensor("a", {3, 2}, 0, 0).tensor("b", {4}, 1, 32);
  return B;
}

std::string sampleData() {
  return rawBytes<float>({1, 2, 3, 4, 5, 6}) + std::string(8, '\0') +
         rawBytes<uint16_t>({0x3c00, 0x4000, 0x4200, 0x4400});
}

TEST_F(GgufTest, ReadsValuesOfEveryType) {
  auto File = open(sample().file(sampleData()));
  ASSERT_TRUE(File) << File.error().message();
  EXPECT_EQ(*File->string("text"), "a\tb");
  EXPECT_EQ(*File->integer("u32", 0, UINT32_MAX), 4000000000);
  EXPECT_EQ(*File->number("f32"), 1e-5);
  EXPECT_EQ(*File->boolean("yes"), true);
  EXPECT_EQ(*File->integer("i8", -128, 127), -3);
  EXPECT_EQ(*File->integer("u8", 0, 255), 200);
  EXPECT_EQ(*File->integer("i16", -1000, 0), -300);
  EXPECT_EQ(*File->integer("u16", 0, 65535), 60000);
  EXPECT_EQ(*File->integer("i32", -7, -7), -7);
  EXPECT_EQ(*File->integer("i64", -1, 0), -1);
  EXPECT_EQ(*File->number("f64"), 0.1);
  EXPECT_EQ(*File->number("u8"), 200);
  EXPECT_EQ(*File->integers("ids"), (std::vector<int64_t>{3, -4}));
  EXPECT_EQ(*File->strings("names"),
            (std::vector<std::string_view>{"x", "", "yz"}));
  EXPECT_EQ(*File->booleans("flags"), (std::vector<bool>{true, false}));
  EXPECT_EQ(*File->arraySize("none", false), 0u);

  const GgufTensor *A = File->findTensor("a"), *B = File->findTensor("b");
  ASSERT_TRUE(A && B);
  EXPECT_EQ(A->Shape, (std::vector<int64_t>{2, 3}));
  float Values[6];
  EXPECT_TRUE(decodeElements(*A->Format, A->Bytes, 1, 4, Values));
  EXPECT_EQ(Values[0], 2);
  EXPECT_EQ(Values[3], 5);
  EXPECT_TRUE(decodeElements(*B->Format, B->Bytes, 0, 4, Values));
  EXPECT_EQ(Values[3], 4);
  EXPECT_EQ(File->findTensor("c"), nullptr);
}

TEST_F(GgufTest, GettersNameFileKeyValueAndExpectation) {
  auto File = open(sample().file(sampleData()));
  ASSERT_TRUE(File) << File.error().message();
  std::string Path = pathOf("m.gguf");
  EXPECT_ERROR(File->integer("u64", 0, 9), Path,
               "field 'u64' is 18446744073709551615: expected a whole number "
               "from 0 to 9");
  EXPECT_ERROR(File->integer("f32", 0, 9), Path, "field 'f32' is 1e-05");
  EXPECT_ERROR(File->integer("yes", 0, 9), Path, "field 'yes' is true");
  EXPECT_ERROR(File->integer("ids", 0, 9), Path,
               "field 'ids' is an array of 2 × int32");
  EXPECT_ERROR(File->integer("gone", 0, 9), Path, "missing field 'gone'");
  EXPECT_ERROR(File->number("inf"), Path, "field 'inf' is inf");
  EXPECT_ERROR(File->number("yes"), Path, "a finite number");
  EXPECT_ERROR(File->boolean("u8"), Path, "true or false");
  EXPECT_ERROR(File->string("u8"), Path, "a string");
  EXPECT_ERROR(File->integer("text", 0, 1), Path, "is 'a\\x09b'");
  EXPECT_ERROR(File->strings("ids"), Path, "an array of strings");
  EXPECT_ERROR(File->numbers("names"), Path, "an array of numbers");
  EXPECT_ERROR(File->booleans("ids"), Path, "field 'ids[0]' is 3");
}

TEST_F(GgufTest, TakesVersionsAndAlignments) {
  EXPECT_TRUE(open(sample().file(sampleData(), 2)));
  for (uint32_t Version : {0u, 1u, 4u, 0xffffffffu})
    expectError(sample().file(sampleData(), Version),
                "version is " + std::to_string(Version) + ": expected 2 or 3");
  expectError(sample().file(sampleData(), 0x03000000u), "a big-endian file");

  GgufBytes Wide;
  Wide.size("general.alignment", 256).tensor("a", {1}, 0, 256);
  std::string Data(260, '\0');
  Data[259] = '\x40'; // 2 as f32.
  auto File = open(Wide.file(Data, 3, 256));
  ASSERT_TRUE(File) << File.error().message();
  float Value = 0;
  decodeElements(*File->findTensor("a")->Format, File->findTensor("a")->Bytes,
                 0, 1, &Value);
  EXPECT_EQ(Value, 2);
  for (uint32_t Alignment : {0u, 3u, 48u, 0x80000000u}) {
    GgufBytes Odd;
    Odd.size("general.alignment", Alignment);
    expectError(Odd.file(),
                "field 'general.alignment' is " + std::to_string(Alignment));
  }
  GgufBytes Text;
  expectError(Text.text("general.alignment", "32").file(),
              "field 'general.alignment' is '32': expected a whole number");
}

TEST_F(GgufTest, RefusesOtherFiles) {
  expectError("", "begins with '': expected 'GGUF'");
  expectError("ggml....", "begins with 'ggml'");
  expectError("version https://git-lfs.github.com/spec/v1\noid sha256:0",
              "Git LFS pointer");
  EXPECT_ERROR(GgufFile::open(pathOf("none.gguf")), pathOf("none.gguf"),
               "cannot open");
  EXPECT_ERROR(GgufFile::open(Directory), Directory, "not a regular file");
}

TEST_F(GgufTest, RefusesTruncationAnywhere) {
  std::string Whole = sample().file(sampleData());
  for (size_t Size = 0; Size < Whole.size(); ++Size) {
    auto File = open(Whole.substr(0, Size));
    ASSERT_FALSE(File) << Size;
    EXPECT_EQ(File.error().message().find(pathOf("m.gguf") + ": "), 0u);
  }
}

TEST_F(GgufTest, RefusesCountsBeyondTheFile) {
  auto Number = GgufBytes::number<uint64_t>;
  std::string Start = "GGUF" + GgufBytes::number<uint32_t>(3);
  std::string Rest(200, '\0');
  for (uint64_t Count : {uint64_t(1) << 63, UINT64_MAX, uint64_t(1) << 32,
                         uint64_t(1'000'001), uint64_t(20)}) {
    expectError(Start + Number(Count) + Number(0) + Rest,
                "number of tensors is " + std::to_string(Count) +
                    ": expected at most 6");
    expectError(Start + Number(0) + Number(Count) + Rest,
                "number of keys is " + std::to_string(Count) +
                    ": expected at most 14");
  }
  // Lengths of names, strings and arrays.
  for (uint64_t Count : {uint64_t(1) << 63, UINT64_MAX, uint64_t(1000)}) {
    std::string Text = std::to_string(Count);
    expectError(Start + Number(0) + Number(1) + Number(Count) + Rest,
                "key 0: length is " + Text + ": expected at most 200");
    GgufBytes B;
    expectError(B.key("k", GgufType::String, Number(Count)).file(),
                "field 'k': length is " + Text);
    GgufBytes Array;
    expectError(Array
                    .key("k", GgufType::Array,
                         GgufBytes::number(GgufType::UInt64) + Number(Count))
                    .file(),
                "field 'k': number of elements is " + Text);
    GgufBytes Strings;
    expectError(Strings
                    .key("k", GgufType::Array,
                         GgufBytes::number(GgufType::String) + Number(Count))
                    .file(),
                "field 'k': number of elements is " + Text);
    GgufBytes Inside;
    expectError(Inside
                    .key("k", GgufType::Array,
                         GgufBytes::number(GgufType::String) + Number(1) +
                             Number(Count))
                    .file(),
                "field 'k[0]': length is " + Text);
  }
}

TEST_F(GgufTest, RefusesKeys) {
  GgufBytes Twice;
  expectError(Twice.size("k", 1).size("k", 2).file(), "duplicate field 'k'");
  GgufBytes Empty;
  expectError(Empty.size("", 1).file(), "key 0: name has 0 bytes");
  GgufBytes Long;
  expectError(Long.size(std::string(1025, 'k'), 1).file(), "1025 bytes");
  GgufBytes Escape;
  expectError(Escape.size("k\x1b[2J", 1).file(), "control character U+001B");
  for (uint32_t Type : {13u, 255u, 0xffffffffu}) {
    GgufBytes B;
    expectError(B.key("k", GgufType(Type), "").file(std::string(64, '\0')),
                "field 'k': type is " + std::to_string(Type) +
                    ": expected 0 to 12");
    GgufBytes Array;
    expectError(Array
                    .key("k", GgufType::Array,
                         GgufBytes::number(Type) + std::string(8, '\0'))
                    .file(std::string(64, '\0')),
                "field 'k': type of elements is " + std::to_string(Type));
  }
  GgufBytes Nested;
  expectError(Nested
                  .key("k", GgufType::Array,
                       GgufBytes::number(GgufType::Array) +
                           GgufBytes::number<uint64_t>(1))
                  .file(std::string(64, '\0')),
              "array of arrays");
}

TEST_F(GgufTest, RefusesTensors) {
  std::string Data(4096, '\0');
  struct Case {
    std::vector<uint64_t> Dims;
    uint32_t Type;
    uint64_t Offset;
    const char *Text;
  };
  for (const Case &C : std::vector<Case>{
           {{}, 0, 0, "number of dimensions is 0: expected 1 to 4"},
           {{1, 1, 1, 1, 1}, 0, 0, "number of dimensions is 5"},
           {{0}, 0, 0, "dimension 0 is 0: expected at least 1"},
           {{1, uint64_t(1) << 63},
            0,
            0,
            "dimension 1 is -9223372036854775808"},
           {{uint64_t(1) << 32, uint64_t(1) << 32}, 0, 0, "a product below"},
           {{uint64_t(1) << 62}, 0, 0, "less than 2^64 bytes"},
           {{uint64_t(1) << 40}, 0, 0, "expected them within 4096 bytes"},
           {{32},
            9,
            0,
            "type is Q8_1, which is not read yet: expected one of F32, F16, "
            "BF16, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, "
            "IQ4_NL, IQ4_XS, MXFP4 (llama-quantize"},
           {{32}, 16, 0, "type is IQ2_XXS"},
           {{32}, 26, 0, "type is I32"},
           {{32}, 40, 0, "type is NVFP4"},
           {{32}, 4, 0, "type is 4:"},
           {{32}, 41, 0, "type is 41:"},
           {{32}, 0xffffffffu, 0, "type is 4294967295:"},
           {{33}, 8, 0, "dimension 0 is 33: expected a multiple of 32"},
           {{32, 2}, 12, 0, "expected a multiple of 256, the block of Q4_K"},
           {{8}, 0, 4, "offset is 4: expected a multiple of 32"},
           {{8}, 0, 4096, "32 bytes at offset 4096"},
           {{8}, 0, UINT64_MAX - 31, "expected them within 4096 bytes"},
           {{1025}, 0, 0, "4100 bytes at offset 0"}}) {
    GgufBytes B;
    expectError(B.tensor("t", C.Dims, C.Type, C.Offset).file(Data), C.Text);
  }
  GgufBytes Twice;
  expectError(Twice.tensor("t", {8}, 0, 0).tensor("t", {8}, 0, 32).file(Data),
              "duplicate tensor 't'");
  GgufBytes Over;
  expectError(Over.tensor("u", {16}, 0, 32).tensor("t", {16}, 0, 0).file(Data),
              "tensor 'u': offset is 32: expected at least 64, the end of "
              "tensor 't'");
  GgufBytes Escape;
  expectError(Escape.tensor("\n", {8}, 0, 0).file(Data), "control character");
  GgufBytes Order;
  EXPECT_TRUE(
      open(Order.tensor("u", {16}, 0, 64).tensor("t", {16}, 0, 0).file(Data)));
}

/// Quantised blocks of random bytes and what the gguf package makes of them.
TEST_F(GgufTest, DequantisesBitByBit) {
  std::string Path =
      std::string(TENON_TEST_DATA) + "/gguf/fixtures/blocks.gguf";
  auto File = GgufFile::open(Path);
  ASSERT_TRUE(File) << File.error().message();
  size_t Formats = 0;
  for (const GgufTensor &Stored : File->tensors()) {
    const GgufTensor *Values = File->findTensor(Stored.Name + ".values");
    if (!Values)
      continue;
    ++Formats;
    EXPECT_EQ(Stored.Format->Name, Stored.Name);
    auto Count = static_cast<size_t>(Stored.Shape.back());
    std::vector<float> Expected(Count), Read(Count);
    ASSERT_TRUE(decodeElements(*Values->Format, Values->Bytes, 0, Count,
                               Expected.data()));
    ASSERT_TRUE(
        decodeElements(*Stored.Format, Stored.Bytes, 0, Count, Read.data()));
    for (size_t I = 0; I < Count; ++I)
      ASSERT_EQ(std::bit_cast<uint32_t>(Read[I]),
                std::bit_cast<uint32_t>(Expected[I]))
          << Stored.Name << " element " << I;
    // Any range gives the same as a part of the whole.
    for (size_t First :
         {size_t(0), size_t(1), size_t(31), Count / 2, Count - 1})
      for (size_t Size : {size_t(0), size_t(1), size_t(30), Count / 2})
        if (First + Size <= Count) {
          std::vector<float> Part(Size);
          ASSERT_TRUE(decodeElements(*Stored.Format, Stored.Bytes, First, Size,
                                     Part.data()));
          EXPECT_TRUE(std::equal(Part.begin(), Part.end(),
                                 Expected.begin() + ptrdiff_t(First)))
              << Stored.Name << " " << First << " " << Size;
        }
  }
  // All but F32.
  EXPECT_EQ(Formats + 1, storedFormats().size());
}

/// Part `Number` of `Count`, of one tensor.
GgufBytes part(uint16_t Number, uint16_t Count, std::string_view Tensor) {
  GgufBytes B;
  B.key("split.no", GgufType::UInt16, GgufBytes::number(Number))
      .key("split.count", GgufType::UInt16, GgufBytes::number(Count));
  if (!Tensor.empty())
    B.tensor(Tensor, {4}, 0, 0);
  return B;
}

TEST_F(GgufTest, ReadsAllParts) {
  GgufBytes First = part(0, 3, "");
  First.text("text", "all")
      .key("split.tensors.count", GgufType::Int32,
           GgufBytes::number<int32_t>(2));
  std::string Path = write("m-00001-of-00003.gguf", First.file());
  write("m-00002-of-00003.gguf",
        part(1, 3, "a").file(rawBytes<float>({1, 2, 3, 4})));
  write("m-00003-of-00003.gguf",
        part(2, 3, "b").file(rawBytes<float>({5, 6, 7, 8})));
  auto File = GgufFile::open(Path);
  ASSERT_TRUE(File) << File.error().message();
  EXPECT_EQ(*File->string("text"), "all");
  ASSERT_EQ(File->tensors().size(), 2u);
  for (const auto &[Name, Value] : {std::pair("a", 1.0f), {"b", 5.0f}}) {
    const GgufTensor *Tensor = File->findTensor(Name);
    ASSERT_NE(Tensor, nullptr);
    float Stored;
    std::memcpy(&Stored, Tensor->Bytes.data(), sizeof(Stored));
    EXPECT_EQ(Stored, Value);
    EXPECT_EQ(Tensor->File->path(),
              pathOf(Name == std::string_view("a") ? "m-00002-of-00003.gguf"
                                                   : "m-00003-of-00003.gguf"));
  }
  EXPECT_TRUE(File->checkUnchanged());
  EXPECT_EQ(ggufPartsOf(Path),
            (std::vector{Path, pathOf("m-00002-of-00003.gguf"),
                         pathOf("m-00003-of-00003.gguf")}));
  // The file itself is always one of them.
  for (const std::string Other :
       {"m-0002-of-0003.gguf", "m-00004-of-00003.gguf", "m-00000-of-00003.gguf",
        "m-00001-of-00000.gguf", "m--0001-of-00003.gguf"})
    EXPECT_EQ(ggufPartsOf(Other), std::vector{Other});
  // A file that is all of its parts.
  EXPECT_TRUE(GgufFile::open(
      write("one.gguf", part(0, 1, "a").file(std::string(16, '\0')))));
}

TEST_F(GgufTest, RefusesPartsThatDoNotFit) {
  std::string Data(16, '\0');
  std::string First =
      write("m-00001-of-00002.gguf", part(0, 2, "a").file(Data));
  auto Refused = [&](const std::string &Second, const std::string &Where,
                     const std::string &What) {
    write("m-00002-of-00002.gguf", Second);
    EXPECT_ERROR(GgufFile::open(First), Where, What);
  };
  std::string Second = pathOf("m-00002-of-00002.gguf");
  EXPECT_ERROR(GgufFile::open(First), Second, "No such file");
  Refused(part(1, 2, "a").file(Data), Second,
          "tensor 'a' is in a part before it too");
  Refused(part(0, 2, "b").file(Data), Second, "'split.no' is 0: expected 1");
  Refused(part(1, 3, "b").file(Data), Second, "'split.count' is 3: expected 2");
  Refused(GgufBytes().file(), Second, "missing field 'split.no'");
  write("m-00002-of-00002.gguf", part(1, 2, "b").file(Data));
  EXPECT_TRUE(GgufFile::open(First));
  EXPECT_ERROR(GgufFile::open(Second), Second,
               "is part 2 of 2: expected the first, " + First);
  std::string Renamed = write("first.gguf", part(0, 2, "a").file(Data));
  EXPECT_ERROR(GgufFile::open(Renamed), Renamed,
               "expected a name that ends in -00001-of-00002.gguf");
  GgufBytes Wrong = part(0, 2, "a");
  Wrong.size("split.tensors.count", 5);
  write("m-00001-of-00002.gguf", Wrong.file(Data));
  EXPECT_ERROR(GgufFile::open(First), First,
               "'split.tensors.count' is 5: expected 2");
}

} // namespace
