//===- BartLike.h - What BART and Marian share ------------------*- C++ -*-===//

#ifndef TENON_COMPILER_FAMILIES_BARTLIKE_H
#define TENON_COMPILER_FAMILIES_BARTLIKE_H

#include "compiler/Families/Translation.h"

namespace tenon {

/// What tells the two apart.
struct BartTraits {
  const char *DefaultAct;
  /// A learned table of positions and a norm of the embedding; otherwise
  /// sinusoids and none.
  bool IsLearned;
  /// The architecture that generates, and its body, which has what a tied head
  /// needs.
  std::string_view Architecture, Body;
};

/// The scope of all but the head: "model", or "" in checkpoints of the body.
std::string bartScope(const ConfigReader &Config);

/// Reads the original Transformer's form: post-norm layers with biases and
/// cross-attention.
TranslationModel readBartLike(ConfigReader &Config, const BartTraits &Traits);

} // namespace tenon

#endif // TENON_COMPILER_FAMILIES_BARTLIKE_H
