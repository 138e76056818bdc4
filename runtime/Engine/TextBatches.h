//===- TextBatches.h - Which texts share a step -----------------*- C++ -*-===//

#ifndef TENON_RUNTIME_ENGINE_TEXTBATCHES_H
#define TENON_RUNTIME_ENGINE_TEXTBATCHES_H

#include "runtime/Artifact/Manifest.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tenon::engine {

/// The most tokens of a text to encode; longer ones are cut.
int64_t longestText(const artifact::Manifest &Info);

/// What steps of a model hold.
struct BatchLimits {
  int64_t MostTokens; ///< Of a step.
  int64_t MostFiller; ///< Tokens of one piece of filler; 0: none is put in.
};

struct BatchItem {
  /// Index of a text; none: filler, tokens whose result nobody wants.
  std::optional<size_t> Text;
  int64_t Tokens;
};

/// Puts texts of these lengths, each at most `MostTokens`, into batches of one
/// step each, longest first, so that every text's result is to the bit what it
/// is alone.
///
/// Without a cache, keys are in pages of 64 tokens of the step, and sums go
/// page by page, in a page over pairs of keys. So a text begins a page, or it
/// ends in the page that it begins in and has an even number of tokens before
/// it. Gaps that no text fits in are filled if they are small against the
/// batch.
std::vector<std::vector<BatchItem>>
planBatches(std::span<const int64_t> Lengths, const BatchLimits &Limits);

} // namespace tenon::engine

#endif // TENON_RUNTIME_ENGINE_TEXTBATCHES_H
