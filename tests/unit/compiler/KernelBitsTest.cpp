//===- KernelBitsTest.cpp - What bits of a row depend on ------------------===//
//
// A row's bits follow from its sequence alone: they are the same on 1, 2 and 3
// threads, and beside any other rows of the same program. Who quantises a row
// does not change them either.
//
//===----------------------------------------------------------------------===//

#include "KernelTestSupport.h"

using namespace tenon;

namespace {

/// Tokens of a sequence, by its number, in one step.
using Part = std::pair<int64_t, int64_t>;
/// First tokens of sequences 0 to 4.
using Prompts = std::array<int64_t, 5>;
/// Around the ends of pages, and so of partitions.
constexpr Prompts AroundPages = {9, 63, 127, 128, 185};

class KernelBitsTest : public KernelTest {
protected:
  /// Runs `Steps`, where sequence S is the program's sequence First + S; the
  /// rows of each, one behind another. A token's input, of `Width` features,
  /// follows from its sequence and position.
  static std::map<int64_t, std::vector<float>>
  rowsOf(NativeProgram &Program, int64_t Width, int64_t First,
         const std::vector<std::vector<Part>> &Steps) {
    std::map<int64_t, std::vector<float>> Rows;
    std::map<int64_t, int64_t> Lengths;
    for (const std::vector<Part> &Step : Steps) {
      EvaluatorBatch Batch;
      for (auto [Sequence, Count] : Step) {
        std::vector<int64_t> Ids(static_cast<size_t>(Count));
        Batch.add(First + Sequence, Ids, Lengths[Sequence], Count);
        Lengths[Sequence] += Count;
      }
      Batch.Features = Tensor2D(Batch.tokens(), Width);
      for (int64_t T = 0; T < Batch.tokens(); ++T) {
        auto State = static_cast<uint32_t>((Batch.Sequences[T] - First) * 1009 +
                                           Batch.Positions[T] + 1);
        for (int64_t I = 0; I < Batch.Features.Columns; ++I) {
          State = State * 1664525u + 1013904223u;
          Batch.Features.at(T, I) =
              static_cast<float>(State >> 8) / static_cast<float>(1 << 23) - 1;
        }
      }
      Result<Tensor2D> Got = Program.run("step", Batch);
      if (!Got) {
        ADD_FAILURE() << Got.error().message();
        return Rows;
      }
      for (int64_t T = 0; T < Got->Rows; ++T) {
        std::vector<float> &Of = Rows[Batch.Sequences[T] - First];
        Of.insert(Of.end(), Got->row(T), Got->row(T) + Got->Columns);
      }
    }
    return Rows;
  }

