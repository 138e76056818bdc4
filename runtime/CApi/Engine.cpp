//===- Engine.cpp - Many requests from C ----------------------------------===//

#include "runtime/Serving/Engine.h"
#include "runtime/CApi/Handles.h"
#include "runtime/Support/Clock.h"

#include <cmath>
#include <condition_variable>
#include <map>

using namespace tenon;
using namespace tenon::capi;
using serving::Refusal;
using serving::RequestId;
using serving::Update;

namespace {

/// What one call of tenon_engine_wait answers, and what that points to.
struct News {
  tenon_update Seen{};
  PieceArrays Added;
  tenon_piece Piece{};
  std::string Error;
  ScoreArrays PromptScores;
  tenon_prompt_logprobs Scores{};
};

/// News that nobody has asked for yet, from the engine's thread.
class Mailbox {
public:
  void post(const Update &U, int64_t Choices);
  /// Waits for news, at most `Seconds` where that is not negative; null: none.
  std::unique_ptr<News> wait(double Seconds);
  void wake();

private:
  std::mutex Lock;
  std::condition_variable Filled;
  std::deque<std::unique_ptr<News>> Waiting;
  bool IsWoken = false;
  /// Texts of each request that have not ended.
  std::map<RequestId, int64_t> Unfinished;
};

} // namespace

/// Its thread posts to the mailbox until it has ended, so it is the first to
/// go.
struct tenon_engine {
  Mailbox Box;
  std::unique_ptr<News> Last;
  grammar::GrammarStore Grammars;
  std::optional<serving::Engine> Running;
};

static tenon_request_state stateOf(serving::RequestState State) {
  switch (State) {
  case serving::RequestState::Queued:
    return TENON_REQUEST_QUEUED;
  case serving::RequestState::Prefilling:
    return TENON_REQUEST_PREFILLING;
  case serving::RequestState::Decoding:
    return TENON_REQUEST_DECODING;
  case serving::RequestState::Finished:
    return TENON_REQUEST_FINISHED;
  case serving::RequestState::Cancelled:
    return TENON_REQUEST_CANCELLED;
  case serving::RequestState::Failed:
    break;
  }
  return TENON_REQUEST_FAILED;
}

static void setError(News &N, const Error &Why) {
  N.Error = escaped(Why.message());
  N.Seen.status = statusOf(Why.kind());
  N.Seen.error = N.Error.c_str();
}

static std::unique_ptr<News> newsOf(const Update &U) {
  auto N = std::make_unique<News>();
  N->Seen.request = static_cast<int64_t>(U.Id);
  N->Seen.state = stateOf(U.State);
  return N;
}

void Mailbox::post(const Update &U, int64_t Choices) {
  std::vector<std::unique_ptr<News>> All;
  int64_t Left = Unfinished.try_emplace(U.Id, Choices).first->second;
  for (const generation::Piece &P : U.Pieces) {
    std::unique_ptr<News> N = newsOf(U);
    // The last state has news of its own, after all pieces.
    if (serving::isFinal(U.State))
      N->Seen.state = TENON_REQUEST_DECODING;
    N->Added = PieceArrays(P);
    Left -= P.Finish != generation::FinishReason::None;
    N->Piece = N->Added.asPiece(Left);
    N->Seen.piece = &N->Piece;
    if (P.Failure)
      setError(*N, *P.Failure);
    All.push_back(std::move(N));
  }
  Unfinished[U.Id] = Left;
  if (serving::isFinal(U.State)) {
    Unfinished.erase(U.Id);
    std::unique_ptr<News> N = newsOf(U);
    if (U.Failure)
      setError(*N, *U.Failure);
    if (U.Answer && !U.Answer->PromptScores.empty()) {
      N->PromptScores.append(U.Answer->PromptScores);
      N->Scores = N->PromptScores.asPromptLogprobs();
      N->Seen.prompt_logprobs = &N->Scores;
    }
    N->Seen.prompt_tokens = U.Usage.PromptTokens;
    N->Seen.cached_tokens = U.Usage.CachedTokens;
    N->Seen.completion_tokens = U.Usage.NewTokens;
    N->Seen.queued_s = U.Usage.Queued;
    N->Seen.first_token_s = U.Usage.FirstToken;
    N->Seen.longest_gap_s = U.Usage.LongestGap;
    N->Seen.total_s = U.Usage.Total;
    All.push_back(std::move(N));
  }
  if (All.empty())
    return;
  {
    std::lock_guard Guard(Lock);
    for (std::unique_ptr<News> &N : All)
      Waiting.push_back(std::move(N));
  }
  Filled.notify_one();
}

