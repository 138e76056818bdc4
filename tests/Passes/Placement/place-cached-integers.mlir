// Queries of attention over cached integers are bf16 where few rows multiply
// these as they are, or many rows pairs of bf16, unless activations are to stay
// exact.
// RUN: %tenon-opt %s -split-input-file --convert-transformer-to-dnn="level=avx2_vnni" | FileCheck %s --check-prefixes=CHECK,F32
// RUN: %tenon-opt %s -split-input-file --convert-transformer-to-dnn="level=avx512_vnni" | FileCheck %s --check-prefixes=CHECK,INTEGERS
// RUN: %tenon-opt %s -split-input-file --convert-transformer-to-dnn="level=avx512_bf16" | FileCheck %s --check-prefixes=CHECK,BOTH

!batch = !transformer.batch
!scope = !transformer.scope
!cache = !transformer.cache<1x4xi8>
!plain = !transformer.cache<1x4xbf16>

// CHECK-LABEL: @f.few
// F32: dnn.attention {{.*}} : (tensor<?x8xf32>,
// INTEGERS: dnn.attention {{.*}} : (tensor<?x8xbf16>,
// BOTH: dnn.attention {{.*}} : (tensor<?x8xbf16>,
func.func private @f.few(%s: !scope, %b: !batch, %c: !cache, %q: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {transformer.variant = #transformer.variant<few>} {
  %y = transformer.online_attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 : (tensor<?x8xf32>, !batch, !cache, !scope) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: @f.many
// F32: dnn.attention {{.*}} : (tensor<?x8xf32>,
// INTEGERS: dnn.attention {{.*}} : (tensor<?x8xf32>,
// BOTH: dnn.attention {{.*}} : (tensor<?x8xbf16>,
func.func private @f.many(%s: !scope, %b: !batch, %c: !cache, %q: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {transformer.variant = #transformer.variant<many>} {
  %y = transformer.online_attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 : (tensor<?x8xf32>, !batch, !cache, !scope) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// CHECK-LABEL: @plain.few
// CHECK: dnn.attention {{.*}} : (tensor<?x8xf32>,
func.func private @plain.few(%s: !scope, %b: !batch, %c: !plain, %q: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {transformer.variant = #transformer.variant<few>} {
  %y = transformer.online_attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 : (tensor<?x8xf32>, !batch, !plain, !scope) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}

// -----

!batch = !transformer.batch
!scope = !transformer.scope
!cache = !transformer.cache<1x4xi8>

module attributes {transformer.activations = "exact"} {
// CHECK-LABEL: @exact.few
// CHECK: dnn.attention {{.*}} : (tensor<?x8xf32>,
func.func private @exact.few(%s: !scope, %b: !batch, %c: !cache, %q: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {transformer.variant = #transformer.variant<few>} {
  %y = transformer.online_attention causal %q, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 : (tensor<?x8xf32>, !batch, !cache, !scope) -> tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
}
