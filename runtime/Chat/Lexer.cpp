//===- Lexer.cpp - Templates to tokens ------------------------------------===//

#include "runtime/Chat/Lexer.h"

#include "runtime/Chat/Text.h"
#include "runtime/Support/Json.h"
#include "runtime/Tokenizer/Unicode.h"

#include <charconv>

using namespace tenon;
using namespace tenon::chat;

Error chat::errorAt(Place At, const Error &E) {
  return E.withContext("line " + std::to_string(At.Line) + ", column " +
                       std::to_string(At.Column));
}

Error chat::errorAt(Place At, const std::string &Message) {
  return errorAt(At, Error(Message));
}

std::string chat::describe(const Token &T) {
  switch (T.K) {
  case Token::Kind::Data:
    return "text";
  case Token::Kind::PrintBegin:
    return "'{{'";
  case Token::Kind::PrintEnd:
    return "'}}'";
  case Token::Kind::BlockBegin:
    return "'{%'";
  case Token::Kind::BlockEnd:
    return "'%}'";
  case Token::Kind::String:
    return "the string " + printable(T.Text);
  case Token::Kind::Name:
  case Token::Kind::Integer:
  case Token::Kind::Float:
  case Token::Kind::Operator:
    return printable(T.Text);
  case Token::Kind::End:
    return "the end of the template";
  }
  return "";
}

static bool isDigit(char C) { return C >= '0' && C <= '9'; }
static bool isNameStart(char C) {
  return (C >= 'a' && C <= 'z') || (C >= 'A' && C <= 'Z') || C == '_';
}
static bool isNameByte(char C) { return isNameStart(C) || isDigit(C); }

/// "\r\n" and "\r" as "\n", and without the line end at the end.
static std::string normalizedLines(std::string_view Source) {
  std::string Out;
  Out.reserve(Source.size());
  for (size_t I = 0; I < Source.size(); ++I) {
    if (Source[I] == '\r' && I + 1 < Source.size() && Source[I + 1] == '\n')
      continue;
    Out += Source[I] == '\r' ? '\n' : Source[I];
  }
  if (Out.ends_with('\n'))
    Out.pop_back();
  return Out;
}

namespace {

class Lexer {
public:
  explicit Lexer(std::string_view Text)
      : Source(normalizedLines(Text)), Rest(Source) {}

  Result<std::vector<Token>> run() {
    while (At < Source.size())
      if (Status Done = lexRoot(); !Done)
        return Done.error();
    add(Token::Kind::End, At);
    return std::move(Tokens);
  }

private:
  bool startsWith(std::string_view Text, size_t From) const {
    return Rest.substr(std::min(From, Rest.size())).starts_with(Text);
  }

  size_t behindSpaces(size_t From) const {
    while (From < Source.size()) {
      size_t Next = From;
      if (!isSpace(tokenizer::nextCode(Source, Next)))
        break;
      From = Next;
    }
    return From;
  }

  /// The place of the byte `Byte`; asked for from left to right.
  Place placeOf(size_t Byte) {
    for (; Counted < Byte; ++Counted) {
      auto C = static_cast<unsigned char>(Source[Counted]);
      if (C == '\n')
        Now = {Now.Line + 1, 1};
      else if ((C & 0xc0) != 0x80)
        ++Now.Column;
    }
    return Now;
  }

  Token &add(Token::Kind K, size_t Begin, std::string Text = "") {
    Tokens.push_back({K, placeOf(Begin), std::move(Text), 0, 0});
    return Tokens.back();
  }

  Error fail(size_t Byte, const std::string &Message) {
    return errorAt(placeOf(Byte), Message);
  }

  /// Data up to the tag at `Tag`, whose sign follows its first two bytes.
  void addData(size_t Tag, char Sign, bool IsPrint) {
    size_t Begin = At, End = Tag;
    std::string_view Data = Rest.substr(Begin, End - Begin);
    if (Sign == '-') {
      End = Begin + trimmed(Data, nullptr, false, true).End;
    } else if (Sign != '+' && !IsPrint) {
      // lstrip_blocks: only white space between the start of the line and the
      // tag goes away.
      size_t Line = Data.rfind('\n');
      Line = Line == Data.npos ? 0 : Line + 1;
      if ((Line > 0 || LineStarting) &&
          trimmed(Data.substr(Line), nullptr, true, false).Begin ==
              Data.size() - Line)
        End = Begin + Line;
    }
    if (End > Begin)
      add(Token::Kind::Data, Begin,
          std::string(Rest.substr(Begin, End - Begin)));
  }

