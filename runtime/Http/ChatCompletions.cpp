//===- ChatCompletions.cpp - /v1/chat/completions -------------------------===//

#include "runtime/Http/Conversations.h"
#include "runtime/Http/OpenAiFields.h"

#include <limits>

using namespace tenon;
using namespace tenon::http;
using generation::Settings;
using tools::AnswerPart;

namespace {

class ChatFormat final : public CompletionFormat {
public:
  ChatFormat() : CompletionFormat("chat.completion.chunk") {}

  std::string begin(const GenerationTask &T) override {
    Sent.resize(T.choices());
    std::string Events;
    for (size_t Index = 0; Index < T.choices(); ++Index)
      Events +=
          chunk(T, choice(Index, {{"role", "assistant"}, {"content", ""}}));
    return Events;
  }

  std::string add(const GenerationTask &T, ChoiceDelta D) override {
    std::string Events;
    Json Scores = logProbabilities(T, D.Scores, Sent[D.Index].HasText);
    for (AnswerPart &Part : D.Parts) {
      Json Delta;
      if (Part.What == AnswerPart::Text)
        Delta["content"] = std::move(Part.Content);
      else if (Part.What == AnswerPart::Reasoning)
        Delta["reasoning_content"] = std::move(Part.Content);
      else
        Delta["tool_calls"] = Json::array(
            {callJson(T, D.Index, Sent[D.Index].Calls++, Part.Function, true)});
      Events += chunk(T, choice(D.Index, std::move(Delta)),
                      std::exchange(Scores, nullptr), &D.Tokens);
      D.Tokens.clear();
    }
    // Scores and tokens whose text is not certain yet.
    if (!Scores.is_null() || (Options.ReturnsTokens && !D.Tokens.empty()))
      Events += chunk(T, choice(D.Index, Json::object()), Scores, &D.Tokens);
    return Events;
  }

  std::string end(const GenerationTask &T, size_t Index,
                  const ChoiceEnd &E) override {
    return chunk(T, choice(Index, Json::object()), nullptr, nullptr,
                 finishReasonOf(E));
  }

  Json whole(const GenerationTask &T,
             const std::vector<FinishedChoice> &Choices) override {
    Json J = frame(T, "chat.completion");
    J["choices"] = Json::array();
    for (const FinishedChoice &F : Choices) {
      const tools::ParsedAnswer &Said = F.Said;
      bool HasText = false;
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
      Json Choice = {
          {"index", F.Index},
          {"message", std::move(Message)},
          {"logprobs", logProbabilities(T, F.Generated->Scores, HasText)},
          {"finish_reason", finishReasonOf(F.End)}};
      if (Options.ReturnsTokens)
        Choice["token_ids"] = F.Generated->NewTokens;
      J["choices"].push_back(std::move(Choice));
    }
    J["usage"] = usageJson(T.usage());
    return J;
  }

private:
  static Json choice(size_t Index, Json Delta) {
    return {{"index", Index}, {"delta", std::move(Delta)}};
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

  static Json scoreJson(const tokenizer::TokenText &Text,
                        float LogProbability) {
    Json Bytes = Json::array();
    for (char Byte : Text.bytes())
      Bytes.push_back(static_cast<unsigned char>(Byte));
    return {{"token", Text.Shown},
            {"logprob", finite(LogProbability)},
            {"bytes", std::move(Bytes)}};
  }

  /// `HasText`: whether the choice has some before these tokens; then, behind
  /// them.
  static Json logProbabilities(const GenerationTask &T,
                               const std::vector<sampling::ScoredToken> &Scores,
                               bool &HasText) {
    if (Scores.empty())
      return nullptr;
    Json Content = Json::array();
    for (const sampling::ScoredToken &S : Scores) {
      tokenizer::TokenText Chosen = T.textOf(S.Chosen.Token, !HasText);
      Content.push_back(scoreJson(Chosen, S.Chosen.LogProbability));
      Json &Top = Content.back()["top_logprobs"] = Json::array();
      for (const sampling::TokenScore &Each : S.Likeliest)
        Top.push_back(
            scoreJson(T.textOf(Each.Token, !HasText), Each.LogProbability));
      if (Chosen.Added)
        HasText = true;
    }
    return {{"content", std::move(Content)}, {"refusal", nullptr}};
  }

  /// What of a choice has been sent.
  struct Progress {
    size_t Calls = 0;
    bool HasText = false; ///< Some token that is not special.
  };
  std::vector<Progress> Sent; ///< Of each choice.
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

void http::completeChat(Call C) {
  Fields F(C.Body);
  ServedModel *M = C.generator(F);
  Settings S = settingsOf(F, C.Bounds);
  constexpr int64_t Most = std::numeric_limits<int64_t>::max();
  std::optional<int64_t> Length = F.integer("max_completion_tokens", 1, Most);
  if (std::optional<int64_t> Older = F.integer("max_tokens", 1, Most); !Length)
    Length = Older;
  readLogProbabilities(F, C.Bounds, S);
  ImageReader Images = C.images(M);
  chat::Conversation Talk = conversationOf(F, C.Bounds, M, Images);
  ToolChoice Choice = readToolChoice(F, /*IsFlat=*/false, Talk.Tools);
  Talk.NeedsTools = !Choice.IsForced;
  S.Grammar = constraintWith(Choice, Talk.Tools, readConstraint(F, C.Grammars),
                             F, C.Grammars);
  readLabels(F);
  F.accept("modalities", Json::array({"text"}));
  F.accept("verbosity", "medium");
  if (!M)
    return C.reply(*F.finish());
  readEffort(F, "reasoning_effort", *M, Talk);
  auto Format = std::make_unique<ChatFormat>();
  ChatFormat &How = *Format;
  auto Task = std::make_shared<GenerationTask>(C, *M, std::move(Format));
  How.Options = readStreamOptions(F, *Task);
  if (std::optional<ApiError> Wrong = F.finish())
    return C.reply(*Wrong);
  // An answer ends where the model ends it, or its longest sequence.
  S.MaxNewTokens = Length.value_or(M->code().manifest().MaxSequence);
  std::vector<generation::PromptImage::Ptr> Seen = Images.takeFor(Talk);
  Result<std::vector<int32_t>> Prompt = M->code().chatPrompt(Talk);
  if (!Prompt)
    return C.reply(ApiError{400, Prompt.error().message(), "messages"});
  Task->Tools = Talk.Tools;
  Task->Calls = std::move(Choice);
  Task->start(S, {std::move(*Prompt)}, std::move(Seen));
}
