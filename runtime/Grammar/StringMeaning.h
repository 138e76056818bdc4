//===- StringMeaning.h - What a string of JSON means ------------*- C++ -*-===//

#ifndef TENON_RUNTIME_GRAMMAR_STRINGMEANING_H
#define TENON_RUNTIME_GRAMMAR_STRINGMEANING_H

#include <string>
#include <string_view>

namespace tenon::grammar {

/// The text of JSON's string `Raw`, which is right as far as it goes, with or
/// without its quotes: its whole characters.
std::string meaningOfString(std::string_view Raw);

} // namespace tenon::grammar

#endif // TENON_RUNTIME_GRAMMAR_STRINGMEANING_H
