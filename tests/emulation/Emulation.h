//===- Emulation.h - What instructions do -----------------------*- C++ -*-===//

#ifndef TENON_TESTS_EMULATION_EMULATION_H
#define TENON_TESTS_EMULATION_EMULATION_H

#include "tests/emulation/Instruction.h"

namespace tenon::emulation {

/// Does what an instruction does to `State`, except going on to the next one.
using Emulation = void (*)(const Instruction &What, Registers &State);

/// Of AMX-TILE, AMX-BF16 and AMX-INT8; null for any other.
Emulation tileEmulation(const Instruction &What);

/// Of AVX-VNNI, and of AVX512-FP16 what LLVM makes of Tenon's code; null for
/// any other.
Emulation vectorEmulation(const Instruction &What);

} // namespace tenon::emulation

#endif // TENON_TESTS_EMULATION_EMULATION_H
