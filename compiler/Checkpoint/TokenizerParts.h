//===- TokenizerParts.h - A tokenizer.json that is put together -*- C++ -*-===//

#ifndef TENON_COMPILER_CHECKPOINT_TOKENIZERPARTS_H
#define TENON_COMPILER_CHECKPOINT_TOKENIZERPARTS_H

#include "compiler/Checkpoint/TokenizerSettings.h"

#include <functional>
#include <unordered_map>

namespace tenon {

/// The parts of a tokenizer.json that is made of other files. All texts are
/// UTF-8.
class TokenizerParts {
public:
  /// Steps as tokenizer.json has them; null for none.
  Json Normalizer, PreTokenizer, PostProcessor, Decoder;
  /// Why the files are not read as what their class says; empty if they are.
  std::string Unfit;

  /// Takes tokens with their ids as the model's vocabulary.
  void setVocabulary(std::vector<std::pair<std::string, int64_t>> Tokens);
  const std::vector<std::pair<std::string, int64_t>> &vocabulary() const {
    return Vocabulary;
  }
  /// The model: BPE with these pairs, WordPiece, and Unigram with the score of
  /// each token of the vocabulary, whose ids are then 0, 1, ... `Options` are
  /// the members but for "type", "vocab" and "merges".
  void setBytePairs(
      const std::vector<std::pair<std::string_view, std::string_view>> &Merges,
      const Json &Options);
  void setWordPieces(const Json &Options);
  void setUnigram(const std::vector<float> &Scores, const Json &Options);

  /// Gives tokens the ids that the vocabulary has for them, or the next ones.
  void addTokens(const std::vector<AddedToken> &Tokens);

  /// The id of a token of the vocabulary or an added one.
  std::optional<int64_t> idOf(std::string_view Token) const;

  /// TemplateProcessing with these tokens around a text, each of which is
  /// known.
  Json around(const std::vector<std::string> &Before,
              const std::vector<std::string> &After) const;

  /// The text of the tokenizer.json.
  std::string text() const;

private:
  /// Finds views without a string made of each.
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view Text) const {
      return std::hash<std::string_view>()(Text);
    }
  };

  void setModel(std::string_view Type, const Json &Options,
                std::string_view Vocab, std::string_view Merges);
  std::string vocabularyText() const;

  std::vector<std::pair<std::string, int64_t>> Vocabulary;
  std::unordered_map<std::string, int64_t, Hash, std::equal_to<>> Ids;
  std::string Model;
  Json Added = Json::array();
};

/// Bytes in base64 (RFC 4648, section 4, padded).
std::string encodeBase64(std::string_view Bytes);

} // namespace tenon

#endif // TENON_COMPILER_CHECKPOINT_TOKENIZERPARTS_H
