//===- CheckpointTest.cpp - Single files, shards and reading rows ---------===//

#include "compiler/Checkpoint/Checkpoint.h"
#include "tests/unit/CheckpointFixture.h"

#include <bit>
#include <cmath>
#include <unistd.h>

using namespace tenon;

namespace {

class CheckpointFiles : public TemporaryFiles {
protected:
  Result<Checkpoint> open() const { return Checkpoint::open(Directory); }
  std::string index() const { return pathOf("model.safetensors.index.json"); }
  void writeIndex(std::string_view Map) const {
    write("model.safetensors.index.json",
          "{\"metadata\":{\"total_size\":[{}]},\"weight_map\":" +
              std::string(Map) + "}");
  }
  /// A shard of one-element f32 tensors.
  void writeShard(std::string_view File,
                  std::initializer_list<std::string_view> Names) const {
    std::string Header = "{", Data;
    for (std::string_view Name : Names) {
      std::string Begin = std::to_string(Data.size());
      Data += rawBytes({static_cast<float>(Name[0])});
      Header += (Header.size() > 1 ? ",\"" : "\"") + std::string(Name) +
                R"(":{"dtype":"F32","shape":[1],"data_offsets":[)" + Begin +
                "," + std::to_string(Data.size()) + "]}";
    }
    write(File, safetensors(Header + "}", Data));
  }
  void refusesIndex(std::string_view Map, std::string_view Text) const {
    writeIndex(Map);
    EXPECT_ERROR(open(), index(), std::string(Text));
  }
  void refusesIndexText(std::string_view Content, std::string_view Text) const {
    write("model.safetensors.index.json", Content);
    EXPECT_ERROR(open(), index(), std::string(Text));
  }
};

constexpr const char *S1 = "model-00001-of-00002.safetensors";
constexpr const char *S2 = "model-00002-of-00002.safetensors";

TEST_F(CheckpointFiles, SingleFile) {
  write(
      "model.safetensors",
      safetensors(R"({"w":{"dtype":"F16","shape":[2,2],"data_offsets":[0,8]},)"
                  R"("ids":{"dtype":"I64","shape":[1],"data_offsets":[8,16]}})",
                  std::string(16, '\0')));
  auto Opened = open();
  ASSERT_TRUE(Opened) << Opened.error().message();
  Checkpoint Weights = std::move(*Opened);
  EXPECT_EQ(Weights.names(), (std::vector<std::string_view>{"ids", "w"}));
  ASSERT_NE(Weights.find("w"), nullptr);
  EXPECT_EQ(Weights.find("w")->Shape, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(Weights.find("x"), nullptr);
  EXPECT_EQ(Weights.find(""), nullptr);

  std::string File = pathOf("model.safetensors");
  int64_t Shape[] = {2, 2}, Other[] = {2, 3}, Single[] = {1};
  auto Found = Weights.require("w", Shape);
  ASSERT_TRUE(Found);
  EXPECT_EQ(*Found, Weights.find("w"));
  EXPECT_ERROR(Weights.require("w", Other), File,
               "tensor 'w' has shape [2, 2]: expected [2, 3]");
  EXPECT_ERROR(Weights.require("w", Single), File,
               "tensor 'w' has shape [2, 2]: expected [1]");
  EXPECT_ERROR(Weights.require("v", Shape), File,
               "missing tensor 'v': expected shape [2, 2]");
  EXPECT_ERROR(Weights.require("ids", Single), File,
               "tensor 'ids' has type I64: expected F32, F16 or BF16");
  float Out[4];
  EXPECT_ERROR(Weights.readRowsAsFloat(*Weights.find("ids"), 0, 1, Out), File,
               "tensor 'ids' has type I64: expected F32, F16 or BF16");
}

TEST_F(CheckpointFiles, NothingThere) {
  EXPECT_ERROR(Checkpoint::open(pathOf("none")), pathOf("none"),
               "cannot read the directory");
  EXPECT_ERROR(open(), Directory, "holds neither model.safetensors nor");
}

TEST_F(CheckpointFiles, OtherNames) {
  write("consolidated.safetensors", "");
  EXPECT_FALSE(Checkpoint::isIn(Directory));
  EXPECT_ERROR(open(), Directory,
               "holds weights under other names, 'consolidated.safetensors': "
               "expected model.safetensors, or shards that "
               "model.safetensors.index.json names");
  write("model-00001-of-00002.safetensors", "");
  write("pytorch_model.bin", "");
  EXPECT_ERROR(open(), Directory, "'consolidated.safetensors' and 1 more: ");
  write("model.safetensors.index.json", "");
  EXPECT_TRUE(Checkpoint::isIn(Directory));
}

TEST_F(CheckpointFiles, PickleIsRefused) {
  for (const char *Name :
       {"pytorch_model.bin", "model.pt", "model.pth", "model.ckpt"}) {
    write(Name, "\x80\x02");
    EXPECT_ERROR(open(), Directory,
                 "holds only the pickle checkpoint '" + std::string(Name) +
                     "', which can run code");
    std::filesystem::remove(pathOf(Name));
  }
}

TEST_F(CheckpointFiles, PickleBesideSafetensorsIsIgnored) {
  write("pytorch_model.bin", "\x80\x02");
  writeShard("model.safetensors", {"a"});
  EXPECT_TRUE(open());
}

TEST_F(CheckpointFiles, DanglingLinkIsNamed) {
  std::filesystem::create_symlink(pathOf("none"), pathOf("model.safetensors"));
  EXPECT_ERROR(open(), pathOf("model.safetensors"), "cannot open");
}

TEST_F(CheckpointFiles, Shards) {
  writeShard(S1, {"c", "a"});
  writeShard(S2, {"b"});
  writeIndex(R"({"a":"model-00001-of-00002.safetensors",)"
             R"("b":"model-00002-of-00002.safetensors",)"
             R"("c":"model-00001-of-00002.safetensors"})");
  auto Weights = open();
  ASSERT_TRUE(Weights) << Weights.error().message();
  EXPECT_EQ(Weights->names(), (std::vector<std::string_view>{"a", "b", "c"}));
  for (std::string_view Name : {"a", "b", "c"}) {
    float Value = 0;
    ASSERT_TRUE(Weights->readRowsAsFloat(*Weights->find(Name), 0, 1, &Value));
    EXPECT_EQ(Value, static_cast<float>(Name[0]));
  }
  EXPECT_EQ(Weights->find("b")->File->path(), pathOf(S2));
  int64_t Shape[] = {1};
  EXPECT_ERROR(Weights->require("d", Shape), index(), "missing tensor 'd'");
}

TEST_F(CheckpointFiles, IndexMetadataMayFollowTheMap) {
  writeShard(S1, {"a"});
  write("model.safetensors.index.json",
        "{\"weight_map\":{\"a\":\"" + std::string(S1) +
            "\"},\"metadata\":{\"total_size\":4},\"more\":[1,{}]}");
  auto Weights = open();
  ASSERT_TRUE(Weights) << Weights.error().message();
  EXPECT_EQ(Weights->names(), std::vector<std::string_view>{"a"});
}

TEST_F(CheckpointFiles, IndexIsWrong) {
  refusesIndexText("[]", "index is an array: expected an object");
  refusesIndexText("3", "index is no object");
  refusesIndexText("{", "invalid JSON at byte 2");
  refusesIndexText("{}", "missing field 'weight_map'");
  refusesIndexText("{\"a\":" + std::string(100, '['), "nested deeper than 64");
  refusesIndexText("version https://git-lfs.github.com/spec/v1\n",
                   "Git LFS pointer");
  refusesIndexText(R"({"weight_map":{},"weight_map":{}})",
                   "duplicate field 'weight_map'");
  refusesIndex("[]", "field 'weight_map' is an array: expected an object");
  refusesIndex("7", "field 'weight_map' is 7: expected an object");
  refusesIndex("\"x\"", "field 'weight_map' is a string");
}

TEST_F(CheckpointFiles, ShardNames) {
  refusesIndex(R"({"a":1})", "shard of tensor 'a' is 1: expected a file name");
  refusesIndex(R"({"a":["x"]})", "shard of tensor 'a' is an array");
  refusesIndex(R"({"a":{}})", "shard of tensor 'a' is an object");
  refusesIndex(R"({"a":"/etc/x.safetensors"})",
               "shard of tensor 'a' is '/etc/x.safetensors', a path: expected "
               "a file name");
  refusesIndex(R"({"a":"../x.safetensors"})", "'../x.safetensors', a path");
  refusesIndex(R"({"a":"sub/x.safetensors"})", "'sub/x.safetensors', a path");
  refusesIndex(R"({"a":".."})", "expected a name ending in .safetensors");
  refusesIndex(R"({"a":"m.bin"})",
               "is 'm.bin': expected a name ending in .safetensors");
  refusesIndex(R"({"a":""})", "shard of tensor 'a': name has 0 bytes");
  refusesIndex(R"({"a":"x\u0000.safetensors"})", "control character U+0000");
  refusesIndex("{\"a\":\"" + std::string(300, 'x') + "\"}",
               "name has 300 bytes: expected 1 to 255");
  refusesIndex(R"({"a\u001b":"x"})",
               "tensor 0: name has the control character");
}

TEST_F(CheckpointFiles, ShardsDisagree) {
  writeShard("x.safetensors", {"a", "b"});
  writeShard("y.safetensors", {"c"});
  refusesIndex(R"({"a":"x.safetensors","a":"x.safetensors"})",
               "duplicate tensor 'a'");
  refusesIndex(R"({"a":"z.safetensors"})",
               "names the shard 'z.safetensors': expected that file beside");
  refusesIndex(R"({"a":"x.safetensors","b":"x.safetensors",)"
               R"("c":"y.safetensors","d":"y.safetensors"})",
               "tensor 'd' is missing: expected it in the shard "
               "'y.safetensors'");
  refusesIndex(R"({"a":"y.safetensors","b":"x.safetensors",)"
               R"("c":"y.safetensors"})",
               "shard of tensor 'a' is 'y.safetensors': expected " +
                   pathOf("x.safetensors"));
  writeIndex(R"({"a":"x.safetensors","c":"y.safetensors"})");
  EXPECT_ERROR(open(), pathOf("x.safetensors"),
               "tensor 'b' is not in the index: expected it in " + index());
  writeIndex(R"({"b":"x.safetensors","a":"x.safetensors"})");
  EXPECT_TRUE(open());
  writeShard("y.safetensors", {"a"});
  writeIndex(R"({"a":"y.safetensors","b":"x.safetensors"})");
  EXPECT_ERROR(open(), pathOf(""), "tensor 'a' is also in ");
  write("y.safetensors", "version https://git-lfs.github.com/spec/v1\n");
  EXPECT_ERROR(open(), pathOf("y.safetensors"), "Git LFS pointer");
}

TEST_F(CheckpointFiles, TooManyShards) {
  std::string Map = "{";
  for (size_t I = 0; I <= MaxShards; ++I) {
    std::string Number = std::to_string(I);
    Map += (I ? ",\"" : "\"") + Number + "\":\"" + Number + ".safetensors\"";
  }
  refusesIndex(Map + "}", "names 1001 shards: expected at most 1000");
}

TEST_F(CheckpointFiles, ManyTensorsTakeLittleTime) {
  // Quadratic work on this many keys would take minutes.
  constexpr size_t Count = 200000;
  std::string Header = "{", Map = "{";
  for (size_t I = 0; I < Count; ++I) {
    std::string Name = (I ? ",\"t" : "\"t") + std::to_string(I) + "\":";
    Header += Name + R"({"dtype":"U8","shape":[1],"data_offsets":[)" +
              std::to_string(I) + "," + std::to_string(I + 1) + "]}";
    Map += Name + "\"x.safetensors\"";
  }
  write("x.safetensors", safetensors(Header + "}", std::string(Count, 'x')));
  writeIndex(Map + "}");
  auto Weights = open();
  ASSERT_TRUE(Weights) << Weights.error().message();
  EXPECT_EQ(Weights->names().size(), Count);
}

TEST_F(CheckpointFiles, RowsOfEveryType) {
  const float NaN = std::bit_cast<float>(0x7fa12345u), Inf = INFINITY;
  // The odd first tensor leaves the others unaligned.
  write("model.safetensors",
        safetensors(
            R"({"u":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
            R"("f":{"dtype":"F32","shape":[3,2],"data_offsets":[1,25]},)"
            R"("h":{"dtype":"F16","shape":[2,1,2],"data_offsets":[25,33]},)"
            R"("b":{"dtype":"BF16","shape":[4],"data_offsets":[33,41]},)"
            R"("s":{"dtype":"F32","shape":[],"data_offsets":[41,45]}})",
            "u" + rawBytes({1.f, NaN, -Inf, 4.f, 1e-40f, -0.f}) +
                rawBytes<uint16_t>({0x3c00, 0x0001, 0xfc00, 0x7bff}) +
                rawBytes<uint16_t>({0x3f80, 0x0001, 0xff80, 0x7fc1}) +
                rawBytes({7.f})));
  auto Opened = open();
  ASSERT_TRUE(Opened) << Opened.error().message();
  auto Bits = [&](std::string_view Name, int64_t First, int64_t Rows,
                  size_t Count) {
    std::vector<float> Out(Count + 1, 99.f);
    Status Read =
        Opened->readRowsAsFloat(*Opened->find(Name), First, Rows, Out.data());
    EXPECT_TRUE(Read) << Read.error().message();
    EXPECT_EQ(Out.back(), 99.f) << "wrote too far";
    std::vector<uint32_t> Words;
    for (size_t I = 0; I < Count; ++I)
      Words.push_back(std::bit_cast<uint32_t>(Out[I]));
    return Words;
  };
  using Words = std::vector<uint32_t>;
  EXPECT_EQ(Bits("f", 0, 3, 6), (Words{0x3f800000, 0x7fa12345, 0xff800000,
                                       0x40800000, 0x000116c2, 0x80000000}));
  EXPECT_EQ(Bits("f", 1, 1, 2), (Words{0xff800000, 0x40800000}));
  EXPECT_EQ(Bits("f", 3, 0, 0), Words{});
  EXPECT_EQ(Bits("h", 0, 1, 2), (Words{0x3f800000, 0x33800000}));
  EXPECT_EQ(Bits("h", 1, 1, 2), (Words{0xff800000, 0x477fe000}));
  EXPECT_EQ(Bits("b", 0, 4, 4),
            (Words{0x3f800000, 0x00010000, 0xff800000, 0x7fc10000}));
  EXPECT_EQ(Bits("s", 0, 1, 1), (Words{0x40e00000}));
}

TEST_F(CheckpointFiles, RowsOutOfRange) {
  write("model.safetensors",
        safetensors(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
                    "12345678"));
  auto Weights = open();
  ASSERT_TRUE(Weights);
  float Out[2];
  for (auto [First, Rows] : {std::pair<int64_t, int64_t>(0, 3),
                             {2, 1},
                             {3, 0},
                             {-1, 1},
                             {0, -1},
                             {INT64_MAX, INT64_MAX}})
    EXPECT_ERROR(
        Weights->readRowsAsFloat(*Weights->find("a"), First, Rows, Out),
        pathOf("model.safetensors"),
        "tensor 'a': " + std::to_string(Rows) + " rows from row " +
            std::to_string(First) + " wanted: expected them within 2 rows");
}

TEST_F(CheckpointFiles, ShrunkWhileMapped) {
  std::string Path = write(
      "model.safetensors",
      safetensors(
          R"({"a":{"dtype":"F32","shape":[4096],"data_offsets":[0,16384]}})",
          std::string(16384, 'x')));
  auto Weights = open();
  ASSERT_TRUE(Weights);
  std::filesystem::resize_file(Path, 100);
  std::vector<float> Out(4096);
  EXPECT_ERROR(
      Weights->readRowsAsFloat(*Weights->find("a"), 0, 4096, Out.data()), Path,
      "to 100 bytes while in use");
}

/// Resident file-backed pages of this process.
long residentFilePages() {
  std::ifstream Statm("/proc/self/statm");
  long Total = 0, Resident = 0, Shared = 0;
  Statm >> Total >> Resident >> Shared;
  return Shared;
}

TEST_F(CheckpointFiles, DroppedPagesLeaveMemoryAndReadBack) {
  constexpr int64_t Rows = 32, Columns = 1 << 18;
  std::string Data;
  for (int64_t I = 0; I < Rows; ++I)
    Data.append(Columns * 2, static_cast<char>(I));
  write(
      "model.safetensors",
      safetensors(
          R"({"a":{"dtype":"BF16","shape":[32,262144],"data_offsets":[0,16777216]}})",
          Data));
  auto Weights = open();
  ASSERT_TRUE(Weights);
  const TensorInfo &Tensor = *Weights->find("a");
  std::vector<float> Out(Columns);
  long Before = residentFilePages(), Peak = 0;
  for (int64_t I = 0; I < Rows; ++I) {
    ASSERT_TRUE(Weights->readRowsAsFloat(Tensor, I, 1, Out.data()));
    Peak = std::max(Peak, residentFilePages());
    Weights->dropRows(Tensor, I, 1);
  }
  long Page = ::sysconf(_SC_PAGESIZE);
  // 16 MB are read; a row is 0.5 MB, and the kernel maps some pages ahead.
  EXPECT_LT((Peak - Before) * Page, 4 << 20);
  for (int64_t I = 0; I < Rows; ++I)
    ASSERT_TRUE(Weights->readRowsAsFloat(Tensor, I, 1, Out.data()));
  EXPECT_GT((residentFilePages() - Before) * Page, 12 << 20);
  Weights->drop(Tensor);
  EXPECT_LT((residentFilePages() - Before) * Page, 4 << 20);
  Weights->dropRows(Tensor, -5, INT64_MAX);
  Weights->dropRows(Tensor, 99, 1);
  ASSERT_TRUE(Weights->readRowsAsFloat(Tensor, 3, 1, Out.data()));
  EXPECT_EQ(std::bit_cast<uint32_t>(Out[Columns - 1]), 0x03030000u);
}

} // namespace
