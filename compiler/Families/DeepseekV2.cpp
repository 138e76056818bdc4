//===- DeepseekV2.cpp - Latent attention and softmax routers --------------===//

#include "compiler/Families/Deepseek.h"
#include "compiler/Families/Family.h"

using namespace tenon;

static ModelDescription readDeepseekV2Config(ConfigReader &Config) {
  std::string Method = Config.wordOr("topk_method", "greedy");
  Config.expect(Method == "greedy" || Method == "group_limited_greedy",
                "topk_method", "greedy or group_limited_greedy");
  // Transformers does not read it, the authors' code does.
  Config.fixed("norm_topk_prob", false);
  Config.expect(Config.wordOr("scoring_func", "softmax") == "softmax",
                "scoring_func", "softmax");
  bool HasGroups = Method == "group_limited_greedy";
  if (!HasGroups)
    Config.ignore({"n_group", "topk_group"});
  return readDeepseek(Config,
                      {.FeedForwardBias = Config.flagOr("mlp_bias", false),
                       .HasGroups = HasGroups,
                       .Experts = 64,
                       .SharedExperts = 2,
                       .Inner = 1407});
}

static bool isEarlier(GgufSettings &S) { return !isDeepseekV3Gguf(S); }

const Family tenon::DeepseekV2Family = {
    "deepseek_v2",
    readDeepseekV2Config,
    {"deepseek2", readDeepseekGguf, isEarlier}};
