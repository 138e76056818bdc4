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
#include "runtime/Engine/Model.h"
#include "runtime/Engine/Sites.h"

#include <memory>
#include <span>
#include <vector>

namespace tenon {

struct SessionOptions {
  /// 0: one per core.
  int64_t Threads = 0;
  /// Tokens that the caches of all sequences together can hold; 0: one
  /// sequence of the model's full length.
  int64_t CacheTokens = 0;
};

/// Which tokens' output rows a request wants.
enum class Wanted { None, Last, All };

/// The next tokens of one sequence.
struct StepItem {
  SequenceId Sequence{};
  std::span<const int32_t> Tokens;
  /// Empty (all 0), or one per token.
  std::span<const int32_t> TokenTypes;
  Wanted Outputs = Wanted::Last;
};

/// A whole text, for models without a cache.
struct EncodeItem {
  std::span<const int32_t> Tokens;
  /// Empty (all 0), or one per token.
  std::span<const int32_t> TokenTypes;
  /// Ignored by pooled outputs, which are one row per text.
  Wanted Outputs = Wanted::All;
};

/// What came of one item: an error of its own, or rows of output.
struct ItemResult {
  Status Outcome;
  /// [Rows, Width] f32, valid until the session's next call.
  std::span<const float> Values;
  int64_t Rows = 0;
};

/// To be used from one thread of control at a time; sessions are independent
/// of each other.
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
  /// Ends a sequence; its pages can be taken by others.
  Status endSequence(SequenceId Id);
  /// Tokens the sequence holds.
  Result<int64_t> length(SequenceId Id) const;

  /// Appends every item's tokens to its sequence (entry "step"), all items in
  /// one ragged batch, in several when they exceed what one step holds. An
  /// item that is wrong or finds no cache page gets an error of its own, its
  /// sequence is as before, and the others go on. An error of the whole call
  /// leaves all sequences as before.
  Result<std::vector<ItemResult>> step(std::span<const StepItem> Items);

  /// Entry "encode": output rows of whole texts. A text longer than one step
  /// is an error of that item.
  Result<std::vector<ItemResult>> encode(std::span<const EncodeItem> Items);

  /// Entry "embed": one pooled row per text.
  Result<std::vector<ItemResult>> embed(std::span<const EncodeItem> Items);

  const ProductCounters &productCounters() const;
  const PageCache &cache() const;

private:
  struct Implementation;
  explicit Session(std::unique_ptr<Implementation> Impl);
  std::unique_ptr<Implementation> Impl;
};

} // namespace tenon

#endif // TENON_RUNTIME_ENGINE_SESSION_H
