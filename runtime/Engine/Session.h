//===- Session.h - Running steps of a model ---------------------*- C++ -*-===//
//
// A session owns what changes while a model runs: key-value caches, working
// memory, library primitives, threads. It turns requests into ragged batches
// and calls the model's entry points.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_ENGINE_SESSION_H
#define TENON_RUNTIME_ENGINE_SESSION_H

#include "runtime/Cache/PageCache.h"
#include "runtime/Engine/MatmulPrimitives.h"
#include "runtime/Engine/Model.h"
#include "runtime/Engine/Profile.h"
#include "runtime/Engine/Resources.h"
#include "runtime/Support/HugePages.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace tenon::engine {

using cache::SequenceId;

struct SessionOptions {
  /// 0: one per core.
  int64_t Threads = 0;
  /// Tokens that the caches of all sequences together can hold; 0: one
  /// sequence of the model's full length.
  int64_t CacheTokens = 0;
  /// The same of source texts; 0: one of the model's full source length.
  int64_t SourceTokens = 0;
  /// What it shares with other sessions. With threads in it, `Threads` is 0.
  Resources Shared = {};
};

/// Which tokens' output rows a request wants.
enum class OutputRows { None, Last, All };

/// Which variants of a model's functions run a step. They differ in rounding,
/// but within one of them a token's row depends on its sequence alone: not on
/// the other tokens of the step, nor on how its sequence is cut into steps.
enum class Variant {
  ByCount, ///< Those for few tokens where the step has at most so many.
  Few,     ///< For few tokens, in several steps if there are more.
  Many     ///< For many tokens, however few there are.
};

/// The next tokens of one sequence.
struct StepItem {
  SequenceId Sequence{};
  std::span<const int32_t> Tokens;
  /// Empty (all 0), or one per token.
  std::span<const int32_t> TokenTypes;
  OutputRows Outputs = OutputRows::Last;
  /// So many first tokens see each other, in models with a prefix mask. Only
  /// in a sequence's first step, which must hold them all.
  int64_t Prefix = 0;
  /// Rows [image tokens, features of the entry] that take the place of the
  /// embeddings of those of `Tokens` that are the model's image token
  /// (artifact::ImageInfo::Token), in order: as many as there are, else the
  /// item is an error.
  std::span<const float> Features = {};
};

/// The source text of one sequence of an encoder-decoder.
struct SourceItem {
  SequenceId Sequence{};
  std::span<const int32_t> Tokens;
  /// Rows of the encoder's output, usually not of interest.
  OutputRows Outputs = OutputRows::None;
};

/// A whole text, for models without a cache.
struct EncodeItem {
  std::span<const int32_t> Tokens;
  /// Empty (all 0), or one per token.
  std::span<const int32_t> TokenTypes;
  /// Ignored by pooled outputs, which are one row per text.
  OutputRows Outputs = OutputRows::All;
};

/// One image, cut into patches.
struct ImageItem {
  /// [patches, channels * patch height * patch width]: the manifest's image.
  std::span<const float> Patches;
  /// Of the class token, which comes first, and the patches. Ignored by
  /// outputs that are one row per image.
  OutputRows Outputs = OutputRows::All;
};

/// What came of one item: an error of its own, or rows of output.
struct ItemResult {
  Status Outcome;
  /// [Rows, Width] f32, valid until the session's next call.
  std::span<const float> Values;
  int64_t Rows = 0;
};

/// The scores of a row of logits of `Code` that stand for tokens: a head may be
/// padded beyond the vocabulary.
inline std::span<const float> scoresOf(std::span<const float> Row,
                                       const artifact::Manifest &Info,
                                       const artifact::EntryInfo &Code) {
  auto Known = static_cast<size_t>(Info.vocabularyOf(Code));
  return Row.first(std::min(Row.size(), Known));
}

/// To be used from one thread at a time, any thread, also inside an OpenMP
/// region: a session computes on threads of its own, or on those that it shares
/// with other sessions, which are otherwise independent of each other.
class Session {
public:
  static Result<Session> create(std::shared_ptr<const Model> M,
                                const SessionOptions &Options);
  Session(Session &&) noexcept;
  Session &operator=(Session &&) noexcept;
  ~Session();