  char signAt(size_t Byte) const {
    char Sign = Byte < Source.size() ? Source[Byte] : 0;
    return Sign == '-' || Sign == '+' ? Sign : 0;
  }

  /// Goes on at `Next`, where the tag has ended.
  void finishTag(size_t Next) {
    LineStarting = Next > 0 && Source[Next - 1] == '\n';
    At = Next;
  }

  /// Where text goes on behind a tag that ends at `End` ("%}" and the like
  /// begin there), or npos. `Trims` whether it takes a line end with it.
  size_t tagEnd(size_t From, std::string_view Close, bool Trims) const {
    if (startsWith(Close, From)) {
      size_t Next = From + Close.size();
      return Trims && startsWith("\n", Next) ? Next + 1 : Next;
    }
    if (startsWith("-", From) && startsWith(Close, From + 1))
      return behindSpaces(From + 1 + Close.size());
    if (Trims && startsWith("+", From) && startsWith(Close, From + 1))
      return From + 1 + Close.size();
    return std::string::npos;
  }

  Status lexRoot() {
    size_t Tag = At;
    for (;; ++Tag) {
      Tag = Source.find('{', Tag);
      if (Tag == std::string::npos) {
        add(Token::Kind::Data, At, Source.substr(At));
        At = Source.size();
        return {};
      }
      char Next = Tag + 1 < Source.size() ? Source[Tag + 1] : 0;
      if (Next == '{' || Next == '%' || Next == '#')
        break;
    }
    char Kind = Source[Tag + 1];
    char Sign = signAt(Tag + 2);
    size_t Inside = Tag + (Sign ? 3 : 2);
    if (Kind == '%')
      if (size_t Begin = rawBegin(Inside); Begin != std::string::npos) {
        addData(Tag, Sign, false);
        return lexRaw(Tag, Begin);
      }
    addData(Tag, Sign, Kind == '{');
    if (Kind == '#')
      return lexComment(Tag, Inside);
    add(Kind == '{' ? Token::Kind::PrintBegin : Token::Kind::BlockBegin, Tag);
    At = Inside;
    return lexTag(placeOf(Tag), Kind == '%');
  }

  /// Where the text of a raw block begins whose tag has its name at or behind
  /// `Inside`; npos when it is another tag.
  size_t rawBegin(size_t Inside) const {
    size_t Name = behindSpaces(Inside);
    if (!startsWith("raw", Name))
      return std::string::npos;
    size_t End = behindSpaces(Name + 3);
    if (startsWith("-%}", End))
      return behindSpaces(End + 3);
    return startsWith("%}", End) ? End + 2 : std::string::npos;
  }

  Status lexRaw(size_t Tag, size_t Begin) {
    finishTag(Begin);
    for (size_t End = Begin;; ++End) {
      End = Source.find("{%", End);
      if (End == std::string::npos)
        return fail(Tag, "the block 'raw' does not end: expected "
                         "{% endraw %}");
      char Sign = signAt(End + 2);
      size_t Name = behindSpaces(End + (Sign ? 3 : 2));
      if (!startsWith("endraw", Name))
        continue;
      size_t Next = tagEnd(behindSpaces(Name + 6), "%}", true);
      if (Next == std::string::npos)
        continue;
      addData(End, Sign, false);
      finishTag(Next);
      return {};
    }
  }

  Status lexComment(size_t Tag, size_t Inside) {
    for (size_t End = Inside; End < Source.size(); ++End)
      if (size_t Next = tagEnd(End, "#}", true); Next != std::string::npos) {
        finishTag(Next);
        return {};
      }
    return fail(Tag, "the comment does not end: expected #}");
  }

