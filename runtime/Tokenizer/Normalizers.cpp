//===- Normalizers.cpp - The normalizers of a tokenizer -------------------===//

#include "runtime/Tokenizer/Normalizers.h"

#include "runtime/Tokenizer/Fields.h"
#include "runtime/Tokenizer/Pattern.h"
#include "runtime/Tokenizer/Unicode.h"

using namespace tenon;

using NormalizerPtr = std::unique_ptr<Normalizer>;
using NormalizerResult = Result<NormalizerPtr>;

/// Replaces each code point of `Text` by what `Rewrite` appends for it.
template <typename Function>
static void mapCodes(std::string &Text, Function Rewrite) {
  std::string Out;
  Out.reserve(Text.size());
  for (size_t At = 0; At < Text.size();)
    Rewrite(Out, nextCode(Text, At));
  Text = std::move(Out);
}

namespace {

class Form : public Normalizer {
public:
  explicit Form(NormalForm Which) : Which(Which) {}

  template <NormalForm Which>
  static NormalizerResult read(const JsonField &Field) {
    if (Status Known = expectOnly(Field, {"type"}); !Known)
      return Known.error();
    return NormalizerPtr(std::make_unique<Form>(Which));
  }

  Status apply(std::string &Text) const override {
    Text = normalize(Text, Which);
    return {};
  }

private:
  NormalForm Which;
};

class Lowercase : public Normalizer {
public:
  static NormalizerResult read(const JsonField &Field) {
    if (Status Known = expectOnly(Field, {"type"}); !Known)
      return Known.error();
    return NormalizerPtr(std::make_unique<Lowercase>());
  }

  Status apply(std::string &Text) const override {
    mapCodes(Text, appendLower);
    return {};
  }
};

/// Removes marks; only text decomposed before has accents as such.
class StripAccents : public Normalizer {
public:
  static NormalizerResult read(const JsonField &Field) {
    if (Status Known = expectOnly(Field, {"type"}); !Known)
      return Known.error();
    return NormalizerPtr(std::make_unique<StripAccents>());
  }

  Status apply(std::string &Text) const override {
    mapCodes(Text, [](std::string &Out, char32_t Code) {
      if (!isMark(Code))
        appendCode(Out, Code);
    });
    return {};
  }
};

class Strip : public Normalizer {
public:
  Strip(bool Left, bool Right) : Left(Left), Right(Right) {}

  static NormalizerResult read(const JsonField &Field) {
    Status Known = expectOnly(Field, {"type", "strip_left", "strip_right"});
    if (!Known)
      return Known.error();
    Result<bool> Left = requiredBool(Field, "strip_left");
    if (!Left)
      return Left.error();
    Result<bool> Right = requiredBool(Field, "strip_right");
    if (!Right)
      return Right.error();
    return NormalizerPtr(std::make_unique<Strip>(*Left, *Right));
  }

  Status apply(std::string &Text) const override {
    size_t Begin = 0, End = Text.size();
    while (Left && Begin < End) {
      size_t Next = Begin;
      if (!isWhiteSpace(nextCode(Text, Next)))
        break;
      Begin = Next;
    }
    while (Right && End > Begin) {
      size_t Last = End;
      if (!isWhiteSpace(previousCode(Text, Last)))
        break;
      End = Last;
    }
    Text = Text.substr(Begin, End - Begin);
    return {};
  }

private:
  bool Left;
  bool Right;
};

class Replace : public Normalizer {
public:
  Replace(Pattern What, std::string Content)
      : What(std::move(What)), Content(std::move(Content)) {}

  static NormalizerResult read(const JsonField &Field) {
    if (Status Known = expectOnly(Field, {"type", "pattern", "content"});
        !Known)
      return Known.error();
    Result<JsonField> Searched = Field.member("pattern");
    if (!Searched)
      return Searched.error();
    Result<Pattern> What = Pattern::fromJson(*Searched);
    if (!What)
      return What.error();
    Result<std::string> Content = requiredString(Field, "content");
    if (!Content)
      return Content.error();
    return NormalizerPtr(
        std::make_unique<Replace>(std::move(*What), std::move(*Content)));
  }

