//===- Jpeg.cpp - Decoding JPEG files -------------------------------------===//
//
// libjpeg reports errors by a jump. The functions that it may jump out of or
// into have no variables with destructors: all state is in a JpegReader.
//
//===----------------------------------------------------------------------===//

#include "runtime/Image/Codecs.h"

#include <csetjmp>
// libjpeg's headers need the C types before them.
#include <cstddef>
#include <cstdio>

#include <jerror.h>
#include <jpeglib.h>

using namespace tenon;
using namespace tenon::image;

namespace {

/// Progressive files have about ten; each costs a pass over the whole image,
/// however short it is.
constexpr int MaxScans = 100;

struct JpegReader {
  jpeg_decompress_struct Decoder;
  jpeg_error_mgr Errors;
  jpeg_progress_mgr Progress;
  std::jmp_buf Failed;
  char Message[JMSG_LENGTH_MAX];
};

JpegReader &readerOf(j_common_ptr Decoder) {
  return *static_cast<JpegReader *>(Decoder->client_data);
}

[[noreturn]] void fail(j_common_ptr Decoder) {
  JpegReader &Reader = readerOf(Decoder);
  Decoder->err->format_message(Decoder, Reader.Message);
  std::longjmp(Reader.Failed, 1);
}

/// Damaged data is a warning to the library, which goes on with grey areas in
/// the image: it is an error here, but for what leaves the pixels whole.
void onMessage(j_common_ptr Decoder, int Level) {
  if (Level >= 0)
    return;
  switch (Decoder->err->msg_code) {
  case JWRN_ADOBE_XFORM:
  case JWRN_EXTRANEOUS_DATA:
  case JWRN_JFIF_MAJOR:
  case JWRN_NOT_SEQUENTIAL:
  case JWRN_TOO_MUCH_DATA:
    return;
  default:
    fail(Decoder);
  }
}

void limitScans(j_common_ptr Decoder) {
  JpegReader &Reader = readerOf(Decoder);
  if (Reader.Decoder.input_scan_number <= MaxScans)
    return;
  std::snprintf(Reader.Message, sizeof(Reader.Message), "more than %d scans",
                MaxScans);
  std::longjmp(Reader.Failed, 1);
}

/// False with Message set on failure, like the functions below.
bool readHeader(JpegReader &Reader, const char *Bytes, size_t Size) {
  if (setjmp(Reader.Failed))
    return false;
  jpeg_create_decompress(&Reader.Decoder);
  // Creation clears the structure but for these two.
  Reader.Progress.progress_monitor = limitScans;
  Reader.Decoder.progress = &Reader.Progress;
  jpeg_mem_src(&Reader.Decoder, reinterpret_cast<const unsigned char *>(Bytes),
               Size);
  jpeg_save_markers(&Reader.Decoder, JPEG_APP0 + 1, 0xffff);
  jpeg_read_header(&Reader.Decoder, TRUE);
  return true;
}

/// Decodes into `Pixels` of [height][width][Channels]; `Row` holds one decoded
/// row of at most three components.
bool readPixels(JpegReader &Reader, uint8_t *Pixels, uint8_t *Row,
                int64_t Channels) {
  if (setjmp(Reader.Failed))
    return false;
  jpeg_decompress_struct &Decoder = Reader.Decoder;
  Decoder.out_color_space =
      Decoder.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  // The exact transform, whatever the library was built to prefer.
  Decoder.dct_method = JDCT_ISLOW;
  Decoder.do_fancy_upsampling = TRUE;
  jpeg_start_decompress(&Decoder);
  size_t Components = static_cast<size_t>(Decoder.output_components);
  while (Decoder.output_scanline < Decoder.output_height) {
    uint8_t *To = Pixels + size_t(Decoder.output_scanline) *
                               Decoder.output_width *
                               static_cast<size_t>(Channels);
    jpeg_read_scanlines(&Decoder, &Row, 1);
    for (size_t X = 0; X < Decoder.output_width; ++X) {
      const uint8_t *From = Row + X * Components;
      if (Channels == 3)
        for (size_t C = 0; C < 3; ++C)
          *To++ = From[Components == 3 ? C : 0];
      else
        *To++ = Components == 3 ? lumaOf(From[0], From[1], From[2]) : From[0];
    }
  }
  jpeg_finish_decompress(&Decoder);
  return true;
}

Orientation orientationIn(const jpeg_decompress_struct &Decoder) {
  constexpr std::string_view ExifName("Exif\0\0", 6);
  constexpr std::string_view XmpName("http://ns.adobe.com/xap/1.0/\0", 29);
  std::string Exif;
  std::string_view Xmp;
  for (jpeg_saved_marker_ptr Marker = Decoder.marker_list; Marker;
       Marker = Marker->next) {
    std::string_view Data(reinterpret_cast<const char *>(Marker->data),
                          Marker->data_length);
    // A long EXIF block spans several markers.
    if (Data.starts_with(ExifName))
      Exif += Exif.empty() ? Data : Data.substr(ExifName.size());
    else if (Data.starts_with(XmpName))
      Xmp = Data.substr(XmpName.size());
  }
  return orientationOf(Exif, Xmp);
}

/// Destroys the decoder however its reading ends.
class JpegOwner {
public:
  JpegOwner() {
    Reader.Decoder.err = jpeg_std_error(&Reader.Errors);
    Reader.Decoder.client_data = &Reader;
    Reader.Errors.error_exit = fail;
    Reader.Errors.emit_message = onMessage;
  }
  ~JpegOwner() { jpeg_destroy_decompress(&Reader.Decoder); }
  JpegOwner(const JpegOwner &) = delete;
  JpegOwner &operator=(const JpegOwner &) = delete;

  JpegReader Reader = {};
};

} // namespace

Result<StoredImage> image::decodeJpeg(std::string_view Bytes, int64_t Channels,
                                      int64_t MaxPixels) {
  JpegOwner Owner;
  JpegReader &Reader = Owner.Reader;
  auto Damaged = [&] {
    return Error("the JPEG data cannot be decoded (" +
                 std::string(Reader.Message) +
                 "): expected a complete baseline or progressive file");
  };
  if (!readHeader(Reader, Bytes.data(), Bytes.size()))
    return Damaged();
  int Components = Reader.Decoder.num_components;
  if (Components != 1 && Components != 3)
    return Error("the JPEG data has " + std::to_string(Components) +
                 " components" + (Components == 4 ? " (CMYK)" : "") +
                 ": expected grey (1) or colour (3)");
  int64_t Width = Reader.Decoder.image_width;
  int64_t Height = Reader.Decoder.image_height;
  if (Status S = checkImageSize(Width, Height, MaxPixels); !S)
    return S.error();
  Image Pixels = allocateImage(Width, Height, Channels);
  std::vector<uint8_t> Row(static_cast<size_t>(Width) * 3);
  // The end of decoding frees the markers.
  Orientation Turn = orientationIn(Reader.Decoder);
  if (!readPixels(Reader, Pixels.Pixels.data(), Row.data(), Channels))
    return Damaged();
  return StoredImage{std::move(Pixels), Turn};
}
