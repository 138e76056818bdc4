//===- Registers.h - Registers of an interrupted thread ---------*- C++ -*-===//

#ifndef TENON_TESTS_EMULATION_REGISTERS_H
#define TENON_TESTS_EMULATION_REGISTERS_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <ucontext.h>

namespace tenon::emulation {

/// A 512-bit register's value. Of a narrower one the rest is zero, as every
/// VEX- or EVEX-coded instruction leaves it.
using VectorValue = std::array<std::byte, 64>;

/// The registers that a signal frame saved, and that are restored from it.
/// Where XSAVE puts them: Intel 64 and IA-32 Architectures Software
/// Developer's Manual, volume 1, chapter 13.
class Registers {
public:
  explicit Registers(ucontext_t &Context);

  /// RAX, RCX, ... R15 by the number in an instruction.
  uint64_t general(unsigned Number) const;
  void setGeneral(unsigned Number, uint64_t Value);

  uint64_t instruction() const;
  void setInstruction(uint64_t Address);

  VectorValue vector(unsigned Number) const;
  void setVector(unsigned Number, const VectorValue &Value);

  uint64_t mask(unsigned Number) const;
  void setMask(unsigned Number, uint64_t Value);

private:
  /// The bytes of a vector register: of each piece where it is saved, and its
  /// size. One of no bytes is not saved on this machine.
  struct Piece {
    std::byte *Saved;
    size_t Size;
  };
  std::array<Piece, 3> piecesOf(unsigned Number) const;

  ucontext_t &Context;
  std::byte *Area;
};

} // namespace tenon::emulation

#endif // TENON_TESTS_EMULATION_REGISTERS_H
