//===- Responses.cpp - /v1/responses --------------------------------------===//
//
// OpenAI's Responses API without what it stores: each request brings its whole
// conversation.
//
//===----------------------------------------------------------------------===//

#include "runtime/Http/Conversations.h"
#include "runtime/Http/OpenAiFields.h"

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

class ResponseFormat final : public AnswerFormat {
public:
  /// What the answer repeats of the request.
  Json Echo = Json::object();

  std::string begin(const GenerationTask &T) override {
    Json R = response(T, "in_progress");
    std::string Events = event("response.created", {{"response", R}});
    Events += event("response.in_progress", {{"response", R}});
    return Events;
  }

  std::string add(const GenerationTask &T, ChoiceDelta D) override {
    std::string Events;
    for (const AnswerPart &Part : D.Parts) {
      if (Part.What == AnswerPart::Call) {
        Events += closeItem();
        Events += callEvents(T, Part.Function);
        continue;
      }
      if (Open != Part.What) {
        Events += closeItem();
        Events += openItem(T, Part.What);
      }
      Text += Part.Content;
      Json Delta = {{"item_id", ItemId},
                    {"output_index", Items.size()},
                    {"content_index", 0},
                    {"delta", Part.Content}};
      if (Part.What == AnswerPart::Text)
        Delta["logprobs"] = Json::array();
      Events += event(deltaName("delta"), std::move(Delta));
    }
    return Events;
  }

  std::string end(const GenerationTask &T, size_t,
                  const ChoiceEnd &E) override {
    End = E;
    std::string Events = closeItem();
    if (Items.empty()) { // An answer without a text is one with an empty text.
      Events += openItem(T, AnswerPart::Text);
      Events += closeItem();
    }
    return Events;
  }

  std::string finish(const GenerationTask &T) override {
    std::string Status = statusOf(End);
    return event("response." + Status, {{"response", response(T, Status)}});
  }

  std::string fail(const GenerationTask &T, const ApiError &Why) override {
    Json R = response(T, "failed");
    R["error"] = {{"code", "server_error"}, {"message", Why.Message}};
    return event("response.failed", {{"response", std::move(R)}});
  }

  Json whole(const GenerationTask &T,
             const std::vector<FinishedChoice> &Choices) override {
    const FinishedChoice &F = Choices.front();
    End = F.End;
    bool EndsInReasoning = F.Said.Text.empty() && F.Said.Calls.empty();
    if (!F.Said.Reasoning.empty())
      Items.push_back(item(T, AnswerPart::Reasoning, F.Said.Reasoning,
                           EndsInReasoning ? itemStatus() : "completed"));
    if (!F.Said.Text.empty() || (EndsInReasoning && Items.empty()))
      Items.push_back(item(T, AnswerPart::Text, F.Said.Text, itemStatus()));
    for (const tools::ToolCall &Call : F.Said.Calls)
      Items.push_back(callItem(T, Call, Call.Arguments, "completed"));
    return response(T, statusOf(End));
  }

private:
  static bool isCut(const ChoiceEnd &E) {
    return E.Why == FinishReason::Length || E.Why == FinishReason::Context;
  }
  static std::string statusOf(const ChoiceEnd &E) {
    return isCut(E) ? "incomplete" : "completed";
  }
  const char *itemStatus() const {
    return isCut(End) ? "incomplete" : "completed";
  }

  std::string event(const std::string &Type, Json Fields) {
    Json J = {{"type", Type}, {"sequence_number", Sequence++}};
    J.update(Fields);
    return eventOf(Type, J);
  }

  std::string deltaName(const char *What) const {
    return std::string(Open == AnswerPart::Text ? "response.output_text."
                                                : "response.reasoning_text.") +
           What;
  }

  static Json part(AnswerPart::Kind Kind, const std::string &Content) {
    if (Kind == AnswerPart::Reasoning)
      return {{"type", "reasoning_text"}, {"text", Content}};
    return {{"type", "output_text"},
            {"text", Content},
            {"annotations", Json::array()},
            {"logprobs", Json::array()}};
  }

  std::string newId(const GenerationTask &T, const char *Prefix) const {
    return Prefix + T.id() + "-" + std::to_string(Items.size());
  }

