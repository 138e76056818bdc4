// What keeps matmuls apart, and what the remark says.
// RUN: %tenon-opt %s --merge-qkv --remark-policy=all --remarks-filter-missed=".*" -verify-diagnostics | FileCheck %s

!batch = !transformer.batch
!scope = !transformer.scope
!cache = !transformer.cache<1x4xf32>
!rows = tensor<?x4xf32>
!weight = tensor<4x4xf32>
!bias = tensor<4xf32>

// CHECK-LABEL: @different_inputs(
func.func @different_inputs(%s: !scope, %b: !batch, %c: !cache, %x: !rows, %w: !weight, %y: !rows) -> !rows {
  // CHECK: transformer.split_append %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} to
  %0 = transformer.matmul %x weights(%w) : (!rows, !weight) -> !rows
  %1 = transformer.matmul %x weights(%w) : (!rows, !weight) -> !rows
  %2 = transformer.matmul %y weights(%w) : (!rows, !weight) -> !rows
  // expected-remark@below {{the matmuls have different inputs}}
  %3:2 = transformer.split_append %0, %1, %2 to %c[%s], %b heads 1 kv_heads 1 : (!rows, !rows, !rows, !cache, !scope, !batch) -> (!rows, !cache)
  return %3#0 : !rows
}

// CHECK-LABEL: @another_use(
func.func @another_use(%s: !scope, %b: !batch, %c: !cache, %x: !rows, %w: !weight) -> (!rows, !rows) {
  // CHECK: transformer.split_append %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} to
  %0 = transformer.matmul %x weights(%w) : (!rows, !weight) -> !rows
  %1 = transformer.matmul %x weights(%w) : (!rows, !weight) -> !rows
  %2 = transformer.matmul %x weights(%w) : (!rows, !weight) -> !rows
  // expected-remark@below {{a matmul has another use}}
  %3:2 = transformer.split_append %0, %1, %2 to %c[%s], %b heads 1 kv_heads 1 : (!rows, !rows, !rows, !cache, !scope, !batch) -> (!rows, !cache)
  return %3#0, %1 : !rows, !rows
}

// CHECK-LABEL: @some_biases(
func.func @some_biases(%s: !scope, %b: !batch, %c: !cache, %x: !rows, %w: !weight, %b0: !bias) -> !rows {
  // CHECK: transformer.split_append %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} to
  %0 = transformer.matmul %x weights(%w) : (!rows, !weight) -> !rows
  %1 = transformer.matmul %x weights(%w) : (!rows, !weight) -> !rows
  %2 = transformer.matmul %x weights(%w) biases(%b0) : (!rows, !weight, !bias) -> !rows
  // expected-remark@below {{only some of the matmuls have a bias}}
  %3:2 = transformer.split_append %0, %1, %2 to %c[%s], %b heads 1 kv_heads 1 : (!rows, !rows, !rows, !cache, !scope, !batch) -> (!rows, !cache)
  return %3#0 : !rows
}

// CHECK-LABEL: @storage_types(
func.func @storage_types(%s: !scope, %b: !batch, %c: !cache, %x: !rows, %w: !weight, %h: tensor<4x4xbf16>) -> !rows {
  // CHECK: transformer.split_append %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} to
  %0 = transformer.matmul %x weights(%w) : (!rows, !weight) -> !rows
  %1 = transformer.matmul %x weights(%w) : (!rows, !weight) -> !rows
  %2 = transformer.matmul %x weights(%h) : (!rows, tensor<4x4xbf16>) -> !rows
  // expected-remark@below {{the weights are stored in different types}}
  %3:2 = transformer.split_append %0, %1, %2 to %c[%s], %b heads 1 kv_heads 1 : (!rows, !rows, !rows, !cache, !scope, !batch) -> (!rows, !cache)
  return %3#0 : !rows
}

