// What cannot be planned.
// RUN: %tenon-opt %s --plan-memory -split-input-file -verify-diagnostics

func.func @no_count(%b: !transformer.batch, %n: index) attributes {transformer.max_tokens = 8 : i64, transformer.max_output_rows = 8 : i64} {
  // expected-error@below {{plan-memory: expected no or one dynamic size, a dnn.count}}
  %0 = memref.alloc(%n) : memref<?x8xf32>
  dnn.residual %0, %0 outs(%0) : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

// expected-error@below {{plan-memory: expected attributes transformer.max_tokens and transformer.max_output_rows}}
func.func @no_bounds(%b: !transformer.batch) {
  %n = dnn.count output_rows %b
  %0 = memref.alloc(%n) : memref<?x8xf32>
  dnn.residual %0, %0 outs(%0) : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

func.func @too_large(%b: !transformer.batch) attributes {transformer.max_tokens = 1099511627776 : i64, transformer.max_output_rows = 8 : i64} {
  %n = dnn.count tokens %b
  // expected-error@below {{plan-memory: a buffer of 1099511627776 rows does not fit any memory}}
  %0 = memref.alloc(%n) : memref<?x4096xf32>
  dnn.residual %0, %0 outs(%0) : (memref<?x4096xf32>, memref<?x4096xf32>, memref<?x4096xf32>) -> ()
  return
}

// -----

// The arena is found through the batch.
func.func @no_batch() {
  // expected-error@below {{expected a function with an argument of type !transformer.batch}}
  %0 = memref.alloc() : memref<4x8xf32>
  dnn.residual %0, %0 outs(%0) : (memref<4x8xf32>, memref<4x8xf32>, memref<4x8xf32>) -> ()
  return
}
