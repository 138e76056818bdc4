//===- Tokenizer.h - Text to token ids and back -----------------*- C++ -*-===//
//
// Tokenizers as tokenizer.json files describe them, with the ids and texts of
// the PyPI package `tokenizers`. Each step has a file of its own: normalizers,
// pre-tokenizers, models, post-processors, decoders, added tokens.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_TOKENIZER_TOKENIZER_H
#define TENON_RUNTIME_TOKENIZER_TOKENIZER_H

#include "runtime/Support/Result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::tokenizer {

/// The bytes [Begin, End) of a text.
struct ByteRange {
  size_t Begin;
  size_t End;
};

/// How a text is encoded.
struct EncodeOptions {
  /// Put the post-processor's special tokens around it.
  bool AddSpecialTokens = true;
  /// Most ids; none: as many as the file's "truncation" says.
  std::optional<size_t> MaxTokens;
  /// The ranges of the text, in order and apart from each other, that special
  /// tokens may be found in, each within one; none: everywhere. Spellings of
  /// special tokens elsewhere are plain text, whatever the model's vocabulary
  /// holds. The unknown token still stands for what the vocabulary lacks.
  std::optional<std::vector<ByteRange>> SpecialTokensWithin;
};

/// Two texts in one: their ids, and for each its type, which says of BERT's
/// kind of models what the token is a part of.
struct EncodedPair {
  std::vector<int32_t> Ids;
  std::vector<int32_t> Types;
};

/// A token as log-probabilities show it.
struct TokenText {
  /// What it adds to a text, in bytes that may be a part of a character; none
  /// of a special token, which is not in the text.
  std::optional<std::string> Added;
  /// The same in UTF-8; of a special token its spelling.
  std::string Shown;

  const std::string &bytes() const { return Added ? *Added : Shown; }
};

/// Turns text into token ids and back. Const functions may be used from any
/// number of threads at once.
class Tokenizer {
public:
  /// Reads the text of a tokenizer.json; `File` names it in errors. Anything in
  /// it that is not supported is an error that names it. "padding" is ignored.
  static Result<Tokenizer> fromJson(std::string_view Text,
                                    std::string_view File);
  static Result<Tokenizer> fromFile(const std::string &Path);

  Tokenizer(Tokenizer &&) noexcept;
  Tokenizer &operator=(Tokenizer &&) noexcept;
  ~Tokenizer();

  /// The ids of `Text`, with the special tokens that the post-processor puts
  /// around a text if `AddSpecialTokens`. At most `MaxTokens` ids, by default
  /// as many as the file's "truncation" says: the text's own ids are cut, on
  /// the side that it names. An error, which names the byte offset, for text
  /// that is not UTF-8; others as the steps say.
  Result<std::vector<int32_t>>
  encode(std::string_view Text, bool AddSpecialTokens = true,
         std::optional<size_t> MaxTokens = std::nullopt) const;
  /// The same with all options. An error also for a special token of one
  /// character that the model would make of plain text.
  Result<std::vector<int32_t>> encode(std::string_view Text,
                                      const EncodeOptions &Options) const;

  /// The ids of two texts as one, as models read them that compare texts, and
  /// their types. More than `MaxTokens` ids, by default as many as the file's
  /// "truncation" says, are cut as it says, or else of the longer text first.
  /// An error where the post-processor says nothing of pairs; others as of
  /// encode().
  Result<EncodedPair>
  encodePair(std::string_view First, std::string_view Second,
             bool AddSpecialTokens = true,
             std::optional<size_t> MaxTokens = std::nullopt) const;

  /// The text of `Ids`. Ids that are no token's are skipped, as by
  /// `tokenizers`, and special tokens if `SkipSpecialTokens`. Bytes that are
  /// not UTF-8 become U+FFFD.
  std::string decode(std::span<const int32_t> Ids,
                     bool SkipSpecialTokens = true) const;

  /// An error that names the first of `Ids` that is no token's, for callers to
  /// whom decode() should not skip it.
  Status checkIds(std::span<const int32_t> Ids) const;

  /// The number of tokens, added ones included. Ids can be higher when the
  /// vocabulary leaves gaps.
  size_t vocabularySize() const;

  /// The id of the token that is spelled so in the file.
  std::optional<int32_t> idOf(std::string_view Token) const;

  /// The spelling of `Id` where it is an added token, such as "<tool_call>":
  /// one that is found in a text before the text is cut into tokens.
  std::optional<std::string_view> addedToken(int32_t Id) const;

  /// One more than the highest id.
  int32_t idEnd() const;

  /// The bytes, which need not be UTF-8, that `Id` adds to a text, as its first
  /// token or behind others; none for ids that are no token's, and for special
  /// tokens. An error where that depends on the tokens around it.
  Result<std::optional<std::string>> bytesOf(int32_t Id, bool IsFirst) const;

  /// `Id` as the first token of a text or behind others; where that depends on
  /// the tokens around it, as it is alone.
  TokenText textOf(int32_t Id, bool IsFirst) const;

private:
  friend class StreamingDecoder;
  struct Parts;
  static Result<Tokenizer> read(std::string_view Text, std::string_view File);
  explicit Tokenizer(std::unique_ptr<const Parts> Steps);

  std::unique_ptr<const Parts> Steps;
};

/// Decodes ids one by one. What push() and finish() give, joined, is decode()
/// of all ids; no part of a character is ever given.
class StreamingDecoder {
public:
  /// The tokenizer must outlive this, and not be moved.
  explicit StreamingDecoder(const Tokenizer &T, bool SkipSpecialTokens = true);

  StreamingDecoder(StreamingDecoder &&) noexcept;
  StreamingDecoder &operator=(StreamingDecoder &&) noexcept;
  ~StreamingDecoder();

  /// The text that is certain now that `Id` follows; often empty.
  std::string push(int32_t Id);
  /// The rest; afterwards a new text begins.
  std::string finish();

private:
  struct State;
  std::unique_ptr<State> Current;
};

} // namespace tenon::tokenizer

#endif // TENON_RUNTIME_TOKENIZER_TOKENIZER_H
