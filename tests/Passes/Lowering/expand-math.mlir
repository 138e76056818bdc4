// Functions of mathematics become arithmetic, a call would be an undefined symbol;
// masks become comparisons.
// RUN: %tenon-opt %s --expand-math | FileCheck %s --implicit-check-not="math.{{exp|erf|tanh}}" --implicit-check-not="create_mask"

// CHECK-LABEL: @functions
// CHECK: math.fma
// CHECK: return
func.func private @functions(%x: memref<16xf32>) {
  %0 = arith.constant 0 : index
  %1 = vector.load %x[%0] : memref<16xf32>, vector<16xf32>
  %2 = math.exp %1 : vector<16xf32>
  %3 = math.erf %2 : vector<16xf32>
  %4 = math.tanh %3 : vector<16xf32>
  vector.store %4, %x[%0] : memref<16xf32>, vector<16xf32>
  return
}

// Lane i is one of the first n when i < n, in words of 32 bits.
// CHECK-LABEL: @mask
// CHECK-DAG: %[[LANES:.*]] = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : vector<16xi32>
// CHECK-DAG: %[[N:.*]] = arith.index_cast %arg1 : index to i32
// CHECK: %[[ALL:.*]] = vector.broadcast %[[N]] : i32 to vector<16xi32>
// CHECK: %[[MASK:.*]] = arith.cmpi sgt, %[[ALL]], %[[LANES]] : vector<16xi32>
// CHECK: vector.maskedload %arg0[%{{.*}}], %[[MASK]]
func.func private @mask(%x: memref<16xf32>, %n: index) -> vector<16xf32> {
  %0 = arith.constant 0 : index
  %z = arith.constant dense<0.0> : vector<16xf32>
  %m = vector.create_mask %n : vector<16xi1>
  %1 = vector.maskedload %x[%0], %m, %z : memref<16xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
  return %1 : vector<16xf32>
}

// Square roots are instructions.
// CHECK-LABEL: @sqrt
// CHECK: math.sqrt
func.func private @sqrt(%x: f32) -> f32 {
  %0 = math.sqrt %x : f32
  return %0 : f32
}
