// Kernels depend on the CPU level.
// RUN: %tenon-opt %s --generate-kernels -split-input-file -verify-diagnostics

// expected-error@below {{expected a module placed on a CPU level}}
module {}

// -----

// expected-error@below {{expected a module placed on a CPU level}}
module attributes {dnn.cpu_level = "avx1024"} {}
