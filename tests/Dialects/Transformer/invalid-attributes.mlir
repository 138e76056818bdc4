// Where the attributes that describe a model belong and what they may be.
// RUN: %tenon-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{attribute 'transformer.role' belongs on a function}}
module attributes {transformer.role = "step"} {}

// -----

// expected-error@+1 {{attribute 'transformer.role' is "serve": expected one of step, encode, embed, encode_image}}
func.func private @role(!transformer.batch) attributes {transformer.role = "serve"}

// -----

// expected-error@+1 {{attribute 'transformer.role' is 1 : i64: expected one of step, encode, embed, encode_image}}
func.func private @role_number(!transformer.batch) attributes {transformer.role = 1 : i64}

// -----

// expected-error@+1 {{attribute 'transformer.output' is "probabilities": expected one of logits, hidden, pooled, classes}}
func.func private @output(!transformer.batch) attributes {transformer.output = "probabilities"}

// -----

// expected-error@+1 {{attribute 'transformer.max_tokens' belongs on a function}}
module attributes {transformer.max_tokens = 8 : i64} {}

// -----

// expected-error@+1 {{attribute 'transformer.max_output_rows' is 0 : i64: expected a positive 64-bit integer}}
func.func private @max_output_rows(!transformer.batch) attributes {transformer.max_output_rows = 0 : i64}

// -----

// expected-error@+1 {{attribute 'transformer.max_source' belongs on a module}}
func.func private @max_source(!transformer.batch) attributes {transformer.max_source = 97 : i64}

// -----

// expected-error@+1 {{attribute 'transformer.vocabulary' is 0 : i64: expected a positive 64-bit integer}}
func.func private @vocabulary(!transformer.batch) attributes {transformer.vocabulary = 0 : i64}

// -----

// expected-error@+1 {{attribute 'transformer.vocabulary' is -97 : i64: expected a positive 64-bit integer}}
module attributes {transformer.vocabulary = -97 : i64} {}

// -----

// expected-error@+1 {{attribute 'transformer.max_sequence' is 128 : i32: expected a positive 64-bit integer}}
module attributes {transformer.max_sequence = 128 : i32} {}

// -----

// expected-error@+1 {{attribute 'transformer.token_types' is "2": expected a positive 64-bit integer}}
module attributes {transformer.token_types = "2"} {}

// -----

// expected-error@+1 {{attribute 'transformer.few_tokens' is 0 : i64: expected a positive 64-bit integer}}
module attributes {transformer.few_tokens = 0 : i64} {}

// -----

// expected-error@+1 {{unknown attribute 'transformer.vocab' of the transformer dialect}}
module attributes {transformer.vocab = 97 : i64} {}

// -----

// expected-error@+1 {{attribute 'transformer.max_source' is 0 : i64: expected a positive 64-bit integer}}
module attributes {transformer.max_source = 0 : i64} {}

// -----

// expected-error@+1 {{attribute 'transformer.output' belongs on a function}}
module attributes {transformer.output = "logits"} {}

// -----

// expected-error@+1 {{attribute 'transformer.max_output_rows' belongs on a function}}
module attributes {transformer.max_output_rows = 8 : i64} {}

// -----

// expected-error@+1 {{attribute 'transformer.variant' belongs on a function}}
module attributes {transformer.variant = #transformer.variant<few>} {}

// -----

// expected-error@+1 {{attribute 'transformer.token_types' belongs on a module}}
func.func private @token_types(!transformer.batch) attributes {transformer.token_types = 2 : i64}

// -----

// expected-error@+1 {{attribute 'transformer.max_source' belongs on a module}}
func.func private @max_source(!transformer.batch) attributes {transformer.max_source = 64 : i64}

// -----

// expected-error@+1 {{attribute 'transformer.few_tokens' belongs on a module}}
func.func private @few_tokens(!transformer.batch) attributes {transformer.few_tokens = 8 : i64}

// -----

// expected-error@+1 {{attribute 'transformer.family' belongs on a module}}
func.func private @family(!transformer.batch) attributes {transformer.family = "llama"}

// -----

// expected-error@+1 {{attribute 'transformer.max_tokens' is 1.000000e+00 : f64: expected a positive 64-bit integer}}
func.func private @max_tokens(!transformer.batch) attributes {transformer.max_tokens = 1.0}

// -----

// expected-error@+1 {{attribute 'transformer.variant' is "few": expected few or many}}
func.func private @variant(!transformer.batch) attributes {transformer.variant = "few"}

// -----

// expected-error@+1 {{attribute 'transformer.family' is 1 : i64: expected a string}}
module attributes {transformer.family = 1 : i64} {}

// -----

func.func @operation(%b: !transformer.batch) {
  // expected-error@+1 {{attribute 'transformer.vocabulary' belongs on a module}}
  %0 = transformer.input_features %b {transformer.vocabulary = 97 : i64} : tensor<?x8xf32>
  return
}
