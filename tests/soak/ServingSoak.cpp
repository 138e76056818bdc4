//===- ServingSoak.cpp - Thousands of requests to one engine --------------===//
//
// Threads submit requests of random settings and give a third of them up, in
// every state. What is not given up must answer what it answers alone, what is
// given up a beginning of it; afterwards all pages are free and no memory is
// held that was not held before.
//
//===----------------------------------------------------------------------===//

#include "runtime/Serving/Engine.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <fstream>
#include <malloc.h>
#include <mutex>
#include <random>
#include <sstream>
#include <thread>

using namespace tenon;
using namespace tenon::serving;
using generation::Answer;
using generation::Request;
using generation::Settings;

namespace {

struct Options {
  std::string Artifact;
  size_t Requests = 10000;
  size_t Distinct = 400;
  size_t Threads = 4;
  int64_t MaxNumSeqs = 6;
  double MaxStepMs = 4;
  int64_t CacheTokens = 6144;
  uint32_t Seed = 1;
  double MaxGrowthMb = 16;
  double MaxHeapGrowthKb = 256;
};

[[noreturn]] void die(const std::string &Why) {
  std::fprintf(stderr, "tenon-soak-serving: error: %s\n", Why.c_str());
  std::exit(1);
}

double residentMb() {
  std::ifstream Status("/proc/self/status");
  for (std::string Line; std::getline(Status, Line);)
    if (Line.starts_with("VmRSS:"))
      return std::stod(Line.substr(6)) / 1024;
  return 0;
}

/// Bytes that are allocated and not freed.
double heapKb() {
  struct mallinfo2 Now = ::mallinfo2();
  return static_cast<double>(Now.uordblks + Now.hblkhd) / 1024;
}

/// A request, where it may share prefixes, and what it answers alone.
struct Sample {
  Request Wish;
  std::string Salt;
  Answer Alone;
  std::string Shown;
};

/// Every bit of an answer.
std::string shown(const Answer &All) {
  std::ostringstream Text;
  Text << std::hexfloat;
  auto Add = [&](const sampling::ScoredToken &S) {
    Text << S.Chosen.Token << ":" << S.Chosen.LogProbability;
    for (const sampling::TokenScore &L : S.Likeliest)
      Text << "/" << L.Token << ":" << L.LogProbability;
    Text << " ";
  };
  for (const generation::Generation &G : All.Choices) {
    for (int32_t Token : G.NewTokens)
      Text << Token << " ";
    Text << "'" << G.Text << "' " << nameOf(G.Finish) << " "
         << G.StopString.value_or("") << G.StopToken.value_or(-1) << " "
         << G.Score.value_or(0) << " ";
    std::for_each(G.Scores.begin(), G.Scores.end(), Add);
    Text << "; ";
  }
  std::for_each(All.PromptScores.begin(), All.PromptScores.end(), Add);
  return Text.str();
}

class Soak {
public:
  Soak(Options O, std::shared_ptr<const engine::Model> M)
      : O(std::move(O)), M(std::move(M)), Dice(this->O.Seed) {}

  int run();

private:
  using Tokens = std::vector<int32_t>;

  size_t upTo(size_t Most) { return Dice() % (Most + 1); }
  bool chance(size_t OneIn) { return Dice() % OneIn == 0; }
  Tokens tokens(size_t Count);
  Settings settings();
  void makeSamples();
  SchedulerOptions schedulerOptions() const;
  void answerAlone();
  void client(uint32_t Number, size_t Count);
  bool submit(size_t Which, std::optional<double> Timeout,
              std::optional<size_t> CancelAtPiece, RequestId &Id);
  void follow(size_t Which, std::vector<Tokens> &Streamed, const Update &U);
  void phase(size_t Count, uint32_t Number);
  void find(const std::string &What);

  Options O;
  std::shared_ptr<const engine::Model> M;
  std::mt19937 Dice;
  std::vector<Sample> Samples;
  std::optional<Engine> E;

