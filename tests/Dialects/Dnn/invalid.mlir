// What verifiers of placed operations refuse, one test each.
// RUN: %tenon-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{expected vector, rows or panels and two or three dimensions, got tiles and 2}}
func.func private @packed_layout(!dnn.packed<tiles, 6x8xf32>)

// -----

// expected-error@+1 {{expected vector, rows or panels and two or three dimensions, got rows and 1}}
func.func private @packed_dimensions(!dnn.packed<rows, 6xf32>)

// -----

// expected-error@+1 {{expected positive dimensions, got 1x0x8}}
func.func private @packed_empty(!dnn.packed<panels, 0x8xf32>)

// -----

// expected-error@+1 {{expected element type f32 or bf16, got 'f16'}}
func.func private @packed_element(!dnn.packed<panels, 6x8xf16>)

// -----

// expected-error@+1 {{expected a vector to be Nx1xf32}}
func.func private @packed_vector_columns(!dnn.packed<vector, 6x2xf32>)

// -----

// expected-error@+1 {{expected a vector to be Nx1xf32}}
func.func private @packed_vector_element(!dnn.packed<vector, 6x1xbf16>)

// -----

// expected-error@+1 {{expected vector, rows or panels and two or three dimensions, got panels and 4}}
func.func private @packed_four_dimensions(!dnn.packed<panels, 2x3x6x8xf32>)

// -----

// expected-error@+1 {{expected positive dimensions, got 0x6x8}}
func.func private @packed_none(!dnn.packed<panels, 0x6x8xf32>)

// -----

// expected-error@+1 {{expected panels of 3 matrices, got rows}}
func.func private @packed_stack(!dnn.packed<rows, 3x6x8xf32>)

// -----

func.func @norm_destinations(%x: tensor<?x8xf32>, %w: !dnn.packed<vector, 8x1xf32>) {
  // expected-error@+1 {{destinations: expected 1, got 2}}
  %0:2 = dnn.norm rms %x weight %w outs(%x, %x) eps 1.0e-05 : (tensor<?x8xf32>, !dnn.packed<vector, 8x1xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>)
  return
}

// -----

func.func @norm_residual_destinations(%x: tensor<?x8xf32>, %w: !dnn.packed<vector, 8x1xf32>) {
  // expected-error@+1 {{destinations: expected 2, got 1}}
  %0 = dnn.norm rms %x residual %x weight %w outs(%x) eps 1.0e-05 : (tensor<?x8xf32>, tensor<?x8xf32>, !dnn.packed<vector, 8x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @norm_groups(%x: memref<?x8xf32>, %w: !dnn.packed<vector, 8x1xf32>) {
  // expected-error@+1 {{groups: expected a divisor of 8, got 3}}
  dnn.norm rms %x weight %w outs(%x) eps 1.0e-05 groups 3 : (memref<?x8xf32>, !dnn.packed<vector, 8x1xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

func.func @norm_weight(%x: memref<?x8xf32>, %w: !dnn.packed<vector, 2x1xf32>) {
  // expected-error@+1 {{weight elements: expected 4, got 2}}
  dnn.norm rms %x weight %w outs(%x) eps 1.0e-05 groups 2 : (memref<?x8xf32>, !dnn.packed<vector, 2x1xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

func.func @product_layout(%x: memref<?x8xf32>, %w: !dnn.packed<rows, 8x8xf32>) {
  // expected-error@+1 {{weight: expected panels, got rows}}
  dnn.product %x weight %w outs(%x) : (memref<?x8xf32>, !dnn.packed<rows, 8x8xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

func.func @product_input(%x: memref<?x8xf32>, %w: !dnn.packed<panels, 8x9xf32>) {
  // expected-error@+1 {{input features: expected 9, got 8}}
  dnn.product %x weight %w outs(%x) : (memref<?x8xf32>, !dnn.packed<panels, 8x9xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

func.func @product_output(%x: memref<?x8xf32>, %w: !dnn.packed<panels, 9x8xf32>) {
  // expected-error@+1 {{output features: expected 9, got 8}}
  dnn.product %x weight %w outs(%x) : (memref<?x8xf32>, !dnn.packed<panels, 9x8xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

// Only a product of the library needs one type.
func.func @product_types(%x: memref<?x8xf32>, %w: !dnn.packed<panels, 8x8xbf16>) {
  dnn.product %x weight %w outs(%x) : (memref<?x8xf32>, !dnn.packed<panels, 8x8xbf16>, memref<?x8xf32>) -> ()
  // expected-error@+1 {{library product: expected input and weight of one type, got 'f32' and 'bf16'}}
  dnn.product %x weight %w outs(%x) site 0 : (memref<?x8xf32>, !dnn.packed<panels, 8x8xbf16>, memref<?x8xf32>) -> ()
  return
}

// -----

func.func @gated_product_gate(%x: memref<?x8xf32>, %g: !dnn.packed<panels, 8x9xf32>, %u: !dnn.packed<panels, 8x8xf32>) {
  // expected-error@+1 {{input features: expected 9, got 8}}
  dnn.gated_product silu %x gate %g up %u outs(%x) : (memref<?x8xf32>, !dnn.packed<panels, 8x9xf32>, !dnn.packed<panels, 8x8xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

func.func @gated_product_up(%x: memref<?x8xf32>, %g: !dnn.packed<panels, 8x8xf32>, %u: !dnn.packed<panels, 7x8xf32>) {
  // expected-error@+1 {{output features: expected 7, got 8}}
  dnn.gated_product silu %x gate %g up %u outs(%x) : (memref<?x8xf32>, !dnn.packed<panels, 8x8xf32>, !dnn.packed<panels, 7x8xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

func.func private @f.few(!transformer.batch)
func.func @dispatch(%b: !transformer.batch) {
  // expected-error@+1 {{@f.many: expected a function of that name}}
  dnn.dispatch @f.few or @f.many by tokens of %b() outs() : (!transformer.batch) -> ()
  return
}

// -----

func.func @launch(%b: !transformer.batch) {
  // expected-error@+1 {{@body: expected a function of that name}}
  dnn.launch @body on %b() : !transformer.batch
  return
}

// -----

func.func private @body(index, index, !transformer.batch)
func.func @launch_operands(%b: !transformer.batch) {
  // expected-error@+1 {{operands: expected 3, got 2}}
  dnn.launch @body on %b() : !transformer.batch
  return
}

// -----

func.func @parallel() {
  // expected-error@+1 {{expected two block arguments, got 1}}
  "dnn.parallel"() ({
  ^bb0(%t: index):
  }) : () -> ()
  return
}
