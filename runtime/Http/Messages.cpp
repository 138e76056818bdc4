//===- Messages.cpp - /v1/messages ----------------------------------------===//
//
// Anthropic's Messages API.
//
//===----------------------------------------------------------------------===//

#include "runtime/Http/Conversations.h"
#include "runtime/Http/GenerationTask.h"

#include <limits>
#include <random>

using namespace tenon;
using namespace tenon::http;
using generation::FinishReason;
using tools::AnswerPart;

//===----------------------------------------------------------------------===//
// The answer
//===----------------------------------------------------------------------===//

namespace {

class MessageFormat final : public AnswerFormat {
public:
  std::string begin(const GenerationTask &T) override {
    Json Message = message(T);
    // What the prompt holds is known now; the rest comes at the end.
    Message["usage"]["input_tokens"] = T.requestOf(0).Prompt.size();
    return event("message_start", {{"message", std::move(Message)}});
  }

  std::string add(const GenerationTask &T, ChoiceDelta D) override {
    std::string Events;
    for (const AnswerPart &Part : D.Parts) {
      if (Part.What == AnswerPart::Call) {
        Events += close();
        Events += callEvents(T, Part.Function);
        continue;
      }
      bool IsText = Part.What == AnswerPart::Text;
      if (Open != Part.What) {
        Events += close();
        Events +=
            event("content_block_start",
                  {{"index", Blocks}, {"content_block", block(Part.What, "")}});
        Open = Part.What;
      }
      Json Delta = {{"type", IsText ? "text_delta" : "thinking_delta"}};
      Delta[IsText ? "text" : "thinking"] = Part.Content;
      Events += event("content_block_delta",
                      {{"index", Blocks}, {"delta", std::move(Delta)}});
    }
    return Events;
  }

  std::string end(const GenerationTask &, size_t, const ChoiceEnd &E) override {
    End = E;
    return close();
  }

  std::string finish(const GenerationTask &T) override {
    return event("message_delta",
                 {{"delta", stopJson()}, {"usage", deltaUsage(T.usage())}}) +
           event("message_stop", Json::object());
  }

  std::string fail(const GenerationTask &, const ApiError &Why) override {
    return eventOf("error", Why.anthropicJson());
  }

  Json whole(const GenerationTask &T,
             const std::vector<FinishedChoice> &Choices) override {
    const FinishedChoice &F = Choices.front();
    End = F.End;
    Json Content = Json::array();
    if (!F.Said.Reasoning.empty())
      Content.push_back(block(AnswerPart::Reasoning, F.Said.Reasoning));
    if (!F.Said.Text.empty() || F.Said.Calls.empty())
      Content.push_back(block(AnswerPart::Text, F.Said.Text));
    for (const tools::ToolCall &Call : F.Said.Calls)
      Content.push_back(callBlock(T, Call.Name, argumentsOf(Call)));
    Json J = message(T);
    J["content"] = std::move(Content);
    J.update(stopJson());
    J["usage"] = usage(T.usage());
    return J;
  }

private:
  static Json argumentsOf(const tools::ToolCall &Call) {
    Json Arguments = Json::parse(Call.Arguments, nullptr,
                                 /*allow_exceptions=*/false);
    return Arguments.is_object() ? Arguments : Json::object();
  }

  static std::string event(const char *Type, const Json &Fields) {
    Json J = {{"type", Type}};
    J.update(Fields);
    return eventOf(Type, J);
  }

  /// With the members that are of Anthropic's own services alone, as null.
  static Json deltaUsage(const TokenUsage &U) {
    return {{"input_tokens", U.Prompt - U.Cached},
            {"cache_creation_input_tokens", 0},
            {"cache_read_input_tokens", U.Cached},
            {"output_tokens", U.New},
            {"output_tokens_details", nullptr},
            {"server_tool_use", nullptr}};
  }

  /// A message has more of them than the end of its stream.
  static Json usage(const TokenUsage &U) {
    Json J = deltaUsage(U);
    J.update({{"cache_creation", nullptr},
              {"inference_geo", nullptr},
              {"service_tier", nullptr}});
    return J;
  }

  static Json message(const GenerationTask &T) {
    return {{"id", T.answerId()},       {"type", "message"},
            {"role", "assistant"},      {"model", T.model().Name},
            {"content", Json::array()}, {"stop_reason", nullptr},
            {"stop_sequence", nullptr}, {"stop_details", nullptr},
            {"container", nullptr},     {"usage", usage({})}};
  }

