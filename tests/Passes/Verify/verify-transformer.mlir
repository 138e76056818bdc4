// Models that are valid, in all that they may have.
// RUN: %tenon-opt %s --verify-transformer -split-input-file | FileCheck %s

// CHECK-LABEL: @encode
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func private @embed(%s: !transformer.scope, %b: !transformer.batch) -> tensor<?x8xf32> {
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    return %0 : tensor<?x8xf32>
  }
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %0 = call @embed(%s, %b) : (!transformer.scope, !transformer.batch) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

// Two layers of one function; a cache goes through both.
// CHECK-LABEL: @step
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func private @layer(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x8xf32>, %x: tensor<?x8xf32>) -> (tensor<?x8xf32>, !transformer.cache<1x8xf32>) {
    %c1 = transformer.cache_append %c[%s], %b keys %x values %x : (!transformer.cache<1x8xf32>, !transformer.scope, !transformer.batch, tensor<?x8xf32>, tensor<?x8xf32>) -> !transformer.cache<1x8xf32>
    %y = transformer.attention causal %x, %b cache %c1[%s] heads 1 kv_heads 1 scale 0.5 : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x8xf32>, !transformer.scope) -> tensor<?x8xf32>
    return %y, %c1 : tensor<?x8xf32>, !transformer.cache<1x8xf32>
  }
  func.func @step(%b: !transformer.batch, %c: !transformer.cache<1x8xf32>) -> (tensor<?x8xf32>, !transformer.cache<1x8xf32>) attributes {transformer.output = "hidden", transformer.role = "step"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %l0 = transformer.scope "l.0" layer 0
    %l1 = transformer.scope "l.1" layer 1
    %1:2 = call @layer(%l0, %b, %c, %0) : (!transformer.scope, !transformer.batch, !transformer.cache<1x8xf32>, tensor<?x8xf32>) -> (tensor<?x8xf32>, !transformer.cache<1x8xf32>)
    %2:2 = call @layer(%l1, %b, %1#1, %1#0) : (!transformer.scope, !transformer.batch, !transformer.cache<1x8xf32>, tensor<?x8xf32>) -> (tensor<?x8xf32>, !transformer.cache<1x8xf32>)
    %y = transformer.select_output_rows %2#0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y, %2#1 : tensor<?x8xf32>, !transformer.cache<1x8xf32>
  }
}

// -----

// A head that is tied to the embeddings is read in both ways.
// CHECK-LABEL: @encode
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x9xf32> attributes {transformer.output = "logits", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %1 = transformer.lm_head %0, %b, %t : (tensor<?x8xf32>, !transformer.batch, tensor<9x8xf32>) -> tensor<?x9xf32>
    return %1 : tensor<?x9xf32>
  }
}

// -----

// Rows of images stand for a token of the text, and images are longer than it.
// CHECK-LABEL: @step
module attributes {transformer.max_sequence = 5 : i64, transformer.vocabulary = 9 : i64} {
  func.func @step(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "step"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %1 = transformer.merge_features %0, %b token 8 : tensor<?x8xf32>
    %y = transformer.select_output_rows %1, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
  func.func @encode_image(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode_image", transformer.max_sequence = 7 : i64} {
    %s = transformer.scope ""
    %0 = transformer.input_features %b : tensor<?x8xf32>
    %p = transformer.parameter %s "p" of embedding : tensor<7x8xf32>
    %1 = transformer.embedding position %b, %p : (!transformer.batch, tensor<7x8xf32>) -> tensor<?x8xf32>
    %2 = transformer.residual %0, %1 : tensor<?x8xf32>
    %y = transformer.select_output_rows %2, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}
