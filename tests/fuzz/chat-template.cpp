//===- chat-template.cpp - Chat templates, rendered -----------------------===//
//
// Input: a template, rendered with one conversation. What a user wrote must not
// become the template's.
//
//===----------------------------------------------------------------------===//

#include "runtime/Chat/Template.h"
#include "runtime/Tokenizer/Unicode.h"
#include "tests/fuzz/FuzzTarget.h"

using namespace tenon;
using namespace tenon::chat;

/// Stands in all text of the user, and nowhere else.
static constexpr std::string_view Mark = "\xee\x80\x80\xee\x80\x81";

static Json conversation() {
  std::string X(Mark);
  Json Parameters = {{"type", "object"},
                     {"properties", {{"city", {{"type", "string"}}}}},
                     {"required", {"city"}}};
  return {
      {"messages",
       {{{"role", "system"}, {"content", "Be brief." + X}},
        {{"role", "user"}, {"content", X + " Hi\n there " + X}},
        {{"role", "assistant"},
         {"content", nullptr},
         {"reasoning_content", X},
         {"tool_calls",
          {{{"id", X},
            {"type", "function"},
            {"function",
             {{"name", "f" + X}, {"arguments", {{"city", X}, {"n", 1.5}}}}}}}}},
        {{"role", X}, {"content", {{{"type", "text"}, {"text", X}}}}},
        {{"role", "user"}, {"content", "straße " + X}}}},
      {"tools",
       {{{"type", "function"},
         {"function",
          {{"name", X},
           {"description", "a\nb"},
           {"parameters", Parameters}}}}}},
      {"documents", nullptr},
      {"enable_thinking", true},
      {"add_generation_prompt", true}};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  std::string_view Source = fuzz::textOf(Data, Size);
  Result<Template> T = Template::parse(Source);
  if (!fuzz::isGood(T))
    return 0;
  static const Json OfUser = conversation();
  Variables Given;
  Given.OfUser = OfUser;
  Given.OfModel = {{"bos_token", "<s>"}, {"eos_token", "</s>"}};
  Given.Now.emplace();
  Given.Now->tm_mday = 1;
  Result<std::vector<Piece>> Pieces = T->render(Given);
  if (!fuzz::isGood(Pieces))
    return 0;
  // A template that has the mark, or makes such characters, shows nothing.
  bool HasMark = Source.find("\xee\x80") != Source.npos ||
                 Source.find('\\') != Source.npos;
  const Piece *Before = nullptr;
  for (const Piece &P : *Pieces) {
    fuzz::require(!P.Text.empty(), "no piece is empty");
    fuzz::require(!tokenizer::findInvalidUtf8(P.Text), "every piece is UTF-8");
    fuzz::require(!Before || Before->From != P.From,
                  "neighbours differ in origin");
    fuzz::require(P.From == Origin::User || HasMark ||
                      P.Text.find(Mark) == std::string::npos,
                  "text of the user stays the user's");
    Before = &P;
  }
  Result<std::vector<Piece>> Again = T->render(Given);
  fuzz::require(Again && *Again == *Pieces, "rendering again gives the same");
  return 0;
}