  Json stopJson() const {
    bool IsCut =
        End.Why == FinishReason::Length || End.Why == FinishReason::Context;
    const char *Reason = End.HasCalled    ? "tool_use"
                         : End.StopString ? "stop_sequence"
                         : IsCut          ? "max_tokens"
                                          : "end_turn";
    return {{"stop_reason", Reason},
            {"stop_sequence", End.StopString ? Json(*End.StopString) : Json()}};
  }

  static Json block(AnswerPart::Kind Kind, const std::string &Text) {
    if (Kind == AnswerPart::Reasoning)
      return {{"type", "thinking"}, {"thinking", Text}, {"signature", ""}};
    return {{"type", "text"}, {"text", Text}, {"citations", nullptr}};
  }

  Json callBlock(const GenerationTask &T, const std::string &Name, Json Input) {
    return {{"type", "tool_use"},
            {"id", "toolu_" + T.callId(0, CallCount++)},
            {"name", Name},
            {"input", std::move(Input)},
            {"caller", {{"type", "direct"}}}};
  }

  std::string close() {
    if (!Open)
      return {};
    Open.reset();
    return event("content_block_stop", {{"index", Blocks++}});
  }

  std::string callEvents(const GenerationTask &T, const tools::ToolCall &Call) {
    Json Delta = {{"type", "input_json_delta"},
                  {"partial_json", Call.Arguments}};
    std::string Events =
        event("content_block_start",
              {{"index", Blocks},
               {"content_block", callBlock(T, Call.Name, Json::object())}});
    Events += event("content_block_delta",
                    {{"index", Blocks}, {"delta", std::move(Delta)}});
    Events += event("content_block_stop", {{"index", Blocks++}});
    return Events;
  }

  std::optional<AnswerPart::Kind> Open; ///< The block that is streamed.
  size_t Blocks = 0;                    ///< That have ended.
  size_t CallCount = 0;
  ChoiceEnd End;
};

} // namespace

//===----------------------------------------------------------------------===//
// The request
//===----------------------------------------------------------------------===//

namespace {

/// Makes messages in the form of chat completions.
class MessageReader {
public:
  MessageReader(ImageReader &Images, Fields &F) : Images(Images), F(F) {}

  Json Messages = Json::array();

  void addSystem(const Json &System) {
    if (std::optional<Json> Text = textOf(System, "system", false))
      Messages.push_back({{"role", "system"}, {"content", *Text}});
  }

  void add(const Json &Message, const std::string &Place) {
    Json Role = Message.is_object() ? Message.value("role", Json()) : Json();
    if (Role != "user" && Role != "assistant")
      return refuse("'" + Place + ".role' is " +
                    (Role.is_string() ? printable(Role.get<std::string>())
                                      : jsonKind(Role)) +
                    ": expected \"user\" or \"assistant\"");
    Json Content = Message.value("content", Json());
    if (Content.is_string())
      Content = Json::array({{{"type", "text"}, {"text", Content}}});
    if (!Content.is_array())
      return refuse("'" + Place + ".content' is " + jsonKind(Content) +
                    ": expected a text, or an array of blocks");
    Json To = {{"role", Role}};
    MessageContent Said;
    bool HasOwn = Content.empty();
    for (size_t I = 0; I < Content.size(); ++I)
      HasOwn |= addBlock(Content[I], Place + ".content", I, To, Said);
    To["content"] = Said.json();
    if (HasOwn)
      Messages.push_back(std::move(To));
  }

private:
  void refuse(std::string Message) {
    F.refuse({400, std::move(Message), "messages"});
  }