std::unique_ptr<News> Mailbox::wait(double Seconds) {
  std::unique_lock Guard(Lock);
  auto IsReady = [&] { return !Waiting.empty() || IsWoken; };
  if (Seconds < 0)
    Filled.wait(Guard, IsReady);
  else
    Filled.wait_for(Guard, durationOf(Seconds), IsReady);
  if (Waiting.empty()) {
    IsWoken = false;
    return nullptr;
  }
  std::unique_ptr<News> First = std::move(Waiting.front());
  Waiting.pop_front();
  return First;
}

void Mailbox::wake() {
  {
    std::lock_guard Guard(Lock);
    IsWoken = true;
  }
  Filled.notify_one();
}

tenon_status tenon_engine_create(tenon_model *model,
                                 const tenon_engine_options *options,
                                 tenon_engine **engine) {
  if (!model || !engine)
    return fail("tenon_engine_create: model or engine is null");
  return guarded([&]() -> tenon_status {
    tenon_engine_options Wish{};
    if (options) {
      Result<tenon_engine_options> Read = readStruct<tenon_engine_options>(
          "tenon_engine_create: options", options);
      if (!Read)
        return fail(Read.error());
      Wish = *Read;
    }
    auto Refuse = [](const char *Name, const std::string &Value) {
      return fail(std::string("tenon_engine_create: ") + Name + " is " + Value +
                  ": expected at least 0");
    };
    for (auto [Name, Value] : {std::pair("threads", Wish.threads),
                               std::pair("cache_tokens", Wish.cache_tokens),
                               std::pair("source_tokens", Wish.source_tokens),
                               std::pair("max_num_seqs", Wish.max_num_seqs),
                               std::pair("max_queued", Wish.max_queued)})
      if (Value < 0)
        return Refuse(Name, std::to_string(Value));
    if (!(Wish.max_step_ms >= 0))
      return Refuse("max_step_ms", std::to_string(Wish.max_step_ms));
    serving::SchedulerOptions Rules;
    if (Wish.max_num_seqs != 0)
      Rules.MaxNumSeqs = Wish.max_num_seqs;
    if (Wish.max_queued != 0)
      Rules.MaxQueued = static_cast<size_t>(Wish.max_queued);
    if (Wish.max_step_ms != 0)
      Rules.MaxStepMs = Wish.max_step_ms;
    Rules.CachesPrefixes = Wish.no_prefix_cache == 0;
    engine::Resources Shared;
    if (Wish.resources)
      Shared = Wish.resources->Shared;
    engine::SessionOptions Room = serving::defaultRoom(
        *model->Loaded, Rules.MaxNumSeqs, std::move(Shared));
    Room.Threads = Wish.threads;
    if (Wish.cache_tokens != 0)
      Room.CacheTokens = Wish.cache_tokens;
    if (Wish.source_tokens != 0)
      Room.SourceTokens = Wish.source_tokens;
    Result<serving::Engine> Running =
        serving::Engine::create(model->Loaded, Room, std::move(Rules));
    if (!Running)
      return fail(Running.error());
    auto Made = std::make_unique<tenon_engine>();
    Made->Running.emplace(std::move(*Running));
    *engine = Made.release();
    return TENON_OK;
  });
}

void tenon_engine_destroy(tenon_engine *engine) { delete engine; }

tenon_status tenon_engine_submit(tenon_engine *engine,
                                 const tenon_settings *settings,
                                 const int32_t *prompt, size_t count,
                                 const tenon_terms *terms,
                                 tenon_request *request, double *retry_after) {
  if (!engine || !prompt || count == 0 || !request)
    return fail("tenon_engine_submit: engine, prompt or request is null, or "
                "count is 0");
  return guarded([&]() -> tenon_status {
    const engine::Model &M = engine->Running->model();
    if (Status Fits = generation::checkPrompt(M, {prompt, count}); !Fits)
      return fail(Fits.error().withContext("tenon_engine_submit"));
    grammar::GrammarCache Known(engine->Grammars);
    Result<generation::Settings> S =
        readSettings("tenon_engine_submit", settings, &Known);
    if (!S)
      return fail(S.error());
    serving::Terms Rules;
    if (terms) {
      Result<tenon_terms> Read =
          readStruct<tenon_terms>("tenon_engine_submit: terms", terms);
      if (!Read)
        return fail(Read.error());
      if (!(Read->timeout >= 0))
        return fail("tenon_engine_submit: timeout is " +
                    std::to_string(Read->timeout) +
                    ": expected at least 0 seconds");
      if (Read->timeout > 0)
        Rules.Timeout = Read->timeout;
      if (Read->salt)
        Rules.Salt = Read->salt;
    }
    Result<std::vector<generation::PromptImage::Ptr>> Images =
        readImages("tenon_engine_submit", M, settings);
    if (!Images)
      return fail(Images.error());
    Result<generation::Request> Wish = generation::makeRequest(
        M, *S, {prompt, prompt + count}, std::move(*Images));
    if (!Wish)
      return fail(Wish.error());
    int64_t Choices = Wish->How.Choices;
    std::variant<RequestId, Refusal> Given =
        engine->Running->submit(std::move(*Wish), std::move(Rules),
                                [&Box = engine->Box, Choices](const Update &U) {
                                  Box.post(U, Choices);
                                });
    if (const auto *No = std::get_if<Refusal>(&Given)) {
      tenon_status Why = fail(No->What);
      switch (No->Why) {
      case Refusal::Reason::NeverFits:
        return Why;
      case Refusal::Reason::QueueFull:
        if (retry_after)
          *retry_after = No->RetryAfter;
        return TENON_QUEUE_FULL;
      case Refusal::Reason::Stopped:
        return TENON_CANCELLED;
      }
    }
    *request = static_cast<int64_t>(std::get<RequestId>(Given));
    return TENON_OK;
  });
}

