//===- token-gaps.cpp - Time between tokens while prompts arrive ----------===//
//
// Texts that are being generated, and prompts of all lengths that arrive at
// random moments. Prints what lay between two tokens, and how long prompts took
// beside their bound, as one JSON object. bench/token-gaps makes a table of it.
//
//===----------------------------------------------------------------------===//

#include "runtime/Serving/Scheduler.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sys/resource.h>

using namespace tenon;
using namespace tenon::serving;
using Json = nlohmann::ordered_json;

namespace {

struct Options {
  std::string Artifact;
  double MaxStepMs = 100;
  double BoundMs = 0;
  double Seconds = 60;
  double Warmup = 5;
  double EveryMs = 2500;
  size_t Texts = 16;
  size_t Longest = 2000;
  int64_t Waiting = 8;
  int64_t Threads = 0;
  uint32_t Seed = 1;
  std::string StepFile;
};

[[noreturn]] void die(const std::string &Why) {
  std::fprintf(stderr, "tenon-token-gaps: error: %s\n", Why.c_str());
  std::exit(1);
}

/// What the machine did to this process, to tell its pauses from slow steps.
struct MachineState {
  double CpuMs = 0;        ///< Of all threads.
  int64_t Preempted = 0;   ///< Times that a thread had to wait for a core.
  int64_t StolenTicks = 0; ///< Of all cores, by other virtual machines.

  static MachineState now() {
    rusage Usage = {};
    ::getrusage(RUSAGE_SELF, &Usage);
    auto Ms = [](const timeval &T) {
      return static_cast<double>(T.tv_sec) * 1e3 +
             static_cast<double>(T.tv_usec) / 1e3;
    };
    MachineState Now{Ms(Usage.ru_utime) + Ms(Usage.ru_stime), Usage.ru_nivcsw,
                     0};
    std::ifstream Stat("/proc/stat");
    std::string Name;
    Stat >> Name;
    for (int Field = 0; Field < 8; ++Field)
      Stat >> Now.StolenTicks; // the last of them
    return Now;
  }
};

/// A prompt that runs.
struct Wait {
  size_t Tokens = 0, Before = 0; ///< Of the prompt, of prompts before it.
  uint64_t Steps = 0;            ///< That had run when it came.
  double Begin = 0;
};

Json percentiles(std::vector<double> Values) {
  std::sort(Values.begin(), Values.end());
  auto At = [&](double Share) {
    return Values.empty()
               ? 0
               : Values[std::min(
                     Values.size() - 1,
                     static_cast<size_t>(Share *
                                         static_cast<double>(Values.size())))];
  };
  return {{"p50", At(0.5)},
          {"p90", At(0.9)},
          {"p99", At(0.99)},
          {"p99.9", At(0.999)},
          {"max", At(1)}};
}

class Gaps {
public:
  Gaps(Options O, std::shared_ptr<const engine::Model> M)
      : O(std::move(O)), M(std::move(M)), Dice(this->O.Seed) {}

  Json run();

private:
  generation::Request request(size_t Prompt, int64_t NewTokens);
  RequestId submit(size_t Prompt, int64_t NewTokens);
  void arrive(double Now);

