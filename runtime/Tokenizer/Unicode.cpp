//===- Unicode.cpp - UTF-8 and character properties -----------------------===//

#include "runtime/Tokenizer/Unicode.h"

#include <algorithm>
#include <cstdio>
#include <utf8proc.h>
#include <vector>

using namespace tenon;
using namespace tenon::tokenizer;

namespace {

struct CategoryRange {
  char32_t First;
  char32_t Last;
  std::string_view Category;
};

struct CaseRange {
  char32_t First;
  char32_t Last;
  int32_t Shift;
};

#include "runtime/Tokenizer/UnicodeTables.inc"

/// What the bytes at the start of a string are.
struct ByteSequence {
  enum Kind { Valid, Invalid, Truncated } Is;
  size_t Length; ///< Of the character, or of the maximal invalid part.
};

} // namespace

static ByteSequence firstSequence(std::string_view Bytes) {
  auto At = [&](size_t I) { return static_cast<unsigned char>(Bytes[I]); };
  unsigned char Lead = At(0);
  if (Lead < 0x80)
    return {ByteSequence::Valid, 1};
  // The second byte's bounds exclude overlong forms, surrogates and what lies
  // beyond U+10FFFF (Unicode, table 3-7).
  size_t Length = 0;
  unsigned char Low = 0x80, High = 0xbf;
  if (Lead >= 0xc2 && Lead <= 0xdf) {
    Length = 2;
  } else if (Lead >= 0xe0 && Lead <= 0xef) {
    Length = 3;
    Low = Lead == 0xe0 ? 0xa0 : 0x80;
    High = Lead == 0xed ? 0x9f : 0xbf;
  } else if (Lead >= 0xf0 && Lead <= 0xf4) {
    Length = 4;
    Low = Lead == 0xf0 ? 0x90 : 0x80;
    High = Lead == 0xf4 ? 0x8f : 0xbf;
  } else {
    return {ByteSequence::Invalid, 1};
  }
  for (size_t I = 1; I < Length; ++I) {
    if (I == Bytes.size())
      return {ByteSequence::Truncated, I};
    if (At(I) < Low || At(I) > High)
      return {ByteSequence::Invalid, I};
    Low = 0x80;
    High = 0xbf;
  }
  return {ByteSequence::Valid, Length};
}

std::optional<size_t> tokenizer::findInvalidUtf8(std::string_view Text) {
  for (size_t At = 0; At < Text.size();) {
    if (static_cast<unsigned char>(Text[At]) < 0x80) {
      ++At;
      continue;
    }
    ByteSequence Next = firstSequence(Text.substr(At));
    if (Next.Is != ByteSequence::Valid)
      return At;
    At += Next.Length;
  }
  return std::nullopt;
}

char32_t tokenizer::nextCode(std::string_view Text, size_t &At) {
  auto Byte = [&](size_t I) -> char32_t {
    return static_cast<unsigned char>(Text[At + I]);
  };
  char32_t Lead = Byte(0);
  char32_t Code = Lead;
  size_t Length = 1;
  if (Lead >= 0xf0) {
    Code = (Lead & 7) << 18 | (Byte(1) & 63) << 12 | (Byte(2) & 63) << 6 |
           (Byte(3) & 63);
    Length = 4;
  } else if (Lead >= 0xe0) {
    Code = (Lead & 15) << 12 | (Byte(1) & 63) << 6 | (Byte(2) & 63);
    Length = 3;
  } else if (Lead >= 0xc0) {
    Code = (Lead & 31) << 6 | (Byte(1) & 63);
    Length = 2;
  }
  At += Length;
  return Code;
}

char32_t tokenizer::previousCode(std::string_view Text, size_t &At) {
  do
    --At;
  while (At > 0 && (static_cast<unsigned char>(Text[At]) & 0xc0) == 0x80);
  size_t Start = At;
  return nextCode(Text, Start);
}

size_t tokenizer::countCodes(std::string_view Text) {
  return static_cast<size_t>(
      std::count_if(Text.begin(), Text.end(), [](char C) {
        return (static_cast<unsigned char>(C) & 0xc0) != 0x80;
      }));
}