  const Model &model() const;
  int64_t threads() const;

  /// A new, empty sequence.
  SequenceId createSequence();
  /// A new sequence with the tokens and the source text of `Id`. Takes no
  /// memory: pages are shared until one of the two writes to them.
  Result<SequenceId> forkSequence(SequenceId Id);
  /// Ends a sequence; its pages can be taken by others.
  Status endSequence(SequenceId Id);
  /// Drops the tokens of a sequence from the first `Length` on; its source text
  /// stays. An error for more tokens than there are, and for a length within
  /// the sequence's prefix.
  Status truncateSequence(SequenceId Id, int64_t Length);
  /// Tokens the sequence holds.
  Result<int64_t> length(SequenceId Id) const;
  /// Appends tokens whose keys and values the caller writes to pageMemory(),
  /// whole pages behind whole pages, as a session with the same code made them.
  Status growSequence(SequenceId Id, int64_t Tokens);
  /// The memory of page `Page` of a sequence that has it.
  std::vector<std::span<std::byte>> pageMemory(SequenceId Id, size_t Page);

  /// Appends every item's tokens to its sequence (entry "step"), all items in
  /// one ragged batch, in several when they exceed what one step holds. An
  /// item that is wrong or finds no cache page gets an error of its own, its
  /// sequence is as before, and the others go on. An error of the whole call
  /// leaves all sequences as before. Sequences of an encoder-decoder must have
  /// their source text.
  Result<std::vector<ItemResult>> step(std::span<const StepItem> Items,
                                       Variant V = Variant::ByCount);

  /// Entry "encode": output rows of whole texts, or one row per text where the
  /// entry answers so. A text longer than one step is an error of that item.
  /// What is encoded, by this and the next ones, is to the bit what it is
  /// alone, whatever else is in the call: it runs the variants for many tokens,
  /// however few there are, in steps that planBatches() chooses.
  Result<std::vector<ItemResult>> encode(std::span<const EncodeItem> Items);

  /// Entry "embed": one pooled row per text.
  Result<std::vector<ItemResult>> embed(std::span<const EncodeItem> Items);

  /// Entry "encode" of an encoder-decoder: keeps every item's text as the
  /// source text of its sequence, once per sequence. Errors as for step(). A
  /// text beyond the model's source length or one step is an error of that
  /// item.
  Result<std::vector<ItemResult>>
  encodeSources(std::span<const SourceItem> Items);

  /// Entry "encode_image": output rows of images, or one row per image.
  Result<std::vector<ItemResult>>
  encodeImages(std::span<const ImageItem> Items);

  /// Runs `Do` for each number below `Count`, each once, and waits: on the
  /// session's threads, or on the caller's where another session has them. It
  /// must not throw, nor call the session. Results of the last call stay.
  void forEach(size_t Count, const std::function<void(size_t)> &Do);

  /// From any thread: the call that runs, if any, ends soon with an error of
  /// the kind Cancelled, all sequences as before it.
  void cancel();

  /// Hands over the memory that the values of the last call's results lie in,
  /// which stay as they are while it lives; the next call takes other memory.
  /// Null where it was handed over before, and before the first call.
  std::shared_ptr<const void> takeOutput();

  /// How the memory that the session has taken is held: caches, arena, output.
  /// Nothing where the system does not say. Not during a call.
  std::optional<PageUse> memoryUse() const;
  /// Records the steps of later calls in `Recorder`, made for the model's code;
  /// null: no more. Not during a call; results do not depend on it.
  void setProfile(Profile *Recorder);

  const MatmulCounters &matmulCounters() const;
  /// The library's names of what it ran for a primitive of the manifest so far,
  /// one for each way of doing it.
  std::vector<std::string> matmulImplementations(size_t Primitive) const;
  const cache::PageCache &cache() const;
  /// Pages of the source texts; null but for encoder-decoders.
  const cache::PageCache *sourceCache() const;

private:
  struct Implementation;
  Status checkContext(const StepItem &Item, int64_t Length) const;
  explicit Session(std::unique_ptr<Implementation> Impl);
  std::unique_ptr<Implementation> Impl;
};

} // namespace tenon::engine

#endif // TENON_RUNTIME_ENGINE_SESSION_H