  /// Adds a block, number `I` of `Place`, to the message `To` and its content;
  /// results of tools become messages of their own. Whether the block is a part
  /// of `To`.
  bool addBlock(const Json &Block, const std::string &Place, size_t I, Json &To,
                MessageContent &Said) {
    std::string At = Place + "[" + std::to_string(I) + "]";
    auto Get = [&](const char *Key) {
      return Block.is_object() ? Block.value(Key, Json()) : Json();
    };
    Json Type = Get("type");
    if (Type == "text" && Get("text").is_string()) {
      Said.addText(Get("text"));
      return true;
    }
    bool MayBeImage = Images.isPossible() && To.at("role") == "user";
    if (Type == "image" && MayBeImage) {
      Said.addImage(Images.ofSource(Block, At, F));
      return true;
    }
    if (Type == "thinking" && Get("thinking").is_string()) {
      To["reasoning_content"] = To.value("reasoning_content", std::string()) +
                                Get("thinking").get<std::string>();
      return true;
    }
    if (Type == "tool_use" && Get("name").is_string() &&
        Get("id").is_string() && Get("input").is_object()) {
      To["tool_calls"].push_back(
          {{"id", Get("id")},
           {"type", "function"},
           {"function", {{"name", Get("name")}, {"arguments", Get("input")}}}});
      return true;
    }
    if (Type == "tool_result" && Get("tool_use_id").is_string()) {
      std::optional<Json> Text =
          Get("content").is_null()
              ? Json("")
              : textOf(Get("content"), At + ".content", MayBeImage);
      if (Text)
        Messages.push_back({{"role", "tool"},
                            {"tool_call_id", Get("tool_use_id")},
                            {"content", *Text}});
      return false;
    }
    refuse("'" + Place + "' has a block " +
           (Type.is_string() ? printable(Type.get<std::string>())
                             : std::string("without a type")) +
           ": expected \"text\", \"thinking\", \"tool_use\" or "
           "\"tool_result\" with all that belongs to it" +
           (MayBeImage            ? ", or \"image\" with its source"
            : Images.isPossible() ? ", for images are in messages of users"
                                  : ", for this model reads texts only"));
    return true;
  }

  /// A text, or an array of blocks of text, and of images where `HasImages`.
  std::optional<Json> textOf(const Json &Content, const std::string &Place,
                             bool HasImages) {
    if (Content.is_string())
      return Content;
    MessageContent Said;
    bool IsGood = Content.is_array();
    for (size_t I = 0; IsGood && I < Content.size(); ++I) {
      const Json &Block = Content[I];
      Json Type = Block.is_object() ? Block.value("type", Json()) : Json();
      if (Type == "text" && Block.value("text", Json()).is_string())
        Said.addText(Block.at("text"));
      else if (Type == "image" && HasImages)
        Said.addImage(
            Images.ofSource(Block, Place + "[" + std::to_string(I) + "]", F));
      else
        IsGood = false;
    }
    if (IsGood)
      return Said.json();
    refuse("'" + Place + "' is " + jsonKind(Content) +
           ": expected a text, or an array of blocks of text" +
           (HasImages ? " and images" : ""));
    return std::nullopt;
  }

  ImageReader &Images;
  Fields &F;
};

} // namespace

/// "tools", in the form of chat completions; null: none.
static Json readMessagesTools(Fields &F, const Limits &Bounds) {
  const Json *Given = F.get("tools");
  if (!Given || (Given->is_array() && Given->empty()))
    return nullptr;
  Json Tools = Json::array();
  bool IsGood = Given->is_array();
  for (const Json &Each : IsGood ? *Given : Json::array()) {
    IsGood &= Each.is_object() && Each.value("name", Json()).is_string() &&
              Each.value("input_schema", Json()).is_object() &&
              Each.value("type", Json("custom")) == "custom";
    if (!IsGood)
      break;
    Json Function = {{"name", Each.at("name")}};
    if (Each.contains("description"))
      Function["description"] = Each.at("description");
    Function["parameters"] = Each.at("input_schema");
    if (Each.contains("strict"))
      Function["strict"] = Each.at("strict");
    Tools.push_back({{"type", "function"}, {"function", std::move(Function)}});
  }
  if (IsGood)
    return checkTools(Tools, Bounds, F) ? Tools : Json();
  F.expected("tools", "an array of objects with a \"name\" and an "
                      "\"input_schema\"");
  return nullptr;
}

/// "tool_choice". `Tools` becomes null where the model is offered none.
static ToolChoice readToolChoice(Fields &F, Json &Tools) {
  ToolChoice Choice;
  const Json *J = F.get("tool_choice");
  if (!J)
    return Choice;
  Fields Inner(*J, "tool_choice.");
  std::string Type = Inner.string("type").value_or("");
  if (Type == "none")
    Tools = nullptr;
  else if (Type == "any")
    Choice.IsForced = true;
  else if (Type == "tool")
    Choice = {true, Inner.string("name").value_or(""), true};
  else if (Type != "auto")
    Inner.expected("type", "\"auto\", \"any\", \"tool\" or \"none\"");
  if (Type == "tool" && Choice.Name.empty())
    Inner.expected("name", "the name of a tool");
  Choice.IsSingle |= Inner.boolean("disable_parallel_tool_use").value_or(false);
  if (std::optional<ApiError> Wrong = Inner.finish())
    F.refuse(*Wrong);
  return Choice;
}

