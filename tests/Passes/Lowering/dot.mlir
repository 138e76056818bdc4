// Dot products are the instruction of the level, on as many lanes as a register
// has. Without one they are products in 32 bits.
// RUN: %tenon-opt %s -split-input-file --convert-dnn-to-llvm | FileCheck %s

module attributes {dnn.target = #dnn.target<avx512_vnni, vector = 512, registers = 32, dot = [int8], library = []>} {
// CHECK-LABEL: llvm.func @wide
// CHECK-NEXT: %[[SUMS:.*]] = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%arg0, %arg1, %arg2) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
// CHECK-NEXT: llvm.return %[[SUMS]]
func.func @wide(%s: vector<16xi32>, %c: vector<64xi8>, %d: vector<64xi8>) -> vector<16xi32> {
  %0 = dnn.dot %s, %c by %d : vector<16xi32>, vector<64xi8>
  return %0 : vector<16xi32>
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2_vnni, vector = 256, registers = 16, dot = [int8], library = []>} {
// CHECK-LABEL: llvm.func @halves
// CHECK: llvm.shufflevector %arg0, %arg0 [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK: %[[LOW:.*]] = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"
// CHECK: llvm.shufflevector %arg0, %arg0 [8, 9, 10, 11, 12, 13, 14, 15]
// CHECK: llvm.shufflevector %arg2, %arg2 [32, 33, 34,
// CHECK: %[[HIGH:.*]] = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"
// CHECK: llvm.shufflevector %[[LOW]], %[[HIGH]] [0, 1, 2,
func.func @halves(%s: vector<16xi32>, %c: vector<64xi8>, %d: vector<64xi8>) -> vector<16xi32> {
  %0 = dnn.dot %s, %c by %d : vector<16xi32>, vector<64xi8>
  return %0 : vector<16xi32>
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
// CHECK-LABEL: llvm.func @words
// CHECK-NOT: llvm.call_intrinsic
// CHECK: llvm.shufflevector %arg1, %arg1 [0, 4, 8, 12,
// CHECK: llvm.zext
// CHECK: llvm.shufflevector %arg2, %arg2 [0, 4, 8, 12,
// CHECK: llvm.sext
// CHECK: llvm.mul
// CHECK: llvm.add
// CHECK: llvm.shufflevector %arg1, %arg1 [3, 7, 11,
func.func @words(%s: vector<16xi32>, %c: vector<64xi8>, %d: vector<64xi8>) -> vector<16xi32> {
  %0 = dnn.dot %s, %c by %d : vector<16xi32>, vector<64xi8>
  return %0 : vector<16xi32>
}
}

// -----

module attributes {dnn.target = #dnn.target<avx512, vector = 512, registers = 32, dot = [int16], library = []>} {
// CHECK-LABEL: llvm.func @pairs
// CHECK-NEXT: %[[PRODUCTS:.*]] = llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"(%arg1, %arg2) : (vector<32xi16>, vector<32xi16>) -> vector<16xi32>
// CHECK-NEXT: %[[SUMS:.*]] = llvm.add %arg0, %[[PRODUCTS]]
// CHECK-NEXT: llvm.return %[[SUMS]]
func.func @pairs(%s: vector<16xi32>, %c: vector<32xi16>, %d: vector<32xi16>) -> vector<16xi32> {
  %0 = dnn.dot %s, %c by %d : vector<16xi32>, vector<32xi16>
  return %0 : vector<16xi32>
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [int16], library = []>} {
// CHECK-LABEL: llvm.func @halves_of_pairs
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
// CHECK: llvm.shufflevector %arg2, %arg2 [16, 17, 18,
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"
func.func @halves_of_pairs(%s: vector<16xi32>, %c: vector<32xi16>, %d: vector<32xi16>) -> vector<16xi32> {
  %0 = dnn.dot %s, %c by %d : vector<16xi32>, vector<32xi16>
  return %0 : vector<16xi32>
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
// CHECK-LABEL: llvm.func @pairs_in_words
// CHECK-NOT: llvm.call_intrinsic
// CHECK: llvm.shufflevector %arg1, %arg1 [0, 2, 4, 6,
// CHECK: llvm.sext
// CHECK: llvm.shufflevector %arg2, %arg2 [0, 2, 4, 6,
// CHECK: llvm.sext
// CHECK: llvm.mul
// CHECK: llvm.add
// CHECK: llvm.shufflevector %arg1, %arg1 [1, 3, 5,
func.func @pairs_in_words(%s: vector<16xi32>, %c: vector<32xi16>, %d: vector<32xi16>) -> vector<16xi32> {
  %0 = dnn.dot %s, %c by %d : vector<16xi32>, vector<32xi16>
  return %0 : vector<16xi32>
}
}

// -----

module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [int16], library = []>} {
// CHECK-LABEL: llvm.func @narrow
// CHECK: llvm.shufflevector %arg0, %arg0 [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
// CHECK: %[[PRODUCTS:.*]] = llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"{{.*}} -> vector<16xi16>
// CHECK: llvm.add {{.*}}, %[[PRODUCTS]]
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.ub.sw"
func.func @narrow(%s: vector<32xi16>, %c: vector<64xi8>, %d: vector<64xi8>) -> vector<32xi16> {
  %0 = dnn.dot %s, %c by %d : vector<32xi16>, vector<64xi8>
  return %0 : vector<32xi16>
}
}
