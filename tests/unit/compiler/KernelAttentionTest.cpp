//===- KernelAttentionTest.cpp - Kernels of attention and experts ---------===//

#include "KernelTestSupport.h"

using namespace tenon;

namespace {

//===----------------------------------------------------------------------===//
// Attention over caches
//===----------------------------------------------------------------------===//

/// One line of a table: %x0 to %x2 are queries, keys and values of H, G and G
/// heads of D values.
struct AttentionLine {
  const char *Name;
  int64_t H, G, D;
  const char *Format = "f32";
  const char *Options = ""; ///< Of the attention.
  const char *Table = "";   ///< Binds %e.
  const char *Types = "";   ///< Of %e.
  const char *Mask = "causal";
  const char *Query = "f32"; ///< Element type of the queries.
  /// If not 0, rows have at most so many partitions, of one page each where
  /// these suffice.
  int64_t Partitions = 0;
};

KernelSettings settingsOf(const AttentionLine &Line) {
  return {
      {"H", std::to_string(Line.H)},
      {"G", std::to_string(Line.G)},
      {"D", std::to_string(Line.D)},
      {"HD", std::to_string(Line.H * Line.D)},
      {"GD", std::to_string(Line.G * Line.D)},
      {"F", Line.Format},
      {"Q", Line.Query},
      {"M", Line.Mask},
      {"O", Line.Options},
      {"T", Line.Table},
      {"E", Line.Types},
      {"N", Line.Partitions ? "partition_pages 1" : ""},
      {"Z", std::to_string(Line.Partitions * Line.H * (Line.D + 2))},
      {"V", Line.Partitions ? "%u = tensor.empty(%t) : tensor<?x{Z}xf32>" : ""},
      {"U", Line.Partitions ? ", %u" : ""},
      {"Y", Line.Partitions ? ", tensor<?x{Z}xf32>" : ""},
      {"C", Line.Partitions ? ", %w" : ""},
      {"B",
       Line.Mask == std::string("bidirectional") ? ", bidirectional" : ""}};
}

std::string nameOf(const AttentionLine &Line) {
  return std::string(Line.Name) + " " + std::to_string(Line.H) + "/" +
         std::to_string(Line.G) + " of " + std::to_string(Line.D) + " " +
         Line.Format + ", queries of " + Line.Query +
         (Line.Partitions
              ? ", " + std::to_string(Line.Partitions) + " partitions"
              : "");
}

/// `Steps` and, behind each, one and some more tokens of its sequences.
const std::vector<std::vector<int64_t>> CachedSteps = {
    {1},        {0, 1},       {8},           {0, 1},
    {17},       {64},         {0, 1},        {0, 16},
    {67},       {0, 1},       {3, 1, 2},     {0, 1, 1, 1},
    {70, 1, 5}, {0, 1, 1, 1}, {0, 5, 66, 2}, {0, 1, 1, 1}};

constexpr const char *Alibi =
    "%e = dnn.table #transformer.alibi<max = 8.0> in %s : "
    "<row_major, {H}x1xf32>";
/// Distances -12 to 12.
constexpr const char *Buckets =
    "%e = dnn.table #transformer.buckets<8, max = 12{B}> in %s of \"e\" : "
    "<row_major, {H}x25xf32>";
constexpr const char *Sinks = "%e = dnn.weight %s [\"e\"] of attention : "
                              "<vector, {H}x1xf32>";

const AttentionLine Cached[] = {
    {"causal", 1, 1, 1},
    {"causal", 1, 1, 4},
    {"causal", 4, 2, 16},
    {"causal", 6, 2, 24},
    {"causal", 4, 4, 64},
    {"causal", 3, 1, 33},
    {"causal", 8, 1, 80},
    {"causal", 4, 2, 16, "bf16"},
    {"causal", 6, 3, 24, "bf16"},
    {"causal", 3, 1, 33, "bf16"},
    {"window", 4, 2, 16, "f32", "window 3"},
    {"window", 2, 1, 24, "f32", "window 65"},
    {"soft_cap", 2, 2, 16, "f32", "soft_cap 0.5"},
    {"sinks", 4, 2, 16, "f32", "sinks %e", Sinks,
     "!dnn.packed<vector, {H}x1xf32>, "},
    {"window, sinks", 3, 1, 20, "bf16", "window 9 sinks %e", Sinks,
     "!dnn.packed<vector, {H}x1xf32>, "},
    {"alibi", 4, 2, 16, "f32", "bias %e content #transformer.alibi<max = 8.0>",
     Alibi, "!dnn.packed<row_major, {H}x1xf32>, "},
    {"alibi", 5, 5, 7, "f32", "bias %e content #transformer.alibi<max = 8.0>",
     Alibi, "!dnn.packed<row_major, {H}x1xf32>, "},
    {"buckets", 3, 3, 16, "f32",
     "bias %e content #transformer.buckets<8, max = 12>", Buckets,
     "!dnn.packed<row_major, {H}x25xf32>, "},
    {"prefix", 4, 2, 16, "f32", "", "", "", "prefix"},
    {"prefix", 2, 1, 24, "bf16", "", "", "", "prefix"},
    {"causal", 1, 1, 1, "i8"},
    {"causal", 4, 2, 16, "i8"},
    {"causal", 6, 3, 24, "i8"},
    {"causal", 3, 1, 33, "i8"},
    {"window, sinks", 8, 1, 80, "i8", "window 9 sinks %e", Sinks,
     "!dnn.packed<vector, {H}x1xf32>, "},
    {"causal", 1, 1, 1, "bf16", "", "", "", "causal", "bf16"},
    {"causal", 4, 2, 16, "bf16", "", "", "", "causal", "bf16"},
    {"causal", 3, 1, 33, "bf16", "", "", "", "causal", "bf16"},
    {"causal", 12, 1, 80, "bf16", "", "", "", "causal", "bf16"},
    {"causal", 4, 4, 64, "bf16", "", "", "", "causal", "bf16"},
    // Keys of whole tiles, and blocks of 16 rows and fewer.
    {"causal", 8, 2, 32, "bf16", "", "", "", "causal", "bf16"},
    {"causal", 3, 1, 32, "bf16", "", "", "", "causal", "bf16"},
    {"causal", 14, 2, 64, "bf16", "", "", "", "causal", "bf16"},
    {"causal", 17, 1, 32, "bf16", "", "", "", "causal", "bf16"},
    {"window", 5, 1, 256, "bf16", "window 65", "", "", "causal", "bf16"},
    {"causal", 4, 2, 16, "f32", "", "", "", "causal", "bf16"},
    {"soft_cap, window", 2, 1, 24, "bf16", "window 65 soft_cap 0.5", "", "",
     "causal", "bf16"},
    {"alibi", 4, 2, 16, "bf16", "bias %e content #transformer.alibi<max = 8.0>",
     Alibi, "!dnn.packed<row_major, {H}x1xf32>, ", "causal", "bf16"},
    {"causal", 4, 2, 16, "i8", "", "", "", "causal", "bf16"},
    {"causal", 3, 1, 33, "i8", "", "", "", "causal", "bf16"},
    {"causal", 9, 1, 64, "i8", "", "", "", "causal", "bf16"},
    {"causal", 4, 1, 96, "i8", "", "", "", "causal", "bf16"},
    {"prefix", 2, 1, 24, "i8", "", "", "", "prefix", "bf16"}};

/// Two partitions of three pages have two of them each at most.
const AttentionLine Partitioned[] = {
    {"causal", 1, 1, 1, "f32", "", "", "", "causal", "f32", 3},
    {"causal", 6, 2, 24, "f32", "", "", "", "causal", "f32", 2},
    {"causal", 9, 1, 33, "bf16", "", "", "", "causal", "f32", 3},
    {"causal", 8, 1, 80, "i8", "", "", "", "causal", "f32", 3},
    {"causal", 3, 3, 16, "f32", "", "", "", "causal", "f32", 1},
    {"window", 2, 1, 24, "bf16", "window 65", "", "", "causal", "f32", 3},
    {"soft_cap", 4, 2, 16, "i8", "soft_cap 0.5", "", "", "causal", "f32", 2},
    {"sinks", 4, 2, 16, "f32", "sinks %e", Sinks,
     "!dnn.packed<vector, {H}x1xf32>, ", "causal", "f32", 3},
    {"window, sinks", 3, 1, 20, "bf16", "window 70 sinks %e", Sinks,
     "!dnn.packed<vector, {H}x1xf32>, ", "causal", "f32", 2},
    {"alibi", 5, 5, 7, "f32", "bias %e content #transformer.alibi<max = 8.0>",
     Alibi, "!dnn.packed<row_major, {H}x1xf32>, ", "causal", "f32", 3},
    {"buckets", 3, 3, 16, "f32",
     "bias %e content #transformer.buckets<8, max = 12>", Buckets,
     "!dnn.packed<row_major, {H}x25xf32>, ", "causal", "f32", 3},
    {"prefix", 2, 1, 24, "bf16", "", "", "", "prefix", "f32", 3},
    {"causal", 12, 1, 80, "bf16", "", "", "", "causal", "bf16", 3},
    {"causal", 1, 1, 1, "i8", "", "", "", "causal", "bf16", 3},
    {"causal", 4, 2, 16, "i8", "", "", "", "causal", "bf16", 2},
    {"causal", 3, 1, 33, "i8", "", "", "", "causal", "bf16", 3},
    {"soft_cap", 9, 1, 64, "i8", "soft_cap 0.5", "", "", "causal", "bf16", 3},
    {"window, sinks", 6, 2, 80, "i8", "window 70 sinks %e", Sinks,
     "!dnn.packed<vector, {H}x1xf32>, ", "causal", "bf16", 2},
    {"causal", 8, 1, 256, "i8", "", "", "", "causal", "bf16", 2}};

KernelCase cachedCase(const AttentionLine &Line) {
  KernelCase Case;
  Case.Name = nameOf(Line);
  Case.Settings = settingsOf(Line);
  Case.Inputs = {"{HD}", "{GD}", "{GD}"};
  Case.Output = "{HD}";
  Case.Cache = "!transformer.cache<" + Case.Settings["G"] + "x" +
               Case.Settings["D"] + "x" + Line.Format + ">";
  Case.HasPrefixes = Line.Mask == std::string("prefix");
  // No pass makes queries of bf16 for other levels.
  if (Line.Query == std::string("bf16"))
    Case.Needs = Line.Partitions && Line.Format == std::string("i8")
                     ? DotProduct::Int8
                     : DotProduct::BF16;
  Case.Body = R"(
      {T}
      %p = tensor.empty(%t) : tensor<?x{HD}x{Q}>
      %q = dnn.split_append %x0, %x1, %x2 to %c[%s], %b heads {H} kv_heads {G}
          outs(%p) : (tensor<?x{HD}xf32>, tensor<?x{GD}xf32>,
          tensor<?x{GD}xf32>, !cache, !scope, !batch, tensor<?x{HD}x{Q}>)
          -> tensor<?x{HD}x{Q}>
      %o = tensor.empty(%t) : tensor<?x{HD}xf32>
      {V}
      %r{C} = dnn.attention {M} %q, %b cache %c[%s] heads {H} kv_heads {G}
          scale 0.5 {O} {N} outs(%o{U}) : (tensor<?x{HD}x{Q}>, !batch, !cache,
          !scope, {E}tensor<?x{HD}xf32>{Y}) -> (tensor<?x{HD}xf32>{Y}))";
  Case.Steps = CachedSteps;
  return Case;
}

