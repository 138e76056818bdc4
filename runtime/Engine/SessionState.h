//===- SessionState.h - What a session is made of ---------------*- C++ -*-===//
//
// The inside of Session, shared by the files that implement it: SessionRun
// (batches and calls), SessionEncode (texts, sources, images), Session (the
// rest).
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_ENGINE_SESSIONSTATE_H
#define TENON_RUNTIME_ENGINE_SESSIONSTATE_H

#include "runtime/Engine/Batch.h"
#include "runtime/Engine/Executor.h"
#include "runtime/Engine/Memory.h"
#include "runtime/Engine/Session.h"
#include "runtime/Engine/TextBatches.h"

#include <atomic>
#include <unordered_map>

namespace tenon::engine {

/// One item of a call that passed its checks; its answer gets `OutputCount`
/// rows.
struct Request {
  Slice Whole;
  ItemResult *Answer = nullptr;
};

/// What a sequence has beside its pages of the cache.
struct SequenceExtras {
  /// Its pages of the caches that hold the source text.
  std::optional<SequenceId> Source;
  int64_t SourceLength = 0;
  int64_t Prefix = 0;
};

struct Session::Implementation {
  std::shared_ptr<const Model> Shared;
  std::shared_ptr<Executor> Threads;
  /// Of the memory that sessions share; null: there is no limit.
  std::shared_ptr<const void> Budget;
  MatmulPrimitives Library;
  cache::PageCache Cache;
  /// Source texts; only for models with caches of that content.
  std::optional<cache::PageCache> Sources;
  WorkingMemory Arena;
  WorkingMemory Scratch;
  WorkingMemory Output;
  std::vector<std::vector<void *>> CacheTables;
  std::vector<tenon_rt_scope> Scopes;
  BatchBuilder Batch;
  std::unordered_map<int64_t, SequenceExtras> Extras;
  /// Set by cancel(), from any thread; cleared as a call begins.
  std::atomic<bool> IsCancelled{false};
  /// Where steps are recorded; null: nowhere.
  Profile *Recorder = nullptr;

  const artifact::Manifest &manifest() const { return Shared->manifest(); }

  /// The tables by which code finds weights and caches; `Places` are those of
  /// the manifest's caches among the ones of their content.
  void fillScopes(const std::vector<size_t> &Places);
  /// Makes primitives of the library. An error where it cannot serve them.
  Status prepareLibrary();

  /// Whether `Code` can take these tokens. To be called when their number is
  /// known to be right: a caller's wrong length must not make us read behind
  /// them.
  Status checkTokens(const Entry &Code, std::span<const int32_t> Tokens,
                     std::span<const int32_t> Types) const;

  /// The token that rows of input of `Code` stand for; none: it takes none, or
  /// a row for every token.
  std::optional<int32_t> imageTokenOf(const Entry &Code) const;
  /// Whether `Features` has a row for each image token of `Tokens`.
  Status checkFeatures(const Entry &Code, std::span<const int32_t> Tokens,
                       std::span<const float> Features) const;

  /// Runs the batch built so far, which writes its rows to `Rows`.
  Status runStep(const Entry &Code, float *Rows, int64_t FewTokens);
  /// Appends the tokens of all requests in as few steps as they fit in; parts
  /// of one request may run in several.
  Status append(const Entry &Code, std::span<Request> Requests, Variant V);
  /// Encodes whole texts, each to the bit as it is alone. They are like
  /// prompts, however short: all run the variants for many tokens.
  Status encodeWhole(const Entry &Code, std::span<Request> Requests);
  /// Both on the control thread.
  Status runAppending(const Entry &Code, std::span<Request> Requests,
                      Variant V);
  Status runWhole(const Entry &Code, std::span<Request> Requests);
  /// Memory for `Rows` rows of the entry's output.
  Result<float *> reserveOutput(const Entry &Code, uint64_t Rows);

  Result<std::vector<ItemResult>> encode(std::string_view Role,
                                         std::span<const EncodeItem> Items);
  /// The table of `Tokens` freshly taken pages for a source text.
  Result<SequenceId> takeSource(size_t Tokens);
};

/// Rows of output that `Outputs` asks for of `Tokens` tokens.
inline int64_t outputRowCount(OutputRows Outputs, size_t Tokens) {
  switch (Outputs) {
  case OutputRows::None:
    return 0;
  case OutputRows::Last:
    return 1;
  case OutputRows::All:
    return static_cast<int64_t>(Tokens);
  }
  return 0;
}

} // namespace tenon::engine

#endif // TENON_RUNTIME_ENGINE_SESSIONSTATE_H
