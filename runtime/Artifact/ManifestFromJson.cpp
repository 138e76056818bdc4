//===- ManifestFromJson.cpp - Reading the manifest's JSON -----------------===//

#include "runtime/Abi/Limits.h"
#include "runtime/Abi/TenonRt.h"
#include "runtime/Artifact/Format.h"
#include "runtime/Artifact/Manifest.h"
#include "runtime/Artifact/ManifestReader.h"
#include "runtime/Chat/Limits.h"
#include "runtime/ToolCalls/ToolFormat.h"

#include <limits>
#include <set>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::image;

namespace {

constexpr int64_t MaxBytes = int64_t(1) << 46; ///< Of a file or an arena.
constexpr int64_t MaxHeads = 1 << 16;
constexpr int64_t MaxId = std::numeric_limits<int32_t>::max();
constexpr int64_t MaxBeams = 1024;
constexpr int64_t MaxChannels = 64;
/// Concatenated weights carry the names of all their parts.
constexpr size_t MaxWeightName = 16 * ManifestReader::MaxName;

std::optional<CacheContent> cacheContentNamed(std::string_view Name) {
  for (CacheContent Content : {CacheContent::Sequence, CacheContent::Cross})
    if (nameOf(Content) == Name)
      return Content;
  return std::nullopt;
}

std::optional<std::string> cacheFormNamed(std::string_view Name) {
  if (Name == KeysValuesForm || Name == LatentForm)
    return std::string(Name);
  return std::nullopt;
}

void readSection(ManifestReader &R, uint64_t &Offset, uint64_t &Bytes,
                 uint64_t &Checksum) {
  R.integer("offset", Offset, ArtifactPage, MaxBytes);
  R.integer("bytes", Bytes, 1, MaxBytes);
  R.checksum("checksum", Checksum);
  if (Offset % ArtifactPage != 0)
    R.fail("offset", "a multiple of " + std::to_string(ArtifactPage));
}

void readEntry(ManifestReader &R, EntryInfo &E) {
  R.name("role", E.Role, 64);
  // The role becomes part of a symbol.
  if (E.Role.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") !=
      std::string::npos)
    R.fail("role", "small letters, digits and '_'");
  R.named("output", E.Output, OutputKinds);
  R.integer("width", E.Width, 1, MaxSide);
  R.boolean("uses_token_types", E.UsesTokenTypes);
  R.integer("features", E.Features, 0, MaxSide);
  R.integer("vocabulary", E.Vocabulary, 0, MaxVocabulary);
  if (E.Role == "encode_image" && E.Features == 0)
    R.fail("features", "at least 1 for the entry 'encode_image'");
}

void readCache(ManifestReader &R, CacheInfo &C) {
  R.integer("layers", C.Layers, 1, MaxLayers);
  R.integer("kv_heads", C.KvHeads, 1, MaxHeads);
  R.integer("head_dim", C.HeadDim, 1, MaxHeads);
  R.named("type", C.Format, CacheFormats);
  R.integer("page_tokens", C.PageTokens, 16, MaxHeads);
  if (C.PageTokens % 16 != 0)
    R.fail("page_tokens", "a multiple of 16");
  R.choice("content", C.Content, cacheContentNamed, "sequence or cross");
  R.choice("form", C.Form, cacheFormNamed, "keys_values or latent");
  bool Latent = C.Form == LatentForm;
  if (Latent && C.KvHeads != 1)
    R.fail("kv_heads", "1 for a latent cache");
  if (Latent && infoOf(C.Format).HasScales)
    R.fail("type", "f32 or bf16 for a latent cache");
  if (R.failed())
    return;
  // At most 2^16 * 2^16 * 2^17 * 4.
  int64_t Needed = Latent ? C.PageTokens * C.HeadDim * infoOf(C.Format).Bytes
                          : C.layout().bytes();
  R.integer("page_bytes", C.PageBytes, 1, std::numeric_limits<int64_t>::max());
  if (C.PageBytes < Needed || C.PageBytes > MaxBytes)
    R.fail("page_bytes", std::to_string(Needed) + " to " +
                             std::to_string(MaxBytes) +
                             " for these heads and tokens");
}

void readWeight(ManifestReader &R, WeightInfo &W) {
  R.name("name", W.Name, MaxWeightName);
  R.choice("layout", W.Layout, layoutNamed,
           "a layout such as row_major.f32 or panels.bf16");
  R.integer("rows", W.Rows, 1, MaxRows);
  R.integer("columns", W.Columns, 1, MaxSide);
  readSection(R, W.Offset, W.Bytes, W.Checksum);
  if (R.failed())
    return;
  if (W.Layout.Kind == LayoutKind::Vector && W.Columns != 1)
    R.fail("columns", "1 for a vector");
  auto Packed = static_cast<uint64_t>(packedBytes(W.Layout, W.Rows, W.Columns));
  if (W.Bytes != Packed)
    R.fail("bytes", std::to_string(Packed) + " for " + std::to_string(W.Rows) +
                        " x " + std::to_string(W.Columns) + " in " +
                        nameOf(W.Layout));
}

void readPrimitive(ManifestReader &R, PrimitiveInfo &S) {
  R.integer("k", S.K, 1, MaxSide);
  R.integer("n", S.N, 1, MaxSide);
  R.named("source", S.Source, PlainFormats);
  R.named("destination", S.Destination, PlainFormats);
  R.choice("layout", S.Layout, layoutNamed,
           "a layout such as row_major.f32 or panels.bf16");
  if (S.Layout.Kind == LayoutKind::Vector ||
      infoOf(S.Layout.Format).isQuantised())
    R.fail("layout", "a layout of matrices of plain numbers");
  R.boolean("bias", S.HasBias);
  R.named("activation", S.Act, Activations);
  R.optionalFormat("multiplier", S.Multiplier);
  R.optionalFormat("residual", S.Residual);
}

void readBuffer(ManifestReader &R, PlannedBuffer &B, uint64_t ArenaBytes) {
  R.name("function", B.Function);
  R.name("value", B.Value);
  R.integer("offset", B.Offset, 0, MaxBytes);
  R.integer("bytes", B.Bytes, 0, MaxBytes);
  R.integer("first_use", B.FirstUse, 0, std::numeric_limits<int64_t>::max());
  R.integer("last_use", B.LastUse, 0, std::numeric_limits<int64_t>::max());
  if (B.Offset + B.Bytes > ArenaBytes)
    R.fail("offset", "offset + bytes (" + std::to_string(B.Bytes) +
                         ") within the arena of " + std::to_string(ArenaBytes));
  if (B.LastUse < B.FirstUse)
    R.fail("last_use", "at least the first use, " + std::to_string(B.FirstUse));
}

void readCost(ManifestReader &R, KernelCost &Cost) {
  for (const KernelCostField &Field : KernelCostFields)
    R.integer(Field.Name, Cost.*Field.Member, Field.Default, MaxKernelCost);
  R.named("keys", Cost.Keys, KeysSeenKinds);
  R.named("numbers", Cost.Numbers, Arithmetics);
  if (Cost.UsedParts > Cost.Parts)
    R.fail("used_parts", "at most the parts, " + std::to_string(Cost.Parts));
}

void readKernel(ManifestReader &R, KernelInfo &K, const CodeInfo &C) {
  R.name("text", K.Text, MaxWeightName);
  R.name("function", K.Function);
  R.optionalInteger("primitive", K.Primitive, 0,
                    static_cast<int64_t>(C.Primitives.size()) - 1);
  if (!R.isNull("reason"))
    R.name("reason", K.Reason);
  R.object("cost", [&](ManifestReader &Nested) { readCost(Nested, K.Cost); });
}

void readCode(ManifestReader &R, CodeInfo &C) {
  R.choice("level", C.Level, cpuLevelNamed, "a CPU level such as avx2");
  readSection(R, C.Offset, C.Bytes, C.Checksum);
  R.integer("arena_bytes", C.ArenaBytes, 0, MaxBytes);
  // Code of before ABI 5.1 has none.
  if (R.has("scratch_bytes"))
    R.integer("scratch_bytes", C.ScratchBytes, 0, MaxBytes);
  R.objects("primitives", C.Primitives, readPrimitive);
  R.objects("plan", C.Plan, [&](ManifestReader &Nested, PlannedBuffer &B) {
    readBuffer(Nested, B, C.ArenaBytes);
  });
  if (auto Kernels = R.member("kernels");
      Kernels && Kernels->json().size() > static_cast<size_t>(MaxKernels))
    return R.fail("kernels",
                  "at most " + std::to_string(MaxKernels) + " elements");
  R.objects("kernels", C.Kernels, [&](ManifestReader &Nested, KernelInfo &K) {
    readKernel(Nested, K, C);
  });
}

void readScope(ManifestReader &R, ScopeInfo &S, const Manifest &M) {
  R.name("name", S.Name);
  R.integers("cache_layers", S.CacheLayers, -1, MaxLayers - 1);
  // -1 is a weight that this scope does not use.
  R.integers("weights", S.Weights, -1,
             static_cast<int64_t>(M.Weights.size()) - 1);
  if (S.CacheLayers.size() != M.Caches.size())
    return R.fail("cache_layers",
                  std::to_string(M.Caches.size()) + " elements");
  for (size_t I = 0; I < M.Caches.size(); ++I)
    if (S.CacheLayers[I] >= M.Caches[I].Layers)
      R.fail("cache_layers", "layers below " +
                                 std::to_string(M.Caches[I].Layers) +
                                 " for cache " + std::to_string(I));
}

/// A boolean, or "never".
void readEarlyStopping(ManifestReader &R, sampling::EarlyStopping &Mode) {
  using enum sampling::EarlyStopping;
  auto Field = R.member("early_stopping");
  if (!Field)
    return;
  bool IsOn = false;
  if (Field->json() == nameOf(Never))
    Mode = Never;
  else if (!Field->json().is_boolean())
    R.fail("early_stopping", "true, false or 'never'");
  else if (R.boolean("early_stopping", IsOn); IsOn)
    Mode = Yes;
}

void readGeneration(ManifestReader &R, GenerationInfo &G) {
  R.integers("end_of_sequence", G.EndOfSequence, 0, MaxId);
  R.boolean("sample", G.Sample);
  R.optionalNumber("temperature", G.Temperature, 0, 1e6);
  R.optionalInteger("top_k", G.TopK, 0, MaxId);
  R.optionalNumber("top_p", G.TopP, 0, 1);
  R.optionalInteger("decoder_start", G.DecoderStart, 0, MaxId);
  R.optionalInteger("forced_first", G.ForcedFirst, 0, MaxId);
  R.optionalInteger("forced_last", G.ForcedLast, 0, MaxId);
  R.integers("suppressed", G.Suppressed, 0, MaxId);
  R.integer("beams", G.Beams, 1, MaxBeams);
  R.number("length_penalty", G.LengthPenalty, -1e6, 1e6);
  readEarlyStopping(R, G.Stops);
  R.integer("no_repeat_ngram", G.NoRepeatNgram, 0, MaxContext);
  R.number("repetition_penalty", G.RepetitionPenalty, 1e-6, 1e6);
  R.integer("min_length", G.MinLength, 0, MaxContext);
  R.optionalInteger("max_length", G.MaxLength, 1, MaxContext);
  R.optionalInteger("max_new_tokens", G.MaxNewTokens, 0, MaxContext);
  R.boolean("renormalize", G.Renormalize);
  // Artifacts of before lack the following, all of them.
  if (!R.has("min_p"))
    return;
  R.optionalNumber("min_p", G.MinP, 0, 1);
  R.optionalNumber("typical_p", G.TypicalP, 0, 1);
  R.integer("min_new_tokens", G.MinNewTokens, 0, MaxContext);
  R.integerLists("bad_words", G.BadWords, 0, MaxId);
  R.strings("stop_strings", G.StopStrings);
  for (const std::vector<int32_t> &Word : G.BadWords)
    if (Word.empty())
      R.fail("bad_words", "words of at least one token");
  for (const std::string &Text : G.StopStrings)
    if (Text.empty())
      R.fail("stop_strings", "strings of at least one byte");
}

void readChat(ManifestReader &R, ChatInfo &C) {
  R.texts("templates", C.Templates, chat::MaxTemplateBytes);
  R.texts("tokens", C.Tokens, ManifestReader::MaxName);
  if (!R.failed() && C.Templates.empty())
    R.fail("templates", "at least one template");
  if (!R.has("tool_format") || R.isNull("tool_format"))
    return; // artifacts of before lack it
  R.name("tool_format", C.ToolFormat);
  if (!R.failed() && !tools::findToolFormat(C.ToolFormat))
    R.fail("tool_format", "one of " + tools::toolFormatNames());
}

void readImageInfo(ManifestReader &R, ImageInfo &I) {
  R.integer("channels", I.Channels, 1, MaxChannels);
  R.integer("height", I.Height, 1, MaxImageSide);
  R.integer("width", I.Width, 1, MaxImageSide);
  R.integer("patch_height", I.PatchHeight, 1, MaxImageSide);
  R.integer("patch_width", I.PatchWidth, 1, MaxImageSide);
  if (R.failed())
    return;
  // At most 2^6 * 2^16 * 2^16.
  if (I.Channels * I.Height * I.Width > MaxSide)
    R.fail("height", "at most " + std::to_string(MaxSide) +
                         " values in an image of " +
                         std::to_string(I.Channels) + " channels and width " +
                         std::to_string(I.Width));
  if (I.PatchHeight > I.Height)
    R.fail("patch_height", "at most the height, " + std::to_string(I.Height));
  if (I.PatchWidth > I.Width)
    R.fail("patch_width", "at most the width, " + std::to_string(I.Width));
  auto Field = R.member("preprocessing");
  if (!Field)
    return;
  Result<ImagePreprocessing> Steps = imagePreprocessingFromJson(*Field);
  if (!Steps)
    return R.fail(Steps.error());
  I.Preprocessing = std::move(*Steps);
  if (I.Preprocessing.Channels != I.Channels ||
      I.Preprocessing.Height != I.Height || I.Preprocessing.Width != I.Width)
    R.fail("preprocessing",
           "steps that result in " + std::to_string(I.Channels) + " x " +
               std::to_string(I.Height) + " x " + std::to_string(I.Width));
  if (!R.has("token"))
    return; // artifacts of before lack it and the following
  R.optionalInteger("token", I.Token, 0, MaxId);
  if (I.Token)
    R.integer("rows", I.Rows, 1, I.patches() + 1);
  else
    R.integer("rows", I.Rows, 0, 0);
}

/// What "step" and "encode_image" say of the images in prompts.
void checkPromptImages(ManifestReader &R, const Manifest &M) {
  const EntryInfo *Step = nullptr, *Encode = nullptr;
  for (const EntryInfo &E : M.Entries)
    if (E.Role == "step")
      Step = &E;
    else if (E.Role == "encode_image")
      Encode = &E;
  bool HasToken = M.Image && M.Image->Token;
  bool Merges = Step && Step->Features != 0;
  if (!HasToken && !Merges)
    return;
  if (!HasToken)
    return R.fail("image", "an object with a token for an entry 'step' with "
                           "features");
  if (!Merges)
    return R.fail("entries", "an entry 'step' with features for images with a "
                             "token");
  if (!Encode || Encode->Output != OutputKind::Hidden ||
      Encode->Width != Step->Features)
    return R.fail("entries",
                  "an entry 'encode_image' that answers hidden rows of " +
                      std::to_string(Step->Features) +
                      ", the features of 'step'");
  if (*M.Image->Token >= M.vocabularyOf(*Step))
    R.fail("image", "a token below " + std::to_string(M.vocabularyOf(*Step)) +
                        ", the vocabulary of 'step'");
}

/// What fields say of each other when entries, caches and image are read.
void checkConsistency(ManifestReader &R, const Manifest &M) {
  bool HasCross =
      std::any_of(M.Caches.begin(), M.Caches.end(), [](const CacheInfo &C) {
        return C.Content == CacheContent::Cross;
      });
  if (HasCross != (M.MaxSource != 0))
    R.fail("max_source", HasCross ? "at least 1 with a cross-attention cache"
                                  : "0 without a cross-attention cache");
  for (const EntryInfo &E : M.Entries) {
    if (E.Role != "encode_image")
      continue;
    if (!M.Image)
      return R.fail("image", "an object for the entry 'encode_image'");
    int64_t Values =
        M.Image->Channels * M.Image->PatchHeight * M.Image->PatchWidth;
    if (E.Features != Values)
      R.fail("image", "patches of " + std::to_string(E.Features) +
                          " values, the features of 'encode_image'");
  }
  checkPromptImages(R, M);
}

/// Every element of `Values` must have its own `KeyOf(Value)`.
template <typename T, typename Function>
void checkDistinct(ManifestReader &R, const std::string &Field,
                   const std::vector<T> &Values, const std::string &File,
                   Function KeyOf) {
  std::set<std::string> Seen;
  for (const T &Value : Values) {
    std::string Key = KeyOf(Value);
    if (!Seen.insert(Key).second)
      return R.fail(Error(File + ": field '" + Field + "' has " +
                          printable(Key) + " twice: expected distinct values"));
  }
}

/// No two sections share a byte.
void checkOverlaps(ManifestReader &R, const Manifest &M,
                   const std::string &File) {
  std::vector<ArtifactSection> Sections = sectionsOf(M);
  std::sort(Sections.begin(), Sections.end(),
            [](const ArtifactSection &A, const ArtifactSection &B) {
              return A.Offset < B.Offset;
            });
  for (size_t I = 1; I < Sections.size(); ++I) {
    const ArtifactSection &Before = Sections[I - 1];
    const ArtifactSection &After = Sections[I];
    if (After.Offset < Before.Offset + Before.Bytes)
      return R.fail(Error(
          File + ": " + After.Name + " is at offset " +
          std::to_string(After.Offset) + ": expected it after the end of " +
          Before.Name + " at " + std::to_string(Before.Offset + Before.Bytes)));
  }
}

} // namespace

