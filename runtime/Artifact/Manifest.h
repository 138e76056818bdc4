//===- Manifest.h - What an artifact says of itself -------------*- C++ -*-===//
//
// The manifest is the JSON section of an artifact: everything the runtime
// must know to run the code and weights beside it. The compiler fills this
// struct, the runtime reads it back; both sides use the same conversion.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_ARTIFACT_MANIFEST_H
#define TENON_RUNTIME_ARTIFACT_MANIFEST_H

#include "runtime/Abi/CpuLevel.h"
#include "runtime/Image/Preprocess.h"
#include "runtime/Packing/Layout.h"
#include "runtime/Sampling/EarlyStopping.h"
#include "runtime/Support/Json.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::artifact {

/// One packed weight in the weights section.
struct WeightInfo {
  /// Keys of the checkpoint's tensors, joined by '+' when several were
  /// concatenated along the output dimension.
  std::string Name;
  PackedLayout Layout;
  int64_t Rows = 0;    ///< Output features, or entries of a table.
  int64_t Columns = 0; ///< Input features; 1 for vectors.
  uint64_t Offset = 0; ///< From the start of the file, page-aligned.
  uint64_t Bytes = 0;
  uint64_t Checksum = 0; ///< XXH3-64 of the bytes.
};

/// One scope: the parameters of one layer, or of the model itself.
struct ScopeInfo {
  std::string Name;
  /// Layer of each kind of cache this scope uses; -1 where it has none.
  std::vector<int64_t> CacheLayers;
  /// Weight index -> index into Manifest::Weights.
  std::vector<int64_t> Weights;
};

/// What a cache holds of.
enum class CacheContent {
  Sequence, ///< The sequence itself; grows with it.
  Cross     ///< A source text, for cross-attention; filled once by "encode".
};

/// Forms of a cache's pages, see CacheInfo.
inline constexpr std::string_view KeysValuesForm = "keys_values";
inline constexpr std::string_view LatentForm = "latent";

/// One kind of paged cache. A page of one layer is PageBytes long. In the form
/// "keys_values" it is laid out as PageLayout says. In the form "latent":
/// head_dim values per token for one head, which stand for keys and values.
/// Pages start zeroed, as slots that are masked out are still multiplied by
/// zero.
struct CacheInfo {
  int64_t Layers = 0;
  int64_t KvHeads = 0;
  int64_t HeadDim = 0;
  CacheFormat Format = CacheFormat::F32;
  int64_t PageTokens = 0;
  int64_t PageBytes = 0;
  CacheContent Content = CacheContent::Sequence;
  std::string Form{KeysValuesForm};

  /// Of the form "keys_values".
  PageLayout layout() const { return {KvHeads, HeadDim, Format, PageTokens}; }
};

/// One library matmul, shared by all equal ones of the code: dst[rows,N] =
/// act(src[rows,K] * W^T + bias) * multiplier + residual.
struct PrimitiveInfo {
  int64_t K = 0;
  int64_t N = 0;
  StorageFormat Source = StorageFormat::F32;
  StorageFormat Destination = StorageFormat::F32;
  PackedLayout Layout;
  bool HasBias = false;
  Activation Act = Activation::None;
  std::optional<StorageFormat> Multiplier;
  std::optional<StorageFormat> Residual;
};

/// One buffer of the memory plan, for people.
struct PlannedBuffer {
  std::string Function;
  std::string Value;
  uint64_t Offset = 0;
  uint64_t Bytes = 0;
  int64_t FirstUse = 0;
  int64_t LastUse = 0;
};

/// One kernel of the code, generated or a library matmul, by the number that it
/// is marked with (TenonRt.h).
struct KernelInfo {
  /// The operation, as the stage `buffers` had it.
  std::string Text;
  /// The function that it is in: "layer.few" runs for decode-sized batches.
  std::string Function;
  /// That of the library matmul; none for generated kernels.
  std::optional<int64_t> Primitive;
  /// Of a matmul, why it is the library's or is not; empty for others.
  std::string Reason;
  KernelCost Cost;
};

