//===- TextBatches.h - Which texts share a step -----------------*- C++ -*-===//

#ifndef TENON_RUNTIME_ENGINE_TEXTBATCHES_H
#define TENON_RUNTIME_ENGINE_TEXTBATCHES_H

#include "runtime/Artifact/Manifest.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tenon::engine {

/// The most tokens of a text to encode; longer ones are cut.
int64_t longestText(const artifact::Manifest &Info);

/// Puts texts of these lengths, each at most `MostTokens`, into batches of one
/// step each, longest first: the indices of each batch's texts. A text's result
/// does not depend on those beside it (StagedPages).
std::vector<std::vector<size_t>> planBatches(std::span<const int64_t> Lengths,
                                             int64_t MostTokens);

} // namespace tenon::engine

#endif // TENON_RUNTIME_ENGINE_TEXTBATCHES_H