  /// Compares each sequence alone, on one thread, with all of them together.
  void checkBits(const KernelCase &Case, const Prompts &Lengths = AroundPages) {
    // Prompts by the program for many tokens, then by the one for few.
    std::vector<std::vector<std::vector<Part>>> Alone;
    for (int64_t S = 0; S < std::ssize(Lengths); ++S)
      Alone.push_back({{{S, Lengths[S]}}, {{S, 1}}, {{S, 3}}});
    // As many in a step as a program has room for.
    const std::vector<std::vector<Part>> Together = {
        {{1, Lengths[1]}, {0, Lengths[0]}},
        {{2, Lengths[2]}},
        {{3, Lengths[3]}},
        {{4, Lengths[4]}},
        {{4, 1}, {0, 1}, {2, 1}, {3, 1}, {1, 1}},
        {{1, 3}, {4, 3}},
        {{3, 3}},
        {{2, 3}, {0, 3}}};
    for (CpuLevel Level : levels(Case)) {
      mlir::OwningOpRef<mlir::ModuleOp> Module = place(Case, Level);
      if (!Module)
        return;
      int64_t Width = inputWidthOf(*Module);
      std::map<int64_t, std::vector<float>> Expected;
      for (int64_t Threads : {1, 2, 3}) {
        Result<NativeProgram> Program =
            compile(*Module, Level, Observed::Nothing, Threads);
        ASSERT_TRUE(Program) << Case.Name << ": " << Program.error().message();
        if (Expected.empty())
          for (const std::vector<std::vector<Part>> &Steps : Alone)
            Expected.merge(rowsOf(*Program, Width, std::ssize(Lengths), Steps));
        EXPECT_TRUE(Expected == rowsOf(*Program, Width, 0, Together))
            << Case.Name << " on " << infoOf(Level).Name << ", " << Threads
            << " threads";
      }
    }
  }
};

/// Casts of a program.
int64_t castsIn(mlir::ModuleOp Module) {
  int64_t Count = 0;
  Module.walk([&](dnn::CastOp) { ++Count; });
  return Count;
}

KernelCase attention(int64_t Heads, int64_t KvHeads, int64_t Dim,
                     const char *Format, const char *Options,
                     const char *Query = "f32") {
  KernelCase Case;
  auto Put = [&](const char *Name, int64_t Value) {
    Case.Settings[Name] = std::to_string(Value);
  };
  Put("H", Heads);
  Put("G", KvHeads);
  Put("HD", Heads * Dim);
  Put("GD", KvHeads * Dim);
  Put("Z", 3 * Heads * (Dim + 2));
  Case.Settings["O"] = Options;
  Case.Settings["Q"] = Query;
  Case.Name = std::to_string(Heads) + "/" + std::to_string(KvHeads) + " of " +
              std::to_string(Dim) + " " + Format + " " + Options +
              ", queries of " + Query;
  Case.Inputs = {"{HD}", "{GD}", "{GD}"};
  Case.Output = "{HD}";
  Case.Cache = "!transformer.cache<" + std::to_string(KvHeads) + "x" +
               std::to_string(Dim) + "x" + Format + ">";
  Case.Body = R"(
    %p = tensor.empty(%t) : tensor<?x{HD}x{Q}>
    %q = dnn.split_append %x0, %x1, %x2 to %c[%s], %b heads {H} kv_heads {G}
        outs(%p) : (tensor<?x{HD}xf32>, tensor<?x{GD}xf32>,
        tensor<?x{GD}xf32>, !cache, !scope, !batch, tensor<?x{HD}x{Q}>)
        -> tensor<?x{HD}x{Q}>
    %o = tensor.empty(%t) : tensor<?x{HD}xf32>
    %u = tensor.empty(%t) : tensor<?x{Z}xf32>
    %r, %w = dnn.attention causal %q, %b cache %c[%s] heads {H} kv_heads {G}
        scale 0.5 {O} partition_pages 1 outs(%o, %u) : (tensor<?x{HD}x{Q}>,
        !batch, !cache, !scope, tensor<?x{HD}xf32>, tensor<?x{Z}xf32>)
        -> (tensor<?x{HD}xf32>, tensor<?x{Z}xf32>))";
  return Case;
}

TEST_F(KernelBitsTest, PartitionedAttention) {
  checkBits(attention(1, 1, 16, "f32", ""));
  checkBits(attention(6, 2, 24, "bf16", ""));
  checkBits(attention(9, 1, 33, "i8", ""));
  checkBits(attention(9, 1, 33, "i8", "", "bf16"));
  checkBits(attention(4, 2, 16, "bf16", "window 70"));
}

