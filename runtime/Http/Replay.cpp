//===- Replay.cpp - Recorded requests, given again ------------------------===//

#include "runtime/Http/Replay.h"

#include "runtime/Http/AnswerCompare.h"
#include "runtime/Support/Clock.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

using namespace tenon;
using namespace tenon::http;

namespace {

/// The server's thread without connections: what is posted is done by
/// runUntil().
class Loop final : public HttpServer {
public:
  ~Loop() override {
    // What is dropped may post again.
    while (!Queue.empty())
      std::exchange(Queue, {}).clear();
  }
  std::string address() const override { return "replay"; }
  Status run(std::function<void(int)>) override { return {}; }
  void post(std::function<void()> Work) override {
    {
      std::lock_guard Guard(Lock);
      Queue.push_back(std::move(Work));
    }
    More.notify_one();
  }
  // There are no others that it could hold up.
  void postLater(std::function<void()> Work) override { post(std::move(Work)); }
  void work(std::function<void()> Work) override { post(std::move(Work)); }
  void stop(double) override {}
  size_t connections() const override { return 0; }

  /// Until `IsDone`, or a moment of secondsNow(), if there is one.
  void runUntil(const std::function<bool()> &IsDone,
                std::optional<double> When = {}) {
    std::unique_lock Guard(Lock);
    while (!IsDone()) {
      if (!Queue.empty()) {
        std::function<void()> Next = std::move(Queue.front());
        Queue.pop_front();
        Guard.unlock();
        Next();
        Next = nullptr; // What it holds may post.
        Guard.lock();
        continue;
      }
      auto HasWork = [&] { return !Queue.empty(); };
      if (!When)
        More.wait(Guard, HasWork);
      else if (!More.wait_for(
                   Guard, std::chrono::duration<double>(*When - secondsNow()),
                   HasWork))
        return;
    }
  }

private:
  std::mutex Lock;
  std::condition_variable More;
  std::deque<std::function<void()>> Queue;
};

/// What was answered.
struct Outcome {
  bool IsOver = false;
  int Status = 0;
  std::string Bytes;
};

/// Takes the answer; after `Enough` bytes of a stream the client goes.
class Asking final : public Exchange {
public:
  Asking(HttpRequest What, std::shared_ptr<Outcome> To, size_t Enough)
      : To(std::move(To)), Enough(Enough) {
    Asked = std::move(What);
    Trace->Id = Asked.Id;
    Trace->Path = Asked.Path;
    Trace->Begin = secondsNow();
  }
  ~Asking() override { To->IsOver = true; }

  void reply(HttpResponse R) override {
    if (To->IsOver || To->Status != 0)
      return;
    *To = {true, R.Status, std::move(R.Body)};
  }
  void beginEvents() override { To->Status = 200; }
  void send(std::string_view Bytes) override {
    if (To->IsOver)
      return;
    To->Bytes += Bytes;
    if (To->Bytes.size() < Enough)
      return;
    To->IsOver = true;
    if (auto Then = std::exchange(WhenGone, nullptr))
      Then();
  }
  void end() override { To->IsOver = true; }
  void whenGone(std::function<void()> Then) override {
    WhenGone = std::move(Then);
  }

private:
  std::shared_ptr<Outcome> To;
  const size_t Enough;
  std::function<void()> WhenGone;
};

/// A request that has been given.
struct Given {
  const RecordedRequest *Of = nullptr;
  std::shared_ptr<Outcome> Got;
  std::optional<std::string> Skipped;
};

} // namespace

std::optional<std::string> http::whySkipped(const RecordedRequest &R) {
  if (!R.Body)
    return "its body was no UTF-8";
  if (R.Status == 429 || R.Status == 503)
    return "it was refused with status " + std::to_string(R.Status) +
           ", for what else there was";
  if (R.Status == 499 || (R.IsGone && R.Answer && R.Answer->empty()))
    return "its client went before there was an answer";
  if (!R.Answer)
    return "its answer was too long to be recorded";
  return std::nullopt;
}

static bool isCut(const RecordedRequest &R) { return R.IsStream && R.IsGone; }

static void give(HttpServer &To, Api &Answers, Given &G) {
  const RecordedRequest &R = *G.Of;
  HttpRequest Asked;
  Asked.Id = R.Id;
  Asked.Method = R.Method;
  Asked.Path = R.Path;
  Asked.Body = *R.Body;
  Asked.Time = R.Time;
  Asked.Again = {R.Seed, R.CachedTokens, R.Completed};
  G.Got = std::make_shared<Outcome>();
  size_t Enough = isCut(R) ? R.Answer->size() : SIZE_MAX;
  // Whoever holds it last may be another thread.
  Answers.take(
      To, std::shared_ptr<Exchange>(
              new Asking(std::move(Asked), G.Got, Enough), [&To](Exchange *E) {
                To.post([Own = std::shared_ptr<Exchange>(E)] {});
              }));
}

static Replayed compare(const Given &G) {
  using enum Replayed::Kind;
  if (G.Skipped)
    return {Skipped, *G.Skipped};
  const RecordedRequest &R = *G.Of;
  if (G.Got->Status != R.Status)
    return {Differs, "status " + std::to_string(R.Status) + " recorded, now " +
                         std::to_string(G.Got->Status) + ": " +
                         printable(G.Got->Bytes)};
  if (auto Difference =
          differenceOf(*R.Answer, G.Got->Bytes, R.IsStream, isCut(R)))
    return {Differs, *Difference};
  return {Same, {}};
}

struct Replayer::Implementation {
  Loop Thread;
};

Replayer::Replayer() : I(std::make_unique<Implementation>()) {}
Replayer::~Replayer() = default;

void Replayer::run(const Record &All, Api &Answers, bool AsRecorded,
                   const Reason &Skip, const Listener &Heard) {
  Loop &Thread = I->Thread;
  std::deque<Given> Open;
  auto FirstIsDone = [&] {
    return Open.front().Skipped || Open.front().Got->IsOver;
  };
  auto HearFirst = [&] {
    Heard(*Open.front().Of, compare(Open.front()));
    Open.pop_front();
  };
  double Start = secondsNow();
  std::optional<double> FirstAt;
  size_t Server = 0;
  for (const RecordedRequest &R : All.Requests) {
    Open.push_back({&R, nullptr, Skip(R)});
    if (Open.back().Skipped)
      continue;
    if (AsRecorded) {
      // Each server began its own time.
      if (!FirstAt || R.Server != Server) {
        Start = secondsNow();
        FirstAt = R.At;
        Server = R.Server;
      }
      Thread.runUntil([] { return false; }, Start + R.At - *FirstAt);
    }
    give(Thread, Answers, Open.back());
    while (!Open.empty() && (!AsRecorded || FirstIsDone())) {
      Thread.runUntil(FirstIsDone);
      HearFirst();
    }
  }
  while (!Open.empty()) {
    Thread.runUntil(FirstIsDone);
    HearFirst();
  }
}
