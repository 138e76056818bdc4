//===- Sentence.h - Sentence-transformers directories -----------*- C++ -*-===//

#ifndef TENON_COMPILER_FAMILIES_SENTENCE_H
#define TENON_COMPILER_FAMILIES_SENTENCE_H

#include "compiler/Families/Encoder.h"

namespace tenon {

/// What modules.json and the files it names ask for.
struct SentenceModel {
  PoolingOptions Pooling;
  /// Texts are cut to this many tokens, special ones included.
  std::optional<int64_t> MaxTextTokens;
};

/// Whether `Directory` is one of sentence-transformers: has a modules.json.
bool isSentenceDirectory(const std::string &Directory);

/// Reads a sentence-transformers directory; nothing when `Directory` has no
/// modules.json. Understood are a Transformer in the directory itself, one
/// Pooling (mean, first or last token) over rows of `Width`, and Normalize.
Result<std::optional<SentenceModel>>
readSentenceModel(const std::string &Directory, int64_t Width);

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_SENTENCE_H
