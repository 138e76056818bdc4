//===- CheckpointMutationTest.cpp - Damaged checkpoints never crash -------===//
//
// Opens thousands of damaged copies of a valid model directory and reads all
// that is accepted. Most telling under AddressSanitizer.
//
//===----------------------------------------------------------------------===//

#include "compiler/Checkpoint/Checkpoint.h"
#include "compiler/Checkpoint/Config.h"
#include "tests/unit/CheckpointFixture.h"

#include <random>

using namespace tenon;

namespace {

class CheckpointMutation : public TemporaryFiles {
protected:
  void SetUp() override {
    TemporaryFiles::SetUp();
    Shard = safetensors(
        R"({"__metadata__":{"format":"pt"},)"
        R"("h.0.w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
        R"("h.0.b":{"dtype":"BF16","shape":[3],"data_offsets":[24,30]},)"
        R"("ids":{"dtype":"I64","shape":[1],"data_offsets":[30,38]},)"
        R"("s":{"dtype":"F16","shape":[],"data_offsets":[38,40]}})",
        std::string(40, '\x3c'));
    Index = R"({"metadata":{"total_size":40},"weight_map":{)"
            R"("h.0.w":"m.safetensors","h.0.b":"m.safetensors",)"
            R"("ids":"m.safetensors","s":"m.safetensors"}})";
    Settings = R"({"model_type":"llama","hidden_size":8,"eps":1e-5,)"
               R"("tie":true,"eos_token_id":[1,2],"kinds":["a","b"],)"
               R"("rope_scaling":{"factor":2.0,"type":"linear"}})";
  }

  /// One to four random edits: a byte, a bit, a cut, a copied or lost span, an
  /// extreme number.
  std::string damaged(std::string Text) {
    auto Below = [&](size_t Limit) {
      return std::uniform_int_distribution<size_t>(0, Limit - 1)(Random);
    };
    for (size_t Edits = 1 + Below(4); Edits > 0 && !Text.empty(); --Edits) {
      size_t At = Below(Text.size());
      size_t Span = 1 + Below(std::min<size_t>(16, Text.size() - At));
      switch (Below(7)) {
      case 0:
        Text[At] = static_cast<char>(Below(256));
        break;
      case 1:
        Text[At] = static_cast<char>(Text[At] ^ (1 << Below(8)));
        break;
      case 2:
        Text.resize(At);
        break;
      case 3:
        Text.erase(At, Span);
        break;
      case 4:
        Text.insert(Below(Text.size()), Text.substr(At, Span));
        break;
      case 5:
        Text[At] = "{}[]\",:0-9eE\\"[Below(13)];
        break;
      case 6: {
        size_t Digit = Text.find_first_of("0123456789", At);
        if (Digit != std::string::npos)
          Text.replace(Digit, 1,
                       std::array<const char *, 6>{
                           "18446744073709551615", "-1", "9223372036854775807",
                           "4294967296", "0", "1e400"}[Below(6)]);
        break;
      }
      }
    }
    return Text;
  }

  /// Opens the directory and reads every tensor; true when it opened.
  bool readsCheckpoint() {
    auto Weights = Checkpoint::open(Directory);
    if (!Weights) {
      check(Weights.error());
      return false;
    }
    for (std::string_view Name : Weights->names()) {
      const TensorInfo *Tensor = Weights->find(Name);
      EXPECT_NE(Tensor, nullptr);
      std::vector<float> Out(Tensor->Bytes.size());
      Status Read = Weights->readRowsAsFloat(
          *Tensor, 0, Tensor->Shape.empty() ? 1 : Tensor->Shape[0], Out.data());
      EXPECT_EQ(static_cast<bool>(Read), Tensor->isFloat());
      Weights->drop(*Tensor);
    }
    return true;
  }

  /// Reads everything that the settings hold; true when the file parsed.
  bool readsSettings() {
    auto C = Config::openFile(pathOf("config.json"));
    if (!C) {
      check(C.error());
      return false;
    }
    auto Look = [&](const auto &Outcome) {
      if (!Outcome)
        check(Outcome.error());
    };
    Look(C->string("model_type"));
    Look(C->integer("hidden_size", 1, 65536));
    Look(C->number("eps", 0, 1));
    Look(C->boolean("tie"));
    Look(C->optionalIntegers("eos_token_id", 0, 9));
    Look(C->strings("kinds"));
    auto Rope = C->object("rope_scaling");
    Look(Rope);
    if (Rope) {
      Look(Rope->number("factor"));
      Look(Rope->string("type"));
    }
    Look(C->refuseUnreadKeys("llama"));
    return true;
  }

  /// Errors are one printable line that names the file.
  void check(const Error &E) {
    EXPECT_EQ(E.message().find(Directory), 0u) << E.message();
    for (char Byte : E.message())
      EXPECT_TRUE(static_cast<unsigned char>(Byte) >= 0x20 && Byte != 0x7f)
          << E.message();
  }

  std::mt19937 Random{20240521};
  std::string Shard, Index, Settings;
};

constexpr int Rounds = 3000;

TEST_F(CheckpointMutation, SingleFile) {
  write("model.safetensors", Shard);
  ASSERT_TRUE(readsCheckpoint());
  int Refused = 0;
  for (int I = 0; I < Rounds; ++I) {
    write("model.safetensors", damaged(Shard));
    Refused += !readsCheckpoint();
  }
  // A changed weight goes unnoticed; most other damage must not.
  EXPECT_GT(Refused, Rounds / 2);
  EXPECT_LT(Refused, Rounds);
}

TEST_F(CheckpointMutation, EveryTruncation) {
  for (size_t Size = 0; Size < Shard.size(); ++Size) {
    write("model.safetensors", Shard.substr(0, Size));
    EXPECT_FALSE(readsCheckpoint()) << Size;
  }
}

TEST_F(CheckpointMutation, Index) {
  write("m.safetensors", Shard);
  write("model.safetensors.index.json", Index);
  ASSERT_TRUE(readsCheckpoint());
  int Refused = 0;
  for (int I = 0; I < Rounds; ++I) {
    write("model.safetensors.index.json", damaged(Index));
    Refused += !readsCheckpoint();
  }
  EXPECT_GT(Refused, Rounds / 2);
  EXPECT_LT(Refused, Rounds);
}

TEST_F(CheckpointMutation, Settings) {
  write("config.json", Settings);
  ASSERT_TRUE(readsSettings());
  int Refused = 0;
  for (int I = 0; I < Rounds; ++I) {
    write("config.json", damaged(Settings));
    Refused += !readsSettings();
  }
  EXPECT_GT(Refused, Rounds / 4);
  EXPECT_LT(Refused, Rounds);
}

} // namespace
