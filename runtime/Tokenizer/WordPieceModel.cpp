//===- WordPieceModel.cpp - WordPiece -------------------------------------===//

#include "runtime/Tokenizer/Fields.h"
#include "runtime/Tokenizer/Models.h"
#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::tokenizer;

namespace {

class WordPieceModel : public Model {
public:
  using Model::Model;

  std::unique_ptr<ModelRun> start() const override;

  std::string File;
  std::string Unknown;
  std::string Prefix;
  size_t MaxCodes = 0;
};

class WordPieceRun : public ModelRun {
public:
  explicit WordPieceRun(const WordPieceModel &M) : M(M) {}

  Status encode(std::string_view Piece, std::vector<int32_t> &Ids) override {
    size_t Before = Ids.size();
    if (countCodes(Piece) > M.MaxCodes)
      return appendUnknown(Ids);
    for (size_t Begin = 0; Begin < Piece.size();) {
      // No token is longer, which keeps this linear in the piece. Part of a
      // character at the end is no token's either.
      size_t End = std::min(Piece.size(), Begin + M.vocabulary().longest());
      std::optional<int32_t> Found;
      while (End > Begin) {
        Candidate = Begin > 0 ? M.Prefix : "";
        Candidate += Piece.substr(Begin, End - Begin);
        Found = M.vocabulary().idOf(Candidate);
        if (Found)
          break;
        previousCode(Piece, End);
      }
      if (!Found) {
        Ids.resize(Before);
        return appendUnknown(Ids);
      }
      Ids.push_back(*Found);
      Begin = End;
    }
    return {};
  }

private:
  Status appendUnknown(std::vector<int32_t> &Ids) const {
    std::optional<int32_t> Id = M.vocabulary().idOf(M.Unknown);
    if (!Id)
      return Error(M.File + ": field 'model.unk_token' is " +
                   printable(M.Unknown) +
                   ": expected a token of the vocabulary, for a word that it "
                   "lacks");
    Ids.push_back(*Id);
    return {};
  }

  const WordPieceModel &M;
  std::string Candidate;
};

} // namespace

std::unique_ptr<ModelRun> WordPieceModel::start() const {
  return std::make_unique<WordPieceRun>(*this);
}

Result<std::unique_ptr<Model>>
tokenizer::readWordPieceModel(const JsonField &Field, TokenizerFile &File) {
  Status Known = expectOnly(Field, {"type", "vocab", "unk_token",
                                    "continuing_subword_prefix",
                                    "max_input_chars_per_word"});
  if (!Known)
    return Known.error();
  Result<Vocabulary> Tokens = takeVocabulary(Field, File);
  if (!Tokens)
    return Tokens.error();
  auto Made = std::make_unique<WordPieceModel>(std::move(*Tokens));
  Made->File = Field.file();
  Result<std::string> Unknown = requiredString(Field, "unk_token");
  if (!Unknown)
    return Unknown.error();
  Made->Unknown = std::move(*Unknown);
  Result<std::string> Prefix =
      requiredString(Field, "continuing_subword_prefix");
  if (!Prefix)
    return Prefix.error();
  Made->Prefix = std::move(*Prefix);
  Result<JsonField> MaxChars = Field.member("max_input_chars_per_word");
  if (!MaxChars)
    return MaxChars.error();
  Result<int64_t> Count = MaxChars->asInteger(0, INT32_MAX);
  if (!Count)
    return Count.error();
  Made->MaxCodes = static_cast<size_t>(*Count);
  return std::unique_ptr<Model>(std::move(Made));
}
