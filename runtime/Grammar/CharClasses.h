//===- CharClasses.h - Escapes in regular expressions -----------*- C++ -*-===//

#ifndef TENON_RUNTIME_GRAMMAR_CHARCLASSES_H
#define TENON_RUNTIME_GRAMMAR_CHARCLASSES_H

#include "runtime/Grammar/CharSet.h"
#include "runtime/Support/Result.h"

#include <string_view>

namespace tenon::grammar {

/// The characters that an escape stands for, which begins at the backslash
/// Text[At]; `At` moves behind it.
Result<CharSet> parseEscape(std::u32string_view Text, size_t &At,
                            bool IsInClass);

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_CHARCLASSES_H