  Json item(const GenerationTask &T, AnswerPart::Kind Kind,
            const std::optional<std::string> &Content, const char *Status) {
    bool IsText = Kind == AnswerPart::Text;
    Json J = {{"id", newId(T, IsText ? "msg_" : "rs_")},
              {"type", IsText ? "message" : "reasoning"},
              {"status", Status}};
    if (IsText)
      J["role"] = "assistant";
    else
      J["summary"] = Json::array();
    J["content"] = Json::array();
    if (Content)
      J["content"].push_back(part(Kind, *Content));
    return J;
  }

  Json callItem(const GenerationTask &T, const tools::ToolCall &Call,
                const std::string &Arguments, const char *Status) {
    return {{"id", newId(T, "fc_")}, {"type", "function_call"},
            {"status", Status},      {"call_id", T.callId(0, CallCount++)},
            {"name", Call.Name},     {"arguments", Arguments}};
  }

  std::string openItem(const GenerationTask &T, AnswerPart::Kind Kind) {
    Open = Kind;
    Text.clear();
    OpenItem = item(T, Kind, std::nullopt, "in_progress");
    ItemId = OpenItem.at("id");
    std::string Events =
        event("response.output_item.added",
              {{"output_index", Items.size()}, {"item", OpenItem}});
    Events +=
        event("response.content_part.added", {{"item_id", ItemId},
                                              {"output_index", Items.size()},
                                              {"content_index", 0},
                                              {"part", part(Kind, "")}});
    return Events;
  }

  std::string closeItem() {
    if (!Open)
      return {};
    Json Place = {{"item_id", ItemId},
                  {"output_index", Items.size()},
                  {"content_index", 0}};
    Json Done = Place, Part = Place;
    Done["text"] = Text;
    if (Open == AnswerPart::Text)
      Done["logprobs"] = Json::array();
    Part["part"] = part(*Open, Text);
    // Each numbers itself.
    std::string Events = event(deltaName("done"), std::move(Done));
    Events += event("response.content_part.done", std::move(Part));
    OpenItem["status"] = itemStatus();
    OpenItem["content"].push_back(part(*Open, Text));
    Events += event("response.output_item.done",
                    {{"output_index", Items.size()}, {"item", OpenItem}});
    Items.push_back(std::move(OpenItem));
    Open.reset();
    return Events;
  }

  std::string callEvents(const GenerationTask &T, const tools::ToolCall &Call) {
    Json J = callItem(T, Call, "", "in_progress");
    Json Place = {{"item_id", J.at("id")}, {"output_index", Items.size()}};
    std::string Events = event("response.output_item.added",
                               {{"output_index", Items.size()}, {"item", J}});
    Json Delta = Place, Done = Place;
    Delta["delta"] = Call.Arguments;
    Done["name"] = Call.Name;
    Done["arguments"] = Call.Arguments;
    Events += event("response.function_call_arguments.delta", std::move(Delta));
    Events += event("response.function_call_arguments.done", std::move(Done));
    J["status"] = "completed";
    J["arguments"] = Call.Arguments;
    Events += event("response.output_item.done",
                    {{"output_index", Items.size()}, {"item", J}});
    Items.push_back(std::move(J));
    return Events;
  }

  Json response(const GenerationTask &T, const std::string &Status) const {
    bool IsRunning = Status == "in_progress";
    Json J = {{"id", T.answerId()},
              {"object", "response"},
              {"created_at", T.created()},
              {"completed_at",
               Status == "completed" ? Json(T.completionTime()) : Json()},
              {"status", Status},
              {"incomplete_details", nullptr},
              {"model", T.model().Name},
              {"previous_response_id", nullptr},
              {"output", Items},
              {"error", nullptr},
              {"usage", nullptr},
              {"store", false},
              {"background", false}};
    if (Status == "incomplete")
      J["incomplete_details"] = {{"reason", "max_output_tokens"}};
    J.update(Echo);
    // Where the request has none, the model's.
    const sampling::SamplingOptions &How = T.requestOf(0).How.Sampling;
    J["temperature"] = How.Temperature;
    J["top_p"] = How.TopP;
    if (IsRunning || Status == "failed")
      return J;
    TokenUsage U = T.usage();
    J["usage"] = {
        {"input_tokens", U.Prompt},
        {"input_tokens_details",
         {{"cache_write_tokens", 0}, {"cached_tokens", U.Cached}}},
        {"output_tokens", U.New},
        {"output_tokens_details", {{"reasoning_tokens", U.Reasoning}}},
        {"total_tokens", U.Prompt + U.New}};
    return J;
  }

