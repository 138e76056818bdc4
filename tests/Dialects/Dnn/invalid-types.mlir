// What types and attributes refuse.
// RUN: %tenon-opt %s -split-input-file -verify-diagnostics

// expected-error@below {{expected one of vector, row_major, panels, got tiles}}
func.func private @packed_layout(!dnn.packed<tiles, 6x8xf32>)

// -----

// expected-error@below {{expected two or three dimensions, got 1}}
func.func private @packed_dimensions(!dnn.packed<row_major, 6xf32>)

// -----

// expected-error@below {{expected two or three dimensions, got 4}}
func.func private @packed_four_dimensions(!dnn.packed<panels, 2x3x6x8xf32>)

// -----

// expected-error@below {{expected positive dimensions, got 1x0x8}}
func.func private @packed_empty(!dnn.packed<panels, 0x8xf32>)

// -----

// expected-error@below {{expected positive dimensions, got 0x6x8}}
func.func private @packed_none(!dnn.packed<panels, 0x6x8xf32>)

// -----

// expected-error@below {{expected one of f32, bf16, q8_0, q4_0, q4_1, q5_0, q5_1, q6_0, q4_k, q5_k, q6_k, iq4_nl, iq4_xs, mxfp4, u4_zp, got f16}}
func.func private @packed_format(!dnn.packed<panels, 6x8xf16>)

// -----

// expected-error@below {{expected a vector to be Nx1xf32}}
func.func private @packed_vector_columns(!dnn.packed<vector, 6x2xf32>)

// -----

// expected-error@below {{expected a vector to be Nx1xf32}}
func.func private @packed_vector_format(!dnn.packed<vector, 6x1xbf16>)

// -----

// expected-error@below {{expected panels of 3 matrices, got row_major}}
func.func private @packed_stack(!dnn.packed<row_major, 3x6x8xf32>)

// -----

// expected-error@below {{expected a CPU level, one of}}
module attributes {dnn.target = #dnn.target<i486, vector = 256, registers = 16, dot = [], library = [f32]>} {}

// -----

// expected-error@below {{expected 256 or 512 bits and 16 to 32 registers, got 128 and 16}}
module attributes {dnn.target = #dnn.target<avx2, vector = 128, registers = 16, dot = [], library = [f32]>} {}

// -----

// expected-error@below {{expected 256 or 512 bits and 16 to 32 registers, got 256 and 8}}
module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 8, dot = [], library = [f32]>} {}

// -----

// expected-error@below {{expected one of bf16, int8, int16, bf16_tile, int8_tile, got f16}}
module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [f16], library = [f32]>} {}

// -----

// expected-error@below {{expected at most the 256 bits and 16 registers of avx2, got 512 and 16}}
module attributes {dnn.target = #dnn.target<avx2, vector = 512, registers = 16, dot = [], library = [f32]>} {}

// -----

// expected-error@below {{expected at most the 256 bits and 16 registers of avx2, got 256 and 32}}
module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 32, dot = [], library = [f32]>} {}

// -----

// expected-error@below {{expected dot products of avx512_bf16, got int8_tile}}
module attributes {dnn.target = #dnn.target<avx512_bf16, vector = 512, registers = 32, dot = [bf16, int8_tile], library = [f32]>} {}

// -----

// expected-error@below {{expected panels of q4_k, got row_major}}
func.func private @rows(!dnn.packed<row_major, 8x256xq4_k>)

// -----

// expected-error@below {{expected codes of 8 or 16 bits, got 4}}
func.func private @grouped(tensor<?x32x!dnn.grouped<4>>)

// -----

// expected-error@below {{expected codes of 16 bits for int16, got 8}}
func.func private @grouped(tensor<?x32x!dnn.grouped<8, int16>>)

// -----

// expected-error@below {{expected a dot product of integers, got bf16}}
func.func private @grouped(tensor<?x32x!dnn.grouped<16, bf16>>)
