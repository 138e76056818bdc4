//===- VectorInstructions.cpp - AVX-VNNI and AVX512-FP16 ------------------===//

#include "tests/emulation/Emulation.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <string_view>

using namespace tenon::emulation;

/// f16, which GCC computes in f32: with no second rounding that would show,
/// since f32 has more than twice f16's digits.
using Half = _Float16;

namespace {

/// LLVM's name of an instruction, which ends with its form.
struct Form {
  std::string_view Mnemonic;
  bool BroadcastsMemory;
  /// Elements that the mask leaves out are zero, else they stay.
  bool Zeroes;
};

/// The elements of one type in a vector register.
template <typename T> struct Elements {
  std::array<T, sizeof(VectorValue) / sizeof(T)> At = {};

  explicit Elements(const VectorValue &Value)
      : At(std::bit_cast<decltype(At)>(Value)) {}
  Elements() = default;
  VectorValue bytes() const { return std::bit_cast<VectorValue>(At); }
};

} // namespace

/// VADDPHZrmbkz is VADDPH of Z registers, the last operand in memory, one
/// element for all, with a mask, zeroing.
static Form formOf(std::string_view Name) {
  size_t End = Name.find_first_of("rm");
  std::string_view Letters =
      End == std::string_view::npos ? "" : Name.substr(End);
  std::string_view Mnemonic = Name.substr(0, End);
  for (std::string_view Size : {"Z128", "Z256", "Z", "Y"})
    if (Mnemonic.ends_with(Size)) {
      Mnemonic.remove_suffix(Size.size());
      break;
    }
  return {Mnemonic, Letters.find("mb") != std::string_view::npos,
          Letters.ends_with("kz")};
}

/// Whether element `I` takes part.
static bool isChosen(const Instruction &What, const Registers &State,
                     unsigned MaskAt, size_t I) {
  return What.Masks.size() <= MaskAt || State.mask(What.Masks[MaskAt]) >> I & 1;
}

/// `Count` elements of the last operand, of which a mask leaves some out.
template <typename T>
static Elements<T> lastOperand(const Instruction &What, const Registers &State,
                               size_t Count, unsigned MaskAt = 0) {
  if (!What.Memory)
    return Elements<T>(State.vector(What.Vectors.back()));
  Elements<T> Loaded;
  bool Broadcasts = formOf(What.Name).BroadcastsMemory;
  const std::byte *From = What.Memory->address(State);
  for (size_t I = 0; I < Count; ++I)
    // What the mask leaves out may not be there.
    if (isChosen(What, State, MaskAt, I))
      std::memcpy(&Loaded.At[I], From + (Broadcasts ? 0 : I * sizeof(T)),
                  sizeof(T));
  return Loaded;
}

/// Sets the first operand to `Count` elements of `Result` under the mask.
template <typename T>
static void setResult(const Instruction &What, Registers &State,
                      const Elements<T> &Result, size_t Count) {
  Elements<T> Before(State.vector(What.Vectors[0])), After;
  bool Zeroes = formOf(What.Name).Zeroes;
  for (size_t I = 0; I < Count; ++I) {
    if (isChosen(What, State, 0, I))
      After.At[I] = Result.At[I];
    else if (!Zeroes)
      After.At[I] = Before.At[I];
  }
  State.setVector(What.Vectors[0], After.bytes());
}

template <typename OfA, typename OfB>
static void dotProduct(const Instruction &What, Registers &State) {
  constexpr size_t Factors = sizeof(int32_t) / sizeof(OfA);
  size_t Count = What.VectorBits / 32;
  Elements<int32_t> B32 = lastOperand<int32_t>(What, State, Count);
  Elements<OfA> A(State.vector(What.Vectors[2]));
  Elements<OfB> B(B32.bytes());
  Elements<uint32_t> Sums(State.vector(What.Vectors[0]));
  for (size_t I = 0; I < Count; ++I)
    for (size_t J = 0; J < Factors; ++J)
      Sums.At[I] +=
          static_cast<uint32_t>(A.At[Factors * I + J] * B.At[Factors * I + J]);
  setResult(What, State, Sums, Count);
}

template <typename Function>
static void halves(const Instruction &What, Registers &State, Function Of) {
  size_t Count = What.VectorBits / 16;
  Elements<Half> B = lastOperand<Half>(What, State, Count);
  // The one before the last, which is a register unless it is in memory.
  Elements<Half> A(
      State.vector(What.Vectors[What.Vectors.size() - (What.Memory ? 1 : 2)]));
  Elements<Half> Result;
  for (size_t I = 0; I < Count; ++I)
    Result.At[I] = static_cast<Half>(
        Of(static_cast<float>(A.At[I]), static_cast<float>(B.At[I])));
  setResult(What, State, Result, Count);
}

