//===- OpenAiFields.cpp - Fields that OpenAI's endpoints share ------------===//

#include "runtime/Http/OpenAiFields.h"

#include <charconv>
#include <limits>
#include <random>

using namespace tenon;
using namespace tenon::http;
using generation::Settings;

/// "logit_bias": an object of biases by token id.
static void readLogitBias(Fields &F, const Limits &Bounds, Settings &S) {
  const Json *J = F.get("logit_bias");
  if (!J)
    return;
  if (!J->is_object() || J->size() > Bounds.LogitBiases)
    return F.expected("logit_bias", "an object of at most " +
                                        std::to_string(Bounds.LogitBiases) +
                                        " biases by token id");
  for (const auto &[Key, Value] : J->items()) {
    sampling::TokenBias Bias;
    auto [End, Failure] =
        std::from_chars(Key.data(), Key.data() + Key.size(), Bias.Token);
    if (Failure != std::errc() || End != Key.data() + Key.size() ||
        !Value.is_number())
      return F.expected("logit_bias", "token ids and numbers");
    Bias.Bias = Value;
    S.LogitBias.push_back(Bias);
  }
}

Settings http::settingsOf(Fields &F, const Limits &Bounds) {
  Settings S;
  constexpr int64_t Most = std::numeric_limits<int64_t>::max();
  S.MinNewTokens = F.integer("min_tokens", 0, Most);
  S.Temperature = F.number("temperature");
  S.TopK = F.integer("top_k", -1, Most);
  if (S.TopK == -1) // vLLM's way to say all.
    S.TopK = 0;
  S.TopP = F.number("top_p");
  S.MinP = F.number("min_p");
  S.TypicalP = F.number("typical_p");
  S.Seed = F.seed("seed").value_or(std::random_device{}());
  S.Choices =
      F.integer("n", 1, static_cast<int64_t>(Bounds.Choices)).value_or(1);
  S.RepetitionPenalty = F.number("repetition_penalty");
  S.PresencePenalty = F.number("presence_penalty").value_or(0);
  S.FrequencyPenalty = F.number("frequency_penalty").value_or(0);
  readLogitBias(F, Bounds, S);
  S.StopStrings = F.strings("stop", Bounds.StopStrings, Bounds.StopStringBytes);
  S.StopTokens = F.tokens("stop_token_ids");
  S.IncludeStop = F.boolean("include_stop_str_in_output").value_or(false);
  S.IgnoreEndOfSequence = F.boolean("ignore_eos").value_or(false);
  S.Lookup = F.integer("prompt_lookup_num_tokens", 0, generation::MaxLookup)
                 .value_or(0);
  return S;
}

RequestLabels http::readLabels(Fields &F) {
  RequestLabels L;
  F.string("user");
  if (const Json *J = F.get("metadata")) {
    if (!J->is_object())
      F.expected("metadata", "an object");
    L.Metadata = *J;
  }
  L.CacheKey = F.string("prompt_cache_key");
  L.Safety = F.string("safety_identifier");
  // Both are what a project has that chose nothing else.
  if (std::optional<std::string> Tier = F.string("service_tier");
      Tier && *Tier != "auto" && *Tier != "default")
    F.expected("service_tier", "\"auto\" or \"default\"");
  F.accept("store", false);
  return L;
}

StreamOptions http::readStreamOptions(Fields &F, GenerationTask &To) {
  StreamOptions O;
  To.Streams = F.boolean("stream").value_or(false);
  if (const Json *J = F.get("stream_options")) {
    Fields Inner(*J, "stream_options.");
    O.IncludesUsage = Inner.boolean("include_usage").value_or(false);
    Inner.accept("include_obfuscation", false);
    if (std::optional<ApiError> Wrong = Inner.finish())
      F.refuse(*Wrong);
    if (!To.Streams)
      F.refuse(
          {400, "'stream_options' is for 'stream': true", "stream_options"});
  }
  O.ReturnsTokens = F.boolean("return_token_ids").value_or(false);
  To.Rules.Salt = F.string("cache_salt").value_or("");
  return O;
}

Json http::usageJson(const TokenUsage &U) {
  return {{"prompt_tokens", U.Prompt},
          {"completion_tokens", U.New},
          {"total_tokens", U.Prompt + U.New},
          {"prompt_tokens_details", {{"cached_tokens", U.Cached}}},
          {"completion_tokens_details", {{"reasoning_tokens", U.Reasoning}}}};
}

ToolChoice http::readToolChoice(Fields &F, bool IsFlat, Json &Tools) {
  ToolChoice Choice;
  const Json *J = F.get("tool_choice");
  if (J && *J == "none") {
    Tools = nullptr;
  } else if (J && *J == "required") {
    Choice.IsForced = true;
  } else if (J && J->is_object()) {
    Fields Outer(*J, "tool_choice.");
    Outer.accept("type", "function");
    Choice = {true, "", true};
    auto ReadName = [&](Fields &From) {
      Choice.Name = From.string("name").value_or("");
      if (Choice.Name.empty())
        From.expected("name", "the name of a tool");
    };
    if (IsFlat) {
      ReadName(Outer);
    } else if (const Json *Function =
                   Outer.need("function", "an object with a \"name\"")) {
      Fields Inner(*Function, "tool_choice.function.");
      ReadName(Inner);
      if (std::optional<ApiError> Wrong = Inner.finish())
        Outer.refuse(*Wrong);
    }
    if (std::optional<ApiError> Wrong = Outer.finish())
      F.refuse(*Wrong);
  } else if (J && *J != "auto") {
    F.expected("tool_choice", "\"auto\", \"none\", \"required\" or a function");
  }
  bool IsParallel = F.boolean("parallel_tool_calls").value_or(true);
  Choice.IsSingle |= !IsParallel;
  return Choice;
}

Json CompletionFormat::frame(const GenerationTask &T,
                             const char *Object) const {
  return {{"id", T.answerId()},
          {"object", Object},
          {"created", T.created()},
          {"model", T.model().Name},
          {"system_fingerprint", T.model().Fingerprint}};
}

std::string CompletionFormat::chunk(const GenerationTask &T, Json Choice,
                                    Json Scores,
                                    const std::vector<int32_t> *Tokens,
                                    const char *Finish) {
  if (Options.ReturnsTokens && Tokens)
    Choice["token_ids"] = *Tokens;
  Choice["logprobs"] = std::move(Scores);
  Choice["finish_reason"] = Finish ? Json(Finish) : Json();
  // One for each token: what all chunks share is written once.
  if (ChunkFrame.empty()) {
    ChunkFrame = wireText(frame(T, Chunk));
    ChunkFrame.pop_back();
  }
  return eventOfText(ChunkFrame + ",\"choices\":[" + wireText(Choice) +
                     (Options.IncludesUsage ? "],\"usage\":null}" : "]}"));
}

static const char EndOfStream[] = "data: [DONE]\n\n";

std::string CompletionFormat::finish(const GenerationTask &T) {
  std::string Events;
  if (Options.IncludesUsage) {
    Json J = frame(T, Chunk);
    J["choices"] = Json::array();
    J["usage"] = usageJson(T.usage());
    Events = eventOf(J);
  }
  return Events + EndOfStream;
}

std::string CompletionFormat::fail(const GenerationTask &,
                                   const ApiError &Why) {
  return eventOf(Why.json()) + EndOfStream;
}