/// What is said, with which tools, and the call that is forced.
static chat::Conversation readConversation(Fields &F, const Call &C,
                                           ImageReader &Images,
                                           ToolChoice &Choice) {
  MessageReader Reader(Images, F);
  if (const Json *System = F.get("system"))
    Reader.addSystem(*System);
  std::string Expected =
      "an array of 1 to " + std::to_string(C.Bounds.Messages) + " messages";
  const Json *Given = F.need("messages", Expected);
  bool IsGood = Given && Given->is_array() && !Given->empty() &&
                Given->size() <= C.Bounds.Messages;
  if (Given && !IsGood)
    F.expected("messages", Expected);
  for (size_t I = 0; IsGood && I < Given->size(); ++I)
    Reader.add((*Given)[I], "messages[" + std::to_string(I) + "]");
  chat::Conversation Talk;
  Talk.Messages = std::move(Reader.Messages);
  Talk.Tools = readMessagesTools(F, C.Bounds);
  Choice = readToolChoice(F, Talk.Tools);
  Talk.NeedsTools = !Choice.IsForced;
  if (const Json *J = F.get("thinking")) {
    Fields Inner(*J, "thinking.");
    Inner.accept("type", "disabled");
    if (std::optional<ApiError> Wrong = Inner.finish())
      F.refuse(*Wrong);
  }
  return Talk;
}

void http::answerMessages(Call C) {
  Fields F(C.Body);
  ServedModel *M = C.generator(F);
  ToolChoice Choice;
  ImageReader Images = C.images(M);
  chat::Conversation Talk = readConversation(F, C, Images, Choice);
  constexpr int64_t Most = std::numeric_limits<int64_t>::max();
  generation::Settings S;
  F.need("max_tokens", wholeNumber(1, Most));
  S.MaxNewTokens = F.integer("max_tokens", 1, Most);
  S.Temperature = F.number("temperature");
  S.TopP = F.number("top_p");
  S.TopK = F.integer("top_k", 0, Most);
  S.Seed = std::random_device{}();
  S.Grammar = constraintWith(Choice, Talk.Tools, nullptr, F, C.Grammars);
  S.StopStrings = F.strings("stop_sequences", C.Bounds.StopStrings,
                            C.Bounds.StopStringBytes);
  if (const Json *J = F.get("metadata")) {
    Fields Inner(*J, "metadata.");
    Inner.string("user_id");
    if (std::optional<ApiError> Wrong = Inner.finish())
      F.refuse(*Wrong);
  }
  F.accept("service_tier", "auto");
  bool Streams = F.boolean("stream").value_or(false);
  if (std::optional<ApiError> Wrong = F.finish())
    return C.reply(*Wrong);
  Json Tools = Talk.Tools;
  hideStrict(Talk.Tools);
  std::vector<generation::PromptImage::Ptr> Seen = Images.takeFor(Talk);
  Result<std::vector<int32_t>> Prompt = M->code().chatPrompt(Talk);
  if (!Prompt)
    return C.reply(ApiError{400, Prompt.error().message(), "messages"});
  auto Task = std::make_shared<GenerationTask>(
      C, *M, std::make_unique<MessageFormat>());
  Task->Streams = Streams;
  Task->Tools = std::move(Tools);
  Task->Calls = std::move(Choice);
  Task->start(S, {std::move(*Prompt)}, std::move(Seen));
}

void http::countMessageTokens(Call C) {
  Fields F(C.Body);
  ServedModel *M = C.generator(F);
  ToolChoice Choice;
  ImageReader Images = C.images(M);
  chat::Conversation Talk = readConversation(F, C, Images, Choice);
  if (std::optional<ApiError> Wrong = F.finish())
    return C.reply(*Wrong);
  hideStrict(Talk.Tools);
  size_t Seen = Images.takeFor(Talk).size();
  Result<std::vector<int32_t>> Prompt = wholePrompt(*M, Talk, Seen);
  if (!Prompt)
    return C.reply(ApiError{400, Prompt.error().message(), "messages"});
  C.reply(Json{{"input_tokens", Prompt->size()}});
}
