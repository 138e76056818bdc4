//===- Families.cpp - All families ----------------------------------------===//

#include "compiler/Families/Family.h"

using namespace tenon;

std::span<const Family *const> tenon::families() {
  static constexpr const Family *All[] = {
      &BartFamily,       &BertFamily,       &BloomFamily,      &CohereFamily,
      &DeepseekV2Family, &DeepseekV3Family, &DistilbertFamily, &ElectraFamily,
      &FalconFamily,     &Gemma2Family,     &Gemma3Family,     &GemmaFamily,
      &Gpt2Family,       &GptNeoxFamily,    &GptOssFamily,     &GptjFamily,
      &GraniteFamily,    &LlamaFamily,      &MarianFamily,     &MistralFamily,
      &MixtralFamily,    &ModernbertFamily, &MptFamily,        &Olmo2Family,
      &OptFamily,        &Phi3Family,       &PhiFamily,        &Qwen2Family,
      &Qwen2MoeFamily,   &Qwen3Family,      &Qwen3MoeFamily,   &RobertaFamily,
      &Smollm3Family,    &StablelmFamily,   &Starcoder2Family, &T5Family,
      &VitFamily,        &XlmRobertaFamily};
  return All;
}

std::span<const Family *const> tenon::multimodalFamilies() {
  static constexpr const Family *All[] = {&Gemma3MultimodalFamily};
  return All;
}

std::vector<GgufModelType> tenon::ggufArchitectures() {
  std::vector<GgufModelType> Found;
  for (const Family *F : families())
    if (!F->Gguf.Name.empty())
      Found.push_back({F->ModelType, F->Gguf});
  return Found;
}
