//===- Instruction.cpp - A decoded instruction ----------------------------===//

#include "tests/emulation/Instruction.h"

#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace tenon::emulation;

std::byte *MemoryOperand::base(const Registers &State) const {
  uint64_t From = Base ? State.general(*Base) : 0;
  return reinterpret_cast<std::byte *>(From +
                                       static_cast<uint64_t>(Displacement));
}

int64_t MemoryOperand::stride(const Registers &State) const {
  return Index ? static_cast<int64_t>(State.general(*Index)) * Scale : 0;
}

std::byte *MemoryOperand::address(const Registers &State) const {
  return base(State) + stride(State);
}

namespace {

/// LLVM's disassembler with what it needs.
class Disassembler {
public:
  Disassembler() {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86Disassembler();
    llvm::Triple Triple("x86_64-unknown-linux-gnu");
    std::string Problem;
    const llvm::Target *Target =
        llvm::TargetRegistry::lookupTarget(Triple, Problem);
    Registers.reset(Target->createMCRegInfo(Triple));
    Asm.reset(Target->createMCAsmInfo(*Registers, Triple, Options));
    Subtarget.reset(Target->createMCSubtargetInfo(Triple, "", ""));
    Instructions.reset(Target->createMCInstrInfo());
    Context = std::make_unique<llvm::MCContext>(
        Triple, Asm.get(), Registers.get(), Subtarget.get());
    Decoder.reset(Target->createMCDisassembler(*Subtarget, *Context));
  }

  std::optional<Instruction> decode(uint64_t Address);

private:
  void addRegister(Instruction &Into, llvm::MCRegister Register);
  /// The number of a general register.
  std::optional<unsigned> generalRegister(llvm::MCRegister Register);

  llvm::MCTargetOptions Options;
  std::unique_ptr<llvm::MCRegisterInfo> Registers;
  std::unique_ptr<llvm::MCAsmInfo> Asm;
  std::unique_ptr<llvm::MCSubtargetInfo> Subtarget;
  std::unique_ptr<llvm::MCInstrInfo> Instructions;
  std::unique_ptr<llvm::MCContext> Context;
  std::unique_ptr<llvm::MCDisassembler> Decoder;
};

} // namespace

std::optional<unsigned>
Disassembler::generalRegister(llvm::MCRegister Register) {
  if (!Register)
    return std::nullopt;
  return Registers->getEncodingValue(Register);
}

void Disassembler::addRegister(Instruction &Into, llvm::MCRegister Register) {
  llvm::StringRef Name = Registers->getName(Register);
  unsigned Number = Registers->getEncodingValue(Register);
  if (Name.starts_with("TMM")) {
    Into.Tiles.push_back(Number);
  } else if (Name.starts_with("K")) {
    Into.Masks.push_back(Number);
  } else if (Name.substr(1).starts_with("MM")) {
    unsigned Bits = Name[0] == 'Z' ? 512 : Name[0] == 'Y' ? 256 : 128;
    Into.VectorBits = std::max(Into.VectorBits, Bits);
    Into.Vectors.push_back(Number);
  } else {
    Into.Generals.push_back(Number);
  }
}

std::optional<Instruction> Disassembler::decode(uint64_t Address) {
  constexpr uint64_t Longest = 15;
  // The page behind the last instruction may not be mapped.
  uint64_t Page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  uint64_t InPage = Page - Address % Page;
  llvm::MCInst Inst;
  uint64_t Length = 0;
  bool Decoded = false;
  for (uint64_t Bytes : {std::min(InPage, Longest), Longest})
    if (!Decoded)
      Decoded =
          Decoder->getInstruction(
              Inst, Length, {reinterpret_cast<const uint8_t *>(Address), Bytes},
              Address, llvm::nulls()) == llvm::MCDisassembler::Success;
  if (!Decoded)
    return std::nullopt;

  Instruction Result;
  Result.Name = Instructions->getName(Inst.getOpcode()).str();
  Result.Length = static_cast<unsigned>(Length);
  const llvm::MCInstrDesc &Desc = Instructions->get(Inst.getOpcode());
  for (unsigned I = 0; I < Inst.getNumOperands(); ++I) {
    const llvm::MCOperand &Operand = Inst.getOperand(I);
    if (Desc.operands()[I].OperandType == llvm::MCOI::OPERAND_MEMORY) {
      // Base, scale, index, displacement and segment.
      MemoryOperand Memory;
      llvm::MCRegister Base = Operand.getReg();
      Memory.Scale = Inst.getOperand(I + 1).getImm();
      Memory.Index = generalRegister(Inst.getOperand(I + 2).getReg());
      Memory.Displacement = Inst.getOperand(I + 3).getImm();
      if (llvm::StringRef(Registers->getName(Base)) == "RIP")
        Memory.Displacement += static_cast<int64_t>(Address + Length);
      else
        Memory.Base = generalRegister(Base);
      Result.Memory = Memory;
      I += 4;
    } else if (Operand.isImm()) {
      Result.Immediates.push_back(Operand.getImm());
    } else if (Operand.isReg()) {
      addRegister(Result, Operand.getReg());
    }
  }
  return Result;
}

std::optional<Instruction> Instruction::decode(uint64_t Address) {
  static thread_local Disassembler OfThread;
  return OfThread.decode(Address);
}
