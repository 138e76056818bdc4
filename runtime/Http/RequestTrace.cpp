//===- RequestTrace.cpp - What happened to a request ----------------------===//

#include "runtime/Http/RequestTrace.h"

#include "runtime/Http/Api.h"

#include <algorithm>
#include <cmath>

using namespace tenon;
using namespace tenon::http;

std::string RequestTrace::answerId() const {
  static constexpr std::pair<std::string_view, std::string_view> Kinds[] = {
      {"/v1/chat/completions", "chatcmpl-"},
      {"/v1/completions", "cmpl-"},
      {"/v1/responses", "resp_"},
      {"/v1/messages", "msg_"},
      {"/v1/rerank", "rerank-"},
      {"/v1/classify", "classify-"}};
  for (auto [Of, Kind] : Kinds)
    if (Path == Of)
      return std::string(Kind) + Id;
  return Id;
}

double http::msOf(double Seconds) { return std::round(Seconds * 1e6) / 1e3; }

std::string http::logLineOf(const RequestTrace &T, bool WithContent) {
  Json Line = {{"time", std::round(T.Time * 1e3) / 1e3},
               {"id", T.Id},
               {"method", T.Method},
               {"path", T.Path},
               {"model", T.Model.empty() ? Json() : Json(T.Model)},
               {"status", T.Status}};
  if (T.IsGone)
    Line["gone"] = true;
  if (T.PromptTokens != 0) {
    Line["prompt_tokens"] = T.PromptTokens;
    Line["cached_tokens"] = T.CachedTokens;
    Line["completion_tokens"] = T.NewTokens;
  }
  // Of several prompts the longest times.
  double Queued = 0, FirstToken = 0;
  Json Reasons = Json::array();
  for (const PromptTrace &P : T.Prompts) {
    Queued = std::max(Queued, P.Usage.Queued);
    FirstToken = std::max(FirstToken, P.Usage.FirstToken);
    for (const std::string &Reason : P.Finished)
      Reasons.push_back(Reason);
  }
  if (!Reasons.empty()) {
    Line["queue_ms"] = msOf(Queued);
    Line["first_token_ms"] = msOf(FirstToken);
    Line["finish_reasons"] = std::move(Reasons);
  }
  if (T.End)
    Line["total_ms"] = msOf(*T.End - T.Begin);
  if (WithContent && T.Said) {
    Line["body"] = T.Said->Body;
    Line["answer"] = T.Said->Answer ? Json(*T.Said->Answer) : Json();
  }
  return wireText(Line) + "\n";
}
