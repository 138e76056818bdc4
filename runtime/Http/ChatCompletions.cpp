//===- ChatCompletions.cpp - /v1/chat/completions -------------------------===//

#include "runtime/Http/Conversations.h"
#include "runtime/Http/OpenAiFields.h"

#include <limits>

using namespace tenon;
using namespace tenon::http;
using generation::Settings;
using tools::AnswerPart;

namespace {

class ChatFormat final : public AnswerFormat {
public:
  StreamOptions Options;

  std::string begin(const GenerationTask &T) override {
    Calls.resize(T.choices());
    std::string Events;
    for (size_t Index = 0; Index < T.choices(); ++Index)
      Events += chunk(T, Index, {{"role", "assistant"}, {"content", ""}});
    return Events;
  }

  std::string add(const GenerationTask &T, ChoiceDelta D) override {
    std::string Events;
    Json Scores = logProbabilities(T, D.Scores);
    for (AnswerPart &Part : D.Parts) {
      Json Delta;
      if (Part.What == AnswerPart::Text)
        Delta["content"] = std::move(Part.Content);
      else if (Part.What == AnswerPart::Reasoning)
        Delta["reasoning_content"] = std::move(Part.Content);
      else
        Delta["tool_calls"] = Json::array(
            {callJson(T, D.Index, Calls[D.Index]++, Part.Function, true)});
      Events += chunk(T, D.Index, std::move(Delta),
                      std::exchange(Scores, nullptr), &D.Tokens);
      D.Tokens.clear();
    }
    // Scores and tokens whose text is not certain yet.
    if (!Scores.is_null() || (Options.ReturnsTokens && !D.Tokens.empty()))
      Events += chunk(T, D.Index, Json::object(), Scores, &D.Tokens);
    return Events;
  }

  std::string end(const GenerationTask &T, size_t Index,
                  const ChoiceEnd &E) override {
    return chunk(T, Index, Json::object(), nullptr, nullptr, finishReasonOf(E));
  }

  std::string finish(const GenerationTask &T) override {
    std::string Events;
    if (Options.IncludesUsage) {
      Json J = frame(T, "chat.completion.chunk");
      J["choices"] = Json::array();
      J["usage"] = usageJson(T.usage());
      Events = eventOf(J);
    }
    return Events + "data: [DONE]\n\n";
  }

  std::string fail(const GenerationTask &, const ApiError &Why) override {
    return eventOf(Why.json()) + "data: [DONE]\n\n";
  }

  Json whole(const GenerationTask &T,
             const std::vector<FinishedChoice> &Choices) override {
    Json J = frame(T, "chat.completion");
    J["choices"] = Json::array();
    for (const FinishedChoice &F : Choices) {
      const tools::ParsedAnswer &Said = F.Said;
      Json Message = {{"role", "assistant"},
                      {"content", Said.Text},
                      {"refusal", nullptr},
                      {"annotations", Json::array()}};
      if (!Said.Reasoning.empty())
        Message["reasoning_content"] = Said.Reasoning;
      for (size_t I = 0; I < Said.Calls.size(); ++I)
        Message["tool_calls"].push_back(
            callJson(T, F.Index, I, Said.Calls[I], false));
      if (!Said.Calls.empty() && Said.Text.empty())
        Message["content"] = nullptr;
      Json Choice = {{"index", F.Index},
                     {"message", std::move(Message)},
                     {"logprobs", logProbabilities(T, F.Generated->Scores)},
                     {"finish_reason", finishReasonOf(F.End)}};
      if (Options.ReturnsTokens)
        Choice["token_ids"] = F.Generated->NewTokens;
      J["choices"].push_back(std::move(Choice));
    }
    J["usage"] = usageJson(T.usage());
    return J;
  }

private:
  static Json frame(const GenerationTask &T, const char *Object) {
    return {{"id", "chatcmpl-" + T.id()},
            {"object", Object},
            {"created", T.created()},
            {"model", T.model().Name},
            {"system_fingerprint", T.model().Fingerprint}};
  }

  std::string chunk(const GenerationTask &T, size_t Index, Json Delta,
                    Json Scores = nullptr,
                    const std::vector<int32_t> *Tokens = nullptr,
                    const char *Finish = nullptr) const {
    Json Choice = {{"index", Index}, {"delta", std::move(Delta)}};
    if (Options.ReturnsTokens && Tokens)
      Choice["token_ids"] = *Tokens;
    Choice["logprobs"] = std::move(Scores);
    Choice["finish_reason"] = Finish ? Json(Finish) : Json();
    Json J = frame(T, "chat.completion.chunk");
    J["choices"] = Json::array({std::move(Choice)});
    if (Options.IncludesUsage)
      J["usage"] = nullptr;
    return eventOf(J);
  }

  /// `HasIndex`: of a stream, where calls are told apart by it.
  static Json callJson(const GenerationTask &T, size_t Index, size_t Number,
                       const tools::ToolCall &Call, bool HasIndex) {
    Json J;
    if (HasIndex)
      J["index"] = Number;
    J["id"] = T.callId(Index, Number);
    J["type"] = "function";
    J["function"] = {{"name", Call.Name}, {"arguments", Call.Arguments}};
    return J;
  }

