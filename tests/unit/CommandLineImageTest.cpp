//===- CommandLineImageTest.cpp - tenon run of images and classes ---------===//

#include "CommandLineFixture.h"

#include "runtime/Image/Image.h"
#include "runtime/Tool/Npy.h"
#include "runtime/tenon.h"

#include <cmath>
#include <csignal>
#include <numeric>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::image;
using namespace tenon::tool;
using namespace tenon::test;

namespace {

/// An image of 11 x 9 pixels, larger than whole patches of 2 x 2.
constexpr const char *Picture = TENON_TEST_DATA "/image/files/grey8.png";

class CommandLineImageTest : public CommandLineTest {
protected:
  /// A model of Picture's size; with `Classes` of one row per image.
  void writeImageModel(bool Classes) {
    write([&](Manifest &M, CodeInfo &Code) {
      makeImageModel(M, Code);
      M.MaxTokensPerStep = 21;
      M.Image->Height = M.Image->Preprocessing.Height = 9;
      M.Image->Width = M.Image->Preprocessing.Width = 11;
      if (Classes)
        M.Entries[0].Output = OutputKind::Classes;
      M.Labels = {"a", "b", "c", "tabby\ncat"};
    });
  }

  /// Writes a .npy file of `Descr` ('<f4' for floats) and `Shape`.
  template <typename T>
  std::string npy(const std::string &Descr, const std::string &Shape,
                  const std::vector<T> &Values) {
    std::string Path = Directory / "pixels.npy";
    std::string Header = "{'descr': '" + Descr +
                         "', 'fortran_order': False, 'shape': " + Shape +
                         ", }\n";
    std::string Bytes = "\x93NUMPY";
    Bytes += '\1';
    Bytes += '\0';
    Bytes += static_cast<char>(Header.size());
    Bytes += '\0';
    std::ofstream File(Path, std::ios::binary);
    File << Bytes << Header;
    File.write(reinterpret_cast<const char *>(Values.data()),
               static_cast<std::streamsize>(Values.size() * sizeof(T)));
    return Path;
  }
};

/// Pixel (y, x) of Picture, as the model's preprocessing gives it.
float pixelAt(int64_t Y, int64_t X) {
  static const Result<Image> Read = readImage(Picture, 1);
  EXPECT_TRUE(Read) << Read.error().message();
  return static_cast<float>(Read->Pixels[static_cast<size_t>(Y * 11 + X)]) /
         255;
}

} // namespace

TEST_F(CommandLineImageTest, NamesTheLikeliestClasses) {
  writeImageModel(true);
  Json J = json({"run", File, "--image", Picture, "--json"});
  float Sum = 0;
  for (int64_t Y = 0; Y < 8; ++Y)
    for (int64_t X = 0; X < 10; ++X)
      Sum += pixelAt(Y, X);
  ASSERT_EQ(J["classes"].size(), 5u);
  EXPECT_EQ(J["classes"][0]["index"], 3);
  EXPECT_EQ(J["classes"][0]["label"], "tabby\ncat");
  EXPECT_NEAR(J["classes"][0]["score"].get<double>(), Sum, 1e-3);
  EXPECT_EQ(J["classes"][1]["index"], 7);
  EXPECT_EQ(J["classes"][1]["label"], nullptr) << "has no name";
  float Second = 2 * pixelAt(7, 9);
  EXPECT_NEAR(J["classes"][1]["score"].get<double>(), Second, 1e-5);
  EXPECT_EQ(J["classes"][2]["index"], 0) << "of equal scores the lower";
  double Others = (Width - 2) * std::exp(-1.0 - Sum);
  double Total = 1 + std::exp(Second - Sum) + Others;
  EXPECT_NEAR(J["classes"][0]["probability"].get<double>(), 1 / Total, 1e-5);
  Outcome O = tenon({"run", File, "--image", Picture});
  EXPECT_EQ(std::count(O.Output.begin(), O.Output.end(), '\n'), 5);
  EXPECT_NE(O.Output.find("     3  tabby\\x0acat\n"), std::string::npos)
      << O.Output;
  EXPECT_GT(J["timings"]["prefill_s"].get<double>(), 0);

  std::string Npy = Directory / "out.npy";
  tenon({"run", File, "--image", Picture, "--output", Npy});
  Result<NpyArray> Row = readNpy(Npy);
  ASSERT_TRUE(Row) << Row.error().message();
  EXPECT_EQ(Row->Shape, (std::vector<int64_t>{1, Width}));
  EXPECT_NEAR(Row->Floats[3], Sum, 1e-3);
}

