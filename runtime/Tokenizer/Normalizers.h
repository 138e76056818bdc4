//===- Normalizers.h - The normalizers of a tokenizer -----------*- C++ -*-===//
//
// Steps that rewrite text before it is split. A new kind is a class in a .cpp
// and a line in the table of Normalizers.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TOKENIZER_NORMALIZERS_H
#define TENON_RUNTIME_TOKENIZER_NORMALIZERS_H

#include "runtime/Support/Json.h"

#include <memory>

namespace tenon::tokenizer {

/// Rewrites text; safe to use from several threads.
class Normalizer {
public:
  virtual ~Normalizer() = default;

  /// Rewrites `Text`, which is and stays valid UTF-8. Its first `AtStart` bytes
  /// stem from the first character of the whole text that is encoded; so they
  /// do afterwards. An error when a regular expression needs too many steps, or
  /// when the text becomes longer than texts may be.
  virtual Status apply(std::string &Text, size_t &AtStart) const = 0;

  /// The same for text whose place does not matter.
  Status apply(std::string &Text) const {
    size_t AtStart = 0;
    return apply(Text, AtStart);
  }

  /// Reads the object `Field`, whose "type" is one of NFC, NFD, NFKC, NFKD,
  /// Lowercase, StripAccents, Strip, Nmt, Replace, Prepend, ByteLevel,
  /// Precompiled, BertNormalizer, Sequence. An error for any other type or
  /// option.
  static Result<std::unique_ptr<Normalizer>> fromJson(const JsonField &Field);
};

/// BertNormalizer: control characters, ideographs, accents and case.
Result<std::unique_ptr<Normalizer>> readBertNormalizer(const JsonField &Field);

/// Precompiled: the character map of a SentencePiece model, in base64.
Result<std::unique_ptr<Normalizer>>
readPrecompiledNormalizer(const JsonField &Field);

} // namespace tenon::tokenizer

#endif // TENON_RUNTIME_TOKENIZER_NORMALIZERS_H
