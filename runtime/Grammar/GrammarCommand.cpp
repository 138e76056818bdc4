//===- GrammarCommand.cpp - tenon grammar ---------------------------------===//

#include "runtime/Grammar/GrammarCommand.h"

#include "runtime/Support/InputFile.h"

#include <bit>
#include <ctime>

using namespace tenon;
using namespace tenon::grammar;

static constexpr uint64_t MaxFileBytes = 1u << 30;
static constexpr int MaxBatchDepth = 300;

/// What is given on the command line itself.
static GrammarTexts textsOf(const GrammarChoice &Choice) {
  GrammarTexts Texts;
  Texts.JsonSchema = Choice.JsonSchema;
  Texts.Regex = Choice.Regex;
  Texts.JsonObject = Choice.JsonObject;
  Texts.Choices = Choice.Choices;
  Texts.FixedOrder = Choice.FixedOrder;
  Texts.Format = Choice.Format;
  return Texts;
}

Result<Grammar::Ptr> grammar::compile(const GrammarChoice &Choice) {
  GrammarTexts Texts = textsOf(Choice);
  std::string Of;
  for (auto [File, Target] :
       {std::pair(&Choice.JsonSchemaFile, &Texts.JsonSchema),
        std::pair(&Choice.EbnfFile, &Texts.Ebnf)}) {
    if (File->empty())
      continue;
    Result<std::string> Text = readFile(*File, Limits().SourceBytes);
    if (!Text)
      return Text.error();
    *Target = std::move(*Text);
    Of = *File;
  }
  Result<Grammar::Ptr> Made = compile(Texts);
  return Made || Of.empty() ? Made : Made.error().withContext(Of);
}

Result<Grammar::Ptr> grammar::compile(const GrammarChoice &Choice,
                                      GrammarCache &Known) {
  Json Key = {Choice.JsonSchemaFile, Choice.EbnfFile,   Choice.JsonObject,
              Choice.Choices,        Choice.FixedOrder, Choice.Format};
  for (const std::optional<std::string> *Text :
       {&Choice.JsonSchema, &Choice.Regex})
    Key.push_back(*Text ? Json(**Text) : Json());
  return Known.get(Key.dump(-1, ' ', false, Json::error_handler_t::replace),
                   [&] { return compile(Choice); });
}

namespace {

/// What masks took of a core, in microseconds.
struct MaskTimes {
  std::vector<double> All;
};

} // namespace

/// Seconds that this thread has had of a core, without what other processes
/// took.
static double threadSecondsNow() {
  timespec Now = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &Now);
  return static_cast<double>(Now.tv_sec) +
         static_cast<double>(Now.tv_nsec) * 1e-9;
}

static double microsecondsSince(double Begin) {
  return (threadSecondsNow() - Begin) * 1e6;
}

/// Whether `Text` is accepted, each token by the mask before it.
static Result<bool> accepts(const Grammar::Ptr &G,
                            const tokenizer::Tokenizer &T,
                            const std::shared_ptr<const TokenTable> &Tokens,
                            const std::string &Text, MaskTimes *Times) {
  tokenizer::EncodeOptions Plain;
  Plain.AddSpecialTokens = false;
  Plain.MaxTokens = SIZE_MAX;
  // Spellings of special tokens are plain text here, as in an answer.
  Plain.SpecialTokensWithin.emplace();
  Result<std::vector<int32_t>> Ids = T.encode(Text, Plain);
  if (!Ids)
    return Ids.error();
  Matcher M(G, Tokens);
  std::vector<uint64_t> Mask(Tokens->words());
  for (size_t I = 0; I <= Ids->size(); ++I) {
    double Begin = threadSecondsNow();
    M.mask(Mask);
    if (Times)
      Times->All.push_back(microsecondsSince(Begin));
    if (M.gaveUp())
      return Error("text " + printable(Text) + ": behind " + std::to_string(I) +
                   " tokens the grammar has too many ways to go on");
    if (I == Ids->size())
      break;
    int32_t Token = (*Ids)[I];
    bool IsIn = Mask[static_cast<size_t>(Token) / 64] >> (Token % 64) & 1;
    bool Goes = M.accept(Token);
    if (IsIn != Goes)
      return Error(ErrorKind::Internal,
                   "token " + std::to_string(Token) +
                       " is in the mask and not accepted, or the reverse");
    if (!Goes)
      return false;
  }
  return M.canEnd();
}

/// What is said of a constraint where no texts are given.
static Result<std::string>
beginningOf(const Grammar::Ptr &G,
            const std::shared_ptr<const TokenTable> &Tokens) {
  Matcher M(G, Tokens);
  std::vector<uint64_t> Mask(Tokens->words());
  M.mask(Mask);
  if (M.gaveUp())
    return Error("the grammar has too many ways to begin");
  int Count = 0;
  for (uint64_t Word : Mask)
    Count += std::popcount(Word);
  return "the constraint is valid: " + std::to_string(Count) + " of " +
         std::to_string(Tokens->size()) + " tokens may begin a text\n";
}

static Result<std::vector<std::string>> readTexts(const JsonField &Field) {
  if (!Field.json().is_array())
    return Field.expected("an array of strings");
  std::vector<std::string> Texts;
  for (size_t I = 0; I < Field.json().size(); ++I) {
    if (!Field.json()[I].is_string())
      return Field.element(I)->expected("a string");
    Texts.push_back(Field.json()[I].get<std::string>());
  }
  return Texts;
}

