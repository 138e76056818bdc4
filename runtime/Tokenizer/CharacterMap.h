//===- CharacterMap.h - SentencePiece's normalization rules -----*- C++ -*-===//
//
// The character map that SentencePiece compiles its normalization rules to: a
// double-array trie in the units of the library Darts-clone, and the texts that
// replace its keys. https://github.com/s-yata/darts-clone describes the units.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TOKENIZER_CHARACTERMAP_H
#define TENON_RUNTIME_TOKENIZER_CHARACTERMAP_H

#include "runtime/Support/Result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::tokenizer {

/// Keys and the texts that replace them.
class CharacterMap {
public:
  /// Reads `Blob`: the trie's size in bytes as 4 bytes, little end first, the
  /// trie's units of 4 bytes, then the texts, each with a NUL behind it. An
  /// error, without naming a file, for sizes beyond the blob, units that lead
  /// out of the trie, values that are no text's, texts that are not UTF-8 or
  /// too long.
  static Result<CharacterMap> fromBytes(std::string_view Blob);

  /// What replaces the shortest key that `Text` begins with. Takes at most a
  /// step per byte of `Text`, whatever the units say.
  std::optional<std::string_view> find(std::string_view Text) const;

private:
  CharacterMap() = default;

  std::vector<uint32_t> Units;
  std::string Texts;
};

} // namespace tenon::tokenizer

#endif // TENON_RUNTIME_TOKENIZER_CHARACTERMAP_H
