//===- Encoder.cpp - Texts to encode from many threads --------------------===//

#include "runtime/Serving/Encoder.h"

#include "runtime/Support/Clock.h"
#include "runtime/Support/Thread.h"

#include <condition_variable>
#include <list>
#include <mutex>

using namespace tenon;
using namespace tenon::serving;

namespace {

/// A request whose texts wait or are being encoded.
struct Waiting {
  RequestId Id{};
  std::vector<EncoderText> Texts;
  Encoder::Sink To;
  size_t Begun = 0, Done = 0; ///< Texts.
  std::vector<std::vector<float>> Rows;
  bool IsGivenUp = false;
  std::optional<Error> Failure;

  bool hasEnded() const { return Failure || IsGivenUp || Done == Texts.size(); }
};

/// A text of a step.
struct Picked {
  Waiting *Of;
  size_t Text;
};

} // namespace

struct Encoder::Implementation {
  engine::Session S;
  bool Embeds;
  size_t MaxQueued;

  mutable std::mutex Lock;
  std::condition_variable Work, Idle;
  std::list<Waiting> Requests; ///< In the order of their arrival.
  size_t Queued = 0;           ///< Texts that no step has taken.
  int64_t NextId = 1;
  bool IsDraining = false, IsEnding = false;
  bool IsDelivering = false; ///< Sinks are being told.
  EncoderStatistics Counts;
  /// Mean seconds of a text, over the last steps.
  double TextSeconds = 0;
  std::thread Runner;

  Implementation(engine::Session Own, bool Embeds, size_t MaxQueued)
      : S(std::move(Own)), Embeds(Embeds), MaxQueued(MaxQueued) {}
  ~Implementation();
  void loop();
  std::vector<Picked> pick();
  void encode(const std::vector<Picked> &Texts);
  void giveUp(Waiting &W);
  void giveUpAll();
};

Result<Encoder> Encoder::create(std::shared_ptr<const engine::Model> M,
                                const engine::SessionOptions &Room,
                                size_t MaxQueued) {
  bool Embeds = M->hasEntry("embed");
  Result<const engine::Entry *> Code = M->entry(Embeds ? "embed" : "encode");
  if (!Code)
    return Code.error();
  if (!Embeds && (*Code)->Info.Output != OutputKind::Classes)
    return Error(
        "this model gives features of tokens: expected one that embeds "
        "texts or puts them into classes");
  Result<engine::Session> S = engine::Session::create(std::move(M), Room);
  if (!S)
    return S.error();
  auto I = std::make_unique<Implementation>(std::move(*S), Embeds, MaxQueued);
  Result<std::thread> Runner = startThread([Own = I.get()] { Own->loop(); });
  if (!Runner)
    return Runner.error();
  I->Runner = std::move(*Runner);
  return Encoder(std::move(I));
}

Encoder::Encoder(std::unique_ptr<Implementation> I) : I(std::move(I)) {}
Encoder::Encoder(Encoder &&) noexcept = default;
Encoder &Encoder::operator=(Encoder &&) noexcept = default;
Encoder::~Encoder() = default;

Encoder::Implementation::~Implementation() {
  {
    std::lock_guard Guard(Lock);
    IsEnding = true;
    giveUpAll();
  }
  Work.notify_one();
  if (Runner.joinable())
    Runner.join();
}

/// Under the lock.
void Encoder::Implementation::giveUp(Waiting &W) {
  if (std::exchange(W.IsGivenUp, true))
    return;
  Queued -= W.Texts.size() - W.Begun;
  W.Begun = W.Texts.size();
}

/// Under the lock.
void Encoder::Implementation::giveUpAll() {
  IsDraining = true;
  for (Waiting &W : Requests)
    giveUp(W);
}

/// The texts of the next step, first come first served. Under the lock.
std::vector<Picked> Encoder::Implementation::pick() {
  int64_t Left = S.model().manifest().MaxTokensPerStep;
  std::vector<Picked> Texts;
  for (Waiting &W : Requests)
    for (; W.Begun < W.Texts.size(); ++W.Begun) {
      auto Tokens = static_cast<int64_t>(W.Texts[W.Begun].Tokens.size());
      if (Tokens > Left && !Texts.empty())
        return Texts;
      Left -= Tokens;
      Texts.push_back({&W, W.Begun});
      --Queued;
    }
  return Texts;
}

