//===- WeightPacking.h - Checkpoint tensors into an artifact ----*- C++ -*-===//

#ifndef TENON_COMPILER_PACKING_WEIGHTPACKING_H
#define TENON_COMPILER_PACKING_WEIGHTPACKING_H

#include "compiler/Artifact/ArtifactWriter.h"
#include "compiler/Checkpoint/Checkpoint.h"
#include "compiler/Packing/InputStatistics.h"
#include "passes/Packing/WeightTables.h"
#include "runtime/Packing/Packer.h"

#include <functional>
#include <vector>

namespace tenon {

/// `Weight` as an artifact describes it.
WeightInfo infoOf(const PackedWeight &Weight);

/// What became of a quantised weight.
struct QuantisationOutcome {
  /// The checkpoint has its blocks, which stay as they are.
  bool IsKept = false;
  /// What it is multiplied with was known.
  bool IsCalibrated = false;
  QuantisationError Error; ///< If asked for.
};

/// What is known when weights are quantised.
struct QuantisationSettings {
  /// What matrices are multiplied with: of those that are in it, errors of
  /// outputs are made small instead of errors of values.
  const InputStatistics *Inputs = nullptr;
  /// Whether to find out how large errors are, which takes time.
  bool Measure = false;
  /// Told of every weight that is quantised, if there is somebody to tell.
  std::function<void(const PackedWeight &, const QuantisationOutcome &)> Done;
};

/// Streams one weight from `Source` through the packer into `Emit`.
Status packWeight(const PackedWeight &Weight, const Checkpoint &Source,
                  Packer::Sink Emit, const QuantisationSettings &Settings = {});

/// Streams every weight of `Tables` from `Source` through the packer into
/// `Writer`, each once, and returns the scopes of the manifest, whose slots
/// name the weights by index. Rows at a time are held, never a whole weight.
/// `Report` is told the share done, from 0 to 1.
Result<std::vector<ScopeInfo>>
packWeights(const std::vector<ScopeTable> &Tables, size_t CacheKinds,
            const Checkpoint &Source, ArtifactWriter &Writer,
            const QuantisationSettings &Settings,
            const std::function<void(double)> &Report);

} // namespace tenon

#endif // TENON_COMPILER_PACKING_WEIGHTPACKING_H