  Options O;
  std::shared_ptr<const engine::Model> M;
  std::mt19937 Dice;
  std::optional<Scheduler> Plan;
  std::map<RequestId, Wait> Waits;
  size_t Submitted = 0; ///< Tokens of prompts.
  double NextArrival = 0;
};

generation::Request Gaps::request(size_t Prompt, int64_t NewTokens) {
  std::vector<int32_t> Tokens(Prompt);
  for (int32_t &Token : Tokens)
    Token = static_cast<int32_t>(
        Dice() % static_cast<uint64_t>(M->manifest().Vocabulary));
  generation::Settings S;
  S.MaxNewTokens = NewTokens;
  S.IgnoreEndOfSequence = true;
  S.Temperature = 0;
  Result<generation::Request> R = makeRequest(*M, S, std::move(Tokens));
  if (!R)
    die(R.error().message());
  return std::move(*R);
}

RequestId Gaps::submit(size_t Prompt, int64_t NewTokens) {
  auto Answer = Plan->submit(request(Prompt, NewTokens));
  if (const auto *No = std::get_if<Refusal>(&Answer))
    die(No->What.message());
  Submitted += Prompt;
  return std::get<RequestId>(Answer);
}

/// Prompts whose moment has come; there is always room for them to start.
void Gaps::arrive(double Now) {
  while (NextArrival <= Now && static_cast<int64_t>(Waits.size()) < O.Waiting) {
    Statistics Counts = Plan->statistics();
    Wait W;
    W.Tokens = 1 + Dice() % O.Longest;
    W.Before = Submitted - Counts.PromptTokens;
    W.Steps = Counts.Steps;
    W.Begin = Now;
    Waits[submit(W.Tokens, 1)] = W;
    std::exponential_distribution<double> Interval(1e3 / O.EveryMs);
    NextArrival = std::max(NextArrival, Now - 1) + Interval(Dice);
  }
}

Json Gaps::run() {
  const artifact::Manifest &Info = M->manifest();
  constexpr size_t Short = 32;
  int64_t NewTokens =
      std::min<int64_t>(1024, Info.MaxSequence - static_cast<int64_t>(Short));
  O.Longest = std::min(O.Longest, static_cast<size_t>(Info.MaxSequence) - 1);
  engine::SessionOptions Room;
  Room.Threads = O.Threads;
  std::vector<generation::Request> Most;
  for (size_t I = 0; I < O.Texts; ++I)
    Most.push_back(request(Short, NewTokens));
  for (int64_t I = 0; I < O.Waiting; ++I)
    Most.push_back(request(O.Longest, 1));
  Room.CacheTokens = generation::roomFor(*M, Most).CacheTokens;
  Result<engine::Session> S = engine::Session::create(M, Room);
  if (!S)
    die(S.error().message());
  SchedulerOptions Settings;
  Settings.MaxNumSeqs = static_cast<int64_t>(O.Texts) + O.Waiting;
  Settings.MaxStepMs = O.MaxStepMs;
  Settings.CachesPrefixes = false;
  Result<Scheduler> Made = Scheduler::create(*S, Settings);
  if (!Made)
    die(Made.error().message());
  Plan.emplace(std::move(*Made));
  for (size_t I = 0; I < O.Texts; ++I)
    submit(Short, NewTokens);
  // All texts under way, and costs known.
  double Begin = secondsNow() + O.Warmup;
  NextArrival = Begin - O.Warmup / 2;

  std::ofstream StepLines;
  if (!O.StepFile.empty()) {
    StepLines.open(O.StepFile);
    StepLines << "s,ms,prompt_tokens,slice,cpu_ms,preempted,stolen_ticks\n";
  }
  double BoundMs = std::max(O.MaxStepMs, O.BoundMs);
  auto ThreadCount = static_cast<double>(S->threads());
  constexpr double HadCores = 0.9; ///< With less of its cores a step waited.
  std::vector<double> Steps, TextSteps;
  double LongestWait = 0, BoundOfLongest = 0, WorstShare = 0;
  size_t Prompts = 0, OverPrompts = 0;
  size_t Above = 0, AboveByChoice = 0, Pauses = 0;
  size_t Tokens = 0;
  for (double Last = secondsNow(); Last < Begin + O.Seconds;) {
    arrive(secondsNow());
    uint64_t Before = Plan->statistics().PromptTokens;
    // The gap is from here: arrivals are no part of a step.
    Last = secondsNow();
    MachineState Machine = MachineState::now();
    Last = secondsNow();
    Plan->begin();
    size_t Slice = Plan->slice();
    Plan->run();
    std::vector<Update> News = Plan->finish();
    double Now = secondsNow();
    MachineState After = MachineState::now();
    bool Counts = Last >= Begin;
    for (const Update &U : News) {
      if (U.Failure)
        die(U.Failure->message());
      auto At = Waits.find(U.Id);
      if (!isFinal(U.State))
        continue;
      if (At == Waits.end()) {
        submit(Short, NewTokens); // A text that has ended; another one.
        continue;
      }
      const Wait &W = At->second;
      auto Bound = static_cast<double>(
          (W.Before + W.Tokens + StepCost::MinSlice - 1) / StepCost::MinSlice);
      auto Took = static_cast<double>(Plan->statistics().Steps - W.Steps);
      if (Counts) {
        ++Prompts;
        OverPrompts += Took > Bound;
        WorstShare = std::max(WorstShare, Took / Bound);
        if (Now - W.Begin > LongestWait) {
          LongestWait = Now - W.Begin;
          BoundOfLongest = Bound * std::max(O.MaxStepMs, O.BoundMs) / 1e3;
        }
      }
      Waits.erase(At);
    }
    if (!Counts)
      continue;
    size_t Ran = Plan->statistics().PromptTokens - Before;
    Tokens += Ran;
    double Ms = (Now - Last) * 1e3;
    bool Paused = After.CpuMs - Machine.CpuMs < HadCores * ThreadCount * Ms;
    Pauses += Paused;
    if (Ms > BoundMs) {
      ++Above;
      // Others ran no more than the least that is promised to prompts.
      AboveByChoice += !Paused && Ran > StepCost::MinSlice;
    }
    if (StepLines.is_open())
      StepLines << Now - Begin << ',' << Ms << ',' << Ran << ',' << Slice << ','
                << After.CpuMs - Machine.CpuMs << ','
                << After.Preempted - Machine.Preempted << ','
                << After.StolenTicks - Machine.StolenTicks << '\n';
    (Ran == 0 ? TextSteps : Steps).push_back(Ms);
  }
  std::vector<double> All = Steps;
  All.insert(All.end(), TextSteps.begin(), TextSteps.end());
  auto Share = [&](size_t Count) {
    return All.empty()
               ? 0
               : static_cast<double>(Count) / static_cast<double>(All.size());
  };
  return {{"max_step_ms", O.MaxStepMs},
          {"bound_ms", BoundMs},
          {"steps", All.size()},
          {"steps_with_prompts", Steps.size()},
          {"gap_ms", percentiles(All)},
          {"gap_with_prompts_ms", percentiles(Steps)},
          {"text_step_ms", percentiles(TextSteps)},
          {"share_above_bound", Share(Above)},
          {"share_above_by_choice", Share(AboveByChoice)},
          {"share_paused", Share(Pauses)},
          {"prompt_tokens_per_s", static_cast<double>(Tokens) / O.Seconds},
          {"prompts", Prompts},
          {"prompts_above_bound", OverPrompts},
          {"worst_share_of_steps", WorstShare},
          {"longest_prompt_s", LongestWait},
          {"its_bound_s", BoundOfLongest}};
}

} // namespace

