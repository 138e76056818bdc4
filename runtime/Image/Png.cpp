//===- Png.cpp - Decoding PNG files ---------------------------------------===//
//
// libpng reports errors by a jump. The functions that it may jump out of or
// into have no variables with destructors: all state is in a PngReader.
//
//===----------------------------------------------------------------------===//

#include "runtime/Image/Codecs.h"

#include <algorithm>
#include <cctype>
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include <png.h>

using namespace tenon;
using namespace tenon::image;

namespace {

/// Texts beyond this are no orientation.
constexpr png_alloc_size_t MaxChunkBytes = 1 << 20;
constexpr png_uint_32 MaxTextChunks = 64;

/// No compressed byte becomes more: the longest match is 258 bytes and takes
/// two bits.
constexpr uint64_t MaxExpansion = 1032;

struct PngReader {
  png_structp Png;
  png_infop Info;
  const char *Bytes; ///< What is left of the file.
  size_t Size;
  char Message[160];

  // From the header.
  png_uint_32 Width, Height;
  int Depth, ColorType, Interlace;
  png_colorp Palette; ///< The file's, null when it has none.
  int PaletteSize;
};

void onError(png_structp Png, const char *Message) {
  auto &Reader = *static_cast<PngReader *>(png_get_error_ptr(Png));
  std::snprintf(Reader.Message, sizeof(Reader.Message), "%s", Message);
  png_longjmp(Png, 1);
}

/// Warnings are of chunks that the pixels do not depend on.
void onWarning(png_structp, const char *) {}

void readBytes(png_structp Png, png_bytep To, size_t Count) {
  auto &Reader = *static_cast<PngReader *>(png_get_io_ptr(Png));
  if (Count > Reader.Size)
    png_error(Png, "the file ends too early");
  std::memcpy(To, Reader.Bytes, Count);
  Reader.Bytes += Count;
  Reader.Size -= Count;
}

/// False with Message set on failure, like the functions below.
bool readHeader(PngReader &Reader) {
  if (setjmp(png_jmpbuf(Reader.Png)))
    return false;
  png_structp Png = Reader.Png;
  png_set_read_fn(Png, &Reader, readBytes);
  // Sizes are checked by allocateImage, whose error names them.
  png_set_user_limits(Png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_chunk_malloc_max(Png, MaxChunkBytes);
  png_set_chunk_cache_max(Png, MaxTextChunks);
  // Colour profiles and the like are not applied: skip them unread.
  png_set_keep_unknown_chunks(Png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  static const png_byte Kept[] = "eXIf\0tEXt\0zTXt\0iTXt";
  png_set_keep_unknown_chunks(Png, PNG_HANDLE_CHUNK_AS_DEFAULT, Kept, 4);
  // Some encoders understate the window that their data needs.
  png_set_option(Png, PNG_MAXIMUM_INFLATE_WINDOW, PNG_OPTION_ON);
  png_read_info(Png, Reader.Info);
  png_get_IHDR(Png, Reader.Info, &Reader.Width, &Reader.Height, &Reader.Depth,
               &Reader.ColorType, &Reader.Interlace, nullptr, nullptr);
  png_get_PLTE(Png, Reader.Info, &Reader.Palette, &Reader.PaletteSize);
  return true;
}

size_t samplesOf(const PngReader &Reader) {
  switch (Reader.ColorType) {
  case PNG_COLOR_TYPE_GRAY_ALPHA:
    return 2;
  case PNG_COLOR_TYPE_RGB:
    return 3;
  case PNG_COLOR_TYPE_RGB_ALPHA:
    return 4;
  default: // Grey, or an index.
    return 1;
  }
}

/// The bytes that the compressed data must become, for a checked size.
uint64_t decodedBytes(const PngReader &Reader) {
  uint64_t RowBits = uint64_t(Reader.Width) * samplesOf(Reader) *
                     static_cast<uint64_t>(Reader.Depth);
  return (RowBits + 7) / 8 * Reader.Height;
}

/// Converts `Count` pixels of `Row` (at least a byte per sample) and puts them
/// at every `Step`-th byte of `To`.
void convertRow(const PngReader &Reader, const uint8_t *Row, size_t Count,
                uint8_t *To, size_t Step, int64_t Channels) {
  size_t Samples = samplesOf(Reader);
  size_t SampleBytes = Reader.Depth == 16 ? 2 : 1;
  bool IsColor = Samples >= 3;
  bool IsPalette = Reader.ColorType == PNG_COLOR_TYPE_PALETTE;
  // Grey of fewer bits is spread over the whole range.
  unsigned Scale = Reader.Depth < 8 ? 255u / ((1u << Reader.Depth) - 1u) : 1;
  for (size_t X = 0; X < Count; ++X, To += Step) {
    const uint8_t *From = Row + X * Samples * SampleBytes;
    uint8_t Red = 0, Green = 0, Blue = 0;
    if (IsPalette) {
      // Indices beyond the palette are black.
      if (From[0] < Reader.PaletteSize) {
        const png_color &Color = Reader.Palette[From[0]];
        Red = Color.red, Green = Color.green, Blue = Color.blue;
      }
    } else if (IsColor) {
      // Of 16 bits, the upper byte comes first.
      Red = From[0], Green = From[SampleBytes], Blue = From[2 * SampleBytes];
    } else {
      if (Samples == 1 && SampleBytes == 2)
        Red = From[0] != 0 ? 255 : From[1];
      else
        Red = static_cast<uint8_t>(From[0] * Scale);
      Green = Blue = Red;
    }
    if (Channels == 3)
      To[0] = Red, To[1] = Green, To[2] = Blue;
    else
      To[0] = lumaOf(Red, Green, Blue);
  }
}

/// Decodes into `Pixels` of [height][width][Channels], through `Row` of the
/// width and 8 bytes per pixel, and reads on to the end of the file.
bool readPixels(PngReader &Reader, uint8_t *Pixels, uint8_t *Row,
                int64_t Channels) {
  if (setjmp(png_jmpbuf(Reader.Png)))
    return false;
  png_structp Png = Reader.Png;
  png_set_packing(Png);
  png_start_read_image(Png);
  bool IsInterlaced = Reader.Interlace != PNG_INTERLACE_NONE;
  size_t PixelBytes = static_cast<size_t>(Channels);
  size_t RowBytes = Reader.Width * PixelBytes;
  // The library hands out the rows of each pass as they are stored.
  for (int Pass = 0; Pass < (IsInterlaced ? PNG_INTERLACE_ADAM7_PASSES : 1);
       ++Pass) {
    size_t Columns = Reader.Width, Rows = Reader.Height;
    size_t FirstX = 0, FirstY = 0, StepX = 1, StepY = 1;
    if (IsInterlaced) {
      Columns = PNG_PASS_COLS(Reader.Width, Pass);
      Rows = PNG_PASS_ROWS(Reader.Height, Pass);
      FirstX = PNG_PASS_START_COL(Pass), FirstY = PNG_PASS_START_ROW(Pass);
      StepX = PNG_PASS_COL_OFFSET(Pass), StepY = PNG_PASS_ROW_OFFSET(Pass);
    }
    if (Columns == 0)
      continue;
    for (size_t Y = 0; Y < Rows; ++Y) {
      png_read_row(Png, Row, nullptr);
      convertRow(Reader, Row, Columns,
                 Pixels + (FirstY + Y * StepY) * RowBytes + FirstX * PixelBytes,
                 StepX * PixelBytes, Channels);
    }
  }
  png_read_end(Png, Reader.Info);
  return true;
}

/// The EXIF block in a text of ImageMagick's: a line feed, a name, a length
/// and hexadecimal digits, each on its line.
std::string exifFromText(std::string_view Text) {
  for (int Line = 0; Line < 3; ++Line) {
    size_t End = Text.find('\n');
    if (End == std::string_view::npos)
      return "";
    Text.remove_prefix(End + 1);
  }
  std::string Block;
  int High = -1;
  for (char Digit : Text) {
    auto Byte = static_cast<unsigned char>(Digit);
    if (std::isspace(Byte))
      continue;
    if (!std::isxdigit(Byte))
      return "";
    int Value = std::isdigit(Byte) ? Byte - '0' : std::tolower(Byte) - 'a' + 10;
    if (High < 0) {
      High = Value;
      continue;
    }
    Block += static_cast<char>(High * 16 + Value);
    High = -1;
  }
  return Block;
}

Orientation orientationIn(PngReader &Reader) {
  std::string Exif;
  std::string_view Xmp, ExifText;
  png_uint_32 Size = 0;
  png_bytep Block = nullptr;
  if (png_get_eXIf_1(Reader.Png, Reader.Info, &Size, &Block))
    Exif.assign(reinterpret_cast<const char *>(Block), Size);
  png_textp Texts = nullptr;
  int Count = 0;
  png_get_text(Reader.Png, Reader.Info, &Texts, &Count);
  for (int I = 0; I < Count; ++I) {
    // Only one of the two lengths is set, depending on the kind of chunk.
    std::string_view Key = Texts[I].key;
    std::string_view Text(Texts[I].text,
                          std::max(Texts[I].text_length, Texts[I].itxt_length));
    if (Key == "XML:com.adobe.xmp")
      Xmp = Text;
    else if (Key == "Raw profile type exif")
      ExifText = Text;
  }
  if (Exif.empty())
    Exif = exifFromText(ExifText);
  return orientationOf(Exif, Xmp);
}

/// Walks over the chunks, whose lengths libpng trusts when it allocates; an
/// error when one is longer than the rest of the file, or the last is missing.
Status checkChunks(std::string_view Bytes) {
  constexpr size_t SignatureBytes = 8, LengthBytes = 4, FrameBytes = 12;
  std::string_view Rest = Bytes.substr(std::min(SignatureBytes, Bytes.size()));
  while (Rest.size() >= FrameBytes) {
    uint32_t Length = 0;
    for (char Byte : Rest.substr(0, LengthBytes))
      Length = Length << 8 | static_cast<uint8_t>(Byte);
    size_t Left = Rest.size() - FrameBytes;
    if (Length > Left)
      return Error("the PNG chunk at byte " +
                   std::to_string(Bytes.size() - Rest.size()) + " has " +
                   std::to_string(Length) + " bytes: expected at most the " +
                   std::to_string(Left) + " that are left of the file");
    if (Rest.substr(LengthBytes, 4) == "IEND")
      return {};
    Rest.remove_prefix(FrameBytes + Length);
  }
  return Error("the PNG data ends after " + std::to_string(Bytes.size()) +
               " bytes: expected an IEND chunk at its end");
}

/// Destroys the decoder however its reading ends.
class PngOwner {
public:
  PngOwner(std::string_view Bytes) {
    Reader.Bytes = Bytes.data();
    Reader.Size = Bytes.size();
    Reader.Png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &Reader, onError,
                                        onWarning);
    if (Reader.Png)
      Reader.Info = png_create_info_struct(Reader.Png);
  }
  ~PngOwner() { png_destroy_read_struct(&Reader.Png, &Reader.Info, nullptr); }
  PngOwner(const PngOwner &) = delete;
  PngOwner &operator=(const PngOwner &) = delete;

  PngReader Reader = {};
};

} // namespace

Result<StoredImage> image::decodePng(std::string_view Bytes, int64_t Channels,
                                     int64_t MaxPixels) {
  if (Status S = checkChunks(Bytes); !S)
    return S.error();
  PngOwner Owner(Bytes);
  PngReader &Reader = Owner.Reader;
  if (!Reader.Png || !Reader.Info)
    return Error("the PNG decoder cannot be created: expected libpng " +
                 std::string(PNG_LIBPNG_VER_STRING));
  auto Damaged = [&] {
    return Error("the PNG data cannot be decoded (" +
                 std::string(Reader.Message) + "): expected a complete file");
  };
  if (!readHeader(Reader))
    return Damaged();
  if (Status S = checkImageSize(Reader.Width, Reader.Height, MaxPixels); !S)
    return S.error();
  uint64_t Needed = decodedBytes(Reader);
  if (Needed / MaxExpansion > Bytes.size())
    return Error("the PNG data has " + std::to_string(Bytes.size()) +
                 " bytes for " + std::to_string(Reader.Width) + " x " +
                 std::to_string(Reader.Height) + " pixels: expected at least " +
                 std::to_string(Needed / MaxExpansion));
  Image Pixels = allocateImage(Reader.Width, Reader.Height, Channels);
  std::vector<uint8_t> Row(size_t(Reader.Width) * 8);
  if (!readPixels(Reader, Pixels.Pixels.data(), Row.data(), Channels))
    return Damaged();
  return StoredImage{std::move(Pixels), orientationIn(Reader)};
}
