//===- Profile.cpp - What every kernel of a step took ---------------------===//

#include "runtime/Engine/Profile.h"

#include <algorithm>
#include <chrono>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::engine;

/// Kernels times layers of a profile.
static constexpr size_t MaxCells = size_t(1) << 22;

static int64_t nanosecondsNow() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             Clock::now().time_since_epoch())
      .count();
}

namespace {

/// Keys that the tokens of a batch see.
struct KeyCounts {
  double Pairs = 0;
  double Keys = 0;

  /// Of the tokens [First, Last] of a sequence, which see those before them.
  void addCausal(int64_t First, int64_t Last, int64_t Prefix, int64_t Window) {
    // A prefix is in one step: its tokens see all of it.
    for (int64_t Position = First; Position <= Last; ++Position) {
      int64_t Seen = std::max(Position + 1, std::min(Prefix, Last + 1));
      Pairs += static_cast<double>(Window != 0 ? std::min(Seen, Window) : Seen);
    }
    int64_t Begin = Window != 0 ? std::max<int64_t>(First + 1 - Window, 0) : 0;
    Keys += static_cast<double>(Last + 1 - Begin);
  }

  /// Of a sequence of `Count` tokens, which see each other.
  void addSequence(int64_t Count, int64_t Window) {
    int64_t Reach = Window != 0 ? Window - 1 : Count;
    for (int64_t Position = 0; Position < Count; ++Position)
      Pairs += static_cast<double>(std::min(Position + Reach, Count - 1) -
                                   std::max<int64_t>(Position - Reach, 0) + 1);
    Keys += static_cast<double>(Count);
  }
};

} // namespace

static KeyCounts countKeys(const tenon_rt_batch &Batch,
                           const KernelCost &Cost) {
  KeyCounts Counts;
  for (int64_t S = 0; S < Batch.sequences; ++S) {
    int64_t First = Batch.starts[S];
    int64_t Count = Batch.starts[S + 1] - First;
    if (Count == 0)
      continue;
    switch (Cost.Keys) {
    case KeysSeen::None:
      break;
    case KeysSeen::Causal:
      Counts.addCausal(Batch.positions[First],
                       Batch.positions[First + Count - 1], Batch.prefixes[S],
                       Cost.Window);
      break;
    case KeysSeen::Sequence:
      Counts.addSequence(Count, Cost.Window);
      break;
    case KeysSeen::Source:
      Counts.Pairs += static_cast<double>(Count) *
                      static_cast<double>(Batch.source_lengths[S]);
      Counts.Keys += static_cast<double>(Batch.source_lengths[S]);
      break;
    }
  }
  return Counts;
}

Result<Profile> Profile::create(const Manifest &M, const CodeInfo &Code) {
  if (Code.Kernels.empty())
    return Error("the code marks no kernels: expected at least one");
  Profile P;
  P.Scopes = M.Scopes.size() + 1;
  if (P.Scopes > MaxCells / Code.Kernels.size())
    return Error(std::to_string(Code.Kernels.size()) + " kernels and " +
                 std::to_string(M.Scopes.size()) +
                 " layers are too many to profile: expected a product of at "
                 "most " +
                 std::to_string(MaxCells));
  for (const KernelInfo &K : Code.Kernels)
    P.Kernels.push_back({K.Cost});
  P.Cells.resize(P.Kernels.size() * P.Scopes);
  for (size_t I = 0; I < P.Cells.size(); ++I) {
    P.Cells[I].Kernel = I / P.Scopes;
    if (size_t Scope = I % P.Scopes; Scope + 1 < P.Scopes)
      P.Cells[I].Scope = Scope;
  }
  return P;
}

void Profile::beginStep(const tenon_rt_step &Step) {
  FirstScope = Step.scopes;
  for (Kernel &K : Kernels)
    if (K.Cost.Keys != KeysSeen::None) {
      KeyCounts Counts = countKeys(*Step.batch, K.Cost);
      K.Pairs = Counts.Pairs;
      K.Keys = Counts.Keys;
    }
  ++Steps;
  Tokens += Step.batch->tokens;
  StepBegin = nanosecondsNow();
}

void Profile::endStep() {
  endKernel();
  StepNanoseconds += nanosecondsNow() - StepBegin;
}

void Profile::beginKernel(int64_t Number, const tenon_rt_scope *Scope,
                          int64_t Rows) {
  int64_t Now = nanosecondsNow();
  if (Running)
    Running->Nanoseconds += Now - KernelBegin;
  Running = nullptr;
  size_t Layer = Scope ? static_cast<size_t>(Scope - FirstScope) : Scopes - 1;
  if (Number < 0 || static_cast<size_t>(Number) >= Kernels.size() ||
      Layer >= Scopes)
    return;
  auto Index = static_cast<size_t>(Number);
  const Kernel &K = Kernels[Index];
  const KernelCost &Cost = K.Cost;
  auto Count = static_cast<double>(Rows);
  // What rows use of the weights at most: each may choose other parts.
  double Used = std::min(1.0, Count * static_cast<double>(Cost.UsedParts) /
                                  static_cast<double>(Cost.Parts));
  Running = &Cells[Index * Scopes + Layer];
  ++Running->Calls;
  Running->Rows += Rows;
  Running->Bytes += Used * static_cast<double>(Cost.WeightBytes) +
                    Count * static_cast<double>(Cost.RowBytes) +
                    K.Keys * static_cast<double>(Cost.KeyBytes);
  Running->Flops += Count * static_cast<double>(Cost.RowFlops) +
                    K.Pairs * static_cast<double>(Cost.KeyFlops);
  KernelBegin = Now;
}

void Profile::endKernel() {
  if (!Running)
    return;
  Running->Nanoseconds += nanosecondsNow() - KernelBegin;
  Running = nullptr;
}

std::vector<KernelTimes> Profile::kernels() const {
  std::vector<KernelTimes> Times;
  std::ranges::copy_if(Cells, std::back_inserter(Times),
                       [](const KernelTimes &T) { return T.Calls != 0; });
  return Times;
}
