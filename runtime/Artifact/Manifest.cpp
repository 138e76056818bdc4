//===- Manifest.cpp - Writing the manifest's JSON -------------------------===//

#include "runtime/Artifact/Manifest.h"

#include <cstdio>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::image;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string_view artifact::nameOf(CacheContent Content) {
  return Content == CacheContent::Cross ? "cross" : "sequence";
}

/// Checksums are text, as many JSON readers round large numbers.
static std::string hex(uint64_t Value) {
  char Text[17];
  std::snprintf(Text, sizeof(Text), "%016llx",
                static_cast<unsigned long long>(Value));
  return Text;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

template <typename T> static Json optionalJson(const std::optional<T> &Value) {
  return Value ? Json(*Value) : Json(nullptr);
}

template <typename Range, typename Function>
static Json arrayOf(const Range &Values, Function ToJson) {
  Json Array = Json::array();
  for (const auto &Value : Values)
    Array.push_back(ToJson(Value));
  return Array;
}

static Json optionalFormat(const std::optional<StorageFormat> &Format) {
  return Format ? Json(infoOf(*Format).Name) : Json(nullptr);
}

static Json entryJson(const EntryInfo &E) {
  return {{"role", E.Role},         {"output", infoOf(E.Output).Name},
          {"width", E.Width},       {"uses_token_types", E.UsesTokenTypes},
          {"features", E.Features}, {"vocabulary", E.Vocabulary}};
}

static Json cacheJson(const CacheInfo &C) {
  return {{"layers", C.Layers},           {"kv_heads", C.KvHeads},
          {"head_dim", C.HeadDim},        {"type", infoOf(C.Format).Name},
          {"page_tokens", C.PageTokens},  {"page_bytes", C.PageBytes},
          {"content", nameOf(C.Content)}, {"form", C.Form}};
}

static Json scopeJson(const ScopeInfo &S) {
  return {{"name", S.Name},
          {"cache_layers", S.CacheLayers},
          {"weights", S.Weights}};
}

static Json weightJson(const WeightInfo &W) {
  return {{"name", W.Name},
          {"layout", nameOf(W.Layout)},
          {"rows", W.Rows},
          {"columns", W.Columns},
          {"offset", W.Offset},
          {"bytes", W.Bytes},
          {"checksum", hex(W.Checksum)}};
}

static Json primitiveJson(const PrimitiveInfo &S) {
  return {{"k", S.K},
          {"n", S.N},
          {"source", infoOf(S.Source).Name},
          {"destination", infoOf(S.Destination).Name},
          {"layout", nameOf(S.Layout)},
          {"bias", S.HasBias},
          {"activation", infoOf(S.Act).Name},
          {"multiplier", optionalFormat(S.Multiplier)},
          {"residual", optionalFormat(S.Residual)}};
}

static Json bufferJson(const PlannedBuffer &B) {
  return {{"function", B.Function},  {"value", B.Value},
          {"offset", B.Offset},      {"bytes", B.Bytes},
          {"first_use", B.FirstUse}, {"last_use", B.LastUse}};
}

static Json costJson(const KernelCost &Cost) {
  Json J = Json::object();
  for (const KernelCostField &Field : KernelCostFields)
    J[std::string(Field.Name)] = Cost.*Field.Member;
  J["keys"] = infoOf(Cost.Keys).Name;
  J["numbers"] = infoOf(Cost.Numbers).Name;
  return J;
}

static Json kernelJson(const KernelInfo &K) {
  return {{"text", K.Text},
          {"function", K.Function},
          {"primitive", optionalJson(K.Primitive)},
          {"reason", K.Reason.empty() ? Json() : Json(K.Reason)},
          {"cost", costJson(K.Cost)}};
}

static Json codeJson(const CodeInfo &C) {
  return {{"level", infoOf(C.Level).Name},
          {"offset", C.Offset},
          {"bytes", C.Bytes},
          {"checksum", hex(C.Checksum)},
          {"arena_bytes", C.ArenaBytes},
          {"scratch_bytes", C.ScratchBytes},
          {"primitives", arrayOf(C.Primitives, primitiveJson)},
          {"plan", arrayOf(C.Plan, bufferJson)},
          {"kernels", arrayOf(C.Kernels, kernelJson)}};
}

static Json generationJson(const GenerationInfo &G) {
  return {
      {"end_of_sequence", G.EndOfSequence},
      {"sample", G.Sample},
      {"temperature", optionalJson(G.Temperature)},
      {"top_k", optionalJson(G.TopK)},
      {"top_p", optionalJson(G.TopP)},
      {"decoder_start", optionalJson(G.DecoderStart)},
      {"forced_first", optionalJson(G.ForcedFirst)},
      {"forced_last", optionalJson(G.ForcedLast)},
      {"suppressed", G.Suppressed},
      {"beams", G.Beams},
      {"length_penalty", G.LengthPenalty},
      {"early_stopping", G.Stops == sampling::EarlyStopping::Never
                             ? Json(nameOf(G.Stops))
                             : Json(G.Stops == sampling::EarlyStopping::Yes)},
      {"no_repeat_ngram", G.NoRepeatNgram},
      {"repetition_penalty", G.RepetitionPenalty},
      {"min_length", G.MinLength},
      {"max_length", optionalJson(G.MaxLength)},
      {"max_new_tokens", optionalJson(G.MaxNewTokens)},
      {"renormalize", G.Renormalize},
      {"min_p", optionalJson(G.MinP)},
      {"typical_p", optionalJson(G.TypicalP)},
      {"min_new_tokens", G.MinNewTokens},
      {"bad_words", G.BadWords},
      {"stop_strings", G.StopStrings}};
}

static Json chatJson(const ChatInfo &C) {
  return {{"templates", C.Templates},
          {"tokens", C.Tokens},
          {"tool_format", C.ToolFormat.empty() ? Json() : Json(C.ToolFormat)}};
}

static Json imageJson(const ImageInfo &I) {
  return {{"channels", I.Channels},
          {"height", I.Height},
          {"width", I.Width},
          {"patch_height", I.PatchHeight},
          {"patch_width", I.PatchWidth},
          {"preprocessing", toJson(I.Preprocessing)},
          {"token", optionalJson(I.Token)},
          {"rows", I.Rows}};
}

Json artifact::toJson(const Manifest &M) {
  Json Tokenizer;
  if (M.Tokenizer)
    Tokenizer = {{"offset", M.Tokenizer->Offset},
                 {"bytes", M.Tokenizer->Bytes},
                 {"checksum", hex(M.Tokenizer->Checksum)}};
  Json Prefixes;
  if (M.Prefixes)
    Prefixes = {{"offset", M.Prefixes->Offset},
                {"bytes", M.Prefixes->Bytes},
                {"checksum", hex(M.Prefixes->Checksum)},
                {"prompts", M.Prefixes->Prompts},
                {"tokens", M.Prefixes->Tokens}};
  return {{"abi_major", M.AbiMajor},
          {"abi_minor", M.AbiMinor},
          {"produced_by", M.ProducedBy},
          {"family", M.Family},
          {"weight_type", M.WeightType},
          {"vocabulary", M.Vocabulary},
          {"max_sequence", M.MaxSequence},
          {"max_tokens_per_step", M.MaxTokensPerStep},
          {"few_tokens", M.FewTokens},
          {"token_types", M.TokenTypes},
          {"prefix_mask", M.HasPrefixMask},
          {"max_text_tokens", optionalJson(M.MaxTextTokens)},
          {"max_source", M.MaxSource},
          {"entries", arrayOf(M.Entries, entryJson)},
          {"caches", arrayOf(M.Caches, cacheJson)},
          {"scopes", arrayOf(M.Scopes, scopeJson)},
          {"weights", arrayOf(M.Weights, weightJson)},
          {"code", arrayOf(M.Code, codeJson)},
          {"tokenizer", Tokenizer},
          {"prefixes", Prefixes},
          {"generation", generationJson(M.Generation)},
          {"chat", M.Chat ? chatJson(*M.Chat) : Json()},
          {"image", M.Image ? imageJson(*M.Image) : Json()},
          {"labels", M.Labels},
          {"estimates", M.Estimates},
          {"compiled", M.Compiled}};
}

std::vector<ArtifactSection> artifact::sectionsOf(const Manifest &M) {
  std::vector<ArtifactSection> Sections;
  for (const WeightInfo &W : M.Weights)
    Sections.push_back({"weight " + printable(W.Name), W.Offset, W.Bytes,
                        W.Checksum, /*IsMapped=*/true});
  for (const CodeInfo &C : M.Code)
    Sections.push_back({"code for " + std::string(infoOf(C.Level).Name),
                        C.Offset, C.Bytes, C.Checksum});
  if (M.Tokenizer)
    Sections.push_back({"tokenizer", M.Tokenizer->Offset, M.Tokenizer->Bytes,
                        M.Tokenizer->Checksum});
  if (M.Prefixes)
    Sections.push_back({"prefixes", M.Prefixes->Offset, M.Prefixes->Bytes,
                        M.Prefixes->Checksum, /*IsMapped=*/true});
  return Sections;
}
