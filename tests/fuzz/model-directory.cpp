//===- model-directory.cpp - The files of a Hugging Face directory --------===//
//
// Input: packed files, as of Directory::writePacked.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/TokenizerNotes.h"
#include "compiler/Families/Import.h"
#include "tests/fuzz/FuzzTarget.h"
#include "tests/fuzz/ModelContext.h"

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
  Model.writePacked(fuzz::textOf(Data, Size), Names);
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
