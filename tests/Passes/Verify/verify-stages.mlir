// What each stage allows.
// RUN: %tenon-opt %s -split-input-file --verify-placed -o /dev/null
// RUN: %tenon-opt %examples/llama-block/llama.mlir --verify-model -o /dev/null
// RUN: %tenon-opt %examples/llama-block/llama.mlir --stage-fused --verify-fused -o /dev/null
// RUN: %tenon-opt %examples/llama-block/llama.mlir --stage-fused --stage-placed --verify-placed -o /dev/null
// RUN: %tenon-opt %examples/llama-block/llama.mlir --stage-fused --stage-placed --stage-buffers --verify-buffers -o /dev/null

func.func @placed(%s: !transformer.scope, %b: !transformer.batch, %x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = dnn.count tokens %b
  %1 = tensor.empty(%0) : tensor<?x8xf32>
  %2 = dnn.weight %s ["a"] of "norm" slot 0 : <vector, 8x1xf32>
  %3 = dnn.norm rms %x weight %2 outs(%1) eps 1.0e-05 : (tensor<?x8xf32>, !dnn.packed<vector, 8x1xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %3 : tensor<?x8xf32>
}