  Status lexTag(Place Begin, bool IsBlock) {
    Token::Kind EndKind =
        IsBlock ? Token::Kind::BlockEnd : Token::Kind::PrintEnd;
    std::string Open;
    while (At = behindSpaces(At), At < Source.size()) {
      // Braces inside of the tag are not its end.
      if (Open.empty())
        if (size_t Next = tagEnd(At, IsBlock ? "%}" : "}}", IsBlock);
            Next != std::string::npos) {
          add(EndKind, At);
          finishTag(Next);
          return {};
        }
      if (Status Done = lexToken(Open); !Done)
        return Done;
    }
    return errorAt(Begin, std::string("the tag does not end: expected ") +
                              (IsBlock ? "%}" : "}}"));
  }

  Status lexToken(std::string &Open) {
    char C = Source[At];
    if (isDigit(C))
      return lexNumber();
    if (isNameStart(C)) {
      size_t End = At;
      while (End < Source.size() && isNameByte(Source[End]))
        ++End;
      add(Token::Kind::Name, At, Source.substr(At, End - At));
      At = End;
      return {};
    }
    if (C == '\'' || C == '"')
      return lexString();
    for (const char *Sign : {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/",
                             "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                             ">",  "<",  "=",  ".",  ":",  "|",  ",", ";"})
      if (startsWith(Sign, At))
        return lexOperator(Sign, Open);
    size_t End = At;
    tokenizer::nextCode(Source, End);
    return fail(At, "found " + printable(Rest.substr(At, End - At)) +
                        ": expected an expression");
  }

  Status lexOperator(std::string_view Sign, std::string &Open) {
    constexpr std::string_view Opening = "([{", Closing = ")]}";
    if (Opening.find(Sign) != Opening.npos)
      Open += Closing[Opening.find(Sign)];
    if (Closing.find(Sign) != Closing.npos) {
      if (Open.empty() || Open.back() != Sign[0])
        return fail(At, "found '" + std::string(Sign) + "': expected " +
                            (Open.empty()
                                 ? "an expression"
                                 : "'" + Open.substr(Open.size() - 1) + "'"));
      Open.pop_back();
    }
    add(Token::Kind::Operator, At, std::string(Sign));
    At += Sign.size();
    return {};
  }

  /// The end of digits of `Base` from `From` on, single underscores between
  /// them.
  size_t behindDigits(size_t From, int Base) const {
    auto IsOne = [&](size_t I) {
      char C = I < Source.size() ? Source[I] : 0;
      int Digit = isDigit(C)             ? C - '0'
                  : C >= 'a' && C <= 'f' ? C - 'a' + 10
                  : C >= 'A' && C <= 'F' ? C - 'A' + 10
                                         : 99;
      return Digit < Base;
    };
    while (IsOne(From) ||
           (From < Source.size() && Source[From] == '_' && IsOne(From + 1)))
      ++From;
    return From;
  }

  Status lexNumber() {
    size_t Begin = At;
    size_t End = behindDigits(At, 10);
    // A digit behind a dot is a subscript: x.0.1.
    bool MayBeFloat = Begin == 0 || Source[Begin - 1] != '.';
    size_t Fraction = End;
    if (startsWith(".", End) && End + 1 < Source.size() &&
        isDigit(Source[End + 1]))
      Fraction = behindDigits(End + 1, 10);
    size_t Power = Fraction;
    if (startsWith("e", Fraction) || startsWith("E", Fraction)) {
      size_t Digits = Fraction + 1;
      if (startsWith("+", Digits) || startsWith("-", Digits))
        ++Digits;
      if (Digits < Source.size() && isDigit(Source[Digits]))
        Power = behindDigits(Digits, 10);
    }
    if (MayBeFloat && Power > End) {
      std::string Digits = plainDigits(Begin, Power);
      Token &T = add(Token::Kind::Float, Begin, Digits);
      T.Real = std::strtod(Digits.c_str(), nullptr);
      At = Power;
      return {};
    }
    int Base = 10;
    size_t Digits = Begin;
    if (Source[Begin] == '0' && Begin + 1 < Source.size()) {
      char Mark = static_cast<char>(Source[Begin + 1] | 0x20);
      int Other = Mark == 'x' ? 16 : Mark == 'o' ? 8 : Mark == 'b' ? 2 : 10;
      size_t From = Begin + 2 + startsWith("_", Begin + 2);
      if (Other != 10 && behindDigits(From, Other) > From) {
        Base = Other;
        Digits = From;
        End = behindDigits(From, Other);
      }
    }
    std::string Plain = plainDigits(Digits, End);
    if (Base == 10 && Plain.size() > 1 && Plain[0] == '0' &&
        Plain.find_first_not_of('0') != std::string::npos)
      return fail(Begin, "the number " + printable(Plain) +
                             " begins with 0: expected other digits");
    int64_t Number = 0;
    auto Read = std::from_chars(Plain.data(), Plain.data() + Plain.size(),
                                Number, Base);
    if (Read.ec != std::errc())
      return fail(Begin, "the number " + printable(Plain) +
                             " is too large: expected at most " +
                             std::to_string(INT64_MAX));
    add(Token::Kind::Integer, Begin, Source.substr(Begin, End - Begin))
        .Integer = Number;
    At = End;
    return {};
  }

  std::string plainDigits(size_t Begin, size_t End) const {
    std::string Out;
    for (char C : Rest.substr(Begin, End - Begin))
      if (C != '_')
        Out += C;
    return Out;
  }

  Status lexString() {
    size_t Begin = At;
    char Quote = Source[At];
    std::string Content;
    for (size_t I = At + 1; I < Source.size(); ++I) {
      if (Source[I] == Quote) {
        add(Token::Kind::String, Begin, std::move(Content));
        At = I + 1;
        return {};
      }
      if (Source[I] != '\\') {
        Content += Source[I];
        continue;
      }
      if (++I == Source.size())
        break;
      Result<size_t> Last = unescape(I, Content);
      if (!Last)
        return Last.error();
      I = *Last;
    }
    return fail(Begin,
                std::string("the string does not end: expected ") + Quote);
  }

  /// Appends what the escape means whose backslash is before the byte `I`;
  /// answers its last byte.
  Result<size_t> unescape(size_t I, std::string &Content) {
    constexpr std::string_view Signs = "\\'\"abfnrtv";
    constexpr std::string_view Means = "\\'\"\a\b\f\n\r\t\v";
    char C = Source[I];
    if (size_t Found = Signs.find(C); Found != Signs.npos) {
      Content += Means[Found];
      return I;
    }
    if (C == '\n')
      return I;
    size_t Digits = C == 'x' ? 2 : C == 'u' ? 4 : C == 'U' ? 8 : 0;
    uint32_t Code = 0;
    if (Digits > 0) {
      std::string_view Number = Rest.substr(I + 1).substr(0, Digits);
      auto Read = std::from_chars(Number.data(), Number.data() + Number.size(),
                                  Code, 16);
      if (Number.size() < Digits || Read.ec != std::errc() ||
          Read.ptr != Number.data() + Digits || Code > 0x10ffff ||
          (Code >= 0xd800 && Code < 0xe000))
        return fail(I - 1, std::string("the escape \\") + C + " has not " +
                               std::to_string(Digits) +
                               " digits of a character: expected those");
      tokenizer::appendCode(Content, Code);
      return I + Digits;
    }
    if (C >= '0' && C <= '7') {
      size_t End = I;
      for (; End < Source.size() && End < I + 3 && Source[End] >= '0' &&
             Source[End] <= '7';
           ++End)
        Code = Code * 8 + static_cast<uint32_t>(Source[End] - '0');
      tokenizer::appendCode(Content, Code);
      return End - 1;
    }
    if (C == 'N')
      return fail(I - 1, "the escape \\N names a character: expected its "
                         "number, \\uNNNN");
    // Unknown escapes stay as they are.
    Content += '\\';
    Content += C;
    return I;
  }

  std::string Source;
  std::string_view Rest;
  size_t At = 0;
  bool LineStarting = true;
  std::vector<Token> Tokens;
  size_t Counted = 0;
  Place Now;
};

} // namespace

Result<std::vector<Token>> chat::tokenize(std::string_view Source) {
  return Lexer(Source).run();
}