Result<Manifest> artifact::manifestFromJson(const Json &J,
                                            std::string_view File) {
  std::string Where(File);
  std::optional<Error> Failure;
  ManifestReader R(JsonField(J, Where), Failure);
  Manifest M;
  // First: another ABI explains every other difference.
  constexpr int64_t MaxVersion = std::numeric_limits<int32_t>::max();
  R.integer("abi_major", M.AbiMajor, 0, MaxVersion);
  R.integer("abi_minor", M.AbiMinor, 0, MaxVersion);
  if (!R.failed() && M.AbiMajor != TENON_RT_ABI_MAJOR)
    R.fail("abi_major", std::to_string(TENON_RT_ABI_MAJOR) +
                            " (compile the model again with this version)");
  if (!R.failed() && M.AbiMinor > TENON_RT_ABI_MINOR)
    R.fail("abi_minor", "at most " + std::to_string(TENON_RT_ABI_MINOR) +
                            " (run the model with a newer version)");
  R.name("produced_by", M.ProducedBy);
  R.name("family", M.Family);
  R.name("weight_type", M.WeightType);
  R.integer("vocabulary", M.Vocabulary, 0, MaxVocabulary);
  R.integer("max_sequence", M.MaxSequence, 1, MaxContext);
  R.integer("max_tokens_per_step", M.MaxTokensPerStep, 1, MaxContext);
  R.integer("few_tokens", M.FewTokens, 0, MaxContext);
  R.integer("token_types", M.TokenTypes, 0, MaxHeads);
  R.boolean("prefix_mask", M.HasPrefixMask);
  R.optionalInteger("max_text_tokens", M.MaxTextTokens, 1, MaxContext);
  R.integer("max_source", M.MaxSource, 0, MaxContext);
  R.objects("entries", M.Entries, readEntry);
  R.objects("caches", M.Caches, readCache);
  R.objects("weights", M.Weights, readWeight);
  R.objects("scopes", M.Scopes, [&](ManifestReader &Nested, ScopeInfo &S) {
    readScope(Nested, S, M);
  });
  R.objects("code", M.Code, readCode);
  if (!R.isNull("tokenizer"))
    R.object("tokenizer", [&](ManifestReader &Nested) {
      TokenizerInfo &T = M.Tokenizer.emplace();
      readSection(Nested, T.Offset, T.Bytes, T.Checksum);
    });
  // Artifacts of before lack it.
  if (R.has("prefixes") && !R.isNull("prefixes"))
    R.object("prefixes", [&](ManifestReader &Nested) {
      PrefixesInfo &P = M.Prefixes.emplace();
      readSection(Nested, P.Offset, P.Bytes, P.Checksum);
      Nested.integer("prompts", P.Prompts, 1, MaxContext);
      Nested.integer("tokens", P.Tokens, 1, MaxContext);
    });
  R.object("generation", [&](ManifestReader &Nested) {
    readGeneration(Nested, M.Generation);
  });
  // Artifacts of before lack it.
  if (R.has("chat") && !R.isNull("chat"))
    R.object("chat", [&](ManifestReader &Nested) {
      readChat(Nested, M.Chat.emplace());
    });
  if (!R.isNull("image"))
    R.object("image", [&](ManifestReader &Nested) {
      readImageInfo(Nested, M.Image.emplace());
    });
  R.strings("labels", M.Labels);
  for (auto [Key, Target] : {std::pair("estimates", &M.Estimates),
                             std::pair("compiled", &M.Compiled)})
    if (auto Field = R.member(Key)) {
      if (!Field->json().is_object() && !Field->json().is_null())
        R.fail(Field->expected("an object"));
      *Target = Field->json();
    }
  if (R.failed())
    return *Failure;

  checkDistinct(R, "entries", M.Entries, Where,
                [](const EntryInfo &E) { return E.Role; });
  checkDistinct(R, "scopes", M.Scopes, Where,
                [](const ScopeInfo &S) { return S.Name; });
  // A tensor may be stored in two layouts, but only once in each.
  checkDistinct(R, "weights", M.Weights, Where, [](const WeightInfo &W) {
    return W.Name + " in " + nameOf(W.Layout);
  });
  checkDistinct(R, "code", M.Code, Where, [](const CodeInfo &C) {
    return std::string(infoOf(C.Level).Name);
  });
  checkOverlaps(R, M, Where);
  checkConsistency(R, M);
  if (R.failed())
    return *Failure;
  return M;
}
