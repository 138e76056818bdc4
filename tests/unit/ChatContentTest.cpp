//===- ChatContentTest.cpp - How templates read content -------------------===//

#include "runtime/Chat/ContentForm.h"
#include "tests/unit/ChatTestSupport.h"

using namespace tenon;
using namespace tenon::chat;

namespace {

/// Texts only.
constexpr const char *TextsOnly =
    "{% for m in messages %}{{ m['role'] }}: {{ m['content'] | trim }}\n"
    "{% endfor %}";
/// Arrays only, images first, as many models of images have it.
constexpr const char *ImagesFirst =
    "{% for m in messages %}{{ m['role'].upper() + ': ' }}"
    "{% for p in m['content'] | selectattr('type', 'equalto', 'image') %}"
    "{{ '<image>\n' }}{% endfor %}"
    "{% if m['role'] != 'assistant' %}"
    "{% for p in m['content'] | selectattr('type', 'equalto', 'text') %}"
    "{{ p['text'] + ' ' }}{% endfor %}{% else %}"
    "{% for p in m['content'] | selectattr('type', 'equalto', 'text') %}"
    "{% generation %}{{ p['text'] + ' ' }}{% endgeneration %}{% endfor %}"
    "{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'ASSISTANT:' }}{% endif %}";
/// Both, in their order.
constexpr const char *Both =
    "{% for m in messages %}{% if m.content is string %}{{ m.content }}"
    "{% else %}{% for p in m.content %}{% if p.type == 'image' %}[<image>]"
    "{% elif 'text' in p %}{{ p.text }}{% endif %}{% endfor %}{% endif %}|"
    "{% endfor %}";
/// Both, but no images.
constexpr const char *TextParts =
    "{% for m in messages %}{% if m.content is string %}{{ m.content }}"
    "{% else %}{% for p in m.content %}{% if p.type == 'text' %}{{ p.text }}"
    "{% endif %}{% endfor %}{% endif %}|{% endfor %}";

Template parsedTemplate(const char *Source) {
  Result<Template> T = Template::parse(Source);
  EXPECT_TRUE(T) << T.error().message();
  return std::move(*T);
}

/// The prompt of `Messages`, the user's pieces in brackets.
std::string prompt(const char *Source, const Json &Messages,
                   const std::string &ImageToken = "<image>") {
  Template T = parsedTemplate(Source);
  Conversation Talk;
  Talk.Messages = Messages;
  std::string Mark = fitContent(Talk, contentFormOf(T, {}, ImageToken));
  Result<std::vector<Piece>> Pieces = T.render(variablesOf(Talk, {}));
  if (!Pieces)
    return Pieces.error().message();
  if (!Mark.empty())
    *Pieces = withImageTokens(std::move(*Pieces), Mark, ImageToken);
  return marked(*Pieces);
}

Json user(Json Content) {
  return Json::array({{{"role", "user"}, {"content", std::move(Content)}}});
}

const Json AnImage = {{"type", "image"}};
Json text(const std::string &Text) {
  return {{"type", "text"}, {"text", Text}};
}

TEST(ChatContentTest, NamesArgumentsThatAreNoObjects) {
  Template T = parsedTemplate(
      "{% for m in messages %}{% for c in m.tool_calls %}"
      "{% for name, value in c.function.arguments | items %}"
      "{{ name }}={{ value }};{% endfor %}{% endfor %}{% endfor %}"
      "{% if messages[0].role == 'b' %}{{ raise_exception('no b') }}"
      "{% endif %}");
  Conversation Talk;
  auto ErrorOf = [&](const char *Role, Json First, Json Second) {
    Talk.Messages = Json::array({{{"role", Role}}});
    auto Call = [](Json Arguments) {
      return Json{{"function", {{"arguments", std::move(Arguments)}}}};
    };
    Talk.Messages.push_back(
        {{"role", "assistant"},
         {"tool_calls",
          Json::array({Call(std::move(First)), Call(std::move(Second))})}});
    Result<std::vector<Piece>> Pieces = T.render(variablesOf(Talk, {}));
    return Pieces ? joined(*Pieces)
                  : whyNoPrompt(T, {}, Talk, Pieces.error()).message();
  };
  Json Good = {{"x", 1}};
  EXPECT_EQ(ErrorOf("a", Good, Good), "x=1;x=1;");
  EXPECT_EQ(ErrorOf("a", Good, "{\"x\": "),
            "'messages[1].tool_calls[1].function.arguments' is '{\"x\": ': "
            "expected a JSON object, for the chat template reads one");
  EXPECT_EQ(ErrorOf("a", {1, 2}, Good),
            "'messages[1].tool_calls[0].function.arguments' is '[1,2]': "
            "expected a JSON object, for the chat template reads one");
  // By the name that its client gave.
  Talk.ArgumentNames[{1, 0}] = "input[3].arguments";
  EXPECT_EQ(ErrorOf("a", "no", Good),
            "'input[3].arguments' is 'no': expected a JSON object, for the "
            "chat template reads one");
  Talk.ArgumentNames.clear();
  // Another error is told as it is.
  EXPECT_NE(ErrorOf("b", Good, Good).find("no b"), std::string::npos);
  EXPECT_EQ(ErrorOf("b", Good, "").find("expected a JSON"), std::string::npos);
}

TEST(ChatContentTest, ParsesArguments) {
  auto Parsed = [](Json Arguments) {
    Conversation Talk;
    Talk.Messages = {
        {{"role", "assistant"},
         {"tool_calls",
          Json::array({{{"function", {{"arguments", Arguments}}}}})}}};
    parseArguments(Talk);
    return Talk.Messages[0]["tool_calls"][0]["function"]["arguments"];
  };
  Json Good = {{"x", 1}};
  EXPECT_EQ(Parsed(Good), Good);
  EXPECT_EQ(Parsed("{\"x\": 1}"), Good);
  EXPECT_EQ(Parsed(""), Json::object());
  EXPECT_EQ(Parsed("{\"x\": "), "{\"x\": ");
  // What has no calls, or none that it can read, stays as it is.
  Conversation Talk;
  Talk.Messages = Json::parse(R"([{"role": "a"}, {"tool_calls": null},
      {"tool_calls": ["{}", {"function": "{}"}, {"function": {}}]}])");
  Json Before = Talk.Messages;
  parseArguments(Talk);
  EXPECT_EQ(Talk.Messages, Before);
}

