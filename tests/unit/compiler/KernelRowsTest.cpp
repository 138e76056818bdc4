//===- KernelRowsTest.cpp - Kernels of rows and matmuls -------------------===//
//
// Each operation against the evaluator, at sizes around those that code
// generation handles apart: 1, 4, 8, 16, 64 and odd ones.
//
//===----------------------------------------------------------------------===//

#include "KernelTestSupport.h"

using namespace tenon;

namespace {

/// One line of a table: widths of inputs and output, and an operation on them.
/// {N} is the width of a line's inputs, `Settings` has the rest.
struct RowLine {
  const char *Name;
  std::vector<std::string> Inputs;
  const char *Before; ///< Weights and tables.
  const char *Op;     ///< Up to its destination.
  const char *Types;  ///< Of operands but the destination, to `(`.
  std::vector<int64_t> Sizes = {1, 5, 16, 63, 64, 100};
  const char *Output = "{N}";
};

KernelCase caseOf(const RowLine &Line, int64_t N, const std::string &Type) {
  KernelCase Case;
  Case.Name = std::string(Line.Name) + " " + std::to_string(N) + " " + Type;
  Case.Inputs = Line.Inputs;
  Case.Output = Line.Output;
  Case.Settings = {
      {"N", std::to_string(N)}, {"N2", std::to_string(2 * N)}, {"F", Type}};
  std::string Out = "tensor<?x" + std::string(Line.Output) + "xf32>";
  Case.Body = std::string(Line.Before) + "\n%o = tensor.empty(%t) : " + Out +
              "\n%r = " + Line.Op + " outs(%o) : (" + Line.Types + ", " + Out +
              ") -> " + Out;
  Case.Steps = {{1}, {3}, {8}, {17}, {64}, {30, 1, 5}};
  return Case;
}

constexpr const char *Norm =
    "%w = dnn.weight %s [\"w\"] of norm : <vector, {N}x1xf32>\n"
    "%v = dnn.weight %s [\"v\"] of norm : <vector, {N}x1xf32>";

const RowLine Rows[] = {
    {"layer_norm",
     {"{N}"},
     Norm,
     "dnn.layer_norm %x0, %w, %v eps 0.001",
     "tensor<?x{N}xf32>, !dnn.packed<vector, {N}x1xf32>, "
     "!dnn.packed<vector, {N}x1xf32>",
     {5, 16, 63, 64, 100}},
    {"layer_norm groups",
     {"{N2}"},
     Norm,
     "dnn.layer_norm %x0, %w eps 0.001 groups 2",
     "tensor<?x{N2}xf32>, !dnn.packed<vector, {N}x1xf32>",
     {5, 16, 63, 64},
     "{N2}"},
    {"rms_norm",
     {"{N}"},
     Norm,
     "dnn.rms_norm %x0, %w eps 0.001 offset 1.0",
     "tensor<?x{N}xf32>, !dnn.packed<vector, {N}x1xf32>"},
    {"rms_norm groups",
     {"{N2}"},
     Norm,
     "dnn.rms_norm %x0, %w eps 0.5 groups 2",
     "tensor<?x{N2}xf32>, !dnn.packed<vector, {N}x1xf32>",
     {1, 16, 63, 64},
     "{N2}"},
    {"residual",
     {"{N}", "{N}"},
     "",
     "dnn.residual %x0, %x1",
     "tensor<?x{N}xf32>, tensor<?x{N}xf32>"},
    {"scale", {"{N}"}, "", "dnn.scale %x0 by 0.375", "tensor<?x{N}xf32>"},
    {"soft_cap", {"{N}"}, "", "dnn.soft_cap %x0 at 0.5", "tensor<?x{N}xf32>"},
    {"clamp", {"{N}"}, "", "dnn.clamp %x0 at 0.5", "tensor<?x{N}xf32>"},
    {"sigmoid_gate",
     {"{N}", "1"},
     "",
     "dnn.sigmoid_gate %x0, %x1",
     "tensor<?x{N}xf32>, tensor<?x1xf32>"},
    {"slice", {"{N2}"}, "", "dnn.slice %x0 from {N}", "tensor<?x{N2}xf32>"},
    {"class_token",
     {"{N}"},
     Norm,
     "dnn.class_token %x0, %b, %w",
     "tensor<?x{N}xf32>, !batch, !dnn.packed<vector, {N}x1xf32>"},
    {"embedding rows",
     {"1"},
     "%w = dnn.weight %s [\"w\"] of embedding : <row_major, 9x{N}x{F}>",
     "dnn.embedding token %b, %w offset 2",
     "!batch, !dnn.packed<row_major, 9x{N}x{F}>"},
    {"embedding panels",
     {"1"},
     "%w = dnn.weight %s [\"w\"] of embedding : <panels, 70x{N}x{F}>",
     "dnn.embedding token %b, %w",
     "!batch, !dnn.packed<panels, 70x{N}x{F}>"},
    {"embedding positions",
     {"1"},
     "%w = dnn.weight %s [\"w\"] of embedding : <row_major, 70x{N}x{F}>",
     "dnn.embedding position %b, %w",
     "!batch, !dnn.packed<row_major, 70x{N}x{F}>",
     {16, 63}},
};

TEST_F(KernelTest, Rows) {
  for (const RowLine &Line : Rows)
    for (int64_t N : Line.Sizes) {
      check(caseOf(Line, N, "f32"));
      if (llvm::StringRef(Line.Name).starts_with("embedding"))
        check(caseOf(Line, N, "bf16"));
    }
}

/// The token is among those of some batches, and of none of others.
TEST_F(KernelTest, MergeFeatures) {
  for (int64_t N : {1, 16, 37, 100}) {
    KernelCase Case;
    Case.Name = "merge_features " + std::to_string(N);
    Case.Inputs = {"{N}"};
    Case.Output = "{N}";
    Case.Settings = {{"N", std::to_string(N)}};
    Case.Body = R"(
      %o = tensor.empty(%t) : tensor<?x{N}xf32>
      %y = dnn.scale %x0 by 2.0 outs(%o)
          : (tensor<?x{N}xf32>, tensor<?x{N}xf32>) -> tensor<?x{N}xf32>
      %p = tensor.empty(%t) : tensor<?x{N}xf32>
      %r = dnn.merge_features %y, %b token 5 outs(%p) : (tensor<?x{N}xf32>,
          !batch, tensor<?x{N}xf32>) -> tensor<?x{N}xf32>)";
    Case.Steps = {{1}, {3}, {8}, {17}, {64}, {30, 1, 5}};
    check(Case);
  }
}

