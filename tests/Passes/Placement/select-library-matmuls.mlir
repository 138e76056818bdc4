// Matmuls of prefill-sized batches are the library's where it has fast ones, and
// equal ones share a primitive.
// RUN: %tenon-opt %s --select-library-matmuls --remark-policy=all --remarks-filter=".*" -split-input-file -verify-diagnostics | FileCheck %s

module attributes {dnn.target = #dnn.target<avx512_bf16, vector = 512, registers = 32, dot = [bf16, int8], library = [f32, bf16]>} {
// CHECK-LABEL: @layer.many
func.func @layer.many(%x: tensor<?x8xbf16>, %w: !dnn.packed<panels, 8x8xbf16>, %b: !dnn.packed<vector, 8x1xf32>, %o: tensor<?x8xf32>) attributes {transformer.variant = #transformer.variant<many>} {
  // CHECK-NEXT: dnn.matmul %x weight %weight primitive 0 outs(%x_1)
  // expected-remark@below {{[Analysis] LibraryMatmul | Category:placement | Function=layer.many | Level=avx512_bf16, Operation="matmul ?x8xbf16 -> ?x8xf32", Remark="computed by the library"}}
  %0 = dnn.matmul %x weight %w outs(%o) : (tensor<?x8xbf16>, !dnn.packed<panels, 8x8xbf16>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // Another epilogue is another primitive.
  // CHECK-NEXT: dnn.matmul %x weight %weight bias %weight_0 primitive 1 outs(%x_1)
  // expected-remark@below {{computed by the library}}
  %1 = dnn.matmul %x weight %w bias %b outs(%o) : (tensor<?x8xbf16>, !dnn.packed<panels, 8x8xbf16>, !dnn.packed<vector, 8x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: dnn.matmul {{.*}} activation relu primitive 2 outs(%x_1)
  // expected-remark@below {{computed by the library}}
  %2 = dnn.matmul %x weight %w activation relu outs(%o) : (tensor<?x8xbf16>, !dnn.packed<panels, 8x8xbf16>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: dnn.matmul {{.*}} residual %x_1 primitive 3 outs(%x_1)
  // expected-remark@below {{computed by the library}}
  %3 = dnn.matmul %x weight %w residual %o outs(%o) : (tensor<?x8xbf16>, !dnn.packed<panels, 8x8xbf16>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}
// The same matmul in another function, by another weight of the same shape.
// CHECK-LABEL: @head.many
func.func @head.many(%x: tensor<?x8xbf16>, %w: !dnn.packed<panels, 8x8xbf16>, %o: tensor<?x8xf32>) attributes {transformer.variant = #transformer.variant<many>} {
  // CHECK-NEXT: dnn.matmul %x weight %weight primitive 0 outs(%x_0)
  // expected-remark@below {{computed by the library}}
  %0 = dnn.matmul %x weight %w outs(%o) : (tensor<?x8xbf16>, !dnn.packed<panels, 8x8xbf16>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}
// CHECK-LABEL: @layer.few
func.func @layer.few(%x: tensor<?x8xbf16>, %w: !dnn.packed<panels, 8x8xbf16>, %o: tensor<?x8xf32>) attributes {transformer.variant = #transformer.variant<few>} {
  // CHECK-NEXT: dnn.matmul %x weight %weight outs(%x_0) :
  // expected-remark@below {{[Analysis] LibraryMatmul | Category:placement | Function=layer.few | Level=avx512_bf16, Operation="matmul ?x8xbf16 -> ?x8xf32", Remark="generated: a decode-sized batch streams the weights"}}
  %0 = dnn.matmul %x weight %w outs(%o) : (tensor<?x8xbf16>, !dnn.packed<panels, 8x8xbf16>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}
// What is compiled once, as an entry is, runs for large batches too.
// CHECK-LABEL: @step
func.func @step(%x: tensor<?x8xbf16>, %w: !dnn.packed<panels, 8x8xbf16>, %o: tensor<?x8xf32>) attributes {transformer.role = "step"} {
  // CHECK-NEXT: dnn.matmul %x weight %weight primitive 0 outs(
  // expected-remark@below {{[Analysis] LibraryMatmul | Category:placement | Function=step | Level=avx512_bf16, Operation="matmul ?x8xbf16 -> ?x8xf32", Remark="computed by the library"}}
  %0 = dnn.matmul %x weight %w outs(%o) : (tensor<?x8xbf16>, !dnn.packed<panels, 8x8xbf16>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}
// What the library does not have: f32 rows with bf16 weights, f32 matmuls that
// write bf16. Those of bf16 do, by a primitive of their own.
// CHECK-LABEL: @types
func.func @types(%x: tensor<?x8xf32>, %y: tensor<?x8xbf16>, %w: !dnn.packed<panels, 8x8xf32>, %v: !dnn.packed<panels, 8x8xbf16>, %o: tensor<?x8xf32>, %h: tensor<?x8xbf16>) {
  // CHECK-NEXT: dnn.matmul %x weight %weight_1 outs(
  // expected-remark@below {{avx512_bf16 has no library matmul of f32 rows with panels of bf16 that writes f32}}
  %0 = dnn.matmul %x weight %v outs(%o) : (tensor<?x8xf32>, !dnn.packed<panels, 8x8xbf16>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: dnn.matmul %x weight %weight outs(
  // expected-remark@below {{avx512_bf16 has no library matmul of f32 rows with panels of f32 that writes bf16}}
  %1 = dnn.matmul %x weight %w outs(%h) : (tensor<?x8xf32>, !dnn.packed<panels, 8x8xf32>, tensor<?x8xbf16>) -> tensor<?x8xbf16>
  // CHECK-NEXT: dnn.matmul %x_0 weight %weight_1 primitive 4 outs(
  // expected-remark@below {{computed by the library}}
  %2 = dnn.matmul %y weight %v outs(%h) : (tensor<?x8xbf16>, !dnn.packed<panels, 8x8xbf16>, tensor<?x8xbf16>) -> tensor<?x8xbf16>
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx512, vector = 512, registers = 32, dot = [], library = [f32]>} {
// CHECK-LABEL: @layer.many
func.func @layer.many(%x: tensor<?x8xf32>, %w: !dnn.packed<panels, 8x8xf32>, %v: !dnn.packed<panels, 8x8xbf16>, %o: tensor<?x8xf32>) attributes {transformer.variant = #transformer.variant<many>} {
  // CHECK-NEXT: primitive 0 outs(%x_1)
  // expected-remark@below {{computed by the library}}
  %0 = dnn.matmul %x weight %w outs(%o) : (tensor<?x8xf32>, !dnn.packed<panels, 8x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: outs(%x_1) :
  // expected-remark@below {{avx512 has no library matmul of f32 rows with panels of bf16 that writes f32}}
  %1 = dnn.matmul %x weight %v outs(%o) : (tensor<?x8xf32>, !dnn.packed<panels, 8x8xbf16>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
// CHECK-LABEL: @layer.many
func.func @layer.many(%x: tensor<?x8xf32>, %w: !dnn.packed<panels, 8x8xf32>, %o: tensor<?x8xf32>) attributes {transformer.variant = #transformer.variant<many>} {
  // CHECK-NEXT: outs(%x_0) :
  // expected-remark@below {{avx2 has no library matmul of f32 rows with panels of f32 that writes f32}}
  %0 = dnn.matmul %x weight %w outs(%o) : (tensor<?x8xf32>, !dnn.packed<panels, 8x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}
}
