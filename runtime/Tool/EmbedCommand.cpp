//===- EmbedCommand.cpp - tenon embed -------------------------------------===//

#include "runtime/Engine/TextBatches.h"
#include "runtime/Support/Console.h"
#include "runtime/Tool/Arguments.h"
#include "runtime/Tool/EmbedSupport.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace tenon;
using namespace tenon::artifact;
using namespace tenon::engine;
using namespace tenon::tokenizer;
using namespace tenon::tool;

static Status printEmbeddings(const std::vector<ItemResult> &Answers,
                              bool Json) {
  std::string Text = Json ? "{\"embeddings\": [" : "";
  for (size_t I = 0; I < Answers.size(); ++I) {
    if (Json)
      Text += I == 0 ? "[" : ", [";
    const char *Between = "";
    for (float Value : Answers[I].Values) {
      Text.append(Between).append(shortest(Value));
      Between = Json ? ", " : " ";
    }
    Text += Json ? "]" : "\n";
  }
  return print(Json ? Text + "]}\n" : Text);
}

/// The texts that were given, or the lines of the file.
static Result<std::vector<std::string>> textsOf(const EmbedOptions &Options) {
  if (Options.TextFile.empty())
    return Options.Texts;
  Result<std::string> Text = readText(Options.TextFile);
  if (!Text)
    return Text.error();
  std::vector<std::string> Lines;
  for (size_t Begin = 0; Begin < Text->size();) {
    size_t End = std::min(Text->find('\n', Begin), Text->size());
    std::string &Line = Lines.emplace_back(*Text, Begin, End - Begin);
    if (Line.ends_with('\r'))
      Line.pop_back();
    Begin = End + 1;
  }
  if (Lines.empty())
    return Error("--text-file is " + Options.TextFile +
                 ": no text in it: expected one a line");
  return Lines;
}

std::string tool::usageErrorOf(const EmbedOptions &Options) {
  int Given = !Options.Texts.empty() + !Options.TextFile.empty() +
              !Options.Input.empty();
  if (Given != 1)
    return "expected one of --text, --text-file and --input";
  if (!Options.Output.empty() && Options.Input.empty())
    return "--output needs --input";
  if (Options.Json && !Options.Input.empty())
    return "--input takes no --json: it prints JSON lines";
  return {};
}

Status tool::checkEmbedding(const ItemResult &Answer, const Model &M) {
  if (!Answer.Outcome)
    return Answer.Outcome;
  for (float Value : Answer.Values)
    if (!(std::abs(Value) <= std::numeric_limits<float>::max()))
      return Error(M.path() +
                   ": the embedding has a value that is NaN or infinite");
  return {};
}

Result<EmbeddingModel> EmbeddingModel::load(const std::string &File) {
  Result<std::shared_ptr<const Model>> Loaded = Model::load(File);
  if (!Loaded)
    return Loaded.error();
  Result<const Entry *> Code = (*Loaded)->entry("embed");
  if (!Code)
    return Error((*Loaded)->path() +
                 ": this model gives no embeddings of texts: expected one of "
                 "sentence-transformers");
  Result<const Tokenizer *> Text = (*Loaded)->tokenizer();
  if (!Text)
    return Text.error();
  return EmbeddingModel{*Loaded, *Text, (*Code)->Info.Width};
}

Status tool::embedTexts(const EmbedOptions &Options) {
  Result<EmbeddingModel> Loaded = EmbeddingModel::load(Options.File);
  if (!Loaded)
    return Loaded.error();
  const Model &M = *Loaded->Code;
  int64_t MaxTokens = longestText(M.manifest());
  std::vector<std::vector<int32_t>> Ids;
  Result<std::vector<std::string>> Texts = textsOf(Options);
  if (!Texts)
    return Texts.error();
  for (const std::string &T : *Texts) {
    Result<std::vector<int32_t>> Encoded =
        Loaded->Text->encode(T, true, static_cast<size_t>(MaxTokens));
    if (!Encoded)
      return Encoded.error().withContext("text " +
                                         std::to_string(Ids.size() + 1));
    Ids.push_back(std::move(*Encoded));
  }
  Result<Session> S = Session::create(Loaded->Code, {Options.Threads, 0});
  if (!S)
    return S.error();
  std::vector<EncodeItem> Items;
  for (const std::vector<int32_t> &Tokens : Ids)
    Items.push_back({Tokens, {}, OutputRows::All});
  Result<std::vector<ItemResult>> Answers = S->embed(Items);
  if (!Answers)
    return Answers.error();
  for (size_t I = 0; I < Answers->size(); ++I)
    if (Status Good = checkEmbedding((*Answers)[I], M); !Good)
      return Good.error().withContext("text " + std::to_string(I + 1));
  return printEmbeddings(*Answers, Options.Json);
}
