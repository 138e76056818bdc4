//===- Normalizers.cpp - The normalizers of a tokenizer -------------------===//

#include "runtime/Tokenizer/Normalizers.h"

#include "runtime/Tokenizer/ByteAlphabet.h"
#include "runtime/Tokenizer/Fields.h"
#include "runtime/Tokenizer/MapCodes.h"
#include "runtime/Tokenizer/Pattern.h"
#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>

using namespace tenon;
using namespace tenon::tokenizer;

using NormalizerPtr = std::unique_ptr<Normalizer>;
using NormalizerResult = Result<NormalizerPtr>;

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

  Status apply(std::string &Text, size_t &AtStart) const override {
    // Of a first character that composes with what follows, the part before.
    if (AtStart > 0)
      AtStart =
          normalize(std::string_view(Text).substr(0, AtStart), Which).size();
    Text = normalize(Text, Which);
    AtStart = std::min(AtStart, Text.size());
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

  Status apply(std::string &Text, size_t &AtStart) const override {
    mapCodes(Text, AtStart, appendLower);
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

  Status apply(std::string &Text, size_t &AtStart) const override {
    mapCodes(Text, AtStart, [](std::string &Out, char32_t Code) {
      if (!isMark(Code))
        appendCode(Out, Code);
    });
    return {};
  }
};

/// What the normalization rules "nmt" of SentencePiece do to control
/// characters and spaces.
class Nmt : public Normalizer {
public:
  static NormalizerResult read(const JsonField &Field) {
    if (Status Known = expectOnly(Field, {"type"}); !Known)
      return Known.error();
    return NormalizerPtr(std::make_unique<Nmt>());
  }

  Status apply(std::string &Text, size_t &AtStart) const override {
    mapCodes(Text, AtStart, [](std::string &Out, char32_t Code) {
      if (isSpace(Code))
        Out += ' ';
      else if (!isRemoved(Code))
        appendCode(Out, Code);
    });
    return {};
  }

private:
  static bool isSpace(char32_t Code) {
    return Code == 0x9 || Code == 0xa || Code == 0xc || Code == 0xd ||
           Code == 0x1680 || (Code >= 0x200b && Code <= 0x200f) ||
           Code == 0x2028 || Code == 0x2029 || Code == 0x2581 ||
           Code == 0xfeff || Code == 0xfffd;
  }

  static bool isRemoved(char32_t Code) {
    return (Code >= 0x1 && Code <= 0x8) || Code == 0xb ||
           (Code >= 0xe && Code <= 0x1f) || Code == 0x7f || Code == 0x8f ||
           Code == 0x9f;
  }
};

/// Spells bytes in GPT-2's alphabet.
class ByteLevelNormalizer : public Normalizer {
public:
  static NormalizerResult read(const JsonField &Field) {
    if (Status Known = expectOnly(Field, {"type"}); !Known)
      return Known.error();
    return NormalizerPtr(std::make_unique<ByteLevelNormalizer>());
  }

  Status apply(std::string &Text, size_t &AtStart) const override {
    std::string Out;
    appendSpelledBytes(Out, std::string_view(Text).substr(0, AtStart));
    size_t Kept = Out.size();
    appendSpelledBytes(Out, std::string_view(Text).substr(AtStart));
    AtStart = Kept;
    Text = std::move(Out);
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

  Status apply(std::string &Text, size_t &AtStart) const override {
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
    AtStart = AtStart > Begin ? std::min(AtStart - Begin, Text.size()) : 0;
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

  Status apply(std::string &Text, size_t &AtStart) const override {
    Result<std::string> Replaced = What.replace(Text, Content, &AtStart);
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

  Status apply(std::string &Text, size_t &AtStart) const override {
    if (Text.empty())
      return {};
    Text.insert(0, Prefix);
    if (AtStart > 0)
      AtStart += Prefix.size();
    return {};
  }

private:
  std::string Prefix;
};

class SequenceNormalizer : public Normalizer {
public:
  static NormalizerResult read(const JsonField &Field) {
    if (Status Known = expectOnly(Field, {"type", "normalizers"}); !Known)
      return Known.error();
    auto Made = std::make_unique<SequenceNormalizer>();
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

  Status apply(std::string &Text, size_t &AtStart) const override {
    for (const auto &Step : Steps)
      if (Status Done = Step->apply(Text, AtStart); !Done)
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
               {"Nmt", Nmt::read},
               {"Replace", Replace::read},
               {"Prepend", Prepend::read},
               {"ByteLevel", ByteLevelNormalizer::read},
               {"Precompiled", readPrecompiledNormalizer},
               {"BertNormalizer", readBertNormalizer},
               {"Sequence", SequenceNormalizer::read}};
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
