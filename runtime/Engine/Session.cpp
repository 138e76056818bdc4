//===- Session.cpp - Running steps of a model -----------------------------===//

#include "runtime/Engine/Session.h"

#include "runtime/Engine/Batch.h"
#include "runtime/Engine/Memory.h"
#include "runtime/Engine/ThreadPool.h"

#include <algorithm>

using namespace tenon;

namespace {

/// What the functions of the ABI find behind the `runtime` pointer.
struct Callee {
  ThreadPool &Pool;
  Sites &Library;
  /// The first error of the step: code generated for the model cannot handle
  /// errors, so the step goes on and is refused afterwards.
  std::optional<Error> Failure;
};

/// One item of a call that passed its checks.
struct Request {
  std::span<const int32_t> Tokens;
  std::span<const int32_t> TokenTypes;
  int64_t Position = 0;
  const int32_t *Pages = nullptr;
  int64_t Wanted = 0;
  ItemResult *Answer = nullptr;
};

} // namespace

extern "C" {

static void runParallel(void *Runtime, tenon_rt_body Body, void *Environment) {
  static_cast<Callee *>(Runtime)->Pool.parallel(Body, Environment);
}

static void meetAtBarrier(void *Runtime) {
  static_cast<Callee *>(Runtime)->Pool.barrier();
}

static void runProduct(void *Runtime, int64_t Site, int64_t Rows,
                       const void *Source, const void *Weights,
                       const void *Bias, const void *Multiplier,
                       const void *Residual, void *Destination) {
  auto &C = *static_cast<Callee *>(Runtime);
  if (C.Failure)
    return;
  Status Done = C.Library.run(
      {Site, Rows, Source, Weights, Bias, Multiplier, Residual, Destination});
  if (!Done)
    C.Failure = Done.error();
}

} // extern "C"

static constexpr tenon_rt_functions Functions = {runParallel, meetAtBarrier,
                                                 runProduct};

struct Session::Implementation {
  std::shared_ptr<const Model> Shared;
  ThreadPool Pool;
  Sites Library;
  PageCache Cache;
  WorkingMemory Arena;
  WorkingMemory Output;
  std::vector<std::vector<void *>> CacheTables;
  std::vector<tenon_rt_scope> Scopes;
  BatchBuilder Batch;

  const Manifest &manifest() const { return Shared->manifest(); }

  Status checkTokens(std::span<const int32_t> Tokens,
                     std::span<const int32_t> Types) const;
  Status runStep(const Entry &Code, float *Rows);
  Status run(const Entry &Code, std::span<Request> Requests, bool MaySplit);
  Result<std::vector<ItemResult>> encode(std::string_view Role,
                                         std::span<const EncodeItem> Items);
};

/// tenon_rt_bucket rounds up by less than this.
static constexpr uint64_t LargestBucketStep = 256;

/// Rows of output that `Outputs` asks for of `Tokens` tokens.
static int64_t rowsWanted(Wanted Outputs, size_t Tokens) {
  switch (Outputs) {
  case Wanted::None:
    return 0;
  case Wanted::Last:
    return 1;
  case Wanted::All:
    return static_cast<int64_t>(Tokens);
  }
  return 0;
}

Status
Session::Implementation::checkTokens(std::span<const int32_t> Tokens,
                                     std::span<const int32_t> Types) const {
  if (Tokens.empty())
    return Error("no tokens: expected at least one");
  for (size_t I = 0; I < Tokens.size(); ++I)
    if (Tokens[I] < 0 || Tokens[I] >= manifest().Vocabulary)
      return Error("token id " + std::to_string(Tokens[I]) + " (token " +
                   std::to_string(I) + "): expected 0 to " +
                   std::to_string(manifest().Vocabulary - 1));
  if (Types.empty())
    return {};
  if (Types.size() != Tokens.size())
    return Error(std::to_string(Types.size()) + " token types for " +
                 std::to_string(Tokens.size()) +
                 " tokens: expected one per token");
  // A model without token types knows only type 0.
  int64_t Known = std::max<int64_t>(manifest().TokenTypes, 1);
  for (size_t I = 0; I < Types.size(); ++I)
    if (Types[I] < 0 || Types[I] >= Known)
      return Error("token type " + std::to_string(Types[I]) + " (token " +
                   std::to_string(I) + "): expected 0 to " +
                   std::to_string(Known - 1));
  return {};
}

/// Runs the batch built so far, which writes its rows to `Rows`.
Status Session::Implementation::runStep(const Entry &Code, float *Rows) {
  Callee Runtime{Pool, Library, std::nullopt};
  tenon_rt_step Step = {};
  Step.functions = &Functions;
  Step.runtime = &Runtime;
  Step.batch = &Batch.finish();
  Step.scopes = Scopes.data();
  Step.arena = reinterpret_cast<char *>(Arena.data());
  Step.output = Rows;
  {
    ThreadPool::Limit Limit(Pool);
    Code.Function(&Step);
  }
  Batch.clear();
  if (Runtime.Failure)
    return Runtime.Failure->withContext(Shared->path());
  return {};
}

