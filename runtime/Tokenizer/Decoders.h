//===- Decoders.h - The decoders of a tokenizer -----------------*- C++ -*-===//
//
// Steps that turn tokens back into text. They work as they go, so that text can
// be streamed; decoding at once is the same steps. A new kind is a stage in
// DecodeStages.h and a line in the table of the .cpp.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TOKENIZER_DECODERS_H
#define TENON_RUNTIME_TOKENIZER_DECODERS_H

#include "runtime/Support/Json.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace tenon::tokenizer {

/// One decoder at work on one sequence of tokens. Each token comes as
/// begin(), any number of text(), end(); what the stage makes of it goes to the
/// next stage in the same way, at once or later, at the latest in finish().
/// Text of every call is valid UTF-8.
class DecodeStage {
public:
  virtual ~DecodeStage() = default;
  virtual void begin() = 0;
  virtual void text(std::string_view Part) = 0;
  virtual void end() = 0;
  virtual void finish() = 0;
};

/// Makes the stages of a decoder; safe to use from several threads.
class Decoder {
public:
  /// Puts the stages of this decoder before `Next`; the decoder must outlive
  /// them.
  std::unique_ptr<DecodeStage> start(std::unique_ptr<DecodeStage> Next) const;

  /// Reads the object `Field`, whose "type" is one of ByteLevel, WordPiece,
  /// Replace, Fuse, ByteFallback, Strip, Metaspace, BPEDecoder, Sequence. An
  /// error for any other type or option.
  static Result<Decoder> fromJson(const JsonField &Field);

  /// For a tokenizer without decoder: tokens with spaces between.
  static Decoder joinWithSpaces();

  /// The bytes that `Token` adds to a text, at its beginning or behind others,
  /// where that does not depend on what follows: of ByteLevel, ByteFallback,
  /// Replace, Fuse, Metaspace, and Strip at the start. None for other types.
  std::optional<std::string> bytesOf(std::string_view Token,
                                     bool IsFirst) const;

private:
  using Factory = std::function<std::unique_ptr<DecodeStage>(
      std::unique_ptr<DecodeStage> Next)>;
  friend struct DecoderReader;

  /// In the order in which tokens pass them.
  std::vector<Factory> Stages;
  bool IsByteLevel = false;
  bool HasByteFallback = false;
  /// What a token adds depends on what is behind it, or is joined by spaces.
  bool NeedsFollowing = false;
};

} // namespace tenon::tokenizer

#endif // TENON_RUNTIME_TOKENIZER_DECODERS_H
