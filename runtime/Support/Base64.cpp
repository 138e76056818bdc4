//===- Base64.cpp - Bytes as text -----------------------------------------===//

#include "runtime/Support/Base64.h"

#include <algorithm>
#include <array>
#include <cstdint>

using namespace tenon;

static constexpr std::string_view Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                           "abcdefghijklmnopqrstuvwxyz"
                                           "0123456789+/";

/// What each character stands for; of those that are no digits NoDigit.
static constexpr uint8_t NoDigit = 64;
static constexpr std::array<uint8_t, 256> Values = [] {
  std::array<uint8_t, 256> Table;
  Table.fill(NoDigit);
  for (size_t I = 0; I < Digits.size(); ++I)
    Table[static_cast<unsigned char>(Digits[I])] = static_cast<uint8_t>(I);
  return Table;
}();

std::string tenon::encodeBase64(std::span<const std::byte> Bytes) {
  std::string Text;
  Text.reserve((Bytes.size() + 2) / 3 * 4);
  for (size_t I = 0; I < Bytes.size(); I += 3) {
    size_t Left = std::min<size_t>(3, Bytes.size() - I);
    uint32_t Bits = 0;
    for (size_t K = 0; K < 3; ++K)
      Bits = Bits << 8 | (K < Left ? static_cast<uint32_t>(Bytes[I + K]) : 0);
    for (size_t K = 0; K < 4; ++K)
      Text += K <= Left ? Digits[Bits >> (18 - 6 * K) & 63] : '=';
  }
  return Text;
}

Result<std::string> tenon::decodeBase64(std::string_view Text) {
  size_t Padding = Text.ends_with("==") ? 2 : Text.ends_with("=") ? 1 : 0;
  if (Text.size() % 4 != 0)
    return Error("has " + std::to_string(Text.size()) +
                 " characters: expected base64, a multiple of 4");
  std::string Out;
  Out.reserve(Text.size() / 4 * 3);
  uint32_t Bits = 0;
  for (size_t I = 0; I < Text.size(); ++I) {
    uint32_t Digit = 0;
    if (I < Text.size() - Padding) {
      Digit = Values[static_cast<unsigned char>(Text[I])];
      if (Digit == NoDigit)
        return Error("has a character at " + std::to_string(I) +
                     " that is not base64: expected A-Z, a-z, 0-9, + and /");
    }
    Bits = Bits << 6 | Digit;
    if (I % 4 != 3)
      continue;
    for (int Shift : {16, 8, 0})
      Out += static_cast<char>(Bits >> Shift & 0xff);
  }
  Out.resize(Out.size() - Padding);
  return Out;
}