  Status apply(std::string &Text) const override {
    Result<std::string> Replaced = What.replace(Text, Content);
    if (!Replaced)
      return Replaced.error();
    Text = std::move(*Replaced);
    return {};
  }

private:
  Pattern What;
  std::string Content;
};

/// Puts a string before text that is not empty.
class Prepend : public Normalizer {
public:
  explicit Prepend(std::string Prefix) : Prefix(std::move(Prefix)) {}

  static NormalizerResult read(const JsonField &Field) {
    if (Status Known = expectOnly(Field, {"type", "prepend"}); !Known)
      return Known.error();
    Result<std::string> Prefix = requiredString(Field, "prepend");
    if (!Prefix)
      return Prefix.error();
    return NormalizerPtr(std::make_unique<Prepend>(std::move(*Prefix)));
  }

  Status apply(std::string &Text) const override {
    if (!Text.empty())
      Text.insert(0, Prefix);
    return {};
  }

private:
  std::string Prefix;
};

class BertNormalizer : public Normalizer {
public:
  static NormalizerResult read(const JsonField &Field) {
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
    return NormalizerPtr(std::move(Made));
  }

  Status apply(std::string &Text) const override {
    if (Clean || Ideographs)
      mapCodes(Text, [&](std::string &Out, char32_t Code) {
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
    if (Accents)
      Text = normalize(Text, NormalForm::NFD);
    if (Accents || Lower)
      mapCodes(Text, [&](std::string &Out, char32_t Code) {
        if (Accents && isBertAccent(Code))
          return;
        if (Lower)
          appendLower(Out, Code);
        else
          appendCode(Out, Code);
      });
    return {};
  }

private:
  bool Clean = true;
  bool Ideographs = true;
  bool Accents = true;
  bool Lower = true;
};

class Sequence : public Normalizer {
public:
  static NormalizerResult read(const JsonField &Field) {
    if (Status Known = expectOnly(Field, {"type", "normalizers"}); !Known)
      return Known.error();
    auto Made = std::make_unique<Sequence>();
    Status Done =
        forEachElement(Field, "normalizers", [&](const JsonField &Element) {
          NormalizerResult Step = Normalizer::fromJson(Element);
          if (!Step)
            return Status(Step.error());
          Made->Steps.push_back(std::move(*Step));
          return Status();
        });
    if (!Done)
      return Done.error();
    return NormalizerPtr(std::move(Made));
  }

  Status apply(std::string &Text) const override {
    for (const auto &Step : Steps)
      if (Status Done = Step->apply(Text); !Done)
        return Done;
    return {};
  }

private:
  std::vector<std::unique_ptr<Normalizer>> Steps;
};

} // namespace

NormalizerResult Normalizer::fromJson(const JsonField &Field) {
  static constexpr struct {
    std::string_view Type;
    NormalizerResult (*Read)(const JsonField &);
  } Kinds[] = {{"NFC", Form::read<NormalForm::NFC>},
               {"NFD", Form::read<NormalForm::NFD>},
               {"NFKC", Form::read<NormalForm::NFKC>},
               {"NFKD", Form::read<NormalForm::NFKD>},
               {"Lowercase", Lowercase::read},
               {"StripAccents", StripAccents::read},
               {"Strip", Strip::read},
               {"Replace", Replace::read},
               {"Prepend", Prepend::read},
               {"BertNormalizer", BertNormalizer::read},
               {"Sequence", Sequence::read}};
  Result<JsonField> Type = Field.member("type");
  if (!Type)
    return Type.error();
  Result<std::string> Name = Type->asString();
  if (!Name)
    return Name.error();
  for (const auto &Kind : Kinds)
    if (Kind.Type == *Name)
      return Kind.Read(Field);
  return Type->expected("a normalizer that is supported");
}
