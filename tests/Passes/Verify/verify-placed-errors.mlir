// What is not placed.
// RUN: %tenon-opt %s --verify-placed -split-input-file -verify-diagnostics

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func @model_op(%b: !transformer.batch, %x: tensor<?x8xf32>) {
  // expected-error@below {{'transformer.residual' op is not allowed after stage 'placed': expected a dnn operation on tensors}}
  %0 = transformer.residual %x, %x : tensor<?x8xf32>
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func @weight(%s: !transformer.scope) {
  %0 = dnn.weight %s ["a"] of norm index 0 : <vector, 8x1xf32>
  // expected-error@below {{'dnn.weight' op expected an index}}
  %1 = dnn.weight %s ["b"] of norm : <vector, 8x1xf32>
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func @table(%s: !transformer.scope) {
  // expected-error@below {{'dnn.table' op expected an index}}
  %0 = dnn.table #transformer.rope<half, dim = 4, base = 10000.0> in %s : <row_major, 16x4xf32>
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func @buffer() {
  // expected-error@below {{'memref.alloc' op is not allowed after stage 'placed'}}
  %0 = memref.alloc() : memref<4x8xf32>
  return
}
}

// -----

// expected-error@below {{expected the module attribute dnn.target, which placement sets}}
module {}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func @scope_number(%b: !transformer.batch) {
  // expected-error@below {{dnn_module_c1: number: expected one of its own, 0 to 0, got 400}}
  %0 = dnn.scope %b "l" number 400
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func @scope_twice(%b: !transformer.batch) {
  %0 = dnn.scope %b "l" number 0 layer 0
  // expected-error@below {{dnn_module_c1: scope "l": expected one number and layer wherever it is named}}
  %1 = dnn.scope %b "l" number 0
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func @index_taken(%s: !transformer.scope) {
  %0 = dnn.weight %s ["a"] of norm index 1 : <vector, 8x1xf32>
  // expected-error@below {{dnn_module_c2: index: expected one of its own, 0 to 1, got 1}}
  %1 = dnn.weight %s ["b"] of norm index 1 : <vector, 8x1xf32>
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func @index_gap(%s: !transformer.scope) {
  // expected-error@below {{dnn_module_c2: index: expected one of its own, 0 to 0, got 60}}
  %0 = dnn.weight %s ["a"] of norm index 60 : <vector, 8x1xf32>
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func @index_differs(%s: !transformer.scope) {
  %0 = dnn.weight %s ["a"] of norm index 0 : <vector, 8x1xf32>
  // expected-error@below {{dnn_module_c2: index: expected 0, that of the same weight elsewhere, got 1}}
  %1 = dnn.weight %s ["a"] of norm index 1 : <vector, 8x1xf32>
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func @layer_gap(%b: !transformer.batch) {
  // expected-error@below {{dnn_module_c3: layer: expected numbers from 0 without gaps, got 3 of 1}}
  %0 = dnn.scope %b "l" number 0 layer 3
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func @no_layer(%b: !transformer.batch, %c: !transformer.cache<1x8xf32>, %x: tensor<?x8xf32>) {
  %0 = dnn.scope %b "l" number 0
  // expected-error@below {{dnn_module_c3: scope "l": expected a layer, for a cache}}
  dnn.cache_append %c[%0], %b keys %x values %x : !transformer.cache<1x8xf32>, !transformer.scope, !transformer.batch, tensor<?x8xf32>, tensor<?x8xf32>
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func @layer_twice(%b: !transformer.batch, %c: !transformer.cache<1x8xf32>, %x: tensor<?x8xf32>) {
  %0 = dnn.scope %b "k" number 0 layer 0
  %1 = dnn.scope %b "l" number 1 layer 0
  dnn.cache_append %c[%0], %b keys %x values %x : !transformer.cache<1x8xf32>, !transformer.scope, !transformer.batch, tensor<?x8xf32>, tensor<?x8xf32>
  // expected-error@below {{dnn_module_c3: cache of layer 0: expected one scope, got "k" and "l"}}
  dnn.cache_append %c[%1], %b keys %x values %x : !transformer.cache<1x8xf32>, !transformer.scope, !transformer.batch, tensor<?x8xf32>, tensor<?x8xf32>
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>, transformer.max_sequence = 64 : i64} {
func.func @positions(%s: !transformer.scope) {
  // expected-error@below {{dnn_module_c4: rows of the table: expected 64, one per position, got 16}}
  %0 = dnn.table #transformer.rope<half, dim = 4, base = 10000.0> in %s index 0 : <row_major, 16x4xf32>
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>, transformer.vocabulary = 10 : i64} {
func.func @tokens(%b: !transformer.batch) attributes {transformer.role = "encode"} {
  %0 = dnn.scope %b "" number 0
  %1 = dnn.weight %0 ["t"] of embedding index 0 : <row_major, 9x8xf32>
  %2 = dnn.count tokens %b
  %3 = tensor.empty(%2) : tensor<?x8xf32>
  // expected-error@below {{dnn_module_c4: rows of the table: expected at least 10, got 9}}
  %4 = dnn.embedding token %b, %1 outs(%3) : (!transformer.batch, !dnn.packed<row_major, 9x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func @rotation(%s: !transformer.scope, %b: !transformer.batch, %x: tensor<?x8xf32>) {
  %0 = dnn.table #transformer.rope<half, dim = 4, base = 100.0> in %s index 0 : <row_major, 1x4xf32>
  // expected-error@below {{dnn_module_c5: table: expected #transformer.rope<half, dim = 4, base = 10000.0>, got #transformer.rope<half, dim = 4, base = 100.0>}}
  %1 = dnn.rope %x, %b heads 2 <half, dim = 4, base = 10000.0> table %0 outs(%x) : (tensor<?x8xf32>, !transformer.batch, !dnn.packed<row_major, 1x4xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func @primitive_gap(%x: tensor<?x8xf32>, %w: !dnn.packed<panels, 8x8xf32>) {
  // expected-error@below {{dnn_module_c6: primitive: expected one of its own, 0 to 0, got 4}}
  %0 = dnn.matmul %x weight %w primitive 4 outs(%x) : (tensor<?x8xf32>, !dnn.packed<panels, 8x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func @primitive_shared(%x: tensor<?x8xf32>, %w: !dnn.packed<panels, 8x8xf32>) {
  %0 = dnn.matmul %x weight %w primitive 0 outs(%x) : (tensor<?x8xf32>, !dnn.packed<panels, 8x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // expected-error@below {{dnn_module_c6: primitive 0: expected equal matmuls to have it}}
  %1 = dnn.matmul %x weight %w residual %x primitive 0 outs(%x) : (tensor<?x8xf32>, !dnn.packed<panels, 8x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>, transformer.few_tokens = 8 : i64} {
// expected-error@below {{dnn_module_c7: transformer.max_tokens: expected at least 8, as it is called with, got 4}}
func.func private @layer.few(%b: !transformer.batch, %x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {transformer.max_tokens = 4 : i64, transformer.max_output_rows = 8 : i64, transformer.variant = #transformer.variant<few>} {
  return %x : tensor<?x8xf32>
}
func.func private @layer.many(%b: !transformer.batch, %x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {transformer.max_tokens = 64 : i64, transformer.max_output_rows = 64 : i64, transformer.variant = #transformer.variant<many>} {
  return %x : tensor<?x8xf32>
}
func.func @step(%b: !transformer.batch, %x: tensor<?x8xf32>, %y: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {transformer.max_tokens = 64 : i64, transformer.max_output_rows = 64 : i64} {
  %0 = dnn.dispatch @layer.few or @layer.many by tokens of %b(%b, %x) outs(%y) : (!transformer.batch, !transformer.batch, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func @rows(%s: !transformer.scope, %b: !transformer.batch, %x: tensor<?x8xf32>) {
  %0 = dnn.count output_rows %b
  %1 = tensor.empty(%0) : tensor<?x8xf32>
  // expected-error@below {{dnn_module_c8: rows of operand 2: expected tokens, got output_rows}}
  %2 = dnn.residual %x, %x outs(%1) : (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func @selected(%b: !transformer.batch, %x: tensor<?x8xf32>) {
  %0 = dnn.count tokens %b
  %1 = tensor.empty(%0) : tensor<?x8xf32>
  // expected-error@below {{dnn_module_c8: rows of operand 2: expected output_rows, got tokens}}
  %2 = dnn.select_output_rows %x, %b outs(%1) : (tensor<?x8xf32>, !transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func @pooled(%b: !transformer.batch, %x: tensor<?x8xf32>) {
  %0 = dnn.count output_rows %b
  %1 = tensor.empty(%0) : tensor<?x8xf32>
  // expected-error@below {{dnn_module_c8: rows of operand 2: expected sequences, got output_rows}}
  %2 = dnn.pool mean %x, %b outs(%1) : (tensor<?x8xf32>, !transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func @staged(%b: !transformer.batch, %x: tensor<?x24xf32>) {
  %0 = dnn.count tokens %b
  %1 = tensor.empty(%0) : tensor<?x8xf32>
  %2 = tensor.empty(%0) : tensor<?x1536xf32>
  // expected-error@below {{dnn_module_c8: rows of operand 3: expected staged_pages, got tokens}}
  %3:2 = dnn.split_stage %x of %b heads 1 kv_heads 1 outs(%1, %2) : (tensor<?x24xf32>, !transformer.batch, tensor<?x8xf32>, tensor<?x1536xf32>) -> (tensor<?x8xf32>, tensor<?x1536xf32>)
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func @static(%b: !transformer.batch) {
  %0 = tensor.empty() : tensor<4x8xf32>
  // expected-error@below {{dnn_module_c8: rows of operand 1: expected tokens, got another number}}
  %1 = dnn.input_features %b outs(%0) : (!transformer.batch, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func @offsets(%b: !transformer.batch, %x: tensor<?x2xi32>) {
  %0 = dnn.count tokens %b
  %1 = tensor.empty(%0) : tensor<?x2xi32>
  %2 = tensor.empty(%0) : tensor<?x5xi32>
  // expected-error@below {{dnn_module_c8: rows of operand 2: expected one of offsets}}
  %3:2 = dnn.moe_group %x outs(%1, %2) : (tensor<?x2xi32>, tensor<?x2xi32>, tensor<?x5xi32>) -> (tensor<?x2xi32>, tensor<?x5xi32>)
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func private @head.few(%b: !transformer.batch, %x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {transformer.variant = #transformer.variant<few>} {
  return %x : tensor<?x8xf32>
}
func.func private @head.many(%b: !transformer.batch, %x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {transformer.variant = #transformer.variant<many>} {
  return %x : tensor<?x8xf32>
}
func.func @step(%b: !transformer.batch) {
  %0 = dnn.count tokens %b
  %1 = dnn.count output_rows %b
  %2 = tensor.empty(%0) : tensor<?x8xf32>
  %3 = tensor.empty(%1) : tensor<?x8xf32>
  %4 = dnn.dispatch @head.few or @head.many by tokens of %b(%b, %2) outs(%2) : (!transformer.batch, !transformer.batch, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  // expected-error@below {{dnn_module_c8: rows passed to @head.few: expected tokens, got output_rows}}
  %5 = dnn.dispatch @head.few or @head.many by tokens of %b(%b, %3) outs(%2) : (!transformer.batch, !transformer.batch, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func private @head.few(%b: !transformer.batch, %x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {transformer.variant = #transformer.variant<few>} {
  // expected-error@below {{dnn_module_c8: rows returned, which go to a destination of @head.few: expected output_rows, got tokens}}
  return %x : tensor<?x8xf32>
}
func.func private @head.many(%b: !transformer.batch, %x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {transformer.variant = #transformer.variant<many>} {
  return %x : tensor<?x8xf32>
}
func.func @step(%b: !transformer.batch) {
  %0 = dnn.count tokens %b
  %1 = dnn.count output_rows %b
  %2 = tensor.empty(%0) : tensor<?x8xf32>
  %3 = tensor.empty(%1) : tensor<?x8xf32>
  %4 = dnn.dispatch @head.few or @head.many by tokens of %b(%b, %2) outs(%3) : (!transformer.batch, !transformer.batch, tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  return
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
func.func @step(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.role = "step", transformer.output = "hidden"} {
  %0 = dnn.count tokens %b
  %1 = tensor.empty(%0) : tensor<?x8xf32>
  %2 = dnn.input_features %b outs(%1) : (!transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
  // expected-error@below {{dnn_module_c9: rows of the output 'hidden': expected output_rows, got tokens}}
  return %2 : tensor<?x8xf32>
}
}