/// A request is in the list while a step has texts of it, so no lock is wanted
/// for what the step fills in.
void Encoder::Implementation::encode(const std::vector<Picked> &Texts) {
  std::vector<engine::EncodeItem> Items;
  for (const Picked &P : Texts) {
    const EncoderText &Text = P.Of->Texts[P.Text];
    Items.push_back({Text.Tokens, Text.Types, engine::OutputRows::All});
  }
  Result<std::vector<engine::ItemResult>> Answers =
      Embeds ? S.embed(Items) : S.encode(Items);
  std::lock_guard Guard(Lock);
  ++Counts.Steps;
  for (size_t I = 0; I < Texts.size(); ++I) {
    const Picked &P = Texts[I];
    Waiting &W = *P.Of;
    if (!Answers || !(*Answers)[I].Outcome) {
      if (!W.Failure)
        W.Failure = Answers ? (*Answers)[I].Outcome.error() : Answers.error();
      continue;
    }
    std::span<const float> Row = (*Answers)[I].Values;
    W.Rows[P.Text].assign(Row.begin(), Row.end());
    ++W.Done;
    ++Counts.Texts;
    Counts.Tokens += W.Texts[P.Text].Tokens.size();
  }
}

void Encoder::Implementation::loop() {
  std::unique_lock Guard(Lock);
  for (;;) {
    Work.wait(Guard, [&] { return IsEnding || !Requests.empty(); });
    std::vector<Picked> Texts = pick();
    if (!Texts.empty()) {
      Guard.unlock();
      double Begin = secondsNow();
      encode(Texts);
      double Each = (secondsNow() - Begin) / static_cast<double>(Texts.size());
      Guard.lock();
      constexpr double NewShare = 0.2;
      TextSeconds = TextSeconds == 0
                        ? Each
                        : (1 - NewShare) * TextSeconds + NewShare * Each;
    }
    std::list<Waiting> Ended;
    for (auto At = Requests.begin(); At != Requests.end();) {
      auto Next = std::next(At);
      if (At->hasEnded()) {
        giveUp(*At); // What of a failed one still waits.
        Ended.splice(Ended.end(), Requests, At);
      }
      At = Next;
    }
    IsDelivering = true;
    Guard.unlock();
    for (Waiting &W : Ended)
      if (W.Failure)
        W.To(std::move(*W.Failure));
      else if (W.Done < W.Texts.size())
        W.To(Error(ErrorKind::Cancelled, "the request was given up"));
      else
        W.To(std::move(W.Rows));
    Guard.lock();
    IsDelivering = false;
    if (Requests.empty())
      Idle.notify_all();
    if (IsEnding && Requests.empty())
      return;
  }
}

const engine::Model &Encoder::model() const { return I->S.model(); }
bool Encoder::embeds() const { return I->Embeds; }

std::variant<RequestId, Refusal> Encoder::submit(std::vector<EncoderText> Texts,
                                                 Sink To) {
  std::lock_guard Guard(I->Lock);
  if (I->IsDraining)
    return Refusal{Refusal::Reason::Stopped,
                   Error("the encoder takes no more requests"), 0};
  // One request may always wait, however many texts it has.
  if (I->Queued != 0 && I->Queued + Texts.size() > I->MaxQueued)
    return Refusal{Refusal::Reason::QueueFull,
                   Error(std::to_string(I->Queued) +
                         " texts wait: expected at most " +
                         std::to_string(I->MaxQueued)),
                   I->TextSeconds * static_cast<double>(I->Queued)};
  Waiting &W = I->Requests.emplace_back();
  W.Id = static_cast<RequestId>(I->NextId++);
  W.Rows.resize(Texts.size());
  W.Texts = std::move(Texts);
  W.To = std::move(To);
  I->Queued += W.Texts.size();
  I->Work.notify_one();
  return W.Id;
}

void Encoder::cancel(RequestId Id) {
  {
    std::lock_guard Guard(I->Lock);
    for (Waiting &W : I->Requests)
      if (W.Id == Id)
        I->giveUp(W);
  }
  I->Work.notify_one();
}

void Encoder::close() {
  std::lock_guard Guard(I->Lock);
  I->IsDraining = true;
}

void Encoder::drain(double Seconds) {
  close();
  std::unique_lock Guard(I->Lock);
  auto IsDone = [&] { return I->Requests.empty() && !I->IsDelivering; };
  if (I->Idle.wait_for(Guard, durationOf(Seconds), IsDone))
    return;
  I->giveUpAll();
  I->Idle.wait(Guard, IsDone);
}

void Encoder::giveUp() {
  std::lock_guard Guard(I->Lock);
  I->giveUpAll();
}

EncoderStatistics Encoder::statistics() const {
  std::lock_guard Guard(I->Lock);
  EncoderStatistics Now = I->Counts;
  Now.Queued = I->Queued;
  return Now;
}
