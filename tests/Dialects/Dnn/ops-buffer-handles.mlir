// What exists only on buffers.
// RUN: %tenon-opt %s --verify-roundtrip | FileCheck %s
// RUN: %tenon-opt %s --mlir-print-op-generic | %tenon-opt | FileCheck %s
// RUN: %tenon-opt %s --emit-bytecode | %tenon-opt | FileCheck %s

// CHECK-LABEL: @buffers(
func.func @buffers(%batch: !transformer.batch, %arg0: index) {
  // CHECK-NEXT: %buffer = dnn.buffer %batch[%arg0] at 4096 : memref<?x8xbf16>
  %buffer = dnn.buffer %batch[%arg0] at 4096 : memref<?x8xbf16>
  // CHECK-NEXT: %buffer_0 = dnn.buffer %batch[%arg0] at 64 : memref<?x2xi32>
  %buffer_0 = dnn.buffer %batch[%arg0] at 64 : memref<?x2xi32>
  // CHECK-NEXT: %buffer_1 = dnn.buffer %batch[%arg0] at 128 plan <512 bytes from 2 to 7> : memref<?x8xf32>
  %buffer_1 = dnn.buffer %batch[%arg0] at 128 plan <512 bytes from 2 to 7> : memref<?x8xf32>
  // CHECK-NEXT: %scratch = dnn.scratch %batch[%arg0] at 64 : memref<8x2xbf16>
  %scratch = dnn.scratch %batch[%arg0] at 64 : memref<8x2xbf16>
  // CHECK-NEXT: %output = dnn.output %batch[%arg0] : memref<?x97xf32>
  %output = dnn.output %batch[%arg0] : memref<?x97xf32>
  // CHECK-NEXT: %features = dnn.features %batch[%arg0] : memref<?x768xf32>
  %features = dnn.features %batch[%arg0] : memref<?x768xf32>
  return
}

// CHECK-LABEL: @fields(
func.func @fields(%batch: !transformer.batch, %arg0: index) {
  // CHECK-NEXT: %token_ids = dnn.field token_ids %batch : memref<?xi32>
  %token_ids = dnn.field token_ids %batch : memref<?xi32>
  // CHECK-NEXT: %token_types = dnn.field token_types %batch : memref<?xi32>
  %token_types = dnn.field token_types %batch : memref<?xi32>
  // CHECK-NEXT: %positions = dnn.field positions %batch : memref<?xi32>
  %positions = dnn.field positions %batch : memref<?xi32>
  // CHECK-NEXT: %sequence_of = dnn.field sequence_of %batch : memref<?xi32>
  %sequence_of = dnn.field sequence_of %batch : memref<?xi32>
  // CHECK-NEXT: %starts = dnn.field starts %batch : memref<?xi32>
  %starts = dnn.field starts %batch : memref<?xi32>
  // CHECK-NEXT: %output_rows = dnn.field output_rows %batch : memref<?xi32>
  %output_rows = dnn.field output_rows %batch : memref<?xi32>
  // CHECK-NEXT: %source_lengths = dnn.field source_lengths %batch : memref<?xi32>
  %source_lengths = dnn.field source_lengths %batch : memref<?xi32>
  // CHECK-NEXT: %prefixes = dnn.field prefixes %batch : memref<?xi32>
  %prefixes = dnn.field prefixes %batch : memref<?xi32>
  // CHECK-NEXT: %staged_starts = dnn.field staged_starts %batch : memref<?xi32>
  %staged_starts = dnn.field staged_starts %batch : memref<?xi32>
  // CHECK-NEXT: %pages = dnn.page_table %batch[%arg0] : memref<?xi32>
  %pages = dnn.page_table %batch[%arg0] : memref<?xi32>
  // CHECK-NEXT: %pages_0 = dnn.page_table cross %batch[%arg0] : memref<?xi32>
  %pages_0 = dnn.page_table cross %batch[%arg0] : memref<?xi32>
  return
}

// CHECK-LABEL: @pages(
func.func @pages(%cache: !transformer.cache<1x4xbf16>, %cache_0: !transformer.cache<latent 1x40xbf16>, %scope: !transformer.scope, %arg0: index, %x: memref<?x1280xf32>, %cache_1: !transformer.cache<3x6xi8>) {
  // CHECK-NEXT: %keys, %values = dnn.page %cache[%scope], %arg0 : <1x4xbf16> -> memref<1x4x2x32xbf16>, memref<1x32x32xbf16>
  %keys, %values = dnn.page %cache[%scope], %arg0 : <1x4xbf16> -> memref<1x4x2x32xbf16>, memref<1x32x32xbf16>
  // CHECK-NEXT: %keys_2, %values_3, %scales = dnn.page %cache_1[%scope], %arg0 : <3x6xi8> -> memref<3x4x2x64xi8>, memref<3x16x64xi8>, memref<2x3x64xf32>
  %keys_2, %values_3, %scales = dnn.page %cache_1[%scope], %arg0 : <3x6xi8> -> memref<3x4x2x64xi8>, memref<3x16x64xi8>, memref<2x3x64xf32>
  // CHECK-NEXT: %latent = dnn.latent_page %cache_0[%scope], %arg0 : <latent 1x40xbf16> -> memref<64x48xbf16>
  %latent = dnn.latent_page %cache_0[%scope], %arg0 : <latent 1x40xbf16> -> memref<64x48xbf16>
  // CHECK-NEXT: %keys_4, %values_5 = dnn.staged_page %x[%arg0] : memref<?x1280xf32> -> memref<1x4x4x16xf32>, memref<1x64x16xf32>
  %keys_4, %values_5 = dnn.staged_page %x[%arg0] : memref<?x1280xf32> -> memref<1x4x4x16xf32>, memref<1x64x16xf32>
  return
}

