// Types, attributes and the attributes of a placed module.
// RUN: %tenon-opt %s --verify-roundtrip | FileCheck %s
// RUN: %tenon-opt %s --mlir-print-op-generic | %tenon-opt | FileCheck %s
// RUN: %tenon-opt %s --emit-bytecode | %tenon-opt | FileCheck %s

// CHECK-LABEL: module
// CHECK-SAME: dnn.arena_bytes = 4096 : i64
// CHECK-SAME: dnn.scratch_bytes = 8192 : i64
// CHECK-SAME: dnn.target = #dnn.target<avx512_bf16, vector = 512, registers = 32, dot = [bf16, int8], library = [f32, bf16]>
module attributes {
  dnn.arena_bytes = 4096 : i64,
  dnn.scratch_bytes = 8192 : i64,
  dnn.target = #dnn.target<avx512_bf16, vector = 512, registers = 32, dot = [bf16, int8], library = [f32, bf16]>
} {
  // CHECK: #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>
  func.func private @target() attributes {test.a = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>}
  // CHECK: #dnn.plan<512 bytes from 2 to 7>
  func.func private @plan() attributes {test.a = #dnn.plan<512 bytes from 2 to 7>}
  // CHECK: #dnn.field<output_rows>
  func.func private @field() attributes {test.a = #dnn.field<output_rows>}
  // CHECK: !dnn.packed<vector, 72x1xf32>, !dnn.packed<row_major, 97x72xbf16>, !dnn.packed<panels, 97x72xf32>, !dnn.packed<panels, 8x97x72xbf16>, !dnn.packed<panels, 97x256xq4_k>
  func.func private @packed(!dnn.packed<vector, 72x1xf32>, !dnn.packed<row_major, 97x72xbf16>, !dnn.packed<panels, 97x72xf32>, !dnn.packed<panels, 8x97x72xbf16>, !dnn.packed<panels, 97x256xq4_k>)

  // CHECK-LABEL: @layouts(
  func.func @layouts(%s: !transformer.scope) {
    // CHECK: of norm {dnn.layout = #dnn.layout<vector>} : tensor<72xf32>
    %0 = transformer.parameter %s "v" of norm {dnn.layout = #dnn.layout<vector>} : tensor<72xf32>
    // CHECK: of ffn {dnn.layout = #dnn.layout<row_major>} : tensor<8x72xf32>
    %1 = transformer.parameter %s "r" of ffn {dnn.layout = #dnn.layout<row_major>} : tensor<8x72xf32>
    // CHECK: of ffn {dnn.layout = #dnn.layout<panels>} : tensor<2x8x72xf32>
    %2 = transformer.parameter %s "p" of ffn {dnn.layout = #dnn.layout<panels>} : tensor<2x8x72xf32>
    return
  }

  // CHECK-LABEL: @buffers(
  func.func @buffers(%b: !transformer.batch, %n: index) {
    // The last bytes of the arena.
    // CHECK: at 3584 plan <512 bytes from 2 to 7>
    %0 = dnn.buffer %b[%n] at 3584 plan <512 bytes from 2 to 7> : memref<?x8xf32>
    return
  }
}
