// Primitives depend on the CPU level.
// RUN: %tenon-opt %s --select-library-matmuls -verify-diagnostics

// expected-error@below {{expected the module attribute dnn.target, which placement sets}}
module {}
