//===- Graphemes.h - Where grapheme clusters end ----------------*- C++ -*-===//

#ifndef TENON_RUNTIME_TOKENIZER_GRAPHEMES_H
#define TENON_RUNTIME_TOKENIZER_GRAPHEMES_H

#include <cstddef>
#include <string_view>

namespace tenon::tokenizer {

/// The end of the extended grapheme cluster (Unicode Standard Annex 29) that
/// starts at byte `Begin` < Text.size() of valid UTF-8; all clusters together
/// take time linear in the text.
size_t graphemeEnd(std::string_view Text, size_t Begin);

} // namespace tenon::tokenizer

#endif // TENON_RUNTIME_TOKENIZER_GRAPHEMES_H
