//===- ToolAnswer.cpp - Tool calls in generated tokens --------------------===//

#include "runtime/Generation/ToolAnswer.h"
#include "runtime/ToolCalls/CallGrammar.h"
#include "runtime/ToolCalls/ToolFormat.h"

#include <algorithm>
#include <utility>
#include <xxhash.h>

using namespace tenon;
using namespace tenon::generation;
using namespace tenon::tools;

/// Whether a prompt ends with one of the marks that reasoning begins with.
static bool endsInReasoning(const tokenizer::Tokenizer &T,
                            const ToolFormat &Format,
                            std::span<const int32_t> Prompt) {
  // More tokens than any of the marks has.
  constexpr size_t Most = 32;
  std::string End = T.decode(Prompt.last(std::min(Prompt.size(), Most)),
                             /*SkipSpecialTokens=*/false);
  End.erase(End.find_last_not_of(" \t\r\n") + 1);
  return std::any_of(
      Format.ThinkBegin.begin(), Format.ThinkBegin.end(),
      [&](std::string_view Mark) { return End.ends_with(Mark); });
}

namespace {

/// How the model writes calls, and what is known of one answer.
struct Reading {
  const tokenizer::Tokenizer *T;
  const ToolFormat *Format;
  ToolParserOptions Options;
};

} // namespace

static Result<Reading> readingOf(const engine::Model &M,
                                 std::span<const int32_t> Prompt, Json Tools) {
  Result<const tokenizer::Tokenizer *> T = M.tokenizer();
  if (!T)
    return T.error();
  const ToolFormat *Format = M.manifest().Chat
                                 ? findToolFormat(M.manifest().Chat->ToolFormat)
                                 : nullptr;
  if (!Format)
    return Error(ErrorKind::NotFound,
                 M.path() + ": nothing says how this model writes calls of "
                            "tools: expected an artifact that was compiled "
                            "with --tool-format");
  ToolParserOptions Options;
  Options.Tools = std::move(Tools);
  Options.InReasoning = endsInReasoning(**T, *Format, Prompt);
  Options.IsSpecial = [T = *T](std::string_view Text) {
    std::optional<int32_t> Id = T->idOf(Text);
    return Id && T->addedToken(*Id);
  };
  return Reading{*T, Format, std::move(Options)};
}

Result<ToolAnswer> ToolAnswer::create(const engine::Model &M,
                                      std::span<const int32_t> Prompt,
                                      Json Tools) {
  Result<Reading> How = readingOf(M, Prompt, std::move(Tools));
  if (!How)
    return How.error();
  return ToolAnswer(*How->T, *How->Format, std::move(How->Options));
}

bool generation::hasStrictTool(const Json &Tools) {
  return std::any_of(Tools.begin(), Tools.end(), isStrict);
}

Result<grammar::Grammar::Ptr>
generation::callGrammar(const engine::Model &M, const Settings &S,
                        std::span<const int32_t> Prompt) {
  Result<Reading> How = readingOf(M, Prompt, S.Tools);
  if (!How)
    return How.error();
  std::string Key = "calls " + M.path() + (S.IsSingleCall ? " one" : "") +
                    (How->Options.InReasoning ? " reasoning " : " ") +
                    S.Tools.dump();
  CallGrammarOptions Options{std::move(How->Options), {}, S.IsSingleCall};
  auto Compile = [&] {
    for (int32_t Id = 0; Id < How->T->idEnd(); ++Id)
      if (std::optional<std::string_view> Added = How->T->addedToken(Id))
        Options.AddedTokens.emplace_back(*Added);
    return tools::callGrammar(*How->Format, Options,
                              {.Memory = size_t(32) << 20});
  };
  return S.Grammars ? S.Grammars->get(Key, Compile) : Compile();
}

static void append(std::vector<AnswerPart> &Parts,
                   std::vector<AnswerPart> More) {
  for (AnswerPart &Part : More)
    Parts.push_back(std::move(Part));
}

std::vector<AnswerPart> ToolAnswer::add(std::span<const int32_t> Tokens) {
  std::vector<AnswerPart> Parts;
  for (int32_t Id : Tokens) {
    std::string Text = Decoder.push(Id);
    std::optional<std::string_view> Added = T->addedToken(Id);
    bool IsMark = Added && Text.ends_with(*Added);
    std::string_view Plain(Text);
    Unsaid += !IsMark;
    if (IsMark)
      Plain.remove_suffix(Added->size());
    if (!Plain.empty())
      append(Parts,
             Parser.feed(Plain, /*Special=*/false, std::exchange(Unsaid, 0)));
    if (IsMark)
      append(Parts, Parser.feed(*Added, /*Special=*/true));
  }
  return Parts;
}

std::vector<AnswerPart> ToolAnswer::finish() {
  std::vector<AnswerPart> Parts;
  if (std::string Rest = Decoder.finish(); !Rest.empty())
    append(Parts, Parser.feed(Rest, /*Special=*/false, Unsaid));
  append(Parts, Parser.finish());
  return Parts;
}

Result<ParsedAnswer> generation::parseToolAnswer(
    const engine::Model &M, std::span<const int32_t> Prompt,
    std::span<const int32_t> Tokens, std::optional<std::string_view> UpToStop,
    Json Tools) {
  Result<ToolAnswer> Reader = ToolAnswer::create(M, Prompt, std::move(Tools));
  if (!Reader)
    return Reader.error();
  // A stop string may end inside a token: the rest of its text stands alone.
  std::string_view Rest;
  if (UpToStop) {
    const tokenizer::Tokenizer &T = **M.tokenizer();
    while (!Tokens.empty() && !UpToStop->starts_with(T.decode(Tokens)))
      Tokens = Tokens.first(Tokens.size() - 1);
    Rest = UpToStop->substr(T.decode(Tokens).size());
  }
  ParsedAnswer Whole;
  for (const AnswerPart &Part : Reader->add(Tokens))
    Whole.add(Part);
  for (const AnswerPart &Part : Reader->addText(Rest))
    Whole.add(Part);
  for (const AnswerPart &Part : Reader->finish())
    Whole.add(Part);
  Whole.ReasoningTokens = Reader->reasoningTokens();
  return Whole;
}

Json generation::answerJson(const ParsedAnswer &A,
                            std::span<const int32_t> Prompt) {
  Json J = {{"text", A.Text}};
  if (!A.Reasoning.empty())
    J["reasoning"] = A.Reasoning;
  J["tool_calls"] = Json::array();
  for (const ToolCall &Call : A.Calls)
    J["tool_calls"].push_back(
        {{"id", toolCallId(Prompt, J["tool_calls"].size())},
         {"type", "function"},
         {"function", {{"name", Call.Name}, {"arguments", Call.Arguments}}}});
  return J;
}

std::string generation::toolCallId(std::span<const int32_t> Prompt,
                                   size_t Index) {
  static constexpr std::string_view Digits = "0123456789"
                                             "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                             "abcdefghijklmnopqrstuvwxyz";
  uint64_t Hash =
      XXH3_64bits_withSeed(Prompt.data(), Prompt.size_bytes(), Index);
  std::string Id;
  for (int I = 0; I < 9; ++I, Hash /= Digits.size())
    Id += Digits[Hash % Digits.size()];
  return Id;
}
