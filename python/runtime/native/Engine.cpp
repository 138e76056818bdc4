//===- Engine.cpp - Many requests at once ---------------------------------===//

#include "Native.h"

using namespace tenon::python;
using namespace nb::literals;

namespace {

/// A log-probability of a token, and the likeliest tokens in its place.
nb::object logprobOf(const float *Chosen, const int32_t *Top,
                     const float *TopLogprobs, size_t TopCount, size_t I) {
  nb::list Likeliest;
  for (size_t K = 0; K < TopCount; ++K)
    Likeliest.append(
        nb::make_tuple(Top[I * TopCount + K], TopLogprobs[I * TopCount + K]));
  return nb::make_tuple(Chosen[I], Likeliest);
}

nb::object pieceOf(const tenon_piece &P) {
  nb::dict D;
  D["choice"] = P.choice;
  D["token_ids"] = nb::cast(Tokens(P.tokens, P.tokens + P.token_count));
  D["text"] = nb::str(P.text, P.text_bytes);
  D["finish"] = static_cast<int>(P.finish);
  nb::object Logprobs = nb::none();
  if (P.logprobs) {
    nb::list All;
    for (size_t I = 0; I < P.token_count; ++I)
      All.append(
          logprobOf(P.logprobs, P.top_tokens, P.top_logprobs, P.top_count, I));
    Logprobs = All;
  }
  D["logprobs"] = Logprobs;
  D["stop_string"] = P.stop_string
                         ? nb::object(nb::str(P.stop_string, P.stop_bytes))
                         : nb::none();
  D["stop_token_id"] =
      P.stop_token_id < 0 ? nb::none() : nb::cast(P.stop_token_id);
  return D;
}

/// An engine while a call uses it. The last to let go ends it, which waits for
/// its thread, and so lets go of the interpreter.
class EngineUse {
public:
  explicit EngineUse(std::shared_ptr<tenon_engine> Handle)
      : Handle(std::move(Handle)) {}
  EngineUse(EngineUse &&) = default;
  ~EngineUse() {
    // Others count under the interpreter's lock only.
    if (Handle.use_count() != 1)
      return;
    nb::gil_scoped_release Release;
    Handle.reset();
  }
  tenon_engine *get() const { return Handle.get(); }

private:
  std::shared_ptr<tenon_engine> Handle;
};

/// Requests from any thread; wait() from one at a time.
class Engine {
public:
  Engine(const Model &M, int64_t Threads, int64_t CacheTokens,
         int64_t SourceTokens, int64_t MaxNumSeqs, int64_t MaxQueued,
         double MaxStepMs, bool PrefixCache, const Resources *Shared) {
    tenon_engine_options O{};
    O.struct_size = sizeof(O);
    O.threads = Threads;
    O.cache_tokens = CacheTokens;
    O.source_tokens = SourceTokens;
    O.max_num_seqs = MaxNumSeqs;
    O.max_queued = MaxQueued;
    O.max_step_ms = MaxStepMs;
    O.no_prefix_cache = !PrefixCache;
    O.resources = Shared ? Shared->get() : nullptr;
    tenon_engine *Made = nullptr;
    tenon_status Status = TENON_OK;
    {
      nb::gil_scoped_release Release;
      Status = tenon_engine_create(M.get(), &O, &Made);
    }
    check(Status);
    Handle.reset(Made, [Home = Home](tenon_engine *E) {
      if (Home.isHere())
        tenon_engine_destroy(E);
    });
  }
  Engine(const Engine &) = delete;
  ~Engine() { close(); }

  size_t loadPrefixes(const std::string &Path) {
    EngineUse E = open();
    const char *File = terminated("path", Path);
    size_t Count = 0;
    tenon_status Status = TENON_OK;
    {
      nb::gil_scoped_release Release;
      Status = tenon_engine_load_prefixes(E.get(), File, &Count);
    }
    check(Status);
    return Count;
  }
  void savePrefixes(const std::string &Path) {
    EngineUse E = open();
    const char *File = terminated("path", Path);
    tenon_status Status = TENON_OK;
    {
      nb::gil_scoped_release Release;
      Status = tenon_engine_save_prefixes(E.get(), File);
    }
    check(Status);
  }

  /// The engine ends with the last call that runs.
  void close() { EngineUse Last(std::move(Handle)); }

