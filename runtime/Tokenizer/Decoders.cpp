//===- Decoders.cpp - The decoders of a tokenizer -------------------------===//

#include "runtime/Tokenizer/Decoders.h"

#include "runtime/Tokenizer/ByteAlphabet.h"
#include "runtime/Tokenizer/Fields.h"
#include "runtime/Tokenizer/Metaspace.h"
#include "runtime/Tokenizer/Pattern.h"
#include "runtime/Tokenizer/Unicode.h"

using namespace tenon;

using StagePtr = std::unique_ptr<DecodeStage>;

namespace {

/// A stage that looks at one whole token at a time.
class TokenStage : public DecodeStage {
public:
  explicit TokenStage(StagePtr Next) : Next(std::move(Next)) {}

  void begin() override { Token.clear(); }
  void text(std::string_view Part) override { Token += Part; }
  void end() override { token(Token); }
  void finish() override { Next->finish(); }

protected:
  virtual void token(const std::string &Text) = 0;

  void pass(std::string_view Text) {
    Next->begin();
    Next->text(Text);
    Next->end();
  }

  StagePtr Next;

private:
  std::string Token;
};

/// A stage that makes one token of all.
class FusingStage : public TokenStage {
public:
  using TokenStage::TokenStage;

  void finish() override {
    passPart("");
    Next->end();
    Next->finish();
  }

protected:
  void passPart(std::string_view Part) {
    if (!Begun)
      Next->begin();
    Begun = true;
    if (!Part.empty())
      Next->text(Part);
  }

private:
  bool Begun = false;
};

class FuseStage : public FusingStage {
public:
  using FusingStage::FusingStage;

protected:
  void token(const std::string &Text) override { passPart(Text); }
};

/// Characters of the byte alphabet back to bytes, bytes to UTF-8.
class ByteLevelStage : public FusingStage {
public:
  using FusingStage::FusingStage;

  void finish() override {
    emit(true);
    FusingStage::finish();
  }

protected:
  void token(const std::string &Text) override {
    size_t Before = Bytes.size();
    for (size_t At = 0; At < Text.size();) {
      std::optional<unsigned char> Byte = spelledByte(nextCode(Text, At));
      if (!Byte) {
        // A token with any other character stands for itself.
        Bytes.replace(Before, std::string::npos, Text);
        break;
      }
      Bytes += static_cast<char>(*Byte);
    }
    emit(false);
  }

private:
  void emit(bool IsEnd) {
    std::string Out;
    Bytes.erase(0, appendLossy(Out, Bytes, IsEnd));
    passPart(Out);
  }

