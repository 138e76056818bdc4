//===- ImagePreprocessTest.cpp - From an image to a model's input ---------===//
//
// Resizing, and all steps together with the settings of a checkpoint, equal to
// the original bit for bit; every setting that is refused.
//
//===----------------------------------------------------------------------===//

#include "compiler/Families/ImageSettings.h"
#include "runtime/Image/Preprocess.h"
#include "tests/unit/CheckpointFixture.h"
#include "tests/unit/ImageCases.h"

#include <numeric>

using namespace tenon;
using namespace tenon::image;

namespace {

TEST(ImageResize, SamePixelsAsTorchvision) {
  Json Resize = imageCases()["resize"];
  ASSERT_EQ(Resize["cases"].size(), 56u);
  for (const Json &Case : Resize["cases"]) {
    Image Source =
        imageOf(Resize["sources"][Case["source"].get<std::string>()]);
    auto Name = Case["resample"].get<std::string>();
    SCOPED_TRACE(Case["source"].get<std::string>() + " to " +
                 Case["width"].dump() + " x " + Case["height"].dump() + ", " +
                 Name);
    auto Kind = resamplingNamed(Name);
    ASSERT_TRUE(Kind);
    Result<Image> Resized =
        resize(Source, Case["height"], Case["width"], *Kind);
    ASSERT_TRUE(Resized) << Resized.error().message();
    EXPECT_EQ(Resized->Height, Case["height"]);
    EXPECT_EQ(Resized->Width, Case["width"]);
    EXPECT_EQ(Resized->Channels, Source.Channels);
    EXPECT_EQ(Resized->Pixels, bytesOf(Case["pixels"]));
  }
}

TEST(ImageResize, Limits) {
  Image Tall{1, 65535, 1, std::vector<uint8_t>(65535)};
  auto Expect = [&](int64_t Height, int64_t Width, std::string_view Text) {
    Result<Image> Resized = resize(Tall, Height, Width, Resampling::Bilinear);
    ASSERT_FALSE(Resized);
    EXPECT_NE(Resized.error().message().find(Text), std::string::npos)
        << Resized.error().message();
  };
  Expect(0, 5, "1 x 65535 to 5 x 0: expected");
  Expect(5, -1, "1 x 65535 to -1 x 5: expected");
  Expect(16384, 8192, "at most 67108864 pixels");
  // Rows first: 2000 x 65535.
  Expect(10, 2000, "between the two directions");
  Expect(int64_t(1) << 62, int64_t(1) << 62, "expected");
  EXPECT_TRUE(resize(Tall, 10, 1000, Resampling::Lanczos));
}

class ImageSettings : public TemporaryFiles {
protected:
  Result<ImagePreprocessing> read(std::string_view Text, int64_t Channels = 3,
                                  int64_t Height = 16, int64_t Width = 12) {
    write("preprocessor_config.json", Text);
    return readImageSettings(Directory, Channels, Height, Width,
                             ImageProcessor::Vit);
  }

  void refuses(std::string_view Text, std::string_view Message) {
    EXPECT_ERROR(read(Text), pathOf("preprocessor_config.json"), Message);
  }