tenon_status tenon_engine_load_prefixes(tenon_engine *engine, const char *path,
                                        size_t *prompts) {
  if (!engine || !path)
    return fail("tenon_engine_load_prefixes: engine or path is null");
  return guarded([&]() -> tenon_status {
    Result<serving::PrefixesRead> Done = engine->Running->loadPrefixes(path);
    if (!Done)
      return fail(Done.error());
    if (prompts)
      *prompts = Done->Prompts;
    return TENON_OK;
  });
}

tenon_status tenon_engine_save_prefixes(tenon_engine *engine,
                                        const char *path) {
  if (!engine || !path)
    return fail("tenon_engine_save_prefixes: engine or path is null");
  return guarded([&]() -> tenon_status {
    if (Status Done = engine->Running->savePrefixes(path); !Done)
      return fail(Done.error());
    return TENON_OK;
  });
}

tenon_status tenon_engine_cancel(tenon_engine *engine, tenon_request request) {
  if (!engine)
    return fail("tenon_engine_cancel: engine is null");
  return guarded([&]() -> tenon_status {
    engine->Running->cancel(RequestId(request));
    return TENON_OK;
  });
}

tenon_status tenon_engine_wait(tenon_engine *engine, double seconds,
                               tenon_update *update) {
  if (!engine || !update || std::isnan(seconds))
    return fail("tenon_engine_wait: engine or update is null, or seconds is "
                "NaN");
  return guarded([&]() -> tenon_status {
    if (Result<tenon_update> Read =
            readStruct<tenon_update>("tenon_engine_wait: update", update);
        !Read)
      return fail(Read.error());
    engine->Last = engine->Box.wait(seconds);
    writeStruct(update, engine->Last ? engine->Last->Seen : tenon_update{});
    return TENON_OK;
  });
}

tenon_status tenon_engine_wake(tenon_engine *engine) {
  if (!engine)
    return fail("tenon_engine_wake: engine is null");
  engine->Box.wake();
  return TENON_OK;
}

tenon_status tenon_engine_drain(tenon_engine *engine, double seconds,
                                int *finished) {
  if (!engine || !(seconds >= 0))
    return fail("tenon_engine_drain: engine is null, or seconds is " +
                std::to_string(seconds) + ": expected at least 0");
  return guarded([&]() -> tenon_status {
    bool All = engine->Running->drain(seconds);
    if (finished)
      *finished = All;
    return TENON_OK;
  });
}

tenon_status tenon_engine_statistics(const tenon_engine *engine,
                                     tenon_statistics *statistics) {
  if (!engine || !statistics)
    return fail("tenon_engine_statistics: engine or statistics is null");
  return guarded([&]() -> tenon_status {
    if (Result<tenon_statistics> Read = readStruct<tenon_statistics>(
            "tenon_engine_statistics: statistics", statistics);
        !Read)
      return fail(Read.error());
    serving::Statistics Now = engine->Running->statistics();
    tenon_statistics Seen{};
    Seen.queued = Now.Queued;
    Seen.running = Now.Running;
    Seen.submitted = Now.Submitted;
    Seen.finished = Now.Finished;
    Seen.cancelled = Now.Cancelled;
    Seen.failed = Now.Failed;
    Seen.refused = Now.Refused;
    Seen.steps = Now.Steps;
    Seen.prompt_tokens = Now.PromptTokens;
    Seen.cached_tokens = Now.CachedTokens;
    Seen.completion_tokens = Now.NewTokens;
    Seen.pages = Now.Pages;
    Seen.free_pages = Now.FreePages;
    Seen.cached_prefixes = Now.CachedPrefixes;
    writeStruct(statistics, Seen);
    return TENON_OK;
  });
}
