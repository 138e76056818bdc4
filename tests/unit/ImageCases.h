//===- ImageCases.h - Stored references of the image tests ------*- C++ -*-===//

#ifndef TENON_TESTS_UNIT_IMAGECASES_H
#define TENON_TESTS_UNIT_IMAGECASES_H

#include "runtime/Image/Image.h"
#include "runtime/Support/Json.h"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace tenon {

using namespace image;

inline const std::string ImageData = TENON_TEST_DATA "/image";

/// What tests/image/generate.py wrote; null when it cannot be read.
inline Json imageCases() {
  Result<Json> Cases = readJsonFile(ImageData + "/cases.json");
  EXPECT_TRUE(Cases) << (Cases ? "" : Cases.error().message());
  return Cases ? *Cases : Json();
}

/// Bytes from hexadecimal digits.
inline std::vector<uint8_t> bytesOf(const Json &Digits) {
  auto Text = Digits.get<std::string>();
  std::vector<uint8_t> Bytes(Text.size() / 2);
  for (size_t I = 0; I < Bytes.size(); ++I)
    Bytes[I] =
        static_cast<uint8_t>(std::stoul(Text.substr(2 * I, 2), nullptr, 16));
  return Bytes;
}

inline Image imageOf(const Json &Source) {
  return {Source["width"], Source["height"], Source["channels"],
          bytesOf(Source["pixels"])};
}

inline std::vector<float> floatsOf(const Json &Digits) {
  std::vector<uint8_t> Bytes = bytesOf(Digits);
  std::vector<float> Values(Bytes.size() / sizeof(float));
  std::memcpy(Values.data(), Bytes.data(), Values.size() * sizeof(float));
  return Values;
}

inline std::string bigEndian(uint32_t Value) {
  std::string Bytes;
  for (int Shift = 24; Shift >= 0; Shift -= 8)
    Bytes += static_cast<char>(Value >> Shift);
  return Bytes;
}

/// The checksum of a PNG chunk's name and data.
inline uint32_t crcOf(std::string_view Bytes) {
  uint32_t Crc = ~0u;
  for (char Byte : Bytes) {
    Crc ^= static_cast<uint8_t>(Byte);
    for (int I = 0; I < 8; ++I)
      Crc = Crc >> 1 ^ (Crc & 1 ? 0xedb88320u : 0);
  }
  return ~Crc;
}

/// A file of tests/image/files.
inline std::string contentOf(const std::string &Name) {
  std::ifstream File(ImageData + "/files/" + Name, std::ios::binary);
  EXPECT_TRUE(File) << Name;
  return {std::istreambuf_iterator<char>(File), {}};
}

} // namespace tenon

#endif // TENON_TESTS_UNIT_IMAGECASES_H
