//===- Scheduler.cpp - Which requests run in a step -----------------------===//

#include "runtime/Serving/Scheduler.h"

#include "runtime/Sampling/SettingNames.h"

#include <algorithm>
#include <cassert>
#include <cmath>

using namespace tenon;
using namespace tenon::serving;
using cache::SequenceId;
using generation::Answer;
using generation::FinishReason;
using generation::Generator;
using generation::Piece;
using generation::Request;

static size_t commonLength(const std::vector<int32_t> &A,
                           const std::vector<int32_t> &B) {
  size_t Shorter = std::min(A.size(), B.size());
  return static_cast<size_t>(
      std::mismatch(A.begin(), A.begin() + static_cast<ptrdiff_t>(Shorter),
                    B.begin())
          .first -
      A.begin());
}

Result<Scheduler> Scheduler::create(engine::Session &S, SchedulerOptions O) {
  const engine::Model &M = S.model();
  if (Result<const engine::Entry *> Code = M.entry("step"); !Code)
    return Code.error();
  auto Fail = [](const char *Name, const std::string &Value,
                 const char *Expected) {
    return Error(std::string(Name) + " is " + Value + ": expected " + Expected);
  };
  if (O.MaxNumSeqs < 1 || O.MaxNumSeqs > generation::MaxChoices)
    return Fail("max_num_seqs", std::to_string(O.MaxNumSeqs), "1 to 1024");
  if (!(O.MaxStepMs > 0) || !std::isfinite(O.MaxStepMs))
    return Fail("max_step_ms", std::to_string(O.MaxStepMs),
                "more than 0 milliseconds");
  assert(O.Clock && "a scheduler needs a clock");
  engine::Variant V = generation::variantFor(M, O.MaxNumSeqs);
  Scheduler Made(S, std::move(O), V);
  if (Status Done = Made.keepArtifactPrefixes(); !Done)
    return Done.error();
  return Made;
}

Status Scheduler::keepArtifactPrefixes() {
  if (!O.CachesPrefixes)
    return {};
  Result<PrefixesRead> Done =
      readArtifactPrefixes(*S, unpromisedPages(), Prefixes);
  if (!Done)
    return Done.error();
  OfArtifact = *Done;
  countPages();
  return {};
}

Scheduler::Scheduler(engine::Session &S, SchedulerOptions O, engine::Variant V)
    : S(&S), O(std::move(O)), V(V), Texts(S, V, this->O.Clock),
      Prefixes(static_cast<size_t>(S.cache().pageTokens())) {
  countPages();
}

void Scheduler::countPages() {
  FreePages = S->cache().freePages();
  if (const cache::PageCache *Sources = S->sourceCache())
    FreeSourcePages = Sources->freePages();
}

/// Why the request could never run, if so.
std::optional<Refusal> Scheduler::refuse(const Request &R) const {
  auto Never = [&](const std::string &What, int64_t Need, int64_t Have) {
    return Refusal{Refusal::Reason::NeverFits,
                   Error(ErrorKind::OutOfCachePages,
                         "the request needs " + std::to_string(Need) + " " +
                             What + ": expected at most " +
                             std::to_string(Have)),
                   0};
  };
  if (rowsOf(R) > O.MaxNumSeqs)
    return Never("texts at once", rowsOf(R), O.MaxNumSeqs);
  engine::SessionOptions Room = generation::roomFor(S->model(), {&R, 1});
  const cache::PageCache &Cache = S->cache();
  int64_t Have = Cache.pageCount() * Cache.pageTokens();
  if (Room.CacheTokens > Have)
    return Never("tokens of cache", Room.CacheTokens, Have);
  if (const cache::PageCache *Sources = S->sourceCache()) {
    Have = Sources->pageCount() * Sources->pageTokens();
    if (Room.SourceTokens > Have)
      return Never("tokens of cache for its source text", Room.SourceTokens,
                   Have);
  }
  return std::nullopt;
}