int main(int Count, char **Values) {
  Options O;
  CLI::App App("Texts that are generated while prompts arrive: what lies "
               "between two tokens.",
               "tenon-token-gaps");
  App.add_option("artifact", O.Artifact)->required();
  App.add_option("--max-step-ms", O.MaxStepMs)->capture_default_str();
  App.add_option("--bound-ms", O.BoundMs,
                 "Steps may take that much in any case: what texts and the "
                 "fewest tokens of prompts take")
      ->capture_default_str();
  App.add_option("--seconds", O.Seconds, "After the warm-up")
      ->capture_default_str();
  App.add_option("--warmup", O.Warmup, "Seconds")->capture_default_str();
  App.add_option("--every-ms", O.EveryMs,
                 "Mean time between two prompts that arrive")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  App.add_option("--texts", O.Texts, "Generated at once")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  App.add_option("--longest", O.Longest, "Tokens of a prompt")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  App.add_option("--waiting", O.Waiting, "Most prompts that run at once")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  App.add_option("--threads", O.Threads, "0: one per core")
      ->capture_default_str();
  App.add_option("--seed", O.Seed)->capture_default_str();
  App.add_option("--steps", O.StepFile,
                 "Write a line of CSV for each step: what it ran and took");
  try {
    App.parse(Count, Values);
  } catch (const CLI::ParseError &Failure) {
    return App.exit(Failure) == 0 ? 0 : 2;
  }
  Result<std::shared_ptr<const engine::Model>> M =
      engine::Model::load(O.Artifact);
  if (!M)
    die(M.error().message());
  std::puts(Gaps(std::move(O), *M).run().dump().c_str());
}
