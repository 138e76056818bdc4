//===- StringMeaning.cpp - What a string of JSON means --------------------===//

#include "runtime/Grammar/StringMeaning.h"

#include "runtime/Grammar/RegexParser.h"

#include <optional>

using namespace tenon;
using namespace tenon::grammar;

std::string grammar::meaningOfString(std::string_view Raw) {
  std::string Out;
  size_t At = Raw.starts_with('"') ? 1 : 0;
  auto HexAt = [&](size_t From) -> std::optional<char32_t> {
    char32_t Value = 0;
    if (From + 4 > Raw.size())
      return std::nullopt;
    for (char C : Raw.substr(From, 4))
      Value = Value * 16 + char32_t(C <= '9' ? C - '0' : (C | 32) - 'a' + 10);
    return Value;
  };
  while (At < Raw.size() && Raw[At] != '"') {
    if (Raw[At] != '\\') {
      auto Lead = static_cast<unsigned char>(Raw[At]);
      size_t Length = Lead < 0x80 ? 1 : Lead < 0xe0 ? 2 : Lead < 0xf0 ? 3 : 4;
      if (At + Length > Raw.size())
        break;
      Out += Raw.substr(At, Length);
      At += Length;
      continue;
    }
    if (At + 1 >= Raw.size())
      break;
    if (Raw[At + 1] != 'u') {
      constexpr std::string_view Letters = "bfnrt", Meanings = "\b\f\n\r\t";
      size_t Known = Letters.find(Raw[At + 1]);
      Out += Known == Letters.npos ? Raw[At + 1] : Meanings[Known];
      At += 2;
      continue;
    }
    std::optional<char32_t> Code = HexAt(At + 2);
    if (!Code)
      break;
    size_t Length = 6;
    if (*Code >= 0xd800 && *Code < 0xdc00) {
      std::optional<char32_t> Low = HexAt(At + 8);
      if (!Low)
        break;
      Code = 0x10000 + ((*Code - 0xd800) << 10) + (*Low - 0xdc00);
      Length = 12;
    }
    Out += textOf({&*Code, 1});
    At += Length;
  }
  return Out;
}
