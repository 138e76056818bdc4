//===- Marian.cpp - Marian's translators, the original Transformer --------===//

#include "compiler/Families/BartLike.h"
#include "compiler/Families/Family.h"

using namespace tenon;

static ModelDescription readMarianConfig(ConfigReader &Config) {
  TranslationModel Model = readBartLike(
      Config, {"gelu", /*IsLearned=*/false, "MarianMTModel", "MarianModel"});
  const std::string Scope = bartScope(Config);
  const std::string Shared = parameterName(Scope, "shared.weight");
  Config.fixed("force_bos_token_to_be_generated", false);
  Model.DefaultStart = 58100;
  Model.DefaultForcedLast = 0;
  bool IsShared = Config.flagOr("share_encoder_decoder_embeddings", true);
  int64_t Source = Model.Sizes.Vocabulary;
  int64_t Target = Config.sizeOr({"decoder_vocab_size"}, Source, MaxVocabulary);
  Config.expect(!IsShared || Target == Source, "decoder_vocab_size",
                "vocab_size, as the embeddings are shared");
  Model.Sizes.Vocabulary = Target;
  Model.Encoder.Embedding.Vocabulary = Source;
  for (StackOptions *Stack : {&Model.Encoder, &Model.Decoder}) {
    Stack->Embedding.Tokens =
        IsShared ? "shared.weight" : "embed_tokens.weight";
    if (IsShared)
      Stack->Embedding.TokensScope = Scope;
  }
  std::string Table =
      IsShared ? Shared : Model.Decoder.nameOf("embed_tokens.weight");
  bool IsTied = Config.sharesTable(Config.flagOr("tie_word_embeddings", true),
                                   "lm_head.weight", Table);
  Model.Head.Weight = IsTied ? Table : "lm_head.weight";
  if (!Config.Input.Weights || Config.hasTensor("final_logits_bias"))
    Model.Head.Bias = "final_logits_bias^flat";
  // Copies.
  Model.UnusedTensors = {"lm_head.weight", Shared,
                         Model.Encoder.nameOf("embed_tokens.weight"),
                         Model.Decoder.nameOf("embed_tokens.weight")};
  return Model;
}

const Family tenon::MarianFamily = {"marian", readMarianConfig};
