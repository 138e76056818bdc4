//===- Models.cpp - The models of a tokenizer -----------------------------===//

#include "runtime/Tokenizer/Models.h"

using namespace tenon;

Result<std::unique_ptr<Model>> Model::fromFile(TokenizerFile &File) {
  static constexpr struct {
    std::string_view Type;
    /// A member that only this type has, for files without "type".
    std::string_view Sign;
    Result<std::unique_ptr<Model>> (*Read)(const JsonField &, Vocabulary);
  } Kinds[] = {{"BPE", "merges", readBytePairModel},
               {"WordPiece", "max_input_chars_per_word", readWordPieceModel}};
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
  for (const auto &Kind : Kinds) {
    if (Typed ? Kind.Type != Name : !Field->has(Kind.Sign))
      continue;
    Result<JsonField> Object = Field->member("vocab");
    if (!Object)
      return Object.error();
    if (!Object->json().is_object())
      return Object->expected("an object of tokens and ids");
    Result<Vocabulary> Tokens = Vocabulary::build(
        std::move(File.Vocabulary), File.File + ": field 'model.vocab'");
    if (!Tokens)
      return Tokens.error();
    return Kind.Read(*Field, std::move(*Tokens));
  }
  if (Result<JsonField> Type = Field->member("type"); Type)
    return Type->expected("BPE or WordPiece");
  else
    return Type.error();
}