TEST_F(KernelTest, CachedAttention) {
  for (const AttentionLine &Line : Cached)
    check(cachedCase(Line));
}

TEST_F(KernelTest, PartitionedAttention) {
  for (const AttentionLine &Line : Partitioned)
    check(cachedCase(Line));
}

/// Norms and rotations on the way into the cache.
TEST_F(KernelTest, SplitAppends) {
  for (const AttentionLine &Line :
       {AttentionLine{"split", 4, 2, 16}, AttentionLine{"split", 6, 2, 24},
        AttentionLine{"split", 2, 1, 64, "bf16"},
        AttentionLine{"split", 3, 1, 34}})
    for (const char *Style : {"half", "interleaved"}) {
      KernelCase Case;
      Case.Name = nameOf(Line) + " " + Style;
      Case.Settings = settingsOf(Line);
      Case.Settings["S"] = Style;
      Case.Settings["W"] = std::to_string((Line.H + 2 * Line.G) * Line.D);
      Case.Inputs = {"{W}"};
      Case.Output = "{HD}";
      Case.Cache = "!transformer.cache<" + Case.Settings["G"] + "x" +
                   Case.Settings["D"] + "x" + Line.Format + ">";
      Case.Body = R"(
        %w = dnn.weight %s ["w"] of norm : <vector, {D}x1xf32>
        %v = dnn.weight %s ["v"] of norm : <vector, {D}x1xf32>
        %e = dnn.table #transformer.rope<{S}, dim = {D}, base = 100.0> in %s
            : <row_major, 192x{D}xf32>
        %p = tensor.empty(%t) : tensor<?x{HD}xf32>
        %q = dnn.split_append %x0 to %c[%s], %b heads {H} kv_heads {G}
            query_norm %w key_norm %v eps 0.01 norm_offset 1.0
            rope <{S}, dim = {D}, base = 100.0> table %e outs(%p)
            : (tensor<?x{W}xf32>, !cache, !scope, !batch,
               !dnn.packed<vector, {D}x1xf32>, !dnn.packed<vector, {D}x1xf32>,
               !dnn.packed<row_major, 192x{D}xf32>, tensor<?x{HD}xf32>)
            -> tensor<?x{HD}xf32>
        %o = tensor.empty(%t) : tensor<?x{HD}xf32>
        %r = dnn.attention causal %q, %b cache %c[%s] heads {H} kv_heads {G}
            scale 0.25 outs(%o) : (tensor<?x{HD}xf32>, !batch, !cache, !scope,
            tensor<?x{HD}xf32>) -> tensor<?x{HD}xf32>)";
      Case.Steps = CachedSteps;
      check(Case);
    }
}

