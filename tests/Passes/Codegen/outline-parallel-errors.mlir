// The pool is found through the batch.
// RUN: %tenon-opt %s --outline-parallel -verify-diagnostics

func.func @no_batch() {
  // expected-error@below {{expected a function with an argument of type !transformer.batch}}
  dnn.parallel %t of %n {
  }
  return
}
