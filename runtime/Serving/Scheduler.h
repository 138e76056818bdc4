//===- Scheduler.h - Which requests run in a step ---------------*- C++ -*-===//
//
// Continuous batching: requests join and leave between any two steps. No
// threads and no clock of its own; Engine.h adds both.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_SERVING_SCHEDULER_H
#define TENON_RUNTIME_SERVING_SCHEDULER_H

#include "runtime/Generation/Generator.h"
#include "runtime/Serving/ImageNumbers.h"
#include "runtime/Serving/PrefixCache.h"
#include "runtime/Serving/PrefixFile.h"
#include "runtime/Serving/RequestState.h"
#include "runtime/Serving/StepCost.h"
#include "runtime/Serving/Timeline.h"
#include "runtime/Support/Clock.h"

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace tenon::serving {

/// Names a request of one scheduler; never reused.
enum class RequestId : int64_t {};

struct SchedulerOptions {
  /// Sequences that are generated at once: choices and beams count one each.
  /// Where it is at most the artifact's bound of few tokens, generated tokens
  /// run the variants for few, else those for many; so it decides on rounding,
  /// and the load does not.
  int64_t MaxNumSeqs = 8;
  /// Requests that wait.
  size_t MaxQueued = 256;
  /// What a step may take, in milliseconds: prompts are cut so that it does as
  /// far as can be foreseen. A step of texts alone takes what it takes,
  /// StepCost::MinSlice tokens of prompts run in every step, and a step that
  /// encodes an image, one at most, takes that much longer.
  double MaxStepMs = 100;
  /// Pages of prompts are kept for requests that begin as they do.
  bool CachesPrefixes = true;
  /// Seconds since any moment.
  std::function<double()> Clock = secondsNow;
};

/// What a request brings beside what to generate.
struct Terms {
  /// Requests share cached prefixes with those of the same salt only.
  std::string Salt;
  /// Seconds after which a request that has not finished fails; none: never.
  std::optional<double> Timeout;
};

/// Why a request was not accepted.
struct Refusal {
  enum class Reason {
    NeverFits, ///< It needs more than the engine has.
    QueueFull, ///< It may be accepted later.
    Stopped    ///< The engine takes no more requests.
  };
  Reason Why = Reason::NeverFits;
  Error What;
  /// With QueueFull: seconds after which it is worth another try.
  double RetryAfter = 0;
};

/// How a request went, in seconds and tokens.
struct RequestUsage {
  size_t PromptTokens = 0;
  size_t CachedTokens = 0; ///< Of the prompt, from the prefix cache.
  size_t NewTokens = 0;    ///< Of all choices.
  double Queued = 0;       ///< From submitting to the first step.
  double FirstToken = 0;   ///< From submitting to the first new token.
  double LongestGap = 0;   ///< Between two steps that brought new tokens.
  double Total = 0;        ///< From submitting to the end.
};

/// News of a request.
struct Update {
  RequestId Id{};
  RequestState State = RequestState::Queued;
  /// What a step has added to its choices; Piece::Request means nothing here.
  std::vector<generation::Piece> Pieces;
  /// All of it, once, with the state Finished.
  std::optional<generation::Answer> Answer;
  std::optional<Error> Failure; ///< With the state Failed.
  RequestUsage Usage;           ///< With a final state.
  /// With a final state: what it went through.
  std::shared_ptr<const Timeline> Went;
  /// Whether the engine has more to deliver at once.
  bool MoreFollow = false;
};

struct Statistics {
  size_t Queued = 0, Running = 0;
  uint64_t Submitted = 0, Finished = 0, Cancelled = 0, Failed = 0, Refused = 0;
  uint64_t Steps = 0, PromptTokens = 0, CachedTokens = 0, NewTokens = 0;
  int64_t Pages = 0, FreePages = 0;
  int64_t SourcePages = 0, FreeSourcePages = 0; ///< Of an encoder-decoder.
  size_t CachedPrefixes = 0;
};

/// Runs requests on a session, which is its alone and must outlive it.
///
/// Requests start in the order of their arrival; one that would share pages
/// with a prompt that runs waits for those. Whether a request fits is decided
/// by the pages that it may need at most, so that none is ever given up for
/// want of pages. Kept prefixes make room when they must, least recently used
/// first. A request's tokens depend on nothing but the request: not on others,
/// their order, how prompts are cut, or what the prefix cache holds.
class Scheduler {
public:
  /// An error for a model that generates no text, for code that does not let
  /// the runtime choose variants, and for options out of range.
  static Result<Scheduler> create(engine::Session &S, SchedulerOptions O);

  /// Queues a request that makeRequest() has made for the session's model.
  std::variant<RequestId, Refusal> submit(generation::Request R, Terms T = {});

  /// Gives a request up, in any state. False where it has ended. The last
  /// update of it comes with the step that runs, or the next.
  bool cancel(RequestId Id);
  /// The same of all that there are.
  void cancelAll();

  /// Whether a step would do nothing.
  bool idle() const;

  /// One step; news of all requests that it concerns. What goes wrong with the
  /// step as a whole fails every request that runs.
  std::vector<Update> step();
  /// The same in three parts. While run() runs, another thread may call all
  /// functions but these; so a lock is wanted for the others only.
  void begin();
  void run();
  std::vector<Update> finish();
  /// Between begin() and finish(): tokens of prompts that the step may run.
  size_t slice() const { return Running ? Running->Slice : 0; }

  /// Keeps the prompts of a file that savePrefixes() has written; those that
  /// are kept already go, but the artifact's. Not during run(). Nothing is read
  /// without SchedulerOptions::CachesPrefixes.
  Result<PrefixesRead> loadPrefixes(const std::string &Path);
  /// Writes the cached prefixes to a file, but the artifact's. Not during
  /// run().
  Status savePrefixes(const std::string &Path);

  /// Not during run().
  const PrefixCache &prefixes() const { return Prefixes; }
  /// Images that are known of cached prefixes, and perhaps some others.
  const ImageNumbers &images() const { return Images; }

  /// What came of the prompts in the artifact, which are kept from the start.
  const PrefixesRead &artifactPrefixes() const { return OfArtifact; }

  /// Ends every kept sequence. Not during run().
  void dropPrefixes();

  /// What a request that has not ended went through so far.
  std::optional<Timeline> timeline(RequestId Id) const;

  Statistics statistics() const;
  engine::Variant variant() const { return V; }

private:
  struct Entry {
    RequestId Id{};
    generation::Request Wish; ///< Until it runs.
    Terms Rules;
    RequestState State = RequestState::Queued;
    /// What may be kept, by its ImageNumbers; else empty.
    std::vector<int32_t> Prompt;
    int64_t Number = -1; ///< The generator's.
    int64_t Rows = 1, Pages = 0, SourcePages = 0;
    double Submitted = 0;
    std::optional<double> LastToken; ///< When there was one.
    bool IsGivenUp = false; ///< While a step runs, after which it is cancelled.
    RequestUsage Usage;
    Timeline Went;
  };

  struct Step;
  Scheduler(engine::Session &S, SchedulerOptions O, engine::Variant V);
  Status keepArtifactPrefixes();
  std::optional<Refusal> refuse(const generation::Request &R) const;
  void move(Entry &E, RequestState To);
  void expire();
  void admit();
  bool waitsForPrefix(const Entry &E, size_t Cached) const;
  int64_t unpromisedPages() const;
  bool makeRoom(int64_t Pages, std::optional<cache::SequenceId> Spared);
  void start(Entry &E, std::optional<PrefixCache::Match> Found);
  void keepPrompt(Entry &E);
  void forgetImages();
  void follow(std::span<generation::Piece> Pieces);
  void noteToken(Entry &E);
  void noteStep(const Step &Done, std::span<const PromptRest> Rests);
  void noteEnd(Entry &E, Update &U);
  void giveUp(Entry &E);
  void fail(Entry &E, Error Why);
  Update &end(Entry &E, RequestState To);
  Update &updateOf(Entry &E);

  engine::Session *S;
  SchedulerOptions O;
  engine::Variant V;
  generation::Generator Texts;
  PrefixCache Prefixes;
  ImageNumbers Images;
  size_t MostImages = 1024; ///< Known ones, before some are forgotten.
  PrefixesRead OfArtifact;
  StepCost Cost;
  /// In the order of arrival; those that run and those that wait.
  std::list<Entry> Entries;
  std::vector<Update> News;
  int64_t NextId = 1;
  int64_t Rows = 0, Pages = 0, SourcePages = 0; ///< Of all that run, at most.
  /// What the texts of the next step are, and in `Rests` what is left of
  /// prompts, in the order in which they run.
  StepWork textWork(std::vector<PromptRest> &Rests) const;
  /// The step that runs, from begin() to finish(): its texts, what is left of
  /// prompts before it, and tokens of those that it may run.
  struct Step {
    StepWork Work;
    std::vector<PromptRest> Rests;
    size_t Slice = 0;
    double Begin = 0, Seconds = 0;
    std::vector<generation::Piece> Pieces;
    std::vector<generation::EncodedImages> Encoded;
    double SourceSeconds = 0;
    std::optional<Error> Failure;
  };
  std::optional<Step> Running;
  /// Mean seconds of a request from its first step to its end.
  double ServiceTime = 0;
  Statistics Counts;
  void countPages();
  int64_t FreePages = 0, FreeSourcePages = 0; ///< After the last step.
};

} // namespace tenon::serving

#endif // TENON_RUNTIME_SERVING_SCHEDULER_H
