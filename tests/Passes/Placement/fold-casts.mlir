// Casts of one value to one type are one, and a result that is only cast is
// written in that type by whatever rounds what it stores.
// RUN: %tenon-opt %s --fold-casts --remark-policy=all --remarks-filter=".*" -split-input-file -verify-diagnostics | FileCheck %s

!f32 = tensor<?x8xf32>
!bf16 = tensor<?x8xbf16>
!vector = !dnn.packed<vector, 8x1xf32>
!weight = !dnn.packed<panels, 8x8xbf16>

module attributes {dnn.target = #dnn.target<avx512_bf16, vector = 512, registers = 32, dot = [bf16, int8], library = [f32, bf16]>} {
// Neither the casts' second destination nor the producer's own is left.
// CHECK-LABEL: @narrowed
func.func @narrowed(%b: !transformer.batch, %x: !f32, %n: !vector, %w: !weight, %o: !f32) -> (!f32, !f32) {
  // CHECK-NEXT: %tokens = dnn.count tokens %batch
  // CHECK-NEXT: %[[H:.*]] = tensor.empty(%tokens) : tensor<?x8xbf16>
  // CHECK-NEXT: %[[N:.*]] = dnn.rms_norm %x, %{{.*}} eps 1e-05 outs(%[[H]]) : {{.*}} -> tensor<?x8xbf16>
  // CHECK-NEXT: %[[Y:.*]] = dnn.matmul %[[N]]
  // CHECK-NEXT: %[[Z:.*]] = dnn.matmul %[[N]]
  // CHECK-NEXT: return %[[Y]], %[[Z]]
  %t = dnn.count tokens %b
  %e = tensor.empty(%t) : !f32
  %0 = dnn.rms_norm %x, %n eps 1e-05 outs(%e) : (!f32, !vector, !f32) -> !f32
  %h = tensor.empty(%t) : !bf16
  // expected-remark@below {{[Passed] FoldCasts | Category:placement | Function=narrowed | Level=avx512_bf16, Operation="cast ?x8xf32 -> ?x8xbf16", Remark="written in this type by its producer, dnn.rms_norm"}}
  %1 = dnn.cast %0 outs(%h) : (!f32, !bf16) -> !bf16
  %2 = dnn.matmul %1 weight %w outs(%o) : (!bf16, !weight, !f32) -> !f32
  %g = tensor.empty(%t) : !bf16
  %3 = dnn.cast %0 outs(%g) : (!f32, !bf16) -> !bf16
  %4 = dnn.matmul %3 weight %w outs(%o) : (!bf16, !weight, !f32) -> !f32
  return %2, %4 : !f32, !f32
}

// Casts of one value to two types stay two.
// CHECK-LABEL: @two_types
func.func @two_types(%x: !f32, %o: !f32, %h: !bf16) -> (!bf16, !f32, !bf16) {
  // CHECK-NEXT: %[[N:.*]] = dnn.residual %x, %x outs(%{{.*}}) : {{.*}} -> tensor<?x8xf32>
  // CHECK-NEXT: %[[B:.*]] = dnn.cast %[[N]] {{.*}} -> tensor<?x8xbf16>
  // CHECK-NEXT: %[[F:.*]] = dnn.cast %[[N]] {{.*}} -> tensor<?x8xf32>
  // CHECK-NEXT: return %[[B]], %[[F]], %[[B]]
  %0 = dnn.residual %x, %x outs(%o) : (!f32, !f32, !f32) -> !f32
  // expected-remark@below {{[Missed] FoldCasts | Category:placement | Function=two_types | Level=avx512_bf16, Operation="cast ?x8xf32 -> ?x8xbf16", Reason="the value is read in its own type too"}}
  %1 = dnn.cast %0 outs(%h) : (!f32, !bf16) -> !bf16
  // expected-remark@below {{the value is read in its own type too}}
  %2 = dnn.cast %0 outs(%o) : (!f32, !f32) -> !f32
  %3 = dnn.cast %0 outs(%h) : (!f32, !bf16) -> !bf16
  return %1, %2, %3 : !bf16, !f32, !bf16
}

// Every producer that is row-wise: a sum, an attention, a slice, a matmul.
// CHECK-LABEL: @producers
func.func @producers(%b: !transformer.batch, %x: !f32, %s: tensor<?x1280xf32>, %w: !weight, %i: !bf16, %o: !f32, %h: !bf16) -> (!bf16, !bf16, !bf16, !bf16) {
  // CHECK-NEXT: %[[A:.*]] = dnn.residual {{.*}} -> tensor<?x8xbf16>
  // CHECK-NEXT: %[[B:.*]] = dnn.attention {{.*}} -> tensor<?x8xbf16>
  // CHECK-NEXT: %[[C:.*]] = dnn.slice {{.*}} -> tensor<?x8xbf16>
  // CHECK-NEXT: %[[D:.*]] = dnn.matmul {{.*}} -> tensor<?x8xbf16>
  // CHECK-NEXT: return %[[A]], %[[B]], %[[C]], %[[D]]
  %0 = dnn.residual %x, %x outs(%o) : (!f32, !f32, !f32) -> !f32
  // expected-remark@below {{written in this type by its producer}}
  %1 = dnn.cast %0 outs(%h) : (!f32, !bf16) -> !bf16
  %2 = dnn.attention causal %x, %b staged %s heads 2 kv_heads 1 scale 0.5 outs(%o) : (!f32, !transformer.batch, tensor<?x1280xf32>, !f32) -> !f32
  // expected-remark@below {{written in this type by its producer}}
  %3 = dnn.cast %2 outs(%h) : (!f32, !bf16) -> !bf16
  %4 = dnn.slice %x from 0 outs(%o) : (!f32, !f32) -> !f32
  // expected-remark@below {{written in this type by its producer}}
  %5 = dnn.cast %4 outs(%h) : (!f32, !bf16) -> !bf16
  %6 = dnn.matmul %i weight %w outs(%o) : (!bf16, !weight, !f32) -> !f32
  // expected-remark@below {{written in this type by its producer}}
  %7 = dnn.cast %6 outs(%h) : (!f32, !bf16) -> !bf16
  return %1, %3, %5, %7 : !bf16, !bf16, !bf16, !bf16
}

// The norm of a sum can be rounded, the sum cannot.
// CHECK-LABEL: @add_norm
func.func @add_norm(%x: !f32, %n: !vector, %o: !f32, %h: !bf16) -> (!bf16, !bf16) {
  // CHECK-NEXT: %[[S:.*]], %[[N:.*]] = dnn.add_norm {{.*}} -> (tensor<?x8xf32>, tensor<?x8xbf16>)
  // CHECK-NEXT: %[[C:.*]] = dnn.cast %[[S]]
  // CHECK-NEXT: return %[[N]], %[[C]]
  %0, %1 = dnn.add_norm rms %x, %x weight %n eps 1e-05 outs(%o, %o) : (!f32, !f32, !vector, !f32, !f32) -> (!f32, !f32)
  // expected-remark@below {{written in this type by its producer}}
  %2 = dnn.cast %1 outs(%h) : (!f32, !bf16) -> !bf16
  // expected-remark@below {{its producer writes one type only}}
  %3 = dnn.cast %0 outs(%h) : (!f32, !bf16) -> !bf16
  return %2, %3 : !bf16, !bf16
}

// CHECK-LABEL: @another_use
func.func @another_use(%x: !f32, %n: !vector, %o: !f32, %h: !bf16) -> (!f32, !bf16) {
  // CHECK-NEXT: dnn.rms_norm {{.*}} -> tensor<?x8xf32>
  // CHECK-NEXT: dnn.cast
  %0 = dnn.rms_norm %x, %n eps 1e-05 outs(%o) : (!f32, !vector, !f32) -> !f32
  // expected-remark@below {{the value is read in its own type too}}
  %1 = dnn.cast %0 outs(%h) : (!f32, !bf16) -> !bf16
  return %0, %1 : !f32, !bf16
}

// An argument has its type; a pool is not row-wise.
// CHECK-LABEL: @stays
func.func @stays(%b: !transformer.batch, %x: !f32, %y: !f32, %o: !f32, %h: !bf16) -> (!bf16, !bf16) {
  // CHECK-NEXT: dnn.cast %x
  // CHECK-NEXT: dnn.pool {{.*}} -> tensor<?x8xf32>
  // CHECK-NEXT: dnn.cast
  // expected-remark@below {{the value comes from outside of the function}}
  %0 = dnn.cast %x outs(%h) : (!f32, !bf16) -> !bf16
  %1 = dnn.pool mean %y, %b outs(%o) : (!f32, !transformer.batch, !f32) -> !f32
  // expected-remark@below {{its producer writes one type only}}
  %2 = dnn.cast %1 outs(%h) : (!f32, !bf16) -> !bf16
  return %0, %2 : !bf16, !bf16
}

// A matmul of f32 that the library will compute keeps writing f32; that of a
// decode-sized batch is a kernel.
// CHECK-LABEL: @library_f32
func.func @library_f32(%x: !f32, %w: !dnn.packed<panels, 8x8xf32>, %o: !f32, %h: !bf16) -> !bf16 attributes {transformer.variant = #transformer.variant<many>} {
  // CHECK-NEXT: dnn.matmul {{.*}} -> tensor<?x8xf32>
  // CHECK-NEXT: dnn.cast
  %0 = dnn.matmul %x weight %w outs(%o) : (!f32, !dnn.packed<panels, 8x8xf32>, !f32) -> !f32
  // expected-remark@below {{the library's matmul does not write this type}}
  %1 = dnn.cast %0 outs(%h) : (!f32, !bf16) -> !bf16
  return %1 : !bf16
}
// CHECK-LABEL: @kernel_f32
func.func @kernel_f32(%x: !f32, %w: !dnn.packed<panels, 8x8xf32>, %o: !f32, %h: !bf16) -> !bf16 attributes {transformer.variant = #transformer.variant<few>} {
  // CHECK-NEXT: dnn.matmul {{.*}} -> tensor<?x8xbf16>
  // CHECK-NEXT: return
  %0 = dnn.matmul %x weight %w outs(%o) : (!f32, !dnn.packed<panels, 8x8xf32>, !f32) -> !f32
  // expected-remark@below {{written in this type by its producer}}
  %1 = dnn.cast %0 outs(%h) : (!f32, !bf16) -> !bf16
  return %1 : !bf16
}

// A cast that widens reads rounded values.
// CHECK-LABEL: @widens
func.func @widens(%x: !f32, %h: !bf16, %o: !f32) -> !f32 {
  // CHECK-NEXT: dnn.cast {{.*}} -> tensor<?x8xbf16>
  // CHECK-NEXT: dnn.cast {{.*}} -> tensor<?x8xf32>
  // expected-remark@below {{the value comes from outside of the function}}
  %0 = dnn.cast %x outs(%h) : (!f32, !bf16) -> !bf16
  // expected-remark@below {{the value is rounded before it is widened}}
  %1 = dnn.cast %0 outs(%o) : (!bf16, !f32) -> !f32
  return %1 : !f32
}
}

// -----

// expected-error@below {{expected the module attribute dnn.target, which placement sets}}
module {}