/// Source texts, appended by another entry.
TEST_F(KernelTest, CrossAttention) {
  for (const AttentionLine &Line :
       {AttentionLine{"cross", 1, 1, 4}, AttentionLine{"cross", 4, 2, 16},
        AttentionLine{"cross", 6, 3, 24, "bf16"},
        AttentionLine{"cross", 2, 2, 65}}) {
    KernelCase Case;
    Case.Name = nameOf(Line);
    Case.Settings = settingsOf(Line);
    Case.Inputs = {"{HD}", "{GD}", "{GD}"};
    Case.Output = "{HD}";
    Case.Cache = "!transformer.cache<cross " + Case.Settings["G"] + "x" +
                 Case.Settings["D"] + "x" + Line.Format + ">";
    Case.Encode = R"(
      dnn.cache_append %c[%s], %b keys %x1 values %x2 : !cache, !scope, !batch,
          tensor<?x{GD}xf32>, tensor<?x{GD}xf32>
      %o = tensor.empty(%t) : tensor<?x{HD}xf32>
      %r = dnn.scale %x0 by 0.5 outs(%o) : (tensor<?x{HD}xf32>,
          tensor<?x{HD}xf32>) -> tensor<?x{HD}xf32>)";
    Case.Body = R"(
      %o = tensor.empty(%t) : tensor<?x{HD}xf32>
      %r = dnn.attention bidirectional %x0, %b cache %c[%s] heads {H}
          kv_heads {G} scale 0.5 outs(%o) : (tensor<?x{HD}xf32>, !batch,
          !cache, !scope, tensor<?x{HD}xf32>) -> tensor<?x{HD}xf32>)";
    Case.Steps = CachedSteps;
    check(Case);
  }
}

