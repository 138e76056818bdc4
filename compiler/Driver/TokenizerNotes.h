//===- TokenizerNotes.h - Files beside a tokenizer.json ---------*- C++ -*-===//

#ifndef TENON_COMPILER_DRIVER_TOKENIZERNOTES_H
#define TENON_COMPILER_DRIVER_TOKENIZERNOTES_H

#include "runtime/Tokenizer/Tokenizer.h"

#include <string>
#include <vector>

namespace tenon {

/// One note for each of tokenizer_config.json, special_tokens_map.json and
/// added_tokens.json in `Directory` that contradicts `Used`, the directory's
/// tokenizer, which `Source` names. Files that cannot be parsed are left alone:
/// nothing of them is used.
std::vector<std::string>
notesOnTokenizer(const std::string &Directory, const tokenizer::Tokenizer &Used,
                 const std::string &Source = "tokenizer.json");

} // namespace tenon

#endif // TENON_COMPILER_DRIVER_TOKENIZERNOTES_H
