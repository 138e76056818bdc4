//===- HttpImagesTest.cpp - Images that clients send ----------------------===//

#include "runtime/Engine/Pixels.h"
#include "runtime/Http/Images.h"
#include "runtime/Support/Base64.h"
#include "tests/unit/PromptImageFixture.h"

#include <gmock/gmock.h>

using namespace tenon;
using namespace tenon::http;
using namespace tenon::test;
using testing::HasSubstr;

namespace {

class HttpImagesTest : public PromptImageFixture {
protected:
  void SetUp() override {
    load([](Manifest &Info, CodeInfo &Code) {
      makeImageChatModel(Info, Code);
      image::ImagePreprocessing &Steps = Info.Image->Preprocessing;
      Steps.DoResize = true;
      Steps.ResizeHeight = 4;
      Steps.ResizeWidth = 6;
    });
  }

  static std::string file(const std::string &Name) {
    return contentOf(std::string(TENON_TEST_DATA) + "/image/files/" + Name);
  }
  static std::string base64(const std::string &Bytes) {
    return encodeBase64(std::as_bytes(std::span(Bytes)));
  }
  static std::string urlOf(const std::string &Name, const std::string &Type) {
    return "data:image/" + Type + ";base64," + base64(file(Name));
  }

  ImageReader reader() { return {M.get(), Bounds, Held}; }

  /// What is said of an image; "" where it is read.
  std::string ofUrl(const std::string &Url) {
    Json Body = Json::object();
    Fields F(Body);
    Json Part = reader().ofUrl(Url, "messages[2].content[1]", F);
    return answer(F, Part);
  }
  std::string ofPart(const Json &Part) {
    Json Body = Json::object();
    Fields F(Body);
    Json Made = reader().ofImageUrl(Part, "input[0].content[1]", F);
    return answer(F, Made);
  }
  std::string ofSource(const Json &Source) {
    Json Body = Json::object();
    Fields F(Body);
    Json Made = reader().ofSource({{"type", "image"}, {"source", Source}},
                                  "messages[0].content[0]", F);
    return answer(F, Made);
  }
  std::string answer(Fields &F, const Json &Part) {
    std::optional<ApiError> Wrong = F.finish();
    EXPECT_EQ(Part.is_null(), Wrong.has_value());
    LastStatus = Wrong ? Wrong->Status : 200;
    LastParam = Wrong ? Wrong->Param : "";
    EXPECT_EQ(Wrong ? Wrong->Message.find('\n') : std::string::npos,
              std::string::npos);
    return Wrong ? Wrong->Message : "";
  }

  Limits Bounds;
  ImageBytes Held = std::make_shared<std::atomic<size_t>>(0);
  int LastStatus = 0;
  std::string LastParam;
};

TEST_F(HttpImagesTest, ReadsWhatFilesHold) {
  Json Body = Json::object();
  Fields F(Body);
  ImageReader Images = reader();
  MessageContent Content, Other;
  Content.addText("a");
  Content.addImage(Images.ofUrl(urlOf("rgb8.png", "png"), "x", F));
  Content.addText("b");
  Other.addImage(
      Images.ofBase64("image/jpeg", base64(file("420.jpg")), "x", F));
  ASSERT_FALSE(F.finish());
  // The messages come in another order.
  chat::Conversation Talk;
  Talk.Messages = Json::array({{{"role", "tool"}, {"content", Other.json()}},
                               {{"role", "user"}, {"content", Content.json()}},
                               {{"role", "user"}, {"content", "c"}},
                               {{"role", "user"}}});
  std::vector<PromptImage::Ptr> Taken = Images.takeFor(Talk);
  ASSERT_EQ(Taken.size(), 2u);
  const char *Names[] = {"420.jpg", "rgb8.png"};
  for (size_t I = 0; I < 2; ++I) {
    Result<std::vector<float>> Pixels =
        engine::pixelValuesOf(file(Names[I]), *M->manifest().Image);
    ASSERT_TRUE(Pixels) << Pixels.error().message();
    EXPECT_EQ(
        Taken[I]->Digest,
        generation::makePromptImage(*Pixels, *M->manifest().Image)->Digest);
  }
  Json Expected = Json::parse(
      R"([{"type": "text", "text": "a"}, {"type": "image"},
          {"type": "text", "text": "b"}])");
  EXPECT_EQ(Talk.Messages[1].at("content"), Expected);
}