std::variant<RequestId, Refusal> Scheduler::submit(Request R, Terms T) {
  if (std::optional<Refusal> No = refuse(R)) {
    ++Counts.Refused;
    return *No;
  }
  Statistics Now = statistics();
  if (Now.Queued >= O.MaxQueued) {
    ++Counts.Refused;
    double Ahead =
        static_cast<double>(Now.Queued) / static_cast<double>(O.MaxNumSeqs);
    return Refusal{Refusal::Reason::QueueFull,
                   Error("the queue holds " + std::to_string(Now.Queued) +
                         " requests: expected fewer than " +
                         std::to_string(O.MaxQueued)),
                   std::max(1.0, std::ceil(Ahead * ServiceTime))};
  }
  Entry E;
  E.Id = static_cast<RequestId>(NextId++);
  E.Rows = rowsOf(R);
  engine::SessionOptions Room = generation::roomFor(S->model(), {&R, 1});
  E.Pages = Room.CacheTokens / S->cache().pageTokens();
  if (const cache::PageCache *Sources = S->sourceCache())
    E.SourcePages = Room.SourceTokens / Sources->pageTokens();
  if (O.CachesPrefixes && canSharePrompt(R))
    E.Prompt = Images.promptOf(S->model(), R);
  E.Usage.PromptTokens = R.Prompt.size();
  E.Wish = std::move(R);
  E.Rules = std::move(T);
  E.Submitted = E.Went.Submitted = O.Clock();
  ++Counts.Submitted;
  Entries.push_back(std::move(E));
  forgetImages();
  return Entries.back().Id;
}

/// Where very many images are known, forgets those of prompts that are gone.
void Scheduler::forgetImages() {
  if (Images.size() <= MostImages)
    return;
  std::unordered_set<int32_t> Used;
  auto Add = [&](std::span<const int32_t> Prompt) {
    for (int32_t Number : Prompt)
      if (Number < 0)
        Used.insert(Number);
  };
  for (const Entry &E : Entries)
    Add(E.Prompt);
  Prefixes.forEach([&](SequenceId, std::span<const int32_t> Prompt,
                       const std::string &) { Add(Prompt); });
  Images.keepOnly(Used);
  MostImages = std::max(MostImages, 2 * Images.size());
}

bool Scheduler::cancel(RequestId Id) {
  for (Entry &E : Entries)
    if (E.Id == Id && !isFinal(E.State)) {
      giveUp(E);
      return true;
    }
  return false;
}

void Scheduler::cancelAll() {
  for (Entry &E : Entries)
    if (!isFinal(E.State))
      giveUp(E);
}

/// Cancels a request, now or when the step that it is in has run.
void Scheduler::giveUp(Entry &E) {
  if (Running && E.State != RequestState::Queued)
    E.IsGivenUp = true;
  else
    end(E, RequestState::Cancelled);
}

bool Scheduler::idle() const { return Entries.empty() && News.empty(); }

void Scheduler::move(Entry &E, RequestState To) {
  assert(mayMove(E.State, To) && "a move that the table does not have");
  E.State = E.Went.State = To;
  std::optional<double> &When = To == RequestState::Prefilling
                                    ? E.Went.Prefilling
                                : To == RequestState::Decoding ? E.Went.Decoding
                                                               : E.Went.Ended;
  When = O.Clock();
}

Update &Scheduler::updateOf(Entry &E) {
  for (Update &U : News)
    if (U.Id == E.Id)
      return U;
  News.emplace_back().Id = E.Id;
  return News.back();
}

/// Ends a request and gives back what it has.
Update &Scheduler::end(Entry &E, RequestState To) {
  bool WasRunning = E.State != RequestState::Queued;
  move(E, To);
  Update &U = updateOf(E);
  U.State = To;
  E.Usage.Total = O.Clock() - E.Submitted;
  if (WasRunning) {
    Answer All = Texts.take(E.Number);
    for (const generation::Generation &G : All.Choices)
      E.Usage.NewTokens += G.NewTokens.size();
    if (To == RequestState::Finished)
      U.Answer = std::move(All);
    Rows -= E.Rows;
    Pages -= E.Pages;
    SourcePages -= E.SourcePages;
    double Served = E.Usage.Total - E.Usage.Queued;
    ServiceTime =
        ServiceTime == 0 ? Served : ServiceTime + 0.1 * (Served - ServiceTime);
  }
  noteEnd(E, U);
  Counts.Finished += To == RequestState::Finished;
  Counts.Cancelled += To == RequestState::Cancelled;
  Counts.Failed += To == RequestState::Failed;
  return U;
}

