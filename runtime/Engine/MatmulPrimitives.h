//===- MatmulPrimitives.h - Library matmuls of a step ---------------------*-
// C++ -*-===//
//
// Serves tenon_rt matmul: turns each matmul of the manifest into oneDNN
// primitives, one per bucket of rows, and keeps them.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_ENGINE_MATMULPRIMITIVES_H
#define TENON_RUNTIME_ENGINE_MATMULPRIMITIVES_H

#include "runtime/Artifact/Manifest.h"

#include <memory>
#include <span>

namespace tenon::engine {

/// One matmul, as TenonRt.h describes it; operands that the primitive does not
/// have are null. The destination is none of the operands.
struct Matmul {
  int64_t Primitive = 0;
  int64_t Rows = 0;
  const void *Source = nullptr;
  const void *Weights = nullptr;
  const void *Bias = nullptr;
  const void *Multiplier = nullptr;
  const void *Residual = nullptr;
  void *Destination = nullptr;
};

/// How often the library was called.
struct MatmulCounters {
  int64_t Library = 0;    ///< Matmuls that ran in optimised kernels.
  int64_t Reference = 0;  ///< Matmuls refused: only a reference loop does them.
  int64_t Primitives = 0; ///< Primitives created.
};

/// The library matmuls of one artifact at one CPU level; equal ones share a
/// primitive. Primitives are built
/// for the number of threads in force at the time (of the thread that calls),
/// so one object belongs to one session and one thread of control.
class MatmulPrimitives {
public:
  MatmulPrimitives(std::span<const artifact::PrimitiveInfo> Infos,
                   CpuLevel Level);
  MatmulPrimitives(MatmulPrimitives &&) noexcept;
  MatmulPrimitives &operator=(MatmulPrimitives &&) noexcept;
  ~MatmulPrimitives();

  /// Builds every matmul's primitive for `Rows` rows. An error names the first
  /// matmul that the library serves with reference code or not at all.
  Status prepare(int64_t Rows);

  /// Runs one matmul.
  Status run(const Matmul &P);

  const MatmulCounters &counters() const;

  /// The library's names of what it runs for a primitive of the manifest, one
  /// for each way of doing it, of the row counts so far.
  std::vector<std::string> implementations(size_t Primitive) const;

private:
  struct Implementation;
  std::unique_ptr<Implementation> Impl;
};

/// "primitive 3 (f32 [rows,2048] x panels.f32 [2048,8192] -> f32, silu, ...)".
std::string describe(size_t Index, const artifact::PrimitiveInfo &Info);

} // namespace tenon::engine

#endif // TENON_RUNTIME_ENGINE_MATMULPRIMITIVES_H
