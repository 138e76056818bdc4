// The staging split on tensors and on buffers.
// RUN: %tenon-opt %s | %tenon-opt | FileCheck %s

// CHECK-LABEL: @on_tensors(
func.func @on_tensors(%arg0: tensor<?x16xf32>, %arg1: !transformer.batch, %arg2: tensor<?x8xf32>, %arg3: tensor<?x1280xf32>) {
  // CHECK-NEXT: %0:2 = dnn.split_stage %arg0 of %arg1 heads 2 kv_heads 1 outs(%arg2, %arg3) : (tensor<?x16xf32>, !transformer.batch, tensor<?x8xf32>, tensor<?x1280xf32>) -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  %0:2 = "dnn.split_stage"(%arg0, %arg1, %arg2, %arg3) <{heads = 2 : i64, kvHeads = 1 : i64, operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 2>}> : (tensor<?x16xf32>, !transformer.batch, tensor<?x8xf32>, tensor<?x1280xf32>) -> (tensor<?x8xf32>, tensor<?x1280xf32>)
  return
}

// CHECK-LABEL: @on_buffers(
func.func @on_buffers(%arg0: memref<?x8xf32>, %arg1: memref<?x4xf32>, %arg2: !transformer.batch, %arg3: !dnn.packed<vector, 4x1xf32>, %arg4: !dnn.packed<rows, 128x4xf32>, %arg5: memref<?x1280xf32>) {
  // CHECK-NEXT: dnn.split_stage %arg0, %arg1, %arg1 of %arg2 heads 2 kv_heads 1 query_norm %arg3 key_norm %arg3 rope <half, dim = 4, base = 1.0e+04> table %arg4 outs(%arg0, %arg5) {eps = 9.765625E-4 : f64}
  "dnn.split_stage"(%arg0, %arg1, %arg1, %arg2, %arg3, %arg3, %arg4, %arg0, %arg5) <{heads = 2 : i64, kvHeads = 1 : i64, eps = 9.765625E-4 : f64, rope = #transformer.rope<half, dim = 4, base = 10000.0>, operandSegmentSizes = array<i32: 3, 1, 1, 1, 1, 2>}> : (memref<?x8xf32>, memref<?x4xf32>, memref<?x4xf32>, !transformer.batch, !dnn.packed<vector, 4x1xf32>, !dnn.packed<vector, 4x1xf32>, !dnn.packed<rows, 128x4xf32>, memref<?x8xf32>, memref<?x1280xf32>) -> ()
  return
}
