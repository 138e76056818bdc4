//===- TokenizerFile.h - Parsing tokenizer.json -----------------*- C++ -*-===//
//
// A tokenizer.json as JSON, its vocabulary set apart: 150,000 members need no
// tree.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TOKENIZER_TOKENIZERFILE_H
#define TENON_RUNTIME_TOKENIZER_TOKENIZERFILE_H

#include "runtime/Support/Json.h"

#include <string>
#include <utility>
#include <vector>

namespace tenon::tokenizer {

/// Objects other than the vocabulary may have this many members.
inline constexpr size_t MaxTokenizerMembers = 4096;

struct TokenizerFile {
  /// Parses `Text`; `File` names it in errors. Refuses what parseJson refuses,
  /// and objects of too many members.
  static Result<TokenizerFile> parse(std::string_view Text,
                                     std::string_view File);

  JsonField field() const { return JsonField(Root, File); }

  std::string File;
  /// Without the members of "model.vocab".
  Json Root;
  /// "model.vocab" when it is an object, in the file's order, duplicates
  /// included.
  std::vector<std::pair<std::string, int64_t>> Vocabulary;
  /// The same when it is an array of [token, score].
  std::vector<std::pair<std::string, double>> ScoredVocabulary;
};

} // namespace tenon::tokenizer

#endif // TENON_RUNTIME_TOKENIZER_TOKENIZERFILE_H