  Json Items = Json::array(); ///< That have ended.
  /// The item that is being streamed, if there is one.
  std::optional<AnswerPart::Kind> Open;
  Json OpenItem;
  std::string ItemId, Text;
  size_t CallCount = 0;
  int64_t Sequence = 0;
  ChoiceEnd End;
};

} // namespace

//===----------------------------------------------------------------------===//
// The request
//===----------------------------------------------------------------------===//

namespace {

/// Makes messages in the form of chat completions of "input", item by item. The
/// items of one turn of the model are one message: its reasoning is joined, and
/// its calls stand behind its text.
class InputReader {
public:
  InputReader(chat::Conversation &Talk, ImageReader &Images, Fields &F)
      : Talk(Talk), Images(Images), F(F) {}

  void add(const Json &Item, const std::string &Place);
  void finish() { addReasoning(); }

private:
  void refuse(std::string Message) {
    F.refuse({400, std::move(Message), "input"});
  }
  std::string string(const Json &Item, const char *Key,
                     const std::string &Place);
  Json contentOf(const Json &Item, const char *Key, const std::string &Place,
                 bool HasImages);
  void addReasoning();
  Json &turn();

  chat::Conversation &Talk;
  ImageReader &Images;
  Fields &F;
  std::string Reasoning; ///< That is in no message yet.
};

} // namespace

/// A member that must be a string.
std::string InputReader::string(const Json &Item, const char *Key,
                                const std::string &Place) {
  if (auto At = Item.find(Key); At != Item.end() && At->is_string())
    return At->get<std::string>();
  refuse("'" + Place + "." + Key + "' is " +
         (Item.contains(Key) ? jsonKind(Item.at(Key)) : "missing") +
         ": expected a string");
  return {};
}

/// "content" or "output": a string, or an array of texts, and of images where
/// `HasImages`.
Json InputReader::contentOf(const Json &Item, const char *Key,
                            const std::string &Place, bool HasImages) {
  auto At = Item.find(Key);
  if (At != Item.end() && At->is_string())
    return *At;
  HasImages &= Images.isPossible();
  if (At == Item.end() || !At->is_array()) {
    refuse("'" + Place + "." + Key + "' is " +
           (At == Item.end() ? "missing" : jsonKind(*At)) +
           ": expected a text, or an array of texts");
    return "";
  }
  MessageContent Content;
  for (size_t I = 0; I < At->size(); ++I) {
    const Json &Part = (*At)[I];
    std::string Type =
        Part.is_object() && Part.contains("type") && Part.at("type").is_string()
            ? Part.at("type").get<std::string>()
            : "";
    if (Type == "input_image" && HasImages) {
      Content.addImage(Images.ofImageUrl(
          Part, Place + "." + Key + "[" + std::to_string(I) + "]", F));
      continue;
    }
    if ((Type != "input_text" && Type != "output_text" && Type != "text") ||
        !Part.contains("text") || !Part.at("text").is_string()) {
      refuse("'" + Place + "." + Key + "' has " +
             (Type.empty() ? jsonKind(Part) : printable(Type)) +
             ": expected \"input_text\" or \"output_text\" with a "
             "\"text\"" +
             (HasImages ? ", or \"input_image\" with an \"image_url\""
              : Images.isPossible() ? ", for images are in messages of users"
                                    : ", for this model reads texts only"));
      return "";
    }
    Content.addText(Part.at("text"));
  }
  return Content.json();
}

/// The message of the model's turn that goes on, or begins here.
Json &InputReader::turn() {
  if (Talk.Messages.empty() || Talk.Messages.back().at("role") != "assistant")
    Talk.Messages.push_back({{"role", "assistant"}, {"content", ""}});
  return Talk.Messages.back();
}

/// Gives the turn the reasoning that stands in it.
void InputReader::addReasoning() {
  if (Reasoning.empty())
    return;
  Json &Message = turn();
  Message["reasoning_content"] =
      Message.value("reasoning_content", std::string()) +
      std::exchange(Reasoning, {});
}

