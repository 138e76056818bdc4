//===- LeadSet.h - Bytes with which characters begin ------------*- C++ -*-===//

#ifndef TENON_RUNTIME_GRAMMAR_LEADSET_H
#define TENON_RUNTIME_GRAMMAR_LEADSET_H

#include <array>
#include <cstddef>
#include <cstdint>

namespace tenon::grammar {

/// Whether a byte of UTF-8 is the first of its character.
constexpr bool beginsCharacter(uint8_t Byte) { return (Byte & 0xc0) != 0x80; }

/// A set of bytes with which characters of UTF-8 begin: ASCII, and leads of
/// longer ones, each standing for all characters that begin with it.
class LeadSet {
public:
  static constexpr size_t End = 192; ///< Places are below.
  /// Of a byte that begins a character.
  static constexpr size_t placeOf(uint8_t Byte) {
    return Byte < 0x80 ? Byte : size_t(Byte) - 64;
  }

  void set(uint8_t Byte) {
    Words[placeOf(Byte) / 64] |= uint64_t{1} << (placeOf(Byte) % 64);
  }
  /// False for bytes that begin no character.
  bool test(uint8_t Byte) const {
    return beginsCharacter(Byte) &&
           (Words[placeOf(Byte) / 64] >> (placeOf(Byte) % 64) & 1);
  }
  bool testPlace(size_t Place) const {
    return Words[Place / 64] >> (Place % 64) & 1;
  }
  bool any() const { return (Words[0] | Words[1] | Words[2]) != 0; }
  bool meets(const LeadSet &Of) const {
    return ((Words[0] & Of.Words[0]) | (Words[1] & Of.Words[1]) |
            (Words[2] & Of.Words[2])) != 0;
  }
  bool isWithin(const LeadSet &Of) const {
    return ((Words[0] & ~Of.Words[0]) | (Words[1] & ~Of.Words[1]) |
            (Words[2] & ~Of.Words[2])) == 0;
  }
  LeadSet &operator|=(const LeadSet &More) {
    for (size_t I = 0; I < Words.size(); ++I)
      Words[I] |= More.Words[I];
    return *this;
  }
  /// 64 places each.
  uint64_t word(size_t Index) const { return Words[Index]; }
  auto operator<=>(const LeadSet &) const = default;

private:
  std::array<uint64_t, 3> Words{};
};

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_LEADSET_H
