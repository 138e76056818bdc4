//===- GgufTokenizer.h - The tokenizer of a GGUF file -----------*- C++ -*-===//
//
// Writes what a file says about its tokens as the tokenizer.json that Hugging
// Face's tokenizers would have for them.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_CHECKPOINT_GGUFTOKENIZER_H
#define TENON_COMPILER_CHECKPOINT_GGUFTOKENIZER_H

#include "compiler/Checkpoint/Gguf.h"
#include "runtime/Support/Json.h"

namespace tenon {

/// The text of a tokenizer.json, empty when the file has no tokens: byte-level
/// BPE ("gpt2", split as "tokenizer.ggml.pre" names it) or SentencePiece's BPE
/// ("llama"). Puts the ids of begin and padding, and of all tokens that end a
/// text, a turn or a message into `Settings`, as config.json has them. An error
/// for any other kind, a key or a split that is not known, and tokens, merges
/// or ids that cannot be.
Result<std::string> readGgufTokenizer(const GgufFile &File, Json &Settings);

/// The id of one of `Tokens` tokens that "tokenizer.ggml.`Name`" gives:
/// "bos_token_id" and so on. Without it, vocabularies of SentencePiece have
/// LLaMA's unknown token, begin and end, 0 to 2; all else is none.
Result<std::optional<int64_t>>
ggufTokenId(const GgufFile &File, std::string_view Name, size_t Tokens);

} // namespace tenon

#endif // TENON_COMPILER_CHECKPOINT_GGUFTOKENIZER_H
