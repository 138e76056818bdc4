// What is no model: a test or more for every module_c of SPEC.md.
// RUN: %tenon-opt %s --verify-transformer -split-input-file -verify-diagnostics

// expected-error@below {{module_c1: expected the module attribute transformer.vocabulary}}
module attributes {transformer.max_sequence = 64 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

// expected-error@below {{module_c1: expected the module attribute transformer.max_sequence}}
module attributes {transformer.vocabulary = 9 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    // expected-error@below {{'arith.constant' op module_c2: expected an operation of the transformer dialect, a call or a return}}
    %n = arith.constant 1 : i64
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  // expected-error@below {{module_c2: expected one block}}
  func.func private @layer(!transformer.batch)
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  // expected-error@below {{'builtin.module' op module_c2: expected functions only}}
  module {}
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

// A function in a function.
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    // expected-error@below {{'builtin.module' op module_c2: expected an operation of the transformer dialect, a call or a return}}
    builtin.module {
      func.func private @inner(!transformer.batch)
    }
    return %y : tensor<?x8xf32>
  }
}

// -----

// Passes make variants, models have none.
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func private @f.few(%s: !transformer.scope, %b: !transformer.batch) -> tensor<?x8xf32> {
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    return %0 : tensor<?x8xf32>
  }
  func.func private @f.many(%s: !transformer.scope, %b: !transformer.batch) -> tensor<?x8xf32> {
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    return %0 : tensor<?x8xf32>
  }
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    // expected-error@below {{'transformer.dispatch' op module_c2: expected an operation}}
    %0 = transformer.dispatch @f.few or @f.many by tokens(%s, %b) : (!transformer.scope, !transformer.batch) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  // expected-error@below {{module_c3: expected a call of it}}
  func.func private @embed(%s: !transformer.scope, %b: !transformer.batch) -> tensor<?x8xf32> {
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    return %0 : tensor<?x8xf32>
  }
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

// Calls nested deeper.
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func private @embed(%s: !transformer.scope, %b: !transformer.batch) -> tensor<?x8xf32> {
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    return %0 : tensor<?x8xf32>
  }
  func.func private @outer(%s: !transformer.scope, %b: !transformer.batch) -> tensor<?x8xf32> {
    // expected-error@below {{module_c3: expected calls from entries to functions that are none}}
    %0 = call @embed(%s, %b) : (!transformer.scope, !transformer.batch) -> tensor<?x8xf32>
    return %0 : tensor<?x8xf32>
  }
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %0 = call @outer(%s, %b) : (!transformer.scope, !transformer.batch) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

