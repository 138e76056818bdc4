// Constraints of mixtures of experts, one test each.
// RUN: %tenon-opt %s -split-input-file -verify-diagnostics

func.func @moe_c1(%arg0: tensor<?x8xf32>, %arg1: tensor<?x6xf32>, %arg2: tensor<6x4x7xf32>, %arg3: tensor<6x4x8xf32>, %arg4: tensor<6x8x4xf32>) {
  // expected-error@+1 {{moe_c1: gate: expected 6x4x8, got 6x4x7}}
  %0 = transformer.moe silu %arg0, %arg1 <softmax, top = 2> gate %arg2 up %arg3 down %arg4 : (tensor<?x8xf32>, tensor<?x6xf32>, tensor<6x4x7xf32>, tensor<6x4x8xf32>, tensor<6x8x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @moe_c1(%arg0: tensor<?x8xf32>, %arg1: tensor<?x6xf32>, %arg2: tensor<6x4x8xf32>, %arg3: tensor<5x4x8xf32>, %arg4: tensor<6x8x4xf32>) {
  // expected-error@+1 {{moe_c1: up: expected 6x4x8, got 5x4x8}}
  %0 = transformer.moe silu %arg0, %arg1 <softmax, top = 2> gate %arg2 up %arg3 down %arg4 : (tensor<?x8xf32>, tensor<?x6xf32>, tensor<6x4x8xf32>, tensor<5x4x8xf32>, tensor<6x8x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @moe_c1(%arg0: tensor<?x8xf32>, %arg1: tensor<?x6xf32>, %arg2: tensor<6x4x8xf32>, %arg3: tensor<6x4x8xf32>, %arg4: tensor<6x4x8xf32>) {
  // expected-error@+1 {{moe_c1: down: expected 6x8x4, got 6x4x8}}
  %0 = transformer.moe silu %arg0, %arg1 <softmax, top = 2> gate %arg2 up %arg3 down %arg4 : (tensor<?x8xf32>, tensor<?x6xf32>, tensor<6x4x8xf32>, tensor<6x4x8xf32>, tensor<6x4x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @moe_c1(%arg0: tensor<?x8xf32>, %arg1: tensor<?x6xf32>, %arg2: tensor<6x4x8xf32>, %arg3: tensor<6x4x8xf32>, %arg4: tensor<6x8x4xf32>, %arg5: tensor<6x8xf32>) {
  // expected-error@+1 {{moe_c1: gate bias: expected 6x4, got 6x8}}
  %0 = transformer.moe silu %arg0, %arg1 <softmax, top = 2> gate %arg2 bias %arg5 up %arg3 down %arg4 : (tensor<?x8xf32>, tensor<?x6xf32>, tensor<6x4x8xf32>, tensor<6x4x8xf32>, tensor<6x8x4xf32>, tensor<6x8xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @moe_c1(%arg0: tensor<?x8xf32>, %arg1: tensor<?x6xf32>, %arg2: tensor<6x4x8xf32>, %arg3: tensor<6x4x8xf32>, %arg4: tensor<6x8x4xf32>, %arg5: tensor<4x6xf32>) {
  // expected-error@+1 {{moe_c1: up bias: expected 6x4, got 4x6}}
  %0 = transformer.moe silu %arg0, %arg1 <softmax, top = 2> gate %arg2 up %arg3 bias %arg5 down %arg4 : (tensor<?x8xf32>, tensor<?x6xf32>, tensor<6x4x8xf32>, tensor<6x4x8xf32>, tensor<6x8x4xf32>, tensor<4x6xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @moe_c1(%arg0: tensor<?x8xf32>, %arg1: tensor<?x6xf32>, %arg2: tensor<6x4x8xf32>, %arg3: tensor<6x4x8xf32>, %arg4: tensor<6x8x4xf32>, %arg5: tensor<6x4xf32>) {
  // expected-error@+1 {{moe_c1: down bias: expected 6x8, got 6x4}}
  %0 = transformer.moe silu %arg0, %arg1 <softmax, top = 2> gate %arg2 up %arg3 down %arg4 bias %arg5 : (tensor<?x8xf32>, tensor<?x6xf32>, tensor<6x4x8xf32>, tensor<6x4x8xf32>, tensor<6x8x4xf32>, tensor<6x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @moe_c2(%arg0: tensor<?x8xf32>, %arg1: tensor<?x5xf32>, %arg2: tensor<6x4x8xf32>, %arg3: tensor<6x4x8xf32>, %arg4: tensor<6x8x4xf32>) {
  // expected-error@+1 {{moe_c2: width of logits: expected 6, got 5}}
  %0 = transformer.moe silu %arg0, %arg1 <softmax, top = 2> gate %arg2 up %arg3 down %arg4 : (tensor<?x8xf32>, tensor<?x5xf32>, tensor<6x4x8xf32>, tensor<6x4x8xf32>, tensor<6x8x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @moe_c3(%arg0: tensor<?x8xf32>, %arg1: tensor<?x6xf32>, %arg2: tensor<6x4x8xf32>, %arg3: tensor<6x4x8xf32>, %arg4: tensor<6x8x4xf32>, %arg5: tensor<8xf32>) {
  // expected-error@+1 {{moe_c3: correction elements: expected 6, got 8}}
  %0 = transformer.moe silu %arg0, %arg1 <softmax, top = 2> correction %arg5 gate %arg2 up %arg3 down %arg4 : (tensor<?x8xf32>, tensor<?x6xf32>, tensor<8xf32>, tensor<6x4x8xf32>, tensor<6x4x8xf32>, tensor<6x8x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @moe_c4(%arg0: tensor<?x8xf32>, %arg1: tensor<?x6xf32>, %arg2: tensor<6x4x8xf32>, %arg3: tensor<6x4x8xf32>, %arg4: tensor<6x8x4xf32>) {
  // expected-error@+1 {{moe_c4: groups: expected a divisor of 6 experts, got 4}}
  %0 = transformer.moe silu %arg0, %arg1 <softmax, top = 2, groups = 4 keep 2> gate %arg2 up %arg3 down %arg4 : (tensor<?x8xf32>, tensor<?x6xf32>, tensor<6x4x8xf32>, tensor<6x4x8xf32>, tensor<6x8x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @moe_c5(%arg0: tensor<?x8xf32>, %arg1: tensor<?x6xf32>, %arg2: tensor<6x4x8xf32>, %arg3: tensor<6x4x8xf32>, %arg4: tensor<6x8x4xf32>) {
  // expected-error@+1 {{moe_c5: top: expected at most the 6 experts to choose from, got 7}}
  %0 = transformer.moe silu %arg0, %arg1 <softmax, top = 7> gate %arg2 up %arg3 down %arg4 : (tensor<?x8xf32>, tensor<?x6xf32>, tensor<6x4x8xf32>, tensor<6x4x8xf32>, tensor<6x8x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @moe_c5(%arg0: tensor<?x8xf32>, %arg1: tensor<?x6xf32>, %arg2: tensor<6x4x8xf32>, %arg3: tensor<6x4x8xf32>, %arg4: tensor<6x8x4xf32>) {
  // expected-error@+1 {{moe_c5: top: expected at most the 2 experts to choose from, got 3}}
  %0 = transformer.moe silu %arg0, %arg1 <softmax, top = 3, groups = 3 keep 1> gate %arg2 up %arg3 down %arg4 : (tensor<?x8xf32>, tensor<?x6xf32>, tensor<6x4x8xf32>, tensor<6x4x8xf32>, tensor<6x8x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @moe_c6(%arg0: tensor<?x8xf32>, %arg1: tensor<?x6xf32>, %arg2: tensor<6x4x8xf32>, %arg3: tensor<6x4x8xf32>, %arg4: tensor<6x8x4xf32>) {
  // expected-error@+1 {{moe_c6: limit: expected a positive number, got 0.000000e+00}}
  %0 = transformer.moe silu %arg0, %arg1 <softmax, top = 2> gate %arg2 up %arg3 down %arg4 limit 0.0 : (tensor<?x8xf32>, tensor<?x6xf32>, tensor<6x4x8xf32>, tensor<6x4x8xf32>, tensor<6x8x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @moe_c6_offset(%arg0: tensor<?x8xf32>, %arg1: tensor<?x6xf32>, %arg2: tensor<6x4x8xf32>, %arg3: tensor<6x4x8xf32>, %arg4: tensor<6x8x4xf32>) {
  // expected-error@+1 {{moe_c6: up_offset: expected a finite number, got }}
  %0 = transformer.moe silu %arg0, %arg1 <softmax, top = 2> gate %arg2 up %arg3 down %arg4 limit 7.0 up_offset 0x7FF0000000000000 : (tensor<?x8xf32>, tensor<?x6xf32>, tensor<6x4x8xf32>, tensor<6x4x8xf32>, tensor<6x8x4xf32>) -> tensor<?x8xf32>
  return
}

// -----

func.func @moe_c7(%arg0: tensor<?x8xf32>, %arg1: tensor<?x6xf32>, %arg2: tensor<6x4x8xbf16>, %arg3: tensor<6x4x8xf32>, %arg4: tensor<6x8x4xf32>) {
  // expected-error@+1 {{moe_c7: type of up: expected 'bf16', got 'f32'}}
  %0 = transformer.moe silu %arg0, %arg1 <softmax, top = 2> gate %arg2 up %arg3 down %arg4 : (tensor<?x8xf32>, tensor<?x6xf32>, tensor<6x4x8xbf16>, tensor<6x4x8xf32>, tensor<6x8x4xf32>) -> tensor<?x8xf32>
  return
}