TEST_F(KernelTest, Activations) {
  for (const auto &Info : tenon::Activations) {
    std::string Op = "dnn.activation " + std::string(Info.Name) + " %x0";
    for (int64_t N : {1, 37, 64})
      check(caseOf({"activation", {"{N}"}, "", Op.c_str(), "tensor<?x{N}xf32>"},
                   N, "f32"));
  }
}

/// Two destinations, one of them bf16, and casts of both ways.
TEST_F(KernelTest, AddNormAndCasts) {
  for (const char *Kind : {"layer", "rms"})
    for (int64_t N : {1, 16, 37, 64}) {
      if (N == 1 && llvm::StringRef(Kind) == "layer")
        continue; // Nothing is left of a row of one.
      KernelCase Case;
      Case.Name = std::string("add_norm ") + Kind + " " + std::to_string(N);
      Case.Inputs = {"{N}", "{N}"};
      Case.Output = "{N}";
      Case.Settings = {{"N", std::to_string(N)}, {"K", Kind}};
      Case.Body = R"(
        %w = dnn.weight %s ["w"] of norm : <vector, {N}x1xf32>
        %o = tensor.empty(%t) : tensor<?x{N}xf32>
        %p = tensor.empty(%t) : tensor<?x{N}xbf16>
        %n:2 = dnn.add_norm {K} %x0, %x1 weight %w eps 0.001 outs(%o, %p)
            : (tensor<?x{N}xf32>, tensor<?x{N}xf32>,
               !dnn.packed<vector, {N}x1xf32>, tensor<?x{N}xf32>,
               tensor<?x{N}xbf16>) -> (tensor<?x{N}xf32>, tensor<?x{N}xbf16>)
        %q = tensor.empty(%t) : tensor<?x{N}xf32>
        %y = dnn.cast %n#1 outs(%q) : (tensor<?x{N}xbf16>, tensor<?x{N}xf32>)
            -> tensor<?x{N}xf32>
        %u = tensor.empty(%t) : tensor<?x{N}xf32>
        %r = dnn.residual %n#0, %y outs(%u) : (tensor<?x{N}xf32>,
            tensor<?x{N}xf32>, tensor<?x{N}xf32>) -> tensor<?x{N}xf32>)";
      check(Case);
    }
}