//===----------------------------------------------------------------------===//
// Attention without a cache
//===----------------------------------------------------------------------===//

const AttentionLine Staged[] = {
    {"staged", 1, 1, 1, "f32", "", "", "", "bidirectional"},
    {"staged", 4, 2, 16, "f32", "", "", "", "bidirectional"},
    {"staged", 3, 3, 33, "f32", "", "", "", "bidirectional"},
    {"staged", 4, 4, 64, "f32", "", "", "", "causal"},
    {"staged window", 2, 1, 24, "f32", "window 4", "", "", "bidirectional"},
    {"staged alibi", 4, 2, 16, "f32",
     "bias %e content #transformer.alibi<max = 8.0>", Alibi,
     "!dnn.packed<row_major, {H}x1xf32>, ", "bidirectional"},
    {"staged buckets", 3, 3, 16, "f32",
     "bias %e content #transformer.buckets<8, max = 12, bidirectional>",
     Buckets, "!dnn.packed<row_major, {H}x25xf32>, ", "bidirectional"},
    {"staged", 1, 1, 1, "bf16", "", "", "", "bidirectional", "bf16"},
    {"staged", 4, 2, 16, "bf16", "", "", "", "bidirectional", "bf16"},
    {"staged", 3, 3, 33, "bf16", "", "", "", "bidirectional", "bf16"},
    {"staged", 4, 4, 64, "bf16", "", "", "", "causal", "bf16"},
    {"staged window", 2, 1, 24, "bf16", "window 4", "", "", "bidirectional",
     "bf16"}};

