// What allocates, copies, or is still to be generated.
// RUN: %tenon-opt %s --verify-buffers -split-input-file -verify-diagnostics

func.func @alloc(%b: !transformer.batch, %n: index) {
  // expected-error@below {{'memref.alloc' op is not allowed after stage 'buffers': expected planned buffers, library products and generated kernels}}
  %0 = memref.alloc(%n) : memref<?x8xf32>
  return
}

// -----

func.func @copy(%x: memref<?x8xf32>, %y: memref<?x8xf32>) {
  // expected-error@below {{'memref.copy' op is not allowed}}
  memref.copy %x, %y : memref<?x8xf32> to memref<?x8xf32>
  return
}

// -----

func.func @tensor(%x: memref<?x8xf32>) {
  // expected-error@below {{'bufferization.to_tensor' op is not allowed}}
  %0 = bufferization.to_tensor %x restrict : memref<?x8xf32> to tensor<?x8xf32>
  return
}

// -----

func.func @empty(%n: index) {
  // expected-error@below {{'tensor.empty' op is not allowed}}
  %0 = tensor.empty(%n) : tensor<?x8xf32>
  return
}

// -----

// Deep inside a region as well.
func.func @kernel(%b: !transformer.batch, %x: memref<?x8xf32>) {
  dnn.parallel %t of %n {
    // expected-error@below {{'dnn.add' op is not allowed}}
    dnn.add %x, %x outs(%x) : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  }
  return
}
