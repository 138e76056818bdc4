//===- Generator.h - Token after token --------------------------*- C++ -*-===//
//
// Runs requests on a session, all of them in each step, and chooses their
// tokens. No input and no output: who calls step() gets what is new.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_GENERATION_GENERATOR_H
#define TENON_RUNTIME_GENERATION_GENERATOR_H

#include "runtime/Generation/Request.h"

#include <map>
#include <memory>
#include <string>

namespace tenon::generation {

enum class FinishReason {
  None, ///< It goes on.
  EndOfSequence,
  Length, ///< The request's limit.
  Error,
  Context ///< The model's longest sequence.
};

/// "", "eos", "length", "error" or "context".
std::string_view nameOf(FinishReason Reason);

/// What has come of a request so far.
struct Generation {
  std::vector<int32_t> NewTokens;
  /// Empty where the model has no tokenizer.
  std::string Text;
  FinishReason Finish = FinishReason::None;
  std::optional<float> Score;   ///< Of beam search, when it has finished.
  std::optional<Error> Failure; ///< With the reason Error.
};

/// What a step has added to a request: tokens as they are chosen, of a beam
/// search all at its end. Text follows its tokens as soon as it is certain.
struct Piece {
  int64_t Request = 0;
  std::vector<int32_t> Tokens;
  std::string Text;
  FinishReason Finish = FinishReason::None;
};

/// Generates any number of texts on one session, which must outlive it and
/// may have other sequences too. Requests can be added while others run.
class Generator {
public:
  explicit Generator(engine::Session &S);
  Generator(Generator &&) noexcept;
  Generator &operator=(Generator &&) noexcept;
  /// Ends the sequences of requests that have not finished.
  ~Generator();

  /// Adds a request, which runs from the next step on; its number. Errors:
  /// an empty prompt, settings out of range, a tokenizer that cannot be read.
  Result<int64_t> add(Request R);

  /// Requests that have not finished.
  size_t running() const;

  /// One step of every request that has not finished. What goes wrong with one
  /// of them is its Failure, and the others go on; after an error of the whole
  /// (a cancelled one, too) all are as before, and step() may be called again.
  Result<std::vector<Piece>> step();

  /// Of a request that was added and not taken.
  const Generation &progress(int64_t Request) const;
  /// The same, and forgets the request; one that still runs is given up.
  Generation take(int64_t Request);

private:
  struct Job;
  Status start();
  Status advance(Job &J, std::span<const engine::ItemResult> Answers);
  Status choose(Job &J, const engine::ItemResult &Answer);
  Status chooseBeams(Job &J, std::span<const engine::ItemResult> Answers);
  Status follow(Job &J,
                std::span<const sampling::BeamSearch::Continuation> GoOn);
  Status finish(Job &J, FinishReason Reason);
  Status finishByLength(Job &J);
  Status fail(Job &J, const Error &Reason);
  Error atStep(const Job &J, const Error &Reason) const;

  engine::Session *S;
  /// By number; a map keeps their order, which is that of the batch.
  std::map<int64_t, std::unique_ptr<Job>> Jobs;
  int64_t Next = 0;
};

} // namespace tenon::generation

#endif // TENON_RUNTIME_GENERATION_GENERATOR_H