  std::mutex Lock;
  std::condition_variable Changed;
  size_t Open = 0, Findings = 0;
  /// Given up while queued, prefilling and decoding; the same by a timeout.
  size_t Cancelled[3] = {}, Expired[3] = {}, Finished = 0, Hits = 0, Full = 0;
};

void Soak::find(const std::string &What) {
  if (++Findings <= 10)
    std::printf("FINDING: %s\n", What.c_str());
}

Soak::Tokens Soak::tokens(size_t Count) {
  Tokens Made(Count);
  for (int32_t &Token : Made)
    Token = static_cast<int32_t>(
        Dice() % static_cast<uint64_t>(M->manifest().Vocabulary));
  return Made;
}

Settings Soak::settings() {
  Settings S;
  S.MaxNewTokens = static_cast<int64_t>(1 + upTo(31));
  S.IgnoreEndOfSequence = chance(2);
  if (chance(6)) {
    S.Beams = 2 + static_cast<int64_t>(upTo(1));
    S.Choices = 1 + static_cast<int64_t>(upTo(1));
  } else {
    S.Beams = 1;
    S.Lookup = chance(4) ? 1 + static_cast<int64_t>(upTo(5)) : 0;
    S.Temperature = chance(3) ? 0 : 0.5 + 0.25 * static_cast<double>(upTo(4));
    if (*S.Temperature > 0) {
      S.Choices = chance(4) ? 2 + static_cast<int64_t>(upTo(1)) : 1;
      if (chance(3))
        S.TopK = static_cast<int64_t>(1 + upTo(40));
      if (chance(3))
        S.TopP = 0.9;
      if (chance(4))
        S.MinP = 0.02;
      if (chance(5))
        S.TypicalP = 0.8;
    }
  }
  S.Seed = upTo(1000);
  if (chance(3))
    S.LogProbabilities = static_cast<int64_t>(upTo(3));
  S.Echo = chance(5) && M->manifest().MaxSource == 0;
  if (chance(4))
    S.RepetitionPenalty = 1.2;
  if (chance(4))
    S.PresencePenalty = S.FrequencyPenalty = 0.4;
  if (chance(4))
    S.LogitBias = {{tokens(1)[0], 3}};
  if (chance(4))
    S.BadWords = {tokens(1), tokens(2)};
  if (chance(4))
    S.StopTokens = tokens(2);
  if (chance(4) && M->manifest().Tokenizer)
    S.StopStrings = {"e", "the "};
  if (chance(5))
    S.MinNewTokens =
        static_cast<int64_t>(upTo(static_cast<size_t>(*S.MaxNewTokens)));
  return S;
}

void Soak::makeSamples() {
  const artifact::Manifest &Info = M->manifest();
  auto Longest = static_cast<size_t>(
      Info.MaxSource != 0 ? Info.MaxSource : Info.MaxSequence - 40);
  std::vector<Tokens> Shared;
  while (Shared.size() < 6)
    Shared.push_back(tokens(std::min<size_t>(300, Longest - 40)));
  while (Samples.size() < O.Distinct) {
    Tokens Prompt = tokens(1 + upTo(38));
    if (!chance(3)) {
      const Tokens &Before = Shared[upTo(Shared.size() - 1)];
      Prompt.insert(Prompt.begin(), Before.begin(),
                    Before.begin() +
                        static_cast<ptrdiff_t>(upTo(Before.size())));
    }
    Result<Request> R = makeRequest(*M, settings(), std::move(Prompt));
    if (!R)
      die(R.error().message());
    Samples.push_back({std::move(*R), chance(4) ? "another" : "", {}, {}});
  }
}

SchedulerOptions Soak::schedulerOptions() const {
  SchedulerOptions S;
  S.MaxNumSeqs = O.MaxNumSeqs;
  S.MaxQueued = 12;
  S.MaxStepMs = O.MaxStepMs;
  return S;
}

/// Each on a session that nothing else has used.
void Soak::answerAlone() {
  for (Sample &One : Samples) {
    engine::SessionOptions Room = generation::roomFor(*M, {&One.Wish, 1});
    Room.Threads = 1;
    Result<engine::Session> S = engine::Session::create(M, Room);
    if (!S)
      die(S.error().message());
    SchedulerOptions Alone = schedulerOptions();
    Alone.CachesPrefixes = false;
    Alone.MaxStepMs = 1e6;
    Result<Scheduler> Plan = Scheduler::create(*S, Alone);
    if (!Plan)
      die(Plan.error().message());
    auto Id = Plan->submit(One.Wish);
    if (const auto *No = std::get_if<Refusal>(&Id))
      die(No->What.message());
    while (!Plan->idle())
      for (Update &U : Plan->step()) {
        if (U.Failure)
          die(U.Failure->message());
        if (U.Answer)
          One.Alone = std::move(*U.Answer);
      }
    One.Shown = shown(One.Alone);
  }
}

/// Takes the news of a request of `Samples[Which]`.
void Soak::follow(size_t Which, std::vector<Tokens> &Streamed,
                  const Update &U) {
  for (const generation::Piece &P : U.Pieces) {
    Tokens &All = Streamed[static_cast<size_t>(P.Choice)];
    All.insert(All.end(), P.Tokens.begin(), P.Tokens.end());
  }
  if (!isFinal(U.State))
    return;
  const Sample &One = Samples[Which];
  std::string Of = "request " + std::to_string(Which) + " ";
  std::lock_guard Guard(Lock);
  for (size_t I = 0; I < Streamed.size(); ++I) {
    const Tokens &Whole = One.Alone.Choices[I].NewTokens;
    if (Streamed[I].size() > Whole.size() ||
        !std::equal(Streamed[I].begin(), Streamed[I].end(), Whole.begin()))
      find(Of + "has other tokens than alone");
  }
  size_t Where = U.Usage.Queued == 0 ? 0 : U.Usage.NewTokens == 0 ? 1 : 2;
  Hits += U.Usage.CachedTokens > 0;
  if (U.State == RequestState::Cancelled)
    ++Cancelled[Where];
  else if (U.State == RequestState::Failed &&
           U.Failure->kind() == ErrorKind::Cancelled)
    ++Expired[Where];
  else if (U.State == RequestState::Failed)
    find(Of + "has failed: " + U.Failure->message());
  else if (++Finished; shown(*U.Answer) != One.Shown)
    find(Of + "answers '" + shown(*U.Answer) + "': expected '" + One.Shown +
         "'");
  --Open;
  Changed.notify_all();
}

bool Soak::submit(size_t Which, std::optional<double> Timeout,
                  std::optional<size_t> CancelAtPiece, RequestId &Id) {
  auto Streamed = std::make_shared<std::vector<Tokens>>(
      static_cast<size_t>(Samples[Which].Wish.How.Choices));
  auto Pieces = std::make_shared<size_t>(0);
  {
    std::lock_guard Guard(Lock);
    ++Open;
  }
  auto Answer = E->submit(Samples[Which].Wish, {Samples[Which].Salt, Timeout},
                          [=, this](const Update &U) {
                            if (CancelAtPiece && (*Pieces)++ == *CancelAtPiece)
                              E->cancel(U.Id);
                            follow(Which, *Streamed, U);
                          });
  if (const auto *Given = std::get_if<RequestId>(&Answer)) {
    Id = *Given;
    return true;
  }
  std::lock_guard Guard(Lock);
  --Open;
  if (const Refusal &No = std::get<Refusal>(Answer);
      No.Why != Refusal::Reason::QueueFull)
    find("a request is refused: " + No.What.message());
  ++Full;
  return false;
}

void Soak::client(uint32_t Number, size_t Count) {
  std::mt19937 Own(O.Seed * 1000 + Number);
  /// What is given up later, and when.
  std::vector<std::pair<double, RequestId>> Later;
  auto CancelDue = [&](double Now) {
    std::erase_if(Later, [&](const auto &Due) {
      if (Due.first > Now)
        return false;
      E->cancel(Due.second);
      return true;
    });
  };
  for (size_t Done = 0; Done < Count;) {
    size_t Which = Own() % Samples.size();
    std::optional<double> Timeout;
    std::optional<size_t> AtPiece;
    // A third; of them each of four ways is as likely.
    size_t Fate = Own() % 12;
    double Delay = std::pow(10.0, -3 + 3.0 * (Own() % 1000) / 1000);
    if (Fate == 0)
      Timeout = Delay;
    else if (Fate == 1)
      AtPiece = Own() % 8;
    RequestId Id{};
    if (submit(Which, Timeout, AtPiece, Id)) {
      ++Done;
      if (Fate == 2)
        E->cancel(Id);
      else if (Fate == 3)
        Later.emplace_back(secondsNow() + Delay, Id);
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    CancelDue(secondsNow());
  }
  CancelDue(1e300);
}

/// `Count` requests from all threads; returns when all have ended and nothing
/// is kept.
void Soak::phase(size_t Count, uint32_t Number) {
  std::vector<std::thread> Clients;
  for (size_t C = 0; C < O.Threads; ++C)
    Clients.emplace_back([=, this] {
      client(Number * 100 + static_cast<uint32_t>(C),
             Count * (C + 1) / O.Threads - Count * C / O.Threads);
    });
  for (std::thread &C : Clients)
    C.join();
  std::unique_lock Guard(Lock);
  if (!Changed.wait_for(Guard, std::chrono::minutes(10),
                        [&] { return Open == 0; }))
    die(std::to_string(Open) + " requests have not ended");
  Guard.unlock();
  E->dropPrefixes();
  Statistics Now = E->statistics();
  Guard.lock();
  if (Now.FreePages != Now.Pages || Now.FreeSourcePages != Now.SourcePages)
    find(std::to_string(Now.FreePages) + " of " + std::to_string(Now.Pages) +
         " pages are free, and " + std::to_string(Now.FreeSourcePages) +
         " of " + std::to_string(Now.SourcePages) +
         " of source texts: expected all");
  if (Now.Queued + Now.Running + Now.CachedPrefixes != 0 ||
      Now.Submitted != Now.Finished + Now.Cancelled + Now.Failed)
    find("the engine's counts do not add up");
}

int Soak::run() {
  double Begin = secondsNow();
  makeSamples();
  answerAlone();
  double AloneTime = secondsNow() - Begin;
  engine::SessionOptions Room{1, O.CacheTokens, 8 * M->manifest().MaxSource};
  Result<Engine> Made = Engine::create(M, Room, schedulerOptions());
  if (!Made)
    die(Made.error().message());
  E.emplace(std::move(*Made));

  Begin = secondsNow();
  size_t Warm = O.Requests / 4;
  phase(Warm, 1);
  double Resident = residentMb(), Heap = heapKb();
  phase(O.Requests - Warm, 2);
  double Growth = residentMb() - Resident, HeapGrowth = heapKb() - Heap;
  double Seconds = secondsNow() - Begin;
  Statistics Now = E->statistics();

  std::printf("%zu requests of %zu kinds from %zu threads in %.1f s (alone "
              "%.1f s): %zu finished as alone\n",
              O.Requests, Samples.size(), O.Threads, Seconds, AloneTime,
              Finished);
  for (auto [What, Counts] :
       {std::pair("cancelled", Cancelled), std::pair("timed out", Expired)})
    std::printf("%s: %zu queued, %zu prefilling, %zu decoding\n", What,
                Counts[0], Counts[1], Counts[2]);
  std::printf("%llu steps, %llu tokens of prompts run, %llu from the prefix "
              "cache in %zu requests; the queue was full %zu times\n",
              static_cast<unsigned long long>(Now.Steps),
              static_cast<unsigned long long>(Now.PromptTokens),
              static_cast<unsigned long long>(Now.CachedTokens), Hits, Full);
  std::printf("pages free: %lld of %lld\n",
              static_cast<long long>(Now.FreePages),
              static_cast<long long>(Now.Pages));
  std::printf("memory after a quarter and at the end: resident %.1f MB, %+.1f; "
              "heap %.0f KB, %+.0f\n",
              Resident, Growth, Heap, HeapGrowth);
  if (Growth > O.MaxGrowthMb || HeapGrowth > O.MaxHeapGrowthKb)
    find("memory grows: expected at most " + std::to_string(O.MaxGrowthMb) +
         " MB resident and " + std::to_string(O.MaxHeapGrowthKb) + " KB heap");
  for (auto [What, Counts] :
       {std::pair("cancelled", Cancelled), std::pair("timed out", Expired)})
    for (size_t I = 0; I < 3; ++I)
      // Of few requests not every kind occurs.
      if (Counts[I] == 0 && O.Requests >= 2000)
        find(std::string("none is ") + What + " " +
             (I == 0   ? "queued"
              : I == 1 ? "prefilling"
                       : "decoding"));
  if (Hits == 0 && M->manifest().MaxSource == 0)
    find("no prefix was shared");
  if (Findings != 0)
    std::printf("%zu findings\n", Findings);
  return Findings == 0 ? 0 : 1;
}

} // namespace

int main(int Count, char **Values) {
  Options O;
  CLI::App App("Thousands of requests to one engine, a third of them given up.",
               "tenon-soak-serving");
  App.add_option("artifact", O.Artifact)->required();
  App.add_option("--requests", O.Requests)->capture_default_str();
  App.add_option("--distinct", O.Distinct, "Kinds of request")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  App.add_option("--threads", O.Threads, "That submit")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  App.add_option("--max-num-seqs", O.MaxNumSeqs)->capture_default_str();
  App.add_option("--max-step-ms", O.MaxStepMs)->capture_default_str();
  App.add_option("--cache-tokens", O.CacheTokens)->capture_default_str();
  App.add_option("--seed", O.Seed)->capture_default_str();
  App.add_option("--max-growth-mb", O.MaxGrowthMb,
                 "Of resident memory after a quarter of the requests")
      ->capture_default_str();
  App.add_option("--max-heap-growth-kb", O.MaxHeapGrowthKb,
                 "Of memory that is allocated, between the same moments")
      ->capture_default_str();
  try {
    App.parse(Count, Values);
  } catch (const CLI::ParseError &Failure) {
    return App.exit(Failure) == 0 ? 0 : 2;
  }
  Result<std::shared_ptr<const engine::Model>> M =
      engine::Model::load(O.Artifact);
  if (!M)
    die(M.error().message());
  return Soak(std::move(O), *M).run();
}
