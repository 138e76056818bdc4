//===- ContentForm.cpp - How a template reads messages --------------------===//

#include "runtime/Chat/ContentForm.h"

#include <algorithm>
#include <optional>
#include <utility>

using namespace tenon;
using namespace tenon::chat;

/// The prompt of a call of which `Content` is said, or nothing if it has none.
static std::optional<std::string>
promptOfCall(const Template &T,
             const std::map<std::string, std::string> &Tokens, Json Content) {
  Conversation Talk;
  Talk.add("user", "a");
  // Some templates want ids of nine characters.
  Talk.Messages.push_back(
      {{"role", "assistant"},
       {"content", std::move(Content)},
       {"tool_calls",
        Json::array({{{"id", "tenoncall"},
                      {"type", "function"},
                      {"function",
                       {{"name", "f"}, {"arguments", Json::object()}}}}})}});
  Result<std::vector<Piece>> Pieces = T.render(variablesOf(Talk, Tokens));
  return Pieces ? std::optional(joined(*Pieces)) : std::nullopt;
}

/// Whether null is not an error, and not printed, where an empty text is fine.
static bool readsNull(const Template &T,
                      const std::map<std::string, std::string> &Tokens) {
  std::optional<std::string> OfNull = promptOfCall(T, Tokens, nullptr);
  std::optional<std::string> OfEmpty = promptOfCall(T, Tokens, "");
  if (!OfNull || !OfEmpty)
    return !OfEmpty;
  auto Prints = [](const std::string &Prompt, const char *Word) {
    return Prompt.find(Word) != std::string::npos;
  };
  return !Prints(*OfNull, "None") || Prints(*OfEmpty, "None");
}

ContentForm
chat::contentFormOf(const Template &T,
                    const std::map<std::string, std::string> &Tokens,
                    const std::string &ImageToken) {
  const std::string Said = "tenon-content", Key = "tenon-member";
  // A template that prints arrays as they are prints this member too.
  const Json TextPart = {{"type", "text"}, {"text", Said}, {Key, true}};
  auto Rendered = [&](Json Content) -> std::vector<Piece> {
    Conversation Talk;
    Talk.Messages.push_back(
        {{"role", "user"}, {"content", std::move(Content)}});
    Result<std::vector<Piece>> Pieces = T.render(variablesOf(Talk, Tokens));
    return Pieces ? std::move(*Pieces) : std::vector<Piece>();
  };
  auto Has = [](const std::vector<Piece> &Pieces, const std::string &Text) {
    return joined(Pieces).find(Text) != std::string::npos;
  };
  ContentForm Form;
  Form.ReadsNull = readsNull(T, Tokens);
  Form.ReadsText = Has(Rendered(Said), Said);
  std::vector<Piece> OfParts = Rendered(Json::array({TextPart}));
  Form.ReadsParts = Has(OfParts, Said) && !Has(OfParts, Key);
  if (!Form.ReadsText && !Form.ReadsParts)
    Form.ReadsText = true; // What it wants, nobody knows.
  Form.NeedsMarks = !ImageToken.empty();
  if (!Form.ReadsParts || ImageToken.empty())
    return Form;
  std::vector<Piece> WithImage =
      Rendered(Json::array({{{"type", "image"}}, TextPart}));
  std::string OfTemplate;
  for (const Piece &P : WithImage)
    if (P.From == Origin::Template)
      OfTemplate += P.Text;
  Form.ReadsImages = Has(WithImage, Said) && !Has(WithImage, Key) &&
                     !Has(OfParts, ImageToken) &&
                     OfTemplate.find(ImageToken) != std::string::npos;
  Form.NeedsMarks = !Form.ReadsImages;
  return Form;
}

static bool isImage(const Json &Part) {
  return Part.is_object() && Part.value("type", Json()) == "image";
}

/// A text that is nowhere in the conversation.
static std::string unusedMark(const Conversation &Talk) {
  std::string All;
  for (const Json *Each : {&Talk.Messages, &Talk.Tools, &Talk.Others})
    All += Each->dump(-1, ' ', false, Json::error_handler_t::replace);
  for (size_t Number = 0;; ++Number)
    if (std::string Mark = "[[image " + std::to_string(Number) + "]]";
        All.find(Mark) == std::string::npos)
      return Mark;
}

