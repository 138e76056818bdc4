//===- WeightPacking.h - Checkpoint tensors into an artifact ----*- C++ -*-===//

#ifndef TENON_COMPILER_PACKING_WEIGHTPACKING_H
#define TENON_COMPILER_PACKING_WEIGHTPACKING_H

#include "compiler/Artifact/ArtifactWriter.h"
#include "compiler/Checkpoint/Checkpoint.h"
#include "passes/Packing/WeightTables.h"
#include "runtime/Packing/Packer.h"

#include <functional>
#include <vector>

namespace tenon {

/// `Weight` as an artifact describes it.
WeightInfo infoOf(const PackedWeight &Weight);

/// Streams one weight from `Source` through the packer into `Emit`.
Status packWeight(const PackedWeight &Weight, const Checkpoint &Source,
                  Packer::Sink Emit);

/// Streams every weight of `Tables` from `Source` through the packer into
/// `Writer`, each once, and returns the scopes of the manifest, whose slots
/// name the weights by index. Rows at a time are held, never a whole weight.
/// `Report` is told the share done, from 0 to 1.
Result<std::vector<ScopeInfo>>
packWeights(const std::vector<ScopeTable> &Tables, size_t CacheKinds,
            const Checkpoint &Source, ArtifactWriter &Writer,
            const std::function<void(double)> &Report);

} // namespace tenon

#endif // TENON_COMPILER_PACKING_WEIGHTPACKING_H
