// Pages of a decode-sized batch are divided into partitions where a row may see
// more than fit into one, 8 pages. Their number is bounded, as their scratch is.
// RUN: split-file %s %t
// RUN: %tenon-opt %t/long.mlir --convert-transformer-to-dnn | FileCheck %s --check-prefix=LONG
// RUN: %tenon-opt %t/longest.mlir --convert-transformer-to-dnn | FileCheck %s --check-prefix=LONGEST
// RUN: %tenon-opt %t/short.mlir --convert-transformer-to-dnn | FileCheck %s --check-prefix=SHORT

//--- long.mlir
!batch = !transformer.batch
!scope = !transformer.scope
!cache = !transformer.cache<1x4xf32>
!latent = !transformer.cache<latent 1x6xf32>
!rows = tensor<?x8xf32>

// 1025 keys are 17 pages, 3 partitions of 2 heads of 4 + 2 values.
module attributes {transformer.max_sequence = 1025 : i64} {

// LONG-LABEL: @f.few
// LONG: %[[P:.*]] = tensor.empty(%tokens) : tensor<?x36xf32>
// LONG: %[[A:.*]], %{{.*}} = dnn.attention causal %x, %batch cache %cache[%scope] heads 2 kv_heads 1 scale 0.5 partition_pages 8 outs(%{{.*}}, %[[P]])
// A window of 450 keys lies in 9 pages, one of 449 in 8.
// LONG: dnn.attention causal {{.*}} window 450 partition_pages 8 outs(%{{.*}}, %{{.*}}) : {{.*}} tensor<?x24xf32>
// LONG: dnn.attention causal {{.*}} window 449 outs(%{{[^,]*}}) :
// LONG: return %[[A]]
func.func private @f.few(%s: !scope, %b: !batch, %c: !cache, %x: !rows) -> (!rows, !rows, !rows, !cache) attributes {transformer.variant = #transformer.variant<few>} {
  %0 = transformer.online_attention causal %x, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 : (!rows, !batch, !cache, !scope) -> !rows
  %1 = transformer.online_attention causal %x, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 window 450 : (!rows, !batch, !cache, !scope) -> !rows
  %2 = transformer.online_attention causal %x, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 window 449 : (!rows, !batch, !cache, !scope) -> !rows
  return %0, %1, %2, %c : !rows, !rows, !rows, !cache
}

// Many rows share pages by themselves.
// LONG-LABEL: @f.many
// LONG-NOT: partition_pages
// LONG: return
func.func private @f.many(%s: !scope, %b: !batch, %c: !cache, %x: !rows) -> (!rows, !cache) attributes {transformer.variant = #transformer.variant<many>} {
  %0 = transformer.online_attention causal %x, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 : (!rows, !batch, !cache, !scope) -> !rows
  return %0, %c : !rows, !cache
}

// Of latent vectors 3 partitions, and absorbed queries: 2 * (6 + 3 * (4 + 2)).
// LONG-LABEL: @latent.few
// LONG: %[[P:.*]] = tensor.empty(%tokens) : tensor<?x48xf32>
// LONG: %[[A:.*]], %{{.*}}, %{{.*}} = dnn.latent_attention {{.*}} partition_pages 8 outs(%{{.*}}, %{{.*}}, %[[P]])
// LONG: return %[[A]]
func.func private @latent.few(%s: !scope, %b: !batch, %c: !latent, %q: tensor<?x10xf32>) -> (tensor<?x10xf32>, !latent) attributes {transformer.variant = #transformer.variant<few>} {
  %e = transformer.parameter %s "kv" of attention {dnn.layout = #dnn.layout<row_major>} : tensor<16x4xf32>
  %y = transformer.latent_attention %q, %b cache %c[%s] expand %e heads 2 key_dim 3 value_dim 5 scale 0.5 : (tensor<?x10xf32>, !batch, !latent, !scope, tensor<16x4xf32>) -> tensor<?x10xf32>
  return %y, %c : tensor<?x10xf32>, !latent
}
}

//--- longest.mlir
!rows = tensor<?x8xf32>
module attributes {transformer.max_sequence = 131072 : i64} {
// 64 partitions.
// LONGEST: tensor<?x768xf32>
// LONGEST: partition_pages 8
func.func private @f.few(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %x: !rows) -> (!rows, !transformer.cache<1x4xf32>) attributes {transformer.variant = #transformer.variant<few>} {
  %0 = transformer.online_attention causal %x, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 : (!rows, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope) -> !rows
  return %0, %c : !rows, !transformer.cache<1x4xf32>
}
}

//--- short.mlir
!rows = tensor<?x8xf32>
module attributes {transformer.max_sequence = 512 : i64} {
// SHORT: dnn.attention
// SHORT-NOT: partition_pages
// Latent vectors are read by 16 heads, K absorbed by one: in phases anyway.
// SHORT: dnn.latent_attention {{.*}} partition_pages 8
func.func private @f.few(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x4xf32>, %x: !rows) -> (!rows, !transformer.cache<1x4xf32>) attributes {transformer.variant = #transformer.variant<few>} {
  %0 = transformer.online_attention causal %x, %b cache %c[%s] heads 2 kv_heads 1 scale 0.5 : (!rows, !transformer.batch, !transformer.cache<1x4xf32>, !transformer.scope) -> !rows
  return %0, %c : !rows, !transformer.cache<1x4xf32>
}
func.func private @latent.few(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<latent 1x6xf32>, %q: tensor<?x10xf32>) -> (tensor<?x10xf32>, !transformer.cache<latent 1x6xf32>) attributes {transformer.variant = #transformer.variant<few>} {
  %e = transformer.parameter %s "kv" of attention {dnn.layout = #dnn.layout<row_major>} : tensor<16x4xf32>
  %y = transformer.latent_attention %q, %b cache %c[%s] expand %e heads 2 key_dim 3 value_dim 5 scale 0.5 : (tensor<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xf32>, !transformer.scope, tensor<16x4xf32>) -> tensor<?x10xf32>
  return %y, %c : tensor<?x10xf32>, !transformer.cache<latent 1x6xf32>
}
}
