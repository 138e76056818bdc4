//===- Api.cpp - OpenAI's API on engines ----------------------------------===//

#include "runtime/Http/Api.h"

#include "runtime/Http/OpenApi.h"
#include "runtime/Http/Page.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <iterator>
#include <malloc.h>

using namespace tenon;
using namespace tenon::http;

std::string http::wireText(const Json &J) {
  return J.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool http::isAnthropicPath(std::string_view Path) {
  return Path.starts_with("/v1/messages");
}

HttpResponse http::errorAnswer(std::string_view Path, const ApiError &Why) {
  HttpResponse R{
      Why.Status, "application/json",
      wireText(isAnthropicPath(Path) ? Why.anthropicJson() : Why.json())};
  if (Why.RetryAfter)
    R.More.emplace_back(
        "Retry-After",
        std::to_string(std::lround(std::ceil(std::max(*Why.RetryAfter, 1.0)))));
  if (!Why.Allow.empty())
    R.More.emplace_back("Allow", Why.Allow);
  if (Why.Status == 401)
    R.More.emplace_back("WWW-Authenticate", "Bearer");
  return R;
}

void http::replyError(Exchange &E, const ApiError &Why) {
  E.reply(errorAnswer(E.request().Path, Why));
}

void Call::onServer(std::function<void(Exchange &)> Then) const {
  Server.post([E = Asked, Then = std::move(Then)] { Then(*E); });
}

void Call::reply(Json Answer) const {
  onServer([Text = wireText(Answer)](Exchange &E) {
    E.reply({200, "application/json", Text});
  });
}

void Call::reply(const ApiError &Why) const {
  onServer([Why](Exchange &E) { replyError(E, Why); });
}

/// The model that "model" names, or `Default` where there is no such member;
/// null where there is none that is `Fit`, with an error in `F` that says what
/// such a model does.
static ServedModel *
findModel(const std::vector<std::unique_ptr<ServedModel>> &Models,
          const std::string &Default, Fields &F,
          const std::function<bool(const ServedModel &)> &Fit,
          const std::string &Does) {
  std::optional<std::string> Name = F.string("model");
  if (!Name && !Default.empty())
    Name = Default;
  std::string Known;
  bool IsThere = false;
  for (const auto &M : Models) {
    IsThere |= Name && M->Name == *Name;
    if (!Fit(*M))
      continue;
    if (Name && M->Name == *Name)
      return M.get();
    Known += (Known.empty() ? "'" : ", '") + M->Name + "'";
  }
  std::string Expected = Known.empty()
                             ? "a model that " + Does + "; there is none"
                             : "one of " + Known;
  if (!Name)
    F.expected("model", Expected);
  else
    F.refuse({IsThere ? 400 : 404,
              "'model' is " + printable(*Name) + ": expected " + Expected,
              "model"});
  return nullptr;
}

ServedModel *Call::anyModel(Fields &F) const {
  return findModel(
      Models, DefaultModel, F, [](const ServedModel &) { return true; },
      "is served");
}

ServedModel *Call::generator(Fields &F) const {
  return findModel(
      Models, DefaultModel, F,
      [](const ServedModel &M) { return M.generates(); }, "generates text");
}

ServedModel *Call::encoder(Fields &F, bool Embeds) const {
  return findModel(
      Models, DefaultModel, F,
      [Embeds](const ServedModel &M) {
        return !M.generates() &&
               std::get<serving::Encoder>(M.Runs).embeds() == Embeds;
      },
      Embeds ? "embeds texts" : "puts texts into classes");
}

ServedModel *Call::ranker(Fields &F) const {
  return findModel(
      Models, DefaultModel, F,
      [](const ServedModel &M) {
        if (M.generates())
          return false;
        if (std::get<serving::Encoder>(M.Runs).embeds())
          return true;
        Result<const engine::Entry *> Code = M.code().entry("encode");
        return Code && (*Code)->Info.Width == 1;
      },
      "embeds texts or gives a pair of them one score");
}

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

static Json modelJson(const ServedModel &M) {
  return {{"id", M.Name},
          {"object", "model"},
          {"created", M.Created},
          {"owned_by", "tenon"},
          {"max_model_len", M.code().manifest().MaxSequence}};
}

static void listModels(Call C) {
  Json All = Json::array();
  for (const auto &M : C.Models)
    All.push_back(modelJson(*M));
  C.reply(Json{{"object", "list"}, {"data", std::move(All)}});
}

/// What of an encoder's numbers an engine has, too.
static serving::Statistics statisticsOf(const serving::Encoder &E) {
  serving::EncoderStatistics From = E.statistics();
  serving::Statistics To;
  To.Queued = From.Queued;
  To.PromptTokens = From.Tokens;
  To.Steps = From.Steps;
  return To;
}

static void showMetrics(Call C) {
  // The histograms are the server's thread's.
  C.onServer([&Models = C.Models](Exchange &E) {
    std::vector<std::pair<std::string, const ModelMetrics *>> Named;
    std::vector<serving::Statistics> Engines;
    for (const auto &M : Models) {
      Named.emplace_back(M->Name, &M->Metrics);
      Engines.push_back(M->generates() ? M->engine().statistics()
                                       : statisticsOf(M->encoder()));
    }
    E.reply({200, "text/plain; version=0.0.4; charset=utf-8",
             printMetrics(Named, Engines)});
  });
}

/// An endpoint, and what answers it.
struct Api::Route : Endpoint {
  /// On a worker; null: AtOnce does.
  void (*Answer)(Call);
  /// On the server's thread.
  void (Api::*AtOnce)(Exchange &, const std::string &Name) const = nullptr;
};

std::span<const Api::Route> Api::routes() {
  static constexpr Route Routes[] = {
      {{"POST", "/v1/chat/completions"}, completeChat},
      {{"POST", "/v1/completions"}, completeText},
      {{"POST", "/v1/responses"}, respond},
      {{"POST", "/v1/messages"}, answerMessages},
      {{"POST", "/v1/messages/count_tokens"}, countMessageTokens},
      {{"POST", "/v1/embeddings"}, embed},
      {{"POST", "/v1/rerank"}, rerank},
      {{"POST", "/v1/classify"}, classify},
      {{"GET", "/v1/models"}, listModels},
      {{"GET", "/v1/models/{model}"}, nullptr, &Api::showModel},
      {{"GET", "/v1/requests/{request}"}, nullptr, &Api::explain},
      {{"POST", "/tokenize"}, tokenize},
      {{"POST", "/detokenize"}, detokenize},
      {{"POST", "/apply-template"}, applyTemplate},
      {{"GET", "/metrics", true}, showMetrics},
      {{"GET", "/health", true}, nullptr, &Api::showHealth},
      {{"GET", "/live", true}, nullptr, &Api::showLife},
      {{"GET", "/openapi.json", true}, nullptr, &Api::showDescription},
      {{"GET", "/", true}, nullptr, &Api::showPage},
  };
  return Routes;
}

std::vector<Endpoint> Api::endpoints() {
  return {routes().begin(), routes().end()};
}

/// What `Path` has in the place of the {name} of an endpoint's path, which may
/// have none; nothing where it is another path.
static std::optional<std::string> nameIn(std::string_view Path,
                                         const Endpoint &E) {
  size_t Open = std::min(E.Path.find('{'), E.Path.size());
  std::string_view Name = Path.substr(std::min(Open, Path.size()));
  if (!Path.starts_with(E.Path.substr(0, Open)) ||
      Name.empty() != (Open == E.Path.size()))
    return std::nullopt;
  return percentDecoded(Name);
}

Api::Api(std::vector<std::unique_ptr<ServedModel>> Models,
         std::vector<std::string> Keys, std::string DefaultModel,
         const Limits &Bounds)
    : Models(std::move(Models)), Keys(std::move(Keys)),
      DefaultModel(std::move(DefaultModel)), Bounds(Bounds),
      Description(wireText(describeApi(!this->Keys.empty()))),
      History(Bounds.ExplainedRequests) {}

/// The number of the request's key; 0 where none is needed.
std::optional<size_t> Api::keyOf(const HttpRequest &R) const {
  constexpr std::string_view Bearer = "Bearer ";
  std::string_view Given = R.Authorization;
  if (Given.starts_with(Bearer))
    Given.remove_prefix(Bearer.size());
  std::optional<size_t> Found;
  if (Keys.empty())
    Found = 0;
  for (size_t Number = 0; Number < Keys.size(); ++Number) {
    const std::string &Key = Keys[Number];
    // In a time that says nothing of how much of it is right.
    unsigned Difference = Key.size() != Given.size();
    for (size_t I = 0; I < Key.size() && I < Given.size(); ++I)
      Difference |= static_cast<unsigned char>(Key[I] ^ Given[I]);
    if (Difference == 0)
      Found = Number;
  }
  return Found;
}

void Api::showLife(Exchange &E, const std::string &) const {
  E.reply({200, "application/json", "{}"});
}

void Api::showHealth(Exchange &E, const std::string &) const {
  E.reply({IsDraining ? 503 : 200, "application/json",
           IsDraining ? R"({"status":"draining"})" : R"({"status":"ok"})"});
}

void Api::showDescription(Exchange &E, const std::string &) const {
  E.reply({200, "application/json", Description});
}

void Api::showPage(Exchange &E, const std::string &) const {
  HttpResponse Shown{200, "text/html; charset=utf-8", std::string(Page)};
  Shown.More.emplace_back("Content-Security-Policy",
                          "default-src 'none'; connect-src 'self'; img-src "
                          "data:; style-src 'unsafe-inline'; script-src "
                          "'unsafe-inline'; frame-ancestors 'none'");
  E.reply(std::move(Shown));
}

void Api::showModel(Exchange &E, const std::string &Name) const {
  for (const auto &M : Models)
    if (M->Name == Name)
      return E.reply({200, "application/json", wireText(modelJson(*M))});
  replyError(E, {404, "there is no model " + printable(Name)});
}

void Api::explain(Exchange &E, const std::string &Name) const {
  const RequestTrace *T = History.find(Name, E.trace().Key);
  if (!T)
    return replyError(
        E, {404, printable(Name) +
                     ": is none of the last requests of this key: expected "
                     "the X-Request-Id, or the id of the answer, of one of "
                     "the last " +
                     std::to_string(Bounds.ExplainedRequests)});
  const ServedModel *Of = nullptr;
  for (const auto &M : Models)
    if (M->Name == T->Model && M->generates())
      Of = M.get();
  auto Running = [&](serving::RequestId Prompt) {
    return Of ? Of->engine().timeline(Prompt) : std::nullopt;
  };
  E.reply({200, "application/json", wireText(explanationOf(*T, Running))});
}

/// What an endpoint does with a request, on a worker.
static void readAndAnswer(Call C, void (*Answer)(Call)) {
  if (C.Asked->request().Method == "POST") {
    Result<Json> Body = parseJson(C.Asked->request().Body, "the body");
    if (!Body)
      return C.reply(ApiError{400, Body.error().message()});
    if (!Body->is_object())
      return C.reply(ApiError{400, std::string("the body is ") +
                                       jsonKind(*Body) +
                                       ": expected an object"});
    C.Body = std::move(*Body);
  }
  Answer(std::move(C));
}

void Api::take(HttpServer &Server, std::shared_ptr<Exchange> E) {
  const HttpRequest &R = E->request();
  const Route *Found = nullptr;
  std::string Methods, Name;
  for (const Route &Each : routes())
    if (std::optional<std::string> Own = nameIn(R.Path, Each)) {
      Methods += (Methods.empty() ? "" : ", ") + std::string(Each.Method);
      if (Each.Method == R.Method) {
        Found = &Each;
        Name = std::move(*Own);
      }
    }
  std::optional<size_t> Key = keyOf(R);
  if (!(Found && Found->IsOpen) && !Key)
    return replyError(*E, {401, "expected a key of this server in the header "
                                "'Authorization: Bearer KEY'"});
  E->trace().Key = Key.value_or(0);
  if (!Found && !Methods.empty()) {
    ApiError No{405, printable(R.Method) + ": expected " + Methods};
    No.Allow = Methods;
    return replyError(*E, No);
  }
  if (!Found)
    return replyError(*E, {404, printable(R.Path) + ": there is no such path"});
  if (Found->AtOnce)
    return (this->*Found->AtOnce)(*E, Name);
  if (R.Method == "POST") {
    E->trace().IsCall = true;
    History.add(E->sharedTrace());
  }
  call(Server, std::move(E), Found->Answer);
}

/// Lets an endpoint answer, on a worker.
void Api::call(HttpServer &Server, std::shared_ptr<Exchange> E,
               void (*Answer)(Call)) {
  // A client that goes while others' requests are read costs nothing more.
  auto IsGone = std::make_shared<std::atomic<bool>>(false);
  E->whenGone([IsGone] { *IsGone = true; });
  Server.work([&Server, E, Answer, IsGone, this] {
    if (*IsGone)
      return;
    double Begin = secondsNow();
    readAndAnswer({Server, Models, DefaultModel, GrammarCache(Grammars),
                   HeldImages, Bounds, E, Json()},
                  Answer);
    // What was large, or took long, took much memory too, which the allocator
    // would keep for each worker.
    constexpr size_t LargeBytes = 1 << 20;
    constexpr double LongSeconds = 0.5;
    if (E->request().Body.size() > LargeBytes ||
        secondsNow() - Begin > LongSeconds)
      malloc_trim(0);
  });
}

void Api::beginDraining() {
  IsDraining = true;
  for (const auto &M : Models)
    std::visit([](auto &R) { R.close(); }, M->Runs);
}

void Api::drain(double Seconds) {
  double End = secondsNow() + Seconds;
  for (const auto &M : Models)
    std::visit([&](auto &R) { R.drain(std::max(0.0, End - secondsNow())); },
               M->Runs);
}

void Api::giveUp() {
  for (const auto &M : Models)
    std::visit([](auto &R) { R.giveUp(); }, M->Runs);
}