/// Runs all requests in as few steps as they fit in. Rows come out in the
/// order of the requests, as requests are laid out one after another.
Status Session::Implementation::run(const Entry &Code,
                                    std::span<Request> Requests,
                                    bool MaySplit) {
  bool Pooled = Code.Info.Output == OutputKind::Pooled;
  uint64_t Rows = 0;
  for (const Request &R : Requests)
    Rows += static_cast<uint64_t>(R.Wanted);
  // Products write rows up to the bucket, so the last ones need room behind.
  uint64_t Bytes = 0;
  if (__builtin_mul_overflow(
          Rows + LargestBucketStep,
          static_cast<uint64_t>(Code.Info.Width) * sizeof(float), &Bytes))
    return Error("output of " + std::to_string(Rows) +
                 " rows takes more bytes than 64 bits count");
  if (Bytes > Output.size()) {
    Result<WorkingMemory> Larger = WorkingMemory::reserve(Bytes, "output");
    if (!Larger)
      return Larger.error();
    Output = std::move(*Larger);
  }

  auto *First = reinterpret_cast<float *>(Output.data());
  auto *Next = First;
  for (const Request &R : Requests) {
    R.Answer->Rows = R.Wanted;
    R.Answer->Values = {Next, static_cast<size_t>(R.Wanted * Code.Info.Width)};
    Next += R.Wanted * Code.Info.Width;
  }

  int64_t Capacity = manifest().MaxTokensPerStep;
  Next = First;
  auto Flush = [&]() -> Status {
    if (Batch.tokens() == 0)
      return {};
    int64_t Count = Pooled ? Batch.sequences() : Batch.rows();
    Status Done = runStep(Code, Next);
    Next += Count * Code.Info.Width;
    return Done;
  };
  Batch.clear();
  for (const Request &R : Requests) {
    auto Total = static_cast<int64_t>(R.Tokens.size());
    if (!MaySplit && Batch.tokens() + Total > Capacity)
      if (Status Done = Flush(); !Done)
        return Done;
    for (int64_t From = 0; From < Total;) {
      if (Batch.tokens() == Capacity)
        if (Status Done = Flush(); !Done)
          return Done;
      int64_t Count = std::min(Total - From, Capacity - Batch.tokens());
      auto Part = [&](std::span<const int32_t> Whole) {
        return Whole.empty() ? Whole
                             : Whole.subspan(static_cast<size_t>(From),
                                             static_cast<size_t>(Count));
      };
      // Wanted rows are the request's last: count those before this end.
      int64_t Unwanted = Total - (Pooled ? 0 : R.Wanted);
      int64_t Here = std::clamp<int64_t>(From + Count - Unwanted, 0, Count);
      Batch.add({Part(R.Tokens), Part(R.TokenTypes), R.Position + From, R.Pages,
                 Here});
      From += Count;
    }
  }
  return Flush();
}

Result<std::vector<ItemResult>>
Session::Implementation::encode(std::string_view Role,
                                std::span<const EncodeItem> Items) {
  Result<const Entry *> Code = Shared->entry(Role);
  if (!Code)
    return Code.error();
  bool Pooled = (*Code)->Info.Output == OutputKind::Pooled;
  std::vector<ItemResult> Answers(Items.size());
  std::vector<Request> Requests;
  int64_t Most = std::min(manifest().MaxSequence, manifest().MaxTokensPerStep);
  for (size_t I = 0; I < Items.size(); ++I) {
    const EncodeItem &Item = Items[I];
    Answers[I].Outcome = checkTokens(Item.Tokens, Item.TokenTypes);
    if (Answers[I].Outcome && static_cast<int64_t>(Item.Tokens.size()) > Most)
      Answers[I].Outcome =
          Error("text of " + std::to_string(Item.Tokens.size()) +
                " tokens: expected at most " + std::to_string(Most) +
                ", the model's length");
    if (!Answers[I].Outcome)
      continue;
    int64_t Rows = Pooled ? 1 : rowsWanted(Item.Outputs, Item.Tokens.size());
    Requests.push_back(
        {Item.Tokens, Item.TokenTypes, 0, nullptr, Rows, &Answers[I]});
  }
  if (Status Done = run(**Code, Requests, false); !Done)
    return Done.error();
  return Answers;
}

Session::Session(std::unique_ptr<Implementation> Impl)
    : Impl(std::move(Impl)) {}
Session::Session(Session &&) noexcept = default;
Session &Session::operator=(Session &&) noexcept = default;
Session::~Session() = default;

