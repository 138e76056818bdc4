// What verifiers refuse of scopes, weights, tables and calls.
// RUN: %tenon-opt %s -split-input-file -verify-diagnostics

func.func @scope_c1(%b: !transformer.batch) {
  // expected-error@below {{dnn_scope_c1: number: expected at least 0, got -1}}
  %0 = dnn.scope %b "s" number -1
  return
}

// -----

func.func @scope_c2(%b: !transformer.batch) {
  // expected-error@below {{dnn_scope_c2: layer: expected at least 0, got -1}}
  %0 = dnn.scope %b "s" number 0 layer -1
  return
}

// -----

func.func @weight_c1(%s: !transformer.scope) {
  // expected-error@below {{dnn_weight_c1: component: expected one of embedding, attention, ffn, norm, head, got other}}
  %0 = dnn.weight %s ["w"] of other : <vector, 8x1xf32>
  return
}

// -----

func.func @weight_c2(%s: !transformer.scope) {
  // expected-error@below {{dnn_weight_c2: keys: expected names, got []}}
  %0 = dnn.weight %s [] of norm : <vector, 8x1xf32>
  return
}

// -----

func.func @weight_c2_empty(%s: !transformer.scope) {
  // expected-error@below {{dnn_weight_c2: keys: expected names, got ["w", ""]}}
  %0 = dnn.weight %s ["w", ""] of norm : <vector, 8x1xf32>
  return
}

// -----

func.func @weight_c3(%s: !transformer.scope) {
  // expected-error@below {{dnn_weight_c3: index: expected at least 0, got -2}}
  %0 = dnn.weight %s ["w"] of norm index -2 : <vector, 8x1xf32>
  return
}

// -----

func.func @table_type(%s: !transformer.scope) {
  // expected-error@below {{result #0 must be a row-major table of f32, but got '!dnn.packed<panels, 2x1xf32>'}}
  %0 = dnn.table #transformer.alibi<max = 8.0> in %s : <panels, 2x1xf32>
  return
}

// -----

func.func @table_c1(%s: !transformer.scope) {
  // expected-error@below {{dnn_table_c1: columns: expected 1, got 3}}
  %0 = dnn.table #transformer.alibi<max = 8.0> in %s : <row_major, 2x3xf32>
  return
}

// -----

func.func @table_c2(%s: !transformer.scope) {
  // expected-error@below {{dnn_table_c2: key: expected the parameter of contents #transformer.buckets<32, max = 128>}}
  %0 = dnn.table #transformer.buckets<32, max = 128> in %s : <row_major, 2x257xf32>
  return
}

// -----

func.func @table_c2_none(%s: !transformer.scope) {
  // expected-error@below {{dnn_table_c2: key: expected none of contents #transformer.alibi<max = 8.0>}}
  %0 = dnn.table #transformer.alibi<max = 8.0> in %s of "w" : <row_major, 2x1xf32>
  return
}

// -----

func.func @table_c3(%s: !transformer.scope) {
  // expected-error@below {{dnn_table_c3: index: expected at least 0, got -1}}
  %0 = dnn.table #transformer.alibi<max = 8.0> in %s index -1 : <row_major, 2x1xf32>
  return
}

// -----

