// Entries are called as the runtime calls them, with the batch alone; caches are
// their numbers. Nothing else is seen from outside, and nothing describes the
// model any more; the target is needed until instructions are chosen.
// RUN: %tenon-opt %s --export-entries | FileCheck %s --implicit-check-not="transformer.role" --implicit-check-not="dnn.arena_bytes"

!batch = !transformer.batch
!wide = !transformer.cache<2x4xf32>
!narrow = !transformer.cache<1x4xf32>
!cross = !transformer.cache<cross 1x4xf32>

// CHECK: module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
module attributes {transformer.few_tokens = 4 : i64, dnn.arena_bytes = 0 : i64, dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {

// Other attributes stay.
// CHECK: func.func private @layer(%batch: !transformer.batch, %cache: !transformer.cache<1x4xf32>) attributes {llvm.linkage = #llvm.linkage<internal>, passthrough = ["noinline"]}
func.func private @layer(%b: !batch, %c: !narrow) attributes {passthrough = ["noinline"], transformer.max_tokens = 8 : i64, transformer.variant = #transformer.variant<few>} {
  return
}

// Kinds of caches are numbered in the order that entries take them.
// CHECK: func.func @tenon_entry_step(%batch: !transformer.batch) {
// CHECK-NEXT: %[[N0:.*]] = arith.constant 0 : i64
// CHECK-NEXT: builtin.unrealized_conversion_cast %[[N0]] : i64 to !transformer.cache<2x4xf32>
// CHECK-NEXT: %[[N1:.*]] = arith.constant 1 : i64
// CHECK-NEXT: %[[C:.*]] = builtin.unrealized_conversion_cast %[[N1]] : i64 to !transformer.cache<1x4xf32>
// CHECK-NEXT: call @layer(%batch, %[[C]])
func.func @step(%b: !batch, %d: !wide, %c: !narrow) attributes {transformer.role = "step", transformer.output = "hidden", transformer.max_tokens = 8 : i64} {
  call @layer(%b, %c) : (!batch, !narrow) -> ()
  return
}

// An entry that takes fewer of them has the same numbers.
// CHECK: func.func @tenon_entry_encode(%batch: !transformer.batch) {
// CHECK: %[[N2:.*]] = arith.constant 2 : i64
// CHECK-NEXT: builtin.unrealized_conversion_cast %[[N2]] : i64 to !transformer.cache<cross 1x4xf32>
func.func @encode(%b: !batch, %m: !cross) attributes {transformer.role = "encode"} {
  return
}
}
