//===- Sites.h - Library products of a step ---------------------*- C++ -*-===//
//
// Serves tenon_rt matmul: turns each product site of the manifest into oneDNN
// primitives, one per bucket of rows, and keeps them.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_ENGINE_SITES_H
#define TENON_RUNTIME_ENGINE_SITES_H

#include "runtime/Artifact/Manifest.h"

#include <memory>
#include <span>

namespace tenon {

/// One product, as TenonRt.h describes it; operands that the site does not
/// have are null. `Residual` may be `Destination` itself.
struct Product {
  int64_t Site = 0;
  int64_t Rows = 0;
  const void *Source = nullptr;
  const void *Weights = nullptr;
  const void *Bias = nullptr;
  const void *Multiplier = nullptr;
  const void *Residual = nullptr;
  void *Destination = nullptr;
};

/// How often the library was called.
struct ProductCounters {
  int64_t Library = 0;   ///< Products that ran in optimised kernels.
  int64_t Reference = 0; ///< Products refused: only a reference loop does them.
  int64_t Primitives = 0; ///< Primitives created.
};

/// The product sites of one artifact at one CPU level. Primitives are built
/// for the number of threads in force at the time (ThreadPool::Limit), so one
/// object belongs to one session and one thread of control.
class Sites {
public:
  Sites(std::span<const SiteInfo> Infos, CpuLevel Level);
  Sites(Sites &&) noexcept;
  Sites &operator=(Sites &&) noexcept;
  ~Sites();

  /// Builds every site's primitive for `Rows` rows. An error names the first
  /// site that the library serves with reference code or not at all.
  Status prepare(int64_t Rows);

  /// Runs one product.
  Status run(const Product &P);

  const ProductCounters &counters() const;

private:
  struct Implementation;
  std::unique_ptr<Implementation> Impl;
};

/// "site 3 (f32 [rows,2048] x panels.f32 [2048,8192] -> f32, silu, ...)".
std::string describe(size_t Index, const SiteInfo &Site);

} // namespace tenon

#endif // TENON_RUNTIME_ENGINE_SITES_H