void InputReader::add(const Json &Item, const std::string &Place) {
  std::string Type =
      Item.contains("type") ? string(Item, "type", Place) : "message";
  if (Type == "message") {
    std::string Role = string(Item, "role", Place);
    Json Message = {
        {"role", Role},
        {"content", contentOf(Item, "content", Place, Role == "user")}};
    if (Role != "assistant")
      addReasoning();
    Talk.Messages.push_back(std::move(Message));
    addReasoning();
  } else if (Type == "reasoning") {
    const Json &Parts =
        Item.contains("content") && Item.at("content").is_array()
            ? Item.at("content")
            : Json::array();
    for (const Json &Part : Parts)
      if (Part.is_object() && Part.contains("text") &&
          Part.at("text").is_string())
        Reasoning += Part.at("text").get_ref<const std::string &>();
  } else if (Type == "function_call") {
    Json Call = {{"id", string(Item, "call_id", Place)},
                 {"type", "function"},
                 {"function",
                  {{"name", string(Item, "name", Place)},
                   {"arguments", string(Item, "arguments", Place)}}}};
    addReasoning();
    Json &Calls = turn()["tool_calls"];
    Talk.ArgumentNames[{Talk.Messages.size() - 1, Calls.size()}] =
        Place + ".arguments";
    Calls.push_back(std::move(Call));
  } else if (Type == "function_call_output") {
    addReasoning();
    Talk.Messages.push_back(
        {{"role", "tool"},
         {"tool_call_id", string(Item, "call_id", Place)},
         {"content", contentOf(Item, "output", Place, true)}});
  } else {
    refuse("'" + Place + ".type' is " + printable(Type) +
           ": expected \"message\", \"reasoning\", \"function_call\" or "
           "\"function_call_output\"");
  }
}

/// "instructions" and "input".
static chat::Conversation readResponsesInput(Fields &F, const Limits &Bounds,
                                             ImageReader &Images) {
  chat::Conversation Talk;
  if (std::optional<std::string> System = F.string("instructions"))
    Talk.add("system", *System);
  std::string Expected = "a text, or an array of at most " +
                         std::to_string(Bounds.Messages) + " items";
  const Json *Input = F.need("input", Expected);
  if (!Input)
    return Talk;
  if (Input->is_string()) {
    Talk.add("user", *Input);
    return Talk;
  }
  if (!Input->is_array() || Input->empty() || Input->size() > Bounds.Messages) {
    F.expected("input", Expected);
    return Talk;
  }
  InputReader Reader(Talk, Images, F);
  for (size_t I = 0; I < Input->size(); ++I) {
    const Json &Item = (*Input)[I];
    std::string Place = "input[" + std::to_string(I) + "]";
    if (!Item.is_object()) {
      F.refuse({400,
                "'" + Place + "' is " + jsonKind(Item) + ": expected an object",
                "input"});
      break;
    }
    Reader.add(Item, Place);
  }
  Reader.finish();
  return Talk;
}

/// "tools", in the form of chat completions; null: none.
static Json readResponsesTools(Fields &F, const Limits &Bounds) {
  const Json *Given = F.get("tools");
  if (!Given || (Given->is_array() && Given->empty()))
    return nullptr;
  if (!Given->is_array()) {
    F.expected("tools", "an array of functions");
    return nullptr;
  }
  Json Tools = Json::array();
  for (const Json &Each : *Given) {
    if (!Each.is_object() || Each.value("type", Json()) != "function" ||
        !Each.value("name", Json()).is_string()) {
      F.refuse({400,
                "'tools[" + std::to_string(Tools.size()) +
                    "]' is no function: expected {\"type\": \"function\", "
                    "\"name\": ..., \"parameters\": ...}",
                "tools"});
      return nullptr;
    }
    Json Function = Each;
    Function.erase("type");
    Tools.push_back({{"type", "function"}, {"function", std::move(Function)}});
  }
  if (!checkTools(Tools, Bounds, F))
    return nullptr;
  return Tools;
}

/// "reasoning".
static void readReasoning(Fields &F, const ServedModel &M,
                          chat::Conversation &Talk) {
  const Json *J = F.get("reasoning");
  if (!J)
    return;
  Fields Inner(*J, "reasoning.");
  Inner.accept("summary", nullptr);
  Inner.accept("generate_summary", nullptr);
  readEffort(Inner, "effort", M, Talk);
  if (std::optional<ApiError> Wrong = Inner.finish())
    F.refuse(*Wrong);
}

/// "text": the format of the answer.
static grammar::Grammar::Ptr readTextFormat(Fields &F, GrammarCache &Known) {
  grammar::Grammar::Ptr G;
  const Json *J = F.get("text");
  if (!J)
    return G;
  Fields Inner(*J, "text.");
  if (const Json *Format = Inner.get("format"))
    G = constraintOf(*Format, "text.format", /*IsFlat=*/true, F, Known);
  Inner.accept("verbosity", "medium");
  if (std::optional<ApiError> Wrong = Inner.finish())
    F.refuse(*Wrong);
  return G;
}