// CHECK-LABEL: @activation(
func.func @activation(%s: !scope, %b: !batch, %c: !cache, %x: !rows, %w: !weight) -> !rows {
  // CHECK: transformer.split_append %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} to
  %0 = transformer.matmul %x weights(%w) : (!rows, !weight) -> !rows
  %1 = transformer.matmul %x weights(%w) activation relu : (!rows, !weight) -> !rows
  %2 = transformer.matmul %x weights(%w) : (!rows, !weight) -> !rows
  // expected-remark@below {{a matmul applies more than a bias}}
  %3:2 = transformer.split_append %0, %1, %2 to %c[%s], %b heads 1 kv_heads 1 : (!rows, !rows, !rows, !cache, !scope, !batch) -> (!rows, !cache)
  return %3#0 : !rows
}

// CHECK-LABEL: @residual(
func.func @residual(%s: !scope, %b: !batch, %c: !cache, %x: !rows, %w: !weight) -> !rows {
  // CHECK: transformer.split_append %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} to
  %0 = transformer.matmul %x weights(%w) : (!rows, !weight) -> !rows
  %1 = transformer.matmul %x weights(%w) residual %x : (!rows, !weight, !rows) -> !rows
  %2 = transformer.matmul %x weights(%w) : (!rows, !weight) -> !rows
  // expected-remark@below {{a matmul applies more than a bias}}
  %3:2 = transformer.split_append %0, %1, %2 to %c[%s], %b heads 1 kv_heads 1 : (!rows, !rows, !rows, !cache, !scope, !batch) -> (!rows, !cache)
  return %3#0 : !rows
}

// CHECK-LABEL: @no_matmul(
func.func @no_matmul(%s: !scope, %b: !batch, %c: !cache, %x: !rows, %w: !weight) -> !rows {
  // CHECK: transformer.split_append %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} to
  %0 = transformer.matmul %x weights(%w) : (!rows, !weight) -> !rows
  %1 = transformer.matmul %x weights(%w) : (!rows, !weight) -> !rows
  %2 = transformer.residual %x, %x : !rows
  // expected-remark@below {{queries, keys and values are not all matmuls}}
  %3:2 = transformer.split_append %0, %1, %2 to %c[%s], %b heads 1 kv_heads 1 : (!rows, !rows, !rows, !cache, !scope, !batch) -> (!rows, !cache)
  return %3#0 : !rows
}

// CHECK-LABEL: @scopes(
func.func @scopes(%s: !scope, %t: !scope, %b: !batch, %c: !cache, %x: !rows) -> !rows {
  // CHECK-COUNT-3: transformer.matmul
  %w = transformer.parameter %s "w" of attention : !weight
  %u = transformer.parameter %t "w" of attention : !weight
  %0 = transformer.matmul %x weights(%w) : (!rows, !weight) -> !rows
  %1 = transformer.matmul %x weights(%u) : (!rows, !weight) -> !rows
  %2 = transformer.matmul %x weights(%w) : (!rows, !weight) -> !rows
  // expected-remark@below {{the weights belong to different scopes}}
  %3:2 = transformer.split_append %0, %1, %2 to %c[%s], %b heads 1 kv_heads 1 : (!rows, !rows, !rows, !cache, !scope, !batch) -> (!rows, !cache)
  return %3#0 : !rows
}

// CHECK-LABEL: @bias_scopes(
func.func @bias_scopes(%s: !scope, %t: !scope, %b: !batch, %c: !cache, %x: !rows) -> !rows {
  // CHECK-COUNT-3: transformer.matmul
  %w = transformer.parameter %s "w" of attention : !weight
  %m = transformer.parameter %s "m" of attention : !bias
  %n = transformer.parameter %t "m" of attention : !bias
  %0 = transformer.matmul %x weights(%w) biases(%m) : (!rows, !weight, !bias) -> !rows
  %1 = transformer.matmul %x weights(%w) biases(%n) : (!rows, !weight, !bias) -> !rows
  %2 = transformer.matmul %x weights(%w) biases(%m) : (!rows, !weight, !bias) -> !rows
  // expected-remark@below {{the biases belong to different scopes}}
  %3:2 = transformer.split_append %0, %1, %2 to %c[%s], %b heads 1 kv_heads 1 : (!rows, !rows, !rows, !cache, !scope, !batch) -> (!rows, !cache)
  return %3#0 : !rows
}