void Scheduler::fail(Entry &E, Error Why) {
  end(E, RequestState::Failed).Failure = std::move(Why);
}

/// Fails requests whose time is over.
void Scheduler::expire() {
  double Now = O.Clock();
  for (Entry &E : Entries)
    if (!isFinal(E.State) && E.Rules.Timeout &&
        Now - E.Submitted > *E.Rules.Timeout)
      fail(E, Error(ErrorKind::Cancelled,
                    "the request has not finished after " +
                        sampling::SettingNames::textOf(*E.Rules.Timeout) +
                        " seconds"));
}

/// Whether a prompt that runs will leave more pages of the prompt of `E` than
/// the `Cached` tokens that are there.
bool Scheduler::waitsForPrefix(const Entry &E, size_t Cached) const {
  auto Page = static_cast<size_t>(S->cache().pageTokens());
  return std::any_of(Entries.begin(), Entries.end(), [&](const Entry &Other) {
    if (Other.State != RequestState::Prefilling ||
        Other.Rules.Salt != E.Rules.Salt)
      return false;
    size_t Common = commonLength(E.Prompt, Other.Prompt);
    return std::min(Common, E.Prompt.size() - 1) / Page * Page > Cached;
  });
}

/// Pages that neither a request is promised nor a prefix is on.
int64_t Scheduler::unpromisedPages() const {
  return S->cache().pageCount() - Pages -
         static_cast<int64_t>(Prefixes.pages());
}

/// Evicts prefixes until there is room for `Needed` pages more.
bool Scheduler::makeRoom(int64_t Needed, std::optional<SequenceId> Spared) {
  while (unpromisedPages() < Needed) {
    std::optional<SequenceId> Old = Prefixes.evict(Spared);
    if (!Old)
      return false;
    (void)S->endSequence(*Old); // It exists.
  }
  return true;
}

/// Starts what fits, in the order of arrival.
void Scheduler::admit() {
  for (Entry &E : Entries) {
    if (E.State != RequestState::Queued)
      continue;
    if (Rows + E.Rows > O.MaxNumSeqs)
      return;
    if (const cache::PageCache *Sources = S->sourceCache())
      if (SourcePages + E.SourcePages > Sources->pageCount())
        return;
    std::optional<PrefixCache::Match> Found;
    if (!E.Prompt.empty()) {
      // The last token runs in any case: its row is what comes next.
      Found = findPrefix(Prefixes, E.Prompt, E.Rules.Salt, E.Prompt.size() - 1);
      if (waitsForPrefix(E, Found ? Found->Tokens : 0))
        continue;
    }
    if (Pages + E.Pages > S->cache().pageCount())
      return;
    // The kept sequence counts beside the request, though they share pages: in
    // a cache that is too small for both the request comes first.
    if (!makeRoom(E.Pages,
                  Found ? std::optional(Found->Sequence) : std::nullopt)) {
      Found.reset();
      makeRoom(E.Pages, std::nullopt);
    }
    start(E, Found);
  }
}

void Scheduler::start(Entry &E, std::optional<PrefixCache::Match> Found) {
  std::optional<generation::PromptStart> Start;
  if (Found)
    if (Result<SequenceId> Fork = forkPrefix(*S, *Found))
      Start = {*Fork, Found->Tokens};
  move(E, RequestState::Prefilling);
  E.Usage.Queued = O.Clock() - E.Submitted;
  Rows += E.Rows;
  Pages += E.Pages;
  SourcePages += E.SourcePages;
  Result<int64_t> Number =
      Texts.add(std::move(E.Wish), Start, /*KeepsPrompt=*/!E.Prompt.empty());
  if (!Number) {
    if (Start)
      (void)S->endSequence(Start->Sequence); // It exists.
    Rows -= E.Rows;
    Pages -= E.Pages;
    SourcePages -= E.SourcePages;
    move(E, RequestState::Failed);
    Update &U = updateOf(E);
    U.State = RequestState::Failed;
    U.Failure = Number.error();
    E.Usage.Total = O.Clock() - E.Submitted;
    noteEnd(E, U);
    ++Counts.Failed;
    return;
  }
  E.Number = *Number;
  if (Start) {
    E.Usage.CachedTokens = E.Went.CachedTokens = Start->Tokens;
    E.Went.CachedPages =
        Start->Tokens / static_cast<size_t>(S->cache().pageTokens());
    Counts.CachedTokens += Start->Tokens;
  }
}

