// What exists only on buffers survives printing and parsing.
// RUN: %tenon-opt %s | %tenon-opt | FileCheck %s

// CHECK-LABEL: @buffers(
func.func @buffers(%arg0: !transformer.batch, %arg1: index, %arg2: !transformer.cache<1x4xbf16>, %arg3: !transformer.scope) {
  // CHECK-NEXT: %0 = dnn.buffer %arg0[%arg1] at 4096 : memref<?x8xbf16>
  %0 = dnn.buffer %arg0[%arg1] at 4096 : memref<?x8xbf16>
  // CHECK-NEXT: %1 = dnn.output %arg0[%arg1] : memref<?x97xf32>
  %1 = dnn.output %arg0[%arg1] : memref<?x97xf32>
  // CHECK-NEXT: %2 = dnn.field token_ids %arg0 : memref<?xi32>
  %2 = dnn.field token_ids %arg0 : memref<?xi32>
  // CHECK-NEXT: %3 = dnn.field token_types %arg0 : memref<?xi32>
  %3 = dnn.field token_types %arg0 : memref<?xi32>
  // CHECK-NEXT: %4 = dnn.field positions %arg0 : memref<?xi32>
  %4 = dnn.field positions %arg0 : memref<?xi32>
  // CHECK-NEXT: %5 = dnn.field sequence_of %arg0 : memref<?xi32>
  %5 = dnn.field sequence_of %arg0 : memref<?xi32>
  // CHECK-NEXT: %6 = dnn.field starts %arg0 : memref<?xi32>
  %6 = dnn.field starts %arg0 : memref<?xi32>
  // CHECK-NEXT: %7 = dnn.field wanted %arg0 : memref<?xi32>
  %7 = dnn.field wanted %arg0 : memref<?xi32>
  // CHECK-NEXT: %8 = dnn.page_table %arg0[%arg1] : memref<?xi32>
  %8 = dnn.page_table %arg0[%arg1] : memref<?xi32>
  // CHECK-NEXT: %9 = dnn.field memory_lengths %arg0 : memref<?xi32>
  %9 = dnn.field memory_lengths %arg0 : memref<?xi32>
  // CHECK-NEXT: %10 = dnn.field prefixes %arg0 : memref<?xi32>
  %10 = dnn.field prefixes %arg0 : memref<?xi32>
  // CHECK-NEXT: %11 = dnn.page_table memory %arg0[%arg1] : memref<?xi32>
  %11 = dnn.page_table memory %arg0[%arg1] : memref<?xi32>
  // CHECK-NEXT: %12 = dnn.features %arg0[%arg1] : memref<?x768xf32>
  %12 = dnn.features %arg0[%arg1] : memref<?x768xf32>
  // CHECK-NEXT: %13 = dnn.buffer %arg0[%arg1] at 64 : memref<?x2xi32>
  %13 = dnn.buffer %arg0[%arg1] at 64 : memref<?x2xi32>
  // CHECK-NEXT: %keys, %values = dnn.page %arg2[%arg3], %arg1 : <1x4xbf16> -> memref<1x4x4x16xbf16>, memref<1x64x16xbf16>
  %keys, %values = dnn.page %arg2[%arg3], %arg1 : <1x4xbf16> -> memref<1x4x4x16xbf16>, memref<1x64x16xbf16>
  return
}

// CHECK-LABEL: @latents(
func.func @latents(%arg0: !transformer.cache<latent 1x40xbf16>, %arg1: !transformer.scope, %arg2: index) {
  // CHECK-NEXT: %0 = dnn.latent_page %arg0[%arg1], %arg2 : <latent 1x40xbf16> -> memref<64x48xbf16>
  %0 = dnn.latent_page %arg0[%arg1], %arg2 : <latent 1x40xbf16> -> memref<64x48xbf16>
  return
}

// CHECK-LABEL: @staged(
func.func @staged(%arg0: memref<?x1280xf32>, %arg1: index, %arg2: !dnn.packed<panels, 6x8xbf16>) {
  // CHECK-NEXT: %keys, %values = dnn.staged_page %arg0[%arg1] : memref<?x1280xf32> -> memref<1x4x4x16xf32>, memref<1x64x16xf32>
  %keys, %values = dnn.staged_page %arg0[%arg1] : memref<?x1280xf32> -> memref<1x4x4x16xf32>, memref<1x64x16xf32>
  // CHECK-NEXT: %0 = dnn.weight_view %arg2 : <panels, 6x8xbf16> -> memref<1x8x128xbf16>
  %0 = dnn.weight_view %arg2 : <panels, 6x8xbf16> -> memref<1x8x128xbf16>
  return
}

// CHECK-LABEL: @sites(
func.func @sites(%arg0: !transformer.batch, %arg1: memref<?x8xbf16>, %arg2: !dnn.packed<panels, 6x8xbf16>, %arg3: !dnn.packed<vector, 6x1xf32>, %arg4: memref<?x6xf32>) {
  // CHECK-NEXT: dnn.call_site 0 of %arg0(%arg1) weight %arg2 output %arg4 : !transformer.batch, memref<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, memref<?x6xf32>
  dnn.call_site 0 of %arg0(%arg1) weight %arg2 output %arg4 : !transformer.batch, memref<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, memref<?x6xf32>
  // CHECK-NEXT: dnn.call_site 7 of %arg0(%arg1) weight %arg2 bias %arg3 multiplier %arg4 residual %arg4 output %arg4 : !transformer.batch, memref<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<vector, 6x1xf32>, memref<?x6xf32>, memref<?x6xf32>, memref<?x6xf32>
  dnn.call_site 7 of %arg0(%arg1) weight %arg2 bias %arg3 multiplier %arg4 residual %arg4 output %arg4 : !transformer.batch, memref<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<vector, 6x1xf32>, memref<?x6xf32>, memref<?x6xf32>, memref<?x6xf32>
  return
}

// CHECK-LABEL: @regions(
func.func @regions(%arg0: !transformer.batch) {
  // CHECK-NEXT: dnn.parallel %arg1 of %arg2 {
  dnn.parallel %t of %n {
    // CHECK-NEXT: dnn.barrier %arg0
    dnn.barrier %arg0
    // CHECK-NEXT: arith.addi %arg1, %arg2
    %0 = arith.addi %t, %n : index
  }
  // CHECK: dnn.launch @body on %arg0() : !transformer.batch
  dnn.launch @body on %arg0() : !transformer.batch
  // CHECK-NEXT: dnn.launch @body_of_one on %arg0(%arg0) : !transformer.batch, !transformer.batch
  dnn.launch @body_of_one on %arg0(%arg0) : !transformer.batch, !transformer.batch
  return
}
func.func private @body(index, index)
func.func private @body_of_one(index, index, !transformer.batch)

// CHECK-LABEL: @dispatches(
func.func @dispatches(%arg0: !transformer.batch, %arg1: memref<?x8xf32>, %arg2: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK-NEXT: dnn.dispatch @f.few or @f.many by wanted of %arg0(%arg0) outs(%arg1) : (!transformer.batch, !transformer.batch, memref<?x8xf32>) -> ()
  dnn.dispatch @f.few or @f.many by wanted of %arg0(%arg0) outs(%arg1) : (!transformer.batch, !transformer.batch, memref<?x8xf32>) -> ()
  // CHECK-NEXT: %0 = dnn.dispatch @f.few or @f.many by tokens of %arg0() outs(%arg2) : (!transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  %0 = dnn.dispatch @f.few or @f.many by tokens of %arg0() outs(%arg2) : (!transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
func.func private @f.few(!transformer.batch)
func.func private @f.many(!transformer.batch)