  static Json scoreJson(const GenerationTask &T,
                        const sampling::TokenScore &S) {
    std::string Text = T.textOf(S.Token);
    // Of a part of a character nobody can say the bytes by its text.
    bool IsWhole = Text.find("\xEF\xBF\xBD") == std::string::npos;
    Json Bytes = IsWhole ? Json::array() : Json();
    if (IsWhole)
      for (char Byte : Text)
        Bytes.push_back(static_cast<unsigned char>(Byte));
    return {{"token", Text},
            {"logprob", finite(S.LogProbability)},
            {"bytes", std::move(Bytes)}};
  }

  static Json
  logProbabilities(const GenerationTask &T,
                   const std::vector<sampling::ScoredToken> &Scores) {
    if (Scores.empty())
      return nullptr;
    Json Content = Json::array();
    for (const sampling::ScoredToken &S : Scores) {
      Content.push_back(scoreJson(T, S.Chosen));
      Content.back()["top_logprobs"] = Json::array();
      for (const sampling::TokenScore &Each : S.Likeliest)
        Content.back()["top_logprobs"].push_back(scoreJson(T, Each));
    }
    return {{"content", std::move(Content)}, {"refusal", nullptr}};
  }

  std::vector<size_t> Calls; ///< Of each choice, so far.
};

} // namespace

/// The log-probabilities that an answer has.
static void readLogProbabilities(Fields &F, const Limits &Bounds, Settings &S) {
  bool Wanted = F.boolean("logprobs").value_or(false);
  std::optional<int64_t> Top = F.integer(
      "top_logprobs", 0, static_cast<int64_t>(Bounds.TopLogProbabilities));
  if (Top && !Wanted)
    F.expected("top_logprobs", "'logprobs' to be true");
  if (Wanted)
    S.LogProbabilities = Top.value_or(0);
}

/// "tool_choice" and "parallel_tool_calls". `Tools` becomes null where the
/// model is offered none.
static std::optional<ForcedCall> readToolChoice(Fields &F, Json &Tools) {
  std::optional<ForcedCall> Forced;
  if (const Json *J = F.get("tool_choice")) {
    if (*J == "none") {
      Tools = nullptr;
    } else if (*J == "required") {
      Forced.emplace();
    } else if (J->is_object()) {
      Fields Inner(*J, "tool_choice.");
      Inner.accept("type", "function");
      Forced = {"", true};
      if (const Json *Function =
              Inner.need("function", "an object with a \"name\"")) {
        Fields Own(*Function, "tool_choice.function.");
        Forced->Name = Own.string("name").value_or("");
        if (Forced->Name.empty())
          Own.expected("name", "the name of a tool");
        if (std::optional<ApiError> Wrong = Own.finish())
          Inner.refuse(*Wrong);
      }
      if (std::optional<ApiError> Wrong = Inner.finish())
        F.refuse(*Wrong);
    } else if (*J != "auto") {
      F.expected("tool_choice", "\"auto\", \"none\", \"required\" or a "
                                "function");
    }
  }
  if (Forced)
    Forced->IsSingle |= !F.boolean("parallel_tool_calls").value_or(true);
  else
    F.accept("parallel_tool_calls", true);
  return Forced;
}

void http::completeChat(Call C) {
  Fields F(C.Body);
  ServedModel *M = C.generator(F);
  Settings S = settingsOf(F, C.Bounds);
  constexpr int64_t Most = std::numeric_limits<int64_t>::max();
  std::optional<int64_t> Length = F.integer("max_completion_tokens", 1, Most);
  if (std::optional<int64_t> Older = F.integer("max_tokens", 1, Most); !Length)
    Length = Older;
  readLogProbabilities(F, C.Bounds, S);
  chat::Conversation Talk = conversationOf(F, C.Bounds, M);
  std::optional<ForcedCall> Forced = readToolChoice(F, Talk.Tools);
  S.Grammar = constraintWith(Forced, Talk.Tools, readConstraint(F, C.Grammars),
                             F, C.Grammars);
  F.accept("store", false);
  F.accept("service_tier", "auto");
  F.accept("modalities", Json::array({"text"}));
  if (!M)
    return C.reply(*F.finish());
  auto Format = std::make_unique<ChatFormat>();
  ChatFormat &How = *Format;
  auto Task = std::make_shared<GenerationTask>(C, *M, std::move(Format));
  How.Options = readStreamOptions(F, *Task);
  if (std::optional<ApiError> Wrong = F.finish())
    return C.reply(*Wrong);
  // An answer ends where the model ends it, or its longest sequence.
  S.MaxNewTokens = Length.value_or(M->code().manifest().MaxSequence);
  Result<std::vector<int32_t>> Prompt = M->code().chatPrompt(Talk);
  if (!Prompt)
    return C.reply(ApiError{400, Prompt.error().message(), "messages"});
  Task->Tools = Talk.Tools;
  Task->Forced = std::move(Forced);
  Task->start(S, {std::move(*Prompt)});
}
