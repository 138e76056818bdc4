// Reals print as the shortest decimal that reads back, and all ways of writing
// them are read.
// RUN: %tenon-opt %s --verify-roundtrip | FileCheck %s
// RUN: %tenon-opt %s --mlir-print-op-generic | %tenon-opt | FileCheck %s
// RUN: %tenon-opt %s --emit-bytecode | %tenon-opt | FileCheck %s

// CHECK-LABEL: @eps(
func.func @eps(%x: tensor<?x8xf32>, %w: tensor<8xf32>) {
  // CHECK-NEXT: eps 1e-06 :
  %0 = transformer.rms_norm %x, %w eps 1e-06 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: eps 1e-06 :
  %1 = transformer.rms_norm %x, %w eps 1.0e-6 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: eps 1e-06 :
  %2 = transformer.rms_norm %x, %w eps 0.000001 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: eps 1e-12 :
  %3 = transformer.rms_norm %x, %w eps 1.000000e-12 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: eps 1e-05 :
  %4 = transformer.rms_norm %x, %w eps 1e-5 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: eps 1.5e-05 :
  %5 = transformer.rms_norm %x, %w eps 1.5e-05 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: eps 0.1 :
  %6 = transformer.rms_norm %x, %w eps 0.1 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: eps 0.1 :
  %7 = transformer.rms_norm %x, %w eps 1.000000e-01 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  // CHECK-NEXT: eps 0.0 :
  %8 = transformer.rms_norm %x, %w eps 0.0 : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  return
}

// CHECK-LABEL: @factors(
func.func @factors(%x: tensor<?x8xf32>) {
  // CHECK-NEXT: by 10000.0 :
  %0 = transformer.scale %x by 10000.0 : tensor<?x8xf32>
  // CHECK-NEXT: by 10000.0 :
  %1 = transformer.scale %x by 1.0e+04 : tensor<?x8xf32>
  // CHECK-NEXT: by 10000.0 :
  %2 = transformer.scale %x by 1e4 : tensor<?x8xf32>
  // CHECK-NEXT: by 1.0e+10 :
  %3 = transformer.scale %x by 1.0e10 : tensor<?x8xf32>
  // CHECK-NEXT: by 1.0e+10 :
  %4 = transformer.scale %x by 1e10 : tensor<?x8xf32>
  // CHECK-NEXT: by -0.125 :
  %5 = transformer.scale %x by -0.125 : tensor<?x8xf32>
  // CHECK-NEXT: by -1e-06 :
  %6 = transformer.scale %x by -1e-06 : tensor<?x8xf32>
  // CHECK-NEXT: by -1.0e+10 :
  %7 = transformer.scale %x by -1.0e+10 : tensor<?x8xf32>
  // CHECK-NEXT: by -0.0 :
  %8 = transformer.scale %x by -0.0 : tensor<?x8xf32>
  // CHECK-NEXT: by 0.3333333333333333 :
  %9 = transformer.scale %x by 0.3333333333333333 : tensor<?x8xf32>
  // CHECK-NEXT: by 0.20412414523193154 :
  %10 = transformer.scale %x by 0.20412414523193154 : tensor<?x8xf32>
  // CHECK-NEXT: by 3.4028234663852886e+38 :
  %11 = transformer.scale %x by 3.4028234663852886e+38 : tensor<?x8xf32>
  return
}