func.func private @f.few(!transformer.batch) attributes {transformer.variant = #transformer.variant<few>}
func.func @dispatch_c1(%b: !transformer.batch) {
  // expected-error@below {{dnn_dispatch_c1: @f.many: expected a function of that name}}
  dnn.dispatch @f.few or @f.many by tokens of %b(%b) outs() : (!transformer.batch, !transformer.batch) -> ()
  return
}

// -----

func.func private @f.few(!transformer.batch) attributes {transformer.variant = #transformer.variant<few>}
func.func private @f.many(!transformer.batch, index) attributes {transformer.variant = #transformer.variant<many>}
func.func @dispatch_c2(%b: !transformer.batch) {
  // expected-error@below {{dnn_dispatch_c2: @f.many: expected type '(!transformer.batch) -> ()', got '(!transformer.batch, index) -> ()'}}
  dnn.dispatch @f.few or @f.many by tokens of %b(%b) outs() : (!transformer.batch, !transformer.batch) -> ()
  return
}

// -----

func.func private @f.few(!transformer.batch) attributes {transformer.variant = #transformer.variant<few>}
func.func private @f.many(!transformer.batch) attributes {transformer.variant = #transformer.variant<many>}
func.func @dispatch_c2_destinations(%b: !transformer.batch, %m: memref<?x8xf32>) {
  // expected-error@below {{dnn_dispatch_c2: @f.few: expected type '(!transformer.batch, memref<?x8xf32>) -> ()', got '(!transformer.batch) -> ()'}}
  dnn.dispatch @f.few or @f.many by tokens of %b(%b) outs(%m) : (!transformer.batch, !transformer.batch, memref<?x8xf32>) -> ()
  return
}

// -----

func.func private @f.few(!transformer.batch) attributes {transformer.variant = #transformer.variant<many>}
func.func private @f.many(!transformer.batch) attributes {transformer.variant = #transformer.variant<many>}
func.func @dispatch_c3(%b: !transformer.batch) {
  // expected-error@below {{dnn_dispatch_c3: @f.few: expected the variant for few rows}}
  dnn.dispatch @f.few or @f.many by tokens of %b(%b) outs() : (!transformer.batch, !transformer.batch) -> ()
  return
}

// -----

func.func private @f.few(!transformer.batch) attributes {transformer.variant = #transformer.variant<few>}
func.func private @f.many(!transformer.batch)
func.func @dispatch_c3_none(%b: !transformer.batch) {
  // expected-error@below {{dnn_dispatch_c3: @f.many: expected the variant for many rows}}
  dnn.dispatch @f.few or @f.many by tokens of %b(%b) outs() : (!transformer.batch, !transformer.batch) -> ()
  return
}

// -----

func.func @launch_c1(%b: !transformer.batch) {
  // expected-error@below {{dnn_launch_c1: @body: expected a function of that name}}
  dnn.launch @body on %b() : !transformer.batch
  return
}

// -----

func.func private @body(index, index, !transformer.batch)
func.func @launch_c2(%b: !transformer.batch) {
  // expected-error@below {{dnn_launch_c2: @body: expected type '(index, index) -> ()', got '(index, index, !transformer.batch) -> ()'}}
  dnn.launch @body on %b() : !transformer.batch
  return
}

// -----

func.func private @body(i64, index)
func.func @launch_c2_thread(%b: !transformer.batch) {
  // expected-error@below {{dnn_launch_c2: @body: expected type '(index, index) -> ()', got '(i64, index) -> ()'}}
  dnn.launch @body on %b() : !transformer.batch
  return
}

// -----

func.func @parallel_c1() {
  // expected-error@below {{dnn_parallel_c1: expected two block arguments of type index, got 'index'}}
  "dnn.parallel"() ({
  ^bb0(%t: index):
  }) : () -> ()
  return
}

// -----

func.func @parallel_c1_types() {
  // expected-error@below {{dnn_parallel_c1: expected two block arguments of type index, got 'index', 'i32'}}
  "dnn.parallel"() ({
  ^bb0(%t: index, %n: i32):
  }) : () -> ()
  return
}

// -----

func.func @kernel_c1(%b: !transformer.batch, %n: index) {
  // expected-error@below {{dnn_kernel_c1: number: expected 0 to 65535, got -1}}
  dnn.kernel "a" in "f" number -1 of %b rows %n cost <numbers = f32>
  return
}

// -----

func.func @kernel_c1_most(%b: !transformer.batch, %n: index) {
  // expected-error@below {{dnn_kernel_c1: number: expected 0 to 65535, got 65536}}
  dnn.kernel "a" in "f" number 65536 of %b rows %n cost <numbers = f32>
  return
}

// -----

func.func @kernel_c2(%b: !transformer.batch, %n: index) {
  // expected-error@below {{dnn_kernel_c2: primitive: expected at least 0, got -1}}
  dnn.kernel "a" in "f" number 0 of %b rows %n cost <numbers = f32> primitive -1
  return
}

// -----

func.func @cost_name(%b: !transformer.batch, %n: index) {
  // expected-error@below {{unknown cost column_bytes}}
  dnn.kernel "a" in "f" number 0 of %b rows %n cost <column_bytes = 1, numbers = f32>
  return
}

// -----

func.func @cost_negative(%b: !transformer.batch, %n: index) {
  // expected-error@below {{row_bytes: expected 0 to 4611686018427387904, got -1}}
  dnn.kernel "a" in "f" number 0 of %b rows %n cost <row_bytes = -1, numbers = f32>
  return
}

// -----

func.func @cost_parts(%b: !transformer.batch, %n: index) {
  // expected-error@below {{used_parts: expected at most the 2 parts, got 3}}
  dnn.kernel "a" in "f" number 0 of %b rows %n cost <used_parts = 3, parts = 2, numbers = f32>
  return
}

// -----

func.func @cost_numbers(%b: !transformer.batch, %n: index) {
  // expected-error@below {{expected one of f32, bf16, int8, got f16}}
  dnn.kernel "a" in "f" number 0 of %b rows %n cost <numbers = f16>
  return
}
