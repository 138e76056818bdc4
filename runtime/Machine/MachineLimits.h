//===- MachineLimits.h - What this machine can do at most -------*- C++ -*-===//
//
// Measures the two rates that bound a Transformer: how fast all cores together
// read memory, and how fast oneDNN multiplies matrices whose weights are
// packed.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_MACHINE_MACHINELIMITS_H
#define TENON_RUNTIME_MACHINE_MACHINELIMITS_H

#include "runtime/Abi/Types.h"
#include "runtime/Support/Result.h"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenon::machine {

struct ReadLimit {
  /// The best of ByStreams.
  double BytesPerSecond = 0;
  /// By the number of ranges that a thread reads at once.
  std::vector<std::pair<int, double>> ByStreams;
};

/// Reads `Bytes` bytes of memory again and again for `Seconds` seconds, each of
/// `Threads` threads its part; 0: one per core. `Bytes` should be many times
/// what caches hold. An error without memory or AVX2.
Result<ReadLimit> measureReading(size_t Bytes, double Seconds, int64_t Threads);

/// The matmul that is measured.
inline constexpr int64_t MatmulRows = 512, MatmulDepth = 2048,
                         MatmulColumns = 2048;

struct MatmulLimit {
  /// Additions and multiplications.
  double OperationsPerSecond = 0;
  /// "packed", "any" (the library's choice) or "plain".
  std::string Weights;
  /// The library's name of it.
  std::string Implementation;
};

/// Multiplies for `Seconds` seconds; nothing when the library has only its
/// reference loop. Rows of Arithmetic::Int8 are unsigned, weights signed. With
/// `WeightBytes` matrices of so many bytes take turns, as the layers of a model
/// do: they come from memory where that is many times what caches hold.
Result<std::optional<MatmulLimit>>
measureMatmul(Arithmetic Numbers, double Seconds, int64_t Threads,
              int64_t Rows = MatmulRows, size_t WeightBytes = 0);

} // namespace tenon::machine

#endif // TENON_RUNTIME_MACHINE_MACHINELIMITS_H
