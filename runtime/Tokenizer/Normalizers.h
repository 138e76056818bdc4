//===- Normalizers.h - The normalizers of a tokenizer -----------*- C++ -*-===//
//
// Steps that rewrite text before it is split. A new kind is a class in the .cpp
// and a line in its table.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TOKENIZER_NORMALIZERS_H
#define TENON_RUNTIME_TOKENIZER_NORMALIZERS_H

#include "runtime/Support/Json.h"

#include <memory>

namespace tenon {

/// Rewrites text; safe to use from several threads.
class Normalizer {
public:
  virtual ~Normalizer() = default;

  /// Rewrites `Text`, which is and stays valid UTF-8. An error when a regular
  /// expression needs too many steps.
  virtual Status apply(std::string &Text) const = 0;

  /// Reads the object `Field`, whose "type" is one of NFC, NFD, NFKC, NFKD,
  /// Lowercase, StripAccents, Strip, Replace, Prepend, BertNormalizer,
  /// Sequence. An error for any other type or option.
  static Result<std::unique_ptr<Normalizer>> fromJson(const JsonField &Field);
};

} // namespace tenon

#endif // TENON_RUNTIME_TOKENIZER_NORMALIZERS_H
