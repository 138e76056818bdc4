//===- PreTokenizers.h - The pre-tokenizers of a tokenizer ------*- C++ -*-===//
//
// Steps that split text into pieces, which a model encodes each alone. A new
// kind is a class in a .cpp and a line in the table of PreTokenizers.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TOKENIZER_PRETOKENIZERS_H
#define TENON_RUNTIME_TOKENIZER_PRETOKENIZERS_H

#include "runtime/Support/Json.h"

#include <algorithm>
#include <functional>
#include <memory>

namespace tenon::tokenizer {

/// A part of a text.
struct Piece {
  std::string_view Text;
  /// Its first bytes that stem from the first character of the whole text that
  /// is encoded: more than 0 for the first piece, as a rule.
  size_t AtStart = 0;

  /// The bytes [Begin, End).
  Piece part(size_t Begin, size_t End) const {
    return {Text.substr(Begin, End - Begin),
            std::clamp(AtStart, Begin, End) - Begin};
  }
};

/// Receives a piece that is not empty; its text lives during the call only.
using PieceSink = std::function<Status(Piece)>;

/// Splits text; safe to use from several threads.
class PreTokenizer {
public:
  virtual ~PreTokenizer() = default;

  /// Hands the pieces of `Whole`, valid UTF-8, to `Sink` from left to right. An
  /// error is the sink's, or of a regular expression that needs too many steps.
  virtual Status split(Piece Whole, const PieceSink &Sink) const = 0;

  /// Reads the object `Field`, whose "type" is one of Split, Digits,
  /// Punctuation, Whitespace, WhitespaceSplit, CharDelimiterSplit,
  /// BertPreTokenizer, ByteLevel, Metaspace, Sequence. An error for any other
  /// type or option.
  static Result<std::unique_ptr<PreTokenizer>> fromJson(const JsonField &Field);
};

/// Those that only split; the others are in PreTokenizers.cpp.
Result<std::unique_ptr<PreTokenizer>> readSplit(const JsonField &Field);
Result<std::unique_ptr<PreTokenizer>> readDigits(const JsonField &Field);
Result<std::unique_ptr<PreTokenizer>> readPunctuation(const JsonField &Field);
Result<std::unique_ptr<PreTokenizer>> readWhitespace(const JsonField &Field);
Result<std::unique_ptr<PreTokenizer>>
readWhitespaceSplit(const JsonField &Field);
Result<std::unique_ptr<PreTokenizer>>
readCharDelimiterSplit(const JsonField &Field);
Result<std::unique_ptr<PreTokenizer>>
readBertPreTokenizer(const JsonField &Field);

} // namespace tenon::tokenizer

#endif // TENON_RUNTIME_TOKENIZER_PRETOKENIZERS_H