static void addHalves(const Instruction &What, Registers &State) {
  halves(What, State, [](float A, float B) { return A + B; });
}

static void multiplyHalves(const Instruction &What, Registers &State) {
  halves(What, State, [](float A, float B) { return A * B; });
}

/// Bits 0 and 1 of the predicate say what holds, bit 2 turns it round, bit 3
/// turns the answer for numbers that are unordered; bit 4 is of exceptions
/// only.
static void compareHalves(const Instruction &What, Registers &State) {
  size_t Count = What.VectorBits / 16;
  // The first mask is the result.
  Elements<Half> B = lastOperand<Half>(What, State, Count, /*MaskAt=*/1);
  Elements<Half> A(State.vector(What.Vectors[0]));
  auto Predicate = static_cast<unsigned>(What.Immediates[0]);
  bool Turned = Predicate & 4, Other = Predicate & 8;
  uint64_t Result = 0;
  for (size_t I = 0; I < Count; ++I) {
    auto X = static_cast<float>(A.At[I]), Y = static_cast<float>(B.At[I]);
    bool Unordered = std::isunordered(X, Y);
    std::array<bool, 4> Holds = {X == Y, X < Y, X <= Y, Unordered};
    bool Answer = Holds[Predicate & 3] != Turned;
    if (Other)
      // Of unordered itself bit 3 makes "never" and "always".
      Answer = (Predicate & 3) == 3 ? Turned : Answer != Unordered;
    if (Answer && isChosen(What, State, 1, I))
      Result |= uint64_t(1) << I;
  }
  State.setMask(What.Masks[0], Result);
}

static void widenHalves(const Instruction &What, Registers &State) {
  size_t Count = What.VectorBits / 32;
  Elements<Half> From = lastOperand<Half>(What, State, Count);
  Elements<float> Result;
  for (size_t I = 0; I < Count; ++I)
    Result.At[I] = static_cast<float>(From.At[I]);
  setResult(What, State, Result, Count);
}

/// A register of one element, the others zero.
static VectorValue ofHalf(uint16_t Bits) {
  VectorValue Value = {};
  std::memcpy(Value.data(), &Bits, sizeof(Bits));
  return Value;
}

static uint16_t halfOf(const VectorValue &Value) {
  uint16_t Bits;
  std::memcpy(&Bits, Value.data(), sizeof(Bits));
  return Bits;
}

static void loadHalf(const Instruction &What, Registers &State) {
  uint16_t Bits;
  std::memcpy(&Bits, What.Memory->address(State), sizeof(Bits));
  State.setVector(What.Vectors[0], ofHalf(Bits));
}

static void storeHalf(const Instruction &What, Registers &State) {
  uint16_t Bits = halfOf(State.vector(What.Vectors[0]));
  std::memcpy(What.Memory->address(State), &Bits, sizeof(Bits));
}

static void halfFromGeneral(const Instruction &What, Registers &State) {
  uint64_t From = State.general(What.Generals[0]);
  State.setVector(What.Vectors[0], ofHalf(static_cast<uint16_t>(From)));
}

static void halfToGeneral(const Instruction &What, Registers &State) {
  State.setGeneral(What.Generals[0], halfOf(State.vector(What.Vectors[0])));
}

Emulation tenon::emulation::vectorEmulation(const Instruction &What) {
  struct Named {
    std::string_view Name;
    Emulation Does;
  };
  // In every form, and in one.
  static constexpr std::array<Named, 6> Mnemonics = {{
      {"VPDPBUSD", dotProduct<uint8_t, int8_t>},
      {"VPDPWSSD", dotProduct<int16_t, int16_t>},
      {"VADDPH", addHalves},
      {"VMULPH", multiplyHalves},
      {"VCMPPH", compareHalves},
      {"VCVTPH2PSX", widenHalves},
  }};
  static constexpr std::array<Named, 6> Names = {{
      {"VMOVSHZrm", loadHalf},
      {"VMOVSHZmr", storeHalf},
      {"VMOVWrm", loadHalf},
      {"VMOVWmr", storeHalf},
      {"VMOVW2SHrr", halfFromGeneral},
      {"VMOVSH2Wrr", halfToGeneral},
  }};
  const auto *Form = std::ranges::find(Names, What.Name, &Named::Name);
  if (Form != Names.end())
    return Form->Does;
  const auto *Found =
      std::ranges::find(Mnemonics, formOf(What.Name).Mnemonic, &Named::Name);
  return Found == Mnemonics.end() ? nullptr : Found->Does;
}