/// Keeps the whole pages of a prompt that has just run.
void Scheduler::keepPrompt(Entry &E) {
  std::optional<SequenceId> Kept = Texts.keptPrompt(E.Number);
  if (!Kept)
    return;
  auto Page = static_cast<size_t>(S->cache().pageTokens());
  E.Prompt.resize(E.Prompt.size() / Page * Page);
  std::vector<SequenceId> Superfluous = {*Kept};
  // Pages that the request is promised and keeps are counted for both.
  if (!E.Prompt.empty() &&
      S->truncateSequence(*Kept, static_cast<int64_t>(E.Prompt.size())))
    Superfluous =
        Prefixes.insert(*Kept, S->cache().pages(*Kept), E.Prompt, E.Rules.Salt);
  for (SequenceId Id : Superfluous)
    (void)S->endSequence(Id); // It exists.
  makeRoom(0, std::nullopt);
}

std::vector<Update> Scheduler::step() {
  begin();
  run();
  return finish();
}

StepWork Scheduler::textWork(std::vector<PromptRest> &Rests) const {
  StepWork Work;
  for (const Entry &E : Entries) {
    if (E.State == RequestState::Prefilling) {
      size_t Left = Texts.promptLeft(E.Number);
      Rests.push_back({E.Usage.PromptTokens - Left, Left});
    } else if (E.State == RequestState::Decoding) {
      auto Rows = static_cast<size_t>(E.Rows);
      Work.Sequences += Rows;
      // Choices and beams are about as long as the first.
      Work.TextKeys += Rows * (E.Usage.PromptTokens +
                               Texts.progress(E.Number).NewTokens.size());
    }
  }
  return Work;
}

void Scheduler::begin() {
  assert(!Running && "steps do not overlap");
  expire();
  admit();
  Step Next;
  Next.Work = textWork(Next.Rests);
  if (Next.Work.Sequences == 0 && Next.Rests.empty())
    return;
  auto Most = static_cast<size_t>(S->model().manifest().MaxTokensPerStep);
  Next.Slice = Cost.sliceFor(O.MaxStepMs, Next.Work, Next.Rests, Most);
  Next.Begin = O.Clock();
  Running = std::move(Next);
}

void Scheduler::run() {
  if (!Running)
    return;
  if (Result<std::vector<Piece>> Pieces = Texts.step(Running->Slice))
    Running->Pieces = std::move(*Pieces);
  else
    Running->Failure = Pieces.error();
  std::span<const generation::EncodedImages> Encoded = Texts.encodedImages();
  Running->Encoded.assign(Encoded.begin(), Encoded.end());
  Running->SourceSeconds = Texts.sourceSeconds();
}

std::vector<Update> Scheduler::finish() {
  if (Running) {
    Step Done = std::move(*Running);
    Running.reset();
    ++Counts.Steps;
    if (!Done.Failure) {
      std::vector<PromptRest> Rests;
      textWork(Rests);
      for (size_t I = 0; I < Rests.size(); ++I) {
        size_t Ran = Done.Rests[I].Tokens - Rests[I].Tokens;
        Done.Work.PromptTokens += Ran;
        Done.Work.PromptKeys += keysOf(Done.Rests[I].Begin, Ran);
      }
      Counts.PromptTokens += Done.Work.PromptTokens;
      Done.Seconds = O.Clock() - Done.Begin;
      double OfEncoders = Done.SourceSeconds;
      for (const generation::EncodedImages &Each : Done.Encoded)
        OfEncoders += Each.Seconds;
      Cost.observe(Done.Work, (Done.Seconds - OfEncoders) * 1e3);
      noteStep(Done, Rests);
      follow(Done.Pieces);
    } else {
      for (Entry &E : Entries)
        if (E.IsGivenUp)
          end(E, RequestState::Cancelled);
        else if (E.State == RequestState::Prefilling ||
                 E.State == RequestState::Decoding)
          fail(E, *Done.Failure);
    }
  }
  Entries.remove_if([](const Entry &E) { return isFinal(E.State); });
  countPages();
  return std::exchange(News, {});
}