KernelCase stagedAttention(int64_t Heads, int64_t Dim, CacheFormat Format,
                           const char *Options) {
  KernelCase Case;
  std::string Name(infoOf(Format).Name);
  auto Put = [&](const char *Setting, int64_t Value) {
    Case.Settings[Setting] = std::to_string(Value);
  };
  Put("H", Heads);
  Put("HD", Heads * Dim);
  Put("P", PageLayout{Heads, Dim, Format}.elements());
  Case.Settings["O"] = Options;
  Case.Settings["F"] = Name;
  Case.Name = std::to_string(Heads) + " of " + std::to_string(Dim) +
              ", staged in " + Name + " " + Options;
  if (Format == CacheFormat::BF16)
    Case.Needs = DotProduct::BF16;
  Case.Inputs = {"{HD}", "{HD}", "{HD}"};
  Case.Output = "{HD}";
  Case.Body = R"(
    %k = dnn.count staged_pages %b
    %p = tensor.empty(%t) : tensor<?x{HD}x{F}>
    %l = tensor.empty(%k) : tensor<?x{P}x{F}>
    %q:2 = dnn.split_stage %x0, %x1, %x2 of %b heads {H} kv_heads {H}
        outs(%p, %l) : (tensor<?x{HD}xf32>, tensor<?x{HD}xf32>,
        tensor<?x{HD}xf32>, !batch, tensor<?x{HD}x{F}>, tensor<?x{P}x{F}>)
        -> (tensor<?x{HD}x{F}>, tensor<?x{P}x{F}>)
    %o = tensor.empty(%t) : tensor<?x{HD}xf32>
    %r = dnn.attention bidirectional %q#0, %b staged %q#1 heads {H}
        kv_heads {H} scale 0.5 {O} outs(%o) : (tensor<?x{HD}x{F}>, !batch,
        tensor<?x{P}x{F}>, tensor<?x{HD}xf32>) -> tensor<?x{HD}xf32>)";
  return Case;
}

TEST_F(KernelBitsTest, StagedAttention) {
  for (CacheFormat Format : {CacheFormat::F32, CacheFormat::BF16}) {
    // Behind others in a page, and in pages of their own.
    checkBits(stagedAttention(3, 24, Format, ""), {9, 31, 127, 128, 66});
    checkBits(stagedAttention(1, 64, Format, ""), {70, 65, 2, 63, 17});
    checkBits(stagedAttention(2, 16, Format, "window 9"), {67, 33, 1, 5, 64});
  }
}

KernelCase integerMatmul(const char *Format, const char *Bits) {
  KernelCase Case;
  Case.Name = std::string("matmul of ") + Bits + " bits and " + Format;
  Case.Settings = {{"F", Format}, {"N", Bits}};
  Case.Inputs = {"301"};
  Case.Output = "70";
  Case.Needs = DotProduct::Int8;
  Case.Body = R"(
    %e = tensor.empty(%t) : tensor<?x301x!dnn.grouped<{N}>>
    %y = dnn.cast %x0 outs(%e)
        : (tensor<?x301xf32>, tensor<?x301x!dnn.grouped<{N}>>)
        -> tensor<?x301x!dnn.grouped<{N}>>
    %w = dnn.weight %s ["w"] of ffn : <panels, 70x301x{F}>
    %o = tensor.empty(%t) : tensor<?x70xf32>
    %r = dnn.matmul %y weight %w outs(%o)
        : (tensor<?x301x!dnn.grouped<{N}>>, !dnn.packed<panels, 70x301x{F}>,
           tensor<?x70xf32>) -> tensor<?x70xf32>)";
  return Case;
}

/// Whether dot products or tiles multiply a row, and how many tiles, depends on
/// how many rows there are. Of 8 bits, so does the block that a row is in: of
/// up to 64 rows, or of a piece of the panel.
TEST_F(KernelBitsTest, MatmulsOfIntegers) {
  for (const char *Format : {"q4_k", "q6_k", "q8_0"}) {
    checkBits(integerMatmul(Format, "16"), {3, 9, 2, 70, 14});
    checkBits(integerMatmul(Format, "8"), {5, 62, 33, 70, 14});
  }
}

