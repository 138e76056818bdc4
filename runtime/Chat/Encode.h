//===- Encode.h - Prompts to token ids --------------------------*- C++ -*-===//

#ifndef TENON_RUNTIME_CHAT_ENCODE_H
#define TENON_RUNTIME_CHAT_ENCODE_H

#include "runtime/Chat/Template.h"
#include "runtime/Tokenizer/Tokenizer.h"

namespace tenon::chat {

/// The ids of a rendered prompt, in which no special token stems from text of
/// a user: special tokens are found in the pieces of the template only, each
/// within one piece, and their spellings elsewhere are plain text. All else is
/// as the tokenizer encodes the whole text, without the special tokens that it
/// puts around a text, which templates write themselves, and not truncated.
Result<std::vector<int32_t>> encode(const tokenizer::Tokenizer &T,
                                    const std::vector<Piece> &Pieces);

} // namespace tenon::chat

#endif // TENON_RUNTIME_CHAT_ENCODE_H