TEST_F(KernelTest, Ropes) {
  for (const char *Style : {"half", "interleaved"})
    for (int64_t Dim : {2, 16, 24}) {
      KernelCase Case;
      Case.Name = std::string("rope ") + Style + " " + std::to_string(Dim);
      // Three heads; what is rotated begins at the fifth of each.
      Case.Inputs = {std::to_string(3 * (5 + Dim))};
      Case.Output = Case.Inputs.front();
      Case.Settings = {
          {"W", Case.Output}, {"D", std::to_string(Dim)}, {"S", Style}};
      Case.Body = R"(
        %w = dnn.table #transformer.rope<{S}, dim = {D}, base = 100.0> in %s
            : <row_major, 192x{D}xf32>
        %o = tensor.empty(%t) : tensor<?x{W}xf32>
        %r = dnn.rope %x0, %b heads 3 from 5 <{S}, dim = {D}, base = 100.0>
            table %w outs(%o) : (tensor<?x{W}xf32>, !batch,
            !dnn.packed<row_major, 192x{D}xf32>, tensor<?x{W}xf32>)
            -> tensor<?x{W}xf32>)";
      Case.Steps = {{1}, {5}, {64}, {30, 1, 5}, {0, 1, 1, 1}, {0, 7, 2, 9}};
      check(Case);
    }
}

TEST_F(KernelTest, RowsOfTheBatch) {
  for (int64_t N : {1, 16, 37, 64}) {
    KernelCase Case;
    Case.Inputs = {"{N}"};
    Case.Output = "{N}";
    Case.Settings = {{"N", std::to_string(N)}};
    Case.Steps = {{1}, {4}, {17}, {64}, {3, 1, 2}, {30, 1, 5}};
    Case.Name = "select_output_rows";
    Case.Rows = "output_rows";
    Case.Body = R"(
      %k = dnn.count output_rows %b
      %o = tensor.empty(%k) : tensor<?x{N}xf32>
      %r = dnn.select_output_rows %x0, %b outs(%o) : (tensor<?x{N}xf32>, !batch,
          tensor<?x{N}xf32>) -> tensor<?x{N}xf32>)";
    check(Case);
    Case.Name = "pool";
    Case.Rows = "sequences";
    for (const char *Kind : {"cls", "mean", "last"})
      for (const char *Normalize : {"", "normalize"}) {
        Case.Settings["P"] = Kind;
        Case.Settings["Z"] = Normalize;
        Case.Body = R"(
          %k = dnn.count sequences %b
          %o = tensor.empty(%k) : tensor<?x{N}xf32>
          %r = dnn.pool {P} %x0, %b {Z} outs(%o) : (tensor<?x{N}xf32>, !batch,
              tensor<?x{N}xf32>) -> tensor<?x{N}xf32>)";
        check(Case);
      }
  }
}

//===----------------------------------------------------------------------===//
// Matmuls
//===----------------------------------------------------------------------===//

struct MatmulLine {
  int64_t N, K;
  const char *Format;
  bool HasAll; ///< Bias, activation, multiplier and residual.
};

const MatmulLine Matmuls[] = {
    {1, 1, "f32", false},    {4, 8, "f32", true},     {16, 16, "f32", false},
    {64, 64, "f32", true},   {63, 65, "f32", true},   {97, 37, "f32", false},
    {200, 130, "f32", true}, {1, 1, "bf16", false},   {4, 8, "bf16", true},
    {16, 16, "bf16", false}, {64, 64, "bf16", true},  {63, 65, "bf16", true},
    {97, 37, "bf16", false}, {200, 130, "bf16", true}};

