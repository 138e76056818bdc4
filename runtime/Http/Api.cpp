//===- Api.cpp - OpenAI's API on engines ----------------------------------===//

#include "runtime/Http/Api.h"

#include <algorithm>
#include <cmath>

using namespace tenon;
using namespace tenon::http;

std::string http::wireText(const Json &J) {
  return J.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void http::replyError(Exchange &E, const ApiError &Why) {
  HttpResponse R{Why.Status, "application/json", wireText(Why.json())};
  if (Why.RetryAfter)
    R.More.emplace_back(
        "Retry-After",
        std::to_string(std::lround(std::ceil(std::max(*Why.RetryAfter, 1.0)))));
  if (Why.Status == 401)
    R.More.emplace_back("WWW-Authenticate", "Bearer");
  E.reply(std::move(R));
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

ServedModel *Call::model(Fields &F) const {
  std::optional<std::string> Name = F.string("model");
  if (!Name)
    return Models.front().get();
  for (const auto &M : Models)
    if (M->Name == *Name)
      return M.get();
  std::string Known;
  for (const auto &M : Models)
    Known += (Known.empty() ? "'" : ", '") + M->Name + "'";
  F.refuse({404,
            "'model' is " + printable(*Name) + ": expected one of " + Known,
            "model"});
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Tokens and templates
//===----------------------------------------------------------------------===//

chat::Conversation http::conversationOf(Fields &F, const Limits &Bounds) {
  Json Talk = Json::object();
  if (const Json *More = F.get("chat_template_kwargs")) {
    if (!More->is_object())
      F.expected("chat_template_kwargs", "an object");
    else
      Talk = *More;
  }
  const Json *Messages = F.get("messages");
  Talk["messages"] = Messages ? *Messages : Json::array();
  if (Messages && Messages->size() > Bounds.Messages)
    F.refuse({400,
              "'messages' has " + std::to_string(Messages->size()) +
                  " messages: expected at most " +
                  std::to_string(Bounds.Messages),
              "messages"});
  if (const Json *Tools = F.get("tools")) {
    Talk["tools"] = *Tools;
    if (Tools->size() > Bounds.Tools)
      F.refuse({400,
                "'tools' has " + std::to_string(Tools->size()) +
                    " tools: expected at most " + std::to_string(Bounds.Tools),
                "tools"});
  }
  Talk["add_generation_prompt"] =
      F.boolean("add_generation_prompt").value_or(true);
  Result<chat::Conversation> Read = chat::conversationFromJson(Talk);
  if (Read)
    return std::move(*Read);
  F.refuse({400, Read.error().message(), "messages"});
  return {};
}

/// The tokenizer of `M`, or an error in `F`.
static const tokenizer::Tokenizer *tokenizerOf(const ServedModel &M,
                                               Fields &F) {
  Result<const tokenizer::Tokenizer *> T = M.code().tokenizer();
  if (T)
    return *T;
  F.refuse({400, T.error().message()});
  return nullptr;
}

void http::tokenize(Call C) {
  Fields F(C.Body);
  ServedModel *M = C.model(F);
  std::optional<std::string> Prompt = F.string("prompt");
  std::optional<chat::Conversation> Talk;
  if (C.Body.contains("messages"))
    Talk = conversationOf(F, C.Bounds);
  bool Special = F.boolean("add_special_tokens").value_or(true);
  if (Prompt.has_value() == Talk.has_value())
    F.refuse({400, "expected one of 'prompt' and 'messages'", "prompt"});
  const tokenizer::Tokenizer *T = M ? tokenizerOf(*M, F) : nullptr;
  if (std::optional<ApiError> Wrong = F.finish())
    return C.reply(*Wrong);
  // Not cut: who asks wants to know how long the text is.
  Result<std::vector<int32_t>> Ids =
      Talk ? M->code().chatPrompt(*Talk)
           : T->encode(*Prompt, Special, SIZE_MAX);
  if (!Ids)
    return C.reply(ApiError{400, Ids.error().message()});
  C.reply(Json{{"count", Ids->size()},
               {"max_model_len", M->code().manifest().MaxSequence},
               {"tokens", *Ids}});
}

void http::detokenize(Call C) {
  Fields F(C.Body);
  ServedModel *M = C.model(F);
  std::vector<int32_t> Ids = F.tokens("tokens");
  if (!C.Body.contains("tokens"))
    F.expected("tokens", "an array of token ids");
  const tokenizer::Tokenizer *T = M ? tokenizerOf(*M, F) : nullptr;
  if (std::optional<ApiError> Wrong = F.finish())
    return C.reply(*Wrong);
  C.reply(Json{{"prompt", T->decode(Ids, /*SkipSpecialTokens=*/false)}});
}

void http::applyTemplate(Call C) {
  Fields F(C.Body);
  ServedModel *M = C.model(F);
  chat::Conversation Talk = conversationOf(F, C.Bounds);
  const tokenizer::Tokenizer *T = M ? tokenizerOf(*M, F) : nullptr;
  if (std::optional<ApiError> Wrong = F.finish())
    return C.reply(*Wrong);
  Result<std::vector<int32_t>> Ids = M->code().chatPrompt(Talk);
  if (!Ids)
    return C.reply(ApiError{400, Ids.error().message(), "messages"});
  C.reply(Json{{"prompt", T->decode(*Ids, /*SkipSpecialTokens=*/false)}});
}

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

static Json modelJson(const ServedModel &M) {
  return {{"id", M.Name},
          {"object", "model"},
          {"created", 0},
          {"owned_by", "tenon"},
          {"max_model_len", M.code().manifest().MaxSequence}};
}

static void listModels(Call C) {
  Json All = Json::array();
  for (const auto &M : C.Models)
    All.push_back(modelJson(*M));
  C.reply(Json{{"object", "list"}, {"data", std::move(All)}});
}

static void showMetrics(Call C) {
  // The histograms are the server's thread's.
  C.onServer([&Models = C.Models](Exchange &E) {
    std::vector<std::pair<std::string, const ModelMetrics *>> Named;
    std::vector<serving::Statistics> Engines;
    for (const auto &M : Models) {
      Named.emplace_back(M->Name, &M->Metrics);
      Engines.push_back(M->Texts.statistics());
    }
    E.reply({200, "text/plain; version=0.0.4; charset=utf-8",
             printMetrics(Named, Engines)});
  });
}

namespace {

struct Route {
  std::string_view Method, Path;
  void (*Answer)(Call);
  bool IsOpen = false; ///< Needs no key.
};

} // namespace

static constexpr Route Routes[] = {
    {"POST", "/v1/chat/completions", completeChat},
    {"POST", "/v1/completions", completeText},
    {"GET", "/v1/models", listModels},
    {"POST", "/tokenize", tokenize},
    {"POST", "/detokenize", detokenize},
    {"POST", "/apply-template", applyTemplate},
    {"GET", "/metrics", showMetrics, true},
};

bool Api::isAllowed(const HttpRequest &R) const {
  constexpr std::string_view Bearer = "Bearer ";
  std::string_view Given = R.Authorization;
  if (Given.starts_with(Bearer))
    Given.remove_prefix(Bearer.size());
  bool IsKnown = Keys.empty();
  for (const std::string &Key : Keys) {
    // In a time that says nothing of how much of it is right.
    unsigned Difference = Key.size() != Given.size();
    for (size_t I = 0; I < Key.size() && I < Given.size(); ++I)
      Difference |= static_cast<unsigned char>(Key[I] ^ Given[I]);
    IsKnown |= Difference == 0;
  }
  return IsKnown;
}

void Api::take(HttpServer &Server, std::shared_ptr<Exchange> E) {
  const HttpRequest &R = E->request();
  if (R.Method == "GET" && R.Path == "/live")
    return E->reply({200, "application/json", "{}"});
  if (R.Method == "GET" && R.Path == "/health")
    return E->reply(
        {IsDraining ? 503 : 200, "application/json",
         IsDraining ? R"({"status":"draining"})" : R"({"status":"ok"})"});
  const Route *Found = nullptr;
  std::string Methods;
  for (const Route &Each : Routes)
    if (Each.Path == R.Path) {
      Methods += (Methods.empty() ? "" : ", ") + std::string(Each.Method);
      if (Each.Method == R.Method)
        Found = &Each;
    }
  if (!(Found && Found->IsOpen) && !isAllowed(R))
    return replyError(*E, {401, "expected a key of this server in the header "
                                "'Authorization: Bearer KEY'"});
  if (!Found && !Methods.empty()) {
    HttpResponse No{
        405, "application/json",
        wireText(ApiError{405, printable(R.Method) + ": expected " + Methods}
                     .json())};
    No.More.emplace_back("Allow", Methods);
    return E->reply(std::move(No));
  }
  std::string_view One = "/v1/models/";
  if (!Found && R.Method == "GET" && R.Path.starts_with(One))
    for (const auto &M : Models)
      if (R.Path.substr(One.size()) == M->Name)
        return E->reply({200, "application/json", wireText(modelJson(*M))});
  if (!Found)
    return replyError(*E, {404, printable(R.Path) + ": there is no such path"});
  Server.work([&Server, E, Found, this] {
    Call C{Server, Models, Bounds, E, Json()};
    if (Found->Method == "POST") {
      Result<Json> Body = parseJson(E->request().Body, "the body");
      if (!Body)
        return C.reply(ApiError{400, Body.error().message()});
      if (!Body->is_object())
        return C.reply(ApiError{400, std::string("the body is ") +
                                         Body->type_name() +
                                         ": expected an object"});
      C.Body = std::move(*Body);
    }
    Found->Answer(std::move(C));
  });
}

void Api::drain(double Seconds) {
  double End = secondsNow() + Seconds;
  for (const auto &M : Models)
    M->Texts.drain(std::max(0.0, End - secondsNow()));
}
