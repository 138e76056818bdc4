//===- Instruction.h - A decoded instruction --------------------*- C++ -*-===//

#ifndef TENON_TESTS_EMULATION_INSTRUCTION_H
#define TENON_TESTS_EMULATION_INSTRUCTION_H

#include "tests/emulation/Registers.h"

#include <optional>
#include <string>
#include <vector>

namespace tenon::emulation {

/// Base + Scale * Index + Displacement. A register is the number of a general
/// one; a base relative to the next instruction is in the displacement.
struct MemoryOperand {
  std::optional<unsigned> Base, Index;
  int64_t Scale = 1;
  int64_t Displacement = 0;

  /// Without the index, which is a stride to instructions on tiles.
  std::byte *base(const Registers &State) const;
  int64_t stride(const Registers &State) const;
  std::byte *address(const Registers &State) const;
};

/// An instruction as LLVM's disassembler reads it: its operands are those of
/// LLVM's instruction, so that an accumulator comes twice, and memory is one.
struct Instruction {
  /// LLVM's name, such as VADDPHZrmkz.
  std::string Name;
  unsigned Length = 0;
  /// By kind, in order: the numbers of registers.
  std::vector<unsigned> Generals, Vectors, Tiles, Masks;
  std::vector<int64_t> Immediates;
  std::optional<MemoryOperand> Memory;
  /// Bits of the widest vector register among the operands.
  unsigned VectorBits = 0;

  /// The one at `Address`; none if it is no instruction.
  static std::optional<Instruction> decode(uint64_t Address);
};

} // namespace tenon::emulation

#endif // TENON_TESTS_EMULATION_INSTRUCTION_H