  /// The number of the request, or None; and for a full queue the seconds after
  /// which it is worth another try, and what is to be said.
  nb::object submit(const Model &M, const Tokens &Prompt, nb::handle Settings,
                    const std::vector<Pixels> &Images,
                    std::optional<std::string> Tools, double Timeout,
                    const std::string &Salt) {
    EngineUse E = open();
    CSettings Wish(Settings);
    if (Tools)
      Wish.setTools(std::move(*Tools));
    if (!Images.empty())
      Wish.setImages(pixelsOf(M, Images));
    tenon_terms Terms{sizeof(Terms), Timeout, terminated("salt", Salt)};
    tenon_request Id = 0;
    double RetryAfter = 0;
    tenon_status Status = TENON_OK;
    {
      nb::gil_scoped_release Release;
      Status = tenon_engine_submit(E.get(), Wish.get(), Prompt.data(),
                                   Prompt.size(), &Terms, &Id, &RetryAfter);
    }
    if (Status == TENON_QUEUE_FULL)
      return nb::make_tuple(nb::none(), RetryAfter, tenon_last_error());
    check(Status);
    return nb::make_tuple(Id, 0.0, "");
  }
  void cancel(tenon_request Id) {
    check(tenon_engine_cancel(open().get(), Id));
  }
  /// Nobody waits for a closed one.
  void wake() {
    if (Handle)
      check(tenon_engine_wake(EngineUse(Handle).get()));
  }

  bool isHere() const { return Home.isHere(); }
  void checkProcess() const { Home.check("Engine"); }

  /// The next news, or None.
  nb::object wait(double Seconds) {
    EngineUse E = open();
    tenon_update U{};
    U.struct_size = sizeof(U);
    tenon_status Status = TENON_OK;
    {
      nb::gil_scoped_release Release;
      Status = tenon_engine_wait(E.get(), Seconds, &U);
    }
    check(Status);
    if (U.request == 0)
      return nb::none();
    nb::dict D;
    D["request"] = U.request;
    D["state"] = static_cast<int>(U.state);
    D["status"] = static_cast<int>(U.status);
    D["error"] = U.error ? nb::object(nb::str(U.error)) : nb::none();
    D["piece"] = U.piece ? pieceOf(*U.piece) : nb::none();
    if (U.piece)
      return D;
    nb::list Logprobs;
    if (const tenon_prompt_logprobs *S = U.prompt_logprobs)
      for (size_t I = 0; I < S->count; ++I)
        Logprobs.append(logprobOf(S->logprobs, S->top_tokens, S->top_logprobs,
                                  S->top_count, I));
    D["prompt_logprobs"] = Logprobs;
    nb::dict Usage;
    Usage["prompt_tokens"] = U.prompt_tokens;
    Usage["cached_tokens"] = U.cached_tokens;
    Usage["completion_tokens"] = U.completion_tokens;
    Usage["queued_s"] = U.queued_s;
    Usage["first_token_s"] = U.first_token_s;
    Usage["longest_gap_s"] = U.longest_gap_s;
    Usage["total_s"] = U.total_s;
    D["usage"] = Usage;
    return D;
  }

  bool drain(double Seconds) {
    EngineUse E = open();
    int Finished = 0;
    tenon_status Status = TENON_OK;
    {
      nb::gil_scoped_release Release;
      Status = tenon_engine_drain(E.get(), Seconds, &Finished);
    }
    check(Status);
    return Finished != 0;
  }

  nb::dict statistics() {
    tenon_statistics S{};
    S.struct_size = sizeof(S);
    check(tenon_engine_statistics(open().get(), &S));
    nb::dict D;
    D["queued"] = S.queued;
    D["running"] = S.running;
    D["submitted"] = S.submitted;
    D["finished"] = S.finished;
    D["cancelled"] = S.cancelled;
    D["failed"] = S.failed;
    D["refused"] = S.refused;
    D["steps"] = S.steps;
    D["prompt_tokens"] = S.prompt_tokens;
    D["cached_tokens"] = S.cached_tokens;
    D["completion_tokens"] = S.completion_tokens;
    D["pages"] = S.pages;
    D["free_pages"] = S.free_pages;
    D["cached_prefixes"] = S.cached_prefixes;
    return D;
  }

private:
  EngineUse open() const {
    checkProcess();
    if (!Handle)
      raise(TENON_CANCELLED, "the engine is closed");
    return EngineUse(Handle);
  }

  HomeProcess Home;
  std::shared_ptr<tenon_engine> Handle;
};

} // namespace

void tenon::python::bindEngine(nb::module_ &M) {
  nb::class_<Engine>(M, "Engine")
      .def(nb::init<const Model &, int64_t, int64_t, int64_t, int64_t, int64_t,
                    double, bool, const Resources *>(),
           "model"_a, "threads"_a, "cache_tokens"_a, "source_tokens"_a,
           "max_num_seqs"_a, "max_queued"_a, "max_step_ms"_a, "prefix_cache"_a,
           "resources"_a.none())
      .def("submit", &Engine::submit, "model"_a, "prompt"_a, "settings"_a,
           "images"_a, "tools"_a.none(), "timeout"_a, "salt"_a)
      .def("load_prefixes", &Engine::loadPrefixes, "path"_a)
      .def("save_prefixes", &Engine::savePrefixes, "path"_a)
      .def("cancel", &Engine::cancel, "request"_a)
      .def("wake", &Engine::wake)
      .def("is_here", &Engine::isHere)
      .def("check_process", &Engine::checkProcess)
      .def("wait", &Engine::wait, "seconds"_a)
      .def("drain", &Engine::drain, "seconds"_a)
      .def("statistics", &Engine::statistics)
      .def("close", &Engine::close);
}