// Recursion.
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func private @embed(%s: !transformer.scope, %b: !transformer.batch) -> tensor<?x8xf32> {
    // expected-error@below {{module_c3: expected calls from entries to functions that are none}}
    %0 = call @embed(%s, %b) : (!transformer.scope, !transformer.batch) -> tensor<?x8xf32>
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

// A call of an entry.
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
  func.func @step(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "step"} {
    // expected-error@below {{module_c3: expected calls from entries to functions that are none}}
    %y = call @encode(%b) : (!transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  // expected-error@below {{module_c5: argument of type 'index': expected batch, scopes, caches and activations}}
  func.func @encode(%b: !transformer.batch, %i: index) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  // expected-error@below {{module_c5: result of type '!transformer.scope': expected activations and caches}}
  func.func @encode(%b: !transformer.batch) -> (tensor<?x8xf32>, !transformer.scope) attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y, %s : tensor<?x8xf32>, !transformer.scope
  }
}

// -----

// An entry with two batches.
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  // expected-error@below {{module_c5: expected one argument of type !transformer.batch, got 2}}
  func.func @encode(%b: !transformer.batch, %d: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  // expected-error@below {{module_c5: expected one argument of type !transformer.batch, got 0}}
  func.func private @norm(%s: !transformer.scope, %x: tensor<?x8xf32>) -> tensor<?x8xf32> {
    %0 = transformer.scale %x by 0.5 : tensor<?x8xf32>
    return %0 : tensor<?x8xf32>
  }
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %1 = call @norm(%s, %0) : (!transformer.scope, tensor<?x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
  // expected-error@below {{module_c6: expected one entry of role 'encode', got a second one}}
  func.func @again(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

// expected-error@below {{module_c6: expected a function with the attribute transformer.role}}
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {

}

// -----

// An entry with an argument that no caller has.
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  // expected-error@below {{module_c7: argument of type 'tensor<?x8xf32>': expected the batch and caches of an entry}}
  func.func @encode(%b: !transformer.batch, %x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  // expected-error@below {{module_c7: argument of type '!transformer.scope': expected the batch and caches of an entry}}
  func.func @encode(%b: !transformer.batch, %x: !transformer.scope) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  // expected-error@below {{module_c7: expected one result of activations, got 0}}
  func.func @encode(%b: !transformer.batch) attributes {transformer.output = "hidden", transformer.role = "encode"} {
    return
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  // expected-error@below {{module_c7: expected one result of activations, got 2}}
  func.func @encode(%b: !transformer.batch) -> (tensor<?x8xf32>, tensor<?x8xf32>) attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y, %0 : tensor<?x8xf32>, tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  // expected-error@below {{module_c7: expected the attribute transformer.output}}
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

// Placement maps caches by their place.
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func private @swap(%b: !transformer.batch, %c: !transformer.cache<1x8xf32>, %d: !transformer.cache<1x8xf32>) -> (!transformer.cache<1x8xf32>, !transformer.cache<1x8xf32>) {
    // expected-error@below {{module_c8: expected caches in the order of the function's arguments}}
    return %d, %c : !transformer.cache<1x8xf32>, !transformer.cache<1x8xf32>
  }
  func.func @encode(%b: !transformer.batch, %c: !transformer.cache<1x8xf32>, %d: !transformer.cache<1x8xf32>) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    %1:2 = call @swap(%b, %c, %d) : (!transformer.batch, !transformer.cache<1x8xf32>, !transformer.cache<1x8xf32>) -> (!transformer.cache<1x8xf32>, !transformer.cache<1x8xf32>)
    return %y : tensor<?x8xf32>
  }
}

// -----

// A function that returns its argument.
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func private @same(%b: !transformer.batch, %x: tensor<?x8xf32>) -> tensor<?x8xf32> {
    // expected-error@below {{module_c9: expected a value that the function computes, got one of its arguments}}
    return %x : tensor<?x8xf32>
  }
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    %1 = call @same(%b, %y) : (!transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
    return %1 : tensor<?x8xf32>
  }
}

// -----

// A function that returns one value twice.
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func private @twice(%b: !transformer.batch, %x: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
    %0 = transformer.scale %x by 0.5 : tensor<?x8xf32>
    // expected-error@below {{module_c9: expected each value once, got one twice}}
    return %0, %0 : tensor<?x8xf32>, tensor<?x8xf32>
  }
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    %1:2 = call @twice(%b, %y) : (!transformer.batch, tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>)
    return %1#1 : tensor<?x8xf32>
  }
}

// -----

// A weight is a parameter of the function that uses it.
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func private @layer(%b: !transformer.batch, %x: tensor<?x8xf32>, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
    // expected-error@below {{module_c4: operand 1: expected a transformer.parameter, got another value of type 'tensor<8x8xf32>'}}
    %0 = transformer.linear %x, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
    return %0 : tensor<?x8xf32>
  }
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %w = transformer.parameter %s "w" of ffn : tensor<8x8xf32>
    %1 = call @layer(%b, %0, %w) : (!transformer.batch, tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    %l0 = transformer.scope "m" layer 0
    // expected-error@below {{module_c10: scope 'm': expected the same layer wherever it is named}}
    %l1 = transformer.scope "m" layer 1
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func private @layer(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x8xf32>, %x: tensor<?x8xf32>) -> (tensor<?x8xf32>, !transformer.cache<1x8xf32>) {
    // expected-error@below {{module_c10: scope 'l.0': expected one with a layer, for a cache}}
    %c1 = transformer.cache_append %c[%s], %b keys %x values %x : (!transformer.cache<1x8xf32>, !transformer.scope, !transformer.batch, tensor<?x8xf32>, tensor<?x8xf32>) -> !transformer.cache<1x8xf32>
    %y = transformer.attention causal %x, %b cache %c1[%s] heads 1 kv_heads 1 scale 0.5 : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x8xf32>, !transformer.scope) -> tensor<?x8xf32>
    return %y, %c1 : tensor<?x8xf32>, !transformer.cache<1x8xf32>
  }
  func.func @step(%b: !transformer.batch, %c: !transformer.cache<1x8xf32>) -> (tensor<?x8xf32>, !transformer.cache<1x8xf32>) attributes {transformer.output = "hidden", transformer.role = "step"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %l0 = transformer.scope "l.0"
    %1:2 = call @layer(%l0, %b, %c, %0) : (!transformer.scope, !transformer.batch, !transformer.cache<1x8xf32>, tensor<?x8xf32>) -> (tensor<?x8xf32>, !transformer.cache<1x8xf32>)
    %y = transformer.select_output_rows %1#0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y, %1#1 : tensor<?x8xf32>, !transformer.cache<1x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 10 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    // expected-error@below {{module_c11: table of token embeddings: expected at least 10 rows, got 9}}
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

// Positions begin at the offset.
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %p = transformer.parameter %s "p" of embedding : tensor<64x8xf32>
    // expected-error@below {{module_c11: table of position embeddings: expected at least 66 rows, got 64}}
    %1 = transformer.embedding position %b, %p offset 2 : (!transformer.batch, tensor<64x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64, transformer.token_types = 2 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %p = transformer.parameter %s "p" of embedding : tensor<1x8xf32>
    // expected-error@below {{module_c11: table of token_type embeddings: expected at least 2 rows, got 1}}
    %1 = transformer.embedding token_type %b, %p : (!transformer.batch, tensor<1x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

// An entry with a vocabulary of its own.
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func private @embed(%s: !transformer.scope, %b: !transformer.batch) -> tensor<?x8xf32> {
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    // expected-error@below {{module_c11: table of token embeddings: expected at least 12 rows, got 9}}
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    return %0 : tensor<?x8xf32>
  }
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode", transformer.vocabulary = 12 : i64} {
    %s = transformer.scope ""
    %0 = call @embed(%s, %b) : (!transformer.scope, !transformer.batch) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

// A source text may be longer than what is generated.
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64, transformer.max_source = 80 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %p = transformer.parameter %s "p" of embedding : tensor<64x8xf32>
    // expected-error@below {{module_c11: table of position embeddings: expected at least 80 rows, got 64}}
    %1 = transformer.embedding position %b, %p : (!transformer.batch, tensor<64x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

// Biases of experts that are multiplied with, too.
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %g = transformer.parameter %s "g" of ffn : tensor<2x4x8xf32>
    %d = transformer.parameter %s "d" of ffn : tensor<2x8x4xf32>
    %e = transformer.parameter %s "e" of ffn : tensor<2x8xf32>
    %l = transformer.linear %0, %e : (tensor<?x8xf32>, tensor<2x8xf32>) -> tensor<?x2xf32>
    // expected-error@below {{module_c12: parameter '.e': expected one that no matmul uses too, for this reads it row by row}}
    %1 = transformer.moe silu %0, %l <softmax, top = 1> gate %g up %g down %d bias %e : (tensor<?x8xf32>, tensor<?x2xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x8x4xf32>, tensor<2x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

// The expansion of latent vectors, likewise.
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @step(%b: !transformer.batch, %c: !transformer.cache<latent 1x6xf32>) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "step"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %l0 = transformer.scope "l.0" layer 0
    %w = transformer.parameter %l0 "w" of attention : tensor<14x4xf32>
    %k = transformer.parameter %s "k" of attention : tensor<4x8xf32>
    %l = transformer.linear %0, %k : (tensor<?x8xf32>, tensor<4x8xf32>) -> tensor<?x4xf32>
    %q = transformer.linear %l, %w : (tensor<?x4xf32>, tensor<14x4xf32>) -> tensor<?x14xf32>
    %p = transformer.slice %q from 0 : (tensor<?x14xf32>) -> tensor<?x10xf32>
    %r = transformer.slice %q from 12 : (tensor<?x14xf32>) -> tensor<?x2xf32>
    %c1 = transformer.latent_append %c[%l0], %b latent %l rotated %r : (!transformer.cache<latent 1x6xf32>, !transformer.scope, !transformer.batch, tensor<?x4xf32>, tensor<?x2xf32>) -> !transformer.cache<latent 1x6xf32>
    // expected-error@below {{module_c12: parameter 'l.0.w': expected one that no matmul uses too, for this reads it row by row}}
    %a = transformer.latent_attention %p, %b cache %c1[%l0] expand %w heads 2 key_dim 3 value_dim 4 scale 0.5 : (tensor<?x10xf32>, !transformer.batch, !transformer.cache<latent 1x6xf32>, !transformer.scope, tensor<14x4xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %a, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    // expected-error@below {{module_c13: rows of operand 1: expected output_rows, got tokens}}
    %1 = transformer.residual %y, %0 : tensor<?x8xf32>
    return %1 : tensor<?x8xf32>
  }
}

// -----

// What takes the batch takes a row per token.
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    // expected-error@below {{module_c13: rows of operand 0: expected tokens, got output_rows}}
    %1 = transformer.pool mean %y, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %1 : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func private @half(%b: !transformer.batch, %x: tensor<?x8xf32>) -> tensor<?x8xf32> {
    %0 = transformer.scale %x by 0.5 : tensor<?x8xf32>
    return %0 : tensor<?x8xf32>
  }
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %1 = call @half(%b, %0) : (!transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    // expected-error@below {{module_c14: rows passed to @half: expected tokens as other calls pass, got output_rows}}
    %2 = call @half(%b, %y) : (!transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
    return %2 : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    // expected-error@below {{module_c15: rows of the output 'hidden': expected output_rows, got tokens}}
    return %0 : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "pooled", transformer.role = "embed"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    // expected-error@below {{module_c15: rows of the output 'pooled': expected sequences, got output_rows}}
    return %y : tensor<?x8xf32>
  }
}

// -----

// A call takes the handle when its callee does; uses are looked at last first.
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
    // expected-error@below {{cache_c1: a cache handle: expected one op that takes it, got a second one (func.call)}}
    %1:2 = call @layer(%l0, %b, %c, %0) : (!transformer.scope, !transformer.batch, !transformer.cache<1x8xf32>, tensor<?x8xf32>) -> (tensor<?x8xf32>, !transformer.cache<1x8xf32>)
    %2:2 = call @layer(%l0, %b, %c, %1#0) : (!transformer.scope, !transformer.batch, !transformer.cache<1x8xf32>, tensor<?x8xf32>) -> (tensor<?x8xf32>, !transformer.cache<1x8xf32>)
    %y = transformer.select_output_rows %2#0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y, %2#1 : tensor<?x8xf32>, !transformer.cache<1x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func private @layer(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x8xf32>, %x: tensor<?x8xf32>) -> (tensor<?x8xf32>, !transformer.cache<1x8xf32>) {
    %c1 = transformer.cache_append %c[%s], %b keys %x values %x : (!transformer.cache<1x8xf32>, !transformer.scope, !transformer.batch, tensor<?x8xf32>, tensor<?x8xf32>) -> !transformer.cache<1x8xf32>
    %y = transformer.attention causal %x, %b cache %c1[%s] heads 1 kv_heads 1 scale 0.5 : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x8xf32>, !transformer.scope) -> tensor<?x8xf32>
    return %y, %c1 : tensor<?x8xf32>, !transformer.cache<1x8xf32>
  }
  // expected-error@below {{module_c7: expected activations as the first result}}
  func.func @step(%b: !transformer.batch, %c: !transformer.cache<1x8xf32>) -> (!transformer.cache<1x8xf32>, tensor<?x8xf32>) attributes {transformer.output = "hidden", transformer.role = "step"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %l0 = transformer.scope "l.0" layer 0
    %1:2 = call @layer(%l0, %b, %c, %0) : (!transformer.scope, !transformer.batch, !transformer.cache<1x8xf32>, tensor<?x8xf32>) -> (tensor<?x8xf32>, !transformer.cache<1x8xf32>)
    %y = transformer.select_output_rows %1#0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %1#1, %y : !transformer.cache<1x8xf32>, tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  // expected-error@below {{module_c16: argument of type '!transformer.cache<1x8xf32>': expected caches of the entry 'step', or cross-attention caches of 'encode'}}
  func.func @encode(%b: !transformer.batch, %c: !transformer.cache<1x8xf32>) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64, transformer.max_source = 64 : i64} {
  func.func @step(%b: !transformer.batch, %c: !transformer.cache<cross 1x8xf32>) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "step"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %l0 = transformer.scope "l.0" layer 0
    // expected-error@below {{module_c16: a cross-attention cache: expected the entry 'encode' to fill it, got 'step'}}
    %c1 = transformer.cache_append %c[%l0], %b keys %0 values %0 : (!transformer.cache<cross 1x8xf32>, !transformer.scope, !transformer.batch, tensor<?x8xf32>, tensor<?x8xf32>) -> !transformer.cache<cross 1x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

// expected-error@below {{module_c17: expected the module attribute transformer.max_source with cross-attention caches}}
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @encode(%b: !transformer.batch, %c: !transformer.cache<cross 1x8xf32>) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

// expected-error@below {{module_c17: expected the module attribute transformer.max_source only with cross-attention caches}}
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64, transformer.max_source = 64 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    // expected-error@below {{module_c18: input features: expected the entry 'encode_image', got 'encode'}}
    %0 = transformer.input_features %b : tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  // expected-error@below {{module_c18: expected input features in 'encode_image'}}
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode_image"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode_image"} {
    %0 = transformer.input_features %b : tensor<?x8xf32>
    // expected-error@below {{module_c18: width of input features: expected 8 as elsewhere, got 9}}
    %1 = transformer.input_features %b : tensor<?x9xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  // expected-error@below {{module_c6: expected a public entry}}
  func.func private @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

// An append whose handle is lost.
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @step(%b: !transformer.batch, %c: !transformer.cache<1x8xf32>) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "step"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %l0 = transformer.scope "l.0" layer 0
    // expected-error@below {{module_c8: expected the cache that it gives to be taken or returned}}
    %c1 = transformer.cache_append %c[%l0], %b keys %0 values %0 : (!transformer.cache<1x8xf32>, !transformer.scope, !transformer.batch, tensor<?x8xf32>, tensor<?x8xf32>) -> !transformer.cache<1x8xf32>
    %1 = transformer.attention causal %0, %b cache %c1[%l0] heads 1 kv_heads 1 scale 0.5 : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x8xf32>, !transformer.scope) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %1, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %u = transformer.parameter %s "u" of embedding : tensor<2x8xf32>
    // expected-error@below {{module_c11: expected the module attribute transformer.token_types with embeddings of token types}}
    %1 = transformer.embedding token_type %b, %u : (!transformer.batch, tensor<2x8xf32>) -> tensor<?x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

// expected-error@below {{module_c19: attribute "transformer.few_tokens": expected those of a model only}}
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64, transformer.few_tokens = 8 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  // expected-error@below {{module_c19: attribute "transformer.variant": expected those of a model only}}
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode", transformer.variant = #transformer.variant<few>} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    // expected-error@below {{module_c19: attribute "dnn.layout": expected those of a model only}}
    %t = transformer.parameter %s "t" of embedding {dnn.layout = #dnn.layout<row_major>} : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @step(%b: !transformer.batch, %c: !transformer.cache<1x8xf32>) -> (tensor<?x8xf32>, !transformer.cache<1x8xf32>) attributes {transformer.output = "hidden", transformer.role = "step"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    // expected-error@below {{module_c20: layer 2 of 1: expected numbers from 0 without gaps}}
    %l0 = transformer.scope "l.0" layer 2
    %c1 = transformer.cache_append %c[%l0], %b keys %0 values %0 : (!transformer.cache<1x8xf32>, !transformer.scope, !transformer.batch, tensor<?x8xf32>, tensor<?x8xf32>) -> !transformer.cache<1x8xf32>
    %1 = transformer.attention causal %0, %b cache %c1[%l0] heads 1 kv_heads 1 scale 0.5 : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x8xf32>, !transformer.scope) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %1, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y, %c1 : tensor<?x8xf32>, !transformer.cache<1x8xf32>
  }
}

// -----

// Two scopes of one layer.
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @step(%b: !transformer.batch, %c: !transformer.cache<1x8xf32>) -> (tensor<?x8xf32>, !transformer.cache<1x8xf32>) attributes {transformer.output = "hidden", transformer.role = "step"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %l0 = transformer.scope "l.0" layer 0
    %l1 = transformer.scope "l.1" layer 0
    %c1 = transformer.cache_append %c[%l0], %b keys %0 values %0 : (!transformer.cache<1x8xf32>, !transformer.scope, !transformer.batch, tensor<?x8xf32>, tensor<?x8xf32>) -> !transformer.cache<1x8xf32>
    %1 = transformer.attention causal %0, %b cache %c1[%l0] heads 1 kv_heads 1 scale 0.5 : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x8xf32>, !transformer.scope) -> tensor<?x8xf32>
    // expected-error@below {{module_c20: cache of layer 0: expected one scope, got 'l.0' and 'l.1'}}
    %c2 = transformer.cache_append %c1[%l1], %b keys %0 values %0 : (!transformer.cache<1x8xf32>, !transformer.scope, !transformer.batch, tensor<?x8xf32>, tensor<?x8xf32>) -> !transformer.cache<1x8xf32>
    %y = transformer.select_output_rows %1, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y, %c2 : tensor<?x8xf32>, !transformer.cache<1x8xf32>
  }
}

