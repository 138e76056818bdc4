//===- image.cpp - PNG and JPEG files, and what models make of them -------===//
//
// Input: one byte of settings, then the file.
//
//===----------------------------------------------------------------------===//

#include "runtime/Image/Orientation.h"
#include "runtime/Image/Preprocess.h"
#include "tests/fuzz/FuzzTarget.h"

#include <zlib.h>

using namespace tenon;
using namespace tenon::image;

/// The file with right checksums in all chunks of a PNG, so that damage goes
/// further than them.
static std::string withChecksums(std::string File) {
  constexpr size_t Signature = 8, Ends = 12;
  for (size_t At = Signature; File.size() - At >= Ends;) {
    auto Byte = [&](size_t I) {
      return static_cast<size_t>(static_cast<unsigned char>(File[At + I]));
    };
    size_t Bytes = Byte(0) << 24 | Byte(1) << 16 | Byte(2) << 8 | Byte(3);
    if (Bytes > File.size() - At - Ends)
      break;
    auto Sum = ::crc32(0, reinterpret_cast<const Bytef *>(&File[At + 4]),
                       static_cast<uInt>(Bytes + 4));
    for (size_t I = 0; I < 4; ++I)
      File[At + 8 + Bytes + I] = static_cast<char>(Sum >> (24 - 8 * I));
    At += Bytes + Ends;
  }
  return File;
}

static void read(std::string_view File, const ImagePreprocessing &P) {
  static fuzz::MemoryFile Memory;
  Memory.setContent(File);
  Result<Image> Read = readImage(Memory.path(), P.Channels);
  if (!fuzz::isGood(Read))
    return;
  fuzz::require(
      Read->Channels == P.Channels && Read->Width > 0 && Read->Height > 0 &&
          Read->Pixels.size() ==
              static_cast<size_t>(Read->Width * Read->Height * Read->Channels),
      "as many pixels as the sides say");
  Result<std::vector<float>> Values = preprocess(*Read, P);
  if (fuzz::isGood(Values))
    fuzz::require(Values->size() ==
                      static_cast<size_t>(P.Channels * P.Height * P.Width),
                  "as many values as the model takes");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  if (Size == 0)
    return 0;
  std::string_view File = fuzz::textOf(Data + 1, Size - 1);
  ImagePreprocessing P;
  P.Channels = Data[0] & 1 ? 3 : 1;
  P.Height = 8;
  P.Width = 6;
  P.DoResize = Data[0] & 2;
  P.ResizeHeight = 8;
  P.ResizeWidth = 6;
  if (Data[0] & 4)
    P.ShortestEdge = 9;
  P.DoCenterCrop = Data[0] & 12;
  P.Resample = static_cast<Resampling>(Data[0] >> 4 & 3);
  P.Mean.assign(static_cast<size_t>(P.Channels), 0.5);
  P.Std = P.Mean;
  read(File, P);
  if (File.starts_with("\x89PNG\r\n\x1a\n"))
    read(withChecksums(std::string(File)), P);
  exifOrientation(File);
  xmpOrientation(File);
  return 0;
}
