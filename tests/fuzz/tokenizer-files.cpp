//===- tokenizer-files.cpp - Tokenizers without tokenizer.json ------------===//
//
// Input: packed files, as of Directory::writePacked. A model of SentencePiece,
// under any name, is read by itself too. "model_type" of config.json is taken
// from a file "model_type".
//
//===----------------------------------------------------------------------===//

#include "compiler/Checkpoint/DirectoryTokenizer.h"
#include "compiler/Checkpoint/SentencePieceModel.h"
#include "runtime/Support/InputFile.h"
#include "runtime/Tokenizer/Tokenizer.h"
#include "runtime/Tokenizer/Unicode.h"
#include "tests/fuzz/FuzzTarget.h"

using namespace tenon;

static constexpr std::string_view Names[] = {"model_type",
                                             "config.json",
                                             "vocab.json",
                                             "merges.txt",
                                             "vocab.txt",
                                             "tokenizer.model",
                                             "spiece.model",
                                             "sentencepiece.bpe.model",
                                             "source.spm",
                                             "target.spm",
                                             "tokenizer_config.json",
                                             "added_tokens.json",
                                             "special_tokens_map.json"};

static void readModel(const std::string &Path) {
  Result<SentencePieceModel> Model = SentencePieceModel::open(Path);
  if (!fuzz::isGood(Model))
    return;
  fuzz::require(Model->UnknownId >= 0 &&
                    Model->UnknownId <
                        static_cast<int64_t>(Model->Pieces.size()),
                "the unknown piece is one");
  for (const SentencePieceModel::Piece &P : Model->Pieces)
    fuzz::require(!P.Text.empty() && !tokenizer::findInvalidUtf8(P.Text),
                  "pieces are texts");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Data, size_t Size) {
  static fuzz::Directory Model;
  Model.clear();
  Model.writePacked(fuzz::textOf(Data, Size), Names);
  for (std::string_view Name : Names)
    if (Name.ends_with(".model") || Name.ends_with(".spm"))
      readModel(Model.path() + "/" + std::string(Name));
  Result<std::string> Type = readFile(Model.path() + "/model_type", 100);
  std::vector<std::string> Notes;
  Result<std::string> Text =
      readDirectoryTokenizer(Model.path(), Type ? *Type : "", Notes);
  for (const std::string &Note : Notes)
    fuzz::requireError(Error(Note));
  if (!fuzz::isGood(Text) || Text->empty())
    return 0;
  fuzz::require(Notes.empty(), "a tokenizer that is read needs no note");
  Result<tokenizer::Tokenizer> T =
      tokenizer::Tokenizer::fromJson(*Text, Model.path());
  if (!fuzz::isGood(T))
    return 0;
  if (Result<std::vector<int32_t>> Ids = T->encode("A word, 12 été\n");
      fuzz::isGood(Ids))
    T->decode(*Ids);
  return 0;
}
