//===- Bart.cpp - BART ----------------------------------------------------===//

#include "compiler/Families/BartLike.h"
#include "compiler/Families/Family.h"

using namespace tenon;

static ModelDescription readBartConfig(ConfigReader &Config) {
  TranslationModel Model =
      readBartLike(Config, {"gelu", /*IsLearned=*/true,
                            "BartForConditionalGeneration", "BartModel"});
  // What files said before they named the first token.
  Config.expect(!Config.flagOr("force_bos_token_to_be_generated", false) ||
                    Config.Settings.has("forced_bos_token_id") ||
                    Config.Settings.generation(),
                "force_bos_token_to_be_generated",
                "false, or 'forced_bos_token_id' beside it");
  Model.DefaultStart = 2;
  Model.DefaultForcedLast = 2;
  const std::string Scope = bartScope(Config);
  const std::string Shared = parameterName(Scope, "shared.weight");
  bool IsTied = Config.flagOr("tie_word_embeddings", true);
  auto SetTable = [&](StackOptions &Stack) {
    Stack.Embedding.Tokens = IsTied ? "shared.weight" : "embed_tokens.weight";
    if (IsTied)
      Stack.Embedding.TokensScope = Scope;
  };
  SetTable(Model.Encoder);
  SetTable(Model.Decoder);
  Model.Head.Weight = Config.sharesTable(IsTied, "lm_head.weight", Shared)
                          ? Shared
                          : "lm_head.weight";
  if (!Config.Input.Weights || Config.hasTensor("final_logits_bias"))
    Model.Head.Bias = "final_logits_bias^flat";
  Model.UnusedTensors = {"lm_head.weight", Shared,
                         Model.Encoder.nameOf("embed_tokens.weight"),
                         Model.Decoder.nameOf("embed_tokens.weight")};
  return Model;
}

const Family tenon::BartFamily = {"bart", readBartConfig};
