// Attributes of the dialect that are not its operations' own.
// RUN: %tenon-opt %s -split-input-file -verify-diagnostics

// expected-error@below {{unknown attribute 'dnn.cpu_level' of the dnn dialect}}
module attributes {dnn.cpu_level = "avx2"} {}

// -----

// expected-error@below {{attribute 'dnn.target' belongs on a module}}
func.func private @target_place() attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = [f32]>}

// -----

// expected-error@below {{attribute 'dnn.target' is "avx2": expected a #dnn.target}}
module attributes {dnn.target = "avx2"} {}

// -----

// expected-error@below {{attribute 'dnn.layout' belongs on a transformer.parameter}}
func.func private @layout_place() attributes {dnn.layout = #dnn.layout<panels>}

// -----

func.func @layout_value(%s: !transformer.scope) {
  // expected-error@below {{attribute 'dnn.layout' is "panels": expected a #dnn.layout}}
  %w = transformer.parameter %s "w" of ffn {dnn.layout = "panels"} : tensor<8x8xf32>
  return
}

// -----

func.func @layout_of_vector(%s: !transformer.scope) {
  // expected-error@below {{expected vector for one dimension, row_major or panels for more}}
  %w = transformer.parameter %s "w" of norm {dnn.layout = #dnn.layout<panels>} : tensor<8xf32>
  return
}

// -----

func.func @layout_of_matrix(%s: !transformer.scope) {
  // expected-error@below {{expected vector for one dimension, row_major or panels for more}}
  %w = transformer.parameter %s "w" of ffn {dnn.layout = #dnn.layout<vector>} : tensor<8x8xf32>
  return
}

// -----

// expected-error@below {{attribute 'dnn.arena_bytes' belongs on a module}}
func.func private @arena_place() attributes {dnn.arena_bytes = 64 : i64}

// -----

// expected-error@below {{attribute 'dnn.arena_bytes' is -1 : i64: expected a 64-bit integer of at least 0}}
module attributes {dnn.arena_bytes = -1 : i64} {}

// -----

// expected-error@below {{attribute 'dnn.arena_bytes' is 64 : i32: expected a 64-bit integer of at least 0}}
module attributes {dnn.arena_bytes = 64 : i32} {}

// -----

// expected-error@below {{attribute 'dnn.scratch_bytes' belongs on a module}}
func.func private @scratch_place() attributes {dnn.scratch_bytes = 64 : i64}

// -----

// expected-error@below {{attribute 'dnn.scratch_bytes' is -1 : i64: expected a 64-bit integer of at least 0}}
module attributes {dnn.scratch_bytes = -1 : i64} {}
