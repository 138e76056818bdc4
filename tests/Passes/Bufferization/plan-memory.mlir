// Buffers at constant offsets: multiples of 64, shared where lifetimes are
// apart. Row counts are rounded up to 16.
// RUN: %tenon-opt %s --plan-memory -split-input-file | FileCheck %s

// When the third buffer is written the first has been read: they share.
// CHECK: module attributes {dnn.arena_bytes = 1024 : i64}
// CHECK-LABEL: @chain
func.func @chain(%b: !transformer.batch, %x: memref<?x8xf32>) attributes {transformer.max_tokens = 16 : i64, transformer.max_output_rows = 16 : i64} {
  // CHECK: %[[N:.*]] = dnn.count tokens %batch
  // CHECK-NEXT: dnn.buffer %batch[%[[N]]] at 0 plan <512 bytes from 4 to 5> : memref<?x8xf32>
  // CHECK-NEXT: dnn.buffer %batch[%[[N]]] at 512 plan <512 bytes from 5 to 6> : memref<?x8xf32>
  // CHECK-NEXT: dnn.buffer %batch[%[[N]]] at 0 plan <512 bytes from 6 to 7> : memref<?x8xf32>
  %n = dnn.count tokens %b
  %0 = memref.alloc(%n) : memref<?x8xf32>
  %1 = memref.alloc(%n) : memref<?x8xf32>
  %2 = memref.alloc(%n) : memref<?x8xf32>
  dnn.residual %x, %x outs(%0) : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  dnn.residual %x, %0 outs(%1) : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  dnn.residual %x, %1 outs(%2) : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  dnn.residual %x, %2 outs(%x) : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

// All alive at once: none shares. 16 rows of 3 f32 are 192 bytes; 9 tokens
// take 16 rows, 17 output rows 32: 32 * 5 * 2 = 320 bytes. Largest first.
// CHECK: module attributes {dnn.arena_bytes = 512 : i64}
// CHECK-LABEL: @together
func.func @together(%b: !transformer.batch) attributes {transformer.max_tokens = 9 : i64, transformer.max_output_rows = 17 : i64} {
  // CHECK: dnn.buffer {{.*}} at 320 {{.*}} : memref<?x3xf32>
  // CHECK: dnn.buffer {{.*}} at 0 {{.*}} : memref<?x5xbf16>
  %n = dnn.count tokens %b
  %w = dnn.count output_rows %b
  %0 = memref.alloc(%n) : memref<?x3xf32>
  %1 = memref.alloc(%w) : memref<?x5xbf16>
  dnn.parallel %t of %k {
    %2 = memref.dim %0, %t : memref<?x3xf32>
    %3 = memref.dim %1, %t : memref<?x5xbf16>
  }
  return
}

// -----

// 16 rows of 7 bf16 are 224 bytes, which end at the next multiple of 64.
// CHECK: module attributes {dnn.arena_bytes = 512 : i64}
// CHECK-LABEL: @aligned
func.func @aligned(%b: !transformer.batch) attributes {transformer.max_tokens = 1 : i64, transformer.max_output_rows = 1 : i64} {
  // CHECK: dnn.buffer {{.*}} at 0 plan <256 bytes from 3 to 3>
  // CHECK-NEXT: dnn.buffer {{.*}} at 256 plan <256 bytes from 3 to 3>
  %n = dnn.count tokens %b
  %0 = memref.alloc(%n) : memref<?x7xbf16>
  %1 = memref.alloc(%n) : memref<?x7xbf16>
  dnn.cast %0 outs(%1) : (memref<?x7xbf16>, memref<?x7xbf16>) -> ()
  return
}

// -----

// A row of staged keys and values is a page of 64 slots: 300 tokens are at most
// 10 rows, which no matmul reads. Sequences are at most as many as tokens,
// rounded up to 320.
// CHECK: module attributes {dnn.arena_bytes = 61440 : i64}
// CHECK-LABEL: @staged
func.func @staged(%b: !transformer.batch) attributes {transformer.max_tokens = 300 : i64, transformer.max_output_rows = 1 : i64} {
  // CHECK: dnn.buffer {{.*}} plan <51200 bytes from 4 to 4> : memref<?x1280xf32>
  // CHECK-NEXT: dnn.buffer {{.*}} plan <10240 bytes from 4 to 4> : memref<?x8xf32>
  %c = dnn.count staged_pages %b
  %s = dnn.count sequences %b
  %0 = memref.alloc(%c) : memref<?x1280xf32>
  %1 = memref.alloc(%s) : memref<?x8xf32>
  dnn.parallel %t of %k {
    %2 = memref.dim %0, %t : memref<?x1280xf32>
    %3 = memref.dim %1, %t : memref<?x8xf32>
  }
  return
}

// -----

// Frames of layer functions lie behind the largest frame of an entry, on top
// of each other.
// CHECK: module attributes {dnn.arena_bytes = 2048 : i64}
// CHECK-LABEL: @layer.few
func.func private @layer.few(%b: !transformer.batch, %x: memref<?x8xf32>) attributes {transformer.variant = #transformer.variant<few>, transformer.max_tokens = 8 : i64, transformer.max_output_rows = 8 : i64} {
  // CHECK: dnn.buffer {{.*}} at 1024
  %n = dnn.count tokens %b
  %0 = memref.alloc(%n) : memref<?x8xf32>
  dnn.residual %x, %x outs(%0) : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}
// CHECK-LABEL: @layer.many
func.func private @layer.many(%b: !transformer.batch, %x: memref<?x8xf32>) attributes {transformer.variant = #transformer.variant<many>, transformer.max_tokens = 32 : i64, transformer.max_output_rows = 32 : i64} {
  // CHECK: dnn.buffer {{.*}} at 1024
  %n = dnn.count tokens %b
  %0 = memref.alloc(%n) : memref<?x8xf32>
  dnn.residual %x, %x outs(%0) : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}
// CHECK-LABEL: @step
func.func @step(%b: !transformer.batch) attributes {transformer.role = "step", transformer.max_tokens = 32 : i64, transformer.max_output_rows = 32 : i64} {
  // CHECK: dnn.buffer {{.*}} at 0
  %n = dnn.count tokens %b
  %0 = memref.alloc(%n) : memref<?x8xf32>
  dnn.dispatch @layer.few or @layer.many by tokens of %b(%b) outs(%0) : (!transformer.batch, !transformer.batch, memref<?x8xf32>) -> ()
  return
}

// -----

// As many rows as its type says: 4 rows of 7 numbers are 112 bytes, in two
// lines of 64.
// CHECK: module attributes {dnn.arena_bytes = 128 : i64}
// CHECK-LABEL: @static
func.func @static(%b: !transformer.batch, %x: memref<?x2xi32>) attributes {transformer.max_tokens = 1000 : i64, transformer.max_output_rows = 8 : i64} {
  // CHECK: %[[FOUR:.*]] = arith.constant 4 : index
  // CHECK-NEXT: dnn.buffer %batch[%[[FOUR]]] at 0 plan <128 bytes from 1 to 1> : memref<4x7xi32>
  %0 = memref.alloc() : memref<4x7xi32>
  dnn.moe_group %x outs(%x, %0) : (memref<?x2xi32>, memref<?x2xi32>, memref<4x7xi32>) -> ()
  return
}

// -----

// A buffer lives as long as a view of it: the second one cannot have its place,
// the third can.
// CHECK: module attributes {dnn.arena_bytes = 1024 : i64}
// CHECK-LABEL: @views
func.func @views(%b: !transformer.batch, %x: memref<?x8xf32>) attributes {transformer.max_tokens = 16 : i64, transformer.max_output_rows = 16 : i64} {
  // CHECK: dnn.buffer %batch[%tokens] at 0 plan <512 bytes from 4 to 7> : memref<?x8xf32>
  // CHECK-NEXT: dnn.buffer %batch[%tokens] at 512 plan <512 bytes from 5 to 6> : memref<?x8xf32>
  // CHECK-NEXT: dnn.buffer %batch[%tokens] at 0 plan <512 bytes from 8 to 8> : memref<?x8xf32>
  %n = dnn.count tokens %b
  %0 = memref.alloc(%n) : memref<?x8xf32>
  %1 = memref.alloc(%n) : memref<?x8xf32>
  %2 = memref.alloc(%n) : memref<?x8xf32>
  %v = memref.cast %0 : memref<?x8xf32> to memref<?x?xf32>
  dnn.residual %x, %x outs(%1) : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  dnn.residual %x, %1 outs(%x) : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  %d = memref.dim %v, %n : memref<?x?xf32>
  dnn.residual %x, %x outs(%2) : (memref<?x8xf32>, memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}

// -----

// What nobody uses takes no place.
// CHECK: module attributes {dnn.arena_bytes = 0 : i64}
// CHECK-LABEL: @unused
// CHECK-NOT: dnn.buffer
// CHECK-NOT: memref.alloc
// CHECK: return
func.func @unused(%b: !transformer.batch) attributes {transformer.max_tokens = 16 : i64, transformer.max_output_rows = 16 : i64} {
  %n = dnn.count tokens %b
  %0 = memref.alloc(%n) : memref<?x8xf32>
  return
}