/// The tools as the answer repeats them: with each member that there can be.
static Json shownTools(const Json &Body) {
  Json Tools = Json::array();
  if (auto At = Body.find("tools"); At != Body.end() && At->is_array())
    for (Json Tool : *At) {
      for (const char *Key : {"description", "parameters", "strict"})
        if (!Tool.contains(Key))
          Tool[Key] = nullptr;
      Tools.push_back(std::move(Tool));
    }
  return Tools;
}

void http::respond(Call C) {
  Fields F(C.Body);
  ServedModel *M = C.generator(F);
  generation::Settings S;
  std::optional<int64_t> Length =
      F.integer("max_output_tokens", 1, std::numeric_limits<int64_t>::max());
  S.Temperature = F.number("temperature");
  S.TopP = F.number("top_p");
  S.PresencePenalty = F.number("presence_penalty").value_or(0);
  S.FrequencyPenalty = F.number("frequency_penalty").value_or(0);
  S.Seed = F.seed("seed").value_or(std::random_device{}());
  ImageReader Images = C.images(M);
  chat::Conversation Talk = readResponsesInput(F, C.Bounds, Images);
  Talk.Tools = readResponsesTools(F, C.Bounds);
  ToolChoice Choice = readToolChoice(F, /*IsFlat=*/true, Talk.Tools);
  Talk.NeedsTools = !Choice.IsForced;
  S.Grammar = constraintWith(Choice, Talk.Tools, readTextFormat(F, C.Grammars),
                             F, C.Grammars);
  RequestLabels Labels = readLabels(F);
  F.accept("background", false);
  F.accept("truncation", "disabled");
  F.accept("include", Json::array());
  F.accept("top_logprobs", 0);
  F.accept("previous_response_id", nullptr);
  F.accept("conversation", nullptr);
  F.accept("max_tool_calls", nullptr);
  F.accept("prompt", nullptr);
  if (const Json *J = F.get("stream_options")) {
    Fields Inner(*J, "stream_options.");
    Inner.accept("include_obfuscation", false);
    if (std::optional<ApiError> Wrong = Inner.finish())
      F.refuse(*Wrong);
  }
  bool Streams = F.boolean("stream").value_or(false);
  if (!M)
    return C.reply(*F.finish());
  readReasoning(F, *M, Talk);
  fitRoles(Talk, *M);
  if (std::optional<ApiError> Wrong = F.finish())
    return C.reply(*Wrong);
  Json Tools = Talk.Tools;
  hideStrict(Talk.Tools);
  std::vector<generation::PromptImage::Ptr> Seen = Images.takeFor(Talk);
  Result<std::vector<int32_t>> Prompt = M->code().chatPrompt(Talk);
  if (!Prompt)
    return C.reply(ApiError{400, Prompt.error().message(), "input"});

  auto Format = std::make_unique<ResponseFormat>();
  auto Given = [&](const char *Member, Json Default) {
    auto At = C.Body.find(Member);
    return At == C.Body.end() || At->is_null() ? Default : *At;
  };
  auto OrNull = [](const std::optional<std::string> &Text) {
    return Text ? Json(*Text) : Json();
  };
  Format->Echo = {{"instructions", Given("instructions", nullptr)},
                  {"max_output_tokens", Given("max_output_tokens", nullptr)},
                  {"max_tool_calls", nullptr},
                  {"metadata", std::move(Labels.Metadata)},
                  {"parallel_tool_calls", Given("parallel_tool_calls", true)},
                  {"presence_penalty", S.PresencePenalty},
                  {"frequency_penalty", S.FrequencyPenalty},
                  {"prompt_cache_key", OrNull(Labels.CacheKey)},
                  {"reasoning", Given("reasoning", {{"effort", nullptr},
                                                    {"summary", nullptr}})},
                  {"safety_identifier", OrNull(Labels.Safety)},
                  {"service_tier", "default"},
                  {"text", Given("text", {{"format", {{"type", "text"}}}})},
                  {"tool_choice", Given("tool_choice", "auto")},
                  {"tools", shownTools(C.Body)},
                  {"top_logprobs", 0},
                  {"truncation", "disabled"}};
  auto Task = std::make_shared<GenerationTask>(C, *M, std::move(Format));
  Task->Streams = Streams;
  Task->Tools = std::move(Tools);
  Task->Calls = std::move(Choice);
  S.MaxNewTokens = Length.value_or(M->code().manifest().MaxSequence);
  Task->start(S, {std::move(*Prompt)}, std::move(Seen));
}
