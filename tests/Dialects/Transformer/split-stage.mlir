// The staging split, one merged tensor or three. Its rows of staged keys and
// values have 3 * 64 * (24 + 32) elements.
// RUN: %tenon-opt %s | %tenon-opt | FileCheck %s

// CHECK-LABEL: @split_stages(
func.func @split_stages(%arg0: tensor<?x288xf32>, %arg1: tensor<?x144xf32>, %arg2: tensor<?x72xf32>, %arg3: !transformer.batch, %arg4: tensor<24xf32>) {
  // CHECK-NEXT: %query, %staged = transformer.split_stage %arg0 of %arg3 heads 6 kv_heads 3 : (tensor<?x288xf32>, !transformer.batch) -> (tensor<?x144xf32>, tensor<?x10752xf32>)
  %0:2 = "transformer.split_stage"(%arg0, %arg3) <{heads = 6 : i64, kvHeads = 3 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (tensor<?x288xf32>, !transformer.batch) -> (tensor<?x144xf32>, tensor<?x10752xf32>)
  // CHECK-NEXT: %query_0, %staged_1 = transformer.split_stage %arg1, %arg2, %arg2 of %arg3 heads 6 kv_heads 3 query_norm %arg4 key_norm %arg4 rope <interleaved, dim = 8, base = 1.0e+04> {eps = 9.765625E-4 : f64}
  %1:2 = "transformer.split_stage"(%arg1, %arg2, %arg2, %arg3, %arg4, %arg4) <{heads = 6 : i64, kvHeads = 3 : i64, eps = 9.765625E-4 : f64, rope = #transformer.rope<interleaved, dim = 8, base = 10000.0>, operandSegmentSizes = array<i32: 3, 1, 1, 1>}> : (tensor<?x144xf32>, tensor<?x72xf32>, tensor<?x72xf32>, !transformer.batch, tensor<24xf32>, tensor<24xf32>) -> (tensor<?x144xf32>, tensor<?x10752xf32>)
  return
}