  static constexpr std::string_view Base = R"("size":{"height":16,"width":12})";
  void refusesKey(std::string_view Key, std::string_view Message) {
    refuses("{" + std::string(Base) + "," + std::string(Key) + "}", Message);
  }
};

TEST_F(ImageSettings, SameValuesAsTransformers) {
  Json Stored = imageCases()["preprocess"];
  ASSERT_EQ(Stored["cases"].size(), 16u);
  for (const Json &Case : Stored["cases"]) {
    SCOPED_TRACE(Case["settings"].dump());
    Image Source =
        imageOf(Stored["sources"][Case["source"].get<std::string>()]);
    auto Settings = read(Case["settings"].dump(), Source.Channels,
                         Case["height"], Case["width"]);
    ASSERT_TRUE(Settings) << Settings.error().message();
    // Through the manifest's form, which loses nothing.
    Json Form = toJson(*Settings);
    auto Parsed = parseJson(Form.dump(), "manifest");
    ASSERT_TRUE(Parsed);
    auto Again = imagePreprocessingFromJson(JsonField(*Parsed, "manifest"));
    ASSERT_TRUE(Again) << Again.error().message();
    EXPECT_EQ(toJson(*Again), Form);
    auto Values = preprocess(Source, *Again);
    ASSERT_TRUE(Values) << Values.error().message();
    EXPECT_EQ(*Values, floatsOf(Case["values"]));
  }
}

TEST_F(ImageSettings, Defaults) {
  auto P = read("{}", 3, 224, 224);
  ASSERT_TRUE(P) << P.error().message();
  EXPECT_EQ(toJson(*P).dump(),
            R"({"channels":3,"height":224,"width":224,"do_resize":true,)"
            R"("resize_height":224,"resize_width":224,"shortest_edge":null,)"
            R"("resample":"bilinear","do_center_crop":false,"do_rescale":true,)"
            R"("rescale_factor":0.00392156862745098,"do_normalize":true,)"
            R"("mean":[0.5,0.5,0.5],"std":[0.5,0.5,0.5]})");
  // Null is the same as absent.
  auto Nulls = read(R"({"size":null,"resample":null,"image_mean":null,)"
                    R"("image_std":null,"do_resize":null,"do_rescale":null,)"
                    R"("rescale_factor":null,"do_normalize":null,)"
                    R"("crop_size":null,"do_center_crop":null,"do_pad":null})",
                    3, 224, 224);
  ASSERT_TRUE(Nulls) << Nulls.error().message();
  EXPECT_EQ(toJson(*Nulls), toJson(*P));
}

TEST_F(ImageSettings, DefaultsOfClip) {
  const char *Form =
      R"({"channels":3,"height":224,"width":224,"do_resize":true,)"
      R"("resize_height":0,"resize_width":0,"shortest_edge":224,)"
      R"("resample":"bicubic","do_center_crop":true,"do_rescale":true,)"
      R"("rescale_factor":0.00392156862745098,"do_normalize":true,)"
      R"("mean":[0.48145466,0.4578275,0.40821073],)"
      R"("std":[0.26862954,0.26130258,0.27577711]})";
  for (const char *Name : {"CLIPImageProcessor", "CLIPImageProcessorFast",
                           "CLIPFeatureExtractor", "LlavaImageProcessor"}) {
    auto P = read(R"({"image_processor_type":")" + std::string(Name) + "\"}", 3,
                  224, 224);
    ASSERT_TRUE(P) << P.error().message();
    EXPECT_EQ(toJson(*P).dump(), Form);
  }
  // Of a file that names none, who reads it decides.
  write("preprocessor_config.json", "{}");
  auto Usual = readImageSettings(Directory, 3, 224, 224, ImageProcessor::Clip);
  ASSERT_TRUE(Usual) << Usual.error().message();
  EXPECT_EQ(toJson(*Usual).dump(), Form);
  EXPECT_EQ(
      toJson(usualImageSettings(3, 224, 224, ImageProcessor::Clip)).dump(),
      Form);
  // A number is the shortest edge, and the crop is square.
  auto P = read(R"({"image_processor_type":"CLIPImageProcessor","size":20,)"
                R"("crop_size":16})",
                3, 16, 16);
  ASSERT_TRUE(P) << P.error().message();
  EXPECT_EQ(P->ShortestEdge, 20);
  refusesKey(R"("image_processor_type":"CLIPImageProcessor")",
             "missing field 'crop_size': expected the model's height 16");
  EXPECT_ERROR(read(R"({"image_processor_type":"CLIPImageProcessor",)"
                    R"("crop_size":16})",
                    1, 16, 16),
               pathOf("preprocessor_config.json"),
               "missing field 'image_mean', which means 3 numbers: expected 1");
  refuses(R"({"image_processor_type":"LlavaImageProcessor","do_pad":true})",
          "field 'do_pad' is true: expected false");
}

TEST_F(ImageSettings, NestedSettingsGoFirst) {
  EXPECT_FALSE(hasImageSettings(Directory));
  write("processor_config.json", R"({"processor_class":"LlavaProcessor"})");
  EXPECT_FALSE(hasImageSettings(Directory));
  write("preprocessor_config.json", R"({"do_resize":false,"resample":0})");
  EXPECT_TRUE(hasImageSettings(Directory));
  auto Read = [&] {
    return readImageSettings(Directory, 3, 16, 16, ImageProcessor::Vit);
  };
  auto P = Read();
  ASSERT_TRUE(P) << P.error().message();
  EXPECT_EQ(P->Resample, Resampling::Nearest);
  write("processor_config.json",
        R"({"image_processor":{"do_resize":false,"resample":3},)"
        R"("patch_size":14})");
  P = Read();
  ASSERT_TRUE(P) << P.error().message();
  EXPECT_EQ(P->Resample, Resampling::Bicubic);
  write("processor_config.json",
        R"({"image_processor":{"do_resize":false,"frames":3}})");
  EXPECT_ERROR(Read(), pathOf("processor_config.json"),
               "field 'image_processor.frames' is 3: ViTImageProcessor does "
               "not read this key");
  write("processor_config.json", R"({"image_processor":3})");
  EXPECT_ERROR(Read(), pathOf("processor_config.json"),
               "field 'image_processor' is 3: expected an object");
  std::filesystem::remove(pathOf("preprocessor_config.json"));
  EXPECT_TRUE(hasImageSettings(Directory)) << "if only to be refused";
}

