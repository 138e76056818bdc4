// Products of many rows are the library's, and equal ones share a site.
// RUN: %tenon-opt %s --assign-sites --remark-policy=all --remarks-filter=".*" -split-input-file -verify-diagnostics | FileCheck %s

module attributes {dnn.cpu_level = "avx512_bf16"} {
// CHECK-LABEL: @layer.many
func.func @layer.many(%x: tensor<?x8xbf16>, %w: !dnn.packed<panels, 8x8xbf16>, %b: !dnn.packed<vector, 8x1xf32>, %o: tensor<?x8xf32>) {
  // CHECK-NEXT: dnn.product %arg0 weight %arg1 outs(%arg3) site 0
  // expected-remark@below {{[Passed] LibraryProduct | Category:placement | Function=layer.many | Remark="computed by the library"}}
  %0 = dnn.product %x weight %w outs(%o) : (tensor<?x8xbf16>, !dnn.packed<panels, 8x8xbf16>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // Another epilogue is another site.
  // CHECK-NEXT: dnn.product %arg0 weight %arg1 bias %arg2 outs(%arg3) site 1
  // expected-remark@below {{computed by the library}}
  %1 = dnn.product %x weight %w bias %b outs(%o) : (tensor<?x8xbf16>, !dnn.packed<panels, 8x8xbf16>, !dnn.packed<vector, 8x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: dnn.product {{.*}} activation relu outs(%arg3) site 2
  // expected-remark@below {{computed by the library}}
  %2 = dnn.product %x weight %w activation relu outs(%o) : (tensor<?x8xbf16>, !dnn.packed<panels, 8x8xbf16>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: dnn.product {{.*}} residual %arg3 outs(%arg3) site 3
  // expected-remark@below {{computed by the library}}
  %3 = dnn.product %x weight %w residual %o outs(%o) : (tensor<?x8xbf16>, !dnn.packed<panels, 8x8xbf16>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}
// The same product in another function, by another weight of the same shape.
// CHECK-LABEL: @head.many
func.func @head.many(%x: tensor<?x8xbf16>, %w: !dnn.packed<panels, 8x8xbf16>, %o: tensor<?x8xf32>) {
  // CHECK-NEXT: dnn.product %arg0 weight %arg1 outs(%arg2) site 0
  // expected-remark@below {{computed by the library}}
  %0 = dnn.product %x weight %w outs(%o) : (tensor<?x8xbf16>, !dnn.packed<panels, 8x8xbf16>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}
// CHECK-LABEL: @layer.few
func.func @layer.few(%x: tensor<?x8xbf16>, %w: !dnn.packed<panels, 8x8xbf16>, %o: tensor<?x8xf32>) {
  // CHECK-NEXT: dnn.product %arg0 weight %arg1 outs(%arg2) :
  // expected-remark@below {{[Missed] LibraryProduct | Category:placement | Function=layer.few | Reason="generated: few rows, the weights are streamed"}}
  %0 = dnn.product %x weight %w outs(%o) : (tensor<?x8xbf16>, !dnn.packed<panels, 8x8xbf16>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}
}

// -----

module attributes {dnn.cpu_level = "avx512"} {
// CHECK-LABEL: @layer.many
func.func @layer.many(%x: tensor<?x8xf32>, %w: !dnn.packed<panels, 8x8xf32>, %v: !dnn.packed<panels, 8x8xbf16>, %o: tensor<?x8xf32>) {
  // CHECK-NEXT: outs(%arg3) site 0
  // expected-remark@below {{computed by the library}}
  %0 = dnn.product %x weight %w outs(%o) : (tensor<?x8xf32>, !dnn.packed<panels, 8x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: outs(%arg3) :
  // expected-remark@below {{generated: avx512 has no bf16 products, weights are widened in a kernel}}
  %1 = dnn.product %x weight %v outs(%o) : (tensor<?x8xf32>, !dnn.packed<panels, 8x8xbf16>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}
}

// -----

module attributes {dnn.cpu_level = "avx2"} {
// CHECK-LABEL: @layer.many
func.func @layer.many(%x: tensor<?x8xf32>, %w: !dnn.packed<panels, 8x8xf32>, %o: tensor<?x8xf32>) {
  // CHECK-NEXT: outs(%arg2) :
  // expected-remark@below {{generated: avx2 has no library product for the packed layout}}
  %0 = dnn.product %x weight %w outs(%o) : (tensor<?x8xf32>, !dnn.packed<panels, 8x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}
}