/// Few rows are one block with both matrices or with one after the other, or
/// blocks piece by piece.
TEST_F(KernelBitsTest, GatedMatmulsOfBF16) {
  KernelCase Case;
  Case.Name = "gated matmul of bf16";
  Case.Inputs = {"301"};
  Case.Output = "70";
  Case.Body = R"(
    %e = tensor.empty(%t) : tensor<?x301xbf16>
    %y = dnn.cast %x0 outs(%e) : (tensor<?x301xf32>, tensor<?x301xbf16>)
        -> tensor<?x301xbf16>
    %g = dnn.weight %s ["g"] of ffn : <panels, 70x301xbf16>
    %u = dnn.weight %s ["u"] of ffn : <panels, 70x301xbf16>
    %o = tensor.empty(%t) : tensor<?x70xf32>
    %r = dnn.gated_matmul silu %y gate %g up %u outs(%o)
        : (tensor<?x301xbf16>, !dnn.packed<panels, 70x301xbf16>,
           !dnn.packed<panels, 70x301xbf16>, tensor<?x70xf32>)
        -> tensor<?x70xf32>)";
  checkBits(Case, {9, 15, 17, 32, 33});
}

/// How a panel is read depends on how many rows are multiplied with it: up to
/// 16, up to 32, or more.
TEST_F(KernelBitsTest, MatmulsOfBF16) {
  // In more than one piece each.
  for (const auto &[Format, Features] :
       {std::pair{"bf16", "2150"}, std::pair{"q6_k", "1100"}}) {
    KernelCase Case;
    Case.Name = std::string("matmul of bf16 and ") + Format;
    Case.Settings = {{"F", Format}, {"K", Features}};
    Case.Inputs = {"{K}"};
    Case.Output = "70";
    Case.Needs = DotProduct::BF16;
    Case.Body = R"(
      %e = tensor.empty(%t) : tensor<?x{K}xbf16>
      %y = dnn.cast %x0 outs(%e) : (tensor<?x{K}xf32>, tensor<?x{K}xbf16>)
          -> tensor<?x{K}xbf16>
      %w = dnn.weight %s ["w"] of ffn : <panels, 70x{K}x{F}>
      %o = tensor.empty(%t) : tensor<?x70xf32>
      %r = dnn.matmul %y weight %w outs(%o)
          : (tensor<?x{K}xbf16>, !dnn.packed<panels, 70x{K}x{F}>,
             tensor<?x70xf32>) -> tensor<?x70xf32>)";
    checkBits(Case, {9, 15, 17, 32, 33});
    checkBits(Case, {20, 100, 16, 48, 180});
  }
}

/// A matmul of what `Producer` computes, %h of {N} columns, as grouped
/// integers.
KernelCase quantisedOnStore(const std::string &Name,
                            std::vector<std::string> Inputs, int64_t Width,
                            const std::string &Producer,
                            const Grouped &As = AllGrouped[0]) {
  KernelCase Case;
  Case.Name = Name + ", grouped<" + As.Parameters + ">";
  Case.Inputs = std::move(Inputs);
  Case.Output = "16";
  Case.Settings = {{"N", std::to_string(Width)}, {"Q", As.Parameters}};
  Case.Body = Producer + R"(
    %ge = tensor.empty(%t) : tensor<?x{N}x!dnn.grouped<{Q}>>
    %gr = dnn.cast %h outs(%ge) : (tensor<?x{N}xf32>,
        tensor<?x{N}x!dnn.grouped<{Q}>>) -> tensor<?x{N}x!dnn.grouped<{Q}>>
    %gw = dnn.weight %s ["last"] of ffn : <panels, 16x{N}xq8_0>
    %go = tensor.empty(%t) : tensor<?x16xf32>
    %r = dnn.matmul %gr weight %gw outs(%go)
        : (tensor<?x{N}x!dnn.grouped<{Q}>>, !dnn.packed<panels, 16x{N}xq8_0>,
           tensor<?x16xf32>) -> tensor<?x16xf32>)";
  return Case;
}

