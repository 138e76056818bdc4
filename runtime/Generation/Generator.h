//===- Generator.h - Token after token --------------------------*- C++ -*-===//
//
// Runs requests on a session, all of them in each step, and chooses their
// tokens. No input and no output: who calls step() gets what is new.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_GENERATION_GENERATOR_H
#define TENON_RUNTIME_GENERATION_GENERATOR_H

#include "runtime/Generation/Request.h"
#include "runtime/Support/Clock.h"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace tenon::generation {

enum class FinishReason {
  None,          ///< It goes on.
  EndOfSequence, ///< Or the end of what the grammar allows.
  Length,        ///< The request's limit.
  Error,
  Context, ///< The model's longest sequence, or the end of the cache.
  Stop     ///< A stop string or a stop token.
};

/// "", "eos", "length", "error", "context" or "stop".
std::string_view nameOf(FinishReason Reason);

/// What has come of one choice of a request so far.
struct Generation {
  /// All that were chosen, those of a stop string and an end token included.
  std::vector<int32_t> NewTokens;
  /// Of the new tokens, if the request asks for them.
  std::vector<sampling::ScoredToken> Scores;
  /// Of the prompt if it is echoed, and of the new tokens up to what has ended
  /// the text. Empty where the model has no tokenizer.
  std::string Text;
  FinishReason Finish = FinishReason::None;
  /// With the reason Stop one of the two.
  std::optional<int32_t> StopToken;
  std::optional<std::string> StopString;
  std::optional<float> Score;   ///< Of beam search, when it has finished.
  std::optional<Error> Failure; ///< With the reason Error.
};

/// What has come of a request.
struct Answer {
  std::vector<Generation> Choices;
  /// Of the prompt's tokens from the second on, if it is echoed with
  /// log-probabilities.
  std::vector<sampling::ScoredToken> PromptScores;
};

/// What a token has added to a choice, or all of a beam search, at its end.
/// Text follows its tokens as soon as it is certain, in whole characters.
struct Piece {
  int64_t Request = 0;
  int64_t Choice = 0; ///< 0 to the request's choices - 1.
  std::vector<int32_t> Tokens;
  std::vector<sampling::ScoredToken> Scores;
  std::string Text;
  FinishReason Finish = FinishReason::None;
  /// As of the Generation that it belongs to.
  std::optional<int32_t> StopToken;
  std::optional<std::string> StopString;
  std::optional<Error> Failure;
};

/// The beginning of a prompt that need not run again.
struct PromptStart {
  /// Holds the first tokens of the prompt and no others, fewer than all. The
  /// generator ends it.
  engine::SequenceId Sequence{};
  size_t Tokens = 0;
};

/// What a step has spent on the images of a request.
struct EncodedImages {
  int64_t Request = 0;
  size_t Images = 0;
  double Seconds = 0;
};

/// In which variants `Rows` texts at once go on, whatever else runs.
engine::Variant variantFor(const engine::Model &M, int64_t Rows);

/// Generates any number of texts on one session, which must outlive it and
/// may have other sequences too. Requests can be added while others run. A
/// prompt runs once for all of its choices, which go on with forks of its
/// sequence.
///
/// Tokens after the prompt run the variants `V`. With Few, prompts run those
/// for many, in steps of their own; with Many all run those for many. Then the
/// same request gives the same tokens, bit for bit, whatever else runs and
/// however prompts are cut. ByCount puts all into one step, where rounding
/// depends on how many tokens that has.
///
/// An image of a prompt is encoded in the step that runs its first row, by a
/// call of the session for it alone, so that its rows are what they are alone.
class Generator {
public:
  /// `Clock` gives seconds since any moment.
  explicit Generator(engine::Session &S,
                     engine::Variant V = engine::Variant::ByCount,
                     std::function<double()> Clock = secondsNow);
  Generator(Generator &&) noexcept;
  Generator &operator=(Generator &&) noexcept;
  /// Ends the sequences of requests that have not finished.
  ~Generator();

