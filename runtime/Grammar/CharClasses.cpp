//===- CharClasses.cpp - Escapes and classes in regular expressions -------===//

#include "runtime/Grammar/CharClasses.h"

#include "runtime/Grammar/RegexParser.h"
#include "runtime/Support/Json.h"
#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>
#include <array>
#include <utf8proc.h>

using namespace tenon;
using namespace tenon::grammar;

std::u32string grammar::codesOf(std::string_view Text) {
  std::u32string Codes;
  for (size_t At = 0; At < Text.size();)
    Codes.push_back(tokenizer::nextCode(Text, At));
  return Codes;
}

std::string grammar::textOf(std::u32string_view Codes) {
  std::string Text;
  for (char32_t Code : Codes)
    tokenizer::appendCode(Text, Code);
  return Text;
}

static CharSet digits() { return CharSet({{'0', '9'}}); }
static CharSet wordCharacters() {
  return CharSet({{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}});
}
/// ECMAScript's white space and line ends.
static CharSet spaces() {
  return CharSet({{9, 13},
                  {' ', ' '},
                  {0xa0, 0xa0},
                  {0x1680, 0x1680},
                  {0x2000, 0x200a},
                  {0x2028, 0x2029},
                  {0x202f, 0x202f},
                  {0x205f, 0x205f},
                  {0x3000, 0x3000},
                  {0xfeff, 0xfeff}});
}

/// The characters of a general category, or of a group of them.
static std::optional<CharSet> categorySet(std::string_view Name) {
  static constexpr std::pair<std::string_view, std::string_view> Long[] = {
      {"Letter", "L"},
      {"Lowercase_Letter", "Ll"},
      {"Uppercase_Letter", "Lu"},
      {"Titlecase_Letter", "Lt"},
      {"Modifier_Letter", "Lm"},
      {"Other_Letter", "Lo"},
      {"Mark", "M"},
      {"Number", "N"},
      {"Decimal_Number", "Nd"},
      {"digit", "Nd"},
      {"Letter_Number", "Nl"},
      {"Other_Number", "No"},
      {"Punctuation", "P"},
      {"punct", "P"},
      {"Symbol", "S"},
      {"Separator", "Z"},
      {"Space_Separator", "Zs"},
      {"Other", "C"},
      {"Control", "Cc"}};
  for (auto Prefix : {"General_Category=", "gc="})
    if (Name.starts_with(Prefix))
      Name.remove_prefix(std::string_view(Prefix).size());
  for (auto [From, To] : Long)
    if (Name == From)
      Name = To;
  static const std::array<std::vector<CharRange>, 30> ByCategory = [] {
    std::array<std::vector<CharRange>, 30> Made;
    for (char32_t Code = 0; Code <= 0x10ffff; ++Code) {
      auto Category =
          size_t(utf8proc_category(static_cast<utf8proc_int32_t>(Code)));
      std::vector<CharRange> &Ranges = Made[Category];
      if (!Ranges.empty() && Ranges.back().Last + 1 == Code)
        Ranges.back().Last = Code;
      else
        Ranges.push_back({Code, Code});
    }
    return Made;
  }();
  static constexpr std::string_view Names[] = {
      "Cn", "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd",
      "Nl", "No", "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm",
      "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Co"};
  std::vector<CharRange> All;
  bool IsKnown = false;
  for (size_t I = 0; I < std::size(Names); ++I)
    if (!Name.empty() && (Names[I] == Name || Names[I].substr(0, 1) == Name)) {
      All.insert(All.end(), ByCategory[I].begin(), ByCategory[I].end());
      IsKnown = true;
    }
  if (!IsKnown)
    return std::nullopt;
  return CharSet(std::move(All));
}

/// So many hexadecimal digits at `At`.
static std::optional<char32_t> hexAt(std::u32string_view Text, size_t At,
                                     size_t Count) {
  char32_t Value = 0;
  if (Count == 0 || At + Count > Text.size())
    return std::nullopt;
  for (char32_t C : Text.substr(At, Count)) {
    char32_t Lower = C | 32;
    bool IsDigit = C >= '0' && C <= '9';
    if (!IsDigit && (Lower < 'a' || Lower > 'f'))
      return std::nullopt;
    Value = Value * 16 + (IsDigit ? C - '0' : Lower - 'a' + 10);
  }
  return Value;
}

/// \xHH, \uHHHH, pairs of surrogates, \u{H...}; `At` is at the letter.
static Result<CharSet> parseHex(std::u32string_view Text, size_t &At) {
  size_t Digits = Text[At] == 'x' ? 2 : 4, Begin = At + 1;
  bool IsBraced = Begin < Text.size() && Text[Begin] == '{';
  if (IsBraced) {
    size_t End = Text.find(U'}', Begin);
    ++Begin;
    Digits = End == Text.npos || End - Begin > 6 ? 0 : End - Begin;
  }
  std::optional<char32_t> Code = hexAt(Text, Begin, Digits);
  if (!Code || *Code > 0x10ffff)
    return Error("an escape that is no character: expected \\xHH, \\uHHHH or "
                 "\\u{H}");
  At = Begin + Digits + IsBraced;
  if (*Code >= 0xd800 && *Code < 0xdc00 && Text.substr(At, 2) == U"\\u") {
    std::optional<char32_t> Low = hexAt(Text, At + 2, 4);
    if (Low && *Low >= 0xdc00 && *Low < 0xe000) {
      Code = 0x10000 + ((*Code - 0xd800) << 10) + (*Low - 0xdc00);
      At += 6;
    }
  }
  if (*Code >= 0xd800 && *Code < 0xe000)
    return Error("half of a surrogate pair: expected a whole character");
  return CharSet::of(*Code);
}