std::string chat::fitContent(Conversation &Talk, const ContentForm &Form) {
  std::string Mark;
  for (Json &Message : Talk.Messages) {
    if (!Form.ReadsNull && Message.value("content", Json()).is_null())
      Message["content"] = Form.ReadsText ? Json("") : Json::array();
    auto At = Message.find("content");
    if (At == Message.end())
      continue;
    bool HasImage = At->is_array() && Form.NeedsMarks &&
                    std::any_of(At->begin(), At->end(), isImage);
    if (HasImage) {
      if (Mark.empty())
        Mark = unusedMark(Talk);
      std::string Images, Text;
      for (const Json &Part : *At) {
        if (isImage(Part))
          Images += Mark;
        else if (Part.is_object())
          Text += Part.value("text", std::string());
      }
      *At = Images + Text;
    }
    if (!Form.ReadsText && At->is_string())
      *At = Json::array({{{"type", "text"}, {"text", *At}}});
  }
  return Mark;
}

/// Calls `Take` with the arguments of each call that has some, and the numbers
/// of its message and of the call in it.
template <typename Function>
static void forEachArguments(Json &Messages, Function &&Take) {
  for (size_t I = 0; I < Messages.size(); ++I) {
    auto Calls = Messages[I].find("tool_calls");
    if (Calls == Messages[I].end() || !Calls->is_array())
      continue;
    for (size_t K = 0; K < Calls->size(); ++K) {
      Json &Call = (*Calls)[K];
      if (Call.is_object() && Call.contains("function") &&
          Call.at("function").is_object() &&
          Call.at("function").contains("arguments"))
        Take(Call["function"]["arguments"], I, K);
    }
  }
}

void chat::parseArguments(Conversation &Talk) {
  forEachArguments(Talk.Messages, [](Json &Arguments, size_t, size_t) {
    if (!Arguments.is_string())
      return;
    const auto &Text = Arguments.get_ref<const std::string &>();
    if (Text.empty())
      Arguments = Json::object();
    else if (Result<Json> Parsed = parseJson(Text, "the arguments"))
      Arguments = std::move(*Parsed);
  });
}

/// Puts empty objects in the place of arguments that are none. The name and
/// the value of the first; nothing where all are.
static std::optional<std::pair<std::string, Json>>
withoutOtherArguments(Conversation &Talk) {
  std::optional<std::pair<std::string, Json>> First;
  forEachArguments(Talk.Messages, [&](Json &Arguments, size_t I, size_t K) {
    if (Arguments.is_object())
      return;
    Json Given = std::exchange(Arguments, Json::object());
    if (First)
      return;
    auto Name = Talk.ArgumentNames.find({I, K});
    First = {Name != Talk.ArgumentNames.end()
                 ? Name->second
                 : "messages[" + std::to_string(I) + "].tool_calls[" +
                       std::to_string(K) + "].function.arguments",
             std::move(Given)};
  });
  return First;
}

Error chat::whyNoPrompt(const Template &T,
                        const std::map<std::string, std::string> &Tokens,
                        Conversation Talk, const Error &Failure) {
  auto Wrong = withoutOtherArguments(Talk);
  if (!Wrong || !T.render(variablesOf(Talk, Tokens)))
    return Failure;
  auto &[Place, Given] = *Wrong;
  std::string Text =
      Given.is_string()
          ? Given.get<std::string>()
          : Given.dump(-1, ' ', false, Json::error_handler_t::replace);
  return Error("'" + Place + "' is " + printable(Text) +
               ": expected a JSON object, for the chat template reads one");
}

std::vector<Piece> chat::withImageTokens(std::vector<Piece> Prompt,
                                         std::string_view Mark,
                                         const std::string &ImageToken) {
  std::vector<Piece> Whole;
  auto Add = [&](std::string_view Text, Origin From) {
    if (Text.empty())
      return;
    if (!Whole.empty() && Whole.back().From == From)
      Whole.back().Text += Text;
    else
      Whole.push_back({std::string(Text), From});
  };
  for (const Piece &P : Prompt) {
    std::string_view Left = P.Text;
    for (size_t At; P.From == Origin::User &&
                    (At = Left.find(Mark)) != std::string_view::npos;) {
      Add(Left.substr(0, At), P.From);
      Add(ImageToken + "\n", Origin::Template);
      Left.remove_prefix(At + Mark.size());
    }
    Add(Left, P.From);
  }
  return Whole;
}
