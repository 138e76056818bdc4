//===- KernelQuantisedTest.cpp - Matmuls and look-ups of blocks -----------===//
//
// Every quantised format against the evaluator, which multiplies with the
// values that the blocks stand for, at widths that are whole blocks and not.
//
//===----------------------------------------------------------------------===//

#include "KernelTestSupport.h"

using namespace tenon;

namespace {

/// A name for each quantised format.
std::vector<std::string> formats() {
  std::vector<std::string> Names;
  for (const StorageFormatInfo &Info : StorageFormats)
    if (Info.isQuantised())
      Names.emplace_back(Info.Name);
  return Names;
}

KernelCase quantised(const std::string &What, const std::string &Format,
                     int64_t N, int64_t K) {
  KernelCase Case;
  Case.Name =
      What + " " + std::to_string(N) + "x" + std::to_string(K) + " " + Format;
  Case.Inputs = {"{K}"};
  Case.Output = "{N}";
  Case.Settings = {
      {"N", std::to_string(N)}, {"K", std::to_string(K)}, {"F", Format}};
  Case.Steps = {{1}, {3}, {8}, {9}, {30, 1, 5}, {140}};
  return Case;
}

TEST_F(KernelTest, QuantisedMatmuls) {
  for (const std::string &Format : formats())
    for (auto [N, K] :
         {std::pair(64, 256), std::pair(70, 33), std::pair(1100, 300)}) {
      // Panels go in pairs where there are many: one format shows it.
      if (N == 1100 && Format != "q4_k")
        continue;
      KernelCase Case = quantised("matmul", Format, N, K);
      Case.Body = R"(
        %w = dnn.weight %s ["w"] of ffn : <panels, {N}x{K}x{F}>
        %v = dnn.weight %s ["v"] of ffn : <vector, {N}x1xf32>
        %o = tensor.empty(%t) : tensor<?x{N}xf32>
        %r = dnn.matmul %x0 weight %w bias %v activation silu outs(%o)
            : (tensor<?x{K}xf32>, !dnn.packed<panels, {N}x{K}x{F}>,
               !dnn.packed<vector, {N}x1xf32>, tensor<?x{N}xf32>)
            -> tensor<?x{N}xf32>)";
      check(Case);
    }
}

/// A matmul of rows of bf16.
KernelCase quantisedOfBF16(const std::string &Format, int64_t N, int64_t K) {
  KernelCase Case = quantised("matmul of bf16", Format, N, K);
  Case.Body = R"(
      %w = dnn.weight %s ["w"] of ffn : <panels, {N}x{K}x{F}>
      %e = tensor.empty(%t) : tensor<?x{K}xbf16>
      %y = dnn.cast %x0 outs(%e) : (tensor<?x{K}xf32>, tensor<?x{K}xbf16>)
          -> tensor<?x{K}xbf16>
      %o = tensor.empty(%t) : tensor<?x{N}xf32>
      %r = dnn.matmul %y weight %w outs(%o)
          : (tensor<?x{K}xbf16>, !dnn.packed<panels, {N}x{K}x{F}>,
             tensor<?x{N}xf32>) -> tensor<?x{N}xf32>)";
  return Case;
}

TEST_F(KernelTest, QuantisedMatmulsOfBF16) {
  for (const std::string &Format : formats())
    check(quantisedOfBF16(Format, 130, 301));
}

/// Scales and products of which f16 has fewer than 11 bits.
TEST_F(KernelTest, QuantisedMatmulsOfSmallWeights) {
  ParameterScale = 2e-4f;
  for (const std::string &Format : formats()) {
    KernelCase Case = quantisedOfBF16(Format, 64, 96);
    Case.Steps = {{9}, {40}};
    check(Case);
  }
}

/// Rows as grouped integers: `Body` reads them as %y.
std::string grouped(const Grouped &As, const std::string &Body) {
  std::string Type = "tensor<?x{K}x!dnn.grouped<" + As.Parameters + ">>";
  std::string Text = R"(
      %e = tensor.empty(%t) : {Q}
      %y = dnn.cast %x0 outs(%e) : (tensor<?x{K}xf32>, {Q}) -> {Q})" +
                     Body;
  for (size_t At = 0; (At = Text.find("{Q}", At)) != std::string::npos;)
    Text.replace(At, 3, Type);
  return Text;
}