TEST_F(KernelTest, Matmuls) {
  for (const MatmulLine &Line : Matmuls) {
    KernelCase Case;
    Case.Name = "matmul " + std::to_string(Line.N) + "x" +
                std::to_string(Line.K) + " " + Line.Format +
                (Line.HasAll ? " all" : "");
    Case.Inputs = {"{K}", "{N}", "{N}"};
    Case.Output = "{N}";
    Case.Settings = {{"N", std::to_string(Line.N)},
                     {"K", std::to_string(Line.K)},
                     {"F", Line.Format}};
    Case.Body = "%w = dnn.weight %s [\"w\"] of ffn : <panels, {N}x{K}x{F}>\n"
                "%v = dnn.weight %s [\"v\"] of ffn : <vector, {N}x1xf32>\n"
                "%o = tensor.empty(%t) : tensor<?x{N}xf32>\n%r = dnn.matmul "
                "%x0 weight %w ";
    Case.Body += Line.HasAll
                     ? "bias %v activation gelu_tanh multiplier %x1 residual "
                       "%x2 outs(%o) : (tensor<?x{K}xf32>, !dnn.packed<panels, "
                       "{N}x{K}x{F}>, !dnn.packed<vector, {N}x1xf32>, "
                       "tensor<?x{N}xf32>, tensor<?x{N}xf32>, "
                     : "outs(%o) : (tensor<?x{K}xf32>, !dnn.packed<panels, "
                       "{N}x{K}x{F}>, ";
    Case.Body += "tensor<?x{N}xf32>) -> tensor<?x{N}xf32>";
    check(Case);
  }
}

/// What levels with dot products of bf16 multiply.
TEST_F(KernelTest, MatmulsOfBF16) {
  for (auto [N, K] :
       {std::pair(1, 2), std::pair(16, 16), std::pair(63, 65),
        std::pair(97, 37), std::pair(200, 130), std::pair(70, 1100)}) {
    KernelCase Case;
    Case.Name = "matmul of bf16 " + std::to_string(N) + "x" + std::to_string(K);
    Case.Inputs = {"{K}", "{N}"};
    Case.Output = "{N}";
    Case.Settings = {{"N", std::to_string(N)}, {"K", std::to_string(K)}};
    Case.Body = R"(
      %w = dnn.weight %s ["w"] of ffn : <panels, {N}x{K}xbf16>
      %e = tensor.empty(%t) : tensor<?x{K}xbf16>
      %y = dnn.cast %x0 outs(%e) : (tensor<?x{K}xf32>, tensor<?x{K}xbf16>)
          -> tensor<?x{K}xbf16>
      %o = tensor.empty(%t) : tensor<?x{N}xf32>
      %r = dnn.matmul %y weight %w activation silu residual %x1 outs(%o)
          : (tensor<?x{K}xbf16>, !dnn.packed<panels, {N}x{K}xbf16>,
             tensor<?x{N}xf32>, tensor<?x{N}xf32>) -> tensor<?x{N}xf32>)";
    check(Case);
  }
}

TEST_F(KernelTest, GatedMatmuls) {
  for (const char *Format : {"f32", "bf16"})
    for (auto [N, K] :
         {std::pair(1, 1), std::pair(16, 8), std::pair(64, 64),
          std::pair(63, 65), std::pair(136, 37), std::pair(70, 301)}) {
      KernelCase Case;
      Case.Name = "gated_matmul " + std::to_string(N) + "x" +
                  std::to_string(K) + " " + Format;
      Case.Inputs = {"{K}"};
      Case.Output = "{N}";
      Case.Settings = {
          {"N", std::to_string(N)}, {"K", std::to_string(K)}, {"F", Format}};
      Case.Body = R"(
        %g = dnn.weight %s ["g"] of ffn : <panels, {N}x{K}x{F}>
        %u = dnn.weight %s ["u"] of ffn : <panels, {N}x{K}x{F}>
        %v = dnn.weight %s ["v"] of ffn : <vector, {N}x1xf32>
        %o = tensor.empty(%t) : tensor<?x{N}xf32>
        %r = dnn.gated_matmul silu %x0 gate %g bias %v up %u bias %v outs(%o)
            : (tensor<?x{K}xf32>, !dnn.packed<panels, {N}x{K}x{F}>,
               !dnn.packed<panels, {N}x{K}x{F}>, !dnn.packed<vector, {N}x1xf32>,
               !dnn.packed<vector, {N}x1xf32>, tensor<?x{N}xf32>)
            -> tensor<?x{N}xf32>)";
      check(Case);
    }
}

} // namespace
