// Constraints of linear layers, feed-forwards and matmuls, one test each.
// RUN: %tenon-opt %s -split-input-file -verify-diagnostics

func.func @linear_c1(%arg0: tensor<?x8xf32>, %arg1: tensor<6x9xf32>) {
  // expected-error@+1 {{linear_c1: weight input features: expected 8, got 9}}
  %0 = transformer.linear %arg0, %arg1 : (tensor<?x8xf32>, tensor<6x9xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @linear_c2(%arg0: tensor<?x8xf32>, %arg1: tensor<6x8xf32>, %arg2: tensor<8xf32>) {
  // expected-error@+1 {{linear_c2: weight bias elements: expected 6, got 8}}
  %0 = transformer.linear %arg0, %arg1 bias %arg2 : (tensor<?x8xf32>, tensor<6x8xf32>, tensor<8xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @feed_forward_c1(%arg0: tensor<?x8xf32>, %arg1: tensor<6x9xf32>, %arg2: tensor<8x6xf32>) {
  // expected-error@+1 {{feed_forward_c1: up input features: expected 8, got 9}}
  %0 = transformer.feed_forward relu %arg0 up %arg1 down %arg2 : (tensor<?x8xf32>, tensor<6x9xf32>, tensor<8x6xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @feed_forward_c1(%arg0: tensor<?x8xf32>, %arg1: tensor<6x8xf32>, %arg2: tensor<8x7xf32>) {
  // expected-error@+1 {{feed_forward_c1: down input features: expected 6, got 7}}
  %0 = transformer.feed_forward relu %arg0 up %arg1 down %arg2 : (tensor<?x8xf32>, tensor<6x8xf32>, tensor<8x7xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @feed_forward_c2(%arg0: tensor<?x8xf32>, %arg1: tensor<6x8xf32>, %arg2: tensor<8x6xf32>, %arg3: tensor<8xf32>) {
  // expected-error@+1 {{feed_forward_c2: up bias elements: expected 6, got 8}}
  %0 = transformer.feed_forward relu %arg0 up %arg1 bias %arg3 down %arg2 : (tensor<?x8xf32>, tensor<6x8xf32>, tensor<8x6xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @feed_forward_c2(%arg0: tensor<?x8xf32>, %arg1: tensor<6x8xf32>, %arg2: tensor<8x6xf32>, %arg3: tensor<6xf32>) {
  // expected-error@+1 {{feed_forward_c2: down bias elements: expected 8, got 6}}
  %0 = transformer.feed_forward relu %arg0 up %arg1 down %arg2 bias %arg3 : (tensor<?x8xf32>, tensor<6x8xf32>, tensor<8x6xf32>, tensor<6xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @gated_feed_forward_c1(%arg0: tensor<?x8xf32>, %arg1: tensor<6x9xf32>, %arg2: tensor<6x8xf32>, %arg3: tensor<8x6xf32>) {
  // expected-error@+1 {{gated_feed_forward_c1: gate input features: expected 8, got 9}}
  %0 = transformer.gated_feed_forward silu %arg0 gate %arg1 up %arg2 down %arg3 : (tensor<?x8xf32>, tensor<6x9xf32>, tensor<6x8xf32>, tensor<8x6xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @gated_feed_forward_c1(%arg0: tensor<?x8xf32>, %arg1: tensor<6x8xf32>, %arg2: tensor<6x7xf32>, %arg3: tensor<8x6xf32>) {
  // expected-error@+1 {{gated_feed_forward_c1: up input features: expected 8, got 7}}
  %0 = transformer.gated_feed_forward silu %arg0 gate %arg1 up %arg2 down %arg3 : (tensor<?x8xf32>, tensor<6x8xf32>, tensor<6x7xf32>, tensor<8x6xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @gated_feed_forward_c1(%arg0: tensor<?x8xf32>, %arg1: tensor<6x8xf32>, %arg2: tensor<6x8xf32>, %arg3: tensor<8x5xf32>) {
  // expected-error@+1 {{gated_feed_forward_c1: down input features: expected 6, got 5}}
  %0 = transformer.gated_feed_forward silu %arg0 gate %arg1 up %arg2 down %arg3 : (tensor<?x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<8x5xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @gated_feed_forward_c2(%arg0: tensor<?x8xf32>, %arg1: tensor<6x8xf32>, %arg2: tensor<6x8xf32>, %arg3: tensor<8x6xf32>, %arg4: tensor<5xf32>) {
  // expected-error@+1 {{gated_feed_forward_c2: gate bias elements: expected 6, got 5}}
  %0 = transformer.gated_feed_forward silu %arg0 gate %arg1 bias %arg4 up %arg2 down %arg3 : (tensor<?x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<8x6xf32>, tensor<5xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @gated_feed_forward_c2(%arg0: tensor<?x8xf32>, %arg1: tensor<6x8xf32>, %arg2: tensor<6x8xf32>, %arg3: tensor<8x6xf32>, %arg4: tensor<5xf32>) {
  // expected-error@+1 {{gated_feed_forward_c2: up bias elements: expected 6, got 5}}
  %0 = transformer.gated_feed_forward silu %arg0 gate %arg1 up %arg2 bias %arg4 down %arg3 : (tensor<?x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<8x6xf32>, tensor<5xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @gated_feed_forward_c2(%arg0: tensor<?x8xf32>, %arg1: tensor<6x8xf32>, %arg2: tensor<6x8xf32>, %arg3: tensor<8x6xf32>, %arg4: tensor<5xf32>) {
  // expected-error@+1 {{gated_feed_forward_c2: down bias elements: expected 8, got 5}}
  %0 = transformer.gated_feed_forward silu %arg0 gate %arg1 up %arg2 down %arg3 bias %arg4 : (tensor<?x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<8x6xf32>, tensor<5xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @gated_feed_forward_c3(%arg0: tensor<?x8xf32>, %arg1: tensor<6x8xf32>, %arg2: tensor<5x8xf32>, %arg3: tensor<8x5xf32>) {
  // expected-error@+1 {{gated_feed_forward_c3: up output features: expected 6, got 5}}
  %0 = transformer.gated_feed_forward silu %arg0 gate %arg1 up %arg2 down %arg3 : (tensor<?x8xf32>, tensor<6x8xf32>, tensor<5x8xf32>, tensor<8x5xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @matmul_c1(%arg0: tensor<?x8xf32>, %arg1: tensor<6x8xf32>, %arg2: tensor<6x9xf32>) {
  // expected-error@+1 {{matmul_c1: weight 1 input features: expected 8, got 9}}
  %0 = transformer.matmul %arg0 weights(%arg1, %arg2) : (tensor<?x8xf32>, tensor<6x8xf32>, tensor<6x9xf32>) -> tensor<?x12xf32>
  return
}

// -----

func.func @matmul_c2(%arg0: tensor<?x8xf32>, %arg1: tensor<6x8xf32>, %arg2: tensor<5xf32>) {
  // expected-error@+1 {{matmul_c2: weight 0 bias elements: expected 6, got 5}}
  %0 = transformer.matmul %arg0 weights(%arg1) biases(%arg2) : (tensor<?x8xf32>, tensor<6x8xf32>, tensor<5xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @matmul_c3(%arg0: tensor<?x8xf32>) {
  // expected-error@+1 {{matmul_c3: weights: expected at least one}}
  %0 = transformer.matmul %arg0 weights() : (tensor<?x8xf32>) -> tensor<?x0xf32>
  return
}

// -----

func.func @matmul_c4(%arg0: tensor<?x8xf32>, %arg1: tensor<6x8xf32>, %arg2: tensor<6xf32>) {
  // expected-error@+1 {{matmul_c4: biases: expected none or 2, got 1}}
  %0 = transformer.matmul %arg0 weights(%arg1, %arg1) biases(%arg2) : (tensor<?x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<6xf32>) -> tensor<?x12xf32>
  return
}

// -----

func.func @matmul_c5(%arg0: tensor<?x8xf32>, %arg1: tensor<6x8xf32>) {
  // expected-error@+1 {{matmul_c5: width of multiplier and residual: expected 6, got 8}}
  %0 = transformer.matmul %arg0 weights(%arg1) multiplier %arg0 : (tensor<?x8xf32>, tensor<6x8xf32>, tensor<?x8xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @matmul_c5(%arg0: tensor<?x8xf32>, %arg1: tensor<6x8xf32>) {
  // expected-error@+1 {{matmul_c5: width of multiplier and residual: expected 6, got 8}}
  %0 = transformer.matmul %arg0 weights(%arg1) residual %arg0 : (tensor<?x8xf32>, tensor<6x8xf32>, tensor<?x8xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @matmul_c6(%arg0: tensor<?x8xf32>, %arg1: tensor<6x8xf32>, %arg2: tensor<6x8xbf16>) {
  // expected-error@+1 {{matmul_c6: type of weight 1: expected 'f32', got 'bf16'}}
  %0 = transformer.matmul %arg0 weights(%arg1, %arg2) : (tensor<?x8xf32>, tensor<6x8xf32>, tensor<6x8xbf16>) -> tensor<?x12xf32>
  return
}

// -----

func.func @gated_matmul_c1(%arg0: tensor<?x8xf32>, %arg1: tensor<6x9xf32>, %arg2: tensor<6x8xf32>) {
  // expected-error@+1 {{gated_matmul_c1: gate input features: expected 8, got 9}}
  %0 = transformer.gated_matmul silu %arg0 gate %arg1 up %arg2 : (tensor<?x8xf32>, tensor<6x9xf32>, tensor<6x8xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @gated_matmul_c1(%arg0: tensor<?x8xf32>, %arg1: tensor<6x8xf32>, %arg2: tensor<6x9xf32>) {
  // expected-error@+1 {{gated_matmul_c1: up input features: expected 8, got 9}}
  %0 = transformer.gated_matmul silu %arg0 gate %arg1 up %arg2 : (tensor<?x8xf32>, tensor<6x8xf32>, tensor<6x9xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @gated_matmul_c2(%arg0: tensor<?x8xf32>, %arg1: tensor<6x8xf32>, %arg2: tensor<5xf32>) {
  // expected-error@+1 {{gated_matmul_c2: gate bias elements: expected 6, got 5}}
  %0 = transformer.gated_matmul silu %arg0 gate %arg1 bias %arg2 up %arg1 : (tensor<?x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<5xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @gated_matmul_c2(%arg0: tensor<?x8xf32>, %arg1: tensor<6x8xf32>, %arg2: tensor<5xf32>) {
  // expected-error@+1 {{gated_matmul_c2: up bias elements: expected 6, got 5}}
  %0 = transformer.gated_matmul silu %arg0 gate %arg1 up %arg1 bias %arg2 : (tensor<?x8xf32>, tensor<6x8xf32>, tensor<6x8xf32>, tensor<5xf32>) -> tensor<?x6xf32>
  return
}

// -----

func.func @gated_matmul_c3(%arg0: tensor<?x8xf32>, %arg1: tensor<6x8xf32>, %arg2: tensor<5x8xf32>) {
  // expected-error@+1 {{gated_matmul_c3: up output features: expected 6, got 5}}
  %0 = transformer.gated_matmul silu %arg0 gate %arg1 up %arg2 : (tensor<?x8xf32>, tensor<6x8xf32>, tensor<5x8xf32>) -> tensor<?x5xf32>
  return
}

// -----

func.func @gated_matmul_c4(%arg0: tensor<?x8xf32>, %arg1: tensor<6x8xf32>, %arg2: tensor<6x8xbf16>) {
  // expected-error@+1 {{gated_matmul_c4: type of up: expected 'f32', got 'bf16'}}
  %0 = transformer.gated_matmul silu %arg0 gate %arg1 up %arg2 : (tensor<?x8xf32>, tensor<6x8xf32>, tensor<6x8xbf16>) -> tensor<?x6xf32>
  return
}
