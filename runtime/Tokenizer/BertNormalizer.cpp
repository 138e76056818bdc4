//===- BertNormalizer.cpp - BERT's normalization --------------------------===//

#include "runtime/Tokenizer/Fields.h"
#include "runtime/Tokenizer/MapCodes.h"
#include "runtime/Tokenizer/Normalizers.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::tokenizer;

namespace {

class BertNormalizer : public Normalizer {
public:
  Status apply(std::string &Text, size_t &AtStart) const override {
    if (Clean || Ideographs)
      mapCodes(Text, AtStart, [&](std::string &Out, char32_t Code) {
        if (Clean && isBertControl(Code))
          return;
        if (Clean && isWhiteSpace(Code)) {
          Out += ' ';
        } else if (Ideographs && isBertIdeograph(Code)) {
          Out += ' ';
          appendCode(Out, Code);
          Out += ' ';
        } else {
          appendCode(Out, Code);
        }
      });
    if (Accents) {
      size_t Kept =
          normalize(std::string_view(Text).substr(0, AtStart), NormalForm::NFD)
              .size();
      Text = normalize(Text, NormalForm::NFD);
      AtStart = std::min(Kept, Text.size());
    }
    if (Accents || Lower)
      mapCodes(Text, AtStart, [&](std::string &Out, char32_t Code) {
        if (Accents && isBertAccent(Code))
          return;
        if (Lower)
          appendLower(Out, Code);
        else
          appendCode(Out, Code);
      });
    return {};
  }

  bool Clean = true;
  bool Ideographs = true;
  bool Accents = true;
  bool Lower = true;
};

} // namespace

Result<std::unique_ptr<Normalizer>>
tokenizer::readBertNormalizer(const JsonField &Field) {
  Status Known =
      expectOnly(Field, {"type", "clean_text", "handle_chinese_chars",
                         "strip_accents", "lowercase"});
  if (!Known)
    return Known.error();
  auto Made = std::make_unique<BertNormalizer>();
  struct {
    const char *Name;
    bool &Option;
  } Options[] = {{"clean_text", Made->Clean},
                 {"handle_chinese_chars", Made->Ideographs},
                 {"lowercase", Made->Lower}};
  for (auto &[Name, Option] : Options) {
    Result<bool> Value = requiredBool(Field, Name);
    if (!Value)
      return Value.error();
    Option = *Value;
  }
  // Without an answer of its own, it goes with lower case.
  Result<bool> Accents = boolOr(Field, "strip_accents", Made->Lower);
  if (!Accents)
    return Accents.error();
  Made->Accents = *Accents;
  return std::unique_ptr<Normalizer>(std::move(Made));
}
