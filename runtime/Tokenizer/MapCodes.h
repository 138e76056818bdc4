//===- MapCodes.h - Rewriting text character by character -------*- C++ -*-===//

#ifndef TENON_RUNTIME_TOKENIZER_MAPCODES_H
#define TENON_RUNTIME_TOKENIZER_MAPCODES_H

#include "runtime/Tokenizer/Unicode.h"

#include <string>

namespace tenon::tokenizer {

/// Replaces each code point of `Text`, valid UTF-8, by what
/// `Rewrite(std::string &Out, char32_t Code)` appends for it; `AtStart` goes
/// with the characters (see Normalizer::apply).
template <typename Function>
void mapCodes(std::string &Text, size_t &AtStart, Function Rewrite) {
  std::string Out;
  Out.reserve(Text.size());
  size_t Kept = 0;
  for (size_t At = 0; At < Text.size();) {
    bool First = At < AtStart;
    Rewrite(Out, nextCode(Text, At));
    if (First)
      Kept = Out.size();
  }
  AtStart = Kept;
  Text = std::move(Out);
}

} // namespace tenon::tokenizer

#endif // TENON_RUNTIME_TOKENIZER_MAPCODES_H