/// Kernels that quantise what they store, beside ones that store f32 and casts
/// of that.
class QuantisedOnStoreTest : public KernelBitsTest {
protected:
  /// On the levels with fewest and most registers: to store a group takes no
  /// instruction that some lack.
  void checkFolded(KernelCase Case) {
    std::vector<CpuLevel> All = levels(Case);
    for (CpuLevel Level : std::set{All.front(), All.back()}) {
      std::array<std::map<int64_t, std::vector<float>>, 2> Rows;
      for (bool Folds : {false, true}) {
        Case.FoldsCasts = Folds;
        mlir::OwningOpRef<mlir::ModuleOp> Module = place(Case, Level);
        ASSERT_TRUE(Module);
        // One in each of both variants.
        ASSERT_EQ(castsIn(*Module), Folds ? 0 : 2) << Case.Name;
        Result<NativeProgram> Program =
            compile(*Module, Level, Observed::Nothing, 2);
        ASSERT_TRUE(Program) << Case.Name << ": " << Program.error().message();
        Rows[Folds ? 1 : 0] = rowsOf(*Program, inputWidthOf(*Module), 0,
                                     {{{0, 70}},
                                      {{1, 9}, {2, 30}},
                                      {{0, 1}},
                                      {{0, 1}, {1, 2}},
                                      {{2, 8}}});
      }
      EXPECT_TRUE(Rows[0] == Rows[1])
          << Case.Name << " on " << infoOf(Level).Name;
    }
  }
};

