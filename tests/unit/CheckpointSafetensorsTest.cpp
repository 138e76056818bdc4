//===- CheckpointSafetensorsTest.cpp - Valid and hostile headers ----------===//

#include "compiler/Checkpoint/Safetensors.h"
#include "tests/unit/CheckpointFixture.h"

using namespace tenon;

namespace {

TEST(ElementTypeTest, NamesAndSizes) {
  EXPECT_EQ(sizeOf(ElementType::F32), 4u);
  EXPECT_EQ(sizeOf(ElementType::F16), 2u);
  EXPECT_EQ(sizeOf(ElementType::BF16), 2u);
  for (ElementType Type :
       {ElementType::F32, ElementType::F16, ElementType::BF16})
    EXPECT_EQ(elementTypeNamed(nameOf(Type)), Type);
  EXPECT_FALSE(elementTypeNamed("F32"));
}

class Safetensors : public TemporaryFiles {
protected:
  Result<SafetensorsFile> open(std::string_view Content) const {
    return SafetensorsFile::open(write("m.safetensors", Content));
  }
  void refuses(std::string_view Content, std::string_view Text) const {
    EXPECT_ERROR(open(Content), pathOf("m.safetensors"), std::string(Text));
  }
  /// Refuses a tensor described by `Fields`, with `Bytes` bytes of data.
  void refusesTensor(std::string_view Fields, size_t Bytes,
                     std::string_view Text) const {
    refuses(safetensors("{\"a\":{" + std::string(Fields) + "}}",
                        std::string(Bytes, '\0')),
            Text);
  }
};

constexpr std::string_view One =
    R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";

TEST_F(Safetensors, ReadsEveryField) {
  auto File = open(safetensors(
      R"({"__metadata__":{"format":"pt"},)"
      R"("b":{"shape":[2,3],"data_offsets":[8,20],"dtype":"BF16"},)"
      R"("a":{"dtype":"F32","shape":[],"data_offsets":[4,8]},)"
      R"("c":{"dtype":"F16","shape":[1],"data_offsets":[20,22]},)"
      R"("ids":{"dtype":"I16","shape":[2],"data_offsets":[0,4]}}   )",
      "iiii" + rawBytes({1.5f}) + "bbbbbbbbbbbbcc"));
  ASSERT_TRUE(File) << File.error().message();
  SafetensorsFile Moved = std::move(*File);
  const std::vector<TensorInfo> &Tensors = Moved.tensors();
  ASSERT_EQ(Tensors.size(), 4u);
  EXPECT_EQ(Tensors[0].Name, "a");
  EXPECT_EQ(Tensors[0].Type, ElementType::F32);
  EXPECT_TRUE(Tensors[0].Shape.empty());
  EXPECT_EQ(std::string(reinterpret_cast<const char *>(Tensors[0].Bytes.data()),
                        Tensors[0].Bytes.size()),
            rawBytes({1.5f}));
  EXPECT_EQ(Tensors[1].Name, "b");
  EXPECT_EQ(Tensors[1].Type, ElementType::BF16);
  EXPECT_EQ(Tensors[1].Shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(Tensors[1].Bytes.size(), 12u);
  EXPECT_EQ(Tensors[1].Bytes[0], std::byte('b'));
  EXPECT_EQ(Tensors[1].File->path(), Moved.path());
  EXPECT_EQ(Tensors[2].Type, ElementType::F16);
  EXPECT_EQ(Tensors[3].StoredType, "I16");
  EXPECT_FALSE(Tensors[3].isFloat());
  EXPECT_TRUE(Tensors[3].Bytes.empty());
}

TEST_F(Safetensors, EveryKnownTypeIsListed) {
  for (auto [Type, Bytes] : {std::pair("F64", 64),
                             {"I64", 64},
                             {"U64", 64},
                             {"C64", 64},
                             {"I32", 32},
                             {"U32", 32},
                             {"I16", 16},
                             {"U16", 16},
                             {"I8", 8},
                             {"U8", 8},
                             {"BOOL", 8},
                             {"F8_E4M3", 8},
                             {"F8_E5M2", 8},
                             {"F8_E8M0", 8},
                             {"F6_E2M3", 6},
                             {"F6_E3M2", 6},
                             {"F4", 4}}) {
    auto File = open(safetensors(R"({"a":{"dtype":")" + std::string(Type) +
                                     R"(","shape":[8],"data_offsets":[0,)" +
                                     std::to_string(Bytes) + "]}}",
                                 std::string(static_cast<size_t>(Bytes), 'x')));
    ASSERT_TRUE(File) << File.error().message();
    EXPECT_EQ(File->tensors()[0].StoredType, Type);
    EXPECT_FALSE(File->tensors()[0].isFloat());
  }
}

TEST_F(Safetensors, NoTensors) {
  auto File = open(safetensors("{}"));
  ASSERT_TRUE(File);
  EXPECT_TRUE(File->tensors().empty());
}

TEST_F(Safetensors, FileLevel) {
  EXPECT_ERROR(SafetensorsFile::open(pathOf("none")), pathOf("none"),
               "cannot open");
  refuses("", "is 0 bytes long: expected a safetensors file of at least 8");
  refuses("1234567", "is 7 bytes long");
  refuses("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n",
          "Git LFS pointer");
}

TEST_F(Safetensors, HeaderLength) {
  refuses(lengthBytes(3) + "{}",
          "header length is 3: expected at most 2, the rest of the file");
  refuses(lengthBytes(UINT64_MAX) + "{}",
          "header length is 18446744073709551615");
  // A file of zeros with a hole, so that the header could be that long.
  std::string Path = write("m.safetensors", lengthBytes(100'000'001));
  std::filesystem::resize_file(Path, 100'000'100);
  EXPECT_ERROR(SafetensorsFile::open(Path), Path,
               "header length is 100000001: expected at most 100000000");
}

TEST_F(Safetensors, HeaderIsNoObject) {
  refuses(lengthBytes(0), "header does not begin with '{'");
  refuses(safetensors("[]"), "header does not begin with '{'");
  refuses(safetensors(" {}"), "header does not begin with '{'");
  refuses(safetensors("{"), "invalid JSON at byte 2");
  refuses(safetensors("{} {}"), "invalid JSON at byte 4");
  refuses(safetensors("{\"a\":1e999}"), "invalid JSON");
  refuses(safetensors("{\"a\xff\":{}}"), "invalid JSON");
  refuses(safetensors("{\"a\":null}"), "field 'a' is null: expected an object");
  refuses(safetensors("{\"a\":[1]}"),
          "field 'a' is an array: expected an object");
  refuses(safetensors("{\"a\":\"text\"}"),
          "field 'a' is a string: expected an object");
}

TEST_F(Safetensors, Nesting) {
  // Refused where it is wrong already, long before the depth matters.
  refuses(safetensors("{\"a\":" + std::string(100000, '[')),
          "field 'a' is an array");
}

TEST_F(Safetensors, Metadata) {
  refuses(safetensors(R"({"__metadata__":1})"), "field '__metadata__' is 1");
  refuses(safetensors(R"({"__metadata__":{"x":1}})"),
          "metadata field 'x' is 1: expected a string");
  refuses(safetensors(R"({"__metadata__":{"x":{}}})"),
          "metadata field 'x' is an object: expected a string");
  refuses(safetensors(R"({"__metadata__":{"x":"","x":""}})"),
          "duplicate metadata key 'x'");
  refuses(safetensors(R"({"__metadata__":{},"__metadata__":{}})"),
          "duplicate field '__metadata__'");
}

TEST_F(Safetensors, Names) {
  auto Named = [](const std::string &Name) {
    return safetensors(
        "{\"" + Name + R"(":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
        "x");
  };
  EXPECT_TRUE(open(Named(std::string(1024, 'n'))));
  EXPECT_TRUE(open(Named("caf\xc3\xa9")));
  refuses(Named(std::string(1025, 'n')),
          "tensor 0: name has 1025 bytes: expected 1 to 1024");
  refuses(Named(""), "tensor 0: name has 0 bytes");
  refuses(Named("ab\\u001b[2J"), "control character U+001B at byte 2");
  refuses(Named("\\u0000"), "control character U+0000 at byte 0");
  refuses(Named("a\x7f"), "control character U+007F at byte 1");
  refuses(Named("a\\u009b2J"), "control character U+009B at byte 1");
}

TEST_F(Safetensors, DuplicateTensor) {
  refuses(safetensors(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                      R"("a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
                      "xy"),
          "duplicate tensor 'a'");
}

TEST_F(Safetensors, Fields) {
  refusesTensor(R"("shape":[1],"data_offsets":[0,4])", 4,
                "tensor 'a': missing field 'dtype'");
  refusesTensor(R"("dtype":"F32","data_offsets":[0,4])", 4,
                "tensor 'a': missing field 'shape'");
  refusesTensor(R"("dtype":"F32","shape":[1])", 4,
                "tensor 'a': missing field 'data_offsets'");
  refusesTensor(R"("dtype":"F32","dtype":"F32")", 4,
                "tensor 'a': duplicate field 'dtype'");
  refusesTensor(R"("kind":"F32")", 4, "tensor 'a': unknown field 'kind'");
  refusesTensor(R"("dtype":3)", 4,
                "tensor 'a': field 'dtype' is 3: expected a string");
  refusesTensor(R"("dtype":["F32"])", 4,
                "field 'dtype' is an array: expected a string");
  refusesTensor(R"("dtype":"Q4_0")", 4,
                "tensor 'a': field 'dtype' is 'Q4_0': expected a type");
  refusesTensor(R"("shape":4)", 4,
                "field 'shape' is 4: expected an array of whole numbers");
  refusesTensor(R"("shape":{})", 4, "field 'shape' is an object");
  refusesTensor(R"("data_offsets":"0,4")", 4,
                "field 'data_offsets' is a string");
}

TEST_F(Safetensors, Shapes) {
  refusesTensor(R"("shape":[2,-1])", 4,
                "tensor 'a': field 'shape[1]' is -1: expected a whole number "
                "from 1 to");
  refusesTensor(R"("shape":[0])", 4, "field 'shape[0]' is 0");
  refusesTensor(R"("shape":[1.5])", 4, "field 'shape[0]' is 1.5");
  refusesTensor(R"("shape":["1"])", 4, "field 'shape[0]' is '1'");
  refusesTensor(R"("shape":[[1]])", 4, "field 'shape' is an array");
  refusesTensor(R"("shape":[18446744073709551615])", 4,
                "field 'shape[0]' is 18446744073709551615");
  refusesTensor(R"("shape":[1,1,1,1,1,1,1,1,1])", 4,
                "field 'shape' has more than 8 dimensions");
  // 2^32 * 2^32 elements, whose product wraps around to 0.
  refusesTensor(
      R"("dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0])", 0,
      "field 'shape' is [4294967296, 4294967296]: expected a product");
  refusesTensor(R"("dtype":"F4","shape":[3],"data_offsets":[0,1])", 1,
                "shape [3] of F4 is 12 bits: expected whole bytes");
}