TEST_F(HttpImagesTest, ContentWithoutImagesIsText) {
  MessageContent Content;
  EXPECT_EQ(Content.json(), "");
  Content.addText("a");
  Content.addText("b");
  EXPECT_EQ(Content.json(), "ab");
}

TEST_F(HttpImagesTest, Urls) {
  EXPECT_EQ(ofUrl(urlOf("rgb8.png", "png")), "");
  EXPECT_EQ(ofUrl(urlOf("420.jpg", "jpeg")), "");
  EXPECT_EQ(ofUrl(urlOf("420.jpg", "jpg")), "");
  // Content decides, as of files.
  EXPECT_EQ(ofUrl(urlOf("420.jpg", "png")), "");
  EXPECT_EQ(ofUrl("DATA:Image/PNG;name=a;BASE64," + base64(file("rgb8.png"))),
            "");
  const char *Fetched = ": expected data:image/png;base64,DATA or "
                        "data:image/jpeg;base64,DATA, for nothing is fetched "
                        "for a client";
  for (const char *Url :
       {"https://example.com/a.png", "http://127.0.0.1/", "file:///etc/passwd",
        "data:image/png,AAAA", "data:image/png;base64", "file-123", "", "/a"}) {
    EXPECT_EQ(ofUrl(Url), "'messages[2].content[1]' is '" + std::string(Url) +
                              "'" + Fetched);
    EXPECT_EQ(LastStatus, 400);
    EXPECT_EQ(LastParam, "messages");
  }
  EXPECT_THAT(ofUrl("https://" + std::string(1000, 'a')), HasSubstr("a'...: "));
  EXPECT_THAT(ofUrl("data:image/webp;base64,AAAA"),
              HasSubstr("is of the media type 'image/webp': expected image/png "
                        "or image/jpeg"));
  EXPECT_THAT(ofUrl("data:;base64,AAAA"), HasSubstr("media type ''"));
  EXPECT_THAT(ofUrl("data:image/png;base64,A!AA"),
              HasSubstr("has a character at 1 that is not base64"));
  EXPECT_THAT(ofUrl("data:image/png;base64,AAA"), HasSubstr("a multiple of 4"));
  EXPECT_THAT(ofUrl("data:image/png;base64,R0lGODlh"),
              HasSubstr("cannot be read: is a GIF file: expected a PNG"));
  EXPECT_THAT(
      ofUrl("data:image/png;base64," + base64(file("rgb8.png").substr(0, 60))),
      HasSubstr("cannot be read: the PNG chunk"));
}

TEST_F(HttpImagesTest, PartsOfOpenAi) {
  std::string Url = urlOf("rgb8.png", "png");
  for (const char *Detail : {"auto", "low", "high"}) {
    EXPECT_EQ(ofPart({{"type", "image_url"},
                      {"image_url", {{"url", Url}, {"detail", Detail}}}}),
              "");
    EXPECT_EQ(ofPart({{"type", "input_image"},
                      {"image_url", Url},
                      {"detail", Detail},
                      {"file_id", nullptr}}),
              "");
  }
  EXPECT_THAT(ofPart({{"image_url", {{"url", Url}, {"detail", "best"}}}}),
              HasSubstr("'input[0].content[1].image_url.detail' is \"best\": "
                        "expected \"auto\", \"low\" or \"high\""));
  EXPECT_THAT(ofPart({{"image_url", {{"url", 5}}}}),
              HasSubstr("'input[0].content[1].image_url.url' is 5: expected a "
                        "data URL"));
  EXPECT_THAT(ofPart({{"image_url", {{"url", Url}, {"size", 5}}}}),
              HasSubstr("'input[0].content[1].image_url.size' is not "
                        "supported: expected one of 'detail', 'url'"));
  EXPECT_THAT(ofPart({{"type", "input_image"}, {"file_id", "file-1"}}),
              HasSubstr("'input[0].content[1].file_id' is \"file-1\": not "
                        "supported"));
  EXPECT_THAT(ofPart({{"type", "image_url"}, {"image_url", Url}}),
              HasSubstr("'input[0].content[1].image_url' is a string: expected "
                        "an object"));
  EXPECT_THAT(
      ofPart({{"type", "input_image"}, {"image_url", {{"url", Url}}}}),
      HasSubstr("'input[0].content[1].image_url' is an object: expected "
                "a data URL"));
  EXPECT_THAT(ofPart({{"type", "input_image"}}),
              HasSubstr("'input[0].content[1].image_url' is missing"));
  EXPECT_THAT(ofPart({{"image_url", {{"url", "https://a.b/c"}}}}),
              HasSubstr("'input[0].content[1].image_url.url' is "
                        "'https://a.b/c': expected data:"));
}