void tokenizer::appendCode(std::string &Out, char32_t Code) {
  if (Code < 0x80) {
    Out += static_cast<char>(Code);
  } else if (Code < 0x800) {
    Out += static_cast<char>(0xc0 | Code >> 6);
    Out += static_cast<char>(0x80 | (Code & 63));
  } else if (Code < 0x10000) {
    Out += static_cast<char>(0xe0 | Code >> 12);
    Out += static_cast<char>(0x80 | (Code >> 6 & 63));
    Out += static_cast<char>(0x80 | (Code & 63));
  } else {
    Out += static_cast<char>(0xf0 | Code >> 18);
    Out += static_cast<char>(0x80 | (Code >> 12 & 63));
    Out += static_cast<char>(0x80 | (Code >> 6 & 63));
    Out += static_cast<char>(0x80 | (Code & 63));
  }
}

size_t tokenizer::appendLossy(std::string &Out, std::string_view Bytes,
                              bool IsEnd) {
  size_t At = 0;
  while (At < Bytes.size()) {
    ByteSequence Next = firstSequence(Bytes.substr(At));
    if (Next.Is == ByteSequence::Truncated && !IsEnd)
      return At;
    if (Next.Is == ByteSequence::Valid)
      Out += Bytes.substr(At, Next.Length);
    else
      appendCode(Out, 0xfffd);
    At += Next.Length;
  }
  return At;
}

static bool contains(std::span<const CodeRange> Ranges, char32_t Code) {
  auto Above = std::upper_bound(
      Ranges.begin(), Ranges.end(), Code,
      [](char32_t C, const CodeRange &R) { return C < R.First; });
  return Above != Ranges.begin() && Code <= std::prev(Above)->Last;
}

bool tokenizer::isWhiteSpace(char32_t Code) {
  return (Code >= 9 && Code <= 13) || Code == 0x20 || Code == 0x85 ||
         Code == 0xa0 || Code == 0x1680 || (Code >= 0x2000 && Code <= 0x200a) ||
         Code == 0x2028 || Code == 0x2029 || Code == 0x202f || Code == 0x205f ||
         Code == 0x3000;
}

bool tokenizer::isWordCharacter(char32_t Code) {
  return contains(WordCharacters, Code);
}

bool tokenizer::isMark(char32_t Code) {
  return Code >= 0x300 && contains(Marks, Code);
}

bool tokenizer::isBertAccent(char32_t Code) {
  return Code >= 0x300 && contains(BertAccents, Code);
}

bool tokenizer::isBertControl(char32_t Code) {
  return contains(BertControls, Code);
}

bool tokenizer::isBertPunctuation(char32_t Code) {
  return contains(BertPunctuation, Code);
}

bool tokenizer::isNumber(char32_t Code) { return contains(Numbers, Code); }

bool tokenizer::isBertIdeograph(char32_t Code) {
  return (Code >= 0x4e00 && Code <= 0x9fff) ||
         (Code >= 0x3400 && Code <= 0x4dbf) ||
         (Code >= 0x20000 && Code <= 0x2a6df) ||
         (Code >= 0x2a700 && Code <= 0x2b73f) ||
         (Code >= 0x2b740 && Code <= 0x2b81f) ||
         (Code >= 0x2b920 && Code <= 0x2ceaf) ||
         (Code >= 0xf900 && Code <= 0xfaff) ||
         (Code >= 0x2f800 && Code <= 0x2fa1f);
}

void tokenizer::appendLower(std::string &Out, char32_t Code) {
  if (Code < 0x80) {
    Out += static_cast<char>(Code >= 'A' && Code <= 'Z' ? Code + 32 : Code);
    return;
  }
  // The only lower case mapping to two characters.
  if (Code == 0x130) {
    Out += "i\u0307";
    return;
  }
  for (const CaseRange &Range : NewerLowercase)
    if (Code >= Range.First && Code <= Range.Last)
      return appendCode(
          Out, static_cast<char32_t>(static_cast<int32_t>(Code) + Range.Shift));
  appendCode(Out, static_cast<char32_t>(
                      utf8proc_tolower(static_cast<utf8proc_int32_t>(Code))));
}