TEST_F(CommandLineImageTest, WritesEveryTokensFeatures) {
  writeImageModel(false);
  std::string Npy = Directory / "out.npy";
  // Values that show whether patches are cut right.
  std::vector<float> Pixels(9 * 11);
  std::iota(Pixels.begin(), Pixels.end(), 0.0f);
  for (const char *Shape : {"(1, 9, 11)", "(1, 1, 9, 11)"}) {
    Outcome O = tenon(
        {"run", File, "--image", npy("<f4", Shape, Pixels), "--output", Npy});
    EXPECT_EQ(O.Errors, "");
    Result<NpyArray> Rows = readNpy(Npy);
    ASSERT_TRUE(Rows) << Rows.error().message();
    EXPECT_EQ(Rows->Shape, (std::vector<int64_t>{21, Width}));
    EXPECT_EQ(Rows->Floats[0], 0);
    // Patch 7 begins at (2, 4): 26, 27, 37, 38.
    EXPECT_EQ(Rows->Floats[8 * Width], 8000 + 26 + 27 + 37 + 38);
    std::filesystem::remove(Npy);
  }
  expectError({"run", File, "--image", Picture},
              "this model gives features and no classes: use --output");
}

TEST_F(CommandLineImageTest, ImagesThatDoNotFit) {
  writeImageModel(true);
  std::vector<float> Pixels(9 * 11);
  auto Run = [&](const std::string &Path) {
    return std::vector<std::string>{"run", File, "--image", Path};
  };
  expectError(Run(npy("<f4", "(9, 11)", Pixels)),
              "shape is [9,11]: expected pixel values [1,9,11] of type f4");
  expectError(Run(npy("<i4", "(1, 9, 11)", std::vector<int32_t>(99))),
              "shape is [1,9,11] of whole numbers: expected");
  Pixels[7] = std::nanf("");
  expectError(Run(npy("<f4", "(1, 9, 11)", Pixels)),
              "the score of a class is NaN or infinite");
  expectError(Run(Directory / "missing.png"), "missing.png: cannot open");
  std::ofstream(Directory / "text.png") << "no image";
  expectError(Run(Directory / "text.png"), "text.png");
  expectError({"run", File, "--token-ids", "1"},
              "this model reads images: use --image FILE");
  expectError({"run", File, "--token-ids", "1", "--image", Picture},
              "--image: this model takes no prompt");
  expectError({"run", File, "--image", Picture, "--image", Picture},
              "--image: this model takes one image");
  for (const char *Option : {"--max-new-tokens=3", "--temperature=1",
                             "--num-beams=2", "--ignore-eos"})
    expectError({"run", File, "--image", Picture, Option},
                "this model generates no text");
  Json J = json({"inspect", File, "--json"});
  EXPECT_EQ(J["image"]["height"], 9);
  EXPECT_EQ(J["labels"].size(), 4u);
  EXPECT_EQ(J["entries"][0]["features"], 4);
  EXPECT_NE(tenon({"inspect", File}).Output.find("image"), std::string::npos);
  EXPECT_NE(tenon({"inspect", File}).Output.find(" x 9 x "), std::string::npos);
  J = json({"bench", File, "--batch", "2", "--json"});
  EXPECT_GT(J["prefill_tokens_per_s"].get<double>(), 0);
  EXPECT_EQ(J["prompt_tokens"], 21);
}

