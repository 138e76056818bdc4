//===- CpuEmulator.h - Instructions that the CPU lacks ----------*- C++ -*-===//
//
// Code for a CPU level runs on machines without some of its instructions: the
// exception that such an instruction raises is caught, and what it does is
// done to the interrupted thread's registers. For tests: it is slow.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TESTS_EMULATION_CPUEMULATOR_H
#define TENON_TESTS_EMULATION_CPUEMULATOR_H

#include "runtime/Abi/CpuLevel.h"

namespace tenon::emulation {

/// Whether code of `Level` runs in this process once install() was called:
/// `amx` (with AVX512-FP16) where avx512_bf16 is in force, `avx2_vnni` where
/// avx2 is, and every level that the machine has.
bool canRun(CpuLevel Level);

/// Handles SIGILL from here on. An instruction that is not known ends the
/// process with its name.
void install();

} // namespace tenon::emulation

#endif // TENON_TESTS_EMULATION_CPUEMULATOR_H
