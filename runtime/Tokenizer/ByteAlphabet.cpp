//===- ByteAlphabet.cpp - Bytes as printable characters -------------------===//

#include "runtime/Tokenizer/ByteAlphabet.h"

#include <array>

using namespace tenon;
using namespace tenon::tokenizer;

namespace {

struct Alphabet {
  constexpr Alphabet() {
    char32_t Next = 0x100;
    for (unsigned Byte = 0; Byte < 256; ++Byte) {
      bool Printable = (Byte >= 0x21 && Byte <= 0x7e) ||
                       (Byte >= 0xa1 && Byte <= 0xac) || Byte >= 0xae;
      CodeOf[Byte] = Printable ? Byte : Next++;
      ByteOf[CodeOf[Byte]] = static_cast<int16_t>(Byte);
    }
  }

  std::array<char32_t, 256> CodeOf{};
  /// -1 where no byte is spelled so.
  std::array<int16_t, 0x144> ByteOf = [] {
    std::array<int16_t, 0x144> None{};
    None.fill(-1);
    return None;
  }();
};

constexpr Alphabet Bytes;

} // namespace

void tokenizer::appendSpelledBytes(std::string &Out, std::string_view Text) {
  for (char C : Text) {
    char32_t Code = Bytes.CodeOf[static_cast<unsigned char>(C)];
    if (Code < 0x80) {
      Out += static_cast<char>(Code);
    } else {
      Out += static_cast<char>(0xc0 | Code >> 6);
      Out += static_cast<char>(0x80 | (Code & 63));
    }
  }
}

std::optional<unsigned char> tokenizer::spelledByte(char32_t Code) {
  if (Code >= Bytes.ByteOf.size() || Bytes.ByteOf[Code] < 0)
    return std::nullopt;
  return static_cast<unsigned char>(Bytes.ByteOf[Code]);
}