TEST(ChatContentTest, Forms) {
  auto FormOf = [](const char *Source, const std::string &ImageToken) {
    ContentForm F = contentFormOf(parsedTemplate(Source), {}, ImageToken);
    return std::string(F.ReadsText ? "text " : "") +
           (F.ReadsParts ? "parts " : "") + (F.ReadsImages ? "images " : "") +
           (F.NeedsMarks ? "marks " : "");
  };
  EXPECT_EQ(FormOf(TextsOnly, "<image>"), "text marks ");
  EXPECT_EQ(FormOf(TextsOnly, ""), "text ");
  EXPECT_EQ(FormOf(ImagesFirst, "<image>"), "parts images ");
  EXPECT_EQ(FormOf(ImagesFirst, "<other>"), "parts marks ");
  EXPECT_EQ(FormOf(ImagesFirst, ""), "parts ");
  EXPECT_EQ(FormOf(Both, "<image>"), "text parts images ");
  EXPECT_EQ(FormOf(TextParts, "<image>"), "text parts marks ");
  // What is printed as it is, is not read.
  EXPECT_EQ(FormOf("{{ messages[0]['content'] }}", "<image>"), "text marks ");
  EXPECT_EQ(FormOf("{{ messages | tojson }}", "image"), "text marks ");
  // Nobody can say.
  EXPECT_EQ(FormOf("{{ raise_exception('no') }}", "<image>"), "text marks ");
  // The token is there in any case.
  EXPECT_EQ(FormOf("<image>{% for p in messages[0]['content'] %}{{ p.text }}"
                   "{% endfor %}",
                   "<image>"),
            "parts marks ");
}

TEST(ChatContentTest, TextsAreWhatTheTemplateReads) {
  EXPECT_EQ(prompt(TextsOnly, user("a")), "user: [a]\n");
  EXPECT_EQ(prompt(ImagesFirst, user("a")), "USER: [a] ASSISTANT:");
  EXPECT_EQ(prompt(ImagesFirst, user(nullptr)), "USER: ASSISTANT:");
  EXPECT_EQ(prompt(ImagesFirst, user(""), ""), "USER:  ASSISTANT:");
  EXPECT_EQ(prompt(Both, user("a")), "[a]|");
}

TEST(ChatContentTest, NullIsEmptyWhereItCannotBeRead) {
  Json Message = {{"role", "assistant"}, {"content", nullptr}};
  Json Null = Json::array({Message});
  Message.erase("content");
  Json None = Json::array({Message});
  for (const Json &Messages : {Null, None}) {
    // An error: null is no text.
    EXPECT_EQ(prompt("{% for m in messages %}{{ '<' + m['content'] + '>' }}"
                     "{% endfor %}",
                     Messages),
              "<>");
    EXPECT_EQ(prompt(TextsOnly, Messages), "assistant: \n"); // not "None"
    EXPECT_EQ(prompt(ImagesFirst, Messages), "ASSISTANT: ASSISTANT:");
    // Those that look get what there is.
    EXPECT_EQ(prompt("{% for m in messages %}{% if m['content'] %}"
                     "{{ m['content'] }}{% elif m['content'] is none %}null"
                     "{% else %}none{% endif %}{% endfor %}",
                     Messages),
              Messages == Null ? "null" : "none");
  }
}

TEST(ChatContentTest, ImagesKeepTheirOrder) {
  Json Mixed = user(Json::array({text("a"), AnImage, text("b"), AnImage}));
  EXPECT_EQ(prompt(Both, Mixed), "[a][<image>][b][<image>]|");
  EXPECT_EQ(prompt(ImagesFirst, Mixed),
            "USER: <image>\n<image>\n[a] [b] ASSISTANT:");
}

TEST(ChatContentTest, MarksBecomeTheTemplates) {
  Json Mixed = user(Json::array({text("a"), AnImage, text("b"), AnImage}));
  EXPECT_EQ(prompt(TextsOnly, Mixed), "user: <image>\n<image>\n[ab]\n");
  EXPECT_EQ(prompt(TextParts, Mixed), "<image>\n<image>\n[ab]|");
  EXPECT_EQ(prompt(ImagesFirst, Mixed, "<other>"),
            "USER: <other>\n<other>\n[ab] ASSISTANT:");
  // Text that looks like the token, or like a mark, stays a user's.
  Json Sly =
      user(Json::array({AnImage, text("<image>[[image 0]][[image 1]]")}));
  EXPECT_EQ(prompt(TextsOnly, Sly),
            "user: <image>\n[<image>[[image 0]][[image 1]]]\n");
  // Without an image nothing changes.
  EXPECT_EQ(prompt(TextsOnly, user("[[image 0]]")), "user: [[[image 0]]]\n");
  // A model without an image token gets what it was given.
  EXPECT_EQ(prompt(Both, Mixed, ""), "[a][<image>][b][<image>]|");
}

} // namespace
