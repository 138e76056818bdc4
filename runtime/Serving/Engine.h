//===- Engine.h - Requests from many threads --------------------*- C++ -*-===//
//
// A scheduler on a thread of its own. No input and no output: what comes of a
// request goes to the function that was given with it.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_SERVING_ENGINE_H
#define TENON_RUNTIME_SERVING_ENGINE_H

#include "runtime/Serving/Scheduler.h"

#include <functional>
#include <memory>

namespace tenon::serving {

/// Takes the news of one request, on the engine's thread, which waits for it:
/// it hands them on and returns. The last one has a final state. It may call
/// cancel(), but no other function of the engine.
using Sink = std::function<void(const Update &)>;

/// Cache for an engine where nobody says how much: for `MaxNumSeqs` texts of
/// the model's full length, in at most a quarter of the machine's memory and
/// half of what is left of `Shared`, but for one such text in any case. Memory
/// is taken as texts grow.
engine::SessionOptions defaultRoom(const engine::Model &M, int64_t MaxNumSeqs,
                                   engine::Resources Shared = {});

/// All functions may be called from any thread.
class Engine {
public:
  /// An engine on a new session of `M`.
  static Result<Engine> create(std::shared_ptr<const engine::Model> M,
                               const engine::SessionOptions &Room,
                               SchedulerOptions O);
  Engine(Engine &&) noexcept;
  Engine &operator=(Engine &&) noexcept;
  /// Cancels what is left.
  ~Engine();

  const engine::Model &model() const;

  /// Queues a request of makeRequest() for model(). With a refusal, `To` is
  /// never called.
  std::variant<RequestId, Refusal> submit(generation::Request R, Terms T,
                                          Sink To);

  /// Gives a request up; its sink hears of it, unless it has ended.
  void cancel(RequestId Id);

  /// Takes no more requests from now on.
  void close();
  /// Takes no more requests, and waits for those that there are, at most
  /// `Seconds` or until giveUp(); then cancels them. Their sinks have heard of
  /// their ends when it returns. Whether all could finish.
  bool drain(double Seconds);
  /// Takes no more requests, and cancels those that there are; waits for
  /// nothing.
  void giveUp();

  /// As of Scheduler, between two steps.
  Result<PrefixesRead> loadPrefixes(const std::string &Path);
  Status savePrefixes(const std::string &Path);

  /// Ends every kept prompt, between two steps; all pages that no request has
  /// are free then.
  void dropPrefixes();

  /// What a request that has not ended went through so far.
  std::optional<Timeline> timeline(RequestId Id) const;

  Statistics statistics() const;

private:
  struct Implementation;
  explicit Engine(std::unique_ptr<Implementation> I);
  std::unique_ptr<Implementation> I;
};

} // namespace tenon::serving

#endif // TENON_RUNTIME_SERVING_ENGINE_H
