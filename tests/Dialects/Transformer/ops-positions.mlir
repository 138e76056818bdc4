// Positions, input rows and class tokens survive printing and parsing.
// RUN: %tenon-opt %s | %tenon-opt | FileCheck %s

// CHECK-LABEL: @embeddings(
func.func @embeddings(%arg0: !transformer.batch, %arg1: tensor<97x72xbf16>) {
  // CHECK-NEXT: %embedding = transformer.embedding position %arg0, %arg1 offset 2 : (!transformer.batch, tensor<97x72xbf16>) -> tensor<?x72xf32>
  %embedding = transformer.embedding position %arg0, %arg1 offset 2 : (!transformer.batch, tensor<97x72xbf16>) -> tensor<?x72xf32>
  return
}

// CHECK-LABEL: @sinusoids(
func.func @sinusoids(%arg0: !transformer.batch) {
  // CHECK-NEXT: %positions = transformer.sinusoid interleaved %arg0 : tensor<?x72xf32>
  %positions = transformer.sinusoid interleaved %arg0 : tensor<?x72xf32>
  // CHECK-NEXT: %positions_0 = transformer.sinusoid half %arg0 : tensor<?x72xf32>
  %positions_0 = transformer.sinusoid half %arg0 : tensor<?x72xf32>
  return
}

// CHECK-LABEL: @images(
func.func @images(%arg0: !transformer.batch, %arg1: tensor<72xf32>) {
  // CHECK-NEXT: %rows = transformer.input_rows %arg0 : tensor<?x72xf32>
  %rows = transformer.input_rows %arg0 : tensor<?x72xf32>
  // CHECK-NEXT: %rows_0 = transformer.class_token %rows, %arg0, %arg1 : (tensor<?x72xf32>, !transformer.batch, tensor<72xf32>) -> tensor<?x72xf32>
  %rows_0 = transformer.class_token %rows, %arg0, %arg1 : (tensor<?x72xf32>, !transformer.batch, tensor<72xf32>) -> tensor<?x72xf32>
  return
}

// The last elements of a head, and every scaling.
// CHECK-LABEL: @ropes(
func.func @ropes(%arg0: tensor<?x144xf32>, %arg1: !transformer.batch) {
  // CHECK-NEXT: %rotated = transformer.rope %arg0, %arg1 heads 6 from 16 <interleaved, dim = 8, base = 1.0e+04> : tensor<?x144xf32>
  %rotated = transformer.rope %arg0, %arg1 heads 6 from 16 <interleaved, dim = 8, base = 1.0e+04> : tensor<?x144xf32>
  // CHECK-NEXT: %rotated_0 = transformer.rope %arg0, %arg1 heads 6 <half, dim = 24, base = 1.0e+04, yarn(factor = 4.0, fast = 32.0, slow = 1.0, original = 4096.0, truncate = 0.0, attention = 1.14)> : tensor<?x144xf32>
  %rotated_0 = transformer.rope %arg0, %arg1 heads 6 <half, dim = 24, base = 1.0e+04, yarn(factor = 4.0, fast = 32.0, slow = 1.0, original = 4096.0, truncate = 0.0, attention = 1.14)> : tensor<?x144xf32>
  // CHECK-NEXT: %rotated_1 = transformer.rope %arg0, %arg1 heads 6 <half, dim = 4, base = 1.0e+04, longrope(attention = 1.19, 1.0, 1.5)> : tensor<?x144xf32>
  %rotated_1 = transformer.rope %arg0, %arg1 heads 6 <half, dim = 4, base = 1.0e+04, longrope(attention = 1.19, 1.0, 1.5)> : tensor<?x144xf32>
  return
}