// CHECK-LABEL: @views(
func.func @views(%weight: !dnn.packed<panels, 6x8xbf16>, %weight_0: !dnn.packed<vector, 6x1xf32>, %weight_1: !dnn.packed<row_major, 6x8xf32>) {
  // CHECK-NEXT: %weight_2 = dnn.weight_view %weight : <panels, 6x8xbf16> -> memref<1x16x128xbf16>
  %weight_2 = dnn.weight_view %weight : <panels, 6x8xbf16> -> memref<1x16x128xbf16>
  // CHECK-NEXT: %weight_3 = dnn.weight_view %weight_0 : <vector, 6x1xf32> -> memref<64xf32>
  %weight_3 = dnn.weight_view %weight_0 : <vector, 6x1xf32> -> memref<64xf32>
  // CHECK-NEXT: %weight_4 = dnn.weight_view %weight_1 : <row_major, 6x8xf32> -> memref<6x8xf32>
  %weight_4 = dnn.weight_view %weight_1 : <row_major, 6x8xf32> -> memref<6x8xf32>
  return
}

// CHECK-LABEL: @primitives(
func.func @primitives(%batch: !transformer.batch, %x: memref<?x8xbf16>, %weight: !dnn.packed<panels, 6x8xbf16>, %weight_0: !dnn.packed<vector, 6x1xf32>, %x_1: memref<?x6xf32>) {
  // CHECK-NEXT: dnn.call_matmul 0 of %batch(%x) weight %weight output %x_1 : !transformer.batch, memref<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, memref<?x6xf32>
  dnn.call_matmul 0 of %batch(%x) weight %weight output %x_1 : !transformer.batch, memref<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, memref<?x6xf32>
  // CHECK-NEXT: dnn.call_matmul 7 of %batch(%x) weight %weight bias %weight_0 multiplier %x_1 residual %x_1 output %x_1 : !transformer.batch, memref<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<vector, 6x1xf32>, memref<?x6xf32>, memref<?x6xf32>, memref<?x6xf32>
  dnn.call_matmul 7 of %batch(%x) weight %weight bias %weight_0 multiplier %x_1 residual %x_1 output %x_1 : !transformer.batch, memref<?x8xbf16>, !dnn.packed<panels, 6x8xbf16>, !dnn.packed<vector, 6x1xf32>, memref<?x6xf32>, memref<?x6xf32>, memref<?x6xf32>
  return
}

// CHECK-LABEL: @regions(
func.func @regions(%batch: !transformer.batch) {
  // CHECK-NEXT: dnn.parallel %arg0 of %arg1 {
  dnn.parallel %arg0 of %arg1 {
    // CHECK-NEXT: dnn.barrier %batch
    dnn.barrier %batch
    // CHECK-NEXT: %0 = arith.addi %arg0, %arg1 : index
    %0 = arith.addi %arg0, %arg1 : index
    // CHECK-NEXT: %first, %count = dnn.claim %arg1 of %0 for %arg0 of %arg1 on %batch
    %first, %count = dnn.claim %arg1 of %0 for %arg0 of %arg1 on %batch
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: dnn.launch @body on %batch() : !transformer.batch
  dnn.launch @body on %batch() : !transformer.batch
  // CHECK-NEXT: dnn.launch @body_of_one on %batch(%batch) : !transformer.batch, !transformer.batch
  dnn.launch @body_of_one on %batch(%batch) : !transformer.batch, !transformer.batch
  return
}

// CHECK-LABEL: @kernels(
func.func @kernels(%batch: !transformer.batch, %scope: !transformer.scope, %arg0: index) {
  // CHECK-NEXT: dnn.kernel "a" in "f" number 0 of %batch rows %arg0 cost <numbers = f32>
  dnn.kernel "a" in "f" number 0 of %batch rows %arg0 cost <numbers = f32>
  // CHECK-NEXT: dnn.kernel "b" in "f" number 65535 of %batch[%scope] rows %arg0 thread %arg0 cost <weight_bytes = 1, row_bytes = 2, row_flops = 3, key_bytes = 4, key_flops = 5, window = 6, used_parts = 7, parts = 8, keys = causal, numbers = bf16> primitive 3 because "c"
  dnn.kernel "b" in "f" number 65535 of %batch[%scope] rows %arg0 thread %arg0 cost <weight_bytes = 1, row_bytes = 2, row_flops = 3, key_bytes = 4, key_flops = 5, window = 6, used_parts = 7, parts = 8, keys = causal, numbers = bf16> primitive 3 because "c"
  // Numbers that say nothing are left out.
  // CHECK-NEXT: dnn.kernel "c" in "f" number 1 of %batch rows %arg0 cost <keys = source, numbers = int8>
  dnn.kernel "c" in "f" number 1 of %batch rows %arg0 cost <keys = source, used_parts = 1, parts = 1, row_bytes = 0, numbers = int8>
  return
}
func.func private @body(index, index)
func.func private @body_of_one(index, index, !transformer.batch)