/// Takes down a step that has run for the requests that were in it, of which
/// `Rests` is what is left of prompts.
void Scheduler::noteStep(const Step &Done, std::span<const PromptRest> Rests) {
  for (const generation::EncodedImages &Each : Done.Encoded)
    for (Entry &E : Entries)
      if (E.Number == Each.Request && !isFinal(E.State))
        E.Went.addImages(Each.Images, Each.Seconds);
  size_t Prompt = 0;
  for (Entry &E : Entries) {
    if (E.State == RequestState::Decoding)
      E.Went.addStep(Done.Seconds, Done.Work.Sequences,
                     Done.Work.PromptTokens > 0);
    if (E.State != RequestState::Prefilling)
      continue;
    size_t Ran = Done.Rests[Prompt].Tokens - Rests[Prompt].Tokens;
    ++Prompt;
    if (Ran > 0)
      E.Went.add({Counts.Steps, Ran, Done.Work.Sequences,
                  Done.Work.PromptTokens - Ran, Done.Begin, Done.Seconds});
  }
}

/// What an update says of a request that has ended.
void Scheduler::noteEnd(Entry &E, Update &U) {
  U.Usage = E.Usage;
  U.Went = std::make_shared<const Timeline>(std::move(E.Went));
}

/// Takes the time of a new token.
void Scheduler::noteToken(Entry &E) {
  double Now = O.Clock();
  if (E.LastToken)
    E.Usage.LongestGap = std::max(E.Usage.LongestGap, Now - *E.LastToken);
  else
    E.Usage.FirstToken = Now - E.Submitted;
  E.LastToken = Now;
}

/// What a step has brought to the requests that were in it.
void Scheduler::follow(std::span<Piece> Pieces) {
  for (Entry &E : Entries) {
    if (E.State != RequestState::Prefilling)
      continue;
    keepPrompt(E);
    if (Texts.promptLeft(E.Number) == 0 && Texts.running(E.Number) > 0) {
      move(E, RequestState::Decoding);
      updateOf(E).State = E.State;
    }
  }
  for (Piece &P : Pieces)
    for (Entry &E : Entries)
      if (E.Number == P.Request && !isFinal(E.State)) {
        if (!P.Tokens.empty())
          noteToken(E);
        Counts.NewTokens += P.Tokens.size();
        Update &U = updateOf(E);
        U.State = E.State;
        U.Pieces.push_back(std::move(P));
        break;
      }
  for (Entry &E : Entries) {
    if (E.State != RequestState::Prefilling &&
        E.State != RequestState::Decoding)
      continue;
    if (Texts.running(E.Number) == 0)
      end(E, RequestState::Finished);
    else if (E.IsGivenUp)
      end(E, RequestState::Cancelled);
  }
}

Result<PrefixesRead> Scheduler::loadPrefixes(const std::string &Path) {
  if (!O.CachesPrefixes)
    return PrefixesRead();
  dropPrefixes();
  if (Status Kept = keepArtifactPrefixes(); !Kept)
    return Kept.error();
  Result<PrefixesRead> Done =
      readPrefixes(Path, *S, unpromisedPages(), Prefixes);
  countPages();
  return Done;
}

Status Scheduler::savePrefixes(const std::string &Path) {
  return writePrefixes(Path, *S, Prefixes);
}

void Scheduler::dropPrefixes() {
  while (std::optional<SequenceId> Old = Prefixes.evict())
    (void)S->endSequence(*Old); // It exists.
  countPages();
}

std::optional<Timeline> Scheduler::timeline(RequestId Id) const {
  for (const Entry &E : Entries)
    if (E.Id == Id && !isFinal(E.State))
      return E.Went;
  return std::nullopt;
}

Statistics Scheduler::statistics() const {
  Statistics Now = Counts;
  for (const Entry &E : Entries) {
    Now.Queued += E.State == RequestState::Queued;
    Now.Running += E.State == RequestState::Prefilling ||
                   E.State == RequestState::Decoding;
  }
  Now.Pages = S->cache().pageCount();
  Now.FreePages = FreePages;
  if (const cache::PageCache *Sources = S->sourceCache())
    Now.SourcePages = Sources->pageCount();
  Now.FreeSourcePages = FreeSourcePages;
  Now.CachedPrefixes = Prefixes.size();
  return Now;
}
