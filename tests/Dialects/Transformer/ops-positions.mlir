// Positions, rows that the caller gives and class tokens survive printing and parsing.
// RUN: %tenon-opt %s --verify-roundtrip | FileCheck %s
// RUN: %tenon-opt %s --mlir-print-op-generic | %tenon-opt | FileCheck %s
// RUN: %tenon-opt %s --emit-bytecode | %tenon-opt | FileCheck %s

// CHECK-LABEL: @embeddings(
func.func @embeddings(%batch: !transformer.batch, %x: tensor<97x72xbf16>) {
  // CHECK-NEXT: %embedding = transformer.embedding position %batch, %x offset 2 : (!transformer.batch, tensor<97x72xbf16>) -> tensor<?x72xf32>
  %embedding = transformer.embedding position %batch, %x offset 2 : (!transformer.batch, tensor<97x72xbf16>) -> tensor<?x72xf32>
  return
}

// CHECK-LABEL: @sinusoids(
func.func @sinusoids(%batch: !transformer.batch) {
  // CHECK-NEXT: %positions = transformer.sinusoid interleaved %batch : tensor<?x72xf32>
  %positions = transformer.sinusoid interleaved %batch : tensor<?x72xf32>
  // CHECK-NEXT: %positions_0 = transformer.sinusoid half %batch : tensor<?x72xf32>
  %positions_0 = transformer.sinusoid half %batch : tensor<?x72xf32>
  return
}

// CHECK-LABEL: @images(
func.func @images(%batch: !transformer.batch, %x: tensor<72xf32>) {
  // CHECK-NEXT: %features = transformer.input_features %batch : tensor<?x72xf32>
  %features = transformer.input_features %batch : tensor<?x72xf32>
  // CHECK-NEXT: %tokens = transformer.class_token %features, %batch, %x : (tensor<?x72xf32>, !transformer.batch, tensor<72xf32>) -> tensor<?x72xf32>
  %tokens = transformer.class_token %features, %batch, %x : (tensor<?x72xf32>, !transformer.batch, tensor<72xf32>) -> tensor<?x72xf32>
  return
}

// CHECK-LABEL: @merged(
func.func @merged(%x: tensor<?x72xf32>, %batch: !transformer.batch) {
  // CHECK-NEXT: %merged = transformer.merge_features %x, %batch token 32000 : tensor<?x72xf32>
  %merged = transformer.merge_features %x, %batch token 32000 : tensor<?x72xf32>
  return
}

// The last elements of a head, and every scaling.
// CHECK-LABEL: @ropes(
func.func @ropes(%x: tensor<?x144xf32>, %batch: !transformer.batch) {
  // CHECK-NEXT: %rotated = transformer.rope %x, %batch heads 6 from 16 <interleaved, dim = 8, base = 10000.0> : tensor<?x144xf32>
  %rotated = transformer.rope %x, %batch heads 6 from 16 <interleaved, dim = 8, base = 10000.0> : tensor<?x144xf32>
  // CHECK-NEXT: %rotated_0 = transformer.rope %x, %batch heads 6 <half, dim = 24, base = 10000.0, yarn(factor = 4.0, fast = 32.0, slow = 1.0, original = 4096.0, truncate = 0.0, attention = 1.14)> : tensor<?x144xf32>
  %rotated_0 = transformer.rope %x, %batch heads 6 <half, dim = 24, base = 10000.0, yarn(factor = 4.0, fast = 32.0, slow = 1.0, original = 4096.0, truncate = 0.0, attention = 1.14)> : tensor<?x144xf32>
  // CHECK-NEXT: %rotated_1 = transformer.rope %x, %batch heads 6 <half, dim = 4, base = 10000.0, longrope(attention = 1.19, 1.0, 1.5)> : tensor<?x144xf32>
  %rotated_1 = transformer.rope %x, %batch heads 6 <half, dim = 4, base = 10000.0, longrope(attention = 1.19, 1.0, 1.5)> : tensor<?x144xf32>
  return
}
