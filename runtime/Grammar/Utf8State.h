//===- Utf8State.h - Within a character of UTF-8 ----------------*- C++ -*-===//

#ifndef TENON_RUNTIME_GRAMMAR_UTF8STATE_H
#define TENON_RUNTIME_GRAMMAR_UTF8STATE_H

#include <cstdint>

namespace tenon::grammar {

/// Bytes of a character that are missing, and what the next one may be.
enum class Utf8State : uint8_t {
  Whole,
  One,
  Two,
  Three,
  AfterE0,
  AfterEd,
  AfterF0,
  AfterF4,
  Wrong
};

constexpr Utf8State stepUtf8(Utf8State From, uint8_t Byte) {
  using enum Utf8State;
  auto Rest = [&](uint8_t First, uint8_t Last, Utf8State Next) {
    return Byte >= First && Byte <= Last ? Next : Wrong;
  };
  switch (From) {
  case Whole:
    return Byte < 0x80    ? Whole
           : Byte < 0xc2  ? Wrong
           : Byte < 0xe0  ? One
           : Byte == 0xe0 ? AfterE0
           : Byte == 0xed ? AfterEd
           : Byte < 0xf0  ? Two
           : Byte == 0xf0 ? AfterF0
           : Byte < 0xf4  ? Three
           : Byte == 0xf4 ? AfterF4
                          : Wrong;
  case One:
    return Rest(0x80, 0xbf, Whole);
  case Two:
    return Rest(0x80, 0xbf, One);
  case Three:
    return Rest(0x80, 0xbf, Two);
  case AfterE0:
    return Rest(0xa0, 0xbf, One);
  case AfterEd:
    return Rest(0x80, 0x9f, One);
  case AfterF0:
    return Rest(0x90, 0xbf, Two);
  case AfterF4:
    return Rest(0x80, 0x8f, Two);
  case Wrong:
    break;
  }
  return Wrong;
}

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_UTF8STATE_H
