// What allocates, copies, or is still to be generated.
// RUN: %tenon-opt %s --verify-buffers -split-input-file -verify-diagnostics

func.func @alloc(%b: !transformer.batch, %n: index) {
  // expected-error@below {{'memref.alloc' op is not allowed after stage 'buffers': expected planned buffers, library matmuls and generated kernels}}
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
    // expected-error@below {{'dnn.residual' op is not allowed}}
    dnn.residual %x, %x outs(%x) : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  }
  return
}

// -----

// What is not on the list is not allowed.
func.func @view(%x: memref<?x8xf32>) {
  // expected-error@below {{'memref.cast' op is not allowed}}
  %0 = memref.cast %x : memref<?x8xf32> to memref<?x?xf32>
  return
}

// -----

func.func private @layer(%b: !transformer.batch)
func.func @call(%b: !transformer.batch) {
  // expected-error@below {{'func.call' op is not allowed}}
  call @layer(%b) : (!transformer.batch) -> ()
  return
}

// -----

// A library matmul that is not a call yet.
func.func @library(%x: memref<?x8xf32>, %w: !dnn.packed<panels, 8x8xf32>) {
  // expected-error@below {{'dnn.matmul' op is not allowed}}
  dnn.matmul %x weight %w primitive 0 outs(%x) : (memref<?x8xf32>, !dnn.packed<panels, 8x8xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

func.func @gap(%b: !transformer.batch, %s: !transformer.scope) {
  %n = dnn.count tokens %b
  dnn.kernel "a" in "gap" number 0 of %b[%s] rows %n cost <numbers = f32>
  // expected-error@below {{'dnn.kernel' op dnn_module_c10: number: expected 1, which no kernel has, got 2}}
  dnn.kernel "c" in "gap" number 2 of %b[%s] rows %n cost <numbers = f32>
  return
}

// -----

func.func @again(%b: !transformer.batch, %s: !transformer.scope) {
  %n = dnn.count tokens %b
  dnn.kernel "a" in "again" number 0 of %b[%s] rows %n cost <numbers = f32>
  // expected-error@below {{'dnn.kernel' op dnn_module_c10: number: expected one of its own, got 0 again}}
  dnn.kernel "b" in "again" number 0 of %b[%s] rows %n cost <numbers = f32>
  return
}

// -----

func.func @output(%b: !transformer.batch) attributes {transformer.role = "step", transformer.output = "hidden"} {
  %n = dnn.count tokens %b
  // expected-error@below {{'dnn.output' op dnn_module_c9: rows of the output 'hidden': expected output_rows}}
  %0 = dnn.output %b[%n] : memref<?x8xf32>
  return
}