TEST_F(Safetensors, Offsets) {
  refusesTensor(R"("data_offsets":[4,0])", 4,
                "field 'data_offsets' is [4, 0]: expected [begin, end]");
  refusesTensor(R"("data_offsets":[0,5])", 4,
                "'data_offsets' is [0, 5]: expected [begin, end] with begin <= "
                "end <= 4, the size of the data");
  refusesTensor(R"("data_offsets":[0])", 4, "field 'data_offsets' is [0]");
  refusesTensor(R"("data_offsets":[0,1,2])", 4,
                "field 'data_offsets' has more than 2 values");
  refusesTensor(R"("data_offsets":[-4,0])", 4, "'data_offsets[0]' is -4");
  refusesTensor(R"("data_offsets":[0,18446744073709551615])", 4,
                "'data_offsets[1]' is 18446744073709551615");
  refusesTensor(
      R"("dtype":"F32","shape":[2],"data_offsets":[0,4])", 4,
      "'data_offsets' spans 4 bytes: expected 8 for shape [2] of F32");
  refusesTensor(R"("dtype":"BF16","shape":[2],"data_offsets":[0,3])", 4,
                "spans 3 bytes: expected 4 for shape [2] of BF16");
  refusesTensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,8])", 8,
                "spans 8 bytes: expected 4 for shape [1] of F32");
}