/// The code generated for one CPU level.
struct CodeInfo {
  CpuLevel Level = CpuLevel::AVX2;
  uint64_t Offset = 0;
  uint64_t Bytes = 0;
  uint64_t Checksum = 0;
  uint64_t ArenaBytes = 0;
  /// Of each thread.
  uint64_t ScratchBytes = 0;
  std::vector<PrimitiveInfo> Primitives;
  std::vector<PlannedBuffer> Plan;
  std::vector<KernelInfo> Kernels;
};

/// One entry point; its symbol is TENON_RT_ENTRY_PREFIX + Role.
struct EntryInfo {
  /// "step" (uses the cache), "encode", "embed" (pooled), "encode_image".
  std::string Role;
  OutputKind Output = OutputKind::Logits;
  int64_t Width = 0;
  bool UsesTokenTypes = false;
  /// Width of the rows of input; 0: it takes token ids only. "encode_image"
  /// takes one per token, "step" one per image token (ImageInfo::Token), which
  /// stands for that token's embedding.
  int64_t Features = 0;
  /// Token ids, given and answered, are below this; 0: below the model's.
  int64_t Vocabulary = 0;
};

/// The tokenizer.json section, and how the runtime frames text.
struct TokenizerInfo {
  uint64_t Offset = 0;
  uint64_t Bytes = 0;
  uint64_t Checksum = 0;
};

/// Prompts whose keys and values are in the artifact, for the CPU that it was
/// compiled on (runtime/Serving/PrefixFile.h).
struct PrefixesInfo {
  uint64_t Offset = 0;
  uint64_t Bytes = 0;
  uint64_t Checksum = 0;
  int64_t Prompts = 0;
  int64_t Tokens = 0; ///< Of all, those that they share counted for each.
};

/// Images that the entry "encode_image" takes. Its tokens are the class token
/// and the patches, row by row; what is left of the height and the width after
/// whole patches is not looked at.
struct ImageInfo {
  int64_t Channels = 0;
  int64_t Height = 0;
  int64_t Width = 0;
  int64_t PatchHeight = 0;
  int64_t PatchWidth = 0;
  /// How image files become pixel values; of the same channels and size.
  image::ImagePreprocessing Preprocessing;
  /// The token whose embedding a row of the image takes the place of; none:
  /// images are all that the model takes.
  std::optional<int32_t> Token = std::nullopt;
  /// Rows of "encode_image" that stand for an image in a prompt, the last ones
  /// (LLaVA leaves the class token out); 0 without such a token.
  int64_t Rows = 0;

  int64_t patches() const {
    return (Height / PatchHeight) * (Width / PatchWidth);
  }
  int64_t patchValues() const { return Channels * PatchHeight * PatchWidth; }
};

/// Defaults of text generation, from generation_config.json. Lengths count
/// the prompt of a decoder, and the start token of an encoder-decoder.
struct GenerationInfo {
  std::vector<int32_t> EndOfSequence;
  std::optional<double> Temperature;
  std::optional<int64_t> TopK;
  std::optional<double> TopP;
  std::optional<double> MinP;
  std::optional<double> TypicalP;
  bool Sample = false;
  /// First token of an encoder-decoder's decoder.
  std::optional<int32_t> DecoderStart;
  std::optional<int32_t> ForcedFirst; ///< The first new token.
  std::optional<int32_t> ForcedLast;  ///< The last one at the length limit.
  std::vector<int32_t> Suppressed;    ///< Never chosen.
  /// Sequences of tokens that never occur.
  std::vector<std::vector<int32_t>> BadWords;
  std::vector<std::string> StopStrings; ///< Texts that end a text.
  int64_t Beams = 1;
  double LengthPenalty = 1;
  sampling::EarlyStopping Stops = sampling::EarlyStopping::No;
  int64_t NoRepeatNgram = 0; ///< Sizes of n-grams that occur once; 0: any.
  double RepetitionPenalty = 1;
  int64_t MinLength = 0;    ///< No end of sequence before this length,
  int64_t MinNewTokens = 0; ///< nor before so many new tokens.
  std::optional<int64_t> MaxLength;
  std::optional<int64_t> MaxNewTokens; ///< Goes before MaxLength.
  /// Scores are log-probabilities again after they were processed.
  bool Renormalize = false;
};

