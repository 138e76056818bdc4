//===- Metaspace.h - The character that stands for a space ------*- C++ -*-===//

#ifndef TENON_RUNTIME_TOKENIZER_METASPACE_H
#define TENON_RUNTIME_TOKENIZER_METASPACE_H

#include "runtime/Support/Json.h"

namespace tenon::tokenizer {

/// The options that the pre-tokenizer and the decoder share.
struct MetaspaceOptions {
  enum PrependScheme { Always, First, Never };

  std::string Replacement; ///< One character.
  PrependScheme Prepend = Always;
  bool Split = true;
};

/// Reads "replacement", "prepend_scheme", "split" and, of older files,
/// "add_prefix_space" and "str_rep", which repeats the replacement.
Result<MetaspaceOptions> readMetaspaceOptions(const JsonField &Field);

} // namespace tenon::tokenizer

#endif // TENON_RUNTIME_TOKENIZER_METASPACE_H