Result<Session> Session::create(std::shared_ptr<const Model> M,
                                const SessionOptions &Options) {
  const Manifest &Info = M->manifest();
  Result<ThreadPool> Pool = ThreadPool::create(Options.Threads);
  if (!Pool)
    return Pool.error();
  if (Options.CacheTokens < 0)
    return Error("cache size is " + std::to_string(Options.CacheTokens) +
                 " tokens: expected at least 0");
  Result<PageCache> Cache = PageCache::create(
      Info.Caches, Info.MaxSequence,
      Options.CacheTokens != 0 ? Options.CacheTokens : Info.MaxSequence);
  if (!Cache)
    return Cache.error().withContext(M->path());
  uint64_t ArenaBytes = M->code().ArenaBytes;
  if (ArenaBytes > machineMemory())
    return Error(M->path() + ": field 'arena_bytes' is " +
                 std::to_string(ArenaBytes) + ": expected at most " +
                 std::to_string(machineMemory()) +
                 ", the memory of this machine");
  Result<WorkingMemory> Arena = WorkingMemory::reserve(ArenaBytes, "arena");
  if (!Arena)
    return Arena.error().withContext(M->path());

  std::unique_ptr<Implementation> I(
      new Implementation{M,
                         std::move(*Pool),
                         Sites(M->code().Sites, M->code().Level),
                         std::move(*Cache),
                         std::move(*Arena),
                         {},
                         {},
                         {},
                         {}});
  for (size_t S = 0; S < Info.Scopes.size(); ++S) {
    const ScopeInfo &Scope = Info.Scopes[S];
    auto &Table = I->CacheTables.emplace_back();
    for (size_t Kind = 0; Kind < Scope.CacheLayers.size(); ++Kind)
      Table.push_back(Scope.CacheLayers[Kind] < 0
                          ? nullptr
                          : I->Cache.layer(Kind, Scope.CacheLayers[Kind]));
    I->Scopes.push_back({M->weightTables()[S].data(), Table.data()});
  }
  {
    ThreadPool::Limit Limit(I->Pool);
    // The smallest product that leaves the few-token path: its primitives
    // will be wanted, and a library that cannot serve them is found out now.
    int64_t Rows = std::min(Info.FewTokens + 1, Info.MaxTokensPerStep);
    if (Status Ready = I->Library.prepare(Rows); !Ready)
      return Ready.error().withContext(M->path());
  }
  return Session(std::move(I));
}

const Model &Session::model() const { return *Impl->Shared; }
int64_t Session::threads() const { return Impl->Pool.threads(); }
SequenceId Session::createSequence() { return Impl->Cache.createSequence(); }
Status Session::endSequence(SequenceId Id) {
  return Impl->Cache.endSequence(Id);
}
Result<int64_t> Session::length(SequenceId Id) const {
  return Impl->Cache.length(Id);
}
const ProductCounters &Session::productCounters() const {
  return Impl->Library.counters();
}
const PageCache &Session::cache() const { return Impl->Cache; }

Result<std::vector<ItemResult>> Session::step(std::span<const StepItem> Items) {
  Result<const Entry *> Code = Impl->Shared->entry("step");
  if (!Code)
    return Code.error();
  PageCache &Cache = Impl->Cache;
  std::vector<ItemResult> Answers(Items.size());
  std::vector<Request> Requests;
  std::vector<size_t> Running;
  auto IsRunning = [&](SequenceId Id) {
    return std::any_of(Running.begin(), Running.end(),
                       [&](size_t R) { return Items[R].Sequence == Id; });
  };
  for (size_t I = 0; I < Items.size(); ++I) {
    const StepItem &Item = Items[I];
    Status &Outcome = Answers[I].Outcome;
    Result<int64_t> Length = Cache.length(Item.Sequence);
    if (!Length)
      Outcome = Length.error();
    else if (IsRunning(Item.Sequence))
      Outcome = Error("sequence " +
                      std::to_string(static_cast<int64_t>(Item.Sequence)) +
                      " occurs twice in one step");
    else if (Outcome = Impl->checkTokens(Item.Tokens, Item.TokenTypes); Outcome)
      Outcome = Cache.reserve(Item.Sequence,
                              static_cast<int64_t>(Item.Tokens.size()));
    if (!Outcome)
      continue;
    Running.push_back(I);
    Requests.push_back(
        {Item.Tokens, Item.TokenTypes, *Length, Cache.pages(Item.Sequence),
         rowsWanted(Item.Outputs, Item.Tokens.size()), &Answers[I]});
  }

  Status Done = Impl->run(**Code, Requests, true);
  for (size_t R = 0; R < Running.size(); ++R) {
    auto Added = static_cast<int64_t>(Requests[R].Tokens.size());
    // Cannot fail: the pages were taken above.
    (void)Cache.setLength(Items[Running[R]].Sequence,
                          Requests[R].Position + (Done ? Added : 0));
  }
  if (!Done)
    return Done.error();
  return Answers;
}

Result<std::vector<ItemResult>>
Session::encode(std::span<const EncodeItem> Items) {
  return Impl->encode("encode", Items);
}

Result<std::vector<ItemResult>>
Session::embed(std::span<const EncodeItem> Items) {
  return Impl->encode("embed", Items);
}
