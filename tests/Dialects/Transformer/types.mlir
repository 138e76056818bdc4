// Types, attributes and the attributes that describe a model.
// RUN: %tenon-opt %s --verify-roundtrip | FileCheck %s
// RUN: %tenon-opt %s --mlir-print-op-generic | %tenon-opt | FileCheck %s
// RUN: %tenon-opt %s --emit-bytecode | %tenon-opt | FileCheck %s

// CHECK-LABEL: module
// CHECK-SAME: transformer.compute_type = "f32"
// CHECK-SAME: transformer.family = "llama"
// CHECK-SAME: transformer.few_tokens = 8 : i64
// CHECK-SAME: transformer.max_sequence = 128 : i64
// CHECK-SAME: transformer.max_source = 64 : i64
// CHECK-SAME: transformer.token_types = 2 : i64
// CHECK-SAME: transformer.vocabulary = 97 : i64
module attributes {
  transformer.compute_type = "f32",
  transformer.family = "llama", transformer.few_tokens = 8 : i64,
  transformer.max_sequence = 128 : i64, transformer.max_source = 64 : i64, transformer.token_types = 2 : i64,
  transformer.vocabulary = 97 : i64
} {
  // CHECK: func.func private @quantised(tensor<97x64x!transformer.quant<iq4_nl>>)
  func.func private @quantised(tensor<97x64x!transformer.quant<iq4_nl>>)
  // CHECK: func.func private @step(!transformer.batch, !transformer.scope, !transformer.cache<3x24xf32>, !transformer.cache<1x128xbf16>)
  // CHECK-SAME: transformer.max_output_rows = 8 : i64
  // CHECK-SAME: transformer.max_tokens = 512 : i64
  // CHECK-SAME: transformer.output = "logits"
  // CHECK-SAME: transformer.role = "step"
  func.func private @step(!transformer.batch, !transformer.scope, !transformer.cache<3x24xf32>, !transformer.cache<1x128xbf16>)
    attributes {transformer.role = "step", transformer.output = "logits",
                transformer.max_tokens = 512 : i64, transformer.max_output_rows = 8 : i64}
  // CHECK: transformer.role = "encode"
  func.func private @encode(!transformer.batch)
    attributes {transformer.role = "encode", transformer.output = "hidden"}
  // CHECK: transformer.role = "embed"
  func.func private @embed(!transformer.batch)
    attributes {transformer.role = "embed", transformer.output = "pooled"}

  // CHECK: transformer.output = "classes"
  // CHECK-SAME: transformer.role = "encode_image"
  func.func private @classify(!transformer.batch)
    attributes {transformer.role = "encode_image", transformer.output = "classes"}
  // CHECK: transformer.variant = #transformer.variant<few>
  func.func private @f.few(!transformer.batch) attributes {transformer.variant = #transformer.variant<few>}
  // CHECK: transformer.variant = #transformer.variant<many>
  func.func private @f.many(!transformer.batch) attributes {transformer.variant = #transformer.variant<many>}
  // An entry may look up other tokens.
  // CHECK: transformer.vocabulary = 61 : i64
  func.func private @source(!transformer.batch)
    attributes {transformer.vocabulary = 61 : i64}
  // CHECK: #transformer.sinusoid<half>
  func.func private @sinusoid() attributes {test.a = #transformer.sinusoid<half>}
  // CHECK: #transformer.sinusoid<interleaved>
  func.func private @interleaved() attributes {test.a = #transformer.sinusoid<interleaved>}
  // CHECK: !transformer.cache<cross 3x24xbf16>
  func.func private @cross(!transformer.cache<cross 3x24xbf16>)
  // CHECK: !transformer.cache<latent 1x40xf32>
  func.func private @latent(!transformer.cache<latent 1x40xf32>)
  // A plain one is called nothing.
  // CHECK: !transformer.cache<3x24xbf16>
  func.func private @sequence(!transformer.cache<sequence 3x24xbf16>)

  // A real prints as the shortest decimal that reads back.
  // CHECK: #transformer.rope<half, dim = 64, base = 0.1>
  func.func private @short() attributes {test.rope = #transformer.rope<half, dim = 64, base = 0.1000>}
  // CHECK: #transformer.rope<half, dim = 64, base = 1.0e+07>
  func.func private @exponent() attributes {test.rope = #transformer.rope<half, dim = 64, base = 10000000.0>}
  // CHECK: #transformer.rope<half, dim = 64, base = 10000.0>
  func.func private @scientific() attributes {test.rope = #transformer.rope<half, dim = 64, base = 1.0e+04>}
  // CHECK: #transformer.rope<half, dim = 64, base = 1e-06>
  func.func private @small() attributes {test.rope = #transformer.rope<half, dim = 64, base = 0.000001>}
  // CHECK: #transformer.rope<interleaved, dim = 2, base = 10000.5, linear(factor = 0.3333333333333333)>
  func.func private @linear() attributes {test.rope = #transformer.rope<interleaved, dim = 2, base = 10000.5, linear(factor = 0.3333333333333333)>}
}
