//===- Gemma.h - What the Gemma families share ------------------*- C++ -*-===//

#ifndef TENON_COMPILER_FAMILIES_GEMMA_H
#define TENON_COMPILER_FAMILIES_GEMMA_H

#include "compiler/Checkpoint/GgufArchitectures.h"
#include "compiler/Families/Decoder.h"

namespace tenon {

/// The traits of all Gemma models: norms that multiply with one more than their
/// weight, heads of 256, a tied head.
LlamaTraits gemmaTraits(ConfigReader &Config);

/// Reads a decoder with these traits, whose embeddings are scaled.
DecoderModel readGemma(ConfigReader &Config, const LlamaTraits &Traits);

/// What came with Gemma 2: norms around every block, and scores and logits of
/// another scale and softly capped. `Attention` and `Logits` are the bounds
/// when the config does not say.
void setGemma2(ConfigReader &Config, DecoderModel &Model,
               std::optional<double> Attention, std::optional<double> Logits);

/// What the GGUF files of Gemma 2 and 3 share. The scale of scores has no key:
/// it is that of a head, but for the model of `WideLayers` layers.
void readNewerGemmaGguf(GgufTranslation &T, int64_t WideLayers);

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_GEMMA_H
