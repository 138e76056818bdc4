// What each stage allows.
// RUN: %tenon-opt %s -split-input-file --verify-placed -o /dev/null
// RUN: %tenon-opt %examples/llama-block/llama.mlir --verify-transformer -o /dev/null
// RUN: %tenon-opt %examples/llama-block/llama.mlir --stage-fused --verify-fused -o /dev/null
// RUN: %tenon-opt %examples/llama-block/llama.mlir --stage-fused --stage-placed --verify-placed -o /dev/null
// RUN: %tenon-opt %examples/llama-block/llama.mlir --stage-fused --stage-placed --stage-buffers --verify-buffers -o /dev/null

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func @placed(%s: !transformer.scope, %b: !transformer.batch, %x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = dnn.count tokens %b
  %1 = tensor.empty(%0) : tensor<?x8xf32>
  %2 = dnn.weight %s ["a"] of norm index 0 : <vector, 8x1xf32>
  %3 = dnn.rms_norm %x, %2 eps 1e-05 outs(%1) : (tensor<?x8xf32>, !dnn.packed<vector, 8x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %3 : tensor<?x8xf32>
}
}