/// Sorts the marks among decomposed `Codes`, composes if asked, and appends.
static void appendNormalized(std::string &Out, std::vector<int32_t> &Codes,
                             bool Compose) {
  auto ClassOf = [](int32_t Code) {
    return utf8proc_get_property(Code)->combining_class;
  };
  // utf8proc's own sort is quadratic in a run of marks.
  for (size_t I = 0; I < Codes.size();) {
    size_t End = I;
    while (End < Codes.size() && ClassOf(Codes[End]) != 0)
      ++End;
    if (End > I + 1)
      std::stable_sort(
          Codes.begin() + static_cast<ptrdiff_t>(I),
          Codes.begin() + static_cast<ptrdiff_t>(End),
          [&](int32_t A, int32_t B) { return ClassOf(A) < ClassOf(B); });
    I = End + 1;
  }
  auto Length = static_cast<utf8proc_ssize_t>(Codes.size());
  if (Compose)
    Length = utf8proc_normalize_utf32(
        Codes.data(), Length,
        static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  for (utf8proc_ssize_t I = 0; I < Length; ++I)
    appendCode(Out, static_cast<char32_t>(Codes[static_cast<size_t>(I)]));
  Codes.clear();
}

std::string tokenizer::normalize(std::string_view Text, NormalForm Form) {
  bool Compose = Form == NormalForm::NFC || Form == NormalForm::NFKC;
  bool Compatible = Form == NormalForm::NFKC || Form == NormalForm::NFKD;
  // Nothing below U+0300, whose first byte is 0xcc, changes in NFC; only ASCII
  // is sure not to change in the other forms.
  unsigned char Safe = Form == NormalForm::NFC ? 0xcc : 0x80;
  if (std::all_of(Text.begin(), Text.end(),
                  [&](char C) { return static_cast<unsigned char>(C) < Safe; }))
    return std::string(Text);

  std::string Out;
  Out.reserve(Text.size());
  std::vector<int32_t> Codes;
  auto Options =
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE |
                                     (Compatible ? UTF8PROC_COMPAT : 0));
  for (size_t At = 0; At < Text.size();) {
    char32_t Code = nextCode(Text, At);
    if (Code < 0x80) {
      Codes.push_back(static_cast<int32_t>(Code));
      continue;
    }
    if (contains(NewerThanNormalization, Code)) {
      appendNormalized(Out, Codes, Compose);
      appendCode(Out, Code);
      continue;
    }
    // The longest decomposition has 18 code points.
    int32_t Parts[32];
    int Boundary = 0;
    utf8proc_ssize_t Count =
        utf8proc_decompose_char(static_cast<int32_t>(Code), Parts,
                                std::size(Parts), Options, &Boundary);
    if (Count < 0 || Count > static_cast<utf8proc_ssize_t>(std::size(Parts)))
      Codes.push_back(static_cast<int32_t>(Code));
    else
      Codes.insert(Codes.end(), Parts, Parts + Count);
  }
  appendNormalized(Out, Codes, Compose);
  return Out;
}

std::span<const CodeRange> tokenizer::regexWordRanges() { return RegexWords; }

std::span<const CodeRange> tokenizer::regexHanRanges() { return Han; }

static void appendClassRange(std::string &Out, char32_t First, char32_t Last) {
  char Text[32];
  std::snprintf(Text, sizeof(Text), "\\x{%x}-\\x{%x}",
                static_cast<unsigned>(First), static_cast<unsigned>(Last));
  Out += Text;
}

std::string tokenizer::newerCategoryRanges(std::string_view Name) {
  std::string Out;
  for (const CategoryRange &Range : NewerCategories)
    if (Range.Category.substr(0, Name.size()) == Name)
      appendClassRange(Out, Range.First, Range.Last);
  return Out;
}

std::string tokenizer::classText(std::span<const CodeRange> Ranges,
                                 bool Complement) {
  std::string Out;
  if (!Complement) {
    for (const CodeRange &Range : Ranges)
      appendClassRange(Out, Range.First, Range.Last);
    return Out;
  }
  char32_t Next = 0;
  for (const CodeRange &Range : Ranges) {
    if (Range.First > Next)
      appendClassRange(Out, Next, Range.First - 1);
    Next = Range.Last + 1;
  }
  if (Next <= 0x10ffff)
    appendClassRange(Out, Next, 0x10ffff);
  return Out;
}