TEST_F(ImageSettings, InertKeys) {
  auto P =
      read(R"({"image_processor_type":"ViTImageProcessorFast",)"
           R"("feature_extractor_type":"ViTFeatureExtractor",)"
           R"("processor_class":null,"do_convert_rgb":true,)"
           R"("data_format":"channels_first","input_data_format":null,)"
           R"("device":null,"return_tensors":null,"disable_grouping":null,)"
           R"("_valid_processor_keys":["images","do_resize"],)"
           R"("default_to_square":true,"size":[16,12]})");
  EXPECT_TRUE(P) << P.error().message();
}

TEST_F(ImageSettings, Refusals) {
  EXPECT_ERROR(readImageSettings(Directory, 3, 8, 8, ImageProcessor::Vit),
               pathOf("preprocessor_config.json"), "");
  refuses("[]", "is not a JSON object");
  refusesKey(R"("image_processor_type":"BlipImageProcessor")",
             "field 'image_processor_type' is \"BlipImageProcessor\": expected "
             "ViTImageProcessor or CLIPImageProcessor");
  refusesKey(R"("feature_extractor_type":"BeitFeatureExtractor")",
             "expected ViTImageProcessor");
  refusesKey(
      R"("do_reduce_labels":false)",
      "field 'do_reduce_labels' is false: ViTImageProcessor does not read "
      "this key");
  refusesKey(R"("do_pad":true)", "field 'do_pad' is true: expected false");
  refusesKey(R"("pad_size":{"height":20,"width":20})", "field 'pad_size' is");
  refusesKey(R"("data_format":"channels_last")", "expected channels_first");
  refusesKey(R"("do_convert_rgb":"yes")", "'do_convert_rgb'");
  refusesKey(R"("do_resize":1)", "expected true or false");
  refusesKey(R"("resample":4)", "field 'resample' is 4: expected 0 (nearest)");
  refusesKey(R"("resample":-1)", "'resample'");
  refusesKey(R"("resample":"bilinear")", "'resample'");
  refusesKey(R"("rescale_factor":0)", "'rescale_factor'");
  refusesKey(R"("rescale_factor":-1)", "'rescale_factor'");
  refusesKey(R"("image_mean":[0.5,0.5])",
             "expected 3 numbers from -1e+06 to 1e+06, one per channel");
  refusesKey(R"("image_mean":[0.5,0.5,"x"])", "'image_mean'");
  refusesKey(R"("image_std":[0.5,0,0.5])", "field 'image_std'");
  refusesKey(R"("image_std":{"a":1})", "field 'image_std'");
  EXPECT_ERROR(read("{}", 4, 224, 224), pathOf("preprocessor_config.json"),
               "is for a model with 4 channels: expected 1 (grey) or 3 (RGB)");
}

TEST_F(ImageSettings, RefusesOtherSizes) {
  refuses("{}", "missing field 'size', which means height 224 and width 224: "
                "expected the model's height 16 and width 12");
  refuses(R"({"size":{"height":12,"width":16}})",
          "field 'size' is {\"height\":12,\"width\":16}: expected the model's "
          "height 16 and width 12");
  refuses(R"({"size":16})", "field 'size' is 16: expected the model's");
  refuses(R"({"size":[16,12,3]})", "expected one or two whole numbers");
  refuses(R"({"size":[]})", "expected one or two whole numbers");
  refuses(R"({"size":0})", "expected one or two whole numbers");
  refuses(R"({"size":{"height":16}})", "missing field 'size.width'");
  refuses(R"({"size":{"height":16,"width":70000}})", "'size.width' is 70000");
  refuses(R"({"size":{"shortest_edge":12}})",
          "expected the model's height 16 and width 12, or do_center_crop");
  refuses(R"({"size":12,"default_to_square":false})", "or do_center_crop");
  refuses(R"({"size":{"shortest_edge":12,"longest_edge":20},)"
          R"("do_center_crop":true,"crop_size":[16,12]})",
          "field 'size.longest_edge' is 20: ViTImageProcessor does not read "
          "this key");
  refuses(R"({"size":{"longest_edge":20}})", "missing field 'size.height'");
  refuses(R"({"do_center_crop":true,"crop_size":16})",
          "field 'crop_size' is 16: expected the model's height 16");
  refuses(R"({"do_center_crop":true,"crop_size":{"shortest_edge":16}})",
          "'crop_size'");
  refuses(R"({"do_center_crop":true})",
          "missing field 'crop_size': expected the model's");
}