/// The last group lacks half of its columns, or parts are whole groups.
TEST_F(QuantisedOnStoreTest, Norms) {
  checkFolded(quantisedOnStore("norm", {"{N}"}, 80, R"(
      %n = dnn.weight %s ["n"] of norm : <vector, {N}x1xf32>
      %ho = tensor.empty(%t) : tensor<?x{N}xf32>
      %h = dnn.rms_norm %x0, %n eps 1e-05 outs(%ho) : (tensor<?x{N}xf32>,
          !dnn.packed<vector, {N}x1xf32>, tensor<?x{N}xf32>)
          -> tensor<?x{N}xf32>)"));
  checkFolded(quantisedOnStore("norm of parts", {"{N}"}, 192, R"(
      %n = dnn.weight %s ["n"] of norm : <vector, 64x1xf32>
      %ho = tensor.empty(%t) : tensor<?x{N}xf32>
      %h = dnn.layer_norm %x0, %n, %n eps 1e-05 groups 3 outs(%ho)
          : (tensor<?x{N}xf32>, !dnn.packed<vector, 64x1xf32>,
             !dnn.packed<vector, 64x1xf32>, tensor<?x{N}xf32>)
          -> tensor<?x{N}xf32>)"));
  checkFolded(quantisedOnStore("norm of a sum", {"{N}", "{N}"}, 70, R"(
      %n = dnn.weight %s ["n"] of norm : <vector, {N}x1xf32>
      %ho = tensor.empty(%t) : tensor<?x{N}xf32>
      %hs = tensor.empty(%t) : tensor<?x{N}xf32>
      %sum, %h = dnn.add_norm rms %x0, %x1 weight %n eps 1e-05 outs(%hs, %ho)
          : (tensor<?x{N}xf32>, tensor<?x{N}xf32>,
             !dnn.packed<vector, {N}x1xf32>, tensor<?x{N}xf32>,
             tensor<?x{N}xf32>) -> (tensor<?x{N}xf32>, tensor<?x{N}xf32>))"));
}

/// The sigmoid of what the last group lacks would be its largest number. A row
/// of more than 256 columns is written in pieces.
TEST_F(QuantisedOnStoreTest, Elements) {
  for (int64_t Width : {70, 300})
    checkFolded(quantisedOnStore("sigmoid", {"{N}"}, Width, R"(
      %xo = tensor.empty(%t) : tensor<?x{N}xf32>
      %x = dnn.activation sigmoid %x0 outs(%xo) : (tensor<?x{N}xf32>,
          tensor<?x{N}xf32>) -> tensor<?x{N}xf32>
      %yo = tensor.empty(%t) : tensor<?x{N}xf32>
      %y = dnn.scale %x by -4.0 outs(%yo) : (tensor<?x{N}xf32>,
          tensor<?x{N}xf32>) -> tensor<?x{N}xf32>
      %ho = tensor.empty(%t) : tensor<?x{N}xf32>
      %h = dnn.activation sigmoid %y outs(%ho) : (tensor<?x{N}xf32>,
          tensor<?x{N}xf32>) -> tensor<?x{N}xf32>)"));
}

/// Panels that lack their second group, and part of it. What is multiplied is
/// f32, bf16 or grouped.
TEST_F(QuantisedOnStoreTest, Matmuls) {
  checkFolded(quantisedOnStore("gated matmul of f32", {"40"}, 100, R"(
      %g = dnn.weight %s ["g"] of ffn : <panels, {N}x40xf32>
      %u = dnn.weight %s ["u"] of ffn : <panels, {N}x40xf32>
      %b0 = dnn.weight %s ["b"] of ffn : <vector, {N}x1xf32>
      %ho = tensor.empty(%t) : tensor<?x{N}xf32>
      %h = dnn.gated_matmul sigmoid %x0 gate %g bias %b0 up %u bias %b0
          outs(%ho) : (tensor<?x40xf32>, !dnn.packed<panels, {N}x40xf32>,
          !dnn.packed<panels, {N}x40xf32>, !dnn.packed<vector, {N}x1xf32>,
          !dnn.packed<vector, {N}x1xf32>, tensor<?x{N}xf32>)
          -> tensor<?x{N}xf32>)"));
  checkFolded(quantisedOnStore("gated matmul of bf16", {"40"}, 65, R"(
      %e0 = tensor.empty(%t) : tensor<?x40xbf16>
      %x = dnn.scale %x0 by 0.5 outs(%e0) : (tensor<?x40xf32>,
          tensor<?x40xbf16>) -> tensor<?x40xbf16>
      %g = dnn.weight %s ["g"] of ffn : <panels, {N}x40xbf16>
      %u = dnn.weight %s ["u"] of ffn : <panels, {N}x40xbf16>
      %ho = tensor.empty(%t) : tensor<?x{N}xf32>
      %h = dnn.gated_matmul silu %x gate %g up %u outs(%ho)
          : (tensor<?x40xbf16>, !dnn.packed<panels, {N}x40xbf16>,
             !dnn.packed<panels, {N}x40xbf16>, tensor<?x{N}xf32>)
          -> tensor<?x{N}xf32>)"));
  for (const Grouped &As : AllGrouped)
    checkFolded(quantisedOnStore("matmul", {"300"}, 65, R"(
      %b0 = dnn.weight %s ["b"] of ffn : <vector, {N}x1xf32>
      %e = dnn.weight %s ["e"] of ffn : <panels, {N}x300xq4_k>
      %nq = tensor.empty(%t) : tensor<?x300x!dnn.grouped<{Q}>>
      %n = dnn.scale %x0 by 0.5 outs(%nq) : (tensor<?x300xf32>,
          tensor<?x300x!dnn.grouped<{Q}>>) -> tensor<?x300x!dnn.grouped<{Q}>>
      %ho = tensor.empty(%t) : tensor<?x{N}xf32>
      %h = dnn.matmul %n weight %e bias %b0 activation sigmoid outs(%ho)
          : (tensor<?x300x!dnn.grouped<{Q}>>, !dnn.packed<panels, {N}x300xq4_k>,
             !dnn.packed<vector, {N}x1xf32>, tensor<?x{N}xf32>)
          -> tensor<?x{N}xf32>)",
                                 As));
}

/// One partition or more; the evaluator has groups that may differ by a code.
TEST_F(QuantisedOnStoreTest, Attention) {
  KernelCase Case = quantisedOnStore("attention", {"{N}", "32", "32"}, 96, R"(
      %p = tensor.empty(%t) : tensor<?x{N}xf32>
      %q = dnn.split_append %x0, %x1, %x2 to %c[%s], %b heads 3 kv_heads 1
          outs(%p) : (tensor<?x{N}xf32>, tensor<?x32xf32>, tensor<?x32xf32>,
          !cache, !scope, !batch, tensor<?x{N}xf32>) -> tensor<?x{N}xf32>
      %ho = tensor.empty(%t) : tensor<?x{N}xf32>
      %u = tensor.empty(%t) : tensor<?x306xf32>
      %h, %w = dnn.attention causal %q, %b cache %c[%s] heads 3 kv_heads 1
          scale 0.5 partition_pages 1 outs(%ho, %u) : (tensor<?x{N}xf32>,
          !batch, !cache, !scope, tensor<?x{N}xf32>, tensor<?x306xf32>)
          -> (tensor<?x{N}xf32>, tensor<?x306xf32>))");
  Case.Cache = "!transformer.cache<1x32xbf16>";
  checkFolded(Case);
  Case.FoldsCasts = true;
  Case.Steps = {{70}, {3, 1, 2}, {1}};
  check(Case);
}

TEST_F(KernelBitsTest, LatentAttention) {
  struct LatentLine {
    int64_t Heads, Latent, Rotated;
    const char *Query;
  };
  for (auto [Heads, Latent, Rotated, Query] :
       {LatentLine{1, 37, 6, "f32"}, LatentLine{19, 37, 6, "f32"},
        LatentLine{3, 32, 32, "bf16"}}) {
    KernelCase Case;
    Case.Name =
        "latent, " + std::to_string(Heads) + " heads, queries of " + Query;
    auto Put = [&](const char *Name, int64_t Value) {
      Case.Settings[Name] = std::to_string(Value);
    };
    Put("H", Heads);
    Put("L", Latent);
    Put("R", Rotated);
    Put("Q", Heads * (9 + Rotated));
    Put("X", Heads * 26);
    Put("O", Heads * 17);
    Put("S", Heads * 19);
    Put("Z", Heads * (Latent + Rotated + 3 * (Latent + 2)));
    Case.Settings["E"] = Query;
    Case.Inputs = {"{Q}", "{L}", "{R}"};
    Case.Output = "{O}";
    Case.Cache = "!transformer.cache<latent 1x" +
                 std::to_string(Latent + Rotated) + "xbf16>";
    Case.Body = R"(
      %e = dnn.weight %s ["e"] of attention : <row_major, {X}x{L}xbf16>
      dnn.latent_append %c[%s], %b latent %x1 rotated %x2 : !cache, !scope,
          !batch, tensor<?x{L}xf32>, tensor<?x{R}xf32>
      %o = tensor.empty(%t) : tensor<?x{O}xf32>
      %p = tensor.empty(%t) : tensor<?x{S}xf32>
      %u = tensor.empty(%t) : tensor<?x{Z}xf32>
      %y = tensor.empty(%t) : tensor<?x{Q}x{E}>
      %q = dnn.cast %x0 outs(%y) : (tensor<?x{Q}xf32>, tensor<?x{Q}x{E}>)
          -> tensor<?x{Q}x{E}>
      %r, %v, %w = dnn.latent_attention %q, %b cache %c[%s] expand %e
          heads {H} key_dim 9 value_dim 17 scale 0.5 partition_pages 1
          outs(%o, %p, %u) : (tensor<?x{Q}x{E}>, !batch, !cache, !scope,
          !dnn.packed<row_major, {X}x{L}xbf16>, tensor<?x{O}xf32>,
          tensor<?x{S}xf32>, tensor<?x{Z}xf32>) -> (tensor<?x{O}xf32>,
          tensor<?x{S}xf32>, tensor<?x{Z}xf32>))";
    checkBits(Case);
  }
}

} // namespace