TEST_F(KernelTest, StagedAttention) {
  for (const AttentionLine &Line : Staged) {
    KernelCase Case;
    Case.Name = nameOf(Line) + " " + Line.Mask;
    Case.Settings = settingsOf(Line);
    bool IsBF16 = Line.Format == std::string("bf16");
    PageLayout Layout = {Line.G, Line.D,
                         IsBF16 ? CacheFormat::BF16 : CacheFormat::F32};
    Case.Settings["P"] = std::to_string(Layout.elements());
    Case.Steps.push_back({63, 66, 1, 33});
    // No pass stages bf16 for other levels.
    if (IsBF16)
      Case.Needs = DotProduct::BF16;
    Case.Inputs = {"{HD}", "{GD}", "{GD}"};
    Case.Output = "{HD}";
    Case.Body = R"(
      {T}
      %k = dnn.count staged_pages %b
      %p = tensor.empty(%t) : tensor<?x{HD}x{Q}>
      %l = tensor.empty(%k) : tensor<?x{P}x{F}>
      %q:2 = dnn.split_stage %x0, %x1, %x2 of %b heads {H} kv_heads {G}
          outs(%p, %l) : (tensor<?x{HD}xf32>, tensor<?x{GD}xf32>,
          tensor<?x{GD}xf32>, !batch, tensor<?x{HD}x{Q}>, tensor<?x{P}x{F}>)
          -> (tensor<?x{HD}x{Q}>, tensor<?x{P}x{F}>)
      %o = tensor.empty(%t) : tensor<?x{HD}xf32>
      %r = dnn.attention {M} %q#0, %b staged %q#1 heads {H} kv_heads {G}
          scale 0.5 {O} outs(%o) : (tensor<?x{HD}x{Q}>, !batch,
          tensor<?x{P}x{F}>, {E}tensor<?x{HD}xf32>) -> tensor<?x{HD}xf32>)";
    check(Case);
  }
}

//===----------------------------------------------------------------------===//
// Latent attention
//===----------------------------------------------------------------------===//

