// A CPU level that there is not.
// RUN: not %tenon-opt %s --convert-transformer-to-dnn="level=avx1024" 2>&1 | FileCheck %s

// CHECK: error: level: expected one of avx2, {{.*}}amx, got 'avx1024'
func.func @step(%b: !transformer.batch) {
  return
}
