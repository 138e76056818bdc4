//===- ExplainCommand.cpp - tenon explain ---------------------------------===//

#include "runtime/Http/HttpClient.h"
#include "runtime/Http/RequestHistory.h"
#include "runtime/Support/Console.h"
#include "runtime/Tool/ServedModels.h"

#include <cstdio>

using namespace tenon;
using namespace tenon::http;
using namespace tenon::tool;

namespace {

/// Reads what a server says, which may lack anything.
struct Part {
  const Json &J;

  Part operator[](const char *Key) const {
    static const Json None;
    return {J.is_object() && J.contains(Key) ? J.at(Key) : None};
  }
  double number() const { return J.is_number() ? J.get<double>() : 0; }
  std::string count() const { return J.is_number() ? J.dump() : "?"; }
  std::string text() const {
    return J.is_string() ? escaped(J.get_ref<const std::string &>()) : "-";
  }
  /// "12.3 ms", or "-" where there is none.
  std::string ms() const {
    if (!J.is_number())
      return "-";
    char Text[64];
    std::snprintf(Text, sizeof(Text), "%.1f ms", J.get<double>());
    return Text;
  }
  std::string texts() const {
    std::string All;
    for (const Json &Each : J)
      All += (All.empty() ? "" : ", ") + Part{Each}.text();
    return All;
  }
};

} // namespace

static std::string row(const char *Name, const std::string &Value) {
  char Text[32];
  std::snprintf(Text, sizeof(Text), "  %-14s", Name);
  return Text + Value + "\n";
}

static std::string promptText(const Part &P) {
  std::string Text;
  std::string Cached = P["cached_tokens"].number() > 0
                           ? "; " + P["cached_tokens"].count() +
                                 " tokens of the prompt from the cache, " +
                                 P["cached_pages"].count() + " pages"
                           : "; nothing of the prompt from the cache";
  Text += row("state", P["state"].text());
  Text += row("queued",
              "at " + P["queued_at_ms"].ms() + ", for " + P["queue_ms"].ms());
  Text += row("prefilling", "at " + P["prefilling_at_ms"].ms() + Cached);
  for (const Json &Each : P["slices"].J) {
    Part S{Each};
    Text += row("", "at " + S["at_ms"].ms() + ": " + S["tokens"].count() +
                        " tokens, step " + S["step"].count() + ", " +
                        S["ms"].ms() + ", beside " + S["texts"].count() +
                        " texts and " + S["other_prompt_tokens"].count() +
                        " tokens of other prompts");
  }
  if (Part More = P["more_slices"]; More.J.is_object())
    Text += row("", "and " + More["slices"].count() + " more with " +
                        More["tokens"].count() + " tokens");
  if (Part Images = P["images"]; Images.J.is_object())
    Text += row("images", Images["encoded"].count() + " encoded, in " +
                              Images["ms"].ms() + " of these steps");
  Part D = P["decoding"];
  Text += row("decoding", "at " + P["decoding_at_ms"].ms() + "; " +
                              D["steps"].count() + " steps, p50 " +
                              D["step_ms_p50"].ms() + ", longest " +
                              D["step_ms_max"].ms());
  if (D["steps"].number() > 0)
    Text += row("", D["texts_mean"].count() + " texts in a step, at most " +
                        D["texts_max"].count() + "; " +
                        D["steps_with_prompts"].count() +
                        " steps ran prompts of others too");
  if (P["first_token_ms"].J.is_number())
    Text += row("tokens", "first after " + P["first_token_ms"].ms() +
                              " in the engine, longest gap " +
                              P["longest_gap_ms"].ms());
  Text += row("ended", "at " + P["ended_at_ms"].ms() +
                           (P["finish_reasons"].J.is_array()
                                ? ": " + P["finish_reasons"].texts()
                                : ""));
  return Text;
}

static std::string explanationText(const Part &E) {
  std::string Status = E["status"].J.is_number()
                           ? ", status " + E["status"].count()
                           : std::string();
  std::string Text = E["id"].text() + ": " + E["path"].text() + ", model " +
                     E["model"].text() + ", " + E["state"].text() + Status +
                     ", " + E["total_ms"].ms() + "\n";
  Text += row("tokens", E["prompt_tokens"].count() + " of the prompt, " +
                            E["cached_tokens"].count() + " of them cached; " +
                            E["completion_tokens"].count() + " new");
  if (E["prepared_ms"].J.is_number())
    Text +=
        row("prepared", "for " + E["prepared_ms"].ms() + ", of which " +
                            E["grammar_ms"].ms() +
                            " compiled a grammar; seed " + E["seed"].count());
  size_t Number = 0;
  for (const Json &Each : E["prompts"].J) {
    if (E["prompts"].J.size() > 1)
      Text += "prompt " + std::to_string(Number++) + "\n";
    Text += promptText({Each});
  }
  return Text;
}

Status tool::explainRequest(const ExplainOptions &Options) {
  std::string Key;
  if (!Options.KeyFile.empty()) {
    Result<std::vector<std::string>> Keys = readKeys(Options.KeyFile);
    if (!Keys)
      return Keys.error();
    Key = Keys->front();
  }
  Result<FetchedAnswer> Got =
      fetchFrom(Options.Url, "/v1/requests/" + percentEncoded(Options.Id), Key);
  if (!Got)
    return Got.error();
  Result<Json> J = parseJson(Got->Body, Options.Url);
  if (!J)
    return J.error();
  if (Got->Status != 200) {
    Part Why = Part{*J}["error"]["message"];
    return Error(Options.Url + ": status " + std::to_string(Got->Status) +
                 ": " + Why.text());
  }
  return print(Options.Json ? J->dump(2) + "\n" : explanationText({*J}));
}