  /// Adds a request, which runs from the next step on; its number. Errors:
  /// an empty or too long prompt, settings out of range, a tokenizer that
  /// cannot be read, a prompt with the rows of more or fewer images than there
  /// are.
  Result<int64_t> add(Request R);
  /// The same of a prompt that begins with `Start`, if there is one: of a
  /// request without a source text, a prefix mask and log-probabilities of its
  /// prompt. With `KeepsPrompt`, keptPrompt() will answer. An error leaves
  /// `Start` alone.
  Result<int64_t> add(Request R, std::optional<PromptStart> Start,
                      bool KeepsPrompt);
  /// A sequence that holds the prompt of `Request` and nothing else, once, from
  /// the step on that runs the prompt's end; the caller ends it.
  std::optional<engine::SequenceId> keptPrompt(int64_t Request);

  /// Requests that have not finished.
  size_t running() const;
  /// Choices of a request that have not.
  size_t running(int64_t Request) const;
  /// Whether the next step runs a part of a prompt.
  bool reading() const;
  /// Tokens of the prompt of `Request` that have not run.
  size_t promptLeft(int64_t Request) const;

  /// One step of every request that has not finished. Of prompts that have not
  /// run it runs at most `PromptTokens` tokens, at least one, those of the
  /// request that was added first before others; a prefix that sees itself is
  /// not cut. With such a limit it encodes one image at most, and cuts prompts
  /// before others, but for those of a prefix. What goes wrong with one choice
  /// is its Failure, and the others go on; after an error of the whole (a
  /// cancelled one, too) step() may be called again: what has not run runs
  /// then.
  Result<std::vector<Piece>> step(size_t PromptTokens = SIZE_MAX);
  /// The images that the last step has encoded.
  std::span<const EncodedImages> encodedImages() const { return Encoded; }
  /// What the source texts that the last step began with took, in seconds.
  double sourceSeconds() const { return SourceSeconds; }

  /// Of a request that was added and not taken.
  const Generation &progress(int64_t Request, int64_t Choice = 0) const;
  const std::vector<sampling::ScoredToken> &promptScores(int64_t Request) const;
  /// The same, and forgets the request; one that still runs is given up.
  Answer take(int64_t Request);

private:
  struct Line;
  struct Job;
  Status start();
  void slicePrompts(size_t PromptTokens, int64_t RowWidth);
  void cutAtImages(Job &J, size_t &Images);
  Status encodeImages();
  Status encodeImage(Job &J);
  std::span<const float> imageRowsOf(const Job &J,
                                     std::span<const int32_t> Tokens) const;
  void cutAtImageToken(std::vector<int32_t> &Guess) const;
  enum class Phase { Prompts, Tokens };
  Status run(std::span<const Phase> Phases, engine::Variant V);
  void pickAhead(std::span<Job *const> Running,
                 std::span<const engine::ItemResult> Answers);
  Status advance(Job &J, std::span<engine::ItemResult> Answers);
  bool readPrompt(Job &J, const engine::ItemResult &Answer);
  std::span<const float> tokensOf(std::span<const float> Row) const;
  std::vector<int32_t> guess(const Request &Wish, Line &L, size_t Most);
  void addGuesses(size_t Most);
  size_t roomForGuesses() const;
  std::optional<int32_t> sample(Job &J, Line &L, std::span<const float> Row);
  std::optional<int32_t> choose(Job &J, Line &L, std::span<const float> Row);
  Result<std::optional<int32_t>> checkGuesses(Job &J, size_t I,
                                              const engine::ItemResult &Answer);
  Status chooseBeams(Job &J, std::span<const engine::ItemResult> Answers);
  Status follow(Job &J,
                std::span<const sampling::BeamSearch::Continuation> GoOn);
  void fail(Job &J, Line &L, const Error &Reason);
  Error atStep(const Job &J, const Error &Reason) const;

  engine::Session *S;
  engine::Variant V;
  /// By number; a map keeps their order, which is that of the batch.
  std::map<int64_t, std::unique_ptr<Job>> Jobs;
  int64_t Next = 0;
  std::function<double()> Clock;
  std::vector<EncodedImages> Encoded;
  double SourceSeconds = 0;
};

} // namespace tenon::generation

#endif // TENON_RUNTIME_GENERATION_GENERATOR_H
