//===- Completions.cpp - /v1/chat/completions, /v1/completions ------------===//

#include "runtime/Generation/ToolAnswer.h"
#include "runtime/Http/Api.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <random>

using namespace tenon;
using namespace tenon::http;
using namespace tenon::serving;
using generation::FinishReason;
using generation::Generation;
using generation::Settings;

//===----------------------------------------------------------------------===//
// What is asked for
//===----------------------------------------------------------------------===//

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

/// What both endpoints take, but for the number of tokens.
static Settings settingsOf(Fields &F, const Limits &Bounds) {
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
  std::optional<int64_t> Seed =
      F.integer("seed", std::numeric_limits<int64_t>::min(), Most);
  S.Seed = Seed ? static_cast<uint64_t>(*Seed) : std::random_device{}();
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

/// The log-probabilities that a conversation's answer has.
static void readChatLogProbabilities(Fields &F, const Limits &Bounds,
                                     Settings &S) {
  bool Wanted = F.boolean("logprobs").value_or(false);
  std::optional<int64_t> Top = F.integer(
      "top_logprobs", 0, static_cast<int64_t>(Bounds.TopLogProbabilities));
  if (Top && !Wanted)
    F.expected("top_logprobs", "'logprobs' to be true");
  if (Wanted)
    S.LogProbabilities = Top.value_or(0);
}

/// "tool_choice": whether the model is offered the tools.
static bool readToolChoice(Fields &F) {
  const Json *J = F.get("tool_choice");
  if (!J || *J == "auto")
    return true;
  if (*J != "none")
    F.refuse({400,
              "'tool_choice' is " + printable(J->dump()) +
                  ": not supported; expected \"auto\" or \"none\"",
              "tool_choice"});
  return false;
}

//===----------------------------------------------------------------------===//
// What comes of it
//===----------------------------------------------------------------------===//

static size_t charactersOf(std::string_view Text) {
  return static_cast<size_t>(
      std::count_if(Text.begin(), Text.end(), [](char C) {
        return (static_cast<unsigned char>(C) & 0xC0) != 0x80;
      }));
}

/// JSON has no infinity; clients expect this in its place.
static double finite(float LogProbability) {
  constexpr double Lowest = -9999;
  return std::isfinite(LogProbability) ? LogProbability : Lowest;
}

static const char *finishReason(FinishReason R) {
  switch (R) {
  case FinishReason::EndOfSequence:
  case FinishReason::Stop:
    return "stop";
  case FinishReason::Length:
  case FinishReason::Context:
    return "length";
  case FinishReason::Error:
    return "error";
  case FinishReason::None:
    return "length"; // Of a prompt alone.
  }
  return "error";
}

static ApiError errorOf(const Error &Why) {
  int Status = Why.kind() == ErrorKind::InvalidArgument ? 400
               : Why.kind() == ErrorKind::Cancelled     ? 503
                                                        : 500;
  return {Status, Why.message()};
}

namespace {

/// A choice that is streamed.
struct Choice {
  std::optional<generation::ToolAnswer> Parser;
  size_t Calls = 0;
  size_t Offset = 0; ///< Characters of the tokens so far.
};

/// One completion: its prompts, each a request of the engine. On the server's
/// thread from submit() on, and alive until its last request has ended.
class Completion : public std::enable_shared_from_this<Completion> {
public:
  Completion(Call C, ServedModel &M, bool IsChat)
      : C(std::move(C)), M(M), IsChat(IsChat) {}

  void submit();

  std::vector<generation::Request> Asked;
  Json Tools; ///< Null: none, or their calls are not looked for.
  Terms Rules;
  bool Streams = false, IncludesUsage = false, ReturnsTokens = false;

private:
  void update(size_t I, const Update &U);
  void stream(size_t I, const generation::Piece &P);
  void streamToolParts(Choice &At, size_t Index, const generation::Request &R,
                       std::vector<tools::AnswerPart> Parts);
  void sendChoice(Json Choice);
  void send(const Json &J) { C.Asked->send("data: " + wireText(J) + "\n\n"); }
  void finish();
  void fail(const ApiError &Why);
  void cancel();
  void note(const Update &U);

  Json frame(const char *Object) const;
  Json usage() const;
  Json wholeChoice(size_t I, size_t K);
  Json logProbabilities(const std::vector<sampling::ScoredToken> &Scores,
                        size_t &Offset, bool BeginsText) const;
  std::string textOf(int32_t Token) const;
  size_t choicesOf(size_t I) const {
    return static_cast<size_t>(Asked[I].How.Choices);
  }
  size_t indexOf(size_t I, size_t K) const { return I * choicesOf(0) + K; }

  Call C;
  ServedModel &M;
  bool IsChat;
  int64_t Created = std::time(nullptr);
  std::vector<RequestId> Ids;
  std::vector<std::optional<Update>> Ends;
  std::vector<Choice> Choices;
  size_t Left = 0;
  bool IsOver = false;
};

} // namespace

std::string Completion::textOf(int32_t Token) const {
  auto T = M.code().tokenizer();
  return T ? (*T)->decode({&Token, 1}, /*SkipSpecialTokens=*/false) : "";
}

void Completion::submit() {
  Left = Asked.size();
  Ends.resize(Left);
  for (size_t I = 0; I < Asked.size(); ++I) {
    auto Given = M.Texts.submit(
        Asked[I], Rules, [Own = shared_from_this(), I](const Update &U) {
          Own->C.Server.post([Own, I, U] { Own->update(I, U); });
        });
    if (const auto *No = std::get_if<Refusal>(&Given)) {
      cancel();
      IsOver = true;
      bool IsFull = No->Why == Refusal::Reason::QueueFull;
      ApiError Why{No->Why == Refusal::Reason::NeverFits ? 400
                   : IsFull                              ? 429
                                                         : 503,
                   No->What.message()};
      if (IsFull)
        Why.RetryAfter = No->RetryAfter;
      return replyError(*C.Asked, Why);
    }
    Ids.push_back(std::get<RequestId>(Given));
  }
  C.Asked->whenGone([Weak = weak_from_this()] {
    if (auto Own = Weak.lock()) {
      Own->IsOver = true;
      Own->cancel();
    }
  });
  if (!Streams)
    return;
  C.Asked->beginEvents();
  Choices.resize(Asked.size() * choicesOf(0));
  for (size_t Index = 0; Index < Choices.size(); ++Index) {
    const generation::Request &R = Asked[Index / choicesOf(0)];
    // What comes before a stop string is known at the end only.
    if (!Tools.is_null() && R.StopStrings.empty())
      if (auto Parser =
              generation::ToolAnswer::create(M.code(), R.Prompt, Tools))
        Choices[Index].Parser.emplace(std::move(*Parser));
    if (IsChat)
      sendChoice({{"index", Index},
                  {"delta", {{"role", "assistant"}, {"content", ""}}},
                  {"logprobs", nullptr},
                  {"finish_reason", nullptr}});
  }
}

void Completion::cancel() {
  for (RequestId Id : Ids)
    M.Texts.cancel(Id);
}

void Completion::note(const Update &U) {
  if (U.State != RequestState::Finished)
    return;
  ModelMetrics &Seen = M.Metrics;
  Seen.Queued.add(U.Usage.Queued);
  Seen.FirstToken.add(U.Usage.FirstToken);
  Seen.LongestGap.add(U.Usage.LongestGap);
  Seen.Total.add(U.Usage.Total);
  for (const Generation &G : U.Answer->Choices)
    ++Seen.Finished[finishReason(G.Finish)];
}

void Completion::update(size_t I, const Update &U) {
  note(U);
  if (IsOver)
    return;
  if (Streams)
    for (const generation::Piece &P : U.Pieces)
      if (stream(I, P); IsOver)
        return;
  if (!isFinal(U.State))
    return;
  if (U.State == RequestState::Cancelled)
    return fail({503, "the server ends"});
  if (U.Failure)
    return fail(errorOf(*U.Failure));
  for (const Generation &G : U.Answer->Choices)
    if (G.Failure)
      return fail(errorOf(*G.Failure));
  Ends[I] = U;
  if (--Left == 0)
    finish();
}

void Completion::fail(const ApiError &Why) {
  IsOver = true;
  cancel();
  if (!Streams)
    return replyError(*C.Asked, Why);
  send(Why.json());
  C.Asked->send("data: [DONE]\n\n");
  C.Asked->end();
}

Json Completion::frame(const char *Object) const {
  return {{"id", (IsChat ? "chatcmpl-" : "cmpl-") + C.Asked->request().Id},
          {"object", Object},
          {"created", Created},
          {"model", M.Name},
          {"system_fingerprint", M.Fingerprint}};
}

void Completion::sendChoice(Json Choice) {
  Json J = frame(IsChat ? "chat.completion.chunk" : "text_completion");
  J["choices"] = Json::array({std::move(Choice)});
  if (IncludesUsage)
    J["usage"] = nullptr;
  send(J);
}

/// As the endpoint has them; null where none were asked for. `Offset` is where
/// the text of the first token begins.
Json Completion::logProbabilities(
    const std::vector<sampling::ScoredToken> &Scores, size_t &Offset,
    bool BeginsText) const {
  if (!Asked.front().Scored)
    return nullptr;
  if (IsChat) {
    auto One = [&](const sampling::TokenScore &S) {
      std::string Text = textOf(S.Token);
      bool IsWhole = Text.find("\xEF\xBF\xBD") == std::string::npos;
      Json Bytes = IsWhole ? Json::array() : Json();
      if (IsWhole)
        for (char Byte : Text)
          Bytes.push_back(static_cast<unsigned char>(Byte));
      return Json{{"token", Text},
                  {"logprob", finite(S.LogProbability)},
                  {"bytes", std::move(Bytes)}};
    };
    Json Content = Json::array();
    for (const sampling::ScoredToken &S : Scores) {
      Content.push_back(One(S.Chosen));
      Content.back()["top_logprobs"] = Json::array();
      for (const sampling::TokenScore &Each : S.Likeliest)
        Content.back()["top_logprobs"].push_back(One(Each));
    }
    return {{"content", std::move(Content)}};
  }
  Json J = {{"tokens", Json::array()},
            {"token_logprobs", Json::array()},
            {"top_logprobs", Json::array()},
            {"text_offset", Json::array()}};
  for (size_t I = 0; I < Scores.size(); ++I) {
    std::string Text = textOf(Scores[I].Chosen.Token);
    J["tokens"].push_back(Text);
    J["text_offset"].push_back(Offset);
    Offset += charactersOf(Text);
    // Nothing says how likely the first token of a text is.
    bool IsFirst = BeginsText && I == 0;
    J["token_logprobs"].push_back(
        IsFirst ? Json() : Json(finite(Scores[I].Chosen.LogProbability)));
    Json Top = Json::object();
    for (const sampling::TokenScore &S : Scores[I].Likeliest)
      Top[textOf(S.Token)] = finite(S.LogProbability);
    J["top_logprobs"].push_back(IsFirst ? Json() : std::move(Top));
  }
  return J;
}

void Completion::streamToolParts(Choice &At, size_t Index,
                                 const generation::Request &R,
                                 std::vector<tools::AnswerPart> Parts) {
  for (tools::AnswerPart &Part : Parts) {
    Json Delta;
    switch (Part.What) {
    case tools::AnswerPart::Text:
      Delta["content"] = std::move(Part.Content);
      break;
    case tools::AnswerPart::Reasoning:
      Delta["reasoning_content"] = std::move(Part.Content);
      break;
    case tools::AnswerPart::Call:
      Delta["tool_calls"] =
          Json::array({{{"index", At.Calls},
                        {"id", generation::toolCallId(R.Prompt, At.Calls)},
                        {"type", "function"},
                        {"function",
                         {{"name", Part.Function.Name},
                          {"arguments", Part.Function.Arguments}}}}});
      ++At.Calls;
      break;
    }
    sendChoice({{"index", Index},
                {"delta", std::move(Delta)},
                {"logprobs", nullptr},
                {"finish_reason", nullptr}});
  }
}

void Completion::stream(size_t I, const generation::Piece &P) {
  if (P.Finish == FinishReason::Error)
    return; // update() answers.
  auto K = static_cast<size_t>(P.Choice);
  size_t Index = indexOf(I, K);
  Choice &At = Choices[Index];
  bool IsLate = !Tools.is_null() && !At.Parser;
  if (At.Parser)
    streamToolParts(At, Index, Asked[I], At.Parser->add(P.Tokens));
  Json Scores = logProbabilities(P.Scores, At.Offset, /*BeginsText=*/false);
  std::string Text = At.Parser || IsLate ? std::string() : P.Text;
  Json J = {{"index", Index}};
  if (!IsChat)
    J["text"] = Text;
  else if (Text.empty())
    J["delta"] = Json::object();
  else
    J["delta"] = {{"content", Text}};
  if (ReturnsTokens)
    J["token_ids"] = P.Tokens;
  J["logprobs"] = Scores;
  J["finish_reason"] = nullptr;
  if (!Text.empty() || !P.Scores.empty() || ReturnsTokens)
    sendChoice(J);
  if (P.Finish == FinishReason::None || IsLate)
    return; // Of a late one finish() sends the rest.
  const char *Reason = finishReason(P.Finish);
  if (At.Parser) {
    streamToolParts(At, Index, Asked[I], At.Parser->finish());
    if (At.Calls != 0 && P.Finish != FinishReason::Length &&
        P.Finish != FinishReason::Context)
      Reason = "tool_calls";
  }
  Json End = {{"index", Index}};
  IsChat ? End["delta"] = Json::object() : End["text"] = "";
  End["logprobs"] = nullptr;
  End["finish_reason"] = Reason;
  sendChoice(std::move(End));
}

Json Completion::usage() const {
  size_t Prompt = 0, Cached = 0, New = 0;
  for (const std::optional<Update> &U : Ends)
    if (U) {
      Prompt += U->Usage.PromptTokens;
      Cached += U->Usage.CachedTokens;
      New += U->Usage.NewTokens;
    }
  return {{"prompt_tokens", Prompt},
          {"completion_tokens", New},
          {"total_tokens", Prompt + New},
          {"prompt_tokens_details", {{"cached_tokens", Cached}}}};
}

/// Choice `K` of request `I`, which has ended.
Json Completion::wholeChoice(size_t I, size_t K) {
  const generation::Request &R = Asked[I];
  const generation::Answer &A = *Ends[I]->Answer;
  const Generation &G = A.Choices[K];
  const char *Reason = finishReason(G.Finish);
  Json J = {{"index", indexOf(I, K)}};
  size_t Offset = 0;
  if (!IsChat) {
    std::vector<sampling::ScoredToken> Scores;
    if (R.Echo && R.Scored) {
      Scores.push_back({{R.Prompt.front(), 0}, {}});
      Scores.insert(Scores.end(), A.PromptScores.begin(), A.PromptScores.end());
    }
    Scores.insert(Scores.end(), G.Scores.begin(), G.Scores.end());
    J["text"] = G.Text;
    J["logprobs"] = logProbabilities(Scores, Offset, R.Echo);
  } else {
    Json Message = {
        {"role", "assistant"}, {"content", G.Text}, {"refusal", nullptr}};
    std::optional<std::string_view> UpToStop;
    if (G.StopString)
      UpToStop = G.Text;
    Result<tools::ParsedAnswer> Parsed = Error("");
    if (!Tools.is_null())
      Parsed = generation::parseToolAnswer(M.code(), R.Prompt, G.NewTokens,
                                           UpToStop, Tools);
    if (Parsed) {
      Json Told = generation::answerJson(*Parsed, R.Prompt);
      Message["content"] = Told["text"];
      if (Told.contains("reasoning"))
        Message["reasoning_content"] = Told["reasoning"];
      if (!Parsed->Calls.empty()) {
        Message["tool_calls"] = Told["tool_calls"];
        if (Parsed->Text.empty())
          Message["content"] = nullptr;
        if (std::string_view(Reason) == "stop")
          Reason = "tool_calls";
      }
    }
    J["message"] = std::move(Message);
    J["logprobs"] = logProbabilities(G.Scores, Offset, false);
  }
  J["finish_reason"] = Reason;
  if (ReturnsTokens)
    J["token_ids"] = G.NewTokens;
  return J;
}

void Completion::finish() {
  IsOver = true;
  if (!Streams) {
    Json J = frame(IsChat ? "chat.completion" : "text_completion");
    J["choices"] = Json::array();
    for (size_t I = 0; I < Asked.size(); ++I)
      for (size_t K = 0; K < choicesOf(I); ++K)
        J["choices"].push_back(wholeChoice(I, K));
    J["usage"] = usage();
    return C.Asked->reply({200, "application/json", wireText(J)});
  }
  for (size_t Index = 0; Index < Choices.size(); ++Index)
    if (!Tools.is_null() && !Choices[Index].Parser) {
      Json J = wholeChoice(Index / choicesOf(0), Index % choicesOf(0));
      Json Delta = std::move(J["message"]);
      Delta.erase("role");
      Delta.erase("refusal");
      if (Delta.contains("tool_calls"))
        for (size_t N = 0; N < Delta["tool_calls"].size(); ++N)
          Delta["tool_calls"][N]["index"] = N;
      sendChoice({{"index", Index},
                  {"delta", std::move(Delta)},
                  {"logprobs", nullptr},
                  {"finish_reason", J["finish_reason"]}});
    }
  if (IncludesUsage) {
    Json J = frame(IsChat ? "chat.completion.chunk" : "text_completion");
    J["choices"] = Json::array();
    J["usage"] = usage();
    send(J);
  }
  C.Asked->send("data: [DONE]\n\n");
  C.Asked->end();
}

//===----------------------------------------------------------------------===//
// The endpoints
//===----------------------------------------------------------------------===//

/// What both endpoints have beside settings.
static void readCommon(Fields &F, Completion &To) {
  To.Streams = F.boolean("stream").value_or(false);
  if (const Json *J = F.get("stream_options")) {
    Fields Inner(*J, "stream_options.");
    To.IncludesUsage = Inner.boolean("include_usage").value_or(false);
    if (std::optional<ApiError> Wrong = Inner.finish())
      F.refuse(*Wrong);
    if (!To.Streams)
      F.refuse(
          {400, "'stream_options' is for 'stream': true", "stream_options"});
  }
  To.ReturnsTokens = F.boolean("return_token_ids").value_or(false);
  To.Rules.Salt = F.string("cache_salt").value_or("");
  F.string("user"); // Says who asks, and nothing of what.
}

/// An error for a prompt that the model cannot read, before anything runs.
static Status checkPrompt(const ServedModel &M,
                          std::span<const int32_t> Prompt) {
  const artifact::Manifest &Info = M.code().manifest();
  Result<const engine::Entry *> Step = M.code().entry("step");
  if (!Step)
    return Step.error();
  int64_t Vocabulary = Info.vocabularyOf((*Step)->Info);
  for (int32_t Id : Prompt)
    if (Id >= Vocabulary)
      return Error("the prompt has token " + std::to_string(Id) +
                   ": expected 0 to " + std::to_string(Vocabulary - 1));
  int64_t Longest = Info.MaxSource != 0 ? Info.MaxSource : Info.MaxSequence;
  if (std::cmp_greater(Prompt.size(), Longest))
    return Error("the prompt has " + std::to_string(Prompt.size()) +
                 " tokens: expected at most " + std::to_string(Longest) +
                 ", the model's longest");
  return {};
}

/// Makes requests of the prompts, and hands them to the engine.
static void submit(const Call &C, const std::shared_ptr<Completion> &What,
                   const ServedModel &M, const Settings &S,
                   std::vector<std::vector<int32_t>> Prompts) {
  for (std::vector<int32_t> &Prompt : Prompts) {
    if (Status Good = checkPrompt(M, Prompt); !Good)
      return C.reply(ApiError{400, Good.error().message()});
    Result<generation::Request> R =
        generation::makeRequest(M.code(), S, std::move(Prompt));
    if (!R)
      return C.reply(ApiError{400, R.error().message()});
    What->Asked.push_back(std::move(*R));
  }
  C.Server.post([What] { What->submit(); });
}

void http::completeChat(Call C) {
  Fields F(C.Body);
  ServedModel *M = C.model(F);
  Settings S = settingsOf(F, C.Bounds);
  constexpr int64_t Most = std::numeric_limits<int64_t>::max();
  std::optional<int64_t> Length = F.integer("max_completion_tokens", 1, Most);
  if (std::optional<int64_t> Older = F.integer("max_tokens", 1, Most); !Length)
    Length = Older;
  readChatLogProbabilities(F, C.Bounds, S);
  chat::Conversation Talk = conversationOf(F, C.Bounds);
  if (!readToolChoice(F))
    Talk.Tools = nullptr;
  F.accept("response_format", {{"type", "text"}});
  F.accept("parallel_tool_calls", true);
  F.accept("store", false);
  F.accept("service_tier", "auto");
  F.accept("modalities", Json::array({"text"}));
  if (!M) {
    return C.reply(*F.finish());
  }
  auto What = std::make_shared<Completion>(C, *M, /*IsChat=*/true);
  readCommon(F, *What);
  if (std::optional<ApiError> Wrong = F.finish())
    return C.reply(*Wrong);
  // An answer ends where the model ends it, or its longest sequence.
  S.MaxNewTokens = Length.value_or(M->code().manifest().MaxSequence);
  Result<std::vector<int32_t>> Prompt = M->code().chatPrompt(Talk);
  if (!Prompt)
    return C.reply(ApiError{400, Prompt.error().message(), "messages"});
  What->Tools = Talk.Tools;
  submit(C, What, *M, S, {std::move(*Prompt)});
}

/// "prompt": a text, token ids, or an array of one of them.
static std::vector<std::vector<int32_t>>
promptsOf(Fields &F, const Limits &Bounds, const ServedModel &M) {
  const Json *J = F.get("prompt");
  Json All = !J                               ? Json::array()
             : J->is_string() || isTokens(*J) ? Json::array({*J})
                                              : *J;
  if (!All.is_array() || All.empty() || All.size() > Bounds.Prompts) {
    F.expected("prompt", "a text, token ids, or an array of at most " +
                             std::to_string(Bounds.Prompts) + " of them");
    return {};
  }
  std::vector<std::vector<int32_t>> Prompts;
  for (const Json &Each : All) {
    if (isTokens(Each)) {
      Prompts.push_back(Each.get<std::vector<int32_t>>());
      continue;
    }
    if (!Each.is_string()) {
      F.expected("prompt", "texts, or arrays of token ids");
      return {};
    }
    Result<const tokenizer::Tokenizer *> T = M.code().tokenizer();
    Result<std::vector<int32_t>> Ids =
        T ? (*T)->encode(Each.get_ref<const std::string &>(), true, SIZE_MAX)
          : Result<std::vector<int32_t>>(T.error());
    if (!Ids) {
      F.refuse({400, "'prompt': " + Ids.error().message(), "prompt"});
      return {};
    }
    Prompts.push_back(std::move(*Ids));
  }
  return Prompts;
}

void http::completeText(Call C) {
  Fields F(C.Body);
  ServedModel *M = C.model(F);
  Settings S = settingsOf(F, C.Bounds);
  constexpr int64_t DefaultLength = 16; // OpenAI's.
  S.MaxNewTokens =
      F.integer("max_tokens", 0, std::numeric_limits<int64_t>::max())
          .value_or(DefaultLength);
  S.Echo = F.boolean("echo").value_or(false);
  S.LogProbabilities = F.integer(
      "logprobs", 0, static_cast<int64_t>(C.Bounds.TopLogProbabilities));
  F.accept("best_of", S.Choices);
  F.accept("suffix", "");
  if (!M)
    return C.reply(*F.finish());
  auto What = std::make_shared<Completion>(C, *M, /*IsChat=*/false);
  readCommon(F, *What);
  if (What->Streams && S.Echo && S.LogProbabilities)
    F.refuse({400, "'echo' with 'logprobs' is not for 'stream'", "echo"});
  std::vector<std::vector<int32_t>> Prompts = promptsOf(F, C.Bounds, *M);
  if (std::optional<ApiError> Wrong = F.finish())
    return C.reply(*Wrong);
  submit(C, What, *M, S, std::move(Prompts));
}
