// Constraints of scopes, parameters and dispatches, one test each.
// RUN: %tenon-opt %s -split-input-file -verify-diagnostics

func.func @scope_c1() {
  // expected-error@+1 {{scope_c1: layer: expected at least 0, got -1}}
  %0 = transformer.scope "model.layers.0" layer -1
  return
}

// -----

func.func @scope_c2() {
  // expected-error@+1 {{scope_c2: name: expected another than '.'}}
  %0 = transformer.scope "."
  return
}

// -----

func.func @parameter_c1(%arg0: !transformer.scope) {
  // expected-error@+1 {{parameter_c1: component: expected one of embedding, attention, ffn, norm, head, got mlp}}
  %0 = transformer.parameter %arg0 "w" of mlp : tensor<8xf32>
  return
}

// -----

func.func @parameter_c2(%arg0: !transformer.scope) {
  // expected-error@+1 {{parameter_c2: key: expected a name, got none}}
  %0 = transformer.parameter %arg0 "" of ffn : tensor<8xf32>
  return
}

// -----

func.func private @f.few(!transformer.batch) -> tensor<?x8xf32>
func.func @dispatch_c1(%arg0: !transformer.batch) {
  // expected-error@+1 {{dispatch_c1: @f.many: expected a function of that name}}
  %0 = transformer.dispatch @f.few or @f.many by tokens(%arg0) : (!transformer.batch) -> tensor<?x8xf32>
  return
}

// -----

func.func private @f.few(!transformer.batch) -> tensor<?x8xf32>
func.func private @f.many(!transformer.batch) -> tensor<?x9xf32>
func.func @dispatch_c2(%arg0: !transformer.batch) {
  // expected-error@+1 {{dispatch_c2: @f.many: expected type '(!transformer.batch) -> tensor<?x8xf32>', got '(!transformer.batch) -> tensor<?x9xf32>'}}
  %0 = transformer.dispatch @f.few or @f.many by tokens(%arg0) : (!transformer.batch) -> tensor<?x8xf32>
  return
}
