//===- Session.cpp - Sequences and their steps ----------------------------===//

#include "runtime/Engine/Session.h"

#include "runtime/Engine/SessionState.h"

#include <algorithm>
#include <atomic>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::cache;
using namespace tenon::engine;

Session::Session(std::unique_ptr<Implementation> Impl)
    : Impl(std::move(Impl)) {}
Session::Session(Session &&) noexcept = default;
Session &Session::operator=(Session &&) noexcept = default;
Session::~Session() = default;

static uint64_t bytesOf(const PageCache &Cache) {
  uint64_t Bytes = 0;
  for (std::span<const std::byte> Range : Cache.memory())
    Bytes += Range.size();
  return Bytes;
}

static Result<std::shared_ptr<Executor>>
threadsOf(const SessionOptions &Options) {
  if (!Options.Shared.Threads) {
    Result<Executor> Own = Executor::create(Options.Threads);
    if (!Own)
      return Own.error();
    return std::make_shared<Executor>(std::move(*Own));
  }
  if (Options.Threads != 0)
    return Error("threads is " + std::to_string(Options.Threads) +
                 ": expected 0, for threads that are shared");
  return Options.Shared.Threads;
}

namespace {

/// The caches of a session: those of one content share page tables.
struct SessionCaches {
  PageCache Own;
  std::optional<PageCache> Sources;
  /// Where each cache of the manifest is among those of its content.
  std::vector<size_t> Places;
};

} // namespace

static Result<SessionCaches> createCaches(const Model &M,
                                          const SessionOptions &Options) {
  if (Options.CacheTokens < 0)
    return Error("cache size is " + std::to_string(Options.CacheTokens) +
                 " tokens: expected at least 0");
  if (Options.SourceTokens < 0)
    return Error("cache size for source texts is " +
                 std::to_string(Options.SourceTokens) +
                 " tokens: expected at least 0");
  const Manifest &Info = M.manifest();
  std::vector<CacheInfo> Own, Cross;
  std::vector<size_t> Places;
  for (const CacheInfo &Kind : Info.Caches) {
    auto &Kinds = Kind.Content == CacheContent::Cross ? Cross : Own;
    Places.push_back(Kinds.size());
    Kinds.push_back(Kind);
  }
  Result<PageCache> Cache = PageCache::create(
      Own, Info.MaxSequence,
      Options.CacheTokens != 0 ? Options.CacheTokens : Info.MaxSequence);
  if (!Cache)
    return Cache.error().withContext(M.path());
  SessionCaches All{std::move(*Cache), std::nullopt, std::move(Places)};
  if (!Cross.empty()) {
    Result<PageCache> Sources = PageCache::create(
        Cross, Info.MaxSource,
        Options.SourceTokens != 0 ? Options.SourceTokens : Info.MaxSource);
    if (!Sources)
      return Sources.error().withContext(M.path());
    All.Sources = std::move(*Sources);
  }
  return All;
}

/// `Times` the memory that the field `What`_bytes of the code says.
static Result<WorkingMemory> reserveFor(const Model &M, const std::string &What,
                                        uint64_t Bytes, int64_t Times) {
  if (Bytes > machineMemory())
    return Error(ErrorKind::OutOfMemory,
                 M.path() + ": field '" + What + "_bytes' is " +
                     std::to_string(Bytes) + ": expected at most " +
                     std::to_string(machineMemory()) +
                     ", the memory of this machine");
  auto Memory = WorkingMemory::reserve(Bytes * static_cast<uint64_t>(Times),
                                       What.c_str());
  if (!Memory)
    return Memory.error().withContext(M.path());
  return Memory;
}

void Session::Implementation::fillScopes(const std::vector<size_t> &Places) {
  const Manifest &Info = manifest();
  for (size_t S = 0; S < Info.Scopes.size(); ++S) {
    const ScopeInfo &Scope = Info.Scopes[S];
    auto &Table = CacheTables.emplace_back();
    for (size_t Kind = 0; Kind < Scope.CacheLayers.size(); ++Kind) {
      bool IsCross = Info.Caches[Kind].Content == CacheContent::Cross;
      const PageCache &Pages = IsCross ? *Sources : Cache;
      Table.push_back(Scope.CacheLayers[Kind] < 0
                          ? nullptr
                          : Pages.layer(Places[Kind], Scope.CacheLayers[Kind]));
    }
    Scopes.push_back({Shared->weightTables()[S].data(), Table.data()});
  }
}

Status Session::Implementation::prepareLibrary() {
  Status Ready;
  Threads->run([&] {
    // The smallest matmul that leaves the few-token path: its primitives
    // will be wanted, and a library that cannot serve them is found out now.
    int64_t Rows =
        std::min(manifest().FewTokens + 1, manifest().MaxTokensPerStep);
    Ready = Library.prepare(Rows);
  });
  return Ready;
}

