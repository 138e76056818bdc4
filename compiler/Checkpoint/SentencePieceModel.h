//===- SentencePieceModel.h - The files of SentencePiece --------*- C++ -*-===//
//
// Reads what SentencePiece trains: a message ModelProto in the encoding of
// Protocol Buffers, of which tokenizers need few fields.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_CHECKPOINT_SENTENCEPIECEMODEL_H
#define TENON_COMPILER_CHECKPOINT_SENTENCEPIECEMODEL_H

#include "runtime/Support/Result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

struct SentencePieceModel {
  /// TrainerSpec.ModelType.
  enum ModelType : int64_t { Unigram = 1, BytePairs, Words, Characters };
  /// ModelProto.SentencePiece.Type.
  enum PieceType : int64_t {
    Normal = 1,
    Unknown,
    Control,
    UserDefined,
    Unused,
    Byte
  };
  /// Their index is their id.
  struct Piece {
    std::string Text;
    /// Finite.
    float Score = 0;
    PieceType Type = Normal;
  };

  ModelType Kind = Unigram;
  /// Each text is UTF-8, not empty, and there once.
  std::vector<Piece> Pieces;
  int64_t UnknownId = 0;
  /// "precompiled_charsmap", empty for none.
  std::string CharacterMap;

  /// Reads the content of a file; `File` names it in errors. Any field that is
  /// not needed is skipped, whatever it holds. An error for bytes that are no
  /// such message, too many pieces, and pieces that cannot be.
  static Result<SentencePieceModel> parse(std::string_view Bytes,
                                          const std::string &File);
  static Result<SentencePieceModel> open(const std::string &Path);
};

/// "unigram", "bpe", "word" or "char".
std::string_view nameOf(SentencePieceModel::ModelType Kind);

} // namespace tenon

#endif // TENON_COMPILER_CHECKPOINT_SENTENCEPIECEMODEL_H