TEST_F(CommandLineImageTest, TextsHaveClassesToo) {
  write(
      [](Manifest &M, CodeInfo &) {
        M.Entries = {{"encode", OutputKind::Classes, Width, true}};
        M.Labels.resize(Width, "other");
        M.Labels[15] = "fifteen";
      },
      WordPieces);
  // 2 + 4 + 6 + 3, the special tokens included.
  Json J = json({"run", File, "--prompt", "a c", "--json"});
  EXPECT_EQ(J["classes"][0]["index"], 15);
  EXPECT_EQ(J["classes"][0]["label"], "fifteen");
  EXPECT_NEAR(J["classes"][0]["probability"].get<double>(),
              std::exp(4.0) / (std::exp(4.0) + Width - 1), 1e-6);
  J = json({"run", File, "--token-ids", "7", "--token-ids", "8,1", "--json"});
  EXPECT_EQ(J[0]["classes"][0]["index"], 7);
  EXPECT_EQ(J[1]["classes"][0]["index"], 9);
  J = json(
      {"run", File, "--token-ids", "7,7", "--token-types", "0,1", "--json"});
  EXPECT_EQ(J["classes"][0]["index"], 15);
  std::string Npy = Directory / "out.npy";
  EXPECT_EQ(tenon({"run", File, "--prompt", "a c", "--output", Npy}).Errors,
            "");
  Result<NpyArray> Row = readNpy(Npy);
  ASSERT_TRUE(Row) << Row.error().message();
  EXPECT_EQ(Row->Shape, (std::vector<int64_t>{1, Width}));
  EXPECT_EQ(Row->Floats[15], 4);
  expectError({"run", File, "--token-ids", "7", "--num-beams", "2"},
              "--num-beams: this model generates no text");
}

TEST_F(CommandLineImageTest, CInterface) {
  writeImageModel(true);
  tenon_model *M = nullptr;
  ASSERT_EQ(tenon_model_load(File.c_str(), &M), TENON_OK);
  EXPECT_EQ(tenon_model_has_entry(M, TENON_ENTRY_ENCODE_IMAGE), 1);
  int64_t Shape[3] = {};
  ASSERT_EQ(tenon_model_image_shape(M, Shape), TENON_OK);
  EXPECT_EQ(Shape[0] * 1000 + Shape[1] * 100 + Shape[2], 1911);
  std::vector<float> Pixels(99);
  EXPECT_EQ(tenon_model_read_image(M, "missing", Pixels.data()),
            TENON_NOT_FOUND);
  ASSERT_EQ(tenon_model_read_image(M, Picture, Pixels.data()), TENON_OK);
  EXPECT_EQ(Pixels[13], pixelAt(1, 2));
  EXPECT_STREQ(tenon_model_label(M, 1), "b");
  EXPECT_EQ(tenon_model_label(M, 4), nullptr);
  EXPECT_EQ(tenon_model_label(M, -1), nullptr);
  tenon_session *S = nullptr;
  ASSERT_EQ(tenon_session_create(M, 1, 0, &S), TENON_OK);
  tenon_model_destroy(M);
  const float *Images[2] = {Pixels.data(), Pixels.data()};
  tenon_output Outputs[2] = {};
  Outputs[0].struct_size = Outputs[1].struct_size = sizeof(tenon_output);
  ASSERT_EQ(tenon_session_run_images(S, Images, 2, Outputs), TENON_OK)
      << tenon_last_error();
  EXPECT_EQ(Outputs[1].rows, 1u);
  EXPECT_EQ(Outputs[1].width, static_cast<size_t>(Width));
  EXPECT_FLOAT_EQ(Outputs[1].values[7], 2 * pixelAt(7, 9));
  Images[1] = nullptr;
  EXPECT_EQ(tenon_session_run_images(S, Images, 2, Outputs),
            TENON_INVALID_ARGUMENT);
  EXPECT_STREQ(tenon_last_error(), "tenon_session_run_images: image 1 is null");
  tenon_session_destroy(S);
}