Result<Session> Session::create(std::shared_ptr<const Model> M,
                                const SessionOptions &Options) {
  Result<std::shared_ptr<Executor>> Threads = threadsOf(Options);
  if (!Threads)
    return Threads.error();
  Result<SessionCaches> Caches = createCaches(*M, Options);
  if (!Caches)
    return Caches.error();
  Result<WorkingMemory> Arena =
      reserveFor(*M, "arena", M->code().ArenaBytes, 1);
  if (!Arena)
    return Arena.error();
  Result<WorkingMemory> Scratch =
      reserveFor(*M, "scratch", M->code().ScratchBytes, (*Threads)->threads());
  if (!Scratch)
    return Scratch.error();

  std::shared_ptr<const void> Taken;
  if (Options.Shared.Memory) {
    uint64_t Bytes = Arena->size() + Scratch->size() + bytesOf(Caches->Own) +
                     (Caches->Sources ? bytesOf(*Caches->Sources) : 0);
    Result<std::shared_ptr<const void>> Share =
        MemoryBudget::take(Options.Shared.Memory, Bytes);
    if (!Share)
      return Share.error().withContext(M->path());
    Taken = std::move(*Share);
  }

  M->prefault(**Threads);
  std::unique_ptr<Implementation> I(new Implementation{
      M,
      std::move(*Threads),
      std::move(Taken),
      MatmulPrimitives(M->code().Primitives, M->code().Level),
      std::move(Caches->Own),
      std::move(Caches->Sources),
      std::move(*Arena),
      std::move(*Scratch),
      {},
      {},
      {},
      {},
      {}});
  I->fillScopes(Caches->Places);
  if (Status Ready = I->prepareLibrary(); !Ready)
    return Ready.error().withContext(M->path());
  return Session(std::move(I));
}

const Model &Session::model() const { return *Impl->Shared; }
int64_t Session::threads() const { return Impl->Threads->threads(); }

SequenceId Session::createSequence() {
  SequenceId Id = Impl->Cache.createSequence();
  Impl->Extras[static_cast<int64_t>(Id)] = {};
  return Id;
}

Result<SequenceId> Session::forkSequence(SequenceId Id) {
  Result<SequenceId> Copy = Impl->Cache.forkSequence(Id);
  if (!Copy)
    return Copy.error();
  SequenceExtras Extras = Impl->Extras[static_cast<int64_t>(Id)];
  if (Extras.Source) {
    Result<SequenceId> Source = Impl->Sources->forkSequence(*Extras.Source);
    if (!Source)
      return Source.error();
    Extras.Source = *Source;
  }
  Impl->Extras[static_cast<int64_t>(*Copy)] = Extras;
  return *Copy;
}

Status Session::endSequence(SequenceId Id) {
  if (Status Ended = Impl->Cache.endSequence(Id); !Ended)
    return Ended;
  auto Extras = Impl->Extras.extract(static_cast<int64_t>(Id));
  if (std::optional<SequenceId> Source = Extras.mapped().Source)
    return Impl->Sources->endSequence(*Source);
  return {};
}

Status Session::truncateSequence(SequenceId Id, int64_t Length) {
  Result<int64_t> Present = Impl->Cache.length(Id);
  if (!Present)
    return Present.error();
  int64_t Prefix = Impl->Extras[static_cast<int64_t>(Id)].Prefix;
  // Tokens of a prefix have seen those after them.
  if (Length != 0 && Length < Prefix)
    return Error("sequence " + std::to_string(static_cast<int64_t>(Id)) +
                 ": length " + std::to_string(Length) +
                 " to truncate to: expected 0 or at least " +
                 std::to_string(Prefix) + ", its prefix");
  return Impl->Cache.truncateSequence(Id, Length);
}

void Session::cancel() { Impl->IsCancelled.store(true); }

Result<int64_t> Session::length(SequenceId Id) const {
  return Impl->Cache.length(Id);
}
Status Session::growSequence(SequenceId Id, int64_t Tokens) {
  Result<int64_t> Length = Impl->Cache.length(Id);
  if (!Length)
    return Length.error();
  int64_t PageTokens = Impl->Cache.pageTokens();
  if (*Length % PageTokens != 0 || Tokens % PageTokens != 0)
    return Error(ErrorKind::Internal,
                 "sequence of " + std::to_string(*Length) + " tokens and " +
                     std::to_string(Tokens) + " more: expected multiples of " +
                     std::to_string(PageTokens));
  if (Status Taken = Impl->Cache.reserve(Id, Tokens); !Taken)
    return Taken;
  return Impl->Cache.setLength(Id, *Length + Tokens);
}

std::vector<std::span<std::byte>> Session::pageMemory(SequenceId Id,
                                                      size_t Page) {
  return Impl->Cache.pageMemory(Impl->Cache.pages(Id)[Page]);
}

std::shared_ptr<const void> Session::takeOutput() {
  if (!Impl->Output.data())
    return nullptr;
  auto Taken = std::make_shared<WorkingMemory>(std::move(Impl->Output));
  return {Taken, Taken->data()};
}

