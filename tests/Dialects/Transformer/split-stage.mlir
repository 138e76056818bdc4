// The staging split, one merged tensor or three. Its rows of staged keys and
// values have 3 * 64 * (24 + 32) elements.
// RUN: %tenon-opt %s --verify-roundtrip | FileCheck %s
// RUN: %tenon-opt %s --mlir-print-op-generic | %tenon-opt | FileCheck %s
// RUN: %tenon-opt %s --emit-bytecode | %tenon-opt | FileCheck %s

// CHECK-LABEL: @split_stages(
func.func @split_stages(%x: tensor<?x288xf32>, %x_0: tensor<?x144xf32>, %x_1: tensor<?x72xf32>, %batch: !transformer.batch, %x_2: tensor<24xf32>) {
  // CHECK-NEXT: %query, %staged = transformer.split_stage %x of %batch heads 6 kv_heads 3 : (tensor<?x288xf32>, !transformer.batch) -> (tensor<?x144xf32>, tensor<?x10752xf32>)
  %query, %staged = transformer.split_stage %x of %batch heads 6 kv_heads 3 : (tensor<?x288xf32>, !transformer.batch) -> (tensor<?x144xf32>, tensor<?x10752xf32>)
  // CHECK-NEXT: %query_3, %staged_4 = transformer.split_stage %x_0, %x_1, %x_1 of %batch heads 6 kv_heads 3 query_norm %x_2 key_norm %x_2 eps 0.0009765625 rope <interleaved, dim = 8, base = 10000.0> : (tensor<?x144xf32>, tensor<?x72xf32>, tensor<?x72xf32>, !transformer.batch, tensor<24xf32>, tensor<24xf32>) -> (tensor<?x144xf32>, tensor<?x10752xf32>)
  %query_3, %staged_4 = transformer.split_stage %x_0, %x_1, %x_1 of %batch heads 6 kv_heads 3 query_norm %x_2 key_norm %x_2 eps 0.0009765625 rope <interleaved, dim = 8, base = 10000.0> : (tensor<?x144xf32>, tensor<?x72xf32>, tensor<?x72xf32>, !transformer.batch, tensor<24xf32>, tensor<24xf32>) -> (tensor<?x144xf32>, tensor<?x10752xf32>)
  return
}
