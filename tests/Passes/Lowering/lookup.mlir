// A look-up is the instruction of the level: bytes need their high bits masked,
// wider codes do not. Without a target, or where registers are too narrow, one
// entry after another is taken.
// RUN: %tenon-opt %s -split-input-file --convert-dnn-to-llvm | FileCheck %s --implicit-check-not=dnn.target

module attributes {dnn.target = #dnn.target<avx512, vector = 512, registers = 32, dot = [], library = []>} {
// CHECK-LABEL: llvm.func @wide
// CHECK-DAG: %[[TABLE:.*]] = llvm.bitcast %{{.*}} : vector<16xbf16> to vector<16xi16>
// CHECK: %[[TWICE:.*]] = llvm.shufflevector %[[TABLE]], %[[TABLE]] [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0,
// CHECK-NEXT: %[[PICKED:.*]] = llvm.call_intrinsic "llvm.x86.avx512.permvar.hi.512"(%[[TWICE]], %arg0)
// CHECK-NEXT: llvm.bitcast %[[PICKED]] : vector<32xi16> to vector<32xbf16>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.permvar.si.512"
// CHECK: llvm.and
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.pshuf.b.512"
func.func @wide(%c: vector<32xi16>, %t: vector<16xbf16>, %d: vector<16xi32>, %u: vector<16xf32>, %e: vector<64xi8>, %v: vector<16xi8>) -> (vector<32xbf16>, vector<16xf32>, vector<64xi8>) {
  %0 = dnn.lookup %c in %t : vector<32xi16>, vector<16xbf16> -> vector<32xbf16>
  %1 = dnn.lookup %d in %u : vector<16xi32>, vector<16xf32> -> vector<16xf32>
  %2 = dnn.lookup %e in %v : vector<64xi8>, vector<16xi8> -> vector<64xi8>
  return %0, %1, %2 : vector<32xbf16>, vector<16xf32>, vector<64xi8>
}
}

// -----

// Of narrower registers two for bytes, none for words.
module attributes {dnn.target = #dnn.target<avx2, vector = 256, registers = 16, dot = [], library = []>} {
// CHECK-LABEL: llvm.func @narrow
// CHECK: llvm.and
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.avx2.pshuf.b"
// CHECK-NOT: llvm.call_intrinsic
// CHECK: llvm.and
// CHECK-COUNT-16: llvm.insertelement
func.func @narrow(%c: vector<64xi8>, %t: vector<16xi8>, %d: vector<16xi32>, %u: vector<16xf32>) -> (vector<64xi8>, vector<16xf32>) {
  %0 = dnn.lookup %c in %t : vector<64xi8>, vector<16xi8> -> vector<64xi8>
  %1 = dnn.lookup %d in %u : vector<16xi32>, vector<16xf32> -> vector<16xf32>
  return %0, %1 : vector<64xi8>, vector<16xf32>
}
}