void Session::forEach(size_t Count, const std::function<void(size_t)> &Do) {
  struct Shared {
    const std::function<void(size_t)> &Do;
    size_t Count;
    std::atomic<size_t> Next{0};
  } All{Do, Count};
  auto Body = [](void *Environment, int64_t, int64_t) {
    auto &All = *static_cast<Shared *>(Environment);
    for (size_t I; (I = All.Next.fetch_add(1)) < All.Count;)
      All.Do(I);
  };
  if (!Impl->Threads->tryRun([&] { Impl->Threads->parallel(Body, &All); }))
    Body(&All, 0, 1);
}

std::optional<PageUse> Session::memoryUse() const {
  std::vector<std::span<const std::byte>> Ranges = Impl->Cache.memory();
  if (Impl->Sources)
    for (std::span<const std::byte> Range : Impl->Sources->memory())
      Ranges.push_back(Range);
  for (const WorkingMemory *Each : {&Impl->Arena, &Impl->Output})
    Ranges.emplace_back(Each->data(), Each->size());
  return pageUse(Ranges);
}

void Session::setProfile(Profile *Recorder) { Impl->Recorder = Recorder; }

std::vector<std::string>
Session::matmulImplementations(size_t Primitive) const {
  return Impl->Library.implementations(Primitive);
}

const MatmulCounters &Session::matmulCounters() const {
  return Impl->Library.counters();
}
const PageCache &Session::cache() const { return Impl->Cache; }
const PageCache *Session::sourceCache() const {
  return Impl->Sources ? &*Impl->Sources : nullptr;
}

/// Whether the sequence of `Item`, of `Length` tokens so far, has what a step
/// needs: its source text, and a prefix that the step holds.
Status Session::checkContext(const StepItem &Item, int64_t Length) const {
  std::string Name =
      "sequence " + std::to_string(static_cast<int64_t>(Item.Sequence));
  if (Impl->Sources &&
      !Impl->Extras[static_cast<int64_t>(Item.Sequence)].Source)
    return Error(Name + " has no source text: expected one to be encoded "
                        "before its first step");
  if (Item.Prefix == 0)
    return {};
  if (!Impl->manifest().HasPrefixMask)
    return Error(Name + ": prefix of " + std::to_string(Item.Prefix) +
                 " tokens: this model has no prefix mask: expected 0");
  if (Length != 0)
    return Error(Name + ": prefix of " + std::to_string(Item.Prefix) +
                 " tokens after " + std::to_string(Length) +
                 ": expected it in the sequence's first step");
  int64_t Limit = std::min(static_cast<int64_t>(Item.Tokens.size()),
                           Impl->manifest().MaxTokensPerStep);
  if (Item.Prefix < 0 || Item.Prefix > Limit)
    return Error(Name + ": prefix of " + std::to_string(Item.Prefix) +
                 " tokens: expected 0 to " + std::to_string(Limit) +
                 ", what the item and one step hold");
  return {};
}

Result<std::vector<ItemResult>> Session::step(std::span<const StepItem> Items,
                                              Variant V) {
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
    else if (Outcome = Cache.checkRoom(Item.Sequence, Item.Tokens.size());
             Outcome) {
      Outcome = Impl->checkTokens(**Code, Item.Tokens, Item.TokenTypes);
      if (Outcome)
        Outcome = Impl->checkFeatures(**Code, Item.Tokens, Item.Features);
      if (Outcome)
        Outcome = checkContext(Item, *Length);
    }
    if (Outcome)
      Outcome = Cache.reserve(Item.Sequence,
                              static_cast<int64_t>(Item.Tokens.size()));
    if (!Outcome)
      continue;
    SequenceExtras &Extras = Impl->Extras[static_cast<int64_t>(Item.Sequence)];
    if (*Length == 0)
      Extras.Prefix = Item.Prefix;
    Slice Whole;
    Whole.Tokens = Item.Tokens;
    Whole.TokenTypes = Item.TokenTypes;
    Whole.Features = Item.Features;
    Whole.Position = *Length;
    Whole.Pages = Cache.pages(Item.Sequence);
    if (Extras.Source) {
      Whole.CrossPages = Impl->Sources->pages(*Extras.Source);
      Whole.SourceLength = Extras.SourceLength;
    }
    Whole.Prefix = Extras.Prefix;
    Whole.OutputCount = outputRowCount(Item.Outputs, Item.Tokens.size());
    Running.push_back(I);
    Requests.push_back({Whole, &Answers[I]});
  }

  Status Done = Impl->append(**Code, Requests, V);
  for (size_t R = 0; R < Running.size(); ++R) {
    auto Added = static_cast<int64_t>(Requests[R].Whole.Tokens.size());
    SequenceId Id = Items[Running[R]].Sequence;
    // Neither can fail: the pages were taken above.
    if (Done)
      (void)Cache.setLength(Id, Requests[R].Whole.Position + Added);
    else
      (void)Cache.truncateSequence(Id, Requests[R].Whole.Position);
  }
  if (!Done)
    return Done.error();
  return Answers;
}