  /// At most a character that is not complete, between calls.
  std::string Bytes;
};

/// Tokens with the prefix join what is before; others begin a word.
class WordPieceStage : public TokenStage {
public:
  WordPieceStage(StagePtr Next, std::string Prefix, bool Cleanup)
      : TokenStage(std::move(Next)), Prefix(std::move(Prefix)),
        Cleanup(Cleanup) {}

protected:
  void token(const std::string &Text) override {
    std::string Out;
    if (IsFirst)
      Out = Text;
    else if (Text.starts_with(Prefix))
      Out = Text.substr(Prefix.size());
    else
      Out = " " + Text;
    IsFirst = false;
    if (Cleanup)
      cleanUp(Out);
    pass(Out);
  }

private:
  static void cleanUp(std::string &Text) {
    // The order matters: each works on what the ones before made.
    static constexpr std::pair<std::string_view, std::string_view> Pairs[] = {
        {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
        {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
        {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
    for (auto [From, To] : Pairs)
      for (size_t At = 0; (At = Text.find(From, At)) != std::string::npos;
           At += To.size())
        Text.replace(At, From.size(), To);
  }

  std::string Prefix;
  bool Cleanup;
  bool IsFirst = true;
};

class ReplaceStage : public TokenStage {
public:
  ReplaceStage(StagePtr Next, const Pattern &What, std::string Content)
      : TokenStage(std::move(Next)), What(What), Content(std::move(Content)) {}

protected:
  void token(const std::string &Text) override {
    // Where the pattern fails on a token, the token stays as it is.
    Result<std::string> Replaced = What.replace(Text, Content);
    pass(Replaced ? *Replaced : Text);
  }

private:
  Pattern What;
  std::string Content;
};

/// Tokens <0xHH> to bytes; a run of them to UTF-8, or one U+FFFD for each.
class ByteFallbackStage : public TokenStage {
public:
  using TokenStage::TokenStage;

  void finish() override {
    flush();
    Next->finish();
  }

protected:
  void token(const std::string &Text) override {
    if (std::optional<unsigned char> Byte = byteOf(Text)) {
      Bytes += static_cast<char>(*Byte);
      return;
    }
    flush();
    pass(Text);
  }

private:
  static std::optional<unsigned char> byteOf(std::string_view Text) {
    if (Text.size() != 6 || !Text.starts_with("<0x") || Text[5] != '>')
      return std::nullopt;
    unsigned Value = 0;
    for (size_t I : {3u, 4u}) {
      char C = Text[I];
      unsigned Digit;
      if (C >= '0' && C <= '9')
        Digit = static_cast<unsigned>(C - '0');
      else if ((C | 32) >= 'a' && (C | 32) <= 'f')
        Digit = static_cast<unsigned>((C | 32) - 'a' + 10);
      else if (C == '+' && I == 3)
        Digit = 0; // The reference's number parser takes a sign.
      else
        return std::nullopt;
      Value = Value * 16 + Digit;
    }
    return static_cast<unsigned char>(Value);
  }

  void flush() {
    if (Bytes.empty())
      return;
    if (!findInvalidUtf8(Bytes))
      pass(Bytes);
    else
      for (size_t I = 0; I < Bytes.size(); ++I)
        pass("\ufffd");
    Bytes.clear();
  }

  std::string Bytes;
};

/// Removes a character at a token's start and end, so many times at most.
class StripStage : public TokenStage {
public:
  StripStage(StagePtr Next, std::string Content, size_t Start, size_t Stop)
      : TokenStage(std::move(Next)), Content(std::move(Content)), Start(Start),
        Stop(Stop) {}

  // With nothing to remove at the end, a long token need not be complete.
  void begin() override {
    Left = Start;
    if (Stop == 0)
      Next->begin();
    else
      TokenStage::begin();
  }

  void text(std::string_view Part) override {
    for (; Left > 0 && Part.starts_with(Content); --Left)
      Part.remove_prefix(Content.size());
    if (!Part.empty())
      Left = 0;
    if (Stop == 0)
      Next->text(Part);
    else
      TokenStage::text(Part);
  }

  void end() override {
    if (Stop == 0)
      Next->end();
    else
      TokenStage::end();
  }

protected:
  void token(const std::string &Text) override {
    std::string_view Rest = Text;
    for (size_t I = 0; I < Stop && Rest.ends_with(Content); ++I)
      Rest.remove_suffix(Content.size());
    pass(Rest);
  }

private:
  std::string Content;
  size_t Start;
  size_t Stop;
  size_t Left = 0;
};

/// The character that stands for a space back to spaces; in the first token it
/// goes, if the pre-tokenizer put it there.
class MetaspaceStage : public TokenStage {
public:
  MetaspaceStage(StagePtr Next, std::string Replacement, bool DropFirst)
      : TokenStage(std::move(Next)), Replacement(std::move(Replacement)),
        Drop(DropFirst) {}

protected:
  void token(const std::string &Text) override {
    std::string Out;
    for (size_t At = 0; At < Text.size();) {
      size_t Found = Text.find(Replacement, At);
      Out += Text.substr(At, Found - At);
      if (Found == std::string::npos)
        break;
      if (!Drop)
        Out += ' ';
      At = Found + Replacement.size();
    }
    Drop = false;
    pass(Out);
  }

private:
  std::string Replacement;
  bool Drop;
};

/// The suffix of words becomes a space, but at the very end nothing.
class SuffixStage : public TokenStage {
public:
  SuffixStage(StagePtr Next, std::string Suffix)
      : TokenStage(std::move(Next)), Suffix(std::move(Suffix)) {}

  void finish() override {
    flush("");
    Next->finish();
  }

protected:
  // Only the token after it tells that a token is not the last.
  void token(const std::string &Text) override {
    flush(" ");
    Held = Text;
  }

private:
  void flush(std::string_view Replacement) {
    if (!Held)
      return;
    if (!Suffix.empty())
      for (size_t At = 0; (At = Held->find(Suffix, At)) != std::string::npos;
           At += Replacement.size())
        Held->replace(At, Suffix.size(), Replacement);
    pass(*Held);
    Held.reset();
  }

  std::string Suffix;
  std::optional<std::string> Held;
};

/// Puts a space before each token but the first.
class JoinStage : public TokenStage {
public:
  using TokenStage::TokenStage;

protected:
  void token(const std::string &Text) override {
    pass(IsFirst ? Text : " " + Text);
    IsFirst = false;
  }

private:
  bool IsFirst = true;
};

} // namespace

namespace tenon {

/// One function per type.
struct DecoderReader {
  template <typename Stage, typename... Options>
  static Decoder make(Options... Values) {
    Decoder Made;
    Made.Stages.push_back([Values...](StagePtr Next) -> StagePtr {
      return std::make_unique<Stage>(std::move(Next), Values...);
    });
    return Made;
  }

  static Result<Decoder> readByteLevel(const JsonField &Field) {
    // The options are the pre-tokenizer's, which shares its type with this.
    Status Known = expectOnly(
        Field, {"type", "add_prefix_space", "trim_offsets", "use_regex"});
    if (!Known)
      return Known.error();
    return make<ByteLevelStage>();
  }

  static Result<Decoder> readWordPiece(const JsonField &Field) {
    if (Status Known = expectOnly(Field, {"type", "prefix", "cleanup"}); !Known)
      return Known.error();
    Result<std::string> Prefix = requiredString(Field, "prefix");
    if (!Prefix)
      return Prefix.error();
    Result<bool> Cleanup = requiredBool(Field, "cleanup");
    if (!Cleanup)
      return Cleanup.error();
    return make<WordPieceStage>(*Prefix, *Cleanup);
  }

  static Result<Decoder> readReplace(const JsonField &Field) {
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
    return make<ReplaceStage>(*What, *Content);
  }

  template <typename Stage>
  static Result<Decoder> readPlain(const JsonField &Field) {
    if (Status Known = expectOnly(Field, {"type"}); !Known)
      return Known.error();
    return make<Stage>();
  }

  static Result<Decoder> readStrip(const JsonField &Field) {
    if (Status Known = expectOnly(Field, {"type", "content", "start", "stop"});
        !Known)
      return Known.error();
    Result<std::string> Content = requiredCharacter(Field, "content");
    if (!Content)
      return Content.error();
    size_t Counts[2];
    for (auto [Key, Index] : {std::pair("start", 0), std::pair("stop", 1)}) {
      Result<JsonField> Count = Field.member(Key);
      if (!Count)
        return Count.error();
      Result<int64_t> Value = Count->asInteger(0, INT32_MAX);
      if (!Value)
        return Value.error();
      Counts[Index] = static_cast<size_t>(*Value);
    }
    return make<StripStage>(*Content, Counts[0], Counts[1]);
  }

  static Result<Decoder> readMetaspace(const JsonField &Field) {
    Result<MetaspaceOptions> Options = readMetaspaceOptions(Field);
    if (!Options)
      return Options.error();
    return make<MetaspaceStage>(Options->Replacement,
                                Options->Prepend != MetaspaceOptions::Never);
  }

  static Result<Decoder> readSuffix(const JsonField &Field) {
    if (Status Known = expectOnly(Field, {"type", "suffix"}); !Known)
      return Known.error();
    Result<std::string> Suffix = requiredString(Field, "suffix");
    if (!Suffix)
      return Suffix.error();
    return make<SuffixStage>(*Suffix);
  }

  static Result<Decoder> readSequence(const JsonField &Field) {
    if (Status Known = expectOnly(Field, {"type", "decoders"}); !Known)
      return Known.error();
    Decoder Made;
    Status Done =
        forEachElement(Field, "decoders", [&](const JsonField &Element) {
          Result<Decoder> Step = Decoder::fromJson(Element);
          if (!Step)
            return Status(Step.error());
          Made.Stages.insert(Made.Stages.end(), Step->Stages.begin(),
                             Step->Stages.end());
          return Status();
        });
    if (!Done)
      return Done.error();
    // Each stage is a nested call.
    if (Made.Stages.size() > 64)
      return Field.expected("at most 64 decoders");
    return Made;
  }
};

} // namespace tenon

Result<Decoder> Decoder::fromJson(const JsonField &Field) {
  static constexpr struct {
    std::string_view Type;
    Result<Decoder> (*Read)(const JsonField &);
  } Kinds[] = {{"ByteLevel", DecoderReader::readByteLevel},
               {"WordPiece", DecoderReader::readWordPiece},
               {"Replace", DecoderReader::readReplace},
               {"Fuse", DecoderReader::readPlain<FuseStage>},
               {"ByteFallback", DecoderReader::readPlain<ByteFallbackStage>},
               {"Strip", DecoderReader::readStrip},
               {"Metaspace", DecoderReader::readMetaspace},
               {"BPEDecoder", DecoderReader::readSuffix},
               {"Sequence", DecoderReader::readSequence}};
  Result<JsonField> Type = Field.member("type");
  if (!Type)
    return Type.error();
  Result<std::string> Name = Type->asString();
  if (!Name)
    return Name.error();
  for (const auto &Kind : Kinds)
    if (Kind.Type == *Name)
      return Kind.Read(Field);
  return Type->expected("a decoder that is supported");
}

Decoder Decoder::joinWithSpaces() { return DecoderReader::make<JoinStage>(); }

StagePtr Decoder::start(StagePtr Next) const {
  for (auto Stage = Stages.rbegin(); Stage != Stages.rend(); ++Stage)
    Next = (*Stage)(std::move(Next));
  return Next;
}