TEST_F(Safetensors, Layout) {
  auto Two = [](std::string_view A, std::string_view B, size_t Size) {
    return safetensors(
        R"({"a":{"dtype":"U8","shape":[2],"data_offsets":)" + std::string(A) +
            R"(},"b":{"dtype":"U8","shape":[2],"data_offsets":)" +
            std::string(B) + "}}",
        std::string(Size, 'x'));
  };
  EXPECT_TRUE(open(Two("[2,4]", "[0,2]", 4)));
  refuses(Two("[0,2]", "[1,3]", 3),
          "tensor 'b': data begins at 1 and overlaps the tensor before: "
          "expected 2");
  refuses(Two("[0,2]", "[0,2]", 2), "overlaps");
  refuses(Two("[0,2]", "[3,5]", 5),
          "tensor 'b': data begins at 3 and leaves a gap: expected 2");
  refuses(Two("[1,3]", "[3,5]", 5), "tensor 'a': data begins at 1 and leaves");
  refuses(Two("[0,2]", "[2,4]", 7),
          "has 7 bytes of data: expected the 4 that its tensors take");
  refuses(safetensors(One, "xyz"), "<= 3, the size of the data");
}

TEST_F(Safetensors, TooManyTensors) {
  std::string Header = "{";
  for (size_t I = 0; I <= MaxTensors; ++I)
    Header += (I ? ",\"" : "\"") + std::to_string(I) +
              R"(":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  refuses(safetensors(Header + "}", "x"), "has more than 1000000 tensors");
}

} // namespace
