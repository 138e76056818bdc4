//===- BertLike.h - What encoders of the BERT kind share --------*- C++ -*-===//
//
// Learned positions, post-norm layers with bidirectional attention and a plain
// feed-forward, BERT's names, and the heads that go with them.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_FAMILIES_BERTLIKE_H
#define TENON_COMPILER_FAMILIES_BERTLIKE_H

#include "compiler/Families/Encoder.h"

namespace tenon {

/// What tells one family of the BERT kind from another.
struct BertTraits {
  /// The scope of everything but the head, in checkpoints that have one.
  const char *Scope;
  /// Positions begin behind the padding token's (RoBERTa).
  bool PositionsAfterPadding = false;
  /// The embedding is of embedding_size and projected (ELECTRA).
  bool ProjectsEmbedding = false;
};

/// Reads everything up to the hidden states.
EncoderModel readBertLike(ConfigReader &Config, const BertTraits &Traits);

/// Builds heads out of their usual parts, by the last words of the
/// architecture that the config names.
class AnswerReader {
public:
  AnswerReader(ConfigReader &Config, EncoderModel &Model);

  /// Whether the architecture's name ends so ("ForMaskedLM").
  bool is(std::string_view Suffix) const;
  /// "...Model": hidden states, like no architecture at all.
  bool isBare() const;
  /// Refuses an architecture that nothing asked about.
  void refuse(std::string_view Known);

  /// One linear layer for each token: its module `Key`, named in full.
  void perToken(const std::string &Key, int64_t Outputs);
  /// A row per text: the first token's, through `Dense` and an activation, and
  /// `Final` with an output per label.
  void perText(const std::string &Dense, transformer::Activation Act,
               const std::string &Final);
  /// Logits of the vocabulary: `Dense`, an activation, a norm, then the matrix
  /// `Decoder` or the embedding's table, and the bias `TiedBias` or, with a
  /// matrix of its own, `Bias`.
  struct MaskedNames {
    std::string Dense, Norm, Decoder, TiedBias, Bias;
  };
  void masked(const MaskedNames &Names, transformer::Activation Act,
              int64_t Width);
  void linear(const std::string &Key, int64_t Outputs) {
    Model.Answer.linear(Key + ".weight", Key + ".bias", Outputs);
  }
  int64_t labels();

private:
  ConfigReader &Config;
  EncoderModel &Model;
  std::string Architecture;
};

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_BERTLIKE_H
