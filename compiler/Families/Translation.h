//===- Translation.h - Encoder-decoders -------------------------*- C++ -*-===//
//
// A source text is encoded once, and keys and values of the decoder's
// cross-attention are kept in a cache; then the decoder continues from its
// start token.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COMPILER_FAMILIES_TRANSLATION_H
#define TENON_COMPILER_FAMILIES_TRANSLATION_H

#include "compiler/Families/ConfigReader.h"
#include "compiler/Families/Stack.h"

namespace tenon {

/// One encoder-decoder, ready to build.
struct TranslationModel {
  /// Vocabulary, width and longest sequence are the decoder's.
  ModelSizes Sizes;
  /// Most tokens of a source text.
  int64_t MaxSource = 0;
  StackOptions Encoder, Decoder;
  HeadOptions Head;
  /// As the config's class has them when nothing says otherwise.
  std::optional<int64_t> DefaultStart, DefaultForcedLast;
  /// Tensors that checkpoints may hold and that the model does not need; '*'
  /// stands for anything.
  std::vector<std::string> UnusedTensors;
};

/// Builds the entries "encode", which fills that cache and gives the encoder's
/// hidden states, and "step".
void buildTranslation(ModelBuilder &Model, const TranslationModel &Translation,
                      ElementType CacheElement);

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_TRANSLATION_H
