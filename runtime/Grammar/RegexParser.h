//===- RegexParser.h - Regular expressions as they are written --*- C++ -*-===//
//
// The syntax that ECMAScript and RE2 share, with lookahead: what has no meaning
// as a regular language, such as back-references, is an error that names it.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_GRAMMAR_REGEXPARSER_H
#define TENON_RUNTIME_GRAMMAR_REGEXPARSER_H

#include "runtime/Grammar/RegexPool.h"
#include "runtime/Support/Result.h"

namespace tenon::grammar {

/// Groups within each other, and counts of a repetition.
inline constexpr int MaxRegexDepth = 128;
inline constexpr uint32_t MaxRegexCount = 100'000;

/// The texts that `Pattern`, valid UTF-8, matches: as a whole, or for
/// `Searches` those that it is found in, as "pattern" of JSON schema means it.
Result<NodeId> parseRegex(RegexPool &Pool, std::string_view Pattern,
                          bool Searches);

/// The set that a class such as "[a-z\d]" means, beginning at `At`, which moves
/// behind it: of regular expressions and of EBNF.
Result<CharSet> parseClass(std::u32string_view Text, size_t &At);

/// Valid UTF-8 as code points, and back.
std::u32string codesOf(std::string_view Text);
std::string textOf(std::u32string_view Codes);

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_REGEXPARSER_H
