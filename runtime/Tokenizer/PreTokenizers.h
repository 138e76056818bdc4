//===- PreTokenizers.h - The pre-tokenizers of a tokenizer ------*- C++ -*-===//
//
// Steps that split text into pieces, which a model encodes each alone. A new
// kind is a class in the .cpp and a line in its table.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TOKENIZER_PRETOKENIZERS_H
#define TENON_RUNTIME_TOKENIZER_PRETOKENIZERS_H

#include "runtime/Support/Json.h"

#include <functional>
#include <memory>

namespace tenon {

/// Receives a piece that is not empty; the text lives during the call only.
using PieceSink = std::function<Status(std::string_view Piece)>;

/// Splits text; safe to use from several threads.
class PreTokenizer {
public:
  virtual ~PreTokenizer() = default;

  /// Hands the pieces of `Text`, valid UTF-8, to `Sink` from left to right. An
  /// error is the sink's, or of a regular expression that needs too many steps.
  virtual Status split(std::string_view Text, const PieceSink &Sink) const = 0;

  /// Reads the object `Field`, whose "type" is one of Split, ByteLevel,
  /// BertPreTokenizer, Sequence. An error for any other type or option.
  static Result<std::unique_ptr<PreTokenizer>> fromJson(const JsonField &Field);
};

} // namespace tenon

#endif // TENON_RUNTIME_TOKENIZER_PRETOKENIZERS_H
