//===- Engine.cpp - Requests from many threads ----------------------------===//

#include "runtime/Serving/Engine.h"

#include "runtime/Engine/Memory.h"
#include "runtime/Support/Clock.h"
#include "runtime/Support/Thread.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <unordered_map>
#include <utility>

using namespace tenon;
using namespace tenon::serving;
using generation::Request;

engine::SessionOptions serving::defaultRoom(const engine::Model &M,
                                            int64_t MaxNumSeqs,
                                            engine::Resources Shared) {
  const artifact::Manifest &Info = M.manifest();
  double Bytes = 0; // Of one text of full length, and its source.
  for (const artifact::CacheInfo &C : Info.Caches) {
    int64_t Longest = C.Content == artifact::CacheContent::Cross
                          ? Info.MaxSource
                          : Info.MaxSequence;
    Bytes += static_cast<double>(Longest) / static_cast<double>(C.PageTokens) *
             static_cast<double>(C.PageBytes) * static_cast<double>(C.Layers);
  }
  double Share = static_cast<double>(engine::machineMemory()) / 4;
  if (Shared.Memory)
    Share = std::min(Share, static_cast<double>(Shared.Memory->left()) / 2);
  double Texts = std::clamp(Bytes > 0 ? Share / Bytes : 1.0, 1.0,
                            static_cast<double>(MaxNumSeqs));
  auto Tokens = [&](int64_t Longest) {
    return static_cast<int64_t>(Texts * static_cast<double>(Longest));
  };
  return {0, Tokens(Info.MaxSequence), Tokens(Info.MaxSource),
          std::move(Shared)};
}

struct Engine::Implementation {
  engine::Session S;
  std::optional<Scheduler> Plan; ///< Under Lock, but for its run().
  std::unordered_map<int64_t, Sink> Sinks;

  mutable std::mutex Lock;
  std::condition_variable Work, Idle;
  bool IsDraining = false, IsEnding = false;
  bool IsDelivering = false; ///< Sinks are being told.
  bool WasGivenUp = false;   ///< Not all requests could finish.
  /// What somebody waits for to be done between two steps.
  std::function<void()> Between;
  std::thread Runner;

  explicit Implementation(engine::Session Own) : S(std::move(Own)) {}
  ~Implementation();
  void loop();
  /// Does `Work` on the engine's thread between two steps, and waits for it.
  void runBetween(std::function<void()> Work);
  void deliver(std::vector<Update> News);
  /// Cancels what is left. Under the lock.
  void giveUp();
};

Result<Engine> Engine::create(std::shared_ptr<const engine::Model> M,
                              const engine::SessionOptions &Room,
                              SchedulerOptions O) {
  Result<engine::Session> S = engine::Session::create(std::move(M), Room);
  if (!S)
    return S.error();
  auto I = std::make_unique<Implementation>(std::move(*S));
  Result<Scheduler> Plan = Scheduler::create(I->S, std::move(O));
  if (!Plan)
    return Plan.error();
  I->Plan.emplace(std::move(*Plan));
  Result<std::thread> Runner = startThread([Own = I.get()] { Own->loop(); });
  if (!Runner)
    return Runner.error();
  I->Runner = std::move(*Runner);
  return Engine(std::move(I));
}

Engine::Engine(std::unique_ptr<Implementation> I) : I(std::move(I)) {}
Engine::Engine(Engine &&) noexcept = default;
Engine &Engine::operator=(Engine &&) noexcept = default;
Engine::~Engine() = default;

Engine::Implementation::~Implementation() {
  if (!Runner.joinable())
    return;
  {
    std::lock_guard Guard(Lock);
    IsEnding = true;
    giveUp();
  }
  Work.notify_one();
  Runner.join();
}

void Engine::Implementation::loop() {
  std::unique_lock Guard(Lock);
  for (;;) {
    Work.wait(Guard, [&] { return IsEnding || Between || !Plan->idle(); });
    if (Between) {
      std::exchange(Between, nullptr)();
      Idle.notify_all();
      continue;
    }
    if (Plan->idle())
      return;
    Plan->begin();
    Guard.unlock();
    Plan->run();
    Guard.lock();
    std::vector<Update> News = Plan->finish();
    IsDelivering = true;
    Guard.unlock();
    deliver(std::move(News));
    Guard.lock();
    IsDelivering = false;
    if (Plan->idle())
      Idle.notify_all();
  }
}

void Engine::Implementation::deliver(std::vector<Update> News) {
  for (Update &U : News) {
    U.MoreFollow = &U != &News.back();
    Sink To;
    {
      std::lock_guard Guard(Lock);
      auto At = Sinks.find(static_cast<int64_t>(U.Id));
      To = isFinal(U.State) ? std::move(At->second) : At->second;
      if (isFinal(U.State))
        Sinks.erase(At);
    }
    To(U);
  }
}

const engine::Model &Engine::model() const { return I->S.model(); }

std::variant<RequestId, Refusal> Engine::submit(Request R, Terms T, Sink To) {
  std::unique_lock Guard(I->Lock);
  if (I->IsDraining)
    return Refusal{Refusal::Reason::Stopped,
                   Error("the engine takes no more requests"), 0};
  std::variant<RequestId, Refusal> Answer =
      I->Plan->submit(std::move(R), std::move(T));
  if (const auto *Id = std::get_if<RequestId>(&Answer))
    I->Sinks.emplace(static_cast<int64_t>(*Id), std::move(To));
  Guard.unlock();
  I->Work.notify_one();
  return Answer;
}

void Engine::cancel(RequestId Id) {
  {
    std::lock_guard Guard(I->Lock);
    I->Plan->cancel(Id);
  }
  I->Work.notify_one();
}

void Engine::close() {
  std::lock_guard Guard(I->Lock);
  I->IsDraining = true;
}

bool Engine::drain(double Seconds) {
  close();
  std::unique_lock Guard(I->Lock);
  auto IsDone = [&] { return I->Plan->idle() && !I->IsDelivering; };
  if (!I->Idle.wait_for(Guard, durationOf(Seconds), IsDone)) {
    I->giveUp();
    I->Idle.wait(Guard, IsDone);
  }
  return !I->WasGivenUp;
}

void Engine::giveUp() {
  std::lock_guard Guard(I->Lock);
  I->giveUp();
}

void Engine::Implementation::giveUp() {
  IsDraining = true;
  WasGivenUp |= !Plan->idle();
  Plan->cancelAll();
}

void Engine::Implementation::runBetween(std::function<void()> Work) {
  std::unique_lock Guard(Lock);
  // One at a time.
  Idle.wait(Guard, [&] { return !Between; });
  bool IsDone = false;
  Between = [&] {
    Work();
    IsDone = true;
  };
  this->Work.notify_one();
  Idle.wait(Guard, [&] { return IsDone; });
}

void Engine::dropPrefixes() {
  I->runBetween([&] { I->Plan->dropPrefixes(); });
}

Result<PrefixesRead> Engine::loadPrefixes(const std::string &Path) {
  std::optional<Result<PrefixesRead>> Done;
  I->runBetween([&] { Done.emplace(I->Plan->loadPrefixes(Path)); });
  return std::move(*Done);
}

Status Engine::savePrefixes(const std::string &Path) {
  Status Done;
  I->runBetween([&] { Done = I->Plan->savePrefixes(Path); });
  return Done;
}

std::optional<Timeline> Engine::timeline(RequestId Id) const {
  std::lock_guard Guard(I->Lock);
  return I->Plan->timeline(Id);
}

Statistics Engine::statistics() const {
  std::lock_guard Guard(I->Lock);
  return I->Plan->statistics();
}
