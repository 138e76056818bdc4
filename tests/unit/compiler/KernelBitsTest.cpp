//===- KernelBitsTest.cpp - What bits of attention depend on --------------===//
//
// A row's bits follow from its sequence alone: they are the same on 1, 2 and 3
// threads, and beside any other rows of the same program.
//
//===----------------------------------------------------------------------===//

#include "KernelTestSupport.h"

using namespace tenon;

namespace {

/// Tokens of a sequence, by its number, in one step.
using Part = std::pair<int64_t, int64_t>;

class KernelBitsTest : public KernelTest {
protected:
  /// Runs `Steps` on new caches; the rows of each sequence, one behind another.
  /// A token's input follows from its sequence and position.
  std::map<int64_t, std::vector<float>>
  rowsOf(const KernelCase &Case, CpuLevel Level, int64_t Threads,
         const std::vector<std::vector<Part>> &Steps) {
    std::map<int64_t, std::vector<float>> Rows;
    mlir::OwningOpRef<mlir::ModuleOp> Module = place(Case, Level);
    if (!Module)
      return Rows;
    Result<NativeProgram> Program =
        compile(*Module, Level, Observed::Nothing, Threads);
    if (!Program) {
      ADD_FAILURE() << Case.Name << ": " << Program.error().message();
      return Rows;
    }
    int64_t Width = inputWidthOf(*Module);
    std::map<int64_t, int64_t> Lengths;
    for (const std::vector<Part> &Step : Steps) {
      EvaluatorBatch Batch;
      for (auto [Sequence, Count] : Step) {
        std::vector<int64_t> Ids(static_cast<size_t>(Count));
        Batch.add(Sequence, Ids, Lengths[Sequence], Count);
        Lengths[Sequence] += Count;
      }
      Batch.Features = Tensor2D(Batch.tokens(), Width);
      for (int64_t T = 0; T < Batch.tokens(); ++T) {
        auto State = static_cast<uint32_t>(Batch.Sequences[T] * 1009 +
                                           Batch.Positions[T] + 1);
        for (int64_t I = 0; I < Batch.Features.Columns; ++I) {
          State = State * 1664525u + 1013904223u;
          Batch.Features.at(T, I) =
              static_cast<float>(State >> 8) / static_cast<float>(1 << 23) - 1;
        }
      }
      Result<Tensor2D> Got = Program->run("step", Batch);
      if (!Got) {
        ADD_FAILURE() << Case.Name << ": " << Got.error().message();
        return Rows;
      }
      for (int64_t T = 0; T < Got->Rows; ++T)
        Rows[Batch.Sequences[T]].insert(Rows[Batch.Sequences[T]].end(),
                                        Got->row(T),
                                        Got->row(T) + Got->Columns);
    }
    return Rows;
  }

  void checkBits(const KernelCase &Case) {
    for (CpuLevel Level : levels()) {
      if (Case.Needs && !infoOf(Level).Dots.contains(*Case.Needs))
        continue;
      // Prompts by the program for many tokens, then by the one for few.
      auto Alone = [](int64_t Sequence, int64_t Prompt) {
        return std::vector<std::vector<Part>>{
            {{Sequence, Prompt}}, {{Sequence, 1}}, {{Sequence, 3}}};
      };
      std::map<int64_t, std::vector<float>> Expected;
      for (auto [Sequence, Prompt] : Prompts)
        Expected.merge(rowsOf(Case, Level, 1, Alone(Sequence, Prompt)));
      // As many in a step as a program has room for.
      const std::vector<std::vector<Part>> Together = {
          {Prompts[1], Prompts[0]},
          {Prompts[2]},
          {Prompts[3]},
          {Prompts[4]},
          {{4, 1}, {0, 1}, {2, 1}, {3, 1}, {1, 1}},
          {{1, 3}, {4, 3}},
          {{3, 3}},
          {{2, 3}, {0, 3}}};
      for (int64_t Threads : {1, 2, 3})
        EXPECT_TRUE(Expected == rowsOf(Case, Level, Threads, Together))
            << Case.Name << " on " << infoOf(Level).Name << ", " << Threads
            << " threads";
    }
  }

