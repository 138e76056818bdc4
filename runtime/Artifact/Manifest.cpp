//===- Manifest.cpp - Both directions of the manifest's JSON --------------===//

#include "runtime/Artifact/Manifest.h"

#include "runtime/Abi/TenonRt.h"
#include "runtime/Artifact/Format.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <set>
#include <utility>

using namespace tenon;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string_view tenon::nameOf(Activation Act) {
  switch (Act) {
  case Activation::None:
    return "none";
  case Activation::Relu:
    return "relu";
  case Activation::Gelu:
    return "gelu";
  case Activation::GeluTanh:
    return "gelu_tanh";
  case Activation::Silu:
    return "silu";
  }
  return "";
}

std::string_view tenon::nameOf(OutputKind Kind) {
  switch (Kind) {
  case OutputKind::Logits:
    return "logits";
  case OutputKind::Hidden:
    return "hidden";
  case OutputKind::Pooled:
    return "pooled";
  }
  return "";
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

static Json optionalType(const std::optional<ElementType> &Type) {
  return Type ? Json(nameOf(*Type)) : Json(nullptr);
}

static Json entryJson(const EntryInfo &E) {
  return {{"role", E.Role},
          {"output", nameOf(E.Output)},
          {"width", E.Width},
          {"uses_token_types", E.UsesTokenTypes}};
}

static Json cacheJson(const CacheInfo &C) {
  return {{"layers", C.Layers},          {"kv_heads", C.KvHeads},
          {"head_dim", C.HeadDim},       {"type", nameOf(C.Type)},
          {"page_tokens", C.PageTokens}, {"page_bytes", C.PageBytes}};
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

static Json siteJson(const SiteInfo &S) {
  return {{"k", S.K},
          {"n", S.N},
          {"source", nameOf(S.Source)},
          {"destination", nameOf(S.Destination)},
          {"layout", nameOf(S.Layout)},
          {"bias", S.HasBias},
          {"activation", nameOf(S.Act)},
          {"multiplier", optionalType(S.Multiplier)},
          {"residual", optionalType(S.Residual)}};
}

static Json bufferJson(const PlannedBuffer &B) {
  return {{"function", B.Function},  {"value", B.Value},
          {"offset", B.Offset},      {"bytes", B.Bytes},
          {"first_use", B.FirstUse}, {"last_use", B.LastUse}};
}

static Json codeJson(const CodeInfo &C) {
  return {{"level", infoOf(C.Level).Name},
          {"offset", C.Offset},
          {"bytes", C.Bytes},
          {"checksum", hex(C.Checksum)},
          {"arena_bytes", C.ArenaBytes},
          {"sites", arrayOf(C.Sites, siteJson)},
          {"plan", arrayOf(C.Plan, bufferJson)}};
}

static Json generationJson(const GenerationInfo &G) {
  return {{"end_of_sequence", G.EndOfSequence},
          {"sample", G.Sample},
          {"temperature", optionalJson(G.Temperature)},
          {"top_k", optionalJson(G.TopK)},
          {"top_p", optionalJson(G.TopP)}};
}

Json tenon::toJson(const Manifest &M) {
  Json Tokenizer;
  if (M.Tokenizer)
    Tokenizer = {{"offset", M.Tokenizer->Offset},
                 {"bytes", M.Tokenizer->Bytes},
                 {"checksum", hex(M.Tokenizer->Checksum)}};
  return {{"abi", M.Abi},
          {"produced_by", M.ProducedBy},
          {"family", M.Family},
          {"weight_type", M.WeightType},
          {"vocabulary", M.Vocabulary},
          {"max_sequence", M.MaxSequence},
          {"max_tokens_per_step", M.MaxTokensPerStep},
          {"few_tokens", M.FewTokens},
          {"token_types", M.TokenTypes},
          {"max_text_tokens", optionalJson(M.MaxTextTokens)},
          {"entries", arrayOf(M.Entries, entryJson)},
          {"caches", arrayOf(M.Caches, cacheJson)},
          {"scopes", arrayOf(M.Scopes, scopeJson)},
          {"weights", arrayOf(M.Weights, weightJson)},
          {"code", arrayOf(M.Code, codeJson)},
          {"tokenizer", Tokenizer},
          {"generation", generationJson(M.Generation)},
          {"estimates", M.Estimates},
          {"compiled", M.Compiled}};
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

constexpr int64_t MaxItems = 1000000;
constexpr int64_t MaxSide = int64_t(1) << 28;  ///< Of a weight: see Rows.
constexpr int64_t MaxRows = int64_t(1) << 32;  ///< MaxRows * MaxSide fits.
constexpr int64_t MaxBytes = int64_t(1) << 46; ///< Of a file or an arena.
constexpr int64_t MaxContext = 16 << 20;
constexpr int64_t MaxVocabulary = 4 << 20;
constexpr int64_t MaxLayers = 4096;
constexpr int64_t MaxHeads = 1 << 16;
constexpr size_t MaxName = 1024;
/// Concatenated weights carry the names of all their parts.
constexpr size_t MaxWeightName = 16 * MaxName;

/// Reads members of one object and keeps the first error, after which every
/// further read is a no-op that leaves its target alone.
class Reader {
public:
  Reader(JsonField Object, std::optional<Error> &Failure)
      : Object(std::move(Object)), Failure(Failure) {}

  bool failed() const { return Failure.has_value(); }
  void fail(Error E) {
    if (!Failure)
      Failure = std::move(E);
  }
  /// Blames member `Key`.
  void fail(std::string_view Key, const std::string &Expected) {
    if (auto Field = member(Key))
      fail(Field->expected(Expected));
  }

  std::optional<JsonField> member(std::string_view Key) {
    if (Failure)
      return std::nullopt;
    return take(Object.member(Key));
  }

  /// An optional member is null when it has no value, but always there.
  bool isNull(std::string_view Key) {
    auto Field = member(Key);
    return !Field || Field->json().is_null();
  }

  template <typename T>
  void integer(std::string_view Key, T &Target, int64_t Min, int64_t Max) {
    if (auto Field = member(Key))
      if (auto Value = take(Field->asInteger(Min, Max)))
        Target = static_cast<T>(*Value);
  }

  void boolean(std::string_view Key, bool &Target) {
    if (auto Field = member(Key))
      if (auto Value = take(Field->asBool()))
        Target = *Value;
  }

  /// A name of 1 to `Max` bytes without control characters.
  void name(std::string_view Key, std::string &Target, size_t Max = MaxName) {
    auto Field = member(Key);
    if (!Field)
      return;
    auto Value = take(Field->asString());
    if (!Value)
      return;
    bool Plain = std::none_of(Value->begin(), Value->end(), [](char C) {
      return static_cast<unsigned char>(C) < 0x20 || C == 0x7f;
    });
    if (Value->empty() || Value->size() > Max || !Plain)
      return fail(Field->expected("a name of 1 to " + std::to_string(Max) +
                                  " bytes without control characters"));
    Target = std::move(*Value);
  }

  void checksum(std::string_view Key, uint64_t &Target) {
    auto Field = member(Key);
    if (!Field)
      return;
    auto Value = take(Field->asString());
    if (!Value)
      return;
    if (Value->size() != 16 ||
        Value->find_first_not_of("0123456789abcdef") != std::string::npos)
      return fail(Field->expected("16 hexadecimal digits"));
    Target = std::stoull(*Value, nullptr, 16);
  }

  /// A name that `Find` knows.
  template <typename T, typename Function>
  void choice(std::string_view Key, T &Target, Function Find,
              const std::string &Expected) {
    auto Field = member(Key);
    if (!Field)
      return;
    auto Value = take(Field->asString());
    if (!Value)
      return;
    if (auto Found = Find(*Value))
      Target = *Found;
    else
      fail(Field->expected(Expected));
  }

  void elementType(std::string_view Key, ElementType &Target) {
    choice(Key, Target, elementTypeNamed, "f32, f16 or bf16");
  }

  void optionalElementType(std::string_view Key,
                           std::optional<ElementType> &Target) {
    if (isNull(Key))
      return;
    elementType(Key, Target.emplace());
  }

  void number(std::string_view Key, std::optional<double> &Target, double Min,
              double Max) {
    if (isNull(Key))
      return;
    auto Field = member(Key);
    auto Value = take(Field->asNumber());
    if (!Value)
      return;
    if (*Value < Min || *Value > Max)
      return fail(Field->expected("a number from " + Json(Min).dump() + " to " +
                                  Json(Max).dump()));
    Target = *Value;
  }

  /// An array of whole numbers.
  template <typename T>
  void integers(std::string_view Key, std::vector<T> &Target, int64_t Min,
                int64_t Max) {
    array(Key, [&](const JsonField &Element) {
      if (auto Value = take(Element.asInteger(Min, Max)))
        Target.push_back(static_cast<T>(*Value));
    });
  }

  /// An array of objects, each read by `ReadObject(Reader &, Item &)`.
  template <typename T, typename Function>
  void objects(std::string_view Key, std::vector<T> &Target,
               Function ReadObject) {
    array(Key, [&](const JsonField &Element) {
      Reader Nested(Element, Failure);
      ReadObject(Nested, Target.emplace_back());
    });
  }

  /// A nested object, read by `ReadObject(Reader &)`.
  template <typename Function>
  void object(std::string_view Key, Function ReadObject) {
    auto Field = member(Key);
    if (!Field)
      return;
    Reader Nested(*Field, Failure);
    ReadObject(Nested);
  }

private:
  template <typename T> std::optional<T> take(Result<T> R) {
    if (R)
      return std::move(*R);
    fail(R.error());
    return std::nullopt;
  }

  template <typename Function>
  void array(std::string_view Key, Function ReadElement) {
    auto Field = member(Key);
    if (!Field)
      return;
    auto Size = take(Field->arraySize());
    if (!Size)
      return;
    if (*Size > static_cast<size_t>(MaxItems))
      return fail(
          Field->expected("at most " + std::to_string(MaxItems) + " elements"));
    for (size_t I = 0; I < *Size && !failed(); ++I)
      if (auto Element = take(Field->element(I)))
        ReadElement(*Element);
  }

  JsonField Object;
  std::optional<Error> &Failure;
};

std::optional<Activation> activationNamed(std::string_view Name) {
  for (Activation Act : {Activation::None, Activation::Relu, Activation::Gelu,
                         Activation::GeluTanh, Activation::Silu})
    if (nameOf(Act) == Name)
      return Act;
  return std::nullopt;
}

std::optional<OutputKind> outputKindNamed(std::string_view Name) {
  for (OutputKind Kind :
       {OutputKind::Logits, OutputKind::Hidden, OutputKind::Pooled})
    if (nameOf(Kind) == Name)
      return Kind;
  return std::nullopt;
}

void readSection(Reader &R, uint64_t &Offset, uint64_t &Bytes,
                 uint64_t &Checksum) {
  R.integer("offset", Offset, ArtifactPage, MaxBytes);
  R.integer("bytes", Bytes, 1, MaxBytes);
  R.checksum("checksum", Checksum);
  if (Offset % ArtifactPage != 0)
    R.fail("offset", "a multiple of " + std::to_string(ArtifactPage));
}

void readEntry(Reader &R, EntryInfo &E) {
  R.name("role", E.Role, 64);
  // The role becomes part of a symbol.
  if (E.Role.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") !=
      std::string::npos)
    R.fail("role", "small letters, digits and '_'");
  R.choice("output", E.Output, outputKindNamed, "logits, hidden or pooled");
  R.integer("width", E.Width, 1, MaxSide);
  R.boolean("uses_token_types", E.UsesTokenTypes);
}

void readCache(Reader &R, CacheInfo &C) {
  R.integer("layers", C.Layers, 1, MaxLayers);
  R.integer("kv_heads", C.KvHeads, 1, MaxHeads);
  R.integer("head_dim", C.HeadDim, 1, MaxHeads);
  R.elementType("type", C.Type);
  R.integer("page_tokens", C.PageTokens, 16, MaxHeads);
  if (C.PageTokens % 16 != 0)
    R.fail("page_tokens", "a multiple of 16");
  int64_t ValueDim = (C.HeadDim + 15) / 16 * 16;
  // At most 2^16 * 2^16 * 2^17 * 4.
  int64_t Needed = C.KvHeads * C.PageTokens * (C.HeadDim + ValueDim) *
                   static_cast<int64_t>(sizeOf(C.Type));
  R.integer("page_bytes", C.PageBytes, 1, std::numeric_limits<int64_t>::max());
  if (C.PageBytes < Needed || C.PageBytes > MaxBytes)
    R.fail("page_bytes", std::to_string(Needed) + " to " +
                             std::to_string(MaxBytes) +
                             " for these heads and tokens");
}

void readWeight(Reader &R, WeightInfo &W) {
  R.name("name", W.Name, MaxWeightName);
  R.choice("layout", W.Layout, layoutNamed,
           "a layout such as rows.f32 or panels.bf16");
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

void readSite(Reader &R, SiteInfo &S) {
  R.integer("k", S.K, 1, MaxSide);
  R.integer("n", S.N, 1, MaxSide);
  R.elementType("source", S.Source);
  R.elementType("destination", S.Destination);
  R.choice("layout", S.Layout, layoutNamed,
           "a layout such as rows.f32 or panels.bf16");
  if (S.Layout.Kind == LayoutKind::Vector)
    R.fail("layout", "a layout of matrices");
  R.boolean("bias", S.HasBias);
  R.choice("activation", S.Act, activationNamed,
           "none, relu, gelu, gelu_tanh or silu");
  R.optionalElementType("multiplier", S.Multiplier);
  R.optionalElementType("residual", S.Residual);
}

void readBuffer(Reader &R, PlannedBuffer &B, uint64_t ArenaBytes) {
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

void readCode(Reader &R, CodeInfo &C) {
  R.choice("level", C.Level, cpuLevelNamed, "a CPU level such as avx2");
  readSection(R, C.Offset, C.Bytes, C.Checksum);
  R.integer("arena_bytes", C.ArenaBytes, 0, MaxBytes);
  R.objects("sites", C.Sites, readSite);
  R.objects("plan", C.Plan, [&](Reader &Nested, PlannedBuffer &B) {
    readBuffer(Nested, B, C.ArenaBytes);
  });
}

void readScope(Reader &R, ScopeInfo &S, const Manifest &M) {
  R.name("name", S.Name);
  R.integers("cache_layers", S.CacheLayers, -1, MaxLayers - 1);
  // -1 is a slot that this scope does not use.
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

void readGeneration(Reader &R, GenerationInfo &G) {
  R.integers("end_of_sequence", G.EndOfSequence, 0,
             std::numeric_limits<int32_t>::max());
  R.boolean("sample", G.Sample);
  R.number("temperature", G.Temperature, 0, 1e6);
  if (!R.isNull("top_k"))
    R.integer("top_k", G.TopK.emplace(), 0,
              std::numeric_limits<int32_t>::max());
  R.number("top_p", G.TopP, 0, 1);
}

/// Every element of `Values` must have its own `KeyOf(Value)`.
template <typename T, typename Function>
void checkDistinct(Reader &R, const std::string &Field,
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
void checkOverlaps(Reader &R, const Manifest &M, const std::string &File) {
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

std::vector<ArtifactSection> tenon::sectionsOf(const Manifest &M) {
  std::vector<ArtifactSection> Sections;
  for (const WeightInfo &W : M.Weights)
    Sections.push_back(
        {"weight " + printable(W.Name), W.Offset, W.Bytes, W.Checksum});
  for (const CodeInfo &C : M.Code)
    Sections.push_back({"code for " + std::string(infoOf(C.Level).Name),
                        C.Offset, C.Bytes, C.Checksum});
  if (M.Tokenizer)
    Sections.push_back({"tokenizer", M.Tokenizer->Offset, M.Tokenizer->Bytes,
                        M.Tokenizer->Checksum});
  return Sections;
}

Result<Manifest> tenon::manifestFromJson(const Json &J, std::string_view File) {
  std::string Where(File);
  std::optional<Error> Failure;
  Reader R(JsonField(J, Where), Failure);
  Manifest M;
  // First: another ABI explains every other difference.
  R.integer("abi", M.Abi, 0, std::numeric_limits<int32_t>::max());
  if (!R.failed() && M.Abi != TENON_RT_ABI_VERSION)
    R.fail("abi", std::to_string(TENON_RT_ABI_VERSION) +
                      " (compile the model again with this version)");
  R.name("produced_by", M.ProducedBy);
  R.name("family", M.Family);
  R.name("weight_type", M.WeightType);
  R.integer("vocabulary", M.Vocabulary, 0, MaxVocabulary);
  R.integer("max_sequence", M.MaxSequence, 1, MaxContext);
  R.integer("max_tokens_per_step", M.MaxTokensPerStep, 1, MaxContext);
  R.integer("few_tokens", M.FewTokens, 0, MaxContext);
  R.integer("token_types", M.TokenTypes, 0, MaxHeads);
  if (!R.isNull("max_text_tokens"))
    R.integer("max_text_tokens", M.MaxTextTokens.emplace(), 1, MaxContext);
  R.objects("entries", M.Entries, readEntry);
  R.objects("caches", M.Caches, readCache);
  R.objects("weights", M.Weights, readWeight);
  R.objects("scopes", M.Scopes,
            [&](Reader &Nested, ScopeInfo &S) { readScope(Nested, S, M); });
  R.objects("code", M.Code, readCode);
  if (!R.isNull("tokenizer"))
    R.object("tokenizer", [&](Reader &Nested) {
      TokenizerInfo &T = M.Tokenizer.emplace();
      readSection(Nested, T.Offset, T.Bytes, T.Checksum);
    });
  R.object("generation",
           [&](Reader &Nested) { readGeneration(Nested, M.Generation); });
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
  if (R.failed())
    return *Failure;
  return M;
}
