//===- Models.h - The models of a tokenizer ---------------------*- C++ -*-===//
//
// A model turns one piece of text into ids. A new kind is a file beside
// BytePairModel.cpp and a line in the table of Models.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TOKENIZER_MODELS_H
#define TENON_RUNTIME_TOKENIZER_MODELS_H

#include "runtime/Tokenizer/TokenizerFile.h"
#include "runtime/Tokenizer/Vocabulary.h"

#include <algorithm>
#include <array>
#include <memory>

namespace tenon::tokenizer {

/// One encoding at work: what a model keeps between pieces of one text.
class ModelRun {
public:
  virtual ~ModelRun() = default;

  /// Appends the ids of `Piece`, valid UTF-8 and not empty. An error when it
  /// needs the unknown token and the vocabulary has none.
  virtual Status encode(std::string_view Piece, std::vector<int32_t> &Ids) = 0;
};

/// Safe to use from several threads, each with runs of its own.
class Model {
public:
  explicit Model(Vocabulary Tokens) : Tokens(std::move(Tokens)) {}
  virtual ~Model() = default;

  /// A run; the model must outlive it.
  virtual std::unique_ptr<ModelRun> start() const = 0;

  const Vocabulary &vocabulary() const { return Tokens; }

  /// Reads "model" of the file, whose "type" is BPE, WordPiece, Unigram or
  /// WordLevel. A file without "type" is told by its fields. An error for any
  /// other type or option.
  static Result<std::unique_ptr<Model>> fromFile(TokenizerFile &File);

private:
  Vocabulary Tokens;
};

/// The tokens <0x00> to <0xFF>, which spell what a vocabulary lacks.
class ByteTokens {
public:
  explicit ByteTokens(const Vocabulary &Tokens);

  /// Whether all bytes of `Text` have tokens.
  bool spells(std::string_view Text) const {
    return std::all_of(Text.begin(), Text.end(),
                       [&](char C) { return idOf(C) >= 0; });
  }

  /// -1 for none.
  int32_t idOf(char Byte) const {
    return Ids[static_cast<unsigned char>(Byte)];
  }

private:
  std::array<int32_t, 256> Ids;
};

/// The vocabulary of tokens and ids in "vocab" of the model `Field`, moved out
/// of `File`.
Result<Vocabulary> takeVocabulary(const JsonField &Field, TokenizerFile &File);

/// Byte-pair encoding (Sennrich et al., 2016): the pair of neighbours with the
/// lowest rank merges first, the leftmost of equals.
Result<std::unique_ptr<Model>> readBytePairModel(const JsonField &Field,
                                                 TokenizerFile &File);

/// WordPiece: the longest token at the start, then the longest with the
/// continuing prefix, and so on; the unknown token when one is missing.
Result<std::unique_ptr<Model>> readWordPieceModel(const JsonField &Field,
                                                  TokenizerFile &File);

/// Unigram language model (Kudo, 2018): the tokens of the highest sum of
/// scores; characters that are unknown become one token, or bytes.
Result<std::unique_ptr<Model>> readUnigramModel(const JsonField &Field,
                                                TokenizerFile &File);

/// The token of the whole piece, or the unknown token.
Result<std::unique_ptr<Model>> readWordLevelModel(const JsonField &Field,
                                                  TokenizerFile &File);

} // namespace tenon::tokenizer

#endif // TENON_RUNTIME_TOKENIZER_MODELS_H