static Result<Json> answerTexts(const Grammar::Ptr &G,
                                const tokenizer::Tokenizer &T,
                                const std::shared_ptr<const TokenTable> &Tokens,
                                const std::vector<std::string> &Texts,
                                MaskTimes *Times) {
  Json Accepted = Json::array();
  for (const std::string &Text : Texts) {
    Result<bool> Is = accepts(G, T, Tokens, Text, Times);
    if (!Is)
      return Is.error();
    Accepted.push_back(*Is);
  }
  return Accepted;
}

static Result<Grammar::Ptr> compileEntry(const JsonField &Entry,
                                         const GrammarChoice &Choice) {
  const Json &J = Entry.json();
  if (!J.is_object())
    return Entry.expected("an object");
  if (J.contains("schema"))
    return Grammar::fromJsonSchema(J["schema"],
                                   textsOf(Choice).schemaOptions());
  for (const char *Key : {"regex", "ebnf"})
    if (J.contains(Key)) {
      Result<std::string> Text = Entry.member(Key)->asString();
      if (!Text)
        return Text.error();
      return Key[0] == 'r' ? Grammar::fromRegex(*Text)
                           : Grammar::fromEbnf(*Text);
    }
  if (J.contains("choices")) {
    JsonField Given = *Entry.member("choices");
    if (!Given.json().is_array())
      return Given.expected("an array of strings");
    std::vector<std::string> Choices;
    for (size_t I = 0; I < Given.json().size(); ++I) {
      Result<std::string> Text = Given.element(I)->asString();
      if (!Text)
        return Text.error();
      Choices.push_back(std::move(*Text));
    }
    return Grammar::fromChoices(Choices);
  }
  return Entry.expected("schema, regex, ebnf or choices");
}

static Status runBatch(const tokenizer::Tokenizer &T, const GrammarOptions &O,
                       const std::shared_ptr<const TokenTable> &Tokens,
                       std::string &Out) {
  Result<std::string> Text = readFile(O.BatchFile, MaxFileBytes);
  if (!Text)
    return Text.error();
  Result<Json> Batch = parseJson(*Text, O.BatchFile, MaxBatchDepth);
  if (!Batch)
    return Batch.error();
  JsonField Field(*Batch, O.BatchFile);
  if (!Batch->is_array())
    return Field.expected("an array");
  Json Answers = Json::array();
  for (size_t I = 0; I < Batch->size(); ++I) {
    JsonField Entry = *Field.element(I);
    Json Answer = Json::object();
    double Begin = threadSecondsNow();
    Result<Grammar::Ptr> G = compileEntry(Entry, O.What);
    if (O.Times)
      Answer["compile_ms"] = microsecondsSince(Begin) / 1e3;
    if (!G) {
      Answer["error"] = G.error().message();
    } else {
      MaskTimes Times;
      Result<JsonField> Field = Entry.member("texts");
      if (!Field)
        return Field.error();
      Result<std::vector<std::string>> Texts = readTexts(*Field);
      if (!Texts)
        return Texts.error();
      Result<Json> Accepted =
          answerTexts(*G, T, Tokens, *Texts, O.Times ? &Times : nullptr);
      if (!Accepted && Accepted.error().kind() == ErrorKind::Internal)
        return Accepted.error();
      if (Accepted)
        Answer["accepted"] = std::move(*Accepted);
      else
        Answer["error"] = Accepted.error().message();
      if (O.Times)
        Answer["mask_us"] = Times.All;
    }
    Answers.push_back(std::move(Answer));
  }
  Out = Answers.dump() + "\n";
  return {};
}

Status grammar::runGrammar(const tokenizer::Tokenizer &T,
                           const GrammarOptions &O, std::string &Out) {
  Out.clear();
  Result<std::shared_ptr<const TokenTable>> Tokens = TokenTable::build(T);
  if (!Tokens)
    return Tokens.error();
  if (!O.BatchFile.empty())
    return runBatch(T, O, *Tokens, Out);
  double Begin = threadSecondsNow();
  Result<Grammar::Ptr> G = compile(O.What);
  double Compiled = microsecondsSince(Begin);
  if (!G)
    return G.error();
  if (!*G) // --json-object=false
    return Error("no constraint is given: expected one");
  if (O.TextsFile.empty() && !O.AsJson) {
    Result<std::string> Beginning = beginningOf(*G, *Tokens);
    if (!Beginning)
      return Beginning.error();
    Out = std::move(*Beginning);
    return {};
  }
  Json Texts = Json::array();
  if (!O.TextsFile.empty()) {
    Result<Json> Read = readJsonFile(O.TextsFile, MaxFileBytes);
    if (!Read)
      return Read.error();
    Texts = std::move(*Read);
  }
  Result<std::vector<std::string>> Given =
      readTexts(JsonField(Texts, O.TextsFile.empty() ? "-" : O.TextsFile));
  if (!Given)
    return Given.error();
  MaskTimes Times;
  Result<Json> Accepted =
      answerTexts(*G, T, *Tokens, *Given, O.Times ? &Times : nullptr);
  if (!Accepted)
    return Accepted.error();
  if (O.AsJson) {
    Json Answer{{"accepted", *Accepted}};
    if (O.Times) {
      Answer["compile_ms"] = Compiled / 1e3;
      Answer["mask_us"] = Times.All;
    }
    Out = Answer.dump() + "\n";
    return {};
  }
  for (const Json &Is : *Accepted)
    Out += Is.get<bool>() ? "accepted\n" : "refused\n";
  return {};
}
