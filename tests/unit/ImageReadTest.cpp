//===- ImageReadTest.cpp - PNG and JPEG files -----------------------------===//
//
// Pixels equal to Pillow's for every kind of file, and one line of error for
// what cannot be read.
//
//===----------------------------------------------------------------------===//

#include "runtime/Image/Codecs.h"
#include "runtime/Image/Orientation.h"
#include "tests/unit/CheckpointFixture.h"
#include "tests/unit/ImageCases.h"

using namespace tenon;
using namespace tenon::image;
using namespace std::string_literals;

namespace {

class ImageRead : public TemporaryFiles {
protected:
  static std::string chunk(const std::string &Name, const std::string &Data) {
    return bigEndian(static_cast<uint32_t>(Data.size())) + Name + Data +
           bigEndian(crcOf(Name + Data));
  }

  /// The start of a PNG file of this size and 8-bit RGB.
  static std::string pngHeader(uint32_t Width, uint32_t Height) {
    return "\x89PNG\r\n\x1a\n" +
           chunk("IHDR",
                 bigEndian(Width) + bigEndian(Height) + "\x08\x02\0\0\0"s);
  }
};

TEST_F(ImageRead, SamePixelsAsPillow) {
  Json Cases = imageCases();
  ASSERT_GT(Cases["read"].size(), 50u);
  for (const Json &Case : Cases["read"])
    for (int64_t Channels : {1, 3}) {
      auto File = Case["file"].get<std::string>();
      SCOPED_TRACE(File + " as " + std::to_string(Channels));
      Result<Image> Read = readImage(ImageData + "/files/" + File, Channels);
      ASSERT_TRUE(Read) << Read.error().message();
      EXPECT_EQ(Read->Width, Case["width"]);
      EXPECT_EQ(Read->Height, Case["height"]);
      EXPECT_EQ(Read->Channels, Channels);
      EXPECT_EQ(Read->Pixels, bytesOf(Case[Channels == 3 ? "rgb" : "grey"]));
    }
}

TEST_F(ImageRead, ContentDecidesNotName) {
  std::string Path = write("picture.png", contentOf("420.jpg"));
  Result<Image> Read = readImage(Path, 3);
  ASSERT_TRUE(Read) << Read.error().message();
  EXPECT_EQ(Read->Width, 21);
}

TEST_F(ImageRead, BytesInMemory) {
  for (const char *File : {"rgb8.png", "420.jpg", "exif6.jpg"})
    for (int64_t Channels : {1, 3}) {
      Result<Image> OfFile = readImage(ImageData + "/files/" + File, Channels);
      Result<Image> OfBytes = decodeImage(contentOf(File), Channels);
      ASSERT_TRUE(OfFile && OfBytes) << File;
      EXPECT_EQ(OfBytes->Width, OfFile->Width);
      EXPECT_EQ(OfBytes->Pixels, OfFile->Pixels);
    }
  // Errors name no file.
  EXPECT_ERROR(decodeImage("GIF89a", 3), "is a GIF file: expected a PNG or ",
               "");
  EXPECT_ERROR(decodeImage("", 3), "is empty: expected a PNG or JPEG", "");
  EXPECT_ERROR(decodeImage(contentOf("rgb8.png"), 2), "2 channels are", "1 or");
  EXPECT_ERROR(decodeImage(contentOf("rgb8.png").substr(0, 50), 3), "the PNG ",
               "expected");
  EXPECT_ERROR(decodeImage(std::string(MaxImageBytes + 1, 'a'), 3),
               "has 268435457 bytes", "at most 268435456");
  EXPECT_ERROR(decodeImage(contentOf("cmyk.jpg"), 3), "the JPEG data",
               "(CMYK)");
}

TEST_F(ImageRead, PixelsAsTheCallerLimitsThem) {
  for (const char *File : {"rgb8.png", "420.jpg", "exif6.jpg"}) {
    Result<Image> Whole = decodeImage(contentOf(File), 3);
    ASSERT_TRUE(Whole) << File;
    int64_t Pixels = Whole->Width * Whole->Height;
    EXPECT_TRUE(decodeImage(contentOf(File), 3, Pixels)) << File;
    EXPECT_ERROR(decodeImage(contentOf(File), 3, Pixels - 1), "image is ",
                 "at most " + std::to_string(Pixels - 1));
  }
}

TEST_F(ImageRead, OtherFormats) {
  auto Expect = [&](std::string_view Content, std::string_view Text) {
    std::string Path = write("picture.png", Content);
    EXPECT_ERROR(readImage(Path, 3), Path, Text);
    EXPECT_ERROR(readImage(Path, 3), Path, "expected a PNG or JPEG file");
  };
  Expect("", "is empty");
  Expect("GIF89a", "is a GIF file");
  Expect("RIFF1234WEBP", "(WebP)");
  Expect("\x93NUMPY", "is a NumPy file");
  Expect("version https://git-lfs.github.com/spec/v1\n", "Git-LFS pointer");
  Expect("\x01\x1b[2J", "begins with bytes 01 1b 5b 32");
  EXPECT_ERROR(readImage(pathOf("none.png"), 3), pathOf("none.png"), "");
  EXPECT_ERROR(readImage(Directory, 3), Directory, "");
}

TEST_F(ImageRead, Channels) {
  std::string Path = ImageData + "/files/rgb8.png";
  for (int64_t Channels : {-1, 0, 2, 4})
    EXPECT_ERROR(readImage(Path, Channels), Path,
                 std::to_string(Channels) +
                     " channels are asked for: expected 1 or 3");
}

TEST_F(ImageRead, Cmyk) {
  std::string Path = ImageData + "/files/cmyk.jpg";
  EXPECT_ERROR(readImage(Path, 3), Path,
               "4 components (CMYK): expected grey (1) or colour (3)");
}

TEST_F(ImageRead, SizesAreCheckedFirst) {
  auto Expect = [&](uint32_t Width, uint32_t Height, std::string_view Text) {
    std::string Path =
        write("large.png", pngHeader(Width, Height) + chunk("IDAT", "x") +
                               chunk("IEND", ""));
    EXPECT_ERROR(readImage(Path, 3), Path, Text);
  };
  Expect(8193, 8192,
         "image is 8193 x 8192 pixels: expected sides from 1 to "
         "65535 and at most 67108864 pixels");
  Expect(65536, 1, "65536 x 1");
  Expect(0x7fffffff, 0x7fffffff, "2147483647 x 2147483647");
  // Within the limits, the data is what is wrong.
  Expect(8192, 8192, "bytes for 8192 x 8192 pixels: expected at least 195083");
  Expect(100, 100, "cannot be decoded");
  Expect(0, 5, "cannot be decoded");
  Expect(0x80000000u, 5, "cannot be decoded");

  // The size of a JPEG file follows its frame marker, FF C0.
  std::string Jpeg = contentOf("420.jpg");
  size_t Frame = Jpeg.find("\xff\xc0"s);
  ASSERT_NE(Frame, std::string::npos);
  Jpeg.replace(Frame + 5, 4, "\xff\xdc\xff\xdc"s);
  std::string Path = write("large.jpg", Jpeg);
  EXPECT_ERROR(readImage(Path, 3), Path, "image is 65500 x 65500 pixels");
}

TEST_F(ImageRead, DamagedPng) {
  std::string Good = contentOf("rgb8.png");
  for (size_t Size = 0; Size < Good.size(); ++Size)
    EXPECT_ERROR(decodePng(std::string_view(Good).substr(0, Size), 3),
                 "the PNG ", ": expected a");
  EXPECT_ERROR(decodePng(std::string_view(Good).substr(0, 50), 3),
               "the PNG chunk at byte 33 has ",
               " bytes: expected at most the 5 "
               "that are left of the file");
  EXPECT_ERROR(decodePng(std::string_view(Good).substr(0, 33), 3),
               "the PNG data ends after 33 bytes: expected an IEND chunk", "");
  size_t Data = Good.find("IDAT");
  std::string Flipped = Good;
  Flipped[Data + 8] = static_cast<char>(Flipped[Data + 8] ^ 1);
  std::string Path = write("flipped.png", Flipped);
  EXPECT_ERROR(readImage(Path, 3), Path, "the PNG data cannot be decoded");

  std::string Palette = contentOf("palette8.png");
  size_t At = Palette.find("PLTE") - 4;
  Palette.erase(At, 12 + 3 * 200);
  Path = write("palette.png", Palette);
  EXPECT_ERROR(readImage(Path, 3), Path, "Missing PLTE");
}

TEST_F(ImageRead, DamagedJpeg) {
  for (std::string Name : {"420.jpg", "420-progressive.jpg"}) {
    std::string Good = contentOf(Name);
    for (size_t Size = 0; Size < Good.size(); ++Size)
      EXPECT_ERROR(decodeJpeg(std::string_view(Good).substr(0, Size), 3),
                   "the JPEG data cannot be decoded", "");
    std::string Path = write("cut.jpg", Good.substr(0, Good.size() / 2));
    EXPECT_ERROR(readImage(Path, 3), Path, "the JPEG data cannot be decoded");
  }
}

/// Each scan costs a pass over an image that may be large, and may be of a few
/// bytes: here, one coefficient of every block stays as it is.
TEST_F(ImageRead, EndlessScans) {
  std::string Good = contentOf("grey-progressive.jpg");
  size_t First = Good.find("\xff\xda"s);
  ASSERT_NE(First, std::string::npos);
  size_t Next = std::min(Good.find("\xff\xda"s, First + 2),
                         Good.find("\xff\xc4"s, First + 2));
  ASSERT_NE(Next, std::string::npos);
  // A table with one code of one bit, the end of a block.
  std::string Start =
      Good.substr(0, Next) + "\xff\xc4\0\x14\x10\x01"s + std::string(16, '\0');
  auto WithScans = [&](int Count) {
    std::string Bytes = Start;
    for (int Scan = 0; Scan < Count; ++Scan) {
      // First all bits but the last of the 63 coefficients, then the last.
      auto Coefficient = static_cast<char>(1 + Scan % 63);
      Bytes += "\xff\xda\0\x08\x01\x01\0"s + Coefficient + Coefficient +
               (Scan < 63 ? '\x01' : '\x10');
      // Nine blocks of 8 x 8.
      Bytes += "\0\x7f"s;
    }
    return decodeJpeg(Bytes + "\xff\xd9", 1);
  };
  auto Read = WithScans(99);
  EXPECT_TRUE(Read) << Read.error().message();
  Read = WithScans(100);
  ASSERT_FALSE(Read);
  EXPECT_NE(Read.error().message().find("(more than 100 scans)"),
            std::string::npos)
      << Read.error().message();
}

TEST(ImageOrientation, DamagedExif) {
  std::string Good = "II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0"s;
  EXPECT_EQ(exifOrientation(Good), 6);
  EXPECT_EQ(exifOrientation("Exif\0\0Exif\0\0"s + Good), 6);
  for (size_t Size = 0; Size < Good.size() - 2; ++Size)
    EXPECT_EQ(exifOrientation(Good.substr(0, Size)), std::nullopt) << Size;
  auto With = [&](size_t At, std::string_view Bytes) {
    std::string Changed = Good;
    Changed.replace(At, Bytes.size(), Bytes);
    return exifOrientation(Changed);
  };
  EXPECT_EQ(With(4, "\xff\xff\xff\xff"), std::nullopt); // Offset.
  EXPECT_EQ(With(8, "\xff\xff"), 6);                    // Entries.
  EXPECT_EQ(With(12, "\x02"), std::nullopt);            // A string.
  EXPECT_EQ(With(14, "\x02"), std::nullopt);            // Two values.
  EXPECT_EQ(With(18, "\xff\xff"), 65535);
  EXPECT_EQ(orientationOf(Good, ""), Orientation::RotateRight);
  // A number without a meaning still counts as EXIF's answer.
  std::string Odd = Good;
  Odd[18] = 9;
  EXPECT_EQ(orientationOf(Odd, "tiff:Orientation=\"3\""), Orientation::Upright);
  EXPECT_EQ(orientationOf("", "tiff:Orientation=\"3\""),
            Orientation::Rotate180);
}

TEST(ImageOrientation, Xmp) {
  EXPECT_EQ(xmpOrientation("<tiff:Orientation>8</tiff:Orientation>"), 8);
  EXPECT_EQ(xmpOrientation("tiff:Orientation = tiff:Orientation=\"2\""), 2);
  EXPECT_EQ(xmpOrientation("tiff:Orientation=\"x\""), std::nullopt);
  EXPECT_EQ(xmpOrientation("tiff:Orientation=\""), std::nullopt);
  EXPECT_EQ(xmpOrientation("tiff:Orientation"), std::nullopt);
}

} // namespace