  /// Around the ends of pages, and so of partitions.
  const std::vector<Part> Prompts = {
      {0, 9}, {1, 63}, {2, 127}, {3, 128}, {4, 185}};
};

KernelCase attention(int64_t Heads, int64_t KvHeads, int64_t Dim,
                     const char *Format, const char *Options) {
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
  Case.Name = std::to_string(Heads) + "/" + std::to_string(KvHeads) + " of " +
              std::to_string(Dim) + " " + Format + " " + Options;
  Case.Inputs = {"{HD}", "{GD}", "{GD}"};
  Case.Output = "{HD}";
  Case.Cache = "!transformer.cache<" + std::to_string(KvHeads) + "x" +
               std::to_string(Dim) + "x" + Format + ">";
  Case.Body = R"(
    %p = tensor.empty(%t) : tensor<?x{HD}xf32>
    %q = dnn.split_append %x0, %x1, %x2 to %c[%s], %b heads {H} kv_heads {G}
        outs(%p) : (tensor<?x{HD}xf32>, tensor<?x{GD}xf32>,
        tensor<?x{GD}xf32>, !cache, !scope, !batch, tensor<?x{HD}xf32>)
        -> tensor<?x{HD}xf32>
    %o = tensor.empty(%t) : tensor<?x{HD}xf32>
    %u = tensor.empty(%t) : tensor<?x{Z}xf32>
    %r, %w = dnn.attention causal %q, %b cache %c[%s] heads {H} kv_heads {G}
        scale 0.5 {O} partition_pages 1 outs(%o, %u) : (tensor<?x{HD}xf32>,
        !batch, !cache, !scope, tensor<?x{HD}xf32>, tensor<?x{Z}xf32>)
        -> (tensor<?x{HD}xf32>, tensor<?x{Z}xf32>))";
  return Case;
}

TEST_F(KernelBitsTest, PartitionedAttention) {
  checkBits(attention(1, 1, 16, "f32", ""));
  checkBits(attention(6, 2, 24, "bf16", ""));
  checkBits(attention(9, 1, 33, "i8", ""));
  checkBits(attention(4, 2, 16, "bf16", "window 70"));
}

/// Whether dot products or tiles multiply a row depends on how many there are.
TEST_F(KernelBitsTest, MatmulsOfIntegers) {
  for (const char *Format : {"q4_k", "q6_k", "q8_0"}) {
    KernelCase Case;
    Case.Name = std::string("matmul of ") + Format;
    Case.Settings = {{"F", Format}};
    Case.Inputs = {"301"};
    Case.Output = "70";
    Case.Needs = DotProduct::Int8;
    Case.Body = R"(
      %e = tensor.empty(%t) : tensor<?x301x!dnn.grouped<16>>
      %y = dnn.cast %x0 outs(%e)
          : (tensor<?x301xf32>, tensor<?x301x!dnn.grouped<16>>)
          -> tensor<?x301x!dnn.grouped<16>>
      %w = dnn.weight %s ["w"] of ffn : <panels, 70x301x{F}>
      %o = tensor.empty(%t) : tensor<?x70xf32>
      %r = dnn.matmul %y weight %w outs(%o)
          : (tensor<?x301x!dnn.grouped<16>>, !dnn.packed<panels, 70x301x{F}>,
             tensor<?x70xf32>) -> tensor<?x70xf32>)";
    checkBits(Case);
  }
}

TEST_F(KernelBitsTest, LatentAttention) {
  for (int64_t Heads : {1, 19}) {
    KernelCase Case;
    Case.Name = "latent, " + std::to_string(Heads) + " heads";
    auto Put = [&](const char *Name, int64_t Value) {
      Case.Settings[Name] = std::to_string(Value);
    };
    Put("H", Heads);
    Put("Q", Heads * 15);
    Put("X", Heads * 26);
    Put("O", Heads * 17);
    Put("S", Heads * 19);
    Put("Z", Heads * (43 + 3 * 39));
    Case.Inputs = {"{Q}", "37", "6"};
    Case.Output = "{O}";
    Case.Cache = "!transformer.cache<latent 1x43xbf16>";
    Case.Body = R"(
      %e = dnn.weight %s ["e"] of attention : <row_major, {X}x37xbf16>
      dnn.latent_append %c[%s], %b latent %x1 rotated %x2 : !cache, !scope,
          !batch, tensor<?x37xf32>, tensor<?x6xf32>
      %o = tensor.empty(%t) : tensor<?x{O}xf32>
      %p = tensor.empty(%t) : tensor<?x{S}xf32>
      %u = tensor.empty(%t) : tensor<?x{Z}xf32>
      %r, %v, %w = dnn.latent_attention %x0, %b cache %c[%s] expand %e
          heads {H} key_dim 9 value_dim 17 scale 0.5 partition_pages 1
          outs(%o, %p, %u) : (tensor<?x{Q}xf32>, !batch, !cache, !scope,
          !dnn.packed<row_major, {X}x37xbf16>, tensor<?x{O}xf32>,
          tensor<?x{S}xf32>, tensor<?x{Z}xf32>) -> (tensor<?x{O}xf32>,
          tensor<?x{S}xf32>, tensor<?x{Z}xf32>))";
    checkBits(Case);
  }
}

} // namespace