TEST(ImagePreprocess, ImagesThatDoNotFit) {
  ImagePreprocessing P;
  P.Height = 4, P.Width = 5, P.DoNormalize = false;
  auto Expect = [&](const Image &Source, std::string_view Text) {
    auto Values = preprocess(Source, P);
    ASSERT_FALSE(Values);
    EXPECT_NE(Values.error().message().find(Text), std::string::npos)
        << Values.error().message();
  };
  Image Source{6, 4, 3, std::vector<uint8_t>(72)};
  P.DoResize = false;
  Expect(Source, "image is 6 x 4 pixels after preprocessing: expected the "
                 "model's 5 x 4");
  P.DoResize = true, P.ShortestEdge = 4;
  Expect(Source, "image is 6 x 4 pixels after preprocessing");
  P.DoCenterCrop = true;
  EXPECT_TRUE(preprocess(Source, P));
  // A long strip would become millions of pixels long.
  P.ShortestEdge = 224;
  Expect({65535, 1, 3, std::vector<uint8_t>(3 * 65535)},
         "to 14679840 x 224: expected at most");
  Expect({6, 4, 1, std::vector<uint8_t>(24)}, "expected 3 bytes per pixel");
  Expect({6, 4, 3, std::vector<uint8_t>(71)}, "71 bytes for 6 x 4");
  Expect({}, "0 bytes");
  P.DoNormalize = true;
  Expect(Source, "0 means and 0 deviations: expected 3");
}

TEST(ImagePreprocess, DamagedManifest) {
  ImagePreprocessing Good;
  Good.Height = Good.ResizeHeight = 4, Good.Width = Good.ResizeWidth = 5;
  Good.Mean = Good.Std = {1, 1, 1};
  auto Expect = [&](const char *Key, const Json &Value, std::string_view Text) {
    Json Form = toJson(Good);
    Form[Key] = Value;
    auto Read = imagePreprocessingFromJson(JsonField(Form, "m.tenon", "image"));
    ASSERT_FALSE(Read) << Key << Value;
    std::string Field = "m.tenon: field 'image." + std::string(Key);
    EXPECT_EQ(Read.error().message().find(Field), 0u) << Read.error().message();
    EXPECT_NE(Read.error().message().find(Text), std::string::npos)
        << Read.error().message();
  };
  Json Form = toJson(Good);
  EXPECT_TRUE(imagePreprocessingFromJson(JsonField(Form, "m.tenon", "image")));
  for (const auto &[Key, Value] : Form.items()) {
    Json Less = Form;
    Less.erase(Key);
    auto Read = imagePreprocessingFromJson(JsonField(Less, "m.tenon", "image"));
    ASSERT_FALSE(Read) << Key;
    EXPECT_NE(Read.error().message().find("image." + Key), std::string::npos);
  }
  Expect("channels", 2, "expected 1 or 3");
  Expect("channels", 0, "expected");
  Expect("height", 0, "expected");
  Expect("width", 65536, "expected");
  Expect("resize_width", 0, "from 1");
  Expect("shortest_edge", -1, "expected");
  Expect("resample", "box", "expected nearest, lanczos, bilinear or bicubic");
  Expect("resample", 2, "expected a string");
  Expect("do_rescale", "x", "expected true or false");
  Expect("rescale_factor", 0, "expected a number from");
  Expect("mean", {1, 2}, "expected 3 numbers");
  Expect("std", {1, 2, 0}, "expected a number from");
  Expect("std", {1, 2, "3"}, "expected a finite number");
  Form["shortest_edge"] = 4;
  Form["resize_width"] = 0;
  EXPECT_TRUE(imagePreprocessingFromJson(JsonField(Form, "m.tenon", "image")));
}

TEST(ImagePatches, OrderOfAConvolution) {
  // Two channels of 5 x 7 in patches of 2 x 3: a row and a column are left.
  std::vector<float> Pixels(2 * 5 * 7);
  std::iota(Pixels.begin(), Pixels.end(), 0.0f);
  std::vector<float> Rows = patchRows(Pixels, 2, 5, 7, 2, 3);
  EXPECT_EQ(Rows, (std::vector<float>{
                      0,  1,  2,  7,  8,  9,  35, 36, 37, 42, 43, 44, //
                      3,  4,  5,  10, 11, 12, 38, 39, 40, 45, 46, 47, //
                      14, 15, 16, 21, 22, 23, 49, 50, 51, 56, 57, 58, //
                      17, 18, 19, 24, 25, 26, 52, 53, 54, 59, 60, 61}));
}

} // namespace