TEST_F(KernelTest, LatentAttention) {
  struct LatentLine {
    int64_t Heads, Latent, Rotated, Key, Value;
    const char *Format;
    int64_t Partitions = 0; ///< As of AttentionLine.
    const char *Query = "f32";
    /// Expanded keys are bf16 then: a larger one would magnify their rounding.
    const char *Scale = "0.5";
  };
  for (const LatentLine &Line :
       {LatentLine{1, 4, 2, 1, 1, "f32"}, LatentLine{3, 4, 2, 3, 2, "f32"},
        LatentLine{2, 16, 8, 16, 16, "f32"}, LatentLine{4, 37, 6, 9, 17, "f32"},
        LatentLine{2, 16, 8, 16, 16, "bf16"},
        LatentLine{19, 37, 6, 9, 17, "bf16"},
        LatentLine{1, 4, 2, 1, 1, "f32", 3},
        LatentLine{3, 4, 2, 3, 2, "f32", 2},
        LatentLine{16, 270, 8, 16, 16, "bf16", 1},
        LatentLine{19, 37, 6, 9, 17, "f32", 3},
        LatentLine{5, 255, 9, 3, 2, "bf16", 2},
        LatentLine{2, 37, 6, 9, 17, "bf16", 0, "bf16"},
        LatentLine{3, 32, 6, 9, 17, "bf16", 0, "bf16"},
        LatentLine{2, 64, 16, 48, 40, "bf16", 0, "bf16", "0.125"},
        LatentLine{19, 32, 32, 9, 17, "bf16", 0, "bf16", "0.25"},
        LatentLine{3, 64, 32, 9, 17, "bf16", 2, "bf16", "0.25"}}) {
    KernelCase Case;
    Case.Name = "latent " + std::to_string(Line.Heads) + " of " +
                std::to_string(Line.Latent) + "+" +
                std::to_string(Line.Rotated) + " " + Line.Format +
                ", queries of " + Line.Query + ", " +
                std::to_string(Line.Partitions) + " partitions";
    auto Put = [&](const char *Name, int64_t Value) {
      Case.Settings[Name] = std::to_string(Value);
    };
    Put("H", Line.Heads);
    Put("L", Line.Latent);
    Put("R", Line.Rotated);
    Put("K", Line.Key);
    Put("V", Line.Value);
    Put("Q", Line.Heads * (Line.Key + Line.Rotated));
    Put("X", Line.Heads * (Line.Key + Line.Value));
    Put("O", Line.Heads * Line.Value);
    Put("S", Line.Heads * (Line.Value + 2));
    Put("Z", Line.Heads * (Line.Latent + Line.Rotated +
                           Line.Partitions * (Line.Latent + 2)));
    Case.Settings["F"] = Line.Format;
    Case.Settings["E"] = Line.Query;
    Case.Settings["G"] = Line.Scale;
    bool HasPartitions = Line.Partitions > 0;
    Case.Settings["N"] = HasPartitions ? "partition_pages 1" : "";
    Case.Settings["D"] =
        HasPartitions ? "%d = tensor.empty(%t) : tensor<?x{Z}xf32>" : "";
    Case.Settings["U"] = HasPartitions ? ", %d" : "";
    Case.Settings["Y"] = HasPartitions ? ", tensor<?x{Z}xf32>" : "";
    Case.Settings["C"] = HasPartitions ? "3" : "2";
    Case.Inputs = {"{Q}", "{L}", "{R}"};
    Case.Output = "{O}";
    Case.Cache = "!transformer.cache<latent 1x" +
                 std::to_string(Line.Latent + Line.Rotated) + "x" +
                 Line.Format + ">";
    Case.Body = R"(
      %e = dnn.weight %s ["e"] of attention : <row_major, {X}x{L}x{F}>
      dnn.latent_append %c[%s], %b latent %x1 rotated %x2 : !cache, !scope,
          !batch, tensor<?x{L}xf32>, tensor<?x{R}xf32>
      %y = tensor.empty(%t) : tensor<?x{Q}x{E}>
      %q = dnn.cast %x0 outs(%y) : (tensor<?x{Q}xf32>, tensor<?x{Q}x{E}>)
          -> tensor<?x{Q}x{E}>
      %o = tensor.empty(%t) : tensor<?x{O}xf32>
      %p = tensor.empty(%t) : tensor<?x{S}xf32>
      {D}
      %a:{C} = dnn.latent_attention %q, %b cache %c[%s] expand %e heads {H}
          key_dim {K} value_dim {V} scale {G} {N} outs(%o, %p{U})
          : (tensor<?x{Q}x{E}>, !batch, !cache, !scope,
             !dnn.packed<row_major, {X}x{L}x{F}>, tensor<?x{O}xf32>,
             tensor<?x{S}xf32>{Y})
          -> (tensor<?x{O}xf32>, tensor<?x{S}xf32>{Y})
      %u = tensor.empty(%t) : tensor<?x{O}xf32>
      %r = dnn.scale %a#0 by 1.0 outs(%u) : (tensor<?x{O}xf32>,
          tensor<?x{O}xf32>) -> tensor<?x{O}xf32>)";
    Case.Steps = CachedSteps;
    // More pages than are expanded at once.
    Case.Steps.insert(Case.Steps.end(), {{190}, {0, 150}, {0, 40}});
    check(Case);
  }
}