/// What makes prompts of conversations (docs/chat-templates.md).
struct ChatInfo {
  static constexpr const char *DefaultTemplate = "default";

  /// Templates in Jinja by name, at least one; plain conversations take the one
  /// called DefaultTemplate.
  std::map<std::string, std::string> Templates;
  /// Texts of special tokens by the name that templates know them by:
  /// "bos_token".
  std::map<std::string, std::string> Tokens;
  /// How the model writes tool calls, a name of tools::toolFormats();
  /// empty: not known, and calls stay text.
  std::string ToolFormat;
};

struct Manifest {
  std::string ProducedBy; ///< "tenon 0.1.0".
  int64_t AbiMajor = 0;   ///< TENON_RT_ABI_MAJOR of the code.
  int64_t AbiMinor = 0;   ///< TENON_RT_ABI_MINOR of the code.
  std::string Family;     ///< "llama", ...; "mlir" for hand-written models.
  /// Formats of the matrices, most bytes first: "bf16", "q4_k+q6_k".
  std::string WeightType;
  int64_t Vocabulary = 0;
  int64_t MaxSequence = 0; ///< Positions the model has.
  int64_t MaxTokensPerStep = 0;
  int64_t FewTokens = 0;  ///< Steps of at most this many run `.few`.
  int64_t TokenTypes = 0; ///< Token type ids must be below this.
  /// The first tokens of a sequence may see each other.
  bool HasPrefixMask = false;
  std::vector<EntryInfo> Entries;
  std::vector<CacheInfo> Caches;
  std::vector<ScopeInfo> Scopes;
  std::vector<WeightInfo> Weights;
  std::vector<CodeInfo> Code;
  std::optional<TokenizerInfo> Tokenizer;
  std::optional<PrefixesInfo> Prefixes;
  std::optional<int64_t> MaxTextTokens; ///< Texts to embed are cut to this.
  /// Most tokens of a source text; 0 without cross-attention cache.
  int64_t MaxSource = 0;
  GenerationInfo Generation;
  std::optional<ChatInfo> Chat;
  std::optional<ImageInfo> Image;
  std::vector<std::string> Labels; ///< Names of classes; may be empty.
  Json Estimates; ///< Parameters, FLOPs, cache bytes; as printed.
  Json Compiled;  ///< How it was compiled: options, versions.

  /// Token ids that `Entry` takes are below this.
  int64_t vocabularyOf(const EntryInfo &Entry) const {
    return Entry.Vocabulary != 0 ? Entry.Vocabulary : Vocabulary;
  }
};

/// "none", "relu", "gelu", "gelu_tanh", "silu", "quick_gelu", "tanh" or
/// "logits", "hidden", "pooled" or "classes".
/// "sequence" or "cross".
std::string_view nameOf(CacheContent Content);

/// One stretch of the file that the manifest describes.
struct ArtifactSection {
  std::string Name; ///< For messages: "weight 'a.b'", "code for avx2", ...
  uint64_t Offset = 0;
  uint64_t Bytes = 0;
  uint64_t Checksum = 0;
  /// Used where it is mapped, and not read when the file is opened.
  bool IsMapped = false;
};

/// All sections that `M` names: weights, code, tokenizer, prefixes, in this
/// order.
std::vector<ArtifactSection> sectionsOf(const Manifest &M);

/// Both directions of the JSON form. Reading checks every field, that indices
/// and offsets are in range of one another, and names what is wrong.
Json toJson(const Manifest &M);
Result<Manifest> manifestFromJson(const Json &J, std::string_view File);

} // namespace tenon::artifact

#endif // TENON_RUNTIME_ARTIFACT_MANIFEST_H
