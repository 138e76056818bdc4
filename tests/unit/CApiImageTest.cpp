//===- CApiImageTest.cpp - Prompts with images from C ---------------------===//

#include "PromptImageFixture.h"

#include "runtime/tenon.h"

#include <gmock/gmock.h>

using namespace tenon;
using namespace tenon::test;
using testing::HasSubstr;

namespace {

class CApiImageTest : public PromptImageFixture {
protected:
  void SetUp() override {
    load(makeImageChatModel);
    ASSERT_EQ(tenon_model_load(File.c_str(), &Loaded), TENON_OK);
    tenon_settings_init(&Asked);
    Asked.ignore_eos = 1;
    Asked.max_new_tokens = 8;
    // The code of the test waits on the one and fails on the other.
    Asked.bias_tokens = Never;
    Asked.biases = Bias;
    Asked.bias_count = 2;
  }
  void TearDown() override { tenon_model_destroy(Loaded); }

  static std::vector<float> pixels(int Seed) {
    std::vector<float> All(24);
    for (size_t I = 0; I < All.size(); ++I)
      All[I] = static_cast<float>(I * static_cast<size_t>(Seed) % 7);
    return All;
  }

  const int32_t Never[2] = {48, 49};
  const float Bias[2] = {-100, -100};
  tenon_model *Loaded = nullptr;
  tenon_settings Asked;
};

TEST_F(CApiImageTest, PromptsWithImages) {
  EXPECT_EQ(tenon_model_image_token(Loaded), ImageToken);
  EXPECT_EQ(tenon_model_image_token(nullptr), -1);
  std::vector<float> First = pixels(2), Second = pixels(3);
  const float *Images[] = {First.data(), Second.data()};
  Asked.images = Images;
  Asked.image_count = 2;
  const Tokens Prompt = {1, ImageToken, 2, ImageToken};
  const artifact::ImageInfo &Info = *M->manifest().Image;
  Settings Wish = safe();
  Tokens Expected =
      greedyOf(request(Wish, Prompt,
                       {generation::makePromptImage(First, Info),
                        generation::makePromptImage(Second, Info)}),
               8);

  tenon_session *Session = nullptr;
  ASSERT_EQ(tenon_session_create(Loaded, 1, 0, &Session), TENON_OK);
  tenon_generation *G = nullptr;
  ASSERT_EQ(tenon_generation_create(Session, &Asked, Prompt.data(),
                                    Prompt.size(), &G),
            TENON_OK)
      << tenon_last_error();
  Tokens New;
  tenon_piece Piece = {};
  Piece.struct_size = sizeof(Piece);
  do {
    ASSERT_EQ(tenon_generation_next(G, &Piece), TENON_OK) << tenon_last_error();
    New.insert(New.end(), Piece.tokens, Piece.tokens + Piece.token_count);
  } while (Piece.unfinished > 0);
  EXPECT_EQ(New, Expected);
  tenon_generation_destroy(G);

  tenon_engine *E = nullptr;
  ASSERT_EQ(tenon_engine_create(Loaded, nullptr, &E), TENON_OK);
  tenon_request Id = 0;
  ASSERT_EQ(tenon_engine_submit(E, &Asked, Prompt.data(), Prompt.size(),
                                nullptr, &Id, nullptr),
            TENON_OK)
      << tenon_last_error();
  New.clear();
  for (;;) {
    tenon_update U{};
    U.struct_size = sizeof(U);
    ASSERT_EQ(tenon_engine_wait(E, 10, &U), TENON_OK);
    if (!U.piece)
      break;
    New.insert(New.end(), U.piece->tokens,
               U.piece->tokens + U.piece->token_count);
  }
  EXPECT_EQ(New, Expected);
  tenon_engine_destroy(E);
  tenon_session_destroy(Session);
}

TEST_F(CApiImageTest, Errors) {
  tenon_session *Session = nullptr;
  ASSERT_EQ(tenon_session_create(Loaded, 1, 0, &Session), TENON_OK);
  const Tokens Prompt = {1, ImageToken};
  auto ErrorOf = [&] {
    tenon_generation *G = nullptr;
    EXPECT_EQ(tenon_generation_create(Session, &Asked, Prompt.data(),
                                      Prompt.size(), &G),
              TENON_INVALID_ARGUMENT);
    return std::string(tenon_last_error());
  };
  EXPECT_THAT(ErrorOf(), HasSubstr("expected it once for each of 0 images"));
  Asked.image_count = 1;
  EXPECT_THAT(ErrorOf(), HasSubstr("tenon_generation_create: images is null: "
                                   "expected 1 elements"));
  const float *Images[] = {nullptr, nullptr};
  Asked.images = Images;
  EXPECT_THAT(ErrorOf(), HasSubstr("images: one is null: expected pixels"));
  std::vector<float> Pixels = pixels(1);
  Images[0] = Images[1] = Pixels.data();
  Asked.image_count = 2;
  EXPECT_THAT(ErrorOf(), HasSubstr("expected it once for each of 2 images"));
  tenon_session_destroy(Session);

  load();
  tenon_model_destroy(Loaded);
  ASSERT_EQ(tenon_model_load(File.c_str(), &Loaded), TENON_OK);
  EXPECT_EQ(tenon_model_image_token(Loaded), -1);
  ASSERT_EQ(tenon_session_create(Loaded, 1, 0, &Session), TENON_OK);
  EXPECT_THAT(ErrorOf(), HasSubstr("image_count is 2: expected 0, for this "
                                   "model reads texts only"));
  tenon_session_destroy(Session);
}

} // namespace
