// What is no model.
// RUN: %tenon-opt %s --verify-model -split-input-file -verify-diagnostics

// expected-error@below {{expected a function with the attribute transformer.role}}
module {
  func.func @step(%b: !transformer.batch) {
    return
  }
}

// -----

// expected-error@below {{'func.func' op expected an argument of type !transformer.batch}}
func.func @step(%s: !transformer.scope) attributes {transformer.role = "step"} {
  return
}

// -----

func.func @step(%b: !transformer.batch) attributes {transformer.role = "step"} {
  // expected-error@below {{'arith.constant' op is not allowed}}
  %0 = arith.constant 1 : i64
  return
}