// -----

// A cache that nobody fills.
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @step(%b: !transformer.batch, %c: !transformer.cache<1x8xf32>) -> (tensor<?x8xf32>, !transformer.cache<1x8xf32>) attributes {transformer.output = "hidden", transformer.role = "step"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %l0 = transformer.scope "l.0" layer 0
    // expected-error@below {{module_c21: cache of scope 'l.0': expected an append to it before}}
    %1 = transformer.attention causal %0, %b cache %c[%l0] heads 1 kv_heads 1 scale 0.5 : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x8xf32>, !transformer.scope) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %1, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y, %c : tensor<?x8xf32>, !transformer.cache<1x8xf32>
  }
}

// -----

// An append to the cache of another layer, through a function.
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func private @layer(%s: !transformer.scope, %b: !transformer.batch, %c: !transformer.cache<1x8xf32>, %x: tensor<?x8xf32>) -> tensor<?x8xf32> {
    // expected-error@below {{module_c21: cache of scope 'l.1': expected an append to it before}}
    %y = transformer.attention causal %x, %b cache %c[%s] heads 1 kv_heads 1 scale 0.5 : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x8xf32>, !transformer.scope) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
  func.func @step(%b: !transformer.batch, %c: !transformer.cache<1x8xf32>) -> (tensor<?x8xf32>, !transformer.cache<1x8xf32>) attributes {transformer.output = "hidden", transformer.role = "step"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %l0 = transformer.scope "l.0" layer 0
    %l1 = transformer.scope "l.1" layer 1
    %c1 = transformer.cache_append %c[%l0], %b keys %0 values %0 : (!transformer.cache<1x8xf32>, !transformer.scope, !transformer.batch, tensor<?x8xf32>, tensor<?x8xf32>) -> !transformer.cache<1x8xf32>
    %1 = call @layer(%l1, %b, %c1, %0) : (!transformer.scope, !transformer.batch, !transformer.cache<1x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %1, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y, %c1 : tensor<?x8xf32>, !transformer.cache<1x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    // expected-error@below {{module_c22: parameter '.t': expected 'tensor<9x8xf32>' as elsewhere, got 'tensor<9x8xbf16>'}}
    %u = transformer.parameter %s "t" of embedding : tensor<9x8xbf16>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  // expected-error@below {{module_c23: output of 'step': expected logits or hidden, got pooled}}
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "pooled", transformer.role = "step"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  // expected-error@below {{module_c23: output of 'embed': expected pooled, got hidden}}
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "embed"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  // expected-error@below {{module_c23: logits: expected at most 9, one per token, got 10}}
  func.func @encode(%b: !transformer.batch) -> tensor<?x10xf32> attributes {transformer.output = "logits", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x10xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x10xf32>) -> tensor<?x10xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x10xf32>, !transformer.batch) -> tensor<?x10xf32>
    return %y : tensor<?x10xf32>
  }
}