TEST_F(CommandLineImageTest, CInterfaceOfEncoderDecoders) {
  write(makeEncoderDecoder);
  tenon_model *M = nullptr;
  ASSERT_EQ(tenon_model_load(File.c_str(), &M), TENON_OK);
  EXPECT_EQ(tenon_model_max_source(M), MaxSource);
  EXPECT_EQ(tenon_model_entry_vocabulary(M, TENON_ENTRY_STEP), Vocabulary);
  EXPECT_EQ(tenon_model_entry_vocabulary(M, TENON_ENTRY_EMBED), 0);
  EXPECT_EQ(tenon_model_decoder_start(M), 0);
  int64_t Shape[3] = {};
  EXPECT_EQ(tenon_model_image_shape(M, Shape), TENON_NOT_FOUND);
  tenon_session *S = nullptr;
  ASSERT_EQ(tenon_session_create(M, 1, 64, &S), TENON_OK);
  tenon_model_destroy(M);
  tenon_sequence Id = 0, Fork = 0;
  ASSERT_EQ(tenon_sequence_create(S, &Id), TENON_OK);
  std::vector<int32_t> Source = {9, 8}, Start = {0}, A = {1}, B = {2};
  auto Item = [](tenon_sequence Sequence, std::vector<int32_t> &Tokens) {
    return tenon_item{
        sizeof(tenon_item),     Sequence, Tokens.data(), nullptr, Tokens.size(),
        TENON_OUTPUT_ROWS_LAST, 0};
  };
  tenon_output Outputs[2] = {};
  Outputs[0].struct_size = Outputs[1].struct_size = sizeof(tenon_output);
  tenon_item Items[2] = {Item(Id, Source), {}};
  ASSERT_EQ(tenon_session_encode_sources(S, Items, 1, Outputs), TENON_OK);
  EXPECT_EQ(Outputs[0].status, TENON_OK);
  EXPECT_EQ(Outputs[0].values[0], 1008);
  Items[0] = Item(Id, Start);
  ASSERT_EQ(tenon_session_run(S, TENON_ENTRY_STEP, Items, 1, Outputs),
            TENON_OK);
  ASSERT_EQ(tenon_sequence_fork(S, Id, &Fork), TENON_OK);
  EXPECT_EQ(tenon_sequence_fork(S, 77, &Fork), TENON_NOT_FOUND);
  Items[0] = Item(Id, A);
  Items[1] = Item(Fork, B);
  ASSERT_EQ(tenon_session_run(S, TENON_ENTRY_STEP, Items, 2, Outputs),
            TENON_OK);
  EXPECT_EQ(std::vector<float>(Outputs[0].values, Outputs[0].values + Width),
            expectedLogits({0, 1}, Source));
  EXPECT_EQ(std::vector<float>(Outputs[1].values, Outputs[1].values + Width),
            expectedLogits({0, 2}, Source));
  Items[0].token_types = Start.data();
  EXPECT_EQ(tenon_session_encode_sources(S, Items, 1, Outputs),
            TENON_INVALID_ARGUMENT);
  EXPECT_EQ(tenon_session_run(S, TENON_ENTRY_ENCODE_IMAGE, Items, 1, Outputs),
            TENON_INVALID_ARGUMENT);
  EXPECT_STREQ(tenon_last_error(), "tenon_session_run: entry is 3: expected "
                                   "step, encode or embed");
  tenon_session_destroy(S);
}

