// Functions of mathematics become arithmetic: a call would be an undefined
// symbol.
// RUN: %tenon-opt %s --lower-to-llvm | FileCheck %s --implicit-check-not="llvm.func @" --implicit-check-not="llvm.call" --implicit-check-not="math."

// CHECK-LABEL: llvm.func internal @functions(
// CHECK: llvm.return
func.func private @functions(%b: !transformer.batch, %x: memref<16xf32>) {
  %0 = arith.constant 0 : index
  %1 = vector.load %x[%0] : memref<16xf32>, vector<16xf32>
  %2 = math.exp %1 : vector<16xf32>
  %3 = math.erf %2 : vector<16xf32>
  %4 = math.tanh %3 : vector<16xf32>
  vector.store %4, %x[%0] : memref<16xf32>, vector<16xf32>
  return
}
