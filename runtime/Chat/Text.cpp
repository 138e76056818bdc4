//===- Text.cpp - Strings that know who wrote them ------------------------===//

#include "runtime/Chat/Text.h"

#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>
#include <cstring>
#include <utf8proc.h>
#include <utility>

using namespace tenon;
using namespace tenon::chat;
using tokenizer::appendCode;
using tokenizer::nextCode;
using tokenizer::previousCode;

Origin Text::origin() const {
  for (const Run &R : Runs)
    if (R.From == Origin::User)
      return R.From;
  return Origin::Template;
}

size_t Text::runAt(size_t At) const {
  auto Found =
      std::upper_bound(Runs.begin(), Runs.end(), At,
                       [](size_t Byte, const Run &R) { return Byte < R.End; });
  return static_cast<size_t>(Found - Runs.begin());
}

Origin Text::originAt(size_t At) const {
  if (Runs.empty())
    return Origin::Template;
  return Runs[std::min(runAt(At), Runs.size() - 1)].From;
}

void Text::append(std::string_view Content, Origin From) {
  if (Content.empty())
    return;
  Bytes += Content;
  if (!Runs.empty() && Runs.back().From == From)
    Runs.back().End = Bytes.size();
  else
    Runs.push_back({Bytes.size(), From});
}

void Text::append(const Text &Other, size_t Begin, size_t End) {
  if (Begin >= End)
    return;
  for (size_t I = Other.runAt(Begin); Begin < End; ++I) {
    size_t Until = std::min(End, Other.Runs[I].End);
    append(std::string_view(Other.Bytes).substr(Begin, Until - Begin),
           Other.Runs[I].From);
    Begin = Until;
  }
}

Text Text::part(size_t Begin, size_t End) const {
  Text Made;
  Made.append(*this, Begin, End);
  return Made;
}

size_t chat::findText(std::string_view Text, std::string_view Needle,
                      size_t From) {
  if (From > Text.size())
    return std::string_view::npos;
  if (Needle.empty())
    return From;
  // The C library's search is linear, that of std::string is not.
  const void *Found = memmem(Text.data() + From, Text.size() - From,
                             Needle.data(), Needle.size());
  if (!Found)
    return std::string_view::npos;
  return static_cast<size_t>(static_cast<const char *>(Found) - Text.data());
}

size_t chat::byteOfCode(std::string_view Text, size_t Index) {
  size_t At = 0;
  for (; At < Text.size(); ++At)
    if ((static_cast<unsigned char>(Text[At]) & 0xc0) != 0x80 && Index-- == 0)
      break;
  return At;
}

bool chat::isSpace(char32_t Code) {
  return (Code >= 0x9 && Code <= 0xd) || (Code >= 0x1c && Code <= 0x20) ||
         Code == 0x85 || Code == 0xa0 || Code == 0x1680 ||
         (Code >= 0x2000 && Code <= 0x200a) || Code == 0x2028 ||
         Code == 0x2029 || Code == 0x202f || Code == 0x205f || Code == 0x3000;
}

TrimmedRange chat::trimmed(std::string_view Text, const std::string *Characters,
                           bool Left, bool Right) {
  std::u32string Set;
  if (Characters)
    for (size_t At = 0; At < Characters->size();)
      Set += nextCode(*Characters, At);
  auto Goes = [&](char32_t Code) {
    return Characters ? Set.find(Code) != Set.npos : isSpace(Code);
  };
  TrimmedRange Kept{0, Text.size()};
  while (Left && Kept.Begin < Kept.End) {
    size_t Next = Kept.Begin;
    if (!Goes(nextCode(Text, Next)))
      break;
    Kept.Begin = Next;
  }
  while (Right && Kept.Begin < Kept.End) {
    size_t Before = Kept.End;
    if (!Goes(previousCode(Text, Before)))
      break;
    Kept.End = Before;
  }
  return Kept;
}

