//===- DirectoryTokenizer.h - Without a tokenizer.json ----------*- C++ -*-===//
//
// Makes a tokenizer.json of the other files in which Hugging Face directories
// have tokenizers, as Transformers' fast tokenizers read them.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_CHECKPOINT_DIRECTORYTOKENIZER_H
#define TENON_COMPILER_CHECKPOINT_DIRECTORYTOKENIZER_H

#include "runtime/Support/Result.h"

#include <string>
#include <string_view>
#include <vector>

namespace tenon {

/// The text of a tokenizer.json for `Directory`, which has none; empty when it
/// has no other files of a tokenizer either, or files that are not read, which
/// a line in `Notes` then explains. The tokenizer's class is "tokenizer_class"
/// of tokenizer_config.json, or else of config.json, or else the one that
/// models of `ModelType` have. An error for files that are damaged.
Result<std::string> readDirectoryTokenizer(const std::string &Directory,
                                           std::string_view ModelType,
                                           std::vector<std::string> &Notes);

} // namespace tenon

#endif // TENON_COMPILER_CHECKPOINT_DIRECTORYTOKENIZER_H