TEST_F(HttpImagesTest, SourcesOfAnthropic) {
  std::string Data = base64(file("420.jpg"));
  EXPECT_EQ(
      ofSource(
          {{"type", "base64"}, {"media_type", "image/jpeg"}, {"data", Data}}),
      "");
  EXPECT_THAT(ofSource({{"type", "url"}, {"url", "https://a.b/c"}}),
              HasSubstr("'messages[0].content[0].source.type' is \"url\": "
                        "expected \"base64\", for nothing is fetched"));
  EXPECT_THAT(ofSource({{"type", "file"}, {"file_id", "f"}}),
              HasSubstr("is \"file\""));
  EXPECT_THAT(ofSource({{"type", "base64"}, {"data", Data}}),
              HasSubstr("source.media_type' is missing"));
  EXPECT_THAT(
      ofSource(
          {{"type", "base64"}, {"media_type", "image/gif"}, {"data", Data}}),
      HasSubstr("'messages[0].content[0].source' is of the media type "
                "'image/gif'"));
  EXPECT_THAT(ofSource(nullptr), HasSubstr("source' is null: expected an "));
  EXPECT_THAT(ofSource("a"), HasSubstr("source' is a string: expected an "));
}

TEST_F(HttpImagesTest, Limits) {
  std::string Url = urlOf("rgb8.png", "png");
  Bounds.ImagePixels = 5;
  EXPECT_THAT(ofUrl(Url), HasSubstr("and at most 5 pixels"));
  EXPECT_EQ(LastStatus, 400);
  Bounds.ImagePixels = http::Limits().ImagePixels;

  Bounds.Images = 2;
  Json Body = Json::object();
  {
    Fields F(Body);
    ImageReader Images = reader();
    EXPECT_FALSE(Images.ofUrl(Url, "a", F).is_null());
    EXPECT_FALSE(Images.ofUrl(Url, "b", F).is_null());
    EXPECT_TRUE(Images.ofUrl(Url, "c", F).is_null());
    std::optional<ApiError> Wrong = F.finish();
    ASSERT_TRUE(Wrong);
    EXPECT_EQ(Wrong->Message, "'c' is the image number 3: expected at most 2");
  }

  // Two images of 24 floats, however many requests they are of.
  EXPECT_EQ(*Held, 0u) << "given back";
  Bounds.AllImageBytes = 2 * 24 * sizeof(float);
  Fields F(Body);
  std::vector<PromptImage::Ptr> Kept;
  {
    ImageReader Images = reader();
    chat::Conversation Talk;
    MessageContent Content;
    Content.addImage(Images.ofUrl(Url, "a", F));
    Talk.Messages.push_back({{"role", "user"}, {"content", Content.json()}});
    Kept = Images.takeFor(Talk);
  }
  EXPECT_EQ(*Held, 24 * sizeof(float)) << "of who has the image";
  EXPECT_EQ(ofUrl(Url), "");
  PromptImage::Ptr Copy = Kept[0];
  Kept.clear();
  {
    ImageReader Images = reader();
    EXPECT_FALSE(Images.ofUrl(Url, "a", F).is_null());
    EXPECT_EQ(*Held, 48 * sizeof(float));
    EXPECT_THAT(ofUrl(Url), HasSubstr("images of other requests wait: expected "
                                      "at most 192 bytes of all"));
    EXPECT_EQ(LastStatus, 503);
  }
  Copy.reset();
  EXPECT_EQ(*Held, 0u);
}

TEST_F(HttpImagesTest, ModelsOfTextsReadNone) {
  load();
  EXPECT_FALSE(reader().isPossible());
  EXPECT_FALSE(ImageReader(nullptr, Bounds, Held).isPossible());
}

} // namespace
