//===- TokenizerFormats.h - Readers of tokenizers' files --------*- C++ -*-===//
//
// Each reads the vocabulary of a tokenizer's class from the files that it is
// kept in, and puts together its steps as Transformers' class does.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_CHECKPOINT_TOKENIZERFORMATS_H
#define TENON_COMPILER_CHECKPOINT_TOKENIZERFORMATS_H

#include "compiler/Checkpoint/TokenizerParts.h"

namespace tenon {

/// Of a class: its files lie at `Paths`, its settings and tokens in `Settings`,
/// which has the class's defaults.
using TokenizerReader = Result<TokenizerParts> (*)(
    const std::vector<std::string> &Paths, const TokenizerSettings &Settings);

/// A SentencePiece model of pairs with byte fallback, its spaces marked by a
/// pre-tokenizer (LLaMA), or by a normalizer without one before the text
/// (Gemma).
Result<TokenizerParts> readLlamaTokenizer(const std::vector<std::string> &Paths,
                                          const TokenizerSettings &Settings);
Result<TokenizerParts> readGemmaTokenizer(const std::vector<std::string> &Paths,
                                          const TokenizerSettings &Settings);
/// A SentencePiece unigram model, sentinels behind it (T5), or with ids one
/// higher than its own (XLM-RoBERTa).
Result<TokenizerParts> readT5Tokenizer(const std::vector<std::string> &Paths,
                                       const TokenizerSettings &Settings);
Result<TokenizerParts>
readXlmRobertaTokenizer(const std::vector<std::string> &Paths,
                        const TokenizerSettings &Settings);
/// vocab.json and merges.txt.
Result<TokenizerParts> readGpt2Tokenizer(const std::vector<std::string> &Paths,
                                         const TokenizerSettings &Settings);
Result<TokenizerParts>
readGptNeoxTokenizer(const std::vector<std::string> &Paths,
                     const TokenizerSettings &Settings);
Result<TokenizerParts>
readRobertaTokenizer(const std::vector<std::string> &Paths,
                     const TokenizerSettings &Settings);
Result<TokenizerParts> readQwen2Tokenizer(const std::vector<std::string> &Paths,
                                          const TokenizerSettings &Settings);
/// vocab.txt.
Result<TokenizerParts> readBertTokenizer(const std::vector<std::string> &Paths,
                                         const TokenizerSettings &Settings);

/// The post-processor of classes that "add_bos_token" and "add_eos_token" are
/// for; both are false by default.
Result<Json> beginAndEnd(const TokenizerParts &Parts,
                         const TokenizerSettings &Settings);

} // namespace tenon

#endif // TENON_COMPILER_CHECKPOINT_TOKENIZERFORMATS_H