namespace {

/// Cases of a character of which one is several characters.
struct LongCase {
  char32_t Code;
  const char *Upper, *Title;
};
constexpr LongCase LongCases[] = {
#include "runtime/Chat/CaseTable.inc"
};

/// Appends `Code` in upper case, or as the first letter of a word.
void appendUpper(std::string &Out, char32_t Code, bool IsTitle) {
  const LongCase *Found = std::lower_bound(
      std::begin(LongCases), std::end(LongCases), Code,
      [](const LongCase &L, char32_t C) { return L.Code < C; });
  if (Found != std::end(LongCases) && Found->Code == Code) {
    Out += IsTitle ? Found->Title : Found->Upper;
    return;
  }
  auto Char = static_cast<utf8proc_int32_t>(Code);
  appendCode(Out, static_cast<char32_t>(IsTitle ? utf8proc_totitle(Char)
                                                : utf8proc_toupper(Char)));
}

/// What upper and lower case are told apart for.
bool isCased(char32_t Code) {
  auto Char = static_cast<utf8proc_int32_t>(Code);
  utf8proc_category_t Category = utf8proc_category(Char);
  return Category == UTF8PROC_CATEGORY_LU || Category == UTF8PROC_CATEGORY_LL ||
         Category == UTF8PROC_CATEGORY_LT;
}

/// What a final sigma may have between itself and its word.
bool isCaseIgnorable(char32_t Code) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(Code))) {
  case UTF8PROC_CATEGORY_MN:
  case UTF8PROC_CATEGORY_ME:
  case UTF8PROC_CATEGORY_CF:
  case UTF8PROC_CATEGORY_LM:
  case UTF8PROC_CATEGORY_SK:
    return true;
  default:
    return Code == '\'' || Code == '.' || Code == ':' || Code == 0xb7 ||
           Code == 0x2019;
  }
}

/// Whether the sigma at [Begin, End) ends a word.
bool isFinalSigma(std::string_view Text, size_t Begin, size_t End) {
  char32_t Code = 0;
  bool InWord = false;
  while (Begin > 0) {
    Code = previousCode(Text, Begin);
    if (!isCaseIgnorable(Code)) {
      InWord = isCased(Code);
      break;
    }
  }
  while (InWord && End < Text.size()) {
    Code = nextCode(Text, End);
    if (!isCaseIgnorable(Code))
      return !isCased(Code);
  }
  return InWord;
}

enum class Case { Upper, Lower, Title };

/// Every character in the case that `Next` asks for; it is told the character
/// after it has answered for it.
template <typename Choice> Text recased(const Text &From, Choice Next) {
  constexpr char32_t Sigma = 0x3a3;
  Text Made;
  std::string Changed;
  for (size_t At = 0; At < From.size();) {
    size_t Begin = At;
    char32_t Code = nextCode(From.str(), At);
    Changed.clear();
    switch (Next(Code)) {
    case Case::Upper:
      appendUpper(Changed, Code, false);
      break;
    case Case::Lower:
      if (Code == Sigma && isFinalSigma(From.str(), Begin, At))
        appendCode(Changed, 0x3c2);
      else
        tokenizer::appendLower(Changed, Code);
      break;
    case Case::Title:
      appendUpper(Changed, Code, true);
      break;
    }
    Made.append(Changed, From.originAt(Begin));
  }
  return Made;
}

} // namespace

Text chat::toLower(const Text &From) {
  return recased(From, [](char32_t) { return Case::Lower; });
}

Text chat::toUpper(const Text &From) {
  return recased(From, [](char32_t) { return Case::Upper; });
}

Text chat::capitalized(const Text &From) {
  bool First = true;
  return recased(From, [&](char32_t) {
    return std::exchange(First, false) ? Case::Title : Case::Lower;
  });
}

Text chat::titled(const Text &From) {
  bool InWord = false;
  return recased(From, [&](char32_t Code) {
    return std::exchange(InWord, isCased(Code)) ? Case::Lower : Case::Title;
  });
}

std::vector<TrimmedRange> chat::linesOf(std::string_view Text, bool KeepEnds) {
  std::vector<TrimmedRange> Lines;
  size_t Begin = 0;
  for (size_t At = 0; At < Text.size();) {
    size_t End = At;
    char32_t Code = nextCode(Text, At);
    if (!((Code >= 0xa && Code <= 0xd) || (Code >= 0x1c && Code <= 0x1e) ||
          Code == 0x85 || Code == 0x2028 || Code == 0x2029))
      continue;
    if (Code == '\r' && At < Text.size() && Text[At] == '\n')
      ++At;
    Lines.push_back({Begin, KeepEnds ? At : End});
    Begin = At;
  }
  if (Begin < Text.size())
    Lines.push_back({Begin, Text.size()});
  return Lines;
}