//===----------------------------------------------------------------------===//
// Mixtures of experts
//===----------------------------------------------------------------------===//

TEST_F(KernelTest, Moe) {
  struct MoeLine {
    int64_t Width, Inner, Experts, Top;
    const char *Format, *Router;
    bool HasAll;  ///< Correction, biases and limits.
    int Bits = 0; ///< Of rows of grouped integers.
  };
  for (const MoeLine &Line :
       {MoeLine{1, 1, 2, 1, "f32", "<softmax, top = {K}>", false},
        MoeLine{16, 8, 4, 2, "f32", "<softmax, top = {K}, normalize>", false},
        MoeLine{37, 63, 5, 3, "f32", "<sigmoid, top = {K}, normalize>", true},
        MoeLine{64, 100, 8, 2, "f32", "<softmax, top = {K}>", true},
        MoeLine{16, 8, 4, 2, "bf16", "<softmax, top = {K}>", false},
        MoeLine{37, 63, 5, 3, "bf16", "<sigmoid, top = {K}, normalize>", true},
        MoeLine{37, 63, 5, 3, "q4_k", "<softmax, top = {K}>", true},
        MoeLine{37, 64, 5, 3, "q4_k", "<softmax, top = {K}>", true, 8},
        MoeLine{300, 96, 4, 2, "q6_k", "<softmax, top = {K}>", false, 16},
        MoeLine{33, 45, 3, 1, "q8_0", "<softmax, top = {K}>", true, 8}}) {
    KernelCase Case;
    Case.Name = "moe " + std::to_string(Line.Width) + " " + Line.Format +
                (Line.Bits ? " of " + std::to_string(Line.Bits) + " bits" : "");
    if (Line.Bits)
      Case.Needs = DotProduct::Int8;
    std::string Element =
        Line.Bits ? "!dnn.grouped<" + std::to_string(Line.Bits) + ">" : "f32";
    // %q is %x in the type that matmuls read.
    auto Cast = [&](const std::string &X, const std::string &Width,
                    const std::string &Q) {
      std::string From = "tensor<?x" + Width + "xf32>";
      std::string To = "tensor<?x" + Width + "x" + Element + ">";
      return Q + "e = tensor.empty(%t) : " + To + "\n" + Q + " = dnn.cast " +
             X + " outs(" + Q + "e) : (" + From + ", " + To + ") -> " + To +
             "\n";
    };
    auto Put = [&](const char *Name, int64_t Value) {
      Case.Settings[Name] = std::to_string(Value);
    };
    Put("W", Line.Width);
    Put("I", Line.Inner);
    Put("N", Line.Experts);
    Put("N1", Line.Experts + 1);
    Put("K", Line.Top);
    Put("KI", Line.Top * Line.Inner);
    Put("KW", Line.Top * Line.Width);
    Case.Settings["F"] = Line.Format;
    Case.Inputs = {"{W}", "{N}"};
    Case.Output = "{W}";
    auto If = [&](const char *Text) {
      return Line.HasAll ? std::string(Text) : std::string();
    };
    Case.Body =
        "%g = dnn.weight %s [\"g\"] of ffn : <panels, {N}x{I}x{W}x{F}>\n"
        "%u = dnn.weight %s [\"u\"] of ffn : <panels, {N}x{I}x{W}x{F}>\n"
        "%d = dnn.weight %s [\"d\"] of ffn : <panels, {N}x{W}x{I}x{F}>\n"
        "%gb = dnn.weight %s [\"gb\"] of ffn : <row_major, {N}x{I}xf32>\n"
        "%db = dnn.weight %s [\"db\"] of ffn : <row_major, {N}x{W}xf32>\n"
        "%k = dnn.weight %s [\"k\"] of ffn : <vector, {N}x1xf32>\n"
        "%o0 = tensor.empty(%t) : tensor<?x{K}xi32>\n"
        "%o1 = tensor.empty(%t) : tensor<?x{K}xf32>\n"
        "%a:2 = dnn.moe_route %x1 " +
        If("correction %k ") + Line.Router +
        " outs(%o0, %o1) : (tensor<?x{N}xf32>, " +
        If("!dnn.packed<vector, {N}x1xf32>, ") +
        "tensor<?x{K}xi32>, tensor<?x{K}xf32>) -> (tensor<?x{K}xi32>, "
        "tensor<?x{K}xf32>)\n"
        "%o2 = tensor.empty(%t) : tensor<?x{K}xi32>\n"
        "%o3 = tensor.empty() : tensor<1x{N1}xi32>\n"
        "%l:2 = dnn.moe_group %a#0 outs(%o2, %o3) : (tensor<?x{K}xi32>, "
        "tensor<?x{K}xi32>, tensor<1x{N1}xi32>) -> (tensor<?x{K}xi32>, "
        "tensor<1x{N1}xi32>)\n"
        "%o4 = tensor.empty(%t) : tensor<?x{KI}xf32>\n" +
        Cast("%x0", "{W}", "%q") +
        "%h = dnn.moe_gate_up silu %q by %l#0, %l#1 gate %g " +
        If("bias %gb ") + "up %u " + If("bias %gb limit 0.25 up_offset 1.0 ") +
        "outs(%o4) : (tensor<?x{W}x" + Element +
        ">, tensor<?x{K}xi32>, "
        "tensor<1x{N1}xi32>, !dnn.packed<panels, {N}x{I}x{W}x{F}>, "
        "!dnn.packed<panels, {N}x{I}x{W}x{F}>, " +
        If("!dnn.packed<row_major, {N}x{I}xf32>, !dnn.packed<row_major, "
           "{N}x{I}xf32>, ") +
        "tensor<?x{KI}xf32>) -> tensor<?x{KI}xf32>\n" +
        Cast("%h", "{KI}", "%hq") +
        "%o5 = tensor.empty(%t) : tensor<?x{KW}xf32>\n"
        "%p = dnn.moe_down %hq by %l#0, %l#1 down %d " +
        If("bias %db ") + "outs(%o5) : (tensor<?x{KI}x" + Element +
        ">, tensor<?x{K}xi32>, "
        "tensor<1x{N1}xi32>, !dnn.packed<panels, {N}x{W}x{I}x{F}>, " +
        If("!dnn.packed<row_major, {N}x{W}xf32>, ") +
        "tensor<?x{KW}xf32>) -> tensor<?x{KW}xf32>\n"
        "%o6 = tensor.empty(%t) : tensor<?x{W}xf32>\n"
        "%r = dnn.moe_combine %p by %a#1 outs(%o6) : (tensor<?x{KW}xf32>, "
        "tensor<?x{K}xf32>, tensor<?x{W}xf32>) -> tensor<?x{W}xf32>";
    check(Case);
    if (Line.Bits == 0)
      continue;
    Case.Name += ", quantised as they are stored";
    Case.FoldsCasts = true;
    check(Case);
  }
}

} // namespace
