//===- Unicode.h - UTF-8 and character properties ---------------*- C++ -*-===//
//
// UTF-8 and the character properties that tokenizers ask for. Properties are
// those of the PyPI package `tokenizers`, which mixes Unicode versions; tables
// taken from it (UnicodeTables.inc) correct utf8proc where they differ.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TOKENIZER_UNICODE_H
#define TENON_RUNTIME_TOKENIZER_UNICODE_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tenon::tokenizer {

/// Code points First to Last, both included.
struct CodeRange {
  char32_t First;
  char32_t Last;
};

/// The byte offset of the first byte that is not part of valid UTF-8.
std::optional<size_t> findInvalidUtf8(std::string_view Text);

/// The code point that starts at byte `At` of valid UTF-8; moves `At` past it.
char32_t nextCode(std::string_view Text, size_t &At);

/// The code point that ends before byte `At` > 0 of valid UTF-8; moves `At` to
/// its start.
char32_t previousCode(std::string_view Text, size_t &At);

/// Number of code points of valid UTF-8.
size_t countCodes(std::string_view Text);

void appendCode(std::string &Out, char32_t Code);

/// Appends `Bytes` as UTF-8, one U+FFFD for each maximal part that is not.
/// Returns how many bytes were used: all of them when `IsEnd`, otherwise up to
/// a character whose last bytes are still missing.
size_t appendLossy(std::string &Out, std::string_view Bytes, bool IsEnd);

/// The property White_Space.
bool isWhiteSpace(char32_t Code);
/// What counts as part of a word beside an added token.
bool isWordCharacter(char32_t Code);
/// What StripAccents removes.
bool isMark(char32_t Code);
/// What BertNormalizer removes as accents of decomposed text.
bool isBertAccent(char32_t Code);
/// What BertNormalizer removes when cleaning.
bool isBertControl(char32_t Code);
/// What BertPreTokenizer and Punctuation isolate.
bool isBertPunctuation(char32_t Code);
/// What Digits isolates: more than decimal digits.
bool isNumber(char32_t Code);
/// The blocks of ideographs that BertNormalizer surrounds with spaces.
bool isBertIdeograph(char32_t Code);

/// Appends the full, context-free lower case mapping of `Code`.
void appendLower(std::string &Out, char32_t Code);

enum class NormalForm { NFC, NFD, NFKC, NFKD };

/// `Text`, valid UTF-8, in a Unicode normalization form. Linear in its length
/// but for the sorting of runs of combining marks.
std::string normalize(std::string_view Text, NormalForm Form);

/// The ranges of \w in a class of a regular expression.
std::span<const CodeRange> regexWordRanges();
/// The ranges of \p{Han} in a regular expression.
std::span<const CodeRange> regexHanRanges();
/// The ranges that the general category `Name` ("Lu") or group of categories
/// ("L") has beyond those of Unicode 14.
std::string newerCategoryRanges(std::string_view Name);
/// "\x{1}-\x{2}...", fit for a regular expression's class.
std::string classText(std::span<const CodeRange> Ranges, bool Complement);

} // namespace tenon::tokenizer

#endif // TENON_RUNTIME_TOKENIZER_UNICODE_H