/// Of groups, pieces and panels that are whole and not.
TEST_F(KernelTest, QuantisedMatmulsOfIntegers) {
  auto Check = [&](const std::string &Format, const Grouped &As, int64_t N,
                   int64_t K, std::optional<DotProduct> Needs) {
    KernelCase Case = quantised("matmul of " + As.Parameters, Format, N, K);
    Case.Needs = Needs;
    Case.Body = grouped(As, R"(
        %w = dnn.weight %s ["w"] of ffn : <panels, {N}x{K}x{F}>
        %v = dnn.weight %s ["v"] of ffn : <vector, {N}x1xf32>
        %o = tensor.empty(%t) : tensor<?x{N}xf32>
        %r = dnn.matmul %y weight %w bias %v activation silu outs(%o)
            : ({Q}, !dnn.packed<panels, {N}x{K}x{F}>,
               !dnn.packed<vector, {N}x1xf32>, tensor<?x{N}xf32>)
            -> tensor<?x{N}xf32>)");
    check(Case);
  };
  for (const Grouped &As : AllGrouped) {
    for (const std::string &Format : formats())
      // Two digits multiply the codes that one does.
      if (As.Parameters != "16" || Format == "q6_k" || Format == "q8_0")
        Check(Format, As, 70, 300, As.Dot);
    // Panels go in pairs where there are many.
    Check("q4_k", As, 1100, 256, As.Dot);
    // The same bits without the instruction.
    Check("q6_k", As, 70, 33, {});
  }
}

TEST_F(KernelTest, QuantisedGatedMatmulsOfIntegers) {
  // Of 8 bits, with minima, with two scales in a group: two matrices at once
  // differ from one in nothing else.
  for (const std::string Format : {"q8_0", "q4_k", "q6_k"})
    for (const Grouped &As : AllGrouped) {
      KernelCase Case =
          quantised("gated_matmul of " + As.Parameters, Format, 136, 65);
      Case.Needs = As.Dot;
      Case.Body = grouped(As, R"(
      %g = dnn.weight %s ["g"] of ffn : <panels, {N}x{K}x{F}>
      %u = dnn.weight %s ["u"] of ffn : <panels, {N}x{K}x{F}>
      %o = tensor.empty(%t) : tensor<?x{N}xf32>
      %r = dnn.gated_matmul silu %y gate %g up %u outs(%o)
          : ({Q}, !dnn.packed<panels, {N}x{K}x{F}>,
             !dnn.packed<panels, {N}x{K}x{F}>, tensor<?x{N}xf32>)
          -> tensor<?x{N}xf32>)");
      check(Case);
    }
}

TEST_F(KernelTest, QuantisedGatedMatmuls) {
  for (const std::string &Format : formats()) {
    KernelCase Case = quantised("gated_matmul", Format, 136, 65);
    Case.Body = R"(
      %g = dnn.weight %s ["g"] of ffn : <panels, {N}x{K}x{F}>
      %u = dnn.weight %s ["u"] of ffn : <panels, {N}x{K}x{F}>
      %o = tensor.empty(%t) : tensor<?x{N}xf32>
      %r = dnn.gated_matmul silu %x0 gate %g up %u outs(%o)
          : (tensor<?x{K}xf32>, !dnn.packed<panels, {N}x{K}x{F}>,
             !dnn.packed<panels, {N}x{K}x{F}>, tensor<?x{N}xf32>)
          -> tensor<?x{N}xf32>)";
    check(Case);
  }
}

TEST_F(KernelTest, QuantisedEmbeddings) {
  for (const std::string &Format : formats()) {
    KernelCase Case = quantised("embedding", Format, 70, 300);
    Case.Inputs = {"1"};
    Case.Output = "{K}";
    Case.Body = R"(
      %w = dnn.weight %s ["w"] of embedding : <panels, 70x{K}x{F}>
      %o = tensor.empty(%t) : tensor<?x{K}xf32>
      %r = dnn.embedding token %b, %w outs(%o)
          : (!batch, !dnn.packed<panels, 70x{K}x{F}>, tensor<?x{K}xf32>)
          -> tensor<?x{K}xf32>)";
    Case.Steps = {{1}, {8}, {30, 1, 5}};
    check(Case);
  }
}

} // namespace
