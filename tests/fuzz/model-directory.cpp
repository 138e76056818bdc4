//===- model-directory.cpp - The files of a Hugging Face directory --------===//
//
// Input: files one after another, each behind a line "//--- NAME" as of
// LLVM's split-file. Names other than those below are left out.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/TokenizerNotes.h"
#include "compiler/Families/Import.h"
#include "tests/fuzz/FuzzTarget.h"
#include "tests/fuzz/ModelContext.h"

#include <algorithm>

using namespace tenon;

static constexpr std::string_view Names[] = {
    "config.json",
    "generation_config.json",
    "preprocessor_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "modules.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "1_Pooling/config.json",
    "model.safetensors",
    "model.safetensors.index.json"};

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  static fuzz::Directory Model;
  Model.clear();
  constexpr std::string_view Mark = "//--- ";
  std::string_view Rest = fuzz::textOf(Data, Size);
  while (Rest.starts_with(Mark)) {
    size_t LineEnd = std::min(Rest.find('\n'), Rest.size());
    std::string_view Name = Rest.substr(Mark.size(), LineEnd - Mark.size());
    Rest.remove_prefix(std::min(LineEnd + 1, Rest.size()));
    size_t End = Rest.starts_with(Mark) ? 0 : Rest.find("\n//--- ");
    std::string_view Content = Rest.substr(0, End);
    if (std::find(std::begin(Names), std::end(Names), Name) != std::end(Names))
      Model.write(Name, Content);
    Rest.remove_prefix(End == Rest.npos ? Rest.size() : End + (End != 0));
  }
  ImportOptions Options;
  Options.ConfigOnly = true;
  fuzz::isGood(importModel(fuzz::modelContext(), Model.path(), Options));
  fuzz::isGood(importModel(fuzz::modelContext(), Model.path()));
  Result<tokenizer::Tokenizer> T =
      tokenizer::Tokenizer::fromFile(Model.path() + "/tokenizer.json");
  if (fuzz::isGood(T))
    for (const std::string &Note : notesOnTokenizer(Model.path(), *T))
      fuzz::requireError(Error(Note));
  return 0;
}
