//===- DecodeStages.h - Decoders at work ------------------------*- C++ -*-===//
//
// The stages that Decoders.cpp puts together: what each type of decoder does to
// the tokens of one sequence.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TOKENIZER_DECODESTAGES_H
#define TENON_RUNTIME_TOKENIZER_DECODESTAGES_H

#include "runtime/Tokenizer/ByteAlphabet.h"
#include "runtime/Tokenizer/Decoders.h"
#include "runtime/Tokenizer/Pattern.h"
#include "runtime/Tokenizer/Unicode.h"

namespace tenon::tokenizer {

using StagePtr = std::unique_ptr<DecodeStage>;

/// Puts `To` in place of each `From`, which is not empty, from left to right.
inline void replaceAll(std::string &Text, std::string_view From,
                       std::string_view To) {
  size_t At = Text.find(From);
  if (At == std::string::npos)
    return;
  std::string Out;
  size_t Done = 0;
  for (; At != std::string::npos; At = Text.find(From, Done)) {
    Out.append(Text, Done, At - Done).append(To);
    Done = At + From.size();
  }
  Text = Out.append(Text, Done);
}

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

  static std::string bytesOf(std::string_view Token) {
    std::string Out;
    for (size_t At = 0; At < Token.size();) {
      std::optional<unsigned char> Byte = spelledByte(nextCode(Token, At));
      // A token with any other character stands for itself.
      if (!Byte)
        return std::string(Token);
      Out += static_cast<char>(*Byte);
    }
    return Out;
  }

protected:
  void token(const std::string &Text) override {
    Bytes += bytesOf(Text);
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
      replaceAll(Text, From, To);
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

public:
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

private:
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
      replaceAll(*Held, Suffix, Replacement);
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

} // namespace tenon::tokenizer

#endif // TENON_RUNTIME_TOKENIZER_DECODESTAGES_H
