//===- Metrics.cpp - What a server counts ---------------------------------===//

#include "runtime/Http/Metrics.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

using namespace tenon;
using namespace tenon::http;
using serving::Statistics;

static std::string shortest(double Value) {
  char Text[32];
  std::snprintf(Text, sizeof(Text), "%.9g", Value);
  return Text;
}

void Histogram::add(double Seconds) {
  auto At = std::lower_bound(Bounds.begin(), Bounds.end(), Seconds);
  ++Counts[static_cast<size_t>(At - Bounds.begin())];
  Sum += Seconds;
}

void Histogram::print(std::string &To, std::string_view Name,
                      std::string_view Label) const {
  uint64_t Total = 0;
  auto Line = [&](const char *Suffix, const std::string &More,
                  const std::string &Value) {
    To.append(Name).append(Suffix).append("{").append(Label);
    To += More + "} " + Value + "\n";
  };
  for (size_t I = 0; I < Counts.size(); ++I) {
    Total += Counts[I];
    Line("_bucket",
         ",le=\"" + (I < Bounds.size() ? shortest(Bounds[I]) : "+Inf") + "\"",
         std::to_string(Total));
  }
  Line("_sum", "", shortest(Sum));
  Line("_count", "", std::to_string(Total));
}

/// A label's value with what the format escapes.
static std::string labelOf(std::string_view Model) {
  std::string Text = "model_name=\"";
  for (char C : Model) {
    if (C == '"' || C == '\\')
      Text += '\\';
    Text += C == '\n' ? ' ' : C;
  }
  return Text + "\"";
}

std::string http::printMetrics(
    const std::vector<std::pair<std::string, const ModelMetrics *>> &Models,
    const std::vector<Statistics> &Engines) {
  struct Value {
    const char *Name, *Kind, *Help;
    double (*Of)(const Statistics &);
  };
  static constexpr Value Values[] = {
      {"tenon:num_requests_running", "gauge", "Requests that run.",
       [](const Statistics &S) { return double(S.Running); }},
      {"tenon:num_requests_waiting", "gauge", "Requests that wait.",
       [](const Statistics &S) { return double(S.Queued); }},
      {"tenon:kv_cache_usage_perc", "gauge",
       "Share of the pages of keys and values in use, from 0 to 1.",
       [](const Statistics &S) {
         return S.Pages == 0 ? 0 : 1 - double(S.FreePages) / double(S.Pages);
       }},
      {"tenon:prefix_cache_queries_total", "counter", "Tokens of prompts.",
       [](const Statistics &S) {
         return double(S.PromptTokens + S.CachedTokens);
       }},
      {"tenon:prefix_cache_hits_total", "counter",
       "Tokens of prompts that the prefix cache had.",
       [](const Statistics &S) { return double(S.CachedTokens); }},
      {"tenon:prompt_tokens_total", "counter",
       "Tokens of prompts that the model has run.",
       [](const Statistics &S) { return double(S.PromptTokens); }},
      {"tenon:generation_tokens_total", "counter", "Generated tokens.",
       [](const Statistics &S) { return double(S.NewTokens); }},
      {"tenon:engine_steps_total", "counter", "Steps of the model.",
       [](const Statistics &S) { return double(S.Steps); }},
  };
  std::string Text;
  auto Begin = [&](const char *Name, const char *Kind, const char *Help) {
    Text += std::string("# HELP ") + Name + " " + Help + "\n# TYPE " + Name +
            " " + Kind + "\n";
  };
  for (const Value &V : Values) {
    Begin(V.Name, V.Kind, V.Help);
    for (size_t I = 0; I < Models.size(); ++I)
      Text += std::string(V.Name) + "{" + labelOf(Models[I].first) + "} " +
              shortest(V.Of(Engines[I])) + "\n";
  }
  Begin("tenon:request_success_total", "counter",
        "Choices that have ended, by the reason.");
  for (const auto &[Name, M] : Models)
    for (const auto &[Reason, Count] : M->Finished)
      Text += "tenon:request_success_total{" + labelOf(Name) +
              ",finished_reason=\"" + Reason + "\"} " + std::to_string(Count) +
              "\n";
  struct Times {
    const char *Name, *Help;
    Histogram ModelMetrics::*Of;
  };
  static constexpr Times Histograms[] = {
      {"tenon:time_to_first_token_seconds",
       "From a request to its first token.", &ModelMetrics::FirstToken},
      {"tenon:longest_inter_token_latency_seconds",
       "The longest time between two tokens of a request.",
       &ModelMetrics::LongestGap},
      {"tenon:request_queue_time_seconds", "From a request to its first step.",
       &ModelMetrics::Queued},
      {"tenon:e2e_request_latency_seconds", "From a request to its end.",
       &ModelMetrics::Total}};
  for (const Times &T : Histograms) {
    Begin(T.Name, "histogram", T.Help);
    for (const auto &[Name, M] : Models)
      (M->*T.Of).print(Text, T.Name, labelOf(Name));
  }
  return Text;
}
