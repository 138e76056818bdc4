// Matmuls with quantised weights. A decode-sized batch multiplies codes as they
// are unpacked; for more rows a piece of the panel is widened first.
// RUN: %tenon-opt %s -split-input-file --generate-kernels --cse | FileCheck %s

!rows = memref<?x64xbf16>
!wide = memref<?x64xf32>
!out = memref<?x128xf32>
!four = !dnn.packed<panels, 128x64xq4_k>
!eight = !dnn.packed<panels, 128x64xq8_0>
module attributes {dnn.target = #dnn.target<avx512_bf16, vector = 512, registers = 32, dot = [bf16, int8], library = [f32, bf16]>} {
// Codes of 4 bits become pairs of bf16 by one look-up; a group of 32 features
// has a scale (an f16 times a byte) and a minimum, which the sum of the inputs
// is multiplied with.
// CHECK-LABEL: @few
// CHECK: %[[W:.*]] = dnn.weight_view %{{.*}} : <panels, 128x64xq4_k> -> memref<2x1x9472xi8>
// CHECK: scf.for
// CHECK: vector.load %[[W]]{{.*}} : memref<2x1x9472xi8>, vector<64xi8>
// CHECK: dnn.lookup %{{.*}} in %{{.*}} : vector<32xi16>, vector<16xbf16> -> vector<32xbf16>
// CHECK: x86vector.avx512.dot
// CHECK: vector.load %[[W]]{{.*}} vector<16xi8>
// CHECK: arith.sitofp
// CHECK: vector.load %[[W]]{{.*}} vector<32xi8>
// CHECK: arith.extf {{.*}} vector<16xf16> to vector<16xf32>
// CHECK: vector.reduction <add>
func.func private @few(%s: !transformer.scope, %b: !transformer.batch, %x: !rows, %o: !out) attributes {transformer.variant = #transformer.variant<few>} {
  %w = dnn.weight %s ["w"] of ffn index 0 : !four
  dnn.matmul %x weight %w outs(%o) : (!rows, !four, !out) -> ()
  return
}

// The piece is widened once, to pairs of bf16, and then multiplied like a panel
// of plain numbers, six rows at a time.
// CHECK-LABEL: @many
// CHECK: %[[PIECE:.*]] = memref.alloca() {{.*}} : memref<1x64x128xbf16>
// CHECK: dnn.lookup
// CHECK: vector.store %{{.*}}, %[[PIECE]]
// CHECK: vector.load %[[PIECE]]
// CHECK: x86vector.avx512.dot
// CHECK-NOT: dnn.lookup
func.func private @many(%s: !transformer.scope, %b: !transformer.batch, %x: !rows, %o: !out) attributes {transformer.variant = #transformer.variant<many>} {
  %w = dnn.weight %s ["w"] of ffn index 0 : !four
  dnn.matmul %x weight %w outs(%o) : (!rows, !four, !out) -> ()
  return
}

// Codes of 8 bits become f32: moved to the top of their lane they keep their
// sign, and the scale takes the power of two back.
// CHECK-LABEL: @bytes
// CHECK: vector.shuffle
// CHECK: arith.sitofp {{.*}} vector<16xi32> to vector<16xf32>
// CHECK: math.fma
// CHECK: arith.mulf %{{.*}}, %{{.*}} : vector<16xf32>
// CHECK-NOT: vector.reduction
func.func private @bytes(%s: !transformer.scope, %b: !transformer.batch, %x: !wide, %o: !out) attributes {transformer.variant = #transformer.variant<few>} {
  %w = dnn.weight %s ["w"] of ffn index 0 : !eight
  dnn.matmul %x weight %w outs(%o) : (!wide, !eight, !out) -> ()
  return
}
}