// -----

// A cache that is read before this step's append.
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @step(%b: !transformer.batch, %c: !transformer.cache<1x8xf32>) -> (tensor<?x8xf32>, !transformer.cache<1x8xf32>) attributes {transformer.output = "hidden", transformer.role = "step"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %l0 = transformer.scope "l.0" layer 0
    // expected-error@below {{module_c21: cache of scope 'l.0': expected an append to it before}}
    %1 = transformer.attention causal %0, %b cache %c[%l0] heads 1 kv_heads 1 scale 0.5 : (tensor<?x8xf32>, !transformer.batch, !transformer.cache<1x8xf32>, !transformer.scope) -> tensor<?x8xf32>
    %c1 = transformer.cache_append %c[%l0], %b keys %0 values %0 : (!transformer.cache<1x8xf32>, !transformer.scope, !transformer.batch, tensor<?x8xf32>, tensor<?x8xf32>) -> !transformer.cache<1x8xf32>
    %y = transformer.select_output_rows %1, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y, %c1 : tensor<?x8xf32>, !transformer.cache<1x8xf32>
  }
}

// -----

// expected-error@below {{module_c24: transformer.max_sequence: expected at most 16777216, got 16777217}}
module attributes {transformer.max_sequence = 16777217 : i64, transformer.vocabulary = 9 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    // expected-error@below {{module_c24: result of type 'tensor<0x8xf32>': expected sizes of 1 to 268435456}}
    %z = transformer.parameter %s "z" of ffn : tensor<0x8xf32>
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    // expected-error@below {{module_c24: result of type 'tensor<?x268435457xf32>': expected sizes of 1 to 268435456}}
    %z = transformer.input_features %b : tensor<?x268435457xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

// Weights of two scopes in one matmul.
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %m = transformer.scope "m"
    %u = transformer.parameter %s "u" of ffn : tensor<8x8xf32>
    %v = transformer.parameter %m "u" of ffn : tensor<8x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    // expected-error@below {{module_c25: expected weights of one scope and one element type}}
    %1 = transformer.matmul %0 weights(%u, %v) : (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<?x16xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

// Biases of two types in one matmul.
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %u = transformer.parameter %s "u" of ffn : tensor<8x8xf32>
    %v = transformer.parameter %s "v" of ffn : tensor<8x8xf32>
    %c = transformer.parameter %s "c" of ffn : tensor<8xf32>
    %d = transformer.parameter %s "d" of ffn : tensor<8xbf16>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    // expected-error@below {{module_c25: expected weights of one scope and one element type}}
    %1 = transformer.matmul %0 weights(%u, %v) biases(%c, %d) : (tensor<?x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8xbf16>) -> tensor<?x16xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @encode(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    // expected-error@below {{module_c26: parameter of type 'tensor<9x8xf16>': expected f32, which f16 is widened to, or bf16}}
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf16>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf16>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @step(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    // expected-error@below {{module_c18: merged features: expected the entry 'step', got 'encode'}}
    %1 = transformer.merge_features %0, %b token 3 : tensor<?x8xf32>
    %y = transformer.select_output_rows %1, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
  func.func @encode_image(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode_image"} {
    %0 = transformer.input_features %b : tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @step(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "step"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %2 = transformer.merge_features %0, %b token 3 : tensor<?x8xf32>
    // expected-error@below {{module_c18: expected features to be merged once}}
    %1 = transformer.merge_features %2, %b token 3 : tensor<?x8xf32>
    %y = transformer.select_output_rows %1, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
  func.func @encode_image(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode_image"} {
    %0 = transformer.input_features %b : tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @step(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "step"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    // expected-error@below {{module_c18: token: expected one below the vocabulary of 9, got 9}}
    %1 = transformer.merge_features %0, %b token 9 : tensor<?x8xf32>
    %y = transformer.select_output_rows %1, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
  func.func @encode_image(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode_image"} {
    %0 = transformer.input_features %b : tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @step(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "step"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    // expected-error@below {{module_c18: expected an entry 'encode_image' with merged features}}
    %1 = transformer.merge_features %0, %b token 3 : tensor<?x8xf32>
    %y = transformer.select_output_rows %1, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @step(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "step"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    // expected-error@below {{module_c18: width of merged features, rows of 'encode_image': expected 6, got 8}}
    %1 = transformer.merge_features %0, %b token 3 : tensor<?x8xf32>
    %y = transformer.select_output_rows %1, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
  func.func @encode_image(%b: !transformer.batch) -> tensor<?x6xf32> attributes {transformer.output = "hidden", transformer.role = "encode_image"} {
    %0 = transformer.input_features %b : tensor<?x6xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x6xf32>, !transformer.batch) -> tensor<?x6xf32>
    return %y : tensor<?x6xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @step(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "step"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %1 = transformer.merge_features %0, %b token 3 : tensor<?x8xf32>
    %y = transformer.select_output_rows %1, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
  // expected-error@below {{module_c18: output: expected hidden, for rows that 'step' merges, got classes}}
  func.func @encode_image(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "classes", transformer.role = "encode_image"} {
    %0 = transformer.input_features %b : tensor<?x8xf32>
    %y = transformer.pool cls %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

// One operation, called twice.
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func private @merge(%b: !transformer.batch, %x: tensor<?x8xf32>) -> tensor<?x8xf32> {
    // expected-error@below {{module_c18: expected features to be merged once}}
    %y = transformer.merge_features %x, %b token 3 : tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
  func.func @step(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "step"} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %2 = call @merge(%b, %0) : (!transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
    %1 = call @merge(%b, %2) : (!transformer.batch, tensor<?x8xf32>) -> tensor<?x8xf32>
    %y = transformer.select_output_rows %1, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
  func.func @encode_image(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode_image"} {
    %0 = transformer.input_features %b : tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  // expected-error@below {{module_c27: transformer.max_sequence: expected it on the module or the entry 'encode_image'}}
  func.func @step(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "step", transformer.max_sequence = 5 : i64} {
    %s = transformer.scope ""
    %t = transformer.parameter %s "t" of embedding : tensor<9x8xf32>
    %0 = transformer.embedding token %b, %t : (!transformer.batch, tensor<9x8xf32>) -> tensor<?x8xf32>
    %1 = transformer.scale %0 by 2.0 : tensor<?x8xf32>
    %y = transformer.select_output_rows %1, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  // expected-error@below {{module_c24: transformer.max_sequence: expected at most 16777216, got 16777217}}
  func.func @encode_image(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode_image", transformer.max_sequence = 16777217 : i64} {
    %0 = transformer.input_features %b : tensor<?x8xf32>
    %y = transformer.select_output_rows %0, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}

// -----

// Images may be longer than texts.
module attributes {transformer.max_sequence = 64 : i64, transformer.vocabulary = 9 : i64} {
  func.func @encode_image(%b: !transformer.batch) -> tensor<?x8xf32> attributes {transformer.output = "hidden", transformer.role = "encode_image", transformer.max_sequence = 70 : i64} {
    %s = transformer.scope ""
    %0 = transformer.input_features %b : tensor<?x8xf32>
    %p = transformer.parameter %s "p" of embedding : tensor<69x8xf32>
    // expected-error@below {{module_c11: table of position embeddings: expected at least 70 rows, got 69}}
    %1 = transformer.embedding position %b, %p : (!transformer.batch, tensor<69x8xf32>) -> tensor<?x8xf32>
    %2 = transformer.residual %0, %1 : tensor<?x8xf32>
    %y = transformer.select_output_rows %2, %b : (tensor<?x8xf32>, !transformer.batch) -> tensor<?x8xf32>
    return %y : tensor<?x8xf32>
  }
}
