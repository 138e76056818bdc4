//===- Job.h - A request and how far it is ----------------------*- C++ -*-===//
//
// Internal to the generator: the state of one request, and of each of its
// choices.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_GENERATION_JOB_H
#define TENON_RUNTIME_GENERATION_JOB_H

#include "runtime/Generation/Constraint.h"
#include "runtime/Generation/Generator.h"
#include "runtime/Generation/PromptLookup.h"
#include "runtime/Generation/StopStrings.h"

namespace tenon::generation {

/// One choice: its tokens, and what becomes of them.
struct Generator::Line {
  /// `Picker` may be null for a line of which no token is sampled.
  Line(const Request &Wish, const tokenizer::Tokenizer *T,
       const sampling::Sampler *Picker = nullptr);

  Generation Done;
  Piece Added;                ///< By the last token of the step that runs.
  std::vector<Piece> Earlier; ///< By those before it.
  std::optional<tokenizer::StreamingDecoder> Decoder;
  StopStrings Stops;
  PromptLookup Lookup;
  std::optional<Constraint> Must;
  /// The tokens that come next, because Must leaves one way to go on; they are
  /// not sampled. Where it is empty the next one is.
  std::vector<int32_t> Forced;
  std::optional<sampling::Sampler> Picker;
  /// What it has chosen of the row that comes next, where that is done already.
  std::optional<Result<int32_t>> Picked;
  /// The row by the rules of generation, if there are any. Kept between rows
  /// to save allocations.
  std::vector<float> Ruled;

  bool isRunning() const { return Done.Finish == FinishReason::None; }

  /// Adds a token that was chosen; it may end the text.
  void addToken(const Request &Wish, int32_t Token);
  void addScore(sampling::ScoredToken Score);
  /// Draws the next token after a row of logits. Touches no other line.
  Result<int32_t> pick(const Request &Wish, std::span<const float> Row);
  /// Ends the text for `Reason`, or for a stop string in what is left of it.
  void finish(const Request &Wish, FinishReason Reason);
  /// At the request's limit, or that of the model.
  void finishByLength(const Request &Wish);
  /// What the step has added, and why the text has ended if it has.
  Piece takeAdded();

private:
  void addText(const Request &Wish, const std::string &Text);
  void setFinish(FinishReason Reason) { Done.Finish = Added.Finish = Reason; }
};

struct Generator::Job {
  Job(int64_t Number, Request R, const sampling::Sampler &Picker,
      const tokenizer::Tokenizer *T);

  int64_t Number;
  Request Wish;
  std::optional<sampling::BeamSearch> Search;
  /// One for each choice; of a beam search one.
  std::vector<Line> Lines;
  std::vector<sampling::ScoredToken> PromptScores;

  /// One until the prompt has run, then one for each running line or beam.
  std::vector<engine::SequenceId> Sequences;
  /// The line of each sequence, without beams.
  std::vector<size_t> Owners;
  /// What each sequence appends in the next step, when the prompt has run: the
  /// token that was chosen, and forced ones or guesses after it.
  std::vector<std::vector<int32_t>> Next;
  bool HasSource = false; ///< The source text is encoded.
  size_t PromptRun = 0;   ///< Tokens of the prompt that have run.
  size_t Slice = 0;       ///< Of what is left the next step runs so many.
  /// Where the prompt's images begin.
  std::vector<size_t> ImageStarts;
  size_t ImagesRead = 0; ///< First ones that are encoded, or need not be.
  size_t ImagesDue = 0;  ///< Of the others, to be encoded for the next step.
  /// [n, width of a row]: of the encoded images what has not run.
  std::vector<float> ImageRows;
  bool KeepsPrompt = false;
  std::optional<engine::SequenceId> KeptPrompt;
  int64_t Steps = 0; ///< Begun so far.

  bool isRunning() const;
  bool isReading() const { return PromptRun < Wish.Prompt.size(); }
  /// Whether rows of logits of the whole prompt are needed.
  bool scoresPrompt() const { return Wish.Echo && Wish.Scored; }
  std::span<const int32_t> nextOf(size_t Sequence) const;
  /// Of which of these tokens logits are needed.
  engine::OutputRows rowsOf(size_t Sequence) const;
};

} // namespace tenon::generation

#endif // TENON_RUNTIME_GENERATION_JOB_H
