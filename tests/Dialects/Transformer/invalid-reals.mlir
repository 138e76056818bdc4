// What no real number is.
// RUN: %tenon-opt %s -split-input-file -verify-diagnostics

func.func @words(%x: tensor<?x8xf32>) {
  // expected-error@below {{expected floating point literal}}
  %0 = transformer.scale %x by half : tensor<?x8xf32>
  return
}

// -----

func.func @integers(%x: tensor<?x8xf32>) {
  // expected-error@below {{expected a real number such as 0.5 or 1e-06}}
  %0 = transformer.scale %x by 2 : tensor<?x8xf32>
  return
}
