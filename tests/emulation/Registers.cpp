//===- Registers.cpp - Registers of an interrupted thread -----------------===//

#include "tests/emulation/Registers.h"

#include <algorithm>
#include <cpuid.h>
#include <cstring>

using namespace tenon::emulation;

namespace {

/// A part of what XSAVE saves.
struct StateComponent {
  size_t Offset;
  /// 0 on a machine without it.
  size_t Size;
  /// Its bit in the mask of components that are not in their initial state.
  unsigned Bit;

  static StateComponent numbered(unsigned Bit) {
    unsigned Size = 0, Offset = 0, Flags = 0, Unused = 0;
    __cpuid_count(0xd, Bit, Size, Offset, Flags, Unused);
    return {Offset, Size, Bit};
  }
};

struct SavedState {
  /// XMM0 to XMM15, where FXSAVE has them.
  StateComponent Xmm = {160, 256, 1};
  /// Bits 128 to 255 of the first 16 registers, and 256 to 511.
  StateComponent YmmUpper = StateComponent::numbered(2);
  StateComponent Masks = StateComponent::numbered(5);
  StateComponent ZmmUpper = StateComponent::numbered(6);
  /// Registers 16 to 31.
  StateComponent UpperZmm = StateComponent::numbered(7);
};

} // namespace

static const SavedState &savedState() {
  static const SavedState State;
  return State;
}

/// Where `Part` is in `Area`. What was in its initial state was not saved: it
/// is set to zero first.
static std::byte *locate(std::byte *Area, const StateComponent &Part) {
  std::byte *Bits = Area + 512;
  uint64_t Saved;
  std::memcpy(&Saved, Bits, sizeof(Saved));
  if (!(Saved >> Part.Bit & 1)) {
    std::fill_n(Area + Part.Offset, Part.Size, std::byte(0));
    Saved |= uint64_t(1) << Part.Bit;
    std::memcpy(Bits, &Saved, sizeof(Saved));
  }
  return Area + Part.Offset;
}

Registers::Registers(ucontext_t &Context)
    : Context(Context),
      Area(reinterpret_cast<std::byte *>(Context.uc_mcontext.fpregs)) {}

/// Where the general registers are, by their numbers in instructions.
static constexpr std::array<int, 16> SavedGenerals = {
    REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

uint64_t Registers::general(unsigned Number) const {
  return static_cast<uint64_t>(
      Context.uc_mcontext.gregs[SavedGenerals.at(Number)]);
}

void Registers::setGeneral(unsigned Number, uint64_t Value) {
  Context.uc_mcontext.gregs[SavedGenerals.at(Number)] =
      static_cast<greg_t>(Value);
}

uint64_t Registers::instruction() const {
  return static_cast<uint64_t>(Context.uc_mcontext.gregs[REG_RIP]);
}

void Registers::setInstruction(uint64_t Address) {
  Context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(Address);
}

std::array<Registers::Piece, 3> Registers::piecesOf(unsigned Number) const {
  const SavedState &State = savedState();
  if (Number >= 16)
    return {{{locate(Area, State.UpperZmm) + 64 * (Number - 16), 64}}};
  std::array<Piece, 3> Pieces = {
      {{locate(Area, State.Xmm) + 16 * Number, 16},
       {locate(Area, State.YmmUpper) + 16 * Number, 16}}};
  if (State.ZmmUpper.Size > 0)
    Pieces[2] = {locate(Area, State.ZmmUpper) + 32 * Number, 32};
  return Pieces;
}

VectorValue Registers::vector(unsigned Number) const {
  VectorValue Value = {};
  std::byte *To = Value.data();
  for (const Piece &P : piecesOf(Number))
    To = std::copy_n(P.Saved, P.Size, To);
  return Value;
}

void Registers::setVector(unsigned Number, const VectorValue &Value) {
  const std::byte *From = Value.data();
  for (const Piece &P : piecesOf(Number)) {
    std::copy_n(From, P.Size, P.Saved);
    From += P.Size;
  }
}

uint64_t Registers::mask(unsigned Number) const {
  uint64_t Value;
  std::memcpy(&Value, locate(Area, savedState().Masks) + 8 * Number, 8);
  return Value;
}

void Registers::setMask(unsigned Number, uint64_t Value) {
  std::memcpy(locate(Area, savedState().Masks) + 8 * Number, &Value, 8);
}
