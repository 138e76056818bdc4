// What is not all LLVM, or not all there.
// RUN: %tenon-opt %s --verify-llvm -split-input-file -verify-diagnostics

// expected-error@below {{expected a body: generated code reaches the runtime through the step alone}}
llvm.func @elsewhere()

// -----

func.func @left_over() {
  // expected-error@below {{is not allowed after stage 'llvm': expected an operation of the llvm dialect}}
  return
}