Result<CharSet> grammar::parseEscape(std::u32string_view Text, size_t &At,
                                     bool IsInClass) {
  if (++At >= Text.size())
    return Error("'\\' at the end: expected a character behind it");
  char32_t C = Text[At];
  auto Simple = [&](CharSet Set) {
    ++At;
    return Set;
  };
  switch (C) {
  case 'd':
    return Simple(digits());
  case 'D':
    return Simple(digits().complement());
  case 'w':
    return Simple(wordCharacters());
  case 'W':
    return Simple(wordCharacters().complement());
  case 's':
    return Simple(spaces());
  case 'S':
    return Simple(spaces().complement());
  case 't':
    return Simple(CharSet::of('\t'));
  case 'n':
    return Simple(CharSet::of('\n'));
  case 'r':
    return Simple(CharSet::of('\r'));
  case 'f':
    return Simple(CharSet::of('\f'));
  case 'v':
    return Simple(CharSet::of('\v'));
  case 'x':
  case 'u':
  case 'U':
    return parseHex(Text, At);
  case 'c':
    if (At + 1 < Text.size() && (Text[At + 1] | 32) >= 'a' &&
        (Text[At + 1] | 32) <= 'z') {
      At += 2;
      return CharSet::of(Text[At - 1] % 32);
    }
    return Error("\\c without a letter: expected a control character");
  case 'p':
  case 'P': {
    size_t Begin = At + 1, End = Begin + 1;
    if (Begin < Text.size() && Text[Begin] == '{') {
      ++Begin;
      End = Text.find(U'}', Begin);
    }
    if (End == Text.npos || End > Text.size())
      return Error("\\p without a category: expected \\p{L} or the like");
    std::string Name = textOf(Text.substr(Begin, End - Begin));
    std::optional<CharSet> Set = categorySet(Name);
    if (!Set)
      return Error("\\p{" + escaped(Name) +
                   "} is not supported: expected a general category");
    At = End + (Text[Begin - 1] == '{');
    return C == 'P' ? Set->complement() : *Set;
  }
  case 'b':
    if (IsInClass)
      return Simple(CharSet::of('\b'));
    [[fallthrough]];
  case 'B':
    return Error("word boundary \\" + textOf({&C, 1}) + " is not supported");
  case 'k':
    return Error("back-reference \\k is not supported");
  case '0':
    if (At + 1 >= Text.size() || Text[At + 1] < '0' || Text[At + 1] > '9')
      return Simple(CharSet::of(0));
    return Error("octal escape is not supported: expected \\xHH");
  default:
    if (C >= '1' && C <= '9')
      return Error(std::string(IsInClass ? "octal escape" : "back-reference") +
                   " \\" + textOf({&C, 1}) + " is not supported");
    if ((C >= 'a' && C <= 'z') || (C >= 'A' && C <= 'Z'))
      return Error("escape \\" + textOf({&C, 1}) + " is not supported");
    return Simple(CharSet::of(C));
  }
}

Result<CharSet> grammar::parseClass(std::u32string_view Text, size_t &At) {
  bool IsNot = ++At < Text.size() && Text[At] == '^';
  At += IsNot;
  CharSet All;
  auto One = [&]() -> Result<CharSet> {
    if (Text[At] == '\\')
      return parseEscape(Text, At, true);
    if (Text.substr(At, 2) == U"[:")
      return Error("class [:name:] is not supported");
    return CharSet::of(Text[At++]);
  };
  while (At < Text.size() && Text[At] != ']') {
    Result<CharSet> First = One();
    if (!First)
      return First;
    bool IsRange =
        At + 1 < Text.size() && Text[At] == '-' && Text[At + 1] != ']';
    if (!IsRange) {
      All = All.unite(*First);
      continue;
    }
    ++At;
    Result<CharSet> Last = One();
    if (!Last)
      return Last;
    auto CodeOf = [](const CharSet &Set) -> std::optional<char32_t> {
      const auto &R = Set.ranges();
      if (R.size() == 1 && R[0].First == R[0].Last)
        return R[0].First;
      return std::nullopt;
    };
    std::optional<char32_t> From = CodeOf(*First), To = CodeOf(*Last);
    if (!From || !To || *From > *To)
      return Error("a range in a class is out of order: expected first-last");
    All = All.unite(CharSet({{*From, *To}}));
  }
  if (At >= Text.size())
    return Error("a class is not closed: expected ']'");
  ++At;
  return IsNot ? All.complement() : All;
}
