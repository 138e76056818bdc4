//===- RequestHistory.cpp - Requests that can be explained ----------------===//

#include "runtime/Http/RequestHistory.h"

#include "runtime/Support/Clock.h"

#include <algorithm>
#include <cctype>
#include <cmath>

using namespace tenon;
using namespace tenon::http;
using serving::PromptSlice;
using serving::Timeline;

void RequestHistory::add(std::shared_ptr<const RequestTrace> T) {
  All.push_back(std::move(T));
  // Those that run are as many as there are connections at most.
  auto HasEnded = [](const auto &Each) { return Each->End.has_value(); };
  auto IsFull = [&] {
    size_t Prompts = 0;
    for (const auto &Each : All)
      Prompts += Each->Prompts.size();
    return All.size() > Most || Prompts > PromptsEach * Most;
  };
  while (IsFull()) {
    auto Oldest = std::find_if(All.begin(), All.end(), HasEnded);
    if (Oldest == All.end())
      return;
    All.erase(Oldest);
  }
}

const RequestTrace *RequestHistory::find(std::string_view Id,
                                         size_t Key) const {
  for (auto At = All.rbegin(); At != All.rend(); ++At)
    if ((*At)->Key == Key && ((*At)->Id == Id || (*At)->answerId() == Id))
      return At->get();
  return nullptr;
}

//===----------------------------------------------------------------------===//
// In JSON
//===----------------------------------------------------------------------===//

static Json sliceJson(const PromptSlice &S, double Begin) {
  return {{"step", S.Step},
          {"tokens", S.Tokens},
          {"at_ms", msOf(S.Begin - Begin)},
          {"ms", msOf(S.Seconds)},
          {"texts", S.Rows},
          {"other_prompt_tokens", S.Others}};
}

/// `Begin` is when the request came.
static Json promptJson(const Timeline &W, double Begin) {
  auto At = [&](const std::optional<double> &When) {
    return When ? Json(msOf(*When - Begin)) : Json();
  };
  Json Slices = Json::array();
  for (const PromptSlice &S : W.Slices)
    Slices.push_back(sliceJson(S, Begin));
  double Until = W.Prefilling.value_or(W.Ended.value_or(secondsNow()));
  size_t Steps = W.Steps.count();
  Json J = {{"state", nameOf(W.State)},
            {"queued_at_ms", msOf(W.Submitted - Begin)},
            {"prefilling_at_ms", At(W.Prefilling)},
            {"decoding_at_ms", At(W.Decoding)},
            {"ended_at_ms", At(W.Ended)},
            {"queue_ms", msOf(Until - W.Submitted)},
            {"cached_tokens", W.CachedTokens},
            {"cached_pages", W.CachedPages},
            {"slices", std::move(Slices)}};
  if (W.Images != 0)
    J["images"] = {{"encoded", W.Images}, {"ms", msOf(W.ImageSeconds)}};
  if (W.MoreSlices != 0)
    J["more_slices"] = {{"slices", W.MoreSlices},
                        {"tokens", W.MoreSliceTokens}};
  J["decoding"] = {
      {"steps", Steps},
      {"step_ms_p50", msOf(W.Steps.median())},
      {"step_ms_max", msOf(W.Steps.longest())},
      {"texts_mean", Steps == 0 ? 0
                                : std::round(100 * static_cast<double>(W.Rows) /
                                             static_cast<double>(Steps)) /
                                      100},
      {"texts_max", W.MostRows},
      {"steps_with_prompts", W.BesidePrompts}};
  return J;
}

Json http::explanationOf(
    const RequestTrace &T,
    const std::function<std::optional<Timeline>(serving::RequestId)> &Running) {
  Json J = {{"id", T.Id},
            {"path", T.Path},
            {"model", T.Model.empty() ? Json() : Json(T.Model)},
            {"received", std::round(T.Time * 1e3) / 1e3},
            {"stream", T.IsStream},
            {"status", T.Status == 0 ? Json() : Json(T.Status)},
            {"state", !T.End     ? "running"
                      : T.IsGone ? "client gone"
                                 : "answered"},
            {"total_ms", msOf(T.End.value_or(secondsNow()) - T.Begin)},
            {"prompt_tokens", T.PromptTokens},
            {"cached_tokens", T.CachedTokens},
            {"completion_tokens", T.NewTokens}};
  if (T.Submitted) {
    J["prepared_ms"] = msOf(*T.Submitted - T.Begin);
    J["grammar_ms"] = msOf(T.GrammarSeconds);
    J["seed"] = *T.Seed;
  }
  J["prompts"] = Json::array();
  for (const PromptTrace &P : T.Prompts) {
    std::optional<Timeline> Now;
    if (!P.Went)
      Now = Running(P.Id);
    // Between its end and the news of it there is neither.
    if (!P.Went && !Now)
      continue;
    Json Own = promptJson(P.Went ? *P.Went : *Now, T.Begin);
    if (P.Went) {
      Own["first_token_ms"] = msOf(P.Usage.FirstToken);
      Own["longest_gap_ms"] = msOf(P.Usage.LongestGap);
      Own["finish_reasons"] = P.Finished;
    }
    J["prompts"].push_back(std::move(Own));
  }
  return J;
}

//===----------------------------------------------------------------------===//
// In URLs
//===----------------------------------------------------------------------===//

static int hexOf(char C) {
  static constexpr std::string_view Digits = "0123456789abcdef";
  size_t At = Digits.find(static_cast<char>(std::tolower(C)));
  return At == std::string_view::npos ? -1 : static_cast<int>(At);
}

std::string http::percentDecoded(std::string_view Text) {
  std::string Out;
  for (size_t I = 0; I < Text.size(); ++I) {
    bool IsEscape = Text[I] == '%' && I + 2 < Text.size() &&
                    hexOf(Text[I + 1]) >= 0 && hexOf(Text[I + 2]) >= 0;
    Out += IsEscape
               ? static_cast<char>(16 * hexOf(Text[I + 1]) + hexOf(Text[I + 2]))
               : Text[I];
    I += IsEscape ? 2 : 0;
  }
  return Out;
}

std::string http::percentEncoded(std::string_view Text) {
  static constexpr char Digits[] = "0123456789ABCDEF";
  std::string Out;
  for (char C : Text) {
    auto Byte = static_cast<unsigned char>(C);
    if (std::isalnum(Byte) || C == '-' || C == '_' || C == '.' || C == '~') {
      Out += C;
    } else {
      Out += '%';
      Out += Digits[Byte >> 4];
      Out += Digits[Byte & 15];
    }
  }
  return Out;
}
