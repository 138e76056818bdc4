//===- WordLevelModel.cpp - Whole words as tokens -------------------------===//

#include "runtime/Tokenizer/Fields.h"
#include "runtime/Tokenizer/Models.h"

using namespace tenon;
using namespace tenon::tokenizer;

namespace {

class WordLevelModel : public Model {
public:
  using Model::Model;

  std::unique_ptr<ModelRun> start() const override;

  std::string File;
  std::string Unknown;
};

class WordLevelRun : public ModelRun {
public:
  explicit WordLevelRun(const WordLevelModel &M) : M(M) {}

  Status encode(std::string_view Piece, std::vector<int32_t> &Ids) override {
    std::optional<int32_t> Id = M.vocabulary().idOf(Piece);
    if (!Id)
      Id = M.vocabulary().idOf(M.Unknown);
    if (!Id)
      return Error(M.File + ": field 'model.unk_token' is " +
                   printable(M.Unknown) +
                   ": expected a token of the vocabulary, for the word " +
                   printable(Piece) + " that it lacks");
    Ids.push_back(*Id);
    return {};
  }

private:
  const WordLevelModel &M;
};

} // namespace

std::unique_ptr<ModelRun> WordLevelModel::start() const {
  return std::make_unique<WordLevelRun>(*this);
}

Result<std::unique_ptr<Model>>
tokenizer::readWordLevelModel(const JsonField &Field, TokenizerFile &File) {
  if (Status Known = expectOnly(Field, {"type", "vocab", "unk_token"}); !Known)
    return Known.error();
  Result<Vocabulary> Tokens = takeVocabulary(Field, File);
  if (!Tokens)
    return Tokens.error();
  auto Made = std::make_unique<WordLevelModel>(std::move(*Tokens));
  Made->File = Field.file();
  Result<std::string> Unknown = requiredString(Field, "unk_token");
  if (!Unknown)
    return Unknown.error();
  Made->Unknown = std::move(*Unknown);
  return std::unique_ptr<Model>(std::move(Made));
}
