//===- ByteAlphabet.h - Bytes as printable characters -----------*- C++ -*-===//
//
// GPT-2's one-to-one map from bytes to characters: printable Latin-1 stands for
// itself, the other 68 bytes for U+0100 on, in order.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TOKENIZER_BYTEALPHABET_H
#define TENON_RUNTIME_TOKENIZER_BYTEALPHABET_H

#include <optional>
#include <string>
#include <string_view>

namespace tenon::tokenizer {

/// `Bytes` spelled in the alphabet.
void appendSpelledBytes(std::string &Out, std::string_view Bytes);

/// The byte that `Code` stands for.
std::optional<unsigned char> spelledByte(char32_t Code);

} // namespace tenon::tokenizer

#endif // TENON_RUNTIME_TOKENIZER_BYTEALPHABET_H
