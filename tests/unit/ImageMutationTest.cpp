//===- ImageMutationTest.cpp - Damaged pictures never crash ---------------===//
//
// Decodes thousands of damaged copies of valid files and uses all that is
// accepted. Most telling under AddressSanitizer.
//
//===----------------------------------------------------------------------===//

#include "runtime/Image/Codecs.h"
#include "runtime/Image/Preprocess.h"
#include "tests/unit/ImageCases.h"

#include <random>

using namespace tenon;
using namespace tenon::image;

namespace {

class ImageMutation : public testing::Test {
protected:
  size_t below(size_t Limit) {
    return std::uniform_int_distribution<size_t>(0, Limit - 1)(Random);
  }

  /// One to four random edits: a byte, a bit, a cut, a copied or lost span, an
  /// extreme number.
  std::string damaged(std::string Bytes) {
    for (size_t Edits = 1 + below(4); Edits > 0 && !Bytes.empty(); --Edits) {
      size_t At = below(Bytes.size());
      size_t Span = 1 + below(std::min<size_t>(16, Bytes.size() - At));
      switch (below(7)) {
      case 0:
        Bytes[At] = static_cast<char>(below(256));
        break;
      case 1:
        Bytes[At] = static_cast<char>(Bytes[At] ^ (1 << below(8)));
        break;
      case 2:
        // Cuts tell the least: make them the rarest.
        if (below(4) == 0)
          Bytes.resize(At);
        break;
      case 3:
        Bytes.erase(At, Span);
        break;
      case 4:
        Bytes.insert(below(Bytes.size()), Bytes.substr(At, Span));
        break;
      case 5:
        Bytes.replace(At, Span, Span, "\0\xff\x7f\x80"[below(4)]);
        break;
      case 6:
        // Most of the structure is at the start.
        At = below(std::min<size_t>(Bytes.size(), 64));
        Bytes[At] = static_cast<char>(below(256));
        break;
      }
    }
    return Bytes;
  }

  /// Right checksums for whatever chunks there still are, so that damage gets
  /// past them.
  static std::string withChecksums(std::string Png) {
    for (size_t At = 8; At + 12 <= Png.size();) {
      uint32_t Length = 0;
      for (size_t I = 0; I < 4; ++I)
        Length = Length << 8 | static_cast<uint8_t>(Png[At + I]);
      if (Length > Png.size() - At - 12)
        break;
      Png.replace(
          At + 8 + Length, 4,
          bigEndian(crcOf(std::string_view(Png).substr(At + 4, 4 + Length))));
      At += 12 + size_t(Length);
    }
    return Png;
  }

  /// True when the file was decoded.
  bool uses(Result<StoredImage> Read, int64_t Channels) {
    if (!Read) {
      const std::string &Message = Read.error().message();
      EXPECT_FALSE(Message.empty());
      for (char Byte : Message)
        EXPECT_TRUE(static_cast<unsigned char>(Byte) >= 0x20 && Byte != 0x7f)
            << Message;
      return false;
    }
    Image Upright = turned(std::move(Read->Pixels), Read->Turn);
    EXPECT_LE(Upright.Width * Upright.Height, MaxImagePixels);
    ImagePreprocessing P;
    P.Channels = Channels;
    P.Height = P.ResizeHeight = 3, P.Width = P.ResizeWidth = 5;
    P.Mean = P.Std = std::vector<double>(static_cast<size_t>(Channels), 0.5);
    EXPECT_TRUE(preprocess(Upright, P));
    return true;
  }

  template <typename Function>
  void damage(std::initializer_list<const char *> Files, Function Decode) {
    int Refused = 0, Tried = 0;
    for (const char *File : Files) {
      std::string Good = contentOf(File);
      EXPECT_TRUE(uses(Decode(Good, 3), 3)) << File;
      for (int I = 0; I < Rounds; ++I, ++Tried) {
        int64_t Channels = below(2) ? 3 : 1;
        Refused += !uses(Decode(damaged(Good), Channels), Channels);
      }
    }
    // A changed pixel goes unnoticed; most other damage must not.
    EXPECT_GT(Refused, Tried / 5);
    EXPECT_LT(Refused, Tried);
  }

  static constexpr int Rounds = 2000;
  std::mt19937 Random{20240612};
};

TEST_F(ImageMutation, Png) {
  damage({"rgb8.png", "palette4-interlaced.png", "exif-and-xmp.png"},
         [](const std::string &Bytes, int64_t Channels) {
           return decodePng(Bytes, Channels);
         });
}

TEST_F(ImageMutation, PngBehindChecksums) {
  damage({"rgb8.png", "rgba16-interlaced.png", "grey1-interlaced.png",
          "palette2.png", "exif-and-xmp.png", "exif-text.png"},
         [](const std::string &Bytes, int64_t Channels) {
           return decodePng(withChecksums(Bytes), Channels);
         });
}

TEST_F(ImageMutation, Jpeg) {
  damage({"420.jpg", "420-progressive.jpg", "restarts.jpg", "grey.jpg",
          "exif6.jpg", "xmp.jpg"},
         [](const std::string &Bytes, int64_t Channels) {
           return decodeJpeg(Bytes, Channels);
         });
}

TEST_F(ImageMutation, Orientation) {
  std::string Good = contentOf("exif6.jpg");
  size_t Start = Good.find("Exif");
  ASSERT_NE(Start, std::string::npos);
  Good = Good.substr(Start, 44);
  ASSERT_EQ(exifOrientation(Good), 6);
  int Found = 0;
  for (int I = 0; I < 10000; ++I)
    Found += exifOrientation(damaged(Good)).has_value();
  EXPECT_GT(Found, 1000);
  EXPECT_LT(Found, 10000);
}

} // namespace
