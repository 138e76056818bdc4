//===- TokenizeCommand.h - tenon tokenize -----------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_TOKENIZER_TOKENIZECOMMAND_H
#define TENON_RUNTIME_TOKENIZER_TOKENIZECOMMAND_H

#include "runtime/Tokenizer/Tokenizer.h"

namespace tenon::tokenizer {

/// What to do: the first of these that is given.
struct TokenizeOptions {
  /// A text; answers its ids on one line, commas between.
  std::optional<std::string> Text;
  /// A JSON file, an array of texts; answers a JSON array of arrays of ids.
  std::string JsonLinesFile;
  /// Ids; answers their text, without special tokens.
  std::vector<int32_t> Decode;
  bool AddSpecialTokens = true;
};

/// Runs `tenon tokenize`; `Out` becomes what it prints, line ends included.
Status runTokenize(const Tokenizer &T, const TokenizeOptions &O,
                   std::string &Out);

} // namespace tenon::tokenizer

#endif // TENON_RUNTIME_TOKENIZER_TOKENIZECOMMAND_H
