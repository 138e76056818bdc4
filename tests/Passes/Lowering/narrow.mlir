// Two registers of f32 are narrowed to one of bf16 by one instruction, where the
// level has it; it takes the high half first.
// RUN: %tenon-opt %s -split-input-file --convert-dnn-to-llvm | FileCheck %s

module attributes {dnn.target = #dnn.target<avx512_bf16, vector = 512, registers = 32, dot = [bf16], library = []>} {
// CHECK-LABEL: llvm.func @pairs
// CHECK-DAG: %[[HIGH:.*]] = llvm.shufflevector %arg0, %arg0 [16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31]
// CHECK-DAG: %[[LOW:.*]] = llvm.shufflevector %arg0, %arg0 [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.cvtne2ps2bf16.512"(%[[HIGH]], %[[LOW]]) : (vector<16xf32>, vector<16xf32>) -> vector<32xbf16>
// CHECK-NOT: llvm.fptrunc
// CHECK-LABEL: llvm.func @one
// CHECK: llvm.fptrunc %arg0 : vector<16xf32> to vector<16xbf16>
func.func @pairs(%x: vector<32xf32>) -> vector<32xbf16> {
  %0 = arith.truncf %x : vector<32xf32> to vector<32xbf16>
  return %0 : vector<32xbf16>
}
func.func @one(%x: vector<16xf32>) -> vector<16xbf16> {
  %0 = arith.truncf %x : vector<16xf32> to vector<16xbf16>
  return %0 : vector<16xbf16>
}
}

// -----

module attributes {dnn.target = #dnn.target<avx512, vector = 512, registers = 32, dot = [], library = []>} {
// CHECK-LABEL: llvm.func @plain
// CHECK: llvm.fptrunc %arg0 : vector<32xf32> to vector<32xbf16>
func.func @plain(%x: vector<32xf32>) -> vector<32xbf16> {
  %0 = arith.truncf %x : vector<32xf32> to vector<32xbf16>
  return %0 : vector<32xbf16>
}
}
