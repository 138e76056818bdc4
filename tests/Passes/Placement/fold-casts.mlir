// Casts of one value to one type are one, and a result that is only cast is
// written in that type by whatever rounds or quantises what it stores.
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

!f32 = tensor<?x64xf32>
!bf16 = tensor<?x64xbf16>
!q = tensor<?x64x!dnn.grouped<8>>
!vector = !dnn.packed<vector, 64x1xf32>
!weight = !dnn.packed<panels, 64x64xq8_0>

module attributes {dnn.target = #dnn.target<avx512_bf16, vector = 512, registers = 32, dot = [bf16, int8], library = [f32, bf16]>} {
// Norms, attention, matmuls and elements are quantised as they are stored.
// CHECK-LABEL: @quantised
func.func @quantised(%b: !transformer.batch, %x: !f32, %s: tensor<?x4096xf32>, %n: !vector, %w: !weight, %q: !q, %o: !f32) -> (!f32, !q, !q, !q, !q, !q) {
  // CHECK-NEXT: %[[S:.*]], %[[A:.*]] = dnn.add_norm {{.*}} -> (tensor<?x64xf32>, tensor<?x64x!dnn.grouped<8>>)
  // CHECK-NEXT: %[[B:.*]] = dnn.rms_norm {{.*}} groups 2 {{.*}} -> tensor<?x64x!dnn.grouped<8>>
  // CHECK-NEXT: %[[C:.*]] = dnn.attention {{.*}} -> tensor<?x64x!dnn.grouped<8>>
  // CHECK-NEXT: %[[D:.*]] = dnn.gated_matmul {{.*}} -> tensor<?x64x!dnn.grouped<8>>
  // CHECK-NEXT: %[[E:.*]] = dnn.matmul {{.*}} -> tensor<?x64x!dnn.grouped<8>>
  // CHECK-NEXT: return %[[S]], %[[A]], %[[B]], %[[C]], %[[D]], %[[E]]
  %0, %1 = dnn.add_norm rms %x, %x weight %n eps 1e-05 outs(%o, %o) : (!f32, !f32, !vector, !f32, !f32) -> (!f32, !f32)
  // expected-remark@below {{written in this type by its producer, dnn.add_norm}}
  %2 = dnn.cast %1 outs(%q) : (!f32, !q) -> !q
  %3 = dnn.rms_norm %x, %n eps 1e-05 groups 2 outs(%o) : (!f32, !vector, !f32) -> !f32
  // expected-remark@below {{written in this type by its producer, dnn.rms_norm}}
  %4 = dnn.cast %3 outs(%q) : (!f32, !q) -> !q
  %5 = dnn.attention causal %x, %b staged %s heads 2 kv_heads 1 scale 0.5 outs(%o) : (!f32, !transformer.batch, tensor<?x4096xf32>, !f32) -> !f32
  // expected-remark@below {{written in this type by its producer, dnn.attention}}
  %6 = dnn.cast %5 outs(%q) : (!f32, !q) -> !q
  %7 = dnn.gated_matmul silu %q gate %w up %w outs(%o) : (!q, !weight, !weight, !f32) -> !f32
  // expected-remark@below {{written in this type by its producer, dnn.gated_matmul}}
  %8 = dnn.cast %7 outs(%q) : (!f32, !q) -> !q
  %9 = dnn.matmul %q weight %w outs(%o) : (!q, !weight, !f32) -> !f32
  // expected-remark@below {{written in this type by its producer, dnn.matmul}}
  %10 = dnn.cast %9 outs(%q) : (!f32, !q) -> !q
  return %0, %2, %4, %6, %8, %10 : !f32, !q, !q, !q, !q, !q
}

// Each choice of a token begins with a group.
// CHECK-LABEL: @experts
func.func @experts(%x: !q, %c: tensor<?x2xi32>, %f: tensor<1x7xi32>, %g: !dnn.packed<panels, 6x32x64xq8_0>, %o: !f32, %q: !q) -> !q {
  // CHECK-NEXT: %[[A:.*]] = dnn.moe_gate_up {{.*}} -> tensor<?x64x!dnn.grouped<8>>
  // CHECK-NEXT: return %[[A]]
  %0 = dnn.moe_gate_up silu %x by %c, %f gate %g up %g outs(%o) : (!q, tensor<?x2xi32>, tensor<1x7xi32>, !dnn.packed<panels, 6x32x64xq8_0>, !dnn.packed<panels, 6x32x64xq8_0>, !f32) -> !f32
  // expected-remark@below {{written in this type by its producer, dnn.moe_gate_up}}
  %1 = dnn.cast %0 outs(%q) : (!f32, !q) -> !q
  return %1 : !q
}

// Heads of 16 columns are halves of groups, and so are parts of a norm. A matmul
// of the library stays one.
// CHECK-LABEL: @not_in_groups
func.func @not_in_groups(%b: !transformer.batch, %x: !f32, %h: !bf16, %s: tensor<?x2048xf32>, %n: !vector, %w: !dnn.packed<panels, 64x64xbf16>, %q: !q, %o: !f32) -> (!q, !q, !q, !q) attributes {transformer.variant = #transformer.variant<many>} {
  // CHECK-NEXT: dnn.rms_norm {{.*}} -> tensor<?x64xf32>
  // CHECK-NEXT: dnn.cast
  // CHECK-NEXT: dnn.attention {{.*}} -> tensor<?x64xf32>
  // CHECK-NEXT: dnn.cast
  // CHECK-NEXT: dnn.matmul {{.*}} -> tensor<?x64xf32>
  // CHECK-NEXT: dnn.cast
  // CHECK-NEXT: dnn.residual {{.*}} -> tensor<?x64xbf16>
  // CHECK-NEXT: dnn.cast
  %0 = dnn.rms_norm %x, %n eps 1e-05 groups 4 outs(%o) : (!f32, !vector, !f32) -> !f32
  // expected-remark@below {{its producer does not quantise what it stores}}
  %1 = dnn.cast %0 outs(%q) : (!f32, !q) -> !q
  %2 = dnn.attention causal %x, %b staged %s heads 4 kv_heads 1 scale 0.5 outs(%o) : (!f32, !transformer.batch, tensor<?x2048xf32>, !f32) -> !f32
  // expected-remark@below {{its producer does not quantise what it stores}}
  %3 = dnn.cast %2 outs(%q) : (!f32, !q) -> !q
  %4 = dnn.matmul %h weight %w outs(%o) : (!bf16, !dnn.packed<panels, 64x64xbf16>, !f32) -> !f32
  // expected-remark@below {{the library's matmul does not write this type}}
  %5 = dnn.cast %4 outs(%q) : (!f32, !q) -> !q
  %6 = dnn.residual %x, %x outs(%h) : (!f32, !f32, !bf16) -> !bf16
  // expected-remark@below {{the value is rounded before it is quantised}}
  %7 = dnn.cast %6 outs(%q) : (!bf16, !q) -> !q
  return %1, %3, %5, %7 : !q, !q, !q, !q
}

// The library has no matmul of grouped rows: what it would write does not
// matter.
// CHECK-LABEL: @grouped_input
func.func @grouped_input(%q: !q, %w: !weight, %o: !f32, %h: !bf16) -> !bf16 attributes {transformer.variant = #transformer.variant<many>} {
  // CHECK-NEXT: dnn.matmul {{.*}} -> tensor<?x64xbf16>
  // CHECK-NEXT: return
  %0 = dnn.matmul %q weight %w outs(%o) : (!q, !weight, !f32) -> !f32
  // expected-remark@below {{written in this type by its producer}}
  %1 = dnn.cast %0 outs(%h) : (!f32, !bf16) -> !bf16
  return %1 : !bf16
}
}

// -----

// expected-error@below {{expected the module attribute dnn.target, which placement sets}}
module {}
