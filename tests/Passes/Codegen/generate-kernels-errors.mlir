// Kernels depend on the CPU level.
// RUN: %tenon-opt %s --generate-kernels -verify-diagnostics

// expected-error@below {{expected the module attribute dnn.target, which placement sets}}
module {}
