//===- Models.cpp - The models of a tokenizer -----------------------------===//

#include "runtime/Tokenizer/Models.h"

#include <cstdio>

using namespace tenon;
using namespace tenon::tokenizer;

Result<std::unique_ptr<Model>> Model::fromFile(TokenizerFile &File) {
  static constexpr struct {
    std::string_view Type;
    /// A member that only this type has, for files without "type".
    std::string_view Sign;
    Result<std::unique_ptr<Model>> (*Read)(const JsonField &, TokenizerFile &);
  } Kinds[] = {{"BPE", "merges", readBytePairModel},
               {"WordPiece", "max_input_chars_per_word", readWordPieceModel},
               {"Unigram", "unk_id", readUnigramModel},
               {"WordLevel", "unk_token", readWordLevelModel}};
  Result<JsonField> Field = File.field().member("model");
  if (!Field)
    return Field.error();
  bool Typed = Field->json().is_object() && Field->json().contains("type");
  std::string Name;
  if (Typed) {
    Result<JsonField> Type = Field->member("type");
    if (!Type)
      return Type.error();
    Result<std::string> Text = Type->asString();
    if (!Text)
      return Text.error();
    Name = std::move(*Text);
  }
  for (const auto &Kind : Kinds)
    if (Typed ? Kind.Type == Name : Field->has(Kind.Sign))
      return Kind.Read(*Field, File);
  if (Result<JsonField> Type = Field->member("type"); Type)
    return Type->expected("BPE, WordPiece, Unigram or WordLevel");
  else
    return Type.error();
}

Result<Vocabulary> tokenizer::takeVocabulary(const JsonField &Field,
                                             TokenizerFile &File) {
  Result<JsonField> Object = Field.member("vocab");
  if (!Object)
    return Object.error();
  if (!Object->json().is_object())
    return Object->expected("an object of tokens and ids");
  return Vocabulary::build(std::move(File.Vocabulary),
                           File.File + ": field 'model.vocab'");
}

ByteTokens::ByteTokens(const Vocabulary &Tokens) {
  for (unsigned Byte = 0; Byte < Ids.size(); ++Byte) {
    char Name[8];
    std::snprintf(Name, sizeof(Name), "<0x%02X>", Byte);
    Ids[Byte] = Tokens.idOf(Name).value_or(-1);
  }
}