TEST_F(CommandLineImageTest, ImagesOfAPrompt) {
  write(makeImageChatModel);
  std::vector<float> Pixels(4 * 6);
  std::iota(Pixels.begin(), Pixels.end(), 0.0f);
  std::string Given = npy("<f4", "(1, 4, 6)", Pixels);
  std::vector<int32_t> Image;
  for (int Patch = 0; Patch < 6; ++Patch) {
    int First = 12 * (Patch / 3) + 2 * (Patch % 3);
    std::vector<float> Row(
        Width, static_cast<float>(1000 * (Patch + 1) + 4 * First + 14));
    Image.push_back(imageTokenValue(Row));
  }
  /// The logits of the last token of the options' prompt, which has so many.
  auto Last = [&](std::vector<std::string> Options, int64_t Tokens) {
    std::string Npy = Directory / "out.npy";
    Options.insert(Options.begin(), {"run", File});
    Options.insert(Options.end(), {"--output", Npy});
    Outcome O = tenon(Options);
    EXPECT_EQ(O.Errors, "");
    Result<NpyArray> Rows = readNpy(Npy);
    EXPECT_TRUE(Rows) << Rows.error().message();
    EXPECT_EQ(Rows->Shape, (std::vector<int64_t>{Tokens, Width}));
    std::filesystem::remove(Npy);
    return std::vector<float>(Rows->Floats.end() - Width, Rows->Floats.end());
  };
  auto Meant = [&](std::vector<int32_t> Before, int Images,
                   std::vector<int32_t> After) {
    for (int I = 0; I < Images; ++I)
      Before.insert(Before.end(), Image.begin(), Image.end());
    Before.insert(Before.end(), After.begin(), After.end());
    return expectedLogits(Before);
  };
  EXPECT_EQ(Last({"--token-ids", "1,47,2", "--image", Given}, 8),
            Meant({1}, 1, {2}));
  EXPECT_EQ(Last({"--token-ids", "1,2"}, 2), expectedLogits({1, 2}));
  // Without its token an image comes before the text. More than a step holds.
  EXPECT_EQ(Last({"--token-ids", "1,2,3,4,5,6,7,8,9,10", "--image", Given,
                  "--image", Given},
                 22),
            Meant({}, 2, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));

  expectError({"run", File, "--token-ids", "1,47,2", "--image", Given,
               "--image", Given},
              "the prompt has the image token 47 1 times: expected it once for "
              "each of 2 images");
  expectError({"run", File, "--token-ids", "1,47,2"},
              "the prompt has the image token 47 1 times: expected it once for "
              "each of 0 images");
  expectError({"run", File, "--image", Given},
              "this model reads text: use --prompt TEXT");
  expectError({"run", File, "--token-ids", "1", "--image",
               npy("<f4", "(1, 6, 4)", Pixels)},
              "shape is [1,6,4]: expected pixel values [1,4,6]");
  EXPECT_NE(tenon({"inspect", File})
                .Output.find("1 x 4 x 6, in a text 6 of the token 47\n"),
            std::string::npos);

  // Requests of a file have images of their own.
  Given = npy("<f4", "(1, 4, 6)", Pixels);
  std::string Requests = Directory / "requests.jsonl";
  std::ofstream(Requests) << R"({"token_ids": [1, 2], "image": ")" << Given
                          << R"(", "max_new_tokens": 3, "temperature": 0})"
                          << "\n"
                          << R"({"token_ids": [1, 47], "image": [")" << Given
                          << R"("], "max_new_tokens": 3, "temperature": 0})"
                          << "\n";
  Outcome O = tenon({"run", File, "--prompts", Requests});
  EXPECT_EQ(O.Errors, "");
  for (const char *Ids : {"47,1,2", "1,47"}) {
    Json Alone =
        json({"run", File, "--token-ids", Ids, "--image", Given,
              "--max-new-tokens", "3", "--temperature", "0", "--json"});
    EXPECT_NE(O.Output.find("\"token_ids\":" + Alone["token_ids"].dump()),
              std::string::npos)
        << O.Output << Alone;
  }
}
